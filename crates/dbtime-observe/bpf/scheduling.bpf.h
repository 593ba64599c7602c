/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Where the time of a thread goes while it serves a request: when it got and lost the CPU by the
 * scheduler's events, and why by its system call.
 *
 *   on ──► off: cpu            off ──► woken: the cause       woken ──► on: runq (woken), throttled
 *          off, still runnable ──► on: runq (pre-empted), throttled
 *
 * Each is measured between two instants of its own, so that they add up to the time that was seen;
 * what was not seen is nobody's part.
 *
 * Of a thread without a request it is kept when it waited for a CPU or was stopped: what of that lies
 * behind the arrival of the request that it then reads is a share of the request's time in the socket
 * (`split_queue`).
 */
#ifndef DBTIME_SCHEDULING_H
#define DBTIME_SCHEDULING_H

#include "causes.bpf.h"
#include "locks.bpf.h"
#include "preemptors.bpf.h"
#include "stacks.bpf.h"

static __always_inline void add_file_wait(struct thread *thread, __u32 part, __u64 length)
{
	struct file_row row = { .part = part, .kind = FILE_MAPPED };

	if (thread->file_name[0]) {
		row.kind = FILE_NAMED;
		bpf_probe_read_kernel_str(row.name, sizeof(row.name), thread->file_name);
	}
	if (!thread->file_wait_count++)
		clear_files(&thread->files);
	add_request_file(&thread->files, &row, length);
}

/* A thread could not run until now. */
static __always_inline void keep_cpu_wait(struct thread *thread, enum early_part part, __u64 from,
					  __u64 throttled, __u64 now)
{
	struct cpu_wait *wait = &thread->cpu_waits[thread->cpu_wait_count++ & (CPU_WAITS - 1)];

	wait->from = from;
	wait->until = now;
	wait->throttled = throttled;
	wait->part = part;
}

/* A wait for a CPU is over; `is_seen`: the CPU that runs this is the one that was waited for. */
static __always_inline void add_cpu_wait(struct thread *thread, struct task_struct *task,
					   __u64 length, __u64 now, int is_seen)
{
	int is_preempted = thread->cause == PART_RUNQ_PREEMPTED;
	int is_summed = is_preempted && settings.sums && thread->is_aggregated && thread->connection;
	__u64 throttled = throttled_for(thread, task, length);

	if (is_seen && length)
		keep_cpu_wait(thread, is_preempted ? EARLY_RUNQ_PREEMPTED : EARLY_RUNQ_WOKEN,
			      now - length, throttled, now);
	thread->parts[PART_THROTTLED] += throttled;
	length -= throttled;
	thread->parts[is_preempted ? PART_RUNQ_PREEMPTED : PART_RUNQ_WOKEN] += length;
	if (!is_seen || !length)
		return;
	if (!thread->connection)
		thread->idle_runq += length;
	/* Where requests are added up, and not told one by one, rivals are those of all together. */
	if (settings.streams || is_summed)
		add_rivals(thread, length, now, is_summed);
}

/*
 * How far the scheduler's clock was ahead of ours when that was compared last, of any thread; 0:
 * never. All threads have these two clocks, but of a new one they were not compared yet.
 */
__u64 last_clock_ahead;

static __always_inline __u64 clock_ahead(struct thread *thread)
{
	return thread->clock_ahead ? thread->clock_ahead : last_clock_ahead;
}

/*
 * The time of a wake-up without an event: on the way off the CPU, or from an idle CPU, where some
 * kernels leave events out. The scheduler's own record has the start of the wait in the queue or,
 * once the thread runs, its length.
 */
static __always_inline __u64 recover_wakeup(struct thread *thread, struct task_struct *task,
					  __u64 arrived)
{
	__u64 queued, ahead = clock_ahead(thread);

	if (!bpf_core_field_exists(task->sched_info) || !ahead)
		return thread->off_cpu_at;
	queued = task->sched_info.last_queued;
	if (queued)
		return queued - ahead;
	return arrived - (task->sched_info.run_delay - thread->run_delay);
}

/* A thread of the driver gets a CPU. */
static __always_inline void add_driver_wait(struct thread *thread, struct task_struct *task, __u64 now)
{
	struct cpu_wait *wait = &thread->cpu_waits[thread->cpu_wait_count++ & (CPU_WAITS - 1)];

	if (thread->cause == PART_RUNQ_PREEMPTED)
		wait->from = thread->off_cpu_at;
	else
		wait->from = thread->woken_at ? thread->woken_at : recover_wakeup(thread, task, now);
	wait->until = now;
}

