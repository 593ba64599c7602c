// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Who has the CPUs, by the scheduler's own events: every thread's time on a CPU and without one,
 * also of those that come and go.
 *
 *   woken ──► WOKEN ──┐                 ┌──► ASLEEP
 *                     ▼                 │
 *                     ON ── leaves ─────┼──► PREEMPTED ──► ON
 *                                       └──► ended: added to what its process's others came to
 *
 * Nothing is streamed: the reader takes the sums at the ends of intervals.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "scheduler.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define TASK_DEAD 0x80

/* When the watching began; 0: it has not. */
volatile __u64 begun SEC(".data.begun");

/* Whether there was a thread for which there was no room. */
volatile __u32 lacked_room;

/* Threads, by their numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct process);
	__type(value, struct ended);
} ended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

static __always_inline struct cpu *this_cpu(void)
{
	__u32 number = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &number);
}

/* What is kept of a thread; NULL where there is no room. */
static __always_inline struct thread *thread_of(struct task_struct *task)
{
	__u32 tid = task->pid;
	struct thread *thread = bpf_map_lookup_elem(&threads, &tid), first = {};

	if (thread)
		return thread;
	first.process.tgid = task->tgid;
	first.process.start = task->group_leader->start_boottime;
	/* What it had before is none of the watching's. */
	first.clock = task->se.sum_exec_runtime;
	bpf_map_update_elem(&threads, &tid, &first, BPF_NOEXIST);
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread)
		lacked_room = 1;
	return thread;
}

static __always_inline void add(struct spent *to, struct spent *spent)
{
	__sync_fetch_and_add(&to->clock, spent->clock);
	__sync_fetch_and_add(&to->cpu, spent->cpu);
	__sync_fetch_and_add(&to->woken, spent->woken);
	__sync_fetch_and_add(&to->preempted, spent->preempted);
	__sync_fetch_and_add(&to->voluntary, spent->voluntary);
	__sync_fetch_and_add(&to->involuntary, spent->involuntary);
}

/* A thread has run for the last time. Returns whether there was room to keep what it came to. */
static __always_inline int end_thread(struct thread *thread, struct task_struct *task, __u64 now)
{
	struct process process = thread->process;
	struct ended *known = bpf_map_lookup_elem(&ended, &process), first = {};
	__u32 tid = task->pid;

	if (!known) {
		bpf_map_update_elem(&ended, &process, &first, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&ended, &process);
	}
	if (known) {
		add(&known->spent, &thread->spent);
		__sync_fetch_and_add(&known->user, task->utime);
		__sync_fetch_and_add(&known->system, task->stime);
		__sync_fetch_and_add(&known->threads, 1);
		known->at = now;
		known->uid = task->cred->euid.val;
		/* Others may have names of their own, and go before it or behind. */
		if (task->pid == task->tgid || !known->name[0])
			bpf_probe_read_kernel_str(known->name, sizeof(known->name), task->comm);
	}
	bpf_map_delete_elem(&threads, &tid);
	return known != NULL;
}

/* What its CPU clock has gained since it was seen last. */
static __always_inline __u64 clock_gain(struct thread *thread, struct task_struct *task)
{
	__u64 clock = task->se.sum_exec_runtime, before = thread->clock;

	thread->clock = clock;
	/* The number may be another thread's now, where the end of the first had no event. */
	return clock > before ? clock - before : 0;
}

/* What its CPU clock has gained though it was not seen to have a CPU, or not seen to leave it: that was
 * no waiting. */
static __always_inline void add_unseen_run(struct thread *thread, struct task_struct *task)
{
	__u64 clock = clock_gain(thread, task);

	if (thread->place == PLACE_UNKNOWN)
		return;
	thread->spent.clock += clock;
	thread->spent.cpu += clock;
	thread->since += clock;
}

