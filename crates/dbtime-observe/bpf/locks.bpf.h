/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Who let go of the lock that a thread had waited for. What ends its sleep may be something else: a
 * timer, by which servers look for deadlocks and give up, or a signal. The wait goes on behind these,
 * so that it is one in several pieces, and ends with the one that somebody ended who let go.
 *
 *   asleep ──► a timer ──► asleep ──► COMMIT elsewhere wakes it ──► it goes on
 *   └──────────────── one wait ──────────────┘
 */
#ifndef DBTIME_LOCKS_H
#define DBTIME_LOCKS_H

#include "threads.bpf.h"

#define SAME_PLACE 64	/* bytes within which a condition variable has all that threads wait at */

static __always_inline void set_expiring(__u32 is_expiring)
{
	struct processor *processor = this_processor();

	if (processor)
		processor->is_expiring = is_expiring;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer)
{
	struct timed_run run = begin_run();

	set_expiring(1);
	end_run(run);
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_end)
{
	struct timed_run run = begin_run();

	set_expiring(0);
	end_run(run);
	return 0;
}

static __always_inline int in_timer(void)
{
	struct processor *processor = this_processor();

	return processor && processor->is_expiring;
}

/* Whether the thread that runs is in a call by which locks are let go of. PostgreSQL's processes send
 * each other a signal, which nobody else does. */
static __always_inline int is_release_call(void)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	switch (CALL(regs)) {
	case NR_FUTEX:
	case NR_SEMOP:
	case NR_SEMTIMEDOP:
		return 1;
	case NR_KILL:
		return (int)SECOND_ARGUMENT(regs) == SIGURG &&
		       bpf_map_lookup_elem(&servers, &tgid) != NULL;
	default:
		return 0;
	}
}

/* The number by which a PostgreSQL server knows the process that runs; 0: it is none of its own. */
static __always_inline __u32 number_of_backend(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct server *server = bpf_map_lookup_elem(&servers, &tgid);

	return server && server->protocol == PROTOCOL_POSTGRES ? own_number() : 0;
}

/* The thread that runs wakes one that waits for a lock. */
static __always_inline void note_waker(struct thread *thread)
{
	struct thread *waker;

	if (in_timer() || !is_release_call())
		return;
	thread->waker_tid = (__u32)bpf_get_current_pid_tgid();
	thread->release = RELEASE_SERVING;
	thread->waker_number = 0;
	waker = current_thread();
	if (!waker) {
		thread->waker_number = number_of_backend();
		/* What an earlier wait has left here is another's. */
		thread->waker_connection = 0;
		thread->waker_start = 0;
		return;
	}
	if (!(waker->connection | waker->prev_connection))
		thread->waker_number = number_of_backend();
	if (waker->connection) {
		if (thread->woken_at - thread->off_cpu_at + thread->lock_wait.length >= MIN_LOCK_WAIT_NS)
			waker->has_released = 1;
		thread->waker_connection = waker->connection;
		thread->waker_start = waker->start;
	} else {
		thread->waker_connection = waker->prev_connection;
		thread->waker_start = waker->prev_start;
		thread->release = waker->is_client_gone ? RELEASE_LEAVING : RELEASE_BEHIND;
	}
}

/* A piece of a wait is over. */
static __always_inline void add_lock_wait(struct thread *thread, __u64 length)
{
	struct lock_wait *wait = &thread->lock_wait;
	int goes_on = wait->length && wait->name == thread->cause_wait &&
		      thread->wait_address - wait->address + SAME_PLACE < 2 * SAME_PLACE;

	if (goes_on)
		length += wait->length;
	if (length > thread->blocker.length) {
		thread->blocker.length = length;
		thread->blocker.connection = thread->waker_connection;
		thread->blocker.start = thread->waker_start;
		thread->blocker.tid = thread->waker_tid;
		thread->blocker.number = thread->waker_number;
		thread->blocker.wait = thread->cause_wait;
		thread->blocker.release = thread->release;
	}
	if (thread->release == RELEASE_NONE) {
		if (!goes_on && length <= wait->length)
			return;
		wait->length = length;
		wait->address = thread->wait_address;
		wait->name = thread->cause_wait;
	} else if (goes_on) {
		wait->length = 0;
	}
}

#endif
