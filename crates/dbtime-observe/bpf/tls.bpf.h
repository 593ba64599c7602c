/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Encrypted connections: times come from the socket, bytes from the server's TLS library.
 *
 *   SSL_read ──► recv: bytes are there ──► … ──► it returns: bytes of the client
 *   SSL_write: bytes of the server ──► send: an end, so far
 *
 * Times are those of the socket, as they are of other connections, so that encryption is part of the
 * response. `src/trace/probes/tls.rs` finds the library.
 */
#ifndef DBTIME_TLS_H
#define DBTIME_TLS_H

#include "unasked.bpf.h"

#define MAX_TLS_READ (1 << 30)	/* in one read; a greater length is something else */

/* Bytes came in at a socket that is encrypted. OpenSSL reads a record's header by itself. */
static __always_inline void handle_tls_record(struct connection *connection, __u32 length)
{
	struct thread *thread;

	note_blind_read(connection);
	if (!connection->rest && !connection->header_length)
		maybe_close(connection);
	if (!connection->start && (length == TAGGED || !connection->read_at))
		note_first_read(connection, bpf_ktime_get_ns());
	thread = current_thread_or_add();
	if (!thread)
		return;
	thread->encrypted = connection->request.connection;
	if (thread->tls)
		connection->tls = thread->tls;
}

/* The connection that a TLS session of the running thread belongs to, if it is followed: servers have
 * sessions with others, too. */
static __always_inline struct connection *connection_of_tls(struct thread *thread, __u64 tls)
{
	struct connection *connection = encrypted_connection(&thread->encrypted);

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
	thread = current_thread();
	if (!thread) {
		tgid = bpf_get_current_pid_tgid() >> 32;
		thread = bpf_map_lookup_elem(&servers, &tgid) ? current_thread_or_add() : NULL;
	}
	if (!thread)
		return;
	thread->tls = FIRST_ARGUMENT(context);
	thread->tls_buffer = SECOND_ARGUMENT(context);
	thread->tls_length = bpf_get_attach_cookie(context) ? FOURTH_ARGUMENT(context) : 0;
}

ON_PROBE(on_tls_read_end)
{
	struct thread *thread = current_thread();
	__u64 tls, length = 0;
	struct connection *connection;

	if (!thread || !thread->tls || !is_watching())
		return;
	tls = thread->tls;
	thread->tls = 0;
	if ((int)RETURNED(context) < 0)
		return;
	connection = connection_of_tls(thread, tls);
	if (!connection)
		return;
	/* Its client has said that it is going. */
	if (!(int)RETURNED(context)) {
		connection->is_at_end = 1;
		return;
	}
	if (!thread->tls_length)
		length = (__u32)RETURNED(context);
	else if (bpf_probe_read_user(&length, sizeof(length), (const void *)thread->tls_length))
		lose_framing(connection);
	if (length && length <= MAX_TLS_READ) {
		/* What was read before is understood by now. */
		if (connection->blind_turns != SEES_PLAIN_BYTES)
			connection->strange = STRANGE_NOT;
		connection->blind_turns = SEES_PLAIN_BYTES;
		handle_request_bytes(connection, (const char *)thread->tls_buffer, length);
	}
	connection->read_at = 0;
}

/* How much of what is to be written was there the last time, when the socket had no room for it. */
static __always_inline __u32 written_before(struct connection *connection, __u64 at, __u32 length)
{
	__u32 before = 0;

	if (connection->retries_write && connection->tls_written == at && connection->tls_length <= length)
		before = connection->tls_length;
	connection->retries_write = 0;
	connection->tls_written = at;
	connection->tls_length = length;
	return before;
}

/* int SSL_write(SSL *, const void *buffer, int length) */
ON_PROBE(on_tls_write)
{
	struct thread *thread = current_thread();
	int length = THIRD_ARGUMENT(context);
	struct connection *connection;
	__u64 at = SECOND_ARGUMENT(context);
	__u32 before;

	if (!thread || length <= 0 || !is_watching())
		return;
	connection = connection_of_tls(thread, FIRST_ARGUMENT(context));
	if (!connection)
		return;
	before = written_before(connection, at, length);
	if (before == (__u32)length)
		return;
	at += before;
	length -= before;
	if ((!connection->start || connection->is_ready) &&
	    handle_unasked(connection, at, length, bpf_ktime_get_ns()))
		return;
	connection->request.sent_bytes += length;
	if (handle_answer_bytes(connection, at, length))
		set_aside(connection, COUNT_OTHER_PROTOCOL);
}

/* What is kept of a connection that is encrypted does not go with its socket. Where a request is under
 * way, its thread is yet to find out that the client has gone. */
static __always_inline void remove_encrypted(struct sock *sk)
{
	struct connection *connection;
	__u64 number;

	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!connection || !is_encrypted(connection))
		return;
	number = connection->request.connection;
	connection = bpf_map_lookup_elem(&encrypted, &number);
	if (connection && connection->start)
		connection->is_closed = 1;
	else
		bpf_map_delete_elem(&encrypted, &number);
}

#endif
