/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Tables of how often something was, and how long in all.
 */
#ifndef DBTIME_TALLIES_H
#define DBTIME_TALLIES_H

/* Adds to a row; to that of the others, which is there from the beginning, where the table is full.
 * Returns whether it has made the row. */
static __always_inline int add_tally(void *table, const void *row, const void *others, __u64 times,
				     __u64 length)
{
	struct tally *known, first = {};
	int is_new = 0;

	known = bpf_map_lookup_elem(table, row);
	if (!known) {
		is_new = !bpf_map_update_elem(table, row, &first, BPF_NOEXIST);
		known = bpf_map_lookup_elem(table, row);
	}
	if (!known)
		known = bpf_map_lookup_elem(table, others);
	if (known) {
		__sync_fetch_and_add(&known->count, times);
		__sync_fetch_and_add(&known->length, length);
	}
	return is_new;
}

/* Whether two are the same, of a length that is a multiple of eight bytes. */
static __always_inline int is_same(const volatile void *one, const volatile void *other,
				   unsigned int length)
{
	const volatile __u64 *a = one, *b = other;
	__u64 differs = 0;

	/* One way through it: each branch would be verified with all that follows. */
	for (unsigned int i = 0; i < length / sizeof(*a); i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

#endif
