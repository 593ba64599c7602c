/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Why a thread sleeps: the wait that its server reports, if any, and the present system call.
 */
#ifndef DBTIME_CAUSES_H
#define DBTIME_CAUSES_H

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

static __always_inline int is_figure(char sign)
{
	return sign >= '0' && sign <= '9';
}

/* PostgreSQL's files have numbers, of which a temporary one has more before it: the folder tells the
 * database. */
static __always_inline int is_numbered(const char *name)
{
	return is_figure(name[0]) || (name[0] == 't' && is_figure(name[1]));
}

#define FOLDER_NAME 15		/* of FILE_NAME, where the folder is named */

/* The name of the file that a thread waits for; FILE_NAME bytes. Numbered ones stand behind that of
 * their folder. */
static __always_inline void copy_file_name(char *to, struct task_struct *task, int call)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct file *file;
	const unsigned char *name, *folder;
	long length;

	to[0] = 0;
	/* Those name an address. */
	if (call == -1 || call == NR_MSYNC)
		return;
	file = file_of(task, FIRST_ARGUMENT(regs));
	name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	bpf_probe_read_kernel_str(to, FILE_NAME, name);
	if (!is_numbered(to))
		return;
	folder = BPF_CORE_READ(file, f_path.dentry, d_parent, d_name.name);
	length = bpf_probe_read_kernel_str(to, FOLDER_NAME, folder);
	if (length <= 0 || length > FOLDER_NAME)
		return;
	to[length - 1] = '/';
	bpf_probe_read_kernel_str(to + length, FILE_NAME - FOLDER_NAME, name);
}

/* A signal, a debugger or the freezer of control groups has stopped it. */
static __always_inline int is_stopped(struct task_struct *task, unsigned int state)
{
	if (state & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN))
		return 1;
	return bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD(task, frozen);
}

static __always_inline int is_for_file(__u8 cause)
{
	return cause == PART_IO_READ || cause == PART_IO_WRITE || cause == PART_SYNC;
}

/* What a thread waits for in its present system call; what it waited for in the last one where that is
 * begun again, behind a stop. */
static __always_inline __u8 cause_of_call(struct task_struct *task, __u8 last, int *call)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	*call = CALL(regs);
	switch (*call) {
	case NR_RESTART_SYSCALL:
		return last;
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

/* A backend's wait_event_info, which PostgreSQL keeps in memory at a known address.
 * It has not left yet: its memory is the present one. */
static __always_inline __u32 read_wait_event(__u64 wait_event)
{
	__u64 at = 0;
	__u32 event = 0;

	if (bpf_probe_read_user(&at, sizeof(at), (void *)wait_event) ||
	    bpf_probe_read_user(&event, sizeof(event), (void *)at))
		return 0;
	return event;
}

/* The part of a wait that a server reports; PARTS: by the system call. */
static __always_inline __u8 cause_of_wait(__u32 wait)
{
	/* SLEEP() waits for a condition that never comes. */
	if (wait == WAIT_SLEEP)
		return PART_SLEEP;
	switch (wait >> 24) {
	case CLASS_LWLOCK:
	case CLASS_LOCK:
	case CLASS_BUFFER:
	case CLASS_IPC:
		return PART_LOCK;
	case CLASS_CLIENT:
		return PART_NET;
	case CLASS_TIMEOUT:
		return PART_SLEEP;
	default:
		return PARTS;
	}
}

#endif
