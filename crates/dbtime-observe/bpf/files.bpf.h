/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What files requests have waited for: a few are kept of each request, and added up where it ends.
 */
#ifndef DBTIME_FILES_H
#define DBTIME_FILES_H

#include "ledger.bpf.h"
#include "tallies.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES);
	__type(key, struct shape_file);
	__type(value, struct tally);
} files SEC(".maps");

/* With those of other files. */
static __always_inline void add_to_other_files(struct file_waits *files, __u32 of, __u64 count,
					     __u64 length)
{
	__u64 part = of - PART_IO_READ;
	struct file_wait *at;

	/* The compiler knows more of this than the verifier: the check is to stay. */
	barrier_var(part);
	if (part >= FILE_PARTS)
		part = 0;
	at = &files->waits[NAMED_FILES + part];
	__builtin_memset(&at->row, 0, sizeof(at->row));
	at->row.part = of;
	at->row.kind = FILE_OTHERS;
	at->tally.count += count;
	at->tally.length += length;
}

/* A request has waited so long: that goes to a place of the file's own, or, where there is none, to one
 * whose file it has waited for less in all. Global: see `consume`. */
__noinline int add_request_file(struct file_waits *files, struct file_row *row, __u64 length)
{
	struct file_wait *least;

	if (!files || !row)
		return 0;
	for (int i = 0; i < NAMED_FILES; i++) {
		struct file_wait *at = &files->waits[i];

		/* They fill up in turn: behind one that is free all are. */
		if (!at->tally.count || is_same(&at->row, row, sizeof(*row))) {
			at->row = *row;
			at->tally.count++;
			at->tally.length += length;
			return 0;
		}
	}
	/* A loop of its own: within the search the verifier would follow each place that may be the least. */
	least = &files->waits[0];
	for (int i = 1; i < NAMED_FILES; i++)
		if (files->waits[i].tally.length < least->tally.length)
			least = &files->waits[i];
	if (length <= least->tally.length) {
		add_to_other_files(files, row->part, 1, length);
		return 0;
	}
	add_to_other_files(files, least->row.part, least->tally.count, least->tally.length);
	least->row = *row;
	least->tally.count = 1;
	least->tally.length = length;
	return 0;
}

static __always_inline void clear_files(struct file_waits *files)
{
	for (int i = 0; i < FILE_WAITS; i++) {
		files->waits[i].tally.count = 0;
		files->waits[i].tally.length = 0;
	}
}

/* Adds to what statements of a shape have waited for. */
__noinline int add_file_totals(struct file_wait *wait, __u64 shape, __u32 present)
{
	struct shape_file row = { .shape = shape }, others = { .file.kind = FILE_OTHERS };

	if (!wait)
		return 0;
	row.file = wait->row;
	others.file.part = wait->row.part;
	row.file.side = others.file.side = present;
	if (wait->tally.count &&
	    add_tally(&files, &row, &others, wait->tally.count, wait->tally.length))
		__sync_fetch_and_add(&made[EMPTIED_FILES], 1);
	return 0;
}

#endif
