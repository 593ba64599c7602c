/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The tracer's programs for this machine, and what the tests call of them.
 */
/* Settings are constants for the verifier's sake; tests change them. */
#define const
#include "machine.h"
#define LICENSE capture_license
#include "capture.bpf.c"

void capture_begin(void)
{
	HOST_TABLE(processors, "processors", HOST_PERCPU);
	HOST_TABLE(files, "files", HOST_HASH);
	HOST_TABLE(servers, "servers", HOST_HASH);
	HOST_STORAGES(threads, "threads");
	HOST_STORAGES(connections, "connections");
	HOST_TABLE(client_ends, "client_ends", HOST_ARRAY);
	HOST_TABLE(client_names, "client_names", HOST_HASH);
	HOST_STORAGES(client_numbers, "client_numbers");
	HOST_TABLE(encrypted, "encrypted", HOST_HASH);
	HOST_TABLE(ports, "ports", HOST_HASH);
	HOST_TABLE(preemptors, "preemptors", HOST_HASH);
	HOST_TABLE(earlier_stints, "earlier_stints", HOST_PERCPU);
	HOST_TABLE(departures, "departures", HOST_ARRAY);
	HOST_STORAGES(server_texts, "server_texts");
	HOST_TABLE(totals, "totals", HOST_HASH);
	HOST_TABLE(empty_totals, "empty_totals", HOST_ARRAY);
	HOST_TABLE(examples, "examples", HOST_HASH);
	HOST_TABLE(empty_example, "empty_example", HOST_ARRAY);
	HOST_TABLE(serving, "serving", HOST_HASH);
	HOST_TABLE(prepared_shapes, "prepared_shapes", HOST_HASH);
	HOST_TABLE(scratch, "scratch", HOST_PERCPU);
	HOST_TABLE(scratch_thread, "scratch_thread", HOST_PERCPU);
	HOST_TABLE(stacks, "stacks", HOST_HASH);
	HOST_TABLE(scratch_stack, "scratch_stack", HOST_PERCPU);
	HOST_TABLE(programs, "programs", HOST_HASH);
	host_table(&started, "started", HOST_QUEUE, 0, sizeof(__u32), 256);
	host_table(&stream, "stream", HOST_RING, 0, 0, 0);
	__builtin_memset((void *)&settings, 0, sizeof(settings));
	__builtin_memset((void *)made, 0, sizeof(made));
	depth = DEPTH_EVERYTHING;
	phase = PHASE_WATCHING;
	side = 0;
	last_connection = 0;
	last_client_end = 0;
	last_clock_ahead = 0;
	walk_began = 0;
}

__u32 capture_settings_size(void)
{
	return sizeof(settings);
}

void capture_set(void *new_settings, __u32 new_depth, __u32 new_phase)
{
	__builtin_memcpy((void *)&settings, new_settings, sizeof(settings));
	depth = new_depth;
	phase = new_phase;
}

/* The programs, by the numbers of sockets and threads. */

void capture_received(__u32 socket, int result, int flags)
{
	__u32 turns = host_turns();

	if (turns & 1)
		on_receive(host_sock(socket), result, flags);
	if (turns & 2)
		on_receive_second(host_sock(socket), result, flags);
	if (turns & 4)
		on_receive_third(host_sock(socket), result, flags);
	if (turns & 8)
		on_receive_fourth(host_sock(socket), result, flags);
}

void capture_sent(__u32 socket, int result)
{
	__u32 turns = host_turns();

	if (turns & 1)
		on_send(host_sock(socket), result, 0);
	if (turns & 2)
		on_send_second(host_sock(socket), result, 0);
	if (turns & 4)
		on_send_third(host_sock(socket), result, 0);
	if (turns & 8)
		on_send_fourth(host_sock(socket), result, 0);
}

void capture_data_ready(__u32 socket)
{
	on_bytes(host_sock(socket));
}

void capture_closed(__u32 socket)
{
	on_state(host_sock(socket), 1, TCP_CLOSE);
}

void capture_switch(int preempt, __u32 from, __u32 to, __u32 state)
{
	on_switch(preempt, host_task_at(from), host_task_at(to), state);
}

void capture_waking(__u32 task)
{
	on_waking(host_task_at(task));
}

/* A timer expires on the present CPU, or has expired. */
void capture_timer(int begins)
{
	if (begins)
		on_timer();
	else
		on_timer_end();
}

/* The probe that a server says by what it waits for; 0: it does not any more. */
void capture_waits(__u32 task, int begins)
{
	if (begins)
		on_wait_begin(host_regs_at(task));
	else
		on_wait_end(host_regs_at(task));
}

/* PostgreSQL makes a portal. */
void capture_portal(__u32 task)
{
	on_portal(host_regs_at(task));
}

/* The present CPU is sampled. */
void capture_sample(void)
{
	on_sample(NULL);
}

/* The iterators over connections, each by the letter behind `iter_`. */
void capture_walk(__u32 socket, char what)
{
	struct socket at = { host_sock(socket) };
	struct bpf_iter_meta meta = { NULL };
	struct bpf_iter__task_file context = { .meta = &meta, .file = (struct file *)&at };

	if (what == 'f')
		iter_final(&context);
	else if (what == 'c')
		iter_close(&context);
	else
		iter_snapshot(&context);
}

/* The iterator over threads. */
void capture_walk_threads(void)
{
	struct bpf_iter_meta meta = { NULL };
	struct bpf_iter__task context = { .meta = &meta };

	while ((context.task = host_nth_task(meta.seq_num))) {
		iter_threads(&context);
		meta.seq_num++;
	}
}

__u64 capture_shape(__u32 protocol, __u32 flags, __u8 *text, __u32 length)
{
	struct connection *connection = __builtin_malloc(sizeof(*connection));
	__u64 shape;

	__builtin_memset(connection, 0, sizeof(*connection));
	__builtin_memcpy(connection->text.bytes, text, length < TEXT_ROOM ? length : TEXT_ROOM);
	connection->request.protocol = protocol;
	connection->request.flags = flags;
	shape = shape_between(connection, 0, length);
	__builtin_free(connection);
	return shape;
}