/* A thread gets a CPU; `is_seen`: right now. */
static __always_inline void switch_in(struct thread *thread, struct task_struct *task, __u64 now,
				    int is_seen)
{
	__u64 off_cpu_at = thread->off_cpu_at, woken_at = thread->woken_at;
	__u64 last = off_cpu_at ? off_cpu_at : thread->on_cpu_at;
	__u32 cause = thread->cause, part = cause;

	if (settings.driver && thread->is_drivers && off_cpu_at)
		add_driver_wait(thread, task, now);
	thread->switched_in_at = now;
	/* Clocks of CPUs, and the scheduler's, may differ a little. */
	if (now < last)
		now = last;
	thread->on_cpu_at = now;
	thread->off_cpu_at = 0;
	if (!off_cpu_at || (!thread->connection && (!is_seen || thread->is_drivers)))
		return;
	if (cause == PART_RUNQ_PREEMPTED) {
		add_cpu_wait(thread, task, now - off_cpu_at, now, is_seen);
		return;
	}
	if (!woken_at)
		woken_at = recover_wakeup(thread, task, now);
	if (woken_at > now)
		woken_at = now;
	if (woken_at < off_cpu_at)
		woken_at = off_cpu_at;
	/* Older verifiers know of the check what is in this variable alone. */
	barrier_var(part);
	if (part < PARTS)
		thread->parts[part] += woken_at - off_cpu_at;
	if (is_seen && cause == PART_STOPPED)
		keep_cpu_wait(thread, EARLY_STOPPED, off_cpu_at, 0, woken_at);
	if (settings.stacks && cause < PARTS && thread->connection)
		stream_wait_stacks(thread, off_cpu_at, woken_at - off_cpu_at);
	add_cpu_wait(thread, task, now - woken_at, now, is_seen);
	if (is_for_file(cause))
		add_file_wait(thread, cause, woken_at - off_cpu_at);
	if (cause == PART_LOCK)
		add_lock_wait(thread, woken_at - off_cpu_at);
}

/*
 * A thread that runs without a switch event to it: some kernels leave out switches from certain
 * threads. The time is that of the scheduler's own record, on its own clock.
 */
static __always_inline void recover_switch_in(struct thread *thread, struct task_struct *task, __u64 now)
{
	__u64 at = thread->off_cpu_at;

	if (bpf_core_field_exists(task->sched_info))
		at = task->sched_info.last_arrival - clock_ahead(thread);
	if (at > now)
		at = now;
	if (at < thread->off_cpu_at)
		at = thread->off_cpu_at;
	if (thread->woken_at > at)
		thread->woken_at = at;
	count(COUNT_UNSEEN_SWITCHES);
	switch_in(thread, task, at, 0);
}

/* The cause of a sleep: by the wait that the server reports, else by the system call. */
static __always_inline void classify_sleep(struct thread *thread, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	int call = 0;

	if (thread->wait_event)
		thread->wait = read_wait_event(thread->wait_event);
	thread->cause_wait = thread->wait;
	thread->cause = cause_of_wait(thread->wait);
	thread->wait_address = 0;
	if (thread->cause == PARTS) {
		thread->cause = cause_of_call(task, thread->last_call_cause, &call);
		thread->last_call_cause = thread->cause;
		thread->wait_address = FIRST_ARGUMENT(regs);
	}
	if (thread->cause == PART_OTHER)
		thread->other_call = call;
	else if (is_for_file(thread->cause))
		copy_file_name(thread->file_name, task, call);
	else if (thread->cause == PART_LOCK)
		thread->release = RELEASE_NONE;
}

/* A thread without a request goes to sleep: who has the CPU once it is woken keeps the next waiting. */
static __always_inline void begin_rest(struct thread *thread, __u64 now)
{
	thread->cause = PARTS;
	thread->rested_at = now;
	thread->idle_runq = 0;
	clear_rivals(thread);
}

/* A thread leaves its CPU. */
static __always_inline void switch_out(struct thread *thread, struct task_struct *task,
				     unsigned int state, __u64 now)
{
	if (thread->off_cpu_at)
		recover_switch_in(thread, task, now);
	else if (thread->switched_in_at && bpf_core_field_exists(task->sched_info))
		last_clock_ahead = thread->clock_ahead =
			task->sched_info.last_arrival - thread->switched_in_at;
	if (now < thread->on_cpu_at)
		now = thread->on_cpu_at;
	if (thread->connection)
		thread->parts[PART_CPU] += now - thread->on_cpu_at;
	thread->off_cpu_at = now;
	thread->woken_at = 0;
	if (bpf_core_field_exists(task->sched_info))
		thread->run_delay = task->sched_info.run_delay;
	if (state && is_stopped(task, state)) {
		thread->cause = PART_STOPPED;
	} else if (state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)) {
		/* Further bits (freezable, killable) say how it sleeps, not whether. */
		if (thread->connection)
			classify_sleep(thread, task);
		else
			begin_rest(thread, now);
	} else {
		thread->cause = PART_RUNQ_PREEMPTED;
		note_enqueue(thread, task);
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	struct timed_run run;
	struct thread *thread;
	__u64 now;

	if (phase == PHASE_BEFORE)
		return 0;
	run = begin_run();
	now = bpf_ktime_get_ns();
	add_stint(prev, now);
	thread = thread_of(prev);
	if (thread) {
		switch_out(thread, prev, preempt ? 0 : state, now);
		if (settings.stacks && thread->connection && thread->cause != PART_RUNQ_PREEMPTED)
			keep_wait_stacks(ctx, thread);
	}
	thread = thread_of(next);
	if (thread)
		switch_in(thread, next, now, 1);
	end_run_with(run, 1);
	return 0;
}

