/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The simulated kernel but for its tables. See `machine.h`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine.h"

/* Helpers that a single program may call: more of them is a loop without an end. */
#define MAX_STEPS 2000000

#define EFAULT_RETURN (-14)

struct host_file {
	struct file file;
	struct inode inode;
	struct dentry entry;
	struct dentry folder;
	unsigned char name[64];
	unsigned char folder_name[64];
};

struct host_task {
	struct task_struct task;
	struct pid pid;
	struct upid inner;	/* the second of its numbers, where it has two */
	struct pt_regs regs;
	struct cred cred;
	struct files_struct files;
	struct fdtable table;
	struct file *open[HOST_FILES];
	struct host_file host_files[HOST_FILES];
};

struct host_region {
	__u64 at;
	__u64 length;
	__u8 *bytes;
};

static struct {
	__u64 now;
	__u64 tick;		/* by which the clock goes on when it is read */
	__u32 cpu;
	__u32 current;
	__u64 cookie;
	__u64 steps;
	__u64 reads;		/* of memory of processes, so far */
	__u64 fails_in;		/* so many of them; 0: none fails */
	int lacks_members;
	int age;		/* enum host_age */
	__u64 events;		/* of sockets, so far */
	char broken[128];
	struct host_task *tasks[HOST_TASKS];
	struct unix_sock *sockets[HOST_SOCKETS];
	struct cfs_rq queues[HOST_CPUS];
	struct host_region regions[HOST_REGIONS];
} machine;

/* What lies about where a test ends is none of its business. Called by the sanitizer. */
char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

void host_breaks(char *what, __u64 size, __u64 room)
{
	if (!machine.broken[0])
		snprintf(machine.broken, sizeof(machine.broken), "%s: %llu bytes, room for %llu", what,
			 (unsigned long long)size, (unsigned long long)room);
}

void host_step(void)
{
	if (++machine.steps < MAX_STEPS)
		return;
	/* Nothing else ends it. */
	fprintf(stderr, "a program runs without an end\n");
	abort();
}

__u64 host_ktime(void)
{
	machine.now += machine.tick;
	return machine.now;
}

__u32 host_cpu(void)
{
	return machine.cpu;
}

static struct host_task *task_at(__u32 index)
{
	if (index >= HOST_TASKS || !machine.tasks[index])
		abort();
	return machine.tasks[index];
}

struct task_struct *host_current(void)
{
	return &task_at(machine.current)->task;
}

__u64 host_pid_tgid(void)
{
	struct task_struct *task = host_current();

	return (__u64)task->tgid << 32 | (__u32)task->pid;
}

struct pt_regs *host_regs(struct task_struct *task)
{
	return &((struct host_task *)task)->regs;
}

__u64 host_cookie(void)
{
	return machine.cookie;
}

int host_has_members(void)
{
	return !machine.lacks_members;
}

/* Where bytes of the server's process are, if all of them are there. */
static __u8 *memory_at(__u64 at, __u64 size, __u64 *left)
{
	host_step();
	machine.reads++;
	if (machine.fails_in && !--machine.fails_in)
		return NULL;
	for (int i = 0; i < HOST_REGIONS; i++) {
		struct host_region *region = &machine.regions[i];

		if (at < region->at || at - region->at >= region->length)
			continue;
		*left = region->length - (at - region->at);
		return *left < size ? NULL : region->bytes + (at - region->at);
	}
	return NULL;
}

static int is_too_long(char *what, size_t room, __u32 size)
{
	if (room == (size_t)-1 || size <= room)
		return 0;
	host_breaks(what, size, room);
	return 1;
}

long host_read_user(void *to, size_t room, __u32 size, __u64 from)
{
	__u64 left;
	__u8 *bytes = memory_at(from, size, &left);

	if (is_too_long("a read of a process", room, size))
		return EFAULT_RETURN;
	if (!bytes) {
		memset(to, 0, size);
		return EFAULT_RETURN;
	}
	memcpy(to, bytes, size);
	return 0;
}

long host_read_user_str(void *to, size_t room, __u32 size, __u64 from)
{
	__u64 left = 0;
	__u8 *bytes = memory_at(from, 1, &left);
	__u32 length = 0;

	if (is_too_long("a read of a process' string", room, size))
		return EFAULT_RETURN;
	while (bytes && length < size && length < left && bytes[length])
		length++;
	/* It goes on where nothing is. */
	if (!bytes || (length == left && length < size)) {
		memset(to, 0, size);
		return EFAULT_RETURN;
	}
	if (!size)
		return 0;
	if (length == size)
		length--;
	memcpy(to, bytes, length);
	((__u8 *)to)[length] = 0;
	return length || machine.age != HOST_OLDER ? length + 1 : 0;
}

