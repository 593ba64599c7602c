/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Who had the CPU while requests could have run, and whether anybody had: a control group that has used
 * up its share leaves it free.
 */
#ifndef DBTIME_PREEMPTORS_H
#define DBTIME_PREEMPTORS_H

#include "spans.bpf.h"
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

/* Whoever had the CPU behind the answer was in nobody's way. */
__noinline int note_preemption(struct thread *thread, struct name *by, __u64 length)
{
	if (!thread || !by)
		return 0;
	if (!thread->has_answered) {
		add_preemptor(by, 1, length);
		return 0;
	}
	if (!thread->pending_preemptions.count)
		thread->pending_preemptor = *by;
	else if (!is_same(&thread->pending_preemptor, by, sizeof(struct name)))
		__builtin_memset(&thread->pending_preemptor, 0, sizeof(thread->pending_preemptor));
	thread->pending_preemptions.count++;
	thread->pending_preemptions.length += length;
	return 0;
}

/* Adds to what rivals of one name have had; who had less than this goes where there is no place, and is
 * not named. */
__noinline int add_rival(struct thread *thread, struct name *name, __u32 tid, __u64 length)
{
	struct preemptor *place;

	if (!thread || !name)
		return 0;
	place = &thread->rivals[0];
	for (__u32 i = 0; i < RIVALS; i++) {
		struct preemptor *at = &thread->rivals[i];

		if (i >= thread->rival_count) {
			thread->rival_count++;
			at->length = 0;
			place = at;
			break;
		}
		if (is_same(&at->name, name, sizeof(struct name))) {
			at->length += length;
			return 0;
		}
		if (at->length < place->length)
			place = at;
	}
	if (length > place->length) {
		place->length = length;
		place->tid = tid;
		place->name = *name;
	}
	return 0;
}

/* A stint of a CPU by its number. The mask is to stay where it is used: older verifiers lose it. */
static __always_inline struct stint *stint_at(struct processor *of, __u32 number)
{
	barrier_var(number);
	number &= STINTS - 1;
	return &of->stints[number];
}

/* A thread leaves the CPU that runs this. Threads of a server, and those of one name altogether, take
 * turns on it: they have one stint together. */
static __always_inline void add_stint(struct task_struct *task, __u64 now)
{
	struct processor *of = this_processor();
	struct name name __attribute__((aligned(8))) = {};
	struct stint *stint;

	if (!of)
		return;
	of->switch_count++;
	if (task->pid)
		bpf_probe_read_kernel(&name, sizeof(name), task->comm);
	stint = stint_at(of, of->stint_count - 1);
	if (stint->until && !stint->tid == !task->pid && is_same(&stint->name, &name, sizeof(name))) {
		stint->until = now;
		stint->tid = task->pid;
		return;
	}
	stint = stint_at(of, of->stint_count++);
	stint->until = now;
	stint->tid = task->pid;
	stint->name = name;
	if (!(of->stint_count & (FOLDED - 1)))
		fold_stints();
}

/* A walk back through the stints of a CPU, and the spans before these. */
struct stint_walk {
	struct thread *thread;	/* that waited */
	struct processor *of;
	struct earlier *earlier;
	__u64 from;		/* since then */
	__u64 until;		/* of what is after this it is known who had the CPU */
	__u64 singly_from;	/* stints are looked at one by one until there */
	__u64 held;		/* the latest of these that are of one name and follow each other, */
	__u64 held_length;	/* and how long they were together; 0: there are none */
	__u64 is_preempted;
};

/* Adds what stints of one name were together. */
static __always_inline void add_held(struct stint_walk *walk)
{
	struct stint *stint = &walk->of->stints[walk->held & (STINTS - 1)];

	if (walk->held_length)
		add_rival(walk->thread, &stint->name, stint->tid, walk->held_length);
	walk->held_length = 0;
}

/* For so long of a wait the thread of a stint had the CPU. Threads of a server take turns on it: what
 * follows each other under one name is added at once. */
static __always_inline void hold(struct stint_walk *walk, __u32 number, __u64 length)
{
	struct processor *of = walk->of;
	struct stint *stint = &of->stints[number & (STINTS - 1)];

	/* An idle CPU is in nobody's way. */
	if (!stint->tid)
		return;
	if (walk->is_preempted)
		note_preemption(walk->thread, &stint->name, length);
	if (!walk->held_length ||
	    !is_same(&of->stints[walk->held & (STINTS - 1)].name, &stint->name, sizeof(struct name))) {
		add_held(walk);
		walk->held = number;
	}
	walk->held_length += length;
}

static long next_stint(__u32 i, struct stint_walk *walk)
{
	struct processor *of = walk->of;
	struct stint *before = &of->stints[(of->stint_count - i - 2) & (STINTS - 1)];
	__u64 begin = before->until > walk->from ? before->until : walk->from;

	if (begin < walk->until) {
		hold(walk, of->stint_count - i - 1, walk->until - begin);
		walk->until = begin;
	}
	return walk->until <= walk->singly_from;
}

/* Of a span that began before the wait nobody knows who had the CPU in the wait. */
static long next_span(__u32 i, struct stint_walk *walk)
{
	struct earlier *earlier = walk->earlier;
	struct span *span = &earlier->spans[(earlier->span_count - i) & (SPANS - 1)];

	if (!span->until || span->from < walk->from || span->until > walk->until)
		return 1;
	for (int place = 0; place < SPAN_NAMES; place++) {
		struct preemptor *holder = &span->holders[place];

		if (!holder->length)
			continue;
		add_rival(walk->thread, &holder->name, holder->tid, holder->length);
		if (walk->is_preempted)
			note_preemption(walk->thread, &holder->name, holder->length);
	}
	walk->until = span->from;
	return 0;
}

