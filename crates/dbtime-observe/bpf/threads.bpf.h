/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What is kept of the threads that serve requests. How it changes is in `scheduling.bpf.h`.
 */
#ifndef DBTIME_THREADS_H
#define DBTIME_THREADS_H

#include "files.bpf.h"
#include "ledger.bpf.h"

/* The servers' processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct server);
} servers SEC(".maps");

/* A wait for a lock that nobody has ended so far. */
struct lock_wait {
	__u64 length;		/* of its pieces together; 0: there is none */
	__u64 address;		/* what it waits at */
	__u32 name;		/* what the server calls it */
};

/* A time without a CPU, or in which it was stopped. */
struct cpu_wait {
	__u64 from;
	__u64 until;
	__u64 throttled;	/* for how long from its beginning its control group was; of servers' alone */
	__u64 part;		/* enum early_part; likewise */
};

#define CPU_WAITS 4		/* of a thread, that are kept; a power of two */
#define MAX_PORTALS 16		/* that are kept; a power of two */
#define RIVALS 8		/* of a request, that had the CPU in its stead; a power of two */

/* What each switch touches comes first: where it is looked at, caches are cold. */
struct thread {
	__u64 connection;	/* whose request it serves; 0: nobody's */
	__u64 on_cpu_at;		/* since when it has the CPU */
	__u64 off_cpu_at;		/* since when it has not; 0: it has */
	__u64 woken_at;		/* when it was woken since then; 0: it was not */
	__u64 switched_in_at;		/* when it was seen to get the CPU; 0: it was not */
	__u64 clock_ahead;	/* of the scheduler's clock, when that was compared last; 0: never */
	__u64 run_delay;	/* how long it had waited for CPUs in its life when it went off */
	__u8 cause;
	__u8 last_call_cause;	/* the last cause that came from a system call */
	__u8 release;		/* enum release: of the present wait */
	__u8 has_released;	/* it let a lock go that somebody had waited for for long */
	__u8 is_client_gone;		/* the client of the connection that it has served last has gone */
	__u8 has_server_text;		/* of the text of what it executes: see told_texts */
	__u8 has_answered;	/* at least in part */
	__u8 is_drivers;		/* it is no server's: see `client_ends.bpf.h` */
	__u64 queue;		/* for the CPU, in which it stands; only to be compared */
	__u64 throttled;	/* how long that was throttled when it began to wait there */
	__u64 wait_event;	/* as in struct server */
	__u64 wait_address;		/* what it waits at, where that is an address */
	__u32 wait;		/* the wait that the server reports; 0: none */
	__u32 cause_wait;	/* `wait` when it lost the CPU */
	__u32 file_wait_count;	/* how many there have been */
	__u32 cpu_wait_count;	/* how many there have been */
	__u16 other_call;	/* the system call of the last part `other` */
	__u8 is_aggregated;		/* what it serves is added up */
	__u8 cache;		/* what became of its look into the query cache */
	__u32 rival_count;	/* how many of `rivals` there are */
	__u64 answered_at;	/* its last piece of an answer: waits before that are a request's */
	__u64 rested_at;	/* it went to sleep without a request */
	__u64 idle_runq;	/* how long it has waited for CPUs since then, without one */
	__u64 start;		/* when that began */
	__u64 parts[PARTS];
	__u64 prev_connection;		/* the connection of its last request; 0: none */
	__u64 prev_start;	/* when that had begun */
	__u64 encrypted;	/* the connection that it read last, of those that are */
	__u64 tls;		/* the TLS session that it reads from; 0: none */
	__u64 tls_buffer;	/* where to */
	__u64 tls_length;	/* where the library writes how much that was; 0: it returns it */
	__u64 user_stack;	/* where it left the CPU to wait, as in struct stack_event */
	__u64 kernel_stack;
	__u64 waker_connection;	/* who ended the present wait */
	__u64 waker_start;
	__u32 waker_tid;
	__u32 waker_number;	/* as in struct blocker */
	__u32 portals;		/* how many were */
	__u64 portal[MAX_PORTALS];	/* PostgreSQL: when the request's were made */
	struct cpu_wait cpu_waits[CPU_WAITS];	/* the latest */
	struct preemptor rivals[RIVALS];	/* of the request; without one, since it went to sleep */
	struct blocker blocker;	/* of the longest wait for a lock */
	struct lock_wait lock_wait;
	struct file_waits files;
	char file_name[FILE_NAME];	/* of the present one */
	__u64 walk;		/* the walk over all threads that has found it last: see `iter_threads` */
	struct tally pending_preemptions;	/* since the last piece of an answer, which may be the last of all */
	struct name pending_preemptor;	/* by whom; none: by several */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* How long two times have in common. */
static __always_inline __u64 common_time(__u64 from, __u64 until, __u64 other_from,
					 __u64 other_until)
{
	if (from < other_from)
		from = other_from;
	if (until > other_until)
		until = other_until;
	return until > from ? until - from : 0;
}

void *bpf_rdonly_cast(void *at, __u32 type) __ksym __weak;

/*
 * The same pointer, as one that the verifier does not trust. Where it trusts one, verifiers of Linux 6.3
 * to 6.18 look for its type in up to four lists, for each pointer that is loaded by way of it and on each
 * path, and go through all types of the kernel each time: that was a third of all that loading took.
 */
#define UNTRUSTED(at)                                                         \
	(settings.casts ? (typeof(at))bpf_rdonly_cast(                        \
				  (at), bpf_core_type_id_kernel(typeof(*(at)))) : (at))

/* What is kept of a thread; NULL: nothing, which is true of most. */
static __always_inline struct thread *thread_of(struct task_struct *task)
{
	if (!UNTRUSTED(task)->bpf_storage)
		return NULL;
	return bpf_task_storage_get(&threads, task, 0, 0);
}

/* What is kept of the thread that runs; NULL: nothing. Mostly there is something: no check goes before. */
static __always_inline struct thread *current_thread(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
}

/* The thread that runs, with a place for what is kept of it; NULL where there is no memory. */
static __always_inline struct thread *current_thread_or_add(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The number that the process that runs has for itself, and so for the clients of a PostgreSQL that it
 * serves: in a container it is another than the machine's. Global, so that the verifier looks at it once. */
__noinline __u32 own_number(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level), number = 0;

	bpf_probe_read_kernel(&number, sizeof(number),
			      (char *)pid->numbers + level * sizeof(struct upid));
	return number;
}

#endif
