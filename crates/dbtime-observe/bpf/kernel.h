/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * As much of the kernel's own types as the programs look at. Offsets are those of the running
 * kernel: the loader moves them (CO-RE), so only names count.
 */
#ifndef DBTIME_KERNEL_H
#define DBTIME_KERNEL_H

#include <linux/types.h>
#include <linux/bpf.h>

#define NULL ((void *)0)
#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define MSG_PEEK 2
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define TCP_CLOSE 7
#define TCP_LISTEN 10
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define TASK_STOPPED 4
#define TASK_TRACED 8
#define TASK_FROZEN 0x8000
#define SIGURG 23

typedef _Bool bool;

#define EINTR 4
#define EAGAIN 11
#define ERESTARTSYS 512

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	__u8 bytes[16];
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct sock_common {
	__u32 skc_daddr;	/* the other end's address and port, in the network's order */
	__u16 skc_dport;
	struct in6_addr skc_v6_daddr;
	__u32 skc_rcv_saddr;	/* its own address */
	struct in6_addr skc_v6_rcv_saddr;
	unsigned short skc_family;
	__u16 skc_num;		/* the local port, in the host's order */
	atomic64_t skc_cookie;	/* the socket's number, as SO_COOKIE tells it; 0: nobody has asked */
};

struct bpf_local_storage;

struct sk_buff_head {
	__u32 qlen;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;	/* what was not read yet */
	__u16 sk_type;
	struct bpf_local_storage *sk_bpf_storage;	/* NULL: nothing is kept of it */
};

struct unix_address;

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;	/* the other end */
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 seq_num;		/* how many it has come to before */
};

struct task_struct;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct file;
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

struct socket {
	struct sock *sk;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long cx;
	unsigned long ax;
	unsigned long orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	unsigned long long regs[31];
	int syscallno;
};
#else
#error "this machine is not known"
#endif

struct inode {
	unsigned short i_mode;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct sched_info {
	unsigned long long run_delay;	/* how long it has waited for CPUs in its life */
	unsigned long long last_arrival;	/* on a CPU, by the scheduler's clock */
	unsigned long long last_queued;	/* since when it waits for one, by that clock; 0: it does not */
};

struct task_group;

/* Threads of a control group that wait for one of the CPUs. */
struct cfs_rq {
	int throttle_count;
	/* For which some of them were throttled, in all: since 6.6, since 5.19, and before. */
	__u64 throttled_clock_self_time;
	__u64 throttled_clock_pelt_time;
	__u64 throttled_clock_task_time;
	struct task_group *tg;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	__u64 sum_exec_runtime;	/* on a CPU: brought up to date when the thread leaves it */
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

/* The number of a task in a PID namespace. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

/* Its numbers, from the machine's own namespace to the one that it is in. */
struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_struct {
	int pid;
	struct bpf_local_storage *bpf_storage;	/* as in struct sock */
	int on_cpu;		/* of another size since 7.0: see `is_on_cpu` */
	unsigned int __state;	/* since 5.14 */
	unsigned int frozen : 1;	/* by its control group */
	__u64 start_boottime;
	__u64 utime;
	__u64 stime;
	struct sched_entity se;
	const struct cred *cred;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	int tgid;
	char comm[16];
	struct files_struct *files;
	struct sched_info sched_info;
};

struct task_struct___before_5_14 {
	long state;
};

struct iovec {
	void *iov_base;
	unsigned long iov_len;
};

#pragma clang attribute pop

/* The system calls that matter here, and where their arguments are. */
#if defined(__TARGET_ARCH_x86)
#define CALL(from) ((int)(from)->orig_ax)
#define FIRST_ARGUMENT(from) ((from)->di)
#define SECOND_ARGUMENT(from) ((from)->si)
#define THIRD_ARGUMENT(from) ((from)->dx)
#define FOURTH_ARGUMENT(from) ((from)->cx)
#define RETURNED(from) ((from)->ax)
#define NR_POLL 7
enum { NR_READ = 0, NR_WRITE = 1, NR_PREAD = 17, NR_PWRITE = 18, NR_READV = 19, NR_WRITEV = 20,
       NR_MSYNC = 26, NR_NANOSLEEP = 35, NR_SENDTO = 44, NR_RECVFROM = 45, NR_SENDMSG = 46,
       NR_RECVMSG = 47, NR_KILL = 62, NR_SEMOP = 65, NR_FSYNC = 74, NR_FDATASYNC = 75, NR_FUTEX = 202,
       NR_RESTART_SYSCALL = 219, NR_SEMTIMEDOP = 220, NR_CLOCK_NANOSLEEP = 230, NR_PPOLL = 271, NR_SYNC_FILE_RANGE = 277,
       NR_FALLOCATE = 285, NR_PREADV = 295, NR_PWRITEV = 296, NR_PREADV2 = 327, NR_PWRITEV2 = 328 };
#else
#define CALL(from) ((from)->syscallno)
#define FIRST_ARGUMENT(from) ((from)->regs[0])
#define SECOND_ARGUMENT(from) ((from)->regs[1])
#define THIRD_ARGUMENT(from) ((from)->regs[2])
#define FOURTH_ARGUMENT(from) ((from)->regs[3])
#define RETURNED(from) ((from)->regs[0])
enum { NR_FALLOCATE = 47, NR_READ = 63, NR_WRITE = 64, NR_READV = 65, NR_WRITEV = 66, NR_PREAD = 67,
       NR_PWRITE = 68, NR_PREADV = 69, NR_PWRITEV = 70, NR_PPOLL = 73, NR_FSYNC = 82,
       NR_FDATASYNC = 83, NR_SYNC_FILE_RANGE = 84, NR_FUTEX = 98, NR_NANOSLEEP = 101,
       NR_CLOCK_NANOSLEEP = 115, NR_RESTART_SYSCALL = 128, NR_KILL = 129, NR_SEMTIMEDOP = 192, NR_SEMOP = 193, NR_SENDTO = 206,
       NR_RECVFROM = 207, NR_SENDMSG = 211, NR_RECVMSG = 212, NR_MSYNC = 227, NR_PREADV2 = 286,
       NR_PWRITEV2 = 287 };
#endif
/* The same number everywhere. */
enum { NR_FUTEX_WAITV = 449, NR_FUTEX_WAIT = 455 };

#endif
