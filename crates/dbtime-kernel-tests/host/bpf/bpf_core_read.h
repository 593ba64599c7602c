/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * In place of libbpf's: members are where this machine's compiler puts them. What is read through NULL
 * is 0, as it is in the kernel.
 */
#ifndef DBTIME_HOST_BPF_CORE_READ_H
#define DBTIME_HOST_BPF_CORE_READ_H

#define READ_1(from, a)                                                    \
	({                                                                 \
		__typeof__(from) read_from = (from);                       \
		read_from ? read_from->a : (__typeof__(read_from->a))0;    \
	})
#define READ_2(from, a, b) READ_1(READ_1(from, a), b)
#define READ_3(from, a, b, c) READ_1(READ_2(from, a, b), c)
#define READ_NAMED(_1, _2, _3, name, ...) name
#define BPF_CORE_READ(from, members...) \
	READ_NAMED(members, READ_3, READ_2, READ_1)(from, members)
#define BPF_CORE_READ_INTO(to, from, member) __builtin_memcpy((to), &(from)->member, sizeof(*(to)))
#define BPF_CORE_READ_BITFIELD(from, member) ((from)->member)

/* For `bpf_rdonly_cast` alone, which casts nothing here. */
#define bpf_core_type_id_kernel(type) 0

/* Of a kernel that has none of what not all have. */
#define bpf_core_field_exists(member) (host_has_members())

#endif
