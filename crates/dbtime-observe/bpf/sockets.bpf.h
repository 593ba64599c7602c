/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What servers and the driver read and send, and when bytes come to their sockets: by tracepoints of the
 * kernel, which are there since 6.3, or by the functions that it reads, sends and announces with. The
 * loader takes one way (`src/trace/kernel/kernel_features.rs`).
 */
#ifndef DBTIME_SOCKETS_H
#define DBTIME_SOCKETS_H

#include "tls.bpf.h"

/* The client has gone, or what was sent cannot reach it. What locks it held the thread that has found
 * out will let go of. */
static __always_inline void abort_connection(struct connection *connection)
{
	struct thread *thread;

	maybe_close(connection);
	abort_request(connection);
	reset_framing(connection);
	thread = only_counts() ? NULL : current_thread_or_add();
	if (!thread)
		return;
	thread->prev_connection = connection->request.connection;
	thread->prev_start = connection->request.start;
	thread->is_client_gone = 1;
}

static __always_inline int is_transient(int result)
{
	return result == -EAGAIN || result == -EINTR || result <= -ERESTARTSYS;
}

/* The watching has ended: a server that reads on has answered before, and one that goes on with an answer
 * has not. What it does next ends the request, for its connection may be gone before the walk over all
 * of them. */
static __always_inline void finish_after_end(struct sock *sk, int is_read)
{
	struct connection *connection = phase == PHASE_ENDED ? lookup(sk) : NULL;

	connection = connection ? state_of(connection) : NULL;
	if (!connection || !connection->start)
		return;
	if (is_read)
		maybe_close(connection);
	count_in_flight(connection);
}

/*
 * The kernel runs a program for one thread of a CPU at a time, and leaves it out for others. Since 7.0
 * threads are pre-empted within programs of tracepoints: there a second program follows the first, and does
 * what that has left out.
 */
enum turn { TURN_FIRST, TURN_SECOND };

/* Whether the first program saw this read or write of a connection. */
static __always_inline int was_seen_first(__u8 *has_seen, enum turn turn)
{
	__u8 was_seen = *has_seen;

	*has_seen = turn == TURN_FIRST;
	return turn == TURN_SECOND && was_seen;
}

static __always_inline void handle_receive(struct sock *sk, int result, int flags, enum turn turn)
{
	struct connection *connection;

	if (flags & MSG_PEEK)
		return;
	if (is_driver()) {
		if (sk && result > 0 && is_watching())
			note_taken(sk);
		return;
	}
	if (!is_watching()) {
		finish_after_end(sk, 1);
		return;
	}
	connection = followed_connection(sk);
	if (!connection || was_seen_first(&connection->has_seen_read, turn))
		return;
	if (result > 0) {
		if (is_encrypted(connection))
			handle_tls_record(connection, result);
		else
			handle_request_bytes(connection, user_buffer(), result);
		/* What is left has come with the last bytes at the latest. */
		connection->rx_first_at = sk->sk_receive_queue.qlen ? connection->rx_last_at : 0;
	} else if (!is_transient(result)) {
		abort_connection(connection);
	} else if (!connection->rest && !connection->header_length) {
		maybe_close(connection);
	}
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int result, int flags)
{
	__u64 since = begin_run();

	handle_receive(sk, result, flags, TURN_FIRST);
	end_run(since);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive_again, struct sock *sk, int result, int flags)
{
	__u64 since = begin_run();

	handle_receive(sk, result, flags, TURN_SECOND);
	end_run(since);
	return 0;
}

/* Bytes have come to a socket: whoever sends them runs, or an interrupt. */
static __always_inline void handle_data_ready(struct sock *sk)
{
	struct connection *connection = is_watching() ? lookup(sk) : NULL;

	connection = connection ? state_of(connection) : NULL;
	if (settings.driver && !connection && is_watching())
		note_arrival(sk);
	/* They may have been read before this event. */
	if (!connection || !sk->sk_receive_queue.qlen)
		return;
	connection->rx_last_at = bpf_ktime_get_ns();
	if (!connection->rx_first_at)
		connection->rx_first_at = connection->rx_last_at;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_bytes, struct sock *sk)
{
	__u64 since = begin_run();

	handle_data_ready(sk);
	end_run(since);
	return 0;
}