long host_read_kernel(void *to, size_t room, __u32 size, void *from)
{
	host_step();
	if (is_too_long("a read of the kernel", room, size))
		return EFAULT_RETURN;
	if (!from) {
		memset(to, 0, size);
		return EFAULT_RETURN;
	}
	memcpy(to, from, size);
	return 0;
}

long host_read_kernel_str(void *to, size_t room, __u32 size, void *from)
{
	__u32 length = 0;
	char *text = from;

	host_step();
	if (is_too_long("a read of the kernel's string", room, size))
		return EFAULT_RETURN;
	if (!from || !size) {
		memset(to, 0, size);
		return EFAULT_RETURN;
	}
	while (length < size - 1 && text[length])
		length++;
	memcpy(to, text, length);
	((char *)to)[length] = 0;
	return length + 1;
}

void *host_task_storage(void *map, struct task_struct *task, __u64 flags)
{
	int creates = flags == BPF_LOCAL_STORAGE_GET_F_CREATE;
	void *storage = host_storage_of(map, task, creates);

	if (storage)
		task->bpf_storage = storage;
	return storage;
}

void *host_sk_storage(void *map, struct sock *sk, __u64 flags)
{
	int creates = flags == BPF_SK_STORAGE_GET_F_CREATE;
	void *storage = host_storage_of(map, sk, creates);

	if (storage)
		sk->sk_bpf_storage = storage;
	return storage;
}

/* Each thread has a stack of two frames that none but it has; the kernel's has the top bit. */
long host_stack(__u64 *to, __u32 size, __u64 flags)
{
	__u64 place = host_pid_tgid() << 8 | (flags & BPF_F_USER_STACK ? 0 : 1ull << 63);

	host_step();
	if (size < 2 * sizeof(*to))
		return -1;
	to[0] = place + 1;
	to[1] = place + 2;
	return 2 * sizeof(*to);
}

struct unix_sock *host_unix_sock(struct sock *sk)
{
	return sk->__sk_common.skc_family == AF_UNIX ? (struct unix_sock *)sk : NULL;
}

struct socket *host_sock_from_file(struct file *file)
{
	return (struct socket *)file;
}

struct task_struct *host_task_from_pid(int pid)
{
	for (int i = 0; i < HOST_TASKS; i++)
		if (machine.tasks[i] && machine.tasks[i]->task.pid == pid)
			return &machine.tasks[i]->task;
	return NULL;
}

void *host_cast(void *at, __u32 type)
{
	return at;
}

void host_task_release(struct task_struct *task)
{
}

struct task_struct *host_nth_task(__u32 place)
{
	for (int i = 0; i < HOST_TASKS; i++)
		if (machine.tasks[i] && !place--)
			return &machine.tasks[i]->task;
	return NULL;
}

/* For the tests. */

void host_forget_memory(void)
{
	for (int i = 0; i < HOST_REGIONS; i++)
		free(machine.regions[i].bytes);
	memset(machine.regions, 0, sizeof(machine.regions));
}

void host_reset(void)
{
	host_forget_tables();
	host_forget_records();
	host_set_ring_full(0);
	host_forget_memory();
	for (int i = 0; i < HOST_TASKS; i++)
		free(machine.tasks[i]);
	for (int i = 0; i < HOST_SOCKETS; i++)
		free(machine.sockets[i]);
	memset(&machine, 0, sizeof(machine));
}

/* What a program did that it may not; an empty string: nothing. The next one begins. */
char *host_broken(void)
{
	machine.steps = 0;
	return machine.broken;
}

void host_set_clock(__u64 now, __u64 tick)
{
	machine.now = now;
	machine.tick = tick;
}

__u64 host_clock(void)
{
	return machine.now;
}

void host_set_running(__u32 task, __u32 cpu)
{
	task_at(task);
	machine.current = task;
	machine.cpu = cpu % HOST_CPUS;
}

void host_set_cookie(__u64 cookie)
{
	machine.cookie = cookie;
}

void host_set_members(int lacks)
{
	machine.lacks_members = lacks;
}

void host_set_age(int age)
{
	machine.age = age;
}

__u32 host_turns(void)
{
	if (machine.age != HOST_NEWER)
		return 1;
	return 0xf << machine.events++ % 4 & 0xf;
}

__u64 host_reads(void)
{
	return machine.reads;
}

void host_fail_read(__u64 in)
{
	machine.fails_in = in;
}

/* A thread at a place of its own; `leader`: the first of its process. */
void host_task(__u32 index, __u32 pid, __u32 leader, char *name)
{
	struct host_task *task = calloc(1, sizeof(*task));

	if (!task || index >= HOST_TASKS || machine.tasks[index])
		abort();
	machine.tasks[index] = task;
	task->task.pid = pid;
	task->task.group_leader = &task_at(leader)->task;
	task->task.tgid = task->task.group_leader->pid;
	task->task.thread_pid = &task->pid;
	task->pid.numbers[0].nr = pid;
	task->task.cred = &task->cred;
	task->task.files = &task->files;
	task->files.fdt = &task->table;
	task->table.max_fds = HOST_FILES;
	task->table.fd = task->open;
	strncpy(task->task.comm, name, sizeof(task->task.comm) - 1);
}

