/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Where the time of a thread goes while it serves a request: the scheduler says when it got the CPU
 * and lost it, the system call it was in says why.
 *
 *   on ──► off: cpu            off ──► woken: the cause       woken ──► on: runq (woken), throttled
 *          off, still runnable ──► on: runq (pre-empted), throttled
 *
 * Each is measured between two instants of its own, so that they add up to the time that was seen;
 * what was not seen is nobody's part.
 */
#ifndef DBTIME_SCHEDULING_H
#define DBTIME_SCHEDULING_H

#include "causes.bpf.h"
#include "locks.bpf.h"
#include "preemptors.bpf.h"

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

/* It waited for a CPU. */
static __always_inline void waited_for_cpu(struct thread *thread, struct task_struct *task,
					   __u64 length, int is_preempted)
{
	__u64 throttled = throttled_for(thread, task, length);

	thread->parts[PART_THROTTLED] += throttled;
	length -= throttled;
	thread->parts[is_preempted ? PART_RUNQ_PREEMPTED : PART_RUNQ_WOKEN] += length;
	/* An idle CPU is in nobody's way. */
	if (!is_preempted || !length || !thread->next_tid)
		return;
	keep_rival(thread, length);
	if (settings.sums && thread->is_summed)
		preempted(thread, length);
}

/*
 * When a sleeper was woken, where that was not seen: on its way off, or from an idle CPU, where
 * kernels have been met that leave events out. The scheduler's own record says since when it stands
 * in the queue, or, once it runs, for how long it stood there.
 */
static __always_inline __u64 woken_unseen(struct thread *thread, struct task_struct *task,
					  __u64 arrived)
{
	__u64 queued;

	if (!bpf_core_field_exists(task->sched_info) || !thread->clock_ahead)
		return thread->off;
	queued = task->sched_info.last_queued;
	if (queued)
		return queued - thread->clock_ahead;
	return arrived - (task->sched_info.run_delay - thread->run_delay);
}

/* A thread that runs again. */
static __always_inline void comes_on(struct thread *thread, struct task_struct *task, __u64 now)
{
	__u64 off = thread->off, woken = thread->woken, last = off ? off : thread->on;
	__u32 cause = thread->cause;

	thread->arrived = now;
	/* Clocks of CPUs, and the scheduler's, may differ a little. */
	if (now < last)
		now = last;
	thread->on = now;
	thread->off = 0;
	if (!thread->connection || !off)
		return;
	if (cause == PART_RUNQ_PREEMPTED) {
		waited_for_cpu(thread, task, now - off, 1);
		return;
	}
	if (!woken)
		woken = woken_unseen(thread, task, now);
	if (woken > now)
		woken = now;
	if (woken < off)
		woken = off;
	if (cause < PARTS)
		thread->parts[cause] += woken - off;
	waited_for_cpu(thread, task, now - woken, 0);
	if (is_for_file(cause))
		waited_for_file(thread, cause, woken - off);
	if (cause == PART_LOCK)
		waited_for_lock(thread, woken - off);
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
	comes_on(thread, task, at);
}

/* Why it does not run any more; it sleeps. */
static __always_inline void sleeps(struct thread *thread, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	int call = 0;

	if (thread->wait_event)
		thread->wait = event_of(thread->wait_event);
	thread->cause_wait = thread->wait;
	thread->cause = cause_said(thread->wait);
	thread->place = 0;
	if (thread->cause == PARTS) {
		thread->cause = cause_of(task, thread->last_cause, &call);
		thread->last_cause = thread->cause;
		thread->place = FIRST_ARGUMENT(regs);
	}
	if (thread->cause == PART_OTHER)
		thread->other_call = call;
	else if (is_for_file(thread->cause))
		name_file(thread->file_name, task, call);
	else if (thread->cause == PART_LOCK)
		thread->release = RELEASE_NONE;
}

/* A thread that is not running any more. */
static __always_inline void goes_off(struct thread *thread, struct task_struct *task,
				     struct task_struct *next, unsigned int state, __u64 now)
{
	if (thread->off)
		came_on(thread, task, now);
	else if (thread->arrived && bpf_core_field_exists(task->sched_info))
		thread->clock_ahead = task->sched_info.last_arrival - thread->arrived;
	if (now < thread->on)
		now = thread->on;
	if (thread->connection)
		thread->parts[PART_CPU] += now - thread->on;
	thread->off = now;
	thread->woken = 0;
	if (bpf_core_field_exists(task->sched_info))
		thread->run_delay = task->sched_info.run_delay;
	if (!thread->connection)
		return;
	if (state && is_stopped(task, state)) {
		thread->cause = PART_STOPPED;
	} else if (state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)) {
		/* Further bits (freezable, killable) say how it sleeps, not whether. */
		sleeps(thread, task);
	} else {
		thread->cause = PART_RUNQ_PREEMPTED;
		thread->next_tid = next->pid;
		bpf_probe_read_kernel(&thread->next_name, sizeof(thread->next_name), next->comm);
		queues(thread, task);
	}
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
		comes_on(thread, next, now ? now : bpf_ktime_get_ns());
	has_run(since);
	return 0;
}

static __always_inline void waking(struct task_struct *task)
{
	struct thread *thread = kept_of_task(task);

	/* One that runs, or has been woken already, is told of twice. */
	if (!thread || !thread->off || thread->woken)
		return;
	thread->woken = bpf_ktime_get_ns();
	if (!thread->connection)
		return;
	queues(thread, task);
	if (thread->cause == PART_LOCK)
		wakes(thread);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	__u64 since = runs();

	waking(task);
	has_run(since);
	return 0;
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
	thread->lock_wait.length = 0;
	forget_rivals(thread);
	thread->waits_for_files = 0;
	thread->cache = CACHE_NOT_ASKED;
	thread->has_left = 0;
	thread->has_released = 0;
	thread->portals = 0;
	thread->has_answered = 0;
	thread->is_told = 0;
	thread->late.count = 0;
	thread->late.length = 0;
	__builtin_memset(thread->parts, 0, sizeof(thread->parts));
}

/* The thread serves it no more. */
static __always_inline void unbind(struct thread *thread)
{
	thread->served = thread->connection;
	thread->served_start = thread->start;
	thread->connection = 0;
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
	if (now > thread->on)
		request->parts[PART_CPU] += now - thread->on;
	if (thread->blocker.length)
		waits->blocker = thread->blocker;
	greatest_rival(thread, &waits->preemptor);
	request->other_call = thread->other_call;
}

#endif
