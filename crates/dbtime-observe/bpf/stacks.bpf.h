/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Stacks of threads that serve requests: where one left its CPU to wait, and where it was when it was
 * sampled. A stack is kept once, under a number made of its addresses; what is streamed names it.
 *
 *   leaves its CPU: both stacks are kept ── gets one again: they are streamed with the time between
 *   is sampled on its CPU: both stacks are kept and streamed at once
 */
#ifndef DBTIME_STACKS_H
#define DBTIME_STACKS_H

#include "threads.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STACKS);
	__type(key, __u64);
	__type(value, struct stack);
} stacks SEC(".maps");

/* Where a stack is taken. A sample may interrupt who leaves its CPU. */
enum stack_room { ROOM_OFF_CPU, ROOM_ON_CPU, STACK_ROOMS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_ROOMS);
	__type(key, __u32);
	__type(value, struct stack);
} scratch_stack SEC(".maps");

/* A number that other addresses hardly share. Global: see `consume`. */
__noinline __u64 stack_number(const struct stack *stack)
{
	__u64 number;

	if (!stack)
		return 0;
	number = stack->frames;
	for (__u32 i = 0; i < STACK_FRAMES; i++) {
		if (i >= stack->frames)
			break;
		number = (number ^ stack->addresses[i]) * 0x9e3779b97f4a7c15ull;
		number ^= number >> 32;
	}
	return number ? number : 1;
}

/* Keeps a stack of the thread that runs; returns its number, 0 where there is none or no room. */
static __noinline __u64 keep_stack(void *context, __u32 room, __u64 flags)
{
	struct stack *stack = bpf_map_lookup_elem(&scratch_stack, &room);
	__u64 number;
	long length;

	if (!stack)
		return 0;
	length = bpf_get_stack(context, stack->addresses, sizeof(stack->addresses), flags);
	if (length <= 0)
		return 0;
	stack->tgid = bpf_get_current_pid_tgid() >> 32;
	stack->frames = length / sizeof(__u64);
	number = stack_number(stack);
	if (bpf_map_lookup_elem(&stacks, &number))
		return number;
	/* Another CPU may have just done so. */
	bpf_map_update_elem(&stacks, &number, stack, BPF_ANY);
	if (bpf_map_lookup_elem(&stacks, &number))
		return number;
	count(COUNT_STACKS_LOST);
	return 0;
}

/* A thread that serves a request leaves its CPU, to wait. */
static __always_inline void keep_wait_stacks(void *context, struct thread *thread)
{
	thread->user_stack = keep_stack(context, ROOM_OFF_CPU, BPF_F_USER_STACK);
	thread->kernel_stack = keep_stack(context, ROOM_OFF_CPU, 0);
}

static __always_inline void stream_stack(struct thread *thread, __u32 part, __u64 user, __u64 kernel,
				      __u64 at, __u64 length)
{
	struct stack_event event = {
		.connection = thread->connection,
		.start = thread->start,
		.at = at,
		.length = length,
		.user = user,
		.kernel = kernel,
		.part = part,
	};

	if (bpf_ringbuf_output(&stream, &event, sizeof(event), BPF_RB_NO_WAKEUP))
		count(COUNT_STACKS_LOST);
}

/* Its wait is over. */
__noinline int stream_wait_stacks(struct thread *thread, __u64 at, __u64 length)
{
	if (thread)
		stream_stack(thread, thread->cause, thread->user_stack, thread->kernel_stack, at, length);
	return 0;
}

/* A CPU is sampled: `context` has the registers of what runs there. */
SEC("perf_event")
int on_sample(void *context)
{
	struct thread *thread = is_watching() ? current_thread() : NULL;
	struct timed_run run;
	__u64 user, kernel;

	if (!thread || !thread->connection)
		return 0;
	run = begin_run();
	user = keep_stack(context, ROOM_ON_CPU, BPF_F_USER_STACK);
	kernel = keep_stack(context, ROOM_ON_CPU, 0);
	stream_stack(thread, PART_CPU, user, kernel, bpf_ktime_get_ns(), 0);
	end_run(run);
	return 0;
}

#endif