/* Goes on where the wait was longer than the latest stint. Of the oldest only the end counts, where the next
 * begins. For what was before that there are the spans, which end later: the latest has to be of this wait.
 * Loops of their own: unrolled, they take the kernel seconds to verify. */
static __always_inline void walk_back(struct stint_walk *walk)
{
	struct stint *oldest = &walk->of->stints[walk->of->stint_count & (STINTS - 1)];

	if (oldest->until > walk->from) {
		walk->earlier = these_spans();
		if (walk->earlier && latest_span(walk->earlier)->from >= walk->from)
			walk->singly_from = walk->earlier->until;
	}
	bpf_loop(STINTS - 1, next_stint, walk, 0);
	add_held(walk);
	if (walk->earlier && walk->until > walk->from)
		bpf_loop(SPANS - 1, next_span, walk, 0);
}

/* A thread gets the CPU that runs this, for which it waited so long: those that had it meanwhile are
 * its rivals, the latest first; where it was taken off the CPU, they also count among all pre-emptors. */
static __always_inline void add_rivals(struct thread *thread, __u64 length, __u64 now, int is_preempted)
{
	struct stint_walk walk = {
		.thread = thread,
		.of = this_processor(),
		.from = now - length,
		.until = now,
		.singly_from = now - length,
		.is_preempted = is_preempted,
	};

	if (!walk.of)
		return;
	/* Most waits are of one stint. */
	if (next_stint(0, &walk))
		add_held(&walk);
	else
		walk_back(&walk);
}

static __always_inline void clear_rivals(struct thread *thread)
{
	thread->rival_count = 0;
}

/* The place of who had the CPU for longest, but for those that are taken already, a bit each. Global:
 * see `highest_bit`. */
__noinline __u32 longest_rival(struct thread *thread, __u32 taken)
{
	__u64 length = 0;
	__u32 longest = 0;

	if (!thread)
		return 0;
	for (__u32 i = 0; i < RIVALS && i < thread->rival_count; i++)
		if (!(taken >> i & 1) && thread->rivals[i].length > length) {
			length = thread->rivals[i].length;
			longest = i;
		}
	return longest;
}

/* Those that had the CPU for longest, which somebody had. Mostly they are few, and all. Global: see
 * `consume`. */
__noinline int publish_rivals(struct thread *thread, struct waits *waits)
{
	__u32 place, taken = 0;

	if (!thread || !waits)
		return 0;
	for (__u32 i = 0; i < NAMED_RIVALS && i < thread->rival_count; i++) {
		place = thread->rival_count > NAMED_RIVALS ? longest_rival(thread, taken) : i;
		/* The compiler knows more of it than the verifier: the mask is to stay. */
		barrier_var(place);
		place &= RIVALS - 1;
		waits->preemptors[i] = thread->rivals[place];
		taken |= 1u << place;
	}
	return 0;
}

#define HAS_MEMBER(member) bpf_core_field_exists(((struct cfs_rq *)NULL)->member)

/* Whether the kernel counts for how long control groups were throttled on a CPU. */
static __always_inline int has_throttled_clock(void)
{
	return HAS_MEMBER(throttled_clock_self_time) || HAS_MEMBER(throttled_clock_pelt_time) ||
	       HAS_MEMBER(throttled_clock_task_time);
}

/* That time. It grows where a group may go on: older kernels count the whole of it then, and from 6.6 on
 * what has passed since a thread stood there. Of a queue that the kernel knows to be one. */
static __always_inline __u64 throttled_clock(struct cfs_rq *queue)
{
	if (HAS_MEMBER(throttled_clock_self_time))
		return queue->throttled_clock_self_time;
	if (HAS_MEMBER(throttled_clock_pelt_time))
		return queue->throttled_clock_pelt_time;
	return queue->throttled_clock_task_time;
}

/* The same of one that may be gone. */
static __always_inline __u64 throttled_clock_then(struct cfs_rq *queue)
{
	if (HAS_MEMBER(throttled_clock_self_time))
		return BPF_CORE_READ(queue, throttled_clock_self_time);
	if (HAS_MEMBER(throttled_clock_pelt_time))
		return BPF_CORE_READ(queue, throttled_clock_pelt_time);
	return BPF_CORE_READ(queue, throttled_clock_task_time);
}

/* A thread begins to wait for a CPU. */
static __always_inline void note_enqueue(struct thread *thread, struct task_struct *task)
{
	struct cfs_rq *queue;

	thread->queue = 0;
	if (!has_throttled_clock())
		return;
	queue = UNTRUSTED(task)->se.cfs_rq;
	thread->queue = (__u64)queue;
	thread->throttled = throttled_clock(queue);
}

/*
 * It has got one, so long after: how much of that its control group was throttled. A thread that was
 * throttled on one CPU may get another: it is the first that tells, while both are of one group.
 */
static __always_inline __u64 throttled_for(struct thread *thread, struct task_struct *task,
					   __u64 length)
{
	struct cfs_rq *queue = (struct cfs_rq *)thread->queue, *now;
	int is_there_still;
	__u64 throttled;

	if (!queue || !has_throttled_clock())
		return 0;
	now = UNTRUSTED(task)->se.cfs_rq;
	is_there_still = queue == now;
	/* The compiler would read by the number that was kept, which is no pointer to the verifier. */
	barrier_var(is_there_still);
	if (is_there_still)
		throttled = throttled_clock(now) - thread->throttled;
	else if (BPF_CORE_READ(queue, tg) == BPF_CORE_READ(now, tg))
		throttled = throttled_clock_then(queue) - thread->throttled;
	else
		return 0;
	return throttled < length ? throttled : length;
}

#endif