/* It is in a PID namespace of its own, under another number. */
void host_set_inner(__u32 index, __u32 number)
{
	struct host_task *task = task_at(index);

	task->pid.level = 1;
	task->inner.nr = number;
}

void host_set_facts(__u32 index, struct host_facts *facts)
{
	struct host_task *task = task_at(index);
	struct cfs_rq *queue = &machine.queues[facts->queue % HOST_CPUS];
	struct pt_regs *regs = &task->regs;

	task->task.sched_info.run_delay = facts->run_delay;
	task->task.sched_info.last_arrival = facts->last_arrival;
	task->task.sched_info.last_queued = facts->last_queued;
	task->task.se.sum_exec_runtime = facts->cpu_clock;
	task->task.se.cfs_rq = queue;
	task->task.start_boottime = facts->start;
	task->task.utime = facts->utime;
	task->task.stime = facts->stime;
	task->task.on_cpu = facts->is_on_cpu;
	task->task.frozen = facts->is_frozen;
	/* The first result has the place of an argument on some machines. */
	RETURNED(regs) = facts->returned;
	FIRST_ARGUMENT(regs) = facts->arguments[0];
	SECOND_ARGUMENT(regs) = facts->arguments[1];
	THIRD_ARGUMENT(regs) = facts->arguments[2];
	FOURTH_ARGUMENT(regs) = facts->arguments[3];
#if defined(__TARGET_ARCH_x86)
	regs->orig_ax = (int)facts->call;
#else
	regs->syscallno = facts->call;
#endif
}

/* How long the queue of a CPU was throttled, in all. */
void host_set_throttled(__u32 cpu, __u64 time)
{
	machine.queues[cpu % HOST_CPUS].throttled_clock_self_time = time;
}

void host_open_file(__u32 index, __u32 number, __u32 mode, char *folder, char *name)
{
	struct host_task *task = task_at(index);
	struct host_file *file;

	if (number >= HOST_FILES)
		abort();
	file = &task->host_files[number];
	file->inode.i_mode = mode;
	file->file.f_inode = &file->inode;
	file->file.f_path.dentry = &file->entry;
	file->entry.d_parent = &file->folder;
	file->entry.d_name.name = file->name;
	file->folder.d_name.name = file->folder_name;
	strncpy((char *)file->name, name, sizeof(file->name) - 1);
	strncpy((char *)file->folder_name, folder, sizeof(file->folder_name) - 1);
	task->open[number] = &file->file;
}

/* Bytes of the server's process, in place of those that were at the same address. */
void host_memory(__u64 at, __u8 *bytes, __u64 length)
{
	struct host_region *region = NULL;

	for (int i = 0; i < HOST_REGIONS && !region; i++)
		if (machine.regions[i].at == at || !machine.regions[i].length)
			region = &machine.regions[i];
	if (!region)
		abort();
	free(region->bytes);
	region->bytes = malloc(length ? length : 1);
	if (!region->bytes)
		abort();
	memcpy(region->bytes, bytes, length);
	region->at = at;
	region->length = length;
}

/* A server's end of a connection by TCP, or by a Unix socket. */
void host_socket(__u32 index, __u32 family, __u32 port, __u32 peer_port)
{
	struct unix_sock *sock = calloc(1, sizeof(*sock));

	if (!sock || index >= HOST_SOCKETS || machine.sockets[index])
		abort();
	machine.sockets[index] = sock;
	sock->sk.sk_type = SOCK_STREAM;
	sock->sk.__sk_common.skc_family = family;
	sock->sk.__sk_common.skc_num = port;
	sock->sk.__sk_common.skc_dport = __builtin_bswap16(peer_port);
	sock->sk.__sk_common.skc_daddr = __builtin_bswap32(0x7f000001);
	sock->sk.__sk_common.skc_rcv_saddr = __builtin_bswap32(0x7f000001);
	sock->addr = (void *)sock;
}

void host_set_unread(__u32 index, __u32 packets)
{
	machine.sockets[index]->sk.sk_receive_queue.qlen = packets;
}

struct sock *host_sock(__u32 index)
{
	if (index >= HOST_SOCKETS || !machine.sockets[index])
		abort();
	return &machine.sockets[index]->sk;
}

struct task_struct *host_task_at(__u32 index)
{
	return &task_at(index)->task;
}

struct pt_regs *host_regs_at(__u32 index)
{
	return &task_at(index)->regs;
}