static __always_inline void handle_send(struct sock *sk, int result, enum turn turn)
{
	struct connection *connection;
	struct request *request;
	__u64 now;

	if (is_driver())
		return;
	if (!is_watching()) {
		finish_after_end(sk, 0);
		return;
	}
	connection = followed_connection(sk);
	if (!connection || was_seen_first(&connection->has_seen_write, turn))
		return;
	now = bpf_ktime_get_ns();
	request = &connection->request;
	if (result <= 0) {
		if (!is_transient(result))
			abort_connection(connection);
		else if (is_encrypted(connection))
			connection->retries_write = 1;
		return;
	}
	if (!connection->start) {
		/* PostgreSQL's connections begin with reads of what is no request. */
		int is_first = request->protocol == PROTOCOL_MYSQL || !connection->has_read;

		if (connection->framing == FRAMING_LOST && request->end == 0 && is_first) {
			/* The first that is seen of it. */
			request->end = now;
			if (request->protocol == PROTOCOL_MYSQL && read_greeting(connection, result)) {
				connection->framing = FRAMING_SYNCED;
			} else {
				count(COUNT_STARTED);
				count(COUNT_PARTIAL);
			}
		}
		return;
	}
	if (!request->writes++)
		request->first_sent = now;
	else
		connection->piece_from = request->end;
	if (!is_encrypted(connection)) {
		request->sent_bytes += result;
		handle_answer_bytes(connection, user_buffer(), result);
	}
	note_progress(connection, now);
	if (connection->ahead_length)
		resume_ahead(connection);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int result, int flags)
{
	__u64 since = begin_run();

	handle_send(sk, result, TURN_FIRST);
	end_run(since);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send_again, struct sock *sk, int result, int flags)
{
	__u64 since = begin_run();

	handle_send(sk, result, TURN_SECOND);
	end_run(since);
	return 0;
}

/*
 * Without the tracepoints. Sockets call these by pointers, so that no compiler has put them in line, and
 * what they return is what the tracepoints tell. Each takes a program of its own.
 */
#define RECEIVED_BY(name, function)                                           \
SEC("fexit/" function)                                                        \
int BPF_PROG(name, struct socket *socket, void *message, unsigned long size, \
	     int flags, int result)                                           \
{                                                                             \
	__u64 since = begin_run();                                                 \
									      \
	handle_receive(socket->sk, result, flags, TURN_FIRST);                \
	end_run(since);                                                       \
	return 0;                                                             \
}

#define SENT_BY(name, function)                                               \
SEC("fexit/" function)                                                        \
int BPF_PROG(name, struct socket *socket, void *message, unsigned long size, \
	     int result)                                                      \
{                                                                             \
	__u64 since = begin_run();                                                 \
									      \
	handle_send(socket->sk, result, TURN_FIRST);                          \
	end_run(since);                                                       \
	return 0;                                                             \
}

RECEIVED_BY(on_unix_receive, "unix_stream_recvmsg")
RECEIVED_BY(on_inet_receive, "inet_recvmsg")
RECEIVED_BY(on_inet6_receive, "inet6_recvmsg")
SENT_BY(on_unix_send, "unix_stream_sendmsg")
SENT_BY(on_inet_send, "inet_sendmsg")
SENT_BY(on_inet6_send, "inet6_sendmsg")

SEC("fentry/sock_def_readable")
int BPF_PROG(on_readable, struct sock *sk)
{
	__u64 since = begin_run();

	handle_data_ready(sk);
	end_run(since);
	return 0;
}

#endif
