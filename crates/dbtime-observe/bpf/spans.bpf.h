/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Who had a CPU before the latest stints (`processors.bpf.h`): of those that follow each other it is
 * kept what each name had together. A wait beside threads that take turns every few microseconds lasts
 * for thousands of stints.
 *
 *   spans  ├──────── A 40, B 30 ────────┼──────── A 50, C 10 ────────┤
 *   stints                                               ├A┼C┼A┼…┼A┼C┼A┼B┼A┼B┤ now
 */
#ifndef DBTIME_SPANS_H
#define DBTIME_SPANS_H

#include "ledger.bpf.h"
#include "tallies.bpf.h"

#define SPANS 128		/* that are kept of a CPU; a power of two */
#define FOLDED (STINTS / 2)	/* stints that go at once */
#define SPAN_STINTS FOLDED	/* in one, at most */
#define SPAN_NAMES 4		/* that had the CPU in one, at most */

struct span {
	__u64 from;
	__u64 until;		/* 0: there is none */
	__u32 stints;
	__u32 reserved;
	struct preemptor holders[SPAN_NAMES];	/* each holds nothing where its length is 0 */
};

struct earlier {
	__u64 until;		/* of the last stint that is in one */
	__u32 span_count;	/* how many there have been before the present one */
	__u32 reserved;
	struct span spans[SPANS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct earlier);
} earlier_stints SEC(".maps");

/* Those of the CPU that runs this. */
static __always_inline struct earlier *these_spans(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&earlier_stints, &zero);
}

/* The one that is added to. */
static __always_inline struct span *latest_span(struct earlier *earlier)
{
	return &earlier->spans[earlier->span_count & (SPANS - 1)];
}

/* Adds a stint to what its name has in a span. Returns whether there was a place, which an idle CPU does
 * not need. */
static __always_inline int add_to_holders(struct span *span, struct stint *stint, __u64 length)
{
	if (!stint->tid || !length)
		return 1;
	for (int i = 0; i < SPAN_NAMES; i++) {
		struct preemptor *holder = &span->holders[i];

		if (!holder->length) {
			holder->name = stint->name;
			holder->tid = stint->tid;
		} else if (!is_same(&holder->name, &stint->name, sizeof(struct name))) {
			continue;
		}
		holder->length += length;
		return 1;
	}
	return 0;
}

/* A stint goes, for there are later ones. Global: see `consume`. */
__noinline int add_to_span(struct earlier *earlier, struct stint *stint)
{
	struct span *span;
	__u64 from, length;

	if (!earlier || !stint)
		return 0;
	from = earlier->until;
	earlier->until = stint->until;
	/* When the first began nobody knows; clocks of a CPU may step back by a little. */
	if (!from || stint->until < from)
		return 0;
	length = stint->until - from;
	span = latest_span(earlier);
	if (!span->until || span->until != from || span->stints >= SPAN_STINTS ||
	    !add_to_holders(span, stint, length)) {
		earlier->span_count++;
		span = latest_span(earlier);
		__builtin_memset(span, 0, sizeof(*span));
		span->from = from;
		add_to_holders(span, stint, length);
	}
	span->until = stint->until;
	span->stints++;
	return 0;
}

struct stint_fold {
	struct processor *of;
	struct earlier *earlier;
};

static long next_to_fold(__u32 i, struct stint_fold *fold)
{
	struct processor *of = fold->of;
	struct stint *stint = &of->stints[(of->stint_count + i) & (STINTS - 1)];

	if (stint->until)
		add_to_span(fold->earlier, stint);
	return 0;
}

/* The older half of the stints go, which the next ones take the places of: at once, and not one at each
 * switch, for their caches are warm then. Global: see `consume`. */
__noinline int fold_stints(void)
{
	struct stint_fold fold = { .of = this_processor(), .earlier = these_spans() };

	if (fold.of && fold.earlier)
		bpf_loop(FOLDED, next_to_fold, &fold, 0);
	return 0;
}

#endif
