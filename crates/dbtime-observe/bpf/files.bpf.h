/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What files requests have waited for: a few are kept of each request, and added up where it ends.
 */
#ifndef DBTIME_FILES_H
#define DBTIME_FILES_H

#include "tallies.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES);
	__type(key, struct shape_file);
	__type(value, struct tally);
} files SEC(".maps");

/* Where such waits of a request are kept: in a place of their own, or with those of other files. */
static __noinline struct file_wait *place_of_file(struct file_waits *files, struct file_row *row)
{
	__u32 part = row->part - PART_IO_READ;

	for (int i = 0; i < NAMED_FILES; i++) {
		struct file_wait *at = &files->waits[i];

		if (!at->tally.count)
			at->row = *row;
		if (is_same(&at->row, row, sizeof(*row)))
			return at;
	}
	return &files->waits[NAMED_FILES + (part < FILE_PARTS ? part : 0)];
}

/* A request has waited so long. */
static __always_inline void keep_file(struct file_waits *files, struct file_row *row, __u64 length)
{
	struct file_wait *at = place_of_file(files, row);

	if (at >= &files->waits[NAMED_FILES]) {
		__builtin_memset(&at->row, 0, sizeof(at->row));
		at->row.part = row->part;
		at->row.kind = FILE_OTHERS;
	}
	at->tally.count++;
	at->tally.length += length;
}

static __always_inline void forget_files(struct file_waits *files)
{
	for (int i = 0; i < FILE_WAITS; i++) {
		files->waits[i].tally.count = 0;
		files->waits[i].tally.length = 0;
	}
}

/* Adds to what statements of a shape have waited for. */
static __noinline int add_file(struct file_wait *wait, __u64 shape)
{
	struct shape_file row = { .shape = shape, .file = wait->row };
	struct shape_file others = { .file.part = wait->row.part, .file.kind = FILE_OTHERS };

	if (wait->tally.count)
		add_tally(&files, &row, &others, wait->tally.count, wait->tally.length);
	return 0;
}

#endif
