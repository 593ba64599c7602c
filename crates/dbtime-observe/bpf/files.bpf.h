/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What files requests have waited for.
 */
#ifndef DBTIME_FILES_H
#define DBTIME_FILES_H

#include "tallies.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES);
	__type(key, struct file_row);
	__type(value, struct tally);
} files SEC(".maps");

/* So many waits, together so long. */
static __always_inline void add_file(const struct file_row *waited_for, __u64 times, __u64 length)
{
	struct file_row row = *waited_for, others = { .part = row.part, .kind = FILE_OTHERS };

	add_tally(&files, &row, &others, times, length);
}

#endif
