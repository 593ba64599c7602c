/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Who had the CPU while requests could have run.
 */
#ifndef DBTIME_PREEMPTORS_H
#define DBTIME_PREEMPTORS_H

#include "tallies.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PREEMPTORS);
	__type(key, struct name);
	__type(value, struct tally);
} preemptors SEC(".maps");

/* Somebody else had the CPU so often, and for so long. */
static __always_inline void add_preemptor(const struct name *by, __u64 times, __u64 length)
{
	struct name name = *by, others = {};

	add_tally(&preemptors, &name, &others, times, length);
}

#endif
