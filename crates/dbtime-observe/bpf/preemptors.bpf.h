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
 * not named. The first place is taken first. */
__noinline int add_rival(struct thread *thread, struct name *name, __u32 tid, __u64 length)
{
	struct preemptor *least;

	if (!thread || !name)
		return 0;
	least = &thread->rivals[0];
	for (int i = 0; i < RIVALS; i++) {
		struct preemptor *at = &thread->rivals[i];

		if (at->length && is_same(&at->name, name, sizeof(struct name))) {
			at->length += length;
			return 0;
		}
		if (at->length < least->length)
			least = at;
	}
	if (length > least->length) {
		least->length = length;
		least->tid = tid;
		least->name = *name;
	}
	return 0;
}

/* A thread leaves the CPU that runs this. */
static __always_inline void add_stint(struct task_struct *task, __u64 now)
{
	struct processor *of = this_processor();
	struct stint *stint;

	if (!of)
		return;
	if (settings.preempts_programs &&
	    (of->turns_taken[WAY_READ][TURN_SECOND] | of->turns_taken[WAY_WRITE][TURN_SECOND]))
		__sync_fetch_and_add(&second_gaps, 1);
	stint = &of->stints[of->stint_count++ & (STINTS - 1)];
	stint->until = now;
	stint->tid = task->pid;
	if (stint->tid)
		bpf_probe_read_kernel(&stint->name, sizeof(stint->name), task->comm);
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
	__u64 is_preempted;
};

/* So long of a wait somebody had the CPU. */
static __always_inline void add_holder(struct stint_walk *walk, struct name *name, __u32 tid,
				       __u64 length)
{
	add_rival(walk->thread, name, tid, length);
	if (walk->is_preempted)
		note_preemption(walk->thread, name, length);
}

static long next_stint(__u32 i, struct stint_walk *walk)
{
	struct processor *of = walk->of;
	struct stint *stint = &of->stints[(of->stint_count - i - 1) & (STINTS - 1)];
	struct stint *before = &of->stints[(of->stint_count - i - 2) & (STINTS - 1)];
	__u64 begin = before->until > walk->from ? before->until : walk->from;

	if (begin < walk->until) {
		/* An idle CPU is in nobody's way. */
		if (stint->tid)
			add_holder(walk, &stint->name, stint->tid, walk->until - begin);
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
	for (int place = 0; place < SPAN_NAMES; place++)
		if (span->holders[place].length)
			add_holder(walk, &span->holders[place].name, span->holders[place].tid,
				   span->holders[place].length);
	walk->until = span->from;
	return 0;
}

/* A thread gets the CPU that runs this, for which it waited so long: those that had it meanwhile are
 * its rivals, the latest first; where it was taken off the CPU, they also count among all pre-emptors.
 * Loops of their own: unrolled, they take the kernel seconds to verify. */
static __always_inline void add_rivals(struct thread *thread, __u64 length, __u64 now, int is_preempted)
{
	struct stint_walk walk = {
		.thread = thread,
		.of = this_processor(),
		.earlier = these_spans(),
		.from = now - length,
		.until = now,
		.is_preempted = is_preempted,
	};
	struct stint *oldest;

	if (!walk.of || !walk.earlier)
		return;
	/* Of the oldest only the end counts, where the next begins. For what was before that there are the
	 * spans, which end later: the latest has to be of this wait. */
	oldest = &walk.of->stints[walk.of->stint_count & (STINTS - 1)];
	walk.singly_from = walk.from;
	if (oldest->until > walk.from && latest_span(walk.earlier)->from >= walk.from)
		walk.singly_from = walk.earlier->until;
	bpf_loop(STINTS - 1, next_stint, &walk, 0);
	if (walk.until > walk.from)
		bpf_loop(SPANS - 1, next_span, &walk, 0);
}

static __always_inline void clear_rivals(struct thread *thread)
{
	for (int i = 0; i < RIVALS; i++)
		thread->rivals[i].length = 0;
}

/* The place of who had the CPU for longest, but for those that are taken already, a bit each. Global:
 * see `highest_bit`. */
__noinline __u32 longest_rival(struct thread *thread, __u32 taken)
{
	__u64 length = 0;
	__u32 longest = 0;

	if (!thread)
		return 0;
	for (__u32 i = 0; i < RIVALS; i++)
		if (!(taken >> i & 1) && thread->rivals[i].length > length) {
			length = thread->rivals[i].length;
			longest = i;
		}
	return longest;
}

/* Those that had the CPU for longest, which somebody had. Global: see `consume`. */
__noinline int publish_rivals(struct thread *thread, struct waits *waits)
{
	__u32 place, taken = 0;

	if (!thread || !waits)
		return 0;
	for (int i = 0; i < NAMED_RIVALS; i++) {
		place = longest_rival(thread, taken);
		/* The compiler knows more of it than the verifier: the mask is to stay. */
		barrier_var(place);
		place &= RIVALS - 1;
		waits->preemptors[i] = thread->rivals[place];
		/* There is none left. */
		if (taken >> place & 1)
			waits->preemptors[i].length = 0;
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
