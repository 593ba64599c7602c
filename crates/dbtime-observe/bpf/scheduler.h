/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the scheduler's programs and their reader share: `src/kernel_layout/scheduler.rs` mirrors it.
 */
#ifndef DBTIME_SCHEDULER_H
#define DBTIME_SCHEDULER_H

/* Where a thread is. */
enum {
	PLACE_UNKNOWN,		/* since before the watching began */
	PLACE_ON,		/* on a CPU */
	PLACE_WOKEN,		/* it waits for one, woken */
	PLACE_PREEMPTED,	/* it waits for one, since another has got its own */
	PLACE_ASLEEP,
};

/* In nanoseconds, since the watching began. */
struct spent {
	__u64 clock;		/* on a CPU by the thread's CPU clock */
	__u64 cpu;		/* the same from switch to switch */
	__u64 woken;
	__u64 preempted;
	__u64 voluntary;	/* times it left its CPU */
	__u64 involuntary;
};

/* A process: numbers are used again, starts are not. */
struct process {
	__u64 start;		/* of its first thread, since boot */
	__u32 tgid;
	__u32 reserved;
};

/* A thread that is there. */
struct thread {
	struct process process;
	struct spent spent;
	__u64 since;		/* it is where it is */
	__u64 clock;		/* its CPU clock when it was seen last */
	__u32 place;
	__u32 is_woken_on_cpu;	/* a wake-up came before the thread had left its CPU */
};

/* The threads of a process that have ended. */
struct ended {
	struct spent spent;
	__u64 user;		/* as the kernel divides it */
	__u64 system;
	__u64 at;		/* the last of them */
	__u32 threads;
	__u32 uid;
	char name[16];
};

/* A CPU. */
struct cpu {
	__u64 idle;
	__u64 since;		/* it is whose it is; 0: since before the watching began */
	__u64 switches;
	__u64 lost;		/* switches of threads for which there was no room */
	__u64 missed;		/* switches without an event */
	__u32 tid;		/* whose it is; 0: nobody's */
	__u32 reserved[5];	/* each has a cache line of its own */
};

#endif
