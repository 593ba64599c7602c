/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Who had the CPU while requests could have run, and whether anybody had: a control group that has used
 * up its share leaves it free.
 */
#ifndef DBTIME_PREEMPTORS_H
#define DBTIME_PREEMPTORS_H

#include "threads.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PREEMPTORS);
	__type(key, struct name);
	__type(value, struct tally);
} preemptors SEC(".maps");

/* Somebody else had the CPU so often, and for so long. */
static __always_inline void add_preemptor(const struct name *by, __u64 times, __u64 length)
{
	struct name name = *by, others = {};

	add_tally(&preemptors, &name, &others, times, length);
}

/* Whoever got the CPU behind the answer was in nobody's way. */
static __always_inline void note_preemption(struct thread *thread, __u64 length)
{
	if (!thread->has_answered) {
		add_preemptor(&thread->next_name, 1, length);
		return;
	}
	if (!thread->pending_preemptions.count)
		thread->pending_preemptor = thread->next_name;
	else if (!is_same(&thread->pending_preemptor, &thread->next_name, sizeof(struct name)))
		__builtin_memset(&thread->pending_preemptor, 0, sizeof(thread->pending_preemptor));
	thread->pending_preemptions.count++;
	thread->pending_preemptions.length += length;
}

/* Adds to what a rival of the request has had; who had less than this goes where there is no place. */
static __noinline int add_rival(struct thread *thread, __u64 length)
{
	struct preemptor *least;

	if (!thread)
		return 0;
	least = &thread->rivals[0];
	for (int i = 0; i < RIVALS; i++) {
		struct preemptor *at = &thread->rivals[i];

		if (at->length && at->tid == thread->next_tid) {
			at->length += length;
			return 0;
		}
		if (at->length < least->length)
			least = at;
	}
	if (length > least->length) {
		least->length = length;
		least->tid = thread->next_tid;
		least->name = thread->next_name;
	}
	return 0;
}

static __always_inline void clear_rivals(struct thread *thread)
{
	for (int i = 0; i < RIVALS; i++)
		thread->rivals[i].length = 0;
}

/* Who had the CPU for longest, if anybody. */
static __always_inline void longest_rival(struct thread *thread, struct preemptor *greatest)
{
	for (int i = 0; i < RIVALS; i++)
		if (thread->rivals[i].length > greatest->length)
			*greatest = thread->rivals[i];
}

/* Since Linux 6.6. */
static __always_inline int has_throttled_clock(void)
{
	return bpf_core_field_exists(((struct cfs_rq *)NULL)->throttled_clock_self_time);
}

/* A thread begins to wait for a CPU. */
static __always_inline void note_enqueue(struct thread *thread, struct task_struct *task)
{
	struct cfs_rq *queue;

	thread->queue = 0;
	if (!has_throttled_clock())
		return;
	queue = task->se.cfs_rq;
	thread->queue = (__u64)queue;
	thread->throttled = BPF_CORE_READ(queue, throttled_clock_self_time);
}

/*
 * It has got one, so long after: how much of that its control group was throttled. A thread that was
 * throttled on one CPU may get another: it is the first that tells, while both are of one group.
 */
static __always_inline __u64 throttled_for(struct thread *thread, struct task_struct *task,
					   __u64 length)
{
	struct cfs_rq *queue = (struct cfs_rq *)thread->queue;
	__u64 throttled;

	if (!queue || !has_throttled_clock())
		return 0;
	if (queue != task->se.cfs_rq && BPF_CORE_READ(queue, tg) != BPF_CORE_READ(task, se.cfs_rq, tg))
		return 0;
	throttled = BPF_CORE_READ(queue, throttled_clock_self_time) - thread->throttled;
	return throttled < length ? throttled : length;
}

#endif
