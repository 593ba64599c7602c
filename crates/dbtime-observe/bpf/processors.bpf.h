/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What programs keep for the CPU that runs them: in one place, for the caches are cold where most of
 * them run, behind a switch or an interrupt.
 */
#ifndef DBTIME_PROCESSORS_H
#define DBTIME_PROCESSORS_H

#define STINTS 64		/* that are kept of a CPU; a power of two */

/* The time that threads of one name had a CPU, one after the other: from the end of the stint before. */
struct stint {
	__u64 until;
	__u32 tid;		/* of the last of them; 0: the CPU was idle */
	struct name name;
};

/*
 * The kernel runs a program for one thread of a CPU at a time, and leaves it out for others. Since 7.0
 * threads are pre-empted within programs of tracepoints: there further programs follow the first, on
 * what is read and on what is written, and do what those before have left out.
 */
enum turn { TURN_FIRST, TURN_SECOND, TURN_THIRD, TURN_FOURTH, TURNS };
enum way { WAY_READ, WAY_WRITE, WAYS };

struct processor {
	struct counts counts;
	struct cost cost;
	__u32 is_expiring;	/* a timer expires: what that wakes the interrupted thread did not wake */
	__u32 switch_count;	/* how many there have been */
	__u32 stint_count;	/* likewise */
	__u32 turns_taken[WAYS][TURNS];	/* whether a thread is within that program */
	struct stint stints[STINTS];	/* the latest */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct processor);
} processors SEC(".maps");

static __always_inline struct processor *this_processor(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&processors, &zero);
}

#endif
