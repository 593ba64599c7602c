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
#include "sockets.bpf.h"
#include "iterators.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

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
		account_for_closed(sk);
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
	enum early_part early_part;
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
