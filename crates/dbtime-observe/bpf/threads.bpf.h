/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Where the time of a thread goes while it serves a request: the scheduler says when it got the CPU
 * and lost it, the system call it was in says why.
 *
 *   on ──► off: cpu            off ──► woken: the cause       woken ──► on: runq (woken)
 *          off, still runnable ──► on: runq (pre-empted)
 *
 * Each is measured between two instants of its own, so that they add up to the time that was seen;
 * what was not seen is nobody's part.
 */
#ifndef DBTIME_THREADS_H
#define DBTIME_THREADS_H

#include "totals.bpf.h"

struct thread {
	__u64 connection;	/* whose request it serves; 0: nobody's */
	__u64 start;		/* when that began */
	__u64 on;		/* since when it has the CPU */
	__u64 off;		/* since when it has not; 0: it has */
	__u64 woken;		/* when it was woken since then; 0: it was not */
	__u64 called;		/* when it was woken last, whatever it did then */
	__u64 parts[PARTS];
	__u64 longest_lock;
	__u64 longest_runq;
	__u64 waker_connection;	/* who ended the present wait */
	__u64 waker_start;
	__u32 waker_tid;
	__u32 next_tid;		/* who got the CPU instead */
	char next_name[16];
	struct blocker blocker;	/* of the longest wait for a lock */
	struct preemptor preemptor;	/* of the longest wait for a CPU */
	struct file_wait file;	/* of the longest wait for a file */
	char file_name[FILE_NAME];	/* of the present one */
	__u32 switches;		/* how often it has got the CPU */
	__u16 other_call;	/* the system call of the last part `other` */
	__u8 cause;
	__u8 wait;		/* what the server says that it waits for; 0: nothing */
	__u8 cause_wait;	/* what it said when it lost the CPU */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

static __always_inline struct file *file_of(struct task_struct *task, unsigned long number)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd);
	struct file *file = NULL;

	if (number < BPF_CORE_READ(table, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), files + number);
	return file;
}

static __always_inline int is_socket(struct task_struct *task, unsigned long number)
{
	struct file *file = file_of(task, number);

	return (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFSOCK;
}

/* Remembers which file it is that a thread waits for. */
static __always_inline void name_file(struct thread *thread, struct task_struct *task, int call)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct file *file;
	const unsigned char *name;

	thread->file_name[0] = 0;
	/* Those name an address. */
	if (call == -1 || call == NR_MSYNC)
		return;
	file = file_of(task, FIRST_ARGUMENT(regs));
	name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	bpf_probe_read_kernel_str(thread->file_name, sizeof(thread->file_name), name);
}

static __always_inline int is_for_file(__u8 cause)
{
	return cause == PART_IO_READ || cause == PART_IO_WRITE || cause == PART_SYNC;
}

/* What a thread waits for in its present system call. */
static __always_inline __u8 cause_of(struct task_struct *task, int *call)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	*call = CALL(regs);
	switch (*call) {
	case -1:		/* none: a page that has to come from a file */
		return PART_IO_READ;
	case NR_FUTEX:
	case NR_FUTEX_WAITV:
	case NR_FUTEX_WAIT:
	case NR_SEMOP:
	case NR_SEMTIMEDOP:
		return PART_LOCK;
	case NR_FSYNC:
	case NR_FDATASYNC:
	case NR_SYNC_FILE_RANGE:
	case NR_MSYNC:
		return PART_SYNC;
	case NR_READ:
	case NR_READV:
		return is_socket(task, FIRST_ARGUMENT(regs)) ? PART_NET : PART_IO_READ;
	case NR_PREAD:
	case NR_PREADV:
	case NR_PREADV2:
		return PART_IO_READ;
	case NR_WRITE:
	case NR_WRITEV:
		return is_socket(task, FIRST_ARGUMENT(regs)) ? PART_NET : PART_IO_WRITE;
	case NR_PWRITE:
	case NR_PWRITEV:
	case NR_PWRITEV2:
	case NR_FALLOCATE:
		return PART_IO_WRITE;
	case NR_SENDTO:
	case NR_SENDMSG:
	case NR_RECVFROM:
	case NR_RECVMSG:
#ifdef NR_POLL
	case NR_POLL:
#endif
	case NR_PPOLL:
		return PART_NET;
	case NR_NANOSLEEP:
	case NR_CLOCK_NANOSLEEP:
		return PART_SLEEP;
	default:
		return PART_OTHER;
	}
}

/* A thread that is not running any more. */
static __always_inline void goes_off(struct thread *thread, struct task_struct *task,
				     struct task_struct *next, unsigned int state, __u64 now)
{
	int call = 0;

	if (thread->connection)
		thread->parts[PART_CPU] += now - thread->on;
	thread->off = now;
	thread->woken = 0;
	if (!thread->connection)
		return;
	/* Further bits (freezable, killable) say how it sleeps, not whether. */
	if (!(state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE))) {
		thread->cause = PART_RUNQ_PREEMPTED;
		thread->next_tid = BPF_CORE_READ(next, pid);
		BPF_CORE_READ_STR_INTO(&thread->next_name, next, comm);
		return;
	}
	thread->cause_wait = thread->wait;
	/* SLEEP() waits for a condition that never comes. */
	thread->cause = thread->wait == WAIT_SLEEP ? PART_SLEEP : cause_of(task, &call);
	if (thread->cause == PART_OTHER)
		thread->other_call = call;
	else if (is_for_file(thread->cause))
		name_file(thread, task, call);
}

