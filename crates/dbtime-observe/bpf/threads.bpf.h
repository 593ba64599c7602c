/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Where the time of a thread goes while it serves a request: the scheduler says when it got the CPU
 * and lost it, the system call it was in says why.
 *
 *   on ──► off: cpu            off ──► woken: the cause       woken ──► on: runq (woken)
 *          off, still runnable ──► on: runq (pre-empted)
 *
 * Each is measured between two instants of its own, so that they add up to the time that was seen;
 * what was not seen is nobody's part.
 */
#ifndef DBTIME_THREADS_H
#define DBTIME_THREADS_H

#include "causes.bpf.h"
#include "files.bpf.h"
#include "ledger.bpf.h"
#include "preemptors.bpf.h"

struct thread {
	__u64 connection;	/* whose request it serves; 0: nobody's */
	__u64 start;		/* when that began */
	__u64 on;		/* since when it has the CPU */
	__u64 off;		/* since when it has not; 0: it has */
	__u64 woken;		/* when it was woken since then; 0: it was not */
	__u64 arrived;		/* when it was seen to get the CPU; 0: it was not */
	__u64 clock_ahead;	/* of the scheduler's clock, when that was compared last */
	__u64 wait_event;	/* as in struct server */
	__u64 encrypted;	/* the connection that it read last, of those that are */
	__u64 tls;		/* the TLS session that it reads from; 0: none */
	__u64 tls_buffer;	/* where to */
	__u64 tls_length;	/* where the library writes how much that was; 0: it returns it */
	__u64 parts[PARTS];
	__u64 waker_connection;	/* who ended the present wait */
	__u64 waker_start;
	__u32 waker_tid;
	__u32 next_tid;		/* who got the CPU instead */
	struct name next_name;
	struct blocker blocker;	/* of the longest wait for a lock */
	struct preemptor preemptor;	/* of the longest wait for a CPU */
	struct file_waits files;
	__u32 waits_for_files;	/* how many there have been */
	char file_name[FILE_NAME];	/* of the present one */
	struct tally late;	/* since the last piece of an answer, which may be the last of all */
	struct name late_name;	/* by whom; none: by several */
	__u16 other_call;	/* the system call of the last part `other` */
	__u32 wait;		/* what the server says that it waits for; 0: nothing */
	__u32 cause_wait;	/* what it said when it lost the CPU */
	__u8 cause;
	__u8 is_told;		/* of the text of what it executes: see told_texts */
	__u8 has_answered;	/* at least in part */
	__u8 is_summed;		/* what it serves is added up */
	__u8 cache;		/* what became of its look into the query cache */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

static __always_inline void waited_for_cpu(struct thread *thread, __u64 length, int is_preempted)
{
	if (length <= thread->preemptor.length)
		return;
	thread->preemptor.length = length;
	thread->preemptor.tid = is_preempted ? thread->next_tid : 0;
	if (is_preempted)
		thread->preemptor.name = thread->next_name;
}

/* Whoever got the CPU behind the answer was in nobody's way. */
static __always_inline void preempted(struct thread *thread, __u64 length)
{
	if (!thread->has_answered) {
		add_preemptor(&thread->next_name, 1, length);
		return;
	}
	if (!thread->late.count)
		thread->late_name = thread->next_name;
	else if (!is_same(&thread->late_name, &thread->next_name, sizeof(struct name)))
		__builtin_memset(&thread->late_name, 0, sizeof(thread->late_name));
	thread->late.count++;
	thread->late.length += length;
}

static __always_inline void waited_for_file(struct thread *thread, __u32 part, __u64 length)
{
	struct file_row row = { .part = part, .kind = FILE_MAPPED };

	if (thread->file_name[0]) {
		row.kind = FILE_NAMED;
		bpf_probe_read_kernel_str(row.name, sizeof(row.name), thread->file_name);
	}
	if (!thread->waits_for_files++)
		forget_files(&thread->files);
	keep_file(&thread->files, &row, length);
}

/* A thread that runs again. */
static __always_inline void comes_on(struct thread *thread, __u64 now)
{
	__u64 off = thread->off, woken = thread->woken;

	thread->on = now;
	thread->arrived = now;
	thread->off = 0;
	if (!thread->connection || !off)
		return;
	if (thread->cause == PART_RUNQ_PREEMPTED) {
		thread->parts[PART_RUNQ_PREEMPTED] += now - off;
		waited_for_cpu(thread, now - off, 1);
		if (settings.sums && thread->is_summed)
			preempted(thread, now - off);
	} else {
		__u32 cause = thread->cause;

		/* It sleeps no more, so it was woken: on its way off, if nothing was seen since. */
		if (woken < off)
			woken = off;
		if (cause < PARTS)
			thread->parts[cause] += woken - off;
		thread->parts[PART_RUNQ_WOKEN] += now - woken;
		waited_for_cpu(thread, now - woken, 0);
		if (is_for_file(cause))
			waited_for_file(thread, cause, woken - off);
		if (cause == PART_LOCK && woken - off > thread->blocker.length) {
			thread->blocker.length = woken - off;
			thread->blocker.connection = thread->waker_connection;
			thread->blocker.start = thread->waker_start;
			thread->blocker.tid = thread->waker_tid;
			thread->blocker.wait = thread->cause_wait;
		}
	}
}

/*
 * A thread that runs, and was not seen to get the CPU: kernels have been met that leave out
 * switches from certain threads. The scheduler's own record says when it was, on its own clock.
 */
static __always_inline void came_on(struct thread *thread, struct task_struct *task, __u64 now)
{
	__u64 at = thread->off;

	if (bpf_core_field_exists(task->sched_info))
		at = task->sched_info.last_arrival - thread->clock_ahead;
	if (at > now)
		at = now;
	if (at < thread->off)
		at = thread->off;
	if (thread->woken > at)
		thread->woken = at;
	count(COUNT_UNSEEN);
	comes_on(thread, at);
}

/* A thread that is not running any more. */
static __always_inline void goes_off(struct thread *thread, struct task_struct *task,
				     struct task_struct *next, unsigned int state, __u64 now)
{
	int call = 0;

