// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Follows the connections of database servers: finds where requests begin and end, and streams each
 * when it is over.
 *
 *   recv: header ── seq 0 ──► begins ── body: command, text ──┐
 *                                                             ▼
 *   recv finds nothing, or the next header ◄── answered ◄── send, send, …
 *        = it was over with its last send
 *
 * The state of a connection lies in its socket (sk_storage): it is found without a look-up by
 * number, and goes with the socket. A request is built where it lies, and copied once.
 *
 * Bytes come from clients: they are copied and measured here, and understood elsewhere.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "capture.h"
#include "tls.bpf.h"
#include "iterators.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

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

static __always_inline void handle_receive(struct sock *sk, int result, int flags)
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
	if (!connection)
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

	handle_receive(sk, result, flags);
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

static __always_inline void handle_send(struct sock *sk, int result)
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
	if (!connection)
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

	handle_send(sk, result);
	end_run(since);
	return 0;
}

/* A socket of TCP ends, or begins to listen: the clients of a server that has just started come to
 * that port. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	__u16 port = sk->__sk_common.skc_num;
	__u8 yes = 1;

	if (to == TCP_CLOSE) {
		finish_after_end(sk, 0);
		remove_encrypted(sk);
	}
	if (settings.follows_new && to == TCP_LISTEN && bpf_map_lookup_elem(&servers, &tgid))
		bpf_map_update_elem(&ports, &port, &yes, BPF_ANY);
	return 0;
}

/* Names of server programs: filled where servers that start later are followed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, struct name);
	__type(value, __u8);
} programs SEC(".maps");

/* Processes that have become what may be a server. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 256);
	__type(value, __u32);
} started SEC(".maps");

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct name name = {};

	if (bpf_probe_read_kernel_str(name.text, sizeof(name.text), task->comm) > 0 &&
	    bpf_map_lookup_elem(&programs, &name))
		bpf_map_push_elem(&started, &tgid, 0);
	return 0;
}

/* A server that serves each client by a process of its own starts one. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = parent->tgid, new_tgid = child->tgid;
	struct server *server, new_server;

	if (tgid == new_tgid)
		return 0;
	server = bpf_map_lookup_elem(&servers, &tgid);
	if (!server || server->protocol != PROTOCOL_POSTGRES)
		return 0;
	new_server = *server;
	new_server.is_child = 1;
	bpf_map_update_elem(&servers, &new_tgid, &new_server, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct server *server;

	if (task->pid != task->tgid)
		return 0;
	server = bpf_map_lookup_elem(&servers, &tgid);
	if (server && server->is_child)
		bpf_map_delete_elem(&servers, &tgid);
	return 0;
}

/* Types that no table and no function names. Named here they are in the object's BTF, where the test
 * of their layout finds them (`src/kernel_layout/`). */
struct {
	struct snapshot glance;
	struct stack_event stack_event;
	enum bound bound;
	enum outcome outcome;
	enum request_flags request_flags;
	enum protocol protocol;
	enum part part;
	enum release release;
	enum wait wait;
	enum wait_class wait_class;
	enum file_kind file_kind;
	enum count count;
	enum shape shape;
	enum cache cache;
	enum depth depth;
	enum phase phase;
	enum emptied emptied;
} *layout_types;
