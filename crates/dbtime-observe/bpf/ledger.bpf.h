/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * How it works, and what is counted as it does.
 */
#ifndef DBTIME_LEDGER_H
#define DBTIME_LEDGER_H

#include "processors.bpf.h"

/* Set before the programs are loaded: what is off costs nothing. */
const volatile struct settings settings;

/* enum depth */
volatile __u32 depth SEC(".data.depth") = DEPTH_EVERYTHING;

/* enum phase */
volatile __u32 phase SEC(".data.phase") = PHASE_BEFORE;

/* Whose rows programs add to now: see SIDES. */
volatile __u32 side SEC(".data.side") = 0;

/* How many rows programs have made in each table, by enum emptied; it may overflow. */
volatile __u32 made[EMPTIED] SEC(".data.made") = {};

/* What is handed over one by one. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} stream SEC(".maps");

static __always_inline int is_watching(void)
{
	return phase == PHASE_WATCHING;
}

static __always_inline int only_counts(void)
{
	return depth == DEPTH_COUNTS;
}

static __always_inline void count(enum count what)
{
	struct processor *processor = this_processor();

	if (processor)
		__sync_fetch_and_add(&processor->counts.count[what], 1);
}

/* A run of a program. */
struct timed_run {
	__u64 since;		/* 0: it is not timed */
	__u32 switch_count;	/* of the CPU, then */
};

/* A program begins to run. */
static __always_inline struct timed_run begin_run(void)
{
	struct processor *processor = this_processor();
	struct timed_run run = {};

	if (!processor || processor->cost.runs++ % TIMED_CYCLE >= TIMED)
		return run;
	run.switch_count = processor->switch_count;
	run.since = bpf_ktime_get_ns();
	return run;
}

/* It has done what it does, with so many switches of the CPU. Where there were others, its thread was
 * pre-empted within it, and what others did then is not its time. */
static __always_inline void end_run_with(struct timed_run run, __u32 switches)
{
	struct processor *processor;
	struct cost *cost;

	if (!run.since)
		return;
	processor = this_processor();
	if (!processor || processor->switch_count != run.switch_count + switches)
		return;
	cost = &processor->cost;
	/* Of what ends soon the cold ones are all there is. */
	if (cost->runs > TIMED_CYCLE && (cost->runs - 1) % TIMED_CYCLE < TIMED_COLD)
		return;
	cost->timed++;
	/* With it goes what a reading takes, which stands for what counting takes in all runs. */
	cost->length += bpf_ktime_get_ns() - run.since;
}

static __always_inline void end_run(struct timed_run run)
{
	end_run_with(run, 0);
}

/* A probe was hit: that costs a trap, beside what is done then. */
static __always_inline void count_trap(void)
{
	struct processor *processor = this_processor();

	if (processor)
		processor->cost.traps++;
}

/* A program that a probe runs: hits are counted, and what it does, which follows, is timed. */
#define ON_PROBE(name)                                                    \
static __always_inline void name##_does(struct pt_regs *context);         \
SEC("uprobe.multi")                                                       \
int name(struct pt_regs *context)                                         \
{                                                                         \
	struct timed_run run = begin_run();                                    \
									  \
	count_trap();                                                        \
	name##_does(context);                                             \
	end_run(run);                                                     \
	return 0;                                                         \
}                                                                         \
static __always_inline void name##_does(struct pt_regs *context)

/* What a trap takes by itself is found out with this one, which is hit in dbtime alone
 * (`src/trace/probes/trap.rs`). */
SEC("uprobe.multi")
int on_nothing(struct pt_regs *context)
{
	return 0;
}

#endif
