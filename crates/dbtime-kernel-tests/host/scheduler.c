/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The scheduler's programs for this machine, and what the tests call of them. Both kinds are linked
 * together here: what is called the same in `capture.bpf.c` is called otherwise.
 */
#include "machine.h"
#define LICENSE scheduler_license
#define threads scheduler_threads
#define on_switch scheduler_on_switch
#define on_waking scheduler_on_waking
#include "scheduler.bpf.c"

void scheduler_begin(__u64 at)
{
	HOST_TABLE(scheduler_threads, "scheduler/threads", HOST_HASH);
	HOST_TABLE(ended, "scheduler/ended", HOST_HASH);
	host_table(&cpus, "scheduler/cpus", HOST_ARRAY, sizeof(__u32), sizeof(struct cpu), HOST_CPUS);
	lacked_room = 0;
	begun = at;
}

void scheduler_switch(int preempt, __u32 from, __u32 to, __u32 state)
{
	scheduler_on_switch(preempt, host_task_at(from), host_task_at(to), state);
}

void scheduler_waking(__u32 task)
{
	scheduler_on_waking(host_task_at(task));
}

void scheduler_new(__u32 task)
{
	on_new(host_task_at(task));
}
