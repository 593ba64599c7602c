/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The life of a request: it begins, comes so far, and is over. What it says is in `mysql.bpf.h` and
 * `postgres.bpf.h`.
 */
#ifndef DBTIME_REQUESTS_H
#define DBTIME_REQUESTS_H

#include "words.bpf.h"
#include "totals.bpf.h"

/* The thread that runs, if it serves this connection's request. */
static __always_inline struct thread *serving(struct connection *connection)
{
	struct thread *thread = present();

	return thread && thread->connection == connection->request.connection ? thread : NULL;
}

static __always_inline int is_reference(struct request *request)
{
	return is_execute(request->command) ||
	       request->flags & (REQUEST_NAMED | REQUEST_FETCHES);
}

/* The text of a prepared statement, as the server has told of it. */
static __always_inline void take_told(struct connection *connection)
{
	struct request *request = &connection->request;
	struct told *told = bpf_task_storage_get(&told_texts, bpf_get_current_task_btf(), 0, 0);
	__u32 length;

	if (!told || !is_reference(request) || connection->request.statements)
		return;
	length = told->length;
	if (length > TOLD_ROOM)
		return;
	bpf_probe_read_kernel(connection->text.bytes + TOLD_AT, length, told->bytes);
	request->text_length = TOLD_AT + length;
	request->flags |= told->is_cut ? REQUEST_TOLD | REQUEST_CUT : REQUEST_TOLD;
}

/* The request has come so far. Global: see `close_request`. */
int reach(struct connection *connection, __u64 now)
{
	struct thread *thread;

	if (!connection)
		return 0;
	thread = serving(connection);
	connection->request.end = now;
	if (!thread || only_counts())
		return 0;
	tell(thread, &connection->request, &connection->waits, now);
	if (thread->waits_for_files != connection->waits_for_files) {
		connection->waits_for_files = thread->waits_for_files;
		__builtin_memcpy(connection->files.waits, thread->files.waits,
				 sizeof(connection->files.waits));
	}
	if (connection->request.statements)
		time_batch(connection, thread, now);
	if (thread->is_told && !thread->has_answered)
		take_told(connection);
	thread->has_answered = 1;
	return 0;
}

/* Bytes that follow a request. */
static __always_inline __u32 length_behind(struct connection *connection)
{
	struct request *request = &connection->request;
	__u32 length = request->text_length + request->name_length + request->portal_length;

	if (connection->request.statements)
		return TEXT_ROOM + sizeof(connection->executed);
	return length < TEXT_ROOM ? length : TEXT_ROOM;
}

/* Hands on a request, with its waits where there were any. The reader looks by a timer: waking it for
 * each would cost more than all of this. */
static __always_inline long hand_on(struct connection *connection, __u32 length)
{
	struct file_waits *files = &connection->files;
	struct request *request = &connection->request;
	struct waits *waits = &connection->waits;

	length += sizeof(*request);
	if (connection->waits_for_files) {
		files->mark = ~0ull;
		return bpf_ringbuf_output(&stream, files, sizeof(*files) + sizeof(*waits) + length,
					  BPF_RB_NO_WAKEUP);
	}
	if (waits->blocker.length || waits->preemptor.length)
		return bpf_ringbuf_output(&stream, waits, sizeof(*waits) + length, BPF_RB_NO_WAKEUP);
	return bpf_ringbuf_output(&stream, request, length, BPF_RB_NO_WAKEUP);
}

/* Where requests are added up, only those are handed on that have waited for a lock, or let one go: whose
 * locks were waited for is found out by the reader. */
static __always_inline void tell_of_locks(struct connection *connection, __u32 length)
{
	struct request *request = &connection->request;

	if (!settings.sums || connection->is_unwanted || only_counts())
		return;
	if (connection->waits.blocker.length < LOCK_WORTH && !(request->flags & REQUEST_RELEASED))
		return;
	request->flags |= REQUEST_LOCKS;
	connection->waits_for_files = 0;
	if (hand_on(connection, length))
		count(COUNT_LOCKS_LOST);
}

/*
 * The request is over: its story goes out, and the connection is free for the next. Global, so that
 * the verifier looks at it once and not wherever it is called.
 */
int close_request(struct connection *connection, __u32 fate)
{
	struct request *request;
	struct thread *thread;
	__u32 length;
	__u64 start;

	if (!connection)
		return 0;
	/* Once: a sweep may have come before. */
	start = __sync_lock_test_and_set(&connection->start, 0);
	if (!start)
		return 0;
	request = &connection->request;
	length = length_behind(connection);
	thread = serving(connection);
	if (thread) {
		if (thread->has_released)
			request->flags |= REQUEST_RELEASED;
		unbind(thread);
	}
	request->start = start;
	request->fate = fate;
	count(fate == FATE_ENDED ? COUNT_ENDED : COUNT_ABORTED);
	if (request->flags & REQUEST_CUT)
		count(COUNT_CUT);
	if (request->flags & REQUEST_UNREAD)
		count(COUNT_UNREAD);
	if (connection->request.statements) {
		count(COUNT_BATCHES);
		request->chief = chief_of(connection);
	}
	if (settings.sums && fate == FATE_ENDED && !connection->is_unwanted && !only_counts())
		sum_up(connection);
	if (settings.streams && depth != DEPTH_EVERYTHING)
		count(COUNT_WITHHELD);
	if (!settings.streams || depth != DEPTH_EVERYTHING) {
		tell_of_locks(connection, length);
		return 0;
	}
	if (hand_on(connection, length))
		count(COUNT_DROPPED);
	else
		count(COUNT_STREAMED);
	return 0;
}

