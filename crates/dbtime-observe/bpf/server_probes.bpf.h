/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Probes on functions of servers: what they wait for, their query cache, texts and portals.
 */
#ifndef DBTIME_SERVER_PROBES_H
#define DBTIME_SERVER_PROBES_H

#include "scheduling.bpf.h"

/*
 * MySQL and MariaDB report each wait to the scheduler of their threads:
 * thd_wait_begin(THD *, int wait) and thd_wait_end(THD *). These are attached to calls of them
 * (`src/trace/probes/waits.rs`): the arguments are there already.
 */
ON_PROBE(on_wait_begin)
{
	struct thread *thread = current_thread();

	if (thread)
		thread->wait = SECOND_ARGUMENT(context);
}

ON_PROBE(on_wait_end)
{
	struct thread *thread = current_thread();

	if (thread)
		thread->wait = 0;
}

/* Waits without such a call: the kind is the cookie (`src/trace/probes/commits.rs`). */
ON_PROBE(on_silent_wait)
{
	struct thread *thread = current_thread();

	if (thread)
		thread->wait = bpf_get_attach_cookie(context);
}

/*
 * MariaDB looks into its query cache for a statement's answer, where it is on (`src/trace/probes/cache.rs`).
 */
ON_PROBE(on_cache_search)
{
	struct thread *thread = current_thread();

	if (thread)
		thread->cache = CACHE_MISS;
}

/* It has found it. */
ON_PROBE(on_cache_hit)
{
	struct thread *thread = current_thread();

	if (thread)
		thread->cache = CACHE_HIT;
}

/* How often a thread left a request that it had answered and that is not known to be over. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} departures SEC(".maps");

/*
 * A thread of MariaDB's pool has done what there was to do for a connection (tp_callback returns), and
 * reads no more from it.
 */
ON_PROBE(on_pool_end)
{
	struct thread *thread = current_thread();
	__u32 zero = 0;
	__u64 *count;

	if (!thread || !thread->connection || !thread->has_answered)
		return;
	unassign(thread);
	count = bpf_map_lookup_elem(&departures, &zero);
	if (count)
		__sync_fetch_and_add(count, 1);
}

/* PostgreSQL: CreatePortal(name, may_replace, …). A Bind without a portal's name replaces the one before,
 * which cursors do not. Attached while requests with several statements come (`src/trace/probes/portals.rs`). */
ON_PROBE(on_portal)
{
	struct thread *thread = current_thread();

	if (!thread || !thread->connection || !(SECOND_ARGUMENT(context) & 0xff))
		return;
	if (thread->portals < MAX_PORTALS)
		thread->portal[thread->portals & (MAX_PORTALS - 1)] = bpf_ktime_get_ns();
	thread->portals++;
}

/*
 * What servers execute was prepared before it could be seen, at times: they know its text. These
 * programs are attached only while such statements come (`src/trace/probes/texts.rs`).
 */
struct server_text {
	__u32 length;
	__u32 is_cut;
	char bytes[SERVER_TEXT_ROOM];
};

/* The text, copied as the probe is hit: servers free it before they answer. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct server_text);
} server_texts SEC(".maps");

/* The thread that runs, if it serves a request. */
static __always_inline struct thread *busy_thread(void)
{
	struct thread *thread = current_thread();

	return thread && thread->connection ? thread : NULL;
}

static __always_inline struct server_text *server_text_or_add(void)
{
	return bpf_task_storage_get(&server_texts, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* MySQL and MariaDB: Prepared_statement::execute_loop(this, …). The cookie is where `this` has the
 * address of the text and its length; 0: they are the second and the third argument. */
ON_PROBE(on_execute)
{
	struct thread *thread = busy_thread();
	struct server_text *stored = thread ? server_text_or_add() : NULL;
	__u64 text[2] = { SECOND_ARGUMENT(context), THIRD_ARGUMENT(context) };
	__u64 length, cookie = bpf_get_attach_cookie(context);
	const char *at = (const char *)FIRST_ARGUMENT(context) + cookie;

	if (!thread || !stored)
		return;
	if (cookie && bpf_probe_read_user(text, sizeof(text), at))
		return;
	length = text[1] < SERVER_TEXT_ROOM ? text[1] : SERVER_TEXT_ROOM;
	stored->is_cut = text[1] > length;
	stored->length = length;
	if (length && !bpf_probe_read_user(stored->bytes, length, (const char *)text[0]))
		thread->has_server_text = 1;
}

/* PostgreSQL: pgstat_report_activity(state, text). */
ON_PROBE(on_activity)
{
	struct thread *thread = busy_thread();
	const char *at = (const char *)SECOND_ARGUMENT(context);
	struct server_text *stored = thread && at ? server_text_or_add() : NULL;
	long copied;

	if (!thread || !stored)
		return;
	copied = read_user_string(stored->bytes, SERVER_TEXT_ROOM, at);
	if (copied <= 1)
		return;
	stored->is_cut = copied == SERVER_TEXT_ROOM;
	stored->length = copied - 1;
	thread->has_server_text = 1;
}

#endif
