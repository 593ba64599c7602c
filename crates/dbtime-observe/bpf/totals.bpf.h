/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What requests come to in all, added up where they end: nothing of it can be dropped.
 */
#ifndef DBTIME_TOTALS_H
#define DBTIME_TOTALS_H

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROWS);
	__type(key, __u32);
	__type(value, struct totals);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PREEMPTORS);
	__type(key, struct name);
	__type(value, struct preemption);
} preemptors SEC(".maps");

/* The position of the highest bit; 0 of 0. */
static __always_inline __u32 log2(__u64 value)
{
	__u32 bits = 0;

	if (value >> 32) {
		value >>= 32;
		bits += 32;
	}
	if (value >> 16) {
		value >>= 16;
		bits += 16;
	}
	if (value >> 8) {
		value >>= 8;
		bits += 8;
	}
	if (value >> 4) {
		value >>= 4;
		bits += 4;
	}
	if (value >> 2) {
		value >>= 2;
		bits += 2;
	}
	return bits + (value >> 1 & 1);
}

/* Eight buckets to each power of two: the same as in `crates/dbtime-model/src/traced_totals.rs`. */
static __always_inline __u32 fine_bucket(__u64 value)
{
	__u32 shift, power = log2(value);

	if (power < 3)
		return value & 7;
	shift = power - 3;
	if (shift > FINE / 8 - 2)
		return FINE - 1;
	return (shift + 1) * 8 + (value >> shift & 7);
}

static __always_inline void add_up(struct request *request, __u32 row)
{
	struct totals *sums = bpf_map_lookup_elem(&totals, &row);
	__u64 length = request->end - request->start;
	__u32 fine = fine_bucket(length), coarse = log2(length / 1000);

	if (!sums)
		return;
	__sync_fetch_and_add(&sums->count, 1);
	__sync_fetch_and_add(&sums->length, length);
	if (request->error)
		__sync_fetch_and_add(&sums->errors, 1);
	/* A few at the same instant on one CPU may lose one of them. */
	if (length > sums->longest)
		sums->longest = length;
	for (int part = 0; part < PARTS; part++)
		if (request->parts[part])
			__sync_fetch_and_add(&sums->parts[part], request->parts[part]);
	if (fine < FINE)
		__sync_fetch_and_add(&sums->fine[fine], 1);
	if (coarse >= COARSE)
		coarse = COARSE - 1;
	__sync_fetch_and_add(&sums->coarse[coarse], 1);
}

/* Somebody else had the CPU for so long. */
static __always_inline void add_preemptor(const char *comm, __u64 length)
{
	struct preemption *known, first = {};
	struct name name = {};

	/* What stands behind the end of the name is not part of it. */
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), comm);
	known = bpf_map_lookup_elem(&preemptors, &name);
	if (!known) {
		bpf_map_update_elem(&preemptors, &name, &first, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&preemptors, &name);
	}
	if (!known) {
		/* The table is full: the rest shares a row, which is there from the beginning. */
		__builtin_memset(name.text, 0, sizeof(name.text));
		known = bpf_map_lookup_elem(&preemptors, &name);
	}
	if (known) {
		__sync_fetch_and_add(&known->count, 1);
		__sync_fetch_and_add(&known->length, length);
	}
}

#endif