	if (thread->off)
		came_on(thread, task, now);
	else if (thread->arrived && bpf_core_field_exists(task->sched_info))
		thread->clock_ahead = task->sched_info.last_arrival - thread->arrived;
	if (thread->connection)
		thread->parts[PART_CPU] += now - thread->on;
	thread->off = now;
	thread->woken = 0;
	if (!thread->connection)
		return;
	/* Further bits (freezable, killable) say how it sleeps, not whether. */
	if (!(state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE))) {
		thread->cause = PART_RUNQ_PREEMPTED;
		thread->next_tid = next->pid;
		bpf_probe_read_kernel(&thread->next_name, sizeof(thread->next_name), next->comm);
		return;
	}
	if (thread->wait_event)
		thread->wait = event_of(thread->wait_event);
	thread->cause_wait = thread->wait;
	thread->cause = cause_said(thread->wait);
	if (thread->cause == PARTS)
		thread->cause = cause_of(task, &call);
	if (thread->cause == PART_OTHER)
		thread->other_call = call;
	else if (is_for_file(thread->cause))
		name_file(thread->file_name, task, call);
}

/* What is kept of a thread; NULL: nothing, which is true of most. */
static __always_inline struct thread *kept_of_task(struct task_struct *task)
{
	if (!task->bpf_storage)
		return NULL;
	return bpf_task_storage_get(&threads, task, 0, 0);
}

/* What is kept of the thread that runs; NULL: nothing. */
static __always_inline struct thread *present(void)
{
	return kept_of_task(bpf_get_current_task_btf());
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	__u64 now = 0, since = runs();
	struct thread *thread = kept_of_task(prev);

	if (thread) {
		now = bpf_ktime_get_ns();
		goes_off(thread, prev, next, preempt ? 0 : state, now);
	}
	thread = kept_of_task(next);
	if (thread)
		comes_on(thread, now ? now : bpf_ktime_get_ns());
	has_run(since);
	return 0;
}

static __always_inline void waking(struct task_struct *task)
{
	struct thread *thread = kept_of_task(task);
	struct thread *waker;

	/* One that runs, or has been woken already, is told of twice. */
	if (!thread || !thread->off || thread->woken)
		return;
	thread->woken = bpf_ktime_get_ns();
	if (!thread->connection)
		return;
	waker = present();
	thread->waker_connection = waker ? waker->connection : 0;
	thread->waker_start = waker ? waker->start : 0;
	thread->waker_tid = (__u32)bpf_get_current_pid_tgid();
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	__u64 since = runs();

	waking(task);
	has_run(since);
	return 0;
}

/* The thread that runs, with a place for what is kept of it; NULL where there is no memory. */
static __always_inline struct thread *running(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The thread that runs begins to serve a request. */
static __always_inline void bind(struct thread *thread, __u64 connection, __u64 wait_event,
				 __u64 now)
{
	if (thread->off)
		thread->arrived = 0;
	thread->connection = connection;
	thread->wait_event = wait_event;
	thread->start = now;
	thread->on = now;
	thread->off = 0;
	thread->other_call = 0;
	thread->wait = 0;
	thread->blocker.length = 0;
	thread->preemptor.length = 0;
	thread->waits_for_files = 0;
	thread->cache = CACHE_NOT_ASKED;
	thread->has_answered = 0;
	thread->is_told = 0;
	thread->late.count = 0;
	thread->late.length = 0;
	__builtin_memset(thread->parts, 0, sizeof(thread->parts));
}

/* What the thread that runs has spent on its request by now; what it waits for behind the answer is
 * not part of it. */
static __always_inline void tell(struct thread *thread, struct request *request,
				 struct waits *waits, __u64 now)
{
	request->cache = thread->cache;
	if (!settings.follows_threads)
		return;
	if (thread->off)
		came_on(thread, bpf_get_current_task_btf(), now);
	if (settings.sums && thread->late.count) {
		add_preemptor(&thread->late_name, thread->late.count, thread->late.length);
		thread->late.count = 0;
		thread->late.length = 0;
	}
	__builtin_memcpy(request->parts, thread->parts, sizeof(request->parts));
	request->parts[PART_CPU] += now - thread->on;
	if (thread->blocker.length)
		waits->blocker = thread->blocker;
	if (thread->preemptor.length)
		waits->preemptor = thread->preemptor;
	request->other_call = thread->other_call;
}

#endif
