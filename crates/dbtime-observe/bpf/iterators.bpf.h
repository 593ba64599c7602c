/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Iterators over all connections: a snapshot of each, requests that are over, the account at the end.
 */
#ifndef DBTIME_ITERATORS_H
#define DBTIME_ITERATORS_H

#include "openings.bpf.h"

/*
 * What is kept of the connection that an iterator has come to. It goes over the open files of all
 * processes, in whatever network namespace: there are kernels that refuse the iterator over what
 * is kept of sockets. A socket that several processes have open is come to several times.
 */
static __always_inline struct connection *connection_at(struct bpf_iter__task_file *context)
{
	struct file *file = context->file;
	struct connection *connection;
	struct socket *socket;
	struct sock *sk;

	socket = file ? bpf_sock_from_file(file) : NULL;
	if (!socket)
		return NULL;
	sk = socket->sk;
	connection = sk ? lookup(sk) : NULL;
	return connection ? state_of(connection) : NULL;
}

/* At the end of a trace: closes requests that were answered, and counts the rest as in flight, once. */
SEC("iter/task_file")
int iter_final(struct bpf_iter__task_file *context)
{
	struct connection *connection = connection_at(context);

	if (!connection)
		return 0;
	account_for_strange(connection);
	maybe_close(connection);
	count_in_flight(connection);
	return 0;
}

static __always_inline struct connection *copy_of(struct connection *connection)
{
	__u32 zero = 0;
	struct connection *copy = bpf_map_lookup_elem(&scratch, &zero);

	return copy && !bpf_probe_read_kernel(copy, sizeof(*copy), connection) ? copy : NULL;
}

struct task_struct *bpf_task_from_pid(int pid) __ksym __weak;
void bpf_task_release(struct task_struct *task) __ksym __weak;

/* When the last walk over all threads began. */
__u64 walk_began;

/* Threads that served requests then, by their numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct thread);
} serving SEC(".maps");

/* Notes which threads serve requests, for the walk over connections that follows: where the kernel does
 * not find a thread by its number. */
SEC("iter/task")
int iter_threads(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct thread *thread;
	__u32 tid;

	if (!context->meta->seq_num)
		walk_began = bpf_ktime_get_ns();
	thread = task ? bpf_task_storage_get(&threads, task, 0, 0) : NULL;
	if (!thread)
		return 0;
	tid = task->pid;
	thread->walk = walk_began;
	if (thread->connection)
		bpf_map_update_elem(&serving, &tid, thread, BPF_ANY);
	else
		bpf_map_delete_elem(&serving, &tid);
	return 0;
}

/* The thread that has read a request, as the walk over all threads has found it, if it was at it. */
static __always_inline struct thread *walked_thread(struct connection *connection)
{
	__u32 tid = connection->request.tid;
	struct thread *thread = bpf_map_lookup_elem(&serving, &tid);

	if (!thread || thread->walk != walk_began)
		return NULL;
	return thread->connection == connection->request.connection ? thread : NULL;
}

/* Whether a request has begun since that walk, so that nothing is known of its thread. */
static __always_inline int is_later_than_walk(struct connection *connection)
{
	return !settings.finds_threads && connection->start >= walk_began;
}

/* Whether the thread that has read a request is still at it; what is kept of it goes to `found`. */
static __always_inline int copy_serving_thread(struct connection *connection, struct thread *found)
{
	struct task_struct *task;
	struct thread *thread;
	int is_at_it;

	if (!settings.finds_threads) {
		thread = walked_thread(connection);
		if (thread && found)
			bpf_probe_read_kernel(found, sizeof(*found), thread);
		return thread != NULL;
	}
	task = bpf_task_from_pid(connection->request.tid);
	if (!task)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, 0);
	is_at_it = thread && thread->connection == connection->request.connection;
	if (is_at_it && found)
		bpf_probe_read_kernel(found, sizeof(*found), thread);
	bpf_task_release(task);
	return is_at_it;
}

/*
 * Closes requests whose threads have answered and left. Their connections may be read meanwhile, so
 * it works on a copy, and only who takes the beginning away may end it.
 */
SEC("iter/task_file")
int iter_close(struct bpf_iter__task_file *context)
{
	struct connection *connection = connection_at(context), *copy;

	if (!connection || !connection->start || !connection->request.writes ||
	    connection->local_file || connection->guess != GUESS_NONE ||
	    connection->request.protocol != PROTOCOL_MYSQL ||
	    copy_serving_thread(connection, NULL))
		return 0;
	copy = copy_of(connection);
	if (!copy || !copy->start || is_later_than_walk(copy))
		return 0;
	if (__sync_val_compare_and_swap(&connection->start, copy->start, 0) != copy->start)
		return 0;
	close_request(copy, OUTCOME_ENDED);
	connection->last_prepared = copy->last_prepared;
	return 0;
}

/* The parts of a request that is under way, up to now; which one that is. */
static __always_inline __u32 parts_until(struct request *request, struct thread *thread, __u64 now)
{
	__u64 off_cpu_at = thread->off_cpu_at, woken_at = thread->woken_at;
	__u32 cause = thread->cause;

	if (!settings.follows_threads)
		return PARTS;
	__builtin_memcpy(request->parts, thread->parts, sizeof(request->parts));
	if (!off_cpu_at) {
		if (now > thread->on_cpu_at)
			request->parts[PART_CPU] += now - thread->on_cpu_at;
		return PART_CPU;
	}
	if (cause >= PARTS)
		return PARTS;
	if (!woken_at || cause == PART_RUNQ_PREEMPTED) {
		if (now > off_cpu_at)
			request->parts[cause] += now - off_cpu_at;
		return cause;
	}
	if (woken_at > off_cpu_at)
		request->parts[cause] += woken_at - off_cpu_at;
	if (now > woken_at)
		request->parts[PART_RUNQ_WOKEN] += now - woken_at;
	return PART_RUNQ_WOKEN;
}

/* Where a thread is copied to. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread);
} scratch_thread SEC(".maps");

/* Writes a snapshot of every connection. */
SEC("iter/task_file")
int iter_snapshot(struct bpf_iter__task_file *context)
{
	struct snapshot snapshot = { .now = bpf_ktime_get_ns(), .part = PARTS };
	struct connection *connection = connection_at(context), *copy;
	__u32 zero = 0, length;
	struct thread *thread;

	copy = connection ? copy_of(connection) : NULL;
	thread = bpf_map_lookup_elem(&scratch_thread, &zero);
	/* Before its first request a connection has no snapshot. */
	if (!copy || !thread || (!copy->start && !copy->request.start))
		return 0;
	copy->request.outcome = OUTCOME_ENDED;
	if (copy->start) {
		snapshot.is_under_way = 1;
		copy->request.start = copy->start;
		copy->request.end = snapshot.now;
		if (copy_serving_thread(copy, thread)) {
			snapshot.part = parts_until(&copy->request, thread, snapshot.now);
			snapshot.wait = thread->cause_wait;
		}
	}
	/* What may be data of a file, or of a COPY, is no text. */
	if (copy->guess != GUESS_NONE && !may_be_answered(copy)) {
		forget_text(&copy->request);
		copy->request.flags |= REQUEST_UNREAD;
	}
	length = trailing_length(copy);
	bpf_seq_write(context->meta->seq, &snapshot, sizeof(snapshot));
	bpf_seq_write(context->meta->seq, &copy->waits,
		      sizeof(copy->waits) + sizeof(copy->request) + length);
	return 0;
}

#endif
