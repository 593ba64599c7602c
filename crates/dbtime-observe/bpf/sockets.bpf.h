/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What servers and the driver read and send, and when bytes come to their sockets: by tracepoints of the
 * kernel, which are there since 6.3, or by the functions that it reads, sends and announces with. The
 * loader takes one way (`src/trace/kernel/kernel_features.rs`).
 */
#ifndef DBTIME_SOCKETS_H
#define DBTIME_SOCKETS_H

#include "tls.bpf.h"

/* Whether a server of MySQL's that sends, and does not read, is at what it was asked for: it is, unless what
 * was sent has ended the answer. Where rows are not counted that is not known; but a server that has answered
 * reads on, or tries to, before it sends anything else. */
static __always_inline int is_answering(struct connection *connection)
{
	struct request *request = &connection->request;

	return request->protocol == PROTOCOL_MYSQL && request->writes && !request->error &&
	       request->rows == NOT_KNOWN;
}

/* The client has gone, or what is sent cannot reach it. What locks it held the thread that has found
 * out will let go of. */
static __always_inline void abort_connection(struct connection *connection, int is_sending)
{
	__u64 number = connection->request.connection;
	struct thread *thread;

	if (!is_sending || !is_answering(connection))
		maybe_close(connection);
	if (connection->request.protocol == PROTOCOL_MYSQL && connection->guess != GUESS_NONE)
		give_guess_up(connection);
	abort_request(connection);
	account_for_strange(connection);
	connection->is_at_end = 1;
	reset_framing(connection);
	thread = only_counts() ? NULL : current_thread_or_add();
	if (thread) {
		thread->prev_connection = number;
		thread->prev_start = connection->request.start;
		thread->is_client_gone = 1;
	}
	if (connection->is_closed)
		bpf_map_delete_elem(&encrypted, &number);
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

/* A socket is closed: of the server's own accord, as it may be where it has not understood its client. */
static __always_inline void account_for_closed(struct sock *sk)
{
	struct connection *connection = phase == PHASE_BEFORE ? NULL : lookup(sk);

	connection = connection ? state_of(connection) : NULL;
	if (connection)
		account_for_strange(connection);
}

/* A thread within one of the programs of an event. */
struct turn_run {
	enum way way;
	enum turn turn;
	__u32 switch_count;	/* of the CPU when it entered */
	int are_others_taken;	/* other threads were within all other programs then */
};

static __always_inline struct turn_run enter_turn(enum way way, enum turn turn)
{
	struct processor *of = settings.preempts_programs ? this_processor() : NULL;
	struct turn_run run = { .way = way, .turn = turn };
	__u32 taken = 0;

	if (!of)
		return run;
	of->turns_taken[way][turn] = 1;
	run.switch_count = of->switch_count;
	for (int other = 0; other < TURNS; other++)
		taken += of->turns_taken[way][other];
	run.are_others_taken = taken == TURNS;
	return run;
}

/* It leaves it. Where it was pre-empted while all were taken, others may have found none free. Where
 * threads are not followed no switches are counted. */
static __always_inline void leave_turn(struct turn_run *run)
{
	struct processor *of = settings.preempts_programs ? this_processor() : NULL;

	if (!of)
		return;
	of->turns_taken[run->way][run->turn] = 0;
	if (run->are_others_taken && (only_counts() || of->switch_count != run->switch_count))
		count(COUNT_ALL_TAKEN);
}

/*
 * Whether a program before this one saw this read or write. They run one after the other, each of which
 * leaves how many there are from it on: one that is not behind the last that ran is at another. Those
 * that were left out make no difference, unless the last of all was: whoever was within that has found
 * the others taken, which is counted.
 */
static __always_inline int was_seen(struct connection *connection, struct turn_run *run)
{
	__u32 *turns_left = &connection->turns_left[run->way], was = *turns_left;

	if (!settings.preempts_programs)
		return 0;
	*turns_left = TURNS - run->turn;
	return was > TURNS - run->turn;
}

/* The server has read from a socket. What is left has come with the last bytes at the latest. Where nothing
 * is, the clock is read before the queue is looked at once more: what comes behind that look comes later. */
static __always_inline void note_left_over(struct connection *connection, struct sock *sk)
{
	__u64 now = 0;

	connection->rx_first_at = 0;
	if (!sk->sk_receive_queue.qlen)
		now = bpf_ktime_get_ns();
	if (now && !sk->sk_receive_queue.qlen)
		connection->rx_drained_at = now;
	else if (connection->rx_last_at > connection->rx_drained_at)
		connection->rx_first_at = connection->rx_last_at;
}

static __always_inline void handle_receive(struct sock *sk, int result, int flags,
					   struct turn_run *run)
{
	struct connection *connection;

	if (flags & MSG_PEEK)
		return;
	if (is_driver()) {
		/* What the first was left out of is not known: the second may come behind other bytes. */
		if (run->turn == TURN_FIRST && sk && result > 0 && is_watching())
			note_taken(sk);
		return;
	}
	if (!is_watching()) {
		finish_after_end(sk, 1);
		return;
	}
	connection = connection_of(sk);
	if (connection && connection->role == ROLE_ASIDE && !result)
		connection->is_at_end = 1;
	connection = connection ? state_of(connection) : NULL;
	if (!connection || was_seen(connection, run))
		return;
	if (result > 0) {
		/* A time that was left of what is read already: see `handle_data_ready`. */
		if (connection->rx_first_at <= connection->rx_drained_at)
			connection->rx_first_at = 0;
		if (is_encrypted(connection))
			handle_tls_record(connection, result);
		else
			handle_request_bytes(connection, user_buffer(), result);
		note_left_over(connection, sk);
	} else if (!is_transient(result)) {
		abort_connection(connection, 0);
	} else if (!connection->rest && !connection->header_length) {
		maybe_close(connection);
	}
}

/*
 * Bytes have come to a socket: whoever sends them runs, or an interrupt. It may lose its CPU at any point
 * of this, and the server may read them meanwhile. So the clock is read before the queue is looked at, and
 * a time that the queue was drained after is not that of the next request.
 */
static __always_inline void handle_data_ready(struct sock *sk)
{
	struct connection *connection = is_watching() ? lookup(sk) : NULL;
	__u64 now;

	connection = connection ? state_of(connection) : NULL;
	if (settings.driver && !connection && is_watching())
		note_arrival(sk);
	if (!connection)
		return;
	now = bpf_ktime_get_ns();
	if (!sk->sk_receive_queue.qlen)
		return;
	connection->rx_last_at = now;
	if (connection->rx_first_at <= connection->rx_drained_at)
		connection->rx_first_at = now;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_bytes, struct sock *sk)
{
	struct timed_run run = begin_run();

	handle_data_ready(sk);
	end_run(run);
	return 0;
}

/* A piece was sent: of an answer, or of what nobody has asked for. */
static __always_inline void take_sent(struct connection *connection, __u32 length, __u64 now)
{
	struct request *request = &connection->request;
	/* Of what is encrypted the library was asked: see `on_tls_write`. */
	__u64 at = is_encrypted(connection) ? 0 : (__u64)user_buffer();

	if ((!connection->start || (at && connection->is_ready)) &&
	    handle_unasked(connection, at, length, now))
		return;
	if (!request->writes++)
		request->first_sent = now;
	else
		connection->piece_from = request->end;
	if (!is_encrypted(connection)) {
		request->sent_bytes += length;
		if (handle_answer_bytes(connection, at, length)) {
			set_aside(connection, COUNT_OTHER_PROTOCOL);
			return;
		}
	}
	note_sent(connection, now);
}

static __always_inline void handle_send(struct sock *sk, int result, int flags,
					struct turn_run *run)
{
	struct connection *connection;
	__u64 now;

	if (is_driver())
		return;
	if (!is_watching()) {
		finish_after_end(sk, 0);
		return;
	}
	connection = connection_of(sk);
	if (connection && connection->role == ROLE_ASIDE) {
		if (result > 0 && !was_seen(connection, run))
			note_aside(connection, result);
		return;
	}
	connection = connection ? state_of(connection) : NULL;
	if (!connection || was_seen(connection, run))
		return;
	now = bpf_ktime_get_ns();
	if (result <= 0) {
		if (!is_transient(result))
			abort_connection(connection, 1);
		else if (is_encrypted(connection))
			connection->retries_write = 1;
		return;
	}
	take_sent(connection, result, now);
	if (connection->ahead_length)
		resume_ahead(connection);
}

/* What tracepoints tell. Each takes several programs where threads are pre-empted within them: see `turn`. */
#define TOLD_BY(name, tracepoint, told_way, told_turn, handle)                \
SEC("tp_btf/" tracepoint)                                                     \
int BPF_PROG(name, struct sock *sk, int result, int flags)                    \
{                                                                             \
	struct turn_run turn = enter_turn(told_way, told_turn);               \
	struct timed_run run = begin_run();                                   \
									      \
	handle(sk, result, flags, &turn);                                     \
	end_run(run);                                                         \
	leave_turn(&turn);                                                    \
	return 0;                                                             \
}

TOLD_BY(on_receive, "sock_recv_length", WAY_READ, TURN_FIRST, handle_receive)
TOLD_BY(on_receive_second, "sock_recv_length", WAY_READ, TURN_SECOND, handle_receive)
TOLD_BY(on_receive_third, "sock_recv_length", WAY_READ, TURN_THIRD, handle_receive)
TOLD_BY(on_receive_fourth, "sock_recv_length", WAY_READ, TURN_FOURTH, handle_receive)
TOLD_BY(on_send, "sock_send_length", WAY_WRITE, TURN_FIRST, handle_send)
TOLD_BY(on_send_second, "sock_send_length", WAY_WRITE, TURN_SECOND, handle_send)
TOLD_BY(on_send_third, "sock_send_length", WAY_WRITE, TURN_THIRD, handle_send)
TOLD_BY(on_send_fourth, "sock_send_length", WAY_WRITE, TURN_FOURTH, handle_send)

/*
 * Without the tracepoints. Sockets call these by pointers, so that no compiler has put them in line, and
 * what they return is what the tracepoints tell. Each takes a program of its own.
 */
#define RECEIVED_BY(name, function)                                           \
SEC("fexit/" function)                                                        \
int BPF_PROG(name, struct socket *socket, void *message, unsigned long size,  \
	     int flags, int result)                                           \
{                                                                             \
	struct turn_run turn = { .way = WAY_READ, .turn = TURN_FIRST };       \
	struct timed_run run = begin_run();                                   \
									      \
	handle_receive(socket->sk, result, flags, &turn);                     \
	end_run(run);                                                         \
	return 0;                                                             \
}

#define SENT_BY(name, function)                                               \
SEC("fexit/" function)                                                        \
int BPF_PROG(name, struct socket *socket, void *message, unsigned long size,  \
	     int result)                                                      \
{                                                                             \
	struct turn_run turn = { .way = WAY_WRITE, .turn = TURN_FIRST };      \
	struct timed_run run = begin_run();                                   \
									      \
	handle_send(socket->sk, result, 0, &turn);                            \
	end_run(run);                                                         \
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
	struct timed_run run = begin_run();

	handle_data_ready(sk);
	end_run(run);
	return 0;
}

#endif