static __always_inline void wakeup(struct task_struct *task)
{
	struct thread *thread = thread_of(task);

	/* The event comes also for a thread that runs, or was woken before. */
	if (!thread || !thread->off_cpu_at || thread->woken_at)
		return;
	thread->woken_at = bpf_ktime_get_ns();
	note_enqueue(thread, task);
	if (thread->connection && thread->cause == PART_LOCK)
		note_waker(thread);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct timed_run run;

	if (phase == PHASE_BEFORE)
		return 0;
	run = begin_run();
	wakeup(task);
	end_run(run);
	return 0;
}

/*
 * For how long of a request's time in the socket the thread that reads it had no CPU, or was stopped:
 * all else of that it slept, was at something before, or was not yet the one to read it, as of a pool
 * any thread is. The throttled part of a wait is its beginning: see `add_rivals`. Returns how long it
 * waited for others.
 */
static __always_inline __u64 split_queue(struct request *request, struct thread *thread, __u64 now)
{
	__u64 runq = 0, since = now - request->server_queue;

	if (request->server_queue == NOT_KNOWN)
		return 0;
	/* Up to there it was at another request, whose parts have it. */
	if (since < thread->answered_at)
		since = thread->answered_at;
	/* The latest first. */
	for (__u32 i = 1; i <= CPU_WAITS; i++) {
		struct cpu_wait *wait = &thread->cpu_waits[(thread->cpu_wait_count - i) & (CPU_WAITS - 1)];
		__u64 free_at = wait->from + wait->throttled;
		__u64 length = common_time(free_at, wait->until, since, now);

		if (wait->until <= since)
			break;
		request->early[wait->part & (EARLY_PARTS - 1)] += length;
		request->early[EARLY_THROTTLED] += common_time(wait->from, free_at, since, now);
		if (wait->part != EARLY_STOPPED)
			runq += length;
	}
	return runq;
}

/* Who had the CPU while a thread waited to read a request stays among its rivals, where all of that wait
 * is the request's. */
static __always_inline void keep_early_rivals(struct thread *thread, __u64 runq)
{
	if (thread->connection || thread->rested_at <= thread->answered_at || thread->idle_runq != runq)
		clear_rivals(thread);
}

/* Assigns a request to the thread that runs. */
static __always_inline void assign(struct thread *thread, __u64 connection, __u64 wait_event,
				 __u64 now)
{
	if (thread->off_cpu_at)
		thread->switched_in_at = 0;
	thread->connection = connection;
	thread->wait_event = wait_event;
	thread->start = now;
	thread->on_cpu_at = now;
	thread->off_cpu_at = 0;
	thread->other_call = 0;
	thread->wait = 0;
	thread->blocker.length = 0;
	thread->lock_wait.length = 0;
	thread->file_wait_count = 0;
	thread->cache = CACHE_NOT_SEARCHED;
	thread->is_client_gone = 0;
	thread->has_released = 0;
	thread->portals = 0;
	thread->has_answered = 0;
	thread->has_server_text = 0;
	thread->pending_preemptions.count = 0;
	thread->pending_preemptions.length = 0;
	__builtin_memset(thread->parts, 0, sizeof(thread->parts));
}

/* The thread serves no request any more. */
static __always_inline void unassign(struct thread *thread)
{
	thread->prev_connection = thread->connection;
	thread->prev_start = thread->start;
	thread->connection = 0;
}

/* Publishes the parts of a request up to now, from the thread that runs; waits behind the answer do
 * not belong to it. */
static __always_inline void publish_parts(struct thread *thread, struct request *request,
				 struct waits *waits, __u64 now)
{
	request->cache = thread->cache;
	thread->answered_at = now;
	if (!settings.follows_threads)
		return;
	if (thread->off_cpu_at)
		recover_switch_in(thread, bpf_get_current_task_btf(), now);
	if (settings.sums && thread->pending_preemptions.count) {
		add_preemptor(&thread->pending_preemptor, thread->pending_preemptions.count, thread->pending_preemptions.length);
		thread->pending_preemptions.count = 0;
		thread->pending_preemptions.length = 0;
	}
	__builtin_memcpy(request->parts, thread->parts, sizeof(request->parts));
	if (now > thread->on_cpu_at)
		request->parts[PART_CPU] += now - thread->on_cpu_at;
	if (thread->blocker.length)
		waits->blocker = thread->blocker;
	request->other_call = thread->other_call;
}

#endif
