// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Follows the connections of database servers: finds where requests begin and end, and hands each
 * on when it is over.
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
#include "mysql.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The client has gone, or what was sent cannot reach it. */
static __always_inline void hang_up(struct connection *connection, __u64 now)
{
	turn(connection, now);
	if (connection->start) {
		reach(connection, now);
		close_request(connection, FATE_ABORTED);
	}
	forget_step(connection);
}

static __always_inline int is_passing(int result)
{
	return result == -EAGAIN || result == -EINTR || result <= -ERESTARTSYS;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int result, int flags)
{
	struct connection *connection = followed(sk, bpf_get_current_pid_tgid() >> 32);
	__u64 now = bpf_ktime_get_ns();

	if (!connection || flags & MSG_PEEK)
		return 0;
	if (result > 0)
		received(connection, result, now);
	else if (!is_passing(result))
		hang_up(connection, now);
	else if (!connection->rest && !connection->header_length)
		turn(connection, now);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int result, int flags)
{
	struct connection *connection = followed(sk, bpf_get_current_pid_tgid() >> 32);
	__u64 now = bpf_ktime_get_ns();
	struct request *request;

	if (!connection)
		return 0;
	request = &connection->request;
	if (result <= 0) {
		if (!is_passing(result))
			hang_up(connection, now);
		return 0;
	}
	if (!connection->start) {
		if (connection->step == STEP_LOST && request->end == 0) {
			/* The first that is seen of it. */
			request->end = now;
			if (greets(result)) {
				connection->step = STEP_KEPT;
			} else {
				count(COUNT_STARTED);
				count(COUNT_PARTIAL);
			}
		}
		return 0;
	}
	if (!request->sends++)
		request->first_sent = now;
	if (connection->answers) {
		connection->answers = 0;
		first_of_answer(connection, result);
	}
	reach(connection, now);
	request->sent_bytes += result;
	return 0;
}

/* Looks at what is left when nothing is followed any more: what was answered is over, the rest is
 * told. */
SEC("iter/bpf_sk_storage_map")
int left(struct bpf_iter__bpf_sk_storage_map *context)
{
	struct connection *connection = context->value;
	struct under_way open = {};

	if (!context->sk || !connection || connection->role != ROLE_FOLLOWED)
		return 0;
	if (connection->step == STEP_LOST && connection->reads && !connection->request.length)
		count(COUNT_NOT_UNDERSTOOD);
	turn(connection, bpf_ktime_get_ns());
	if (!connection->start)
		return 0;
	open.connection = connection->request.connection;
	open.start = connection->start;
	open.tgid = connection->request.tgid;
	open.tid = connection->request.tid;
	bpf_seq_write(context->meta->seq, &open, sizeof(open));
	return 0;
}