static __always_inline void waited_for_cpu(struct thread *thread, __u64 length, int is_preempted)
{
	if (length <= thread->longest_runq)
		return;
	thread->longest_runq = length;
	thread->preemptor.tid = is_preempted ? thread->next_tid : 0;
	thread->preemptor.length = length;
	__builtin_memcpy(thread->preemptor.name, thread->next_name, sizeof(thread->next_name));
}

/* A thread that runs again. */
static __always_inline void comes_on(struct thread *thread, __u64 now)
{
	__u64 off = thread->off, woken = thread->woken;

	thread->switches++;
	thread->on = now;
	thread->off = 0;
	if (!thread->connection || !off)
		return;
	if (thread->cause == PART_RUNQ_PREEMPTED) {
		thread->parts[PART_RUNQ_PREEMPTED] += now - off;
		waited_for_cpu(thread, now - off, 1);
		add_preemptor(thread->next_name, now - off);
	} else {
		__u32 cause = thread->cause;

		/* It sleeps no more, so it was woken: on its way off, if nothing was seen since. */
		if (woken < off)
			woken = off;
		if (cause < PARTS)
			thread->parts[cause] += woken - off;
		thread->parts[PART_RUNQ_WOKEN] += now - woken;
		waited_for_cpu(thread, now - woken, 0);
		if (is_for_file(cause) && woken - off > thread->file.length) {
			thread->file.length = woken - off;
			__builtin_memcpy(thread->file.name, thread->file_name, FILE_NAME);
		}
		if (cause == PART_LOCK && woken - off > thread->longest_lock) {
			thread->longest_lock = woken - off;
			thread->blocker.length = woken - off;
			thread->blocker.connection = thread->waker_connection;
			thread->blocker.start = thread->waker_start;
			thread->blocker.tid = thread->waker_tid;
			thread->blocker.wait = thread->cause_wait;
		}
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	struct thread *thread = bpf_task_storage_get(&threads, prev, 0, 0);
	__u64 now;

	if (thread)
		goes_off(thread, prev, next, preempt ? 0 : state, bpf_ktime_get_ns());
	thread = bpf_task_storage_get(&threads, next, 0, 0);
	if (!thread)
		return 0;
	now = bpf_ktime_get_ns();
	comes_on(thread, now);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	struct thread *waker;

	/* One that runs, or has been woken already, is told of twice. */
	if (!thread || !thread->off || thread->woken)
		return 0;
	thread->woken = bpf_ktime_get_ns();
	thread->called = thread->woken;
	waker = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	thread->waker_connection = waker ? waker->connection : 0;
	thread->waker_start = waker ? waker->start : 0;
	thread->waker_tid = (__u32)bpf_get_current_pid_tgid();
	return 0;
}

/*
 * MySQL and MariaDB say what they are about to wait for, to whoever schedules their threads:
 * thd_wait_begin(THD *, int wait) and thd_wait_end(THD *). These are attached to calls of them
 * (`src/trace/waits.rs`): the arguments are there already.
 */
SEC("uprobe.multi")
int on_wait_begin(struct pt_regs *context)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (thread)
		thread->wait = SECOND_ARGUMENT(context);
	return 0;
}

SEC("uprobe.multi")
int on_wait_end(struct pt_regs *context)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (thread)
		thread->wait = 0;
	return 0;
}

/* The thread that runs, with a place for what is kept of it; NULL where there is no memory. */
static __always_inline struct thread *running(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* How often the thread that runs has got the CPU: programs may be pre-empted half way. */
static __always_inline __u32 switches(struct thread *thread)
{
	return *(volatile __u32 *)&thread->switches;
}

/* What is done to a thread's sums is done again if it lost the CPU meanwhile. */
#define MOST_TRIES 4

static __always_inline void begin_sums(struct thread *thread, __u64 now)
{
	thread->start = now;
	thread->on = now;
	thread->off = 0;
	__builtin_memset(thread->parts, 0, sizeof(thread->parts));
	thread->longest_lock = 0;
	thread->longest_runq = 0;
	thread->other_call = 0;
	thread->wait = 0;
	__builtin_memset(&thread->blocker, 0, sizeof(thread->blocker));
	__builtin_memset(&thread->preemptor, 0, sizeof(thread->preemptor));
	__builtin_memset(&thread->file, 0, sizeof(thread->file));
}

/* The thread that runs begins to serve a request. */
static __always_inline void bind(struct thread *thread, __u64 connection, __u64 now)
{
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		__u32 before = switches(thread);

		begin_sums(thread, now);
		thread->connection = connection;
		barrier();
		if (switches(thread) == before)
			break;
	}
}

/* What it has spent on the request by now. */
static __always_inline void tell(struct thread *thread, struct request *request, __u64 now)
{
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		__u32 before = switches(thread);

		barrier();
		__builtin_memcpy(request->parts, thread->parts, sizeof(request->parts));
		request->parts[PART_CPU] += now - *(volatile __u64 *)&thread->on;
		barrier();
		if (switches(thread) == before)
			break;
	}
	request->blocker = thread->blocker;
	request->preemptor = thread->preemptor;
	request->file = thread->file;
	request->other_call = thread->other_call;
}

#endif
