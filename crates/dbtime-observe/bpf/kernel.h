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
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define MSG_PEEK 2

#define EINTR 4
#define EAGAIN 11
#define ERESTARTSYS 512

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	unsigned short skc_family;
	__u16 skc_num;		/* the local port, in the host's order */
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type;
};

struct unix_address;

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	void *map;
	struct sock *sk;
	void *value;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long si;
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

struct task_struct;

struct iovec {
	void *iov_base;
	unsigned long iov_len;
};

#pragma clang attribute pop

/* The system calls that hand a buffer over, and how. */
#if defined(__TARGET_ARCH_x86)
#define CALL(regs) ((int)(regs)->orig_ax)
#define ARGUMENT(regs) ((regs)->si)
enum { NR_READ = 0, NR_WRITE = 1, NR_READV = 19, NR_WRITEV = 20, NR_SENDTO = 44, NR_RECVFROM = 45,
       NR_SENDMSG = 46, NR_RECVMSG = 47 };
#else
#define CALL(regs) ((regs)->syscallno)
#define ARGUMENT(regs) ((regs)->regs[1])
enum { NR_READ = 63, NR_WRITE = 64, NR_READV = 65, NR_WRITEV = 66, NR_SENDTO = 206,
       NR_RECVFROM = 207, NR_SENDMSG = 211, NR_RECVMSG = 212 };
#endif

#endif
