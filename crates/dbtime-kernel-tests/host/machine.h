/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * A simulated kernel: a clock, CPUs with threads on them, memory of a server's process, sockets, tables.
 * The programs see it by the helpers' names (`bpf/bpf_helpers.h`); tests set it up and call programs
 * (`src/ffi.rs`). What a program may not do is noted and ends the test: see `host_broken`.
 */
#ifndef DBTIME_HOST_MACHINE_H
#define DBTIME_HOST_MACHINE_H

#include <stddef.h>
#include "kernel.h"

#define HOST_CPUS 8
#define HOST_TASKS 64
#define HOST_SOCKETS 16
#define HOST_REGIONS 16
#define HOST_FILES 8

enum host_kind { HOST_HASH, HOST_ARRAY, HOST_PERCPU, HOST_STORAGE, HOST_QUEUE, HOST_RING };

/* What a program finds out about a thread. Mirrored in `src/ffi.rs`. */
struct host_facts {
	__u64 run_delay;	/* struct sched_info */
	__u64 last_arrival;
	__u64 last_queued;
	__u64 cpu_clock;
	__u64 start;
	__u64 arguments[4];	/* of its system call */
	__u64 returned;
	__u32 call;
	__u32 queue;		/* which one it waits in: the CPU's number */
	__u32 is_on_cpu;
	__u32 is_frozen;
	__u64 utime;
	__u64 stime;
};

/* The helpers. */
__u64 host_ktime(void);
__u32 host_cpu(void);
__u64 host_pid_tgid(void);
struct task_struct *host_current(void);
struct pt_regs *host_regs(struct task_struct *task);
__u64 host_cookie(void);
long host_stack(__u64 *to, __u32 size, __u64 flags);
int host_has_members(void);
void host_step(void);
long host_read_user(void *to, size_t room, __u32 size, __u64 from);
long host_read_user_str(void *to, size_t room, __u32 size, __u64 from);
long host_read_kernel(void *to, size_t room, __u32 size, void *from);
long host_read_kernel_str(void *to, size_t room, __u32 size, void *from);
void *host_lookup(void *map, void *key);
long host_update(void *map, void *key, void *value, __u64 flags);
long host_delete(void *map, void *key);
long host_push(void *map, void *value);
void *host_task_storage(void *map, struct task_struct *task, __u64 flags);
void *host_sk_storage(void *map, struct sock *sk, __u64 flags);
long host_output(void *ring, void *data, __u64 size);
long host_seq_write(void *data, __u32 size);
struct unix_sock *host_unix_sock(struct sock *sk);
struct socket *host_sock_from_file(struct file *file);
struct task_struct *host_task_from_pid(int pid);
void host_task_release(struct task_struct *task);
void *host_cast(void *at, __u32 type);

/* What kernels of an age do: older ones say 0 of an empty string of a process, newer ones leave a
 * program out where another thread is within it. */
enum host_age { HOST_PRESENT, HOST_OLDER, HOST_NEWER };

/* Which programs of an event of a socket run, a bit each: the first, or of those of a newer kernel all, all
 * but the first, and so on, by turns. */
__u32 host_turns(void);

/* What tests name by numbers. */
struct sock *host_sock(__u32 index);
struct task_struct *host_task_at(__u32 index);
/* The thread at that place of those that there are, in their order; NULL: there are not so many. */
struct task_struct *host_nth_task(__u32 place);
struct pt_regs *host_regs_at(__u32 index);

/* Tables, by their address and their name; those of storage have no entries. */
void host_table(void *map, char *name, enum host_kind kind, __u32 key, __u32 value, __u32 entries);
void host_forget_tables(void);
void host_forget_records(void);
void host_set_ring_full(int is_full);
void *host_storage_of(void *map, void *owner, int creates);

/* A program has done what it may not; the first of these is kept. */
void host_breaks(char *what, __u64 size, __u64 room);

#define HOST_TABLE(map, name, kind)                                        \
	host_table(&(map), name, kind, sizeof(*(map).key), sizeof(*(map).value), \
		   sizeof(*(map).max_entries) / sizeof(int))
#define HOST_STORAGES(map, name) \
	host_table(&(map), name, HOST_STORAGE, sizeof(*(map).key), sizeof(*(map).value), 0)

#endif