/* A request that has no answer is over. */
static __always_inline void end_unanswered(struct connection *connection)
{
	reach(connection, bpf_ktime_get_ns());
	close_request(connection, FATE_ENDED);
}

/* It is over with what the client says as it goes. */
static __always_inline void end_with_goodbye(struct connection *connection)
{
	struct thread *thread = serving(connection);

	end_unanswered(connection);
	if (thread)
		thread->has_left = 1;
}

/* The server has turned to what the client says next, or finds that it says nothing. Global: see
 * `close_request`. */
int turn(struct connection *connection)
{
	struct request *request;

	if (!connection || !connection->start || connection->takes_file)
		return 0;
	request = &connection->request;
	if (request->protocol == PROTOCOL_POSTGRES) {
		/* What a TLS library was given may not have been sent. */
		if (connection->is_ready && request->sends)
			close_request(connection, FATE_ENDED);
	} else if (request->sends) {
		close_request(connection, FATE_ENDED);
	} else if (!connection->wants_command && has_no_answer(request->command)) {
		end_unanswered(connection);
	}
	return 0;
}

/* Nothing is followed any more: what is still under way is in flight. Once: the walk over what is left
 * and the server itself may come at the same time. */
static __always_inline void leave(struct connection *connection)
{
	if (__sync_lock_test_and_set(&connection->start, 0))
		count(COUNT_IN_FLIGHT);
}

/* Bytes of what may be a request were read. */
static __always_inline void arrive(struct connection *connection, __u64 now)
{
	struct request *request = &connection->request;
	__u64 came = connection->came;
	struct thread *thread;

	connection->arrived = now;
	request->server_queue = came && came <= now ? now - came : NOT_KNOWN;
	if (only_counts())
		return;
	thread = running();
	if (!thread) {
		count(COUNT_NO_STORAGE);
		return;
	}
	bind(thread, request->connection, connection->wait_event, now);
	thread->is_summed = settings.sums && !connection->is_unwanted;
}

/* A request begins. Global: see `close_request`. */
int begin(struct connection *connection, __u64 now)
{
	struct request *request;

	if (!connection)
		return 0;
	request = &connection->request;
	if (connection->start) {
		/* Servers answer before they read on; one that does not is told of. */
		count(COUNT_OVERLAID);
		reach(connection, now);
		close_request(connection, FATE_ABORTED);
	}
	if (!connection->arrived)
		arrive(connection, now);
	connection->start = connection->arrived;
	connection->arrived = 0;
	connection->wants_command = 1;
	connection->takes_file = 0;
	connection->answers = 1;
	connection->is_whole = 0;
	connection->names = 0;
	connection->goes_on = 0;
	connection->is_ready = 0;
	/* What was not seen is not told, whatever it says of the one before. */
	__builtin_memset(request->parts, 0, sizeof(request->parts));
	connection->waits.blocker.length = 0;
	connection->waits.preemptor.length = 0;
	connection->waits_for_files = 0;
	request->other_call = 0;
	request->cache = CACHE_NOT_ASKED;
	request->first_sent = 0;
	request->end = 0;
	request->sent_bytes = 0;
	request->sends = 0;
	request->length = 0;
	request->text_length = 0;
	request->name_length = 0;
	request->executes = 0;
	request->portal_length = 0;
	request->statements = 0;
	request->chief = 0;
	request->shape = 0;
	connection->binds = 0;
	connection->text_used = 0;
	request->rows = NOT_KNOWN;
	connection->answer.stage = STAGE_OVER;
	connection->answer.have = 0;
	__builtin_memset(connection->tail, 0, sizeof(connection->tail));
	request->statement = 0;
	request->error = 0;
	request->flags = 0;
	request->command = 0;
	request->reply = 0;
	request->tgid = bpf_get_current_pid_tgid() >> 32;
	request->tid = (__u32)bpf_get_current_pid_tgid();
	count(COUNT_STARTED);
	return 0;
}

/* It is not known where the next packet begins. */
static __always_inline void forget_step(struct connection *connection)
{
	connection->step = STEP_LOST;
	connection->rest = 0;
	connection->header_length = 0;
	connection->goes_on = 0;
}

/* Loses its step, until a read fits a header again. */
static __always_inline void lose(struct connection *connection)
{
	count(COUNT_OUT_OF_STEP);
	forget_step(connection);
}

#endif
