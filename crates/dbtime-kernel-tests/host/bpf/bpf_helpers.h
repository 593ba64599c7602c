/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the kernel's programs include in place of libbpf's header where they are built for this machine:
 * the helpers that they call, as functions of the simulated kernel (`machine.h`).
 */
#ifndef DBTIME_HOST_BPF_HELPERS_H
#define DBTIME_HOST_BPF_HELPERS_H

#include "machine.h"

#define SEC(name)
#define __ksym
#define __weak
#define __noinline
#undef __always_inline
#define __always_inline inline __attribute__((unused))

#define __uint(name, value) int (*name)[value]
#define __type(name, value) __typeof__(value) *name

#define barrier_var(variable) __asm__ volatile("" : "+r"(variable))

/* How many bytes may be written there: to the end of the array, or the struct, that it is in. */
#if defined(__has_builtin) && __has_builtin(__builtin_dynamic_object_size)
#define ROOM_AT(to) __builtin_dynamic_object_size((to), 1)
#else
#define ROOM_AT(to) __builtin_object_size((to), 1)
#endif

#define bpf_ktime_get_ns host_ktime
#define bpf_get_smp_processor_id host_cpu
#define bpf_get_current_pid_tgid host_pid_tgid
#define bpf_get_current_task_btf host_current
#define bpf_task_pt_regs(task) ((long)host_regs(task))
#define bpf_get_attach_cookie(context) host_cookie()
#define bpf_get_stack(context, to, size, flags) host_stack((to), (size), (flags))

#define bpf_probe_read_user(to, size, from) \
	host_read_user((to), ROOM_AT(to), (size), (__u64)(from))
#define bpf_probe_read_user_str(to, size, from) \
	host_read_user_str((to), ROOM_AT(to), (size), (__u64)(from))
#define bpf_probe_read_kernel(to, size, from) \
	host_read_kernel((to), ROOM_AT(to), (size), (from))
#define bpf_probe_read_kernel_str(to, size, from) \
	host_read_kernel_str((to), ROOM_AT(to), (size), (void *)(from))

#define bpf_map_lookup_elem(map, key) host_lookup((map), (key))
#define bpf_map_update_elem(map, key, value, flags) host_update((map), (key), (void *)(value), (flags))
#define bpf_map_delete_elem(map, key) host_delete((map), (key))
#define bpf_map_push_elem(map, value, flags) host_push((map), (value))
#define bpf_task_storage_get(map, task, value, flags) host_task_storage((map), (task), (flags))
#define bpf_sk_storage_get(map, sk, value, flags) host_sk_storage((map), (sk), (flags))
#define bpf_ringbuf_output(ring, data, size, flags) host_output((ring), (data), (size))
#define bpf_seq_write(seq, data, size) host_seq_write((data), (size))

#define bpf_skc_to_unix_sock host_unix_sock
#define bpf_sock_from_file host_sock_from_file
#define bpf_task_from_pid host_task_from_pid
#define bpf_task_release host_task_release
#define bpf_rdonly_cast host_cast

/* The callback is called with its own types, as the kernel would. */
#define bpf_loop(times, callback, context, flags)                          \
	({                                                                 \
		__u32 loop_times = (times), loop_index = 0;                \
		while (loop_index < loop_times) {                          \
			host_step();                                       \
			if ((callback)(loop_index++, (context)))           \
				break;                                     \
		}                                                          \
		(long)loop_index;                                          \
	})

#endif