/* A thread gets a CPU, at this instant. */
static __always_inline void switch_in(struct thread *thread, __u64 at)
{
	__u64 waited = at - thread->since;

	if (at < thread->since)
		waited = 0;
	if (thread->place == PLACE_PREEMPTED)
		thread->spent.preempted += waited;
	else if (thread->place == PLACE_WOKEN)
		thread->spent.woken += waited;
	else if (thread->place == PLACE_ASLEEP && thread->is_woken_on_cpu)
		/* Nothing has woken it since: it was woken on its way off. */
		thread->spent.woken += waited;
	else if (thread->place == PLACE_UNKNOWN && !lacked_room)
		/* Not seen since the beginning, so it wanted one all the time. */
		thread->spent.woken += at - begun;
	thread->is_woken_on_cpu = 0;
	thread->place = PLACE_ON;
	thread->since = at;
}

/*
 * A thread leaves its CPU, for a state or, where that is 0, for another thread. It has held it since
 * `from`; 0: that switch had no event, and was as long ago as the CPU clock has gained.
 */
static __always_inline int switch_out(struct task_struct *task, unsigned int state, __u64 from, __u64 now)
{
	struct thread *thread = thread_of(task);
	__u64 clock;

	if (!thread)
		return 0;
	clock = clock_gain(thread, task);
	/* It has come back to a CPU without an event since it had that before. */
	if (thread->place != PLACE_UNKNOWN && (thread->place != PLACE_ON || thread->since != from))
		from = 0;
	if (thread->place == PLACE_UNKNOWN) {
		/* On it since before: its clock at that time is not known. */
		clock = now - (from ? from : now);
	} else if (!from) {
		from = now - clock;
		if (thread->place != PLACE_ON)
			switch_in(thread, from);
	}
	thread->spent.clock += clock;
	thread->spent.cpu += from ? now - from : 0;
	if (state & TASK_DEAD)
		return end_thread(thread, task, now);
	thread->since = now;
	if (state) {
		thread->spent.voluntary++;
		thread->place = PLACE_ASLEEP;
	} else {
		thread->spent.involuntary++;
		thread->place = PLACE_PREEMPTED;
	}
	return 1;
}

static __always_inline int handle_switch_in(struct task_struct *task, __u64 now)
{
	struct thread *thread = thread_of(task);

	if (!thread)
		return 0;
	add_unseen_run(thread, task);
	switch_in(thread, now);
	return 1;
}

static __always_inline int handle_switch(bool preempt, struct task_struct *prev,
					 struct task_struct *next, unsigned int state)
{
	struct cpu *cpu = this_cpu();
	__u64 now, from;
	int is_kept = 1;

	if (!begun || !cpu)
		return 0;
	now = bpf_ktime_get_ns();
	if (now < begun)
		return 0;
	from = cpu->since ? cpu->since : begun;
	if (cpu->since && cpu->tid != (__u32)prev->pid) {
		cpu->missed++;
		/* Of an idle CPU nobody knows since when: since the last that is known. */
		if (prev->pid)
			from = 0;
	}
	if (prev->pid)
		is_kept = switch_out(prev, preempt ? 0 : state, from, now);
	else
		cpu->idle += now - from;
	if (next->pid)
		is_kept &= handle_switch_in(next, now);
	cpu->tid = next->pid;
	cpu->since = now;
	cpu->switches++;
	if (!is_kept)
		cpu->lost++;
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	return handle_switch(preempt, prev, next, state);
}

/* Before 5.18 the event does not tell the state: what the thread has by now stands for it. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_without_state, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct task_struct___before_5_14 *old = (void *)prev;

	if (bpf_core_field_exists(prev->__state))
		return handle_switch(preempt, prev, next, prev->__state);
	return handle_switch(preempt, prev, next, old->state);
}

static __always_inline int is_on_cpu(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, on_cpu) != 0;
}

static __always_inline void wakeup(struct task_struct *task)
{
	struct thread *thread;

	if (!begun || task->pid == 0)
		return;
	thread = thread_of(task);
	if (!thread)
		return;
	/* One that is about to leave its CPU keeps it; any other has slept, with an event or without. */
	if (is_on_cpu(task) && (thread->place == PLACE_UNKNOWN || thread->place == PLACE_ON)) {
		thread->is_woken_on_cpu = 1;
		return;
	}
	if (!is_on_cpu(task))
		add_unseen_run(thread, task);
	thread->place = PLACE_WOKEN;
	thread->since = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	wakeup(task);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_new, struct task_struct *task)
{
	wakeup(task);
	return 0;
}
