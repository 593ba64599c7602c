/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Connections that are encrypted: the socket says when, the server's TLS library what.
 *
 *   SSL_read ──► recv: bytes are there ──► … ──► it returns: what the client said
 *   SSL_write: what the server says ──► send: an end, so far
 *
 * Times are those of the socket, as they are of other connections, so that encryption is part of the
 * response. `src/trace/probes/tls.rs` finds the library.
 */
#ifndef DBTIME_TLS_H
#define DBTIME_TLS_H

#include "reading.bpf.h"

#define MOST_BYTES (1 << 30)	/* that are read at once; what says more is something else */

/* Bytes came in at a socket that is encrypted. OpenSSL reads a record's header by itself. */
static __always_inline void received_record(struct connection *connection, __u32 length)
{
	struct thread *thread;

	if (!connection->rest && !connection->header_length)
		turn(connection);
	if (!connection->start && (length == TAGGED || !connection->arrived))
		arrive(connection, bpf_ktime_get_ns());
	thread = running();
	if (!thread)
		return;
	thread->encrypted = connection->request.connection;
	if (thread->tls)
		connection->tls = thread->tls;
}

/* The connection that a TLS session of the running thread belongs to, if it is followed: servers have
 * sessions with others, too. */
static __always_inline struct connection *encrypted_by(struct thread *thread, __u64 tls)
{
	struct connection *connection = bpf_map_lookup_elem(&encrypted, &thread->encrypted);

	return connection && connection->tls == tls ? connection : NULL;
}

/*
 * int SSL_read(SSL *, void *buffer, int length), which returns the length; or what it calls inside,
 * with an address behind these that the length is written to: then there is a cookie.
 */
ON_PROBE(on_tls_read)
{
	struct thread *thread;
	__u32 tgid;

	if (!is_watching())
		return;
	thread = present();
	if (!thread) {
		tgid = bpf_get_current_pid_tgid() >> 32;
		thread = bpf_map_lookup_elem(&servers, &tgid) ? running() : NULL;
	}
	if (!thread)
		return;
	thread->tls = FIRST_ARGUMENT(context);
	thread->tls_buffer = SECOND_ARGUMENT(context);
	thread->tls_length = bpf_get_attach_cookie(context) ? FOURTH_ARGUMENT(context) : 0;
}

ON_PROBE(on_tls_read_end)
{
	struct thread *thread = present();
	__u64 tls, length = 0;
	struct connection *connection;

	if (!thread || !thread->tls || !is_watching())
		return;
	tls = thread->tls;
	thread->tls = 0;
	if ((int)RETURNED(context) <= 0)
		return;
	connection = encrypted_by(thread, tls);
	if (!connection)
		return;
	if (!thread->tls_length)
		length = (__u32)RETURNED(context);
	else if (bpf_probe_read_user(&length, sizeof(length), (const void *)thread->tls_length))
		lose(connection);
	if (length && length <= MOST_BYTES)
		received(connection, (const char *)thread->tls_buffer, length);
	connection->arrived = 0;
}

/* How much of what is to be written was there the last time, when the socket had no room for it. */
static __always_inline __u32 written_before(struct connection *connection, __u64 at, __u32 length)
{
	__u32 before = 0;

	if (connection->writes_again && connection->tls_written == at && connection->tls_length <= length)
		before = connection->tls_length;
	connection->writes_again = 0;
	connection->tls_written = at;
	connection->tls_length = length;
	return before;
}

/* int SSL_write(SSL *, const void *buffer, int length) */
ON_PROBE(on_tls_write)
{
	struct thread *thread = present();
	int length = THIRD_ARGUMENT(context);
	struct connection *connection;
	__u64 at = SECOND_ARGUMENT(context);
	__u32 before;

	if (!thread || length <= 0 || !is_watching())
		return;
	connection = encrypted_by(thread, FIRST_ARGUMENT(context));
	if (!connection || !connection->start)
		return;
	before = written_before(connection, at, length);
	if (before == (__u32)length)
		return;
	connection->request.sent_bytes += length - before;
	answered(connection, (const char *)at + before, length - before);
}

/* What is kept of a connection that is encrypted does not go with its socket. */
static __always_inline void forget(struct sock *sk)
{
	struct connection *connection;
	__u64 number;

	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!connection || !is_encrypted(connection))
		return;
	number = connection->request.connection;
	bpf_map_delete_elem(&encrypted, &number);
}

#endif
