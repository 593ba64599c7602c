/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The life of a request: begin, progress, close. Its content is read in `mysql.bpf.h` and
 * `postgres.bpf.h`.
 */
#ifndef DBTIME_REQUESTS_H
#define DBTIME_REQUESTS_H

#include "client_ends.bpf.h"
#include "server_probes.bpf.h"
#include "totals.bpf.h"

/* The thread that runs, if it serves this connection's request. */
static __always_inline struct thread *serving_thread(struct connection *connection)
{
	struct thread *thread = current_thread();

	return thread && thread->connection == connection->request.connection ? thread : NULL;
}

static __always_inline int is_reference(struct request *request)
{
	return is_execute(request->command) ||
	       request->flags & (REQUEST_NAMED | REQUEST_FETCHES);
}

/* Copies the text of a prepared statement, as a probe has read it from the server. */
static __always_inline void copy_server_text(struct connection *connection)
{
	struct request *request = &connection->request;
	struct server_text *stored = bpf_task_storage_get(&server_texts, bpf_get_current_task_btf(), 0, 0);
	__u32 length;

	if (!stored || !is_reference(request) || connection->request.statements)
		return;
	length = stored->length;
	if (length > SERVER_TEXT_ROOM)
		return;
	bpf_probe_read_kernel(connection->text.bytes + SERVER_TEXT_AT, length, stored->bytes);
	request->text_length = SERVER_TEXT_AT + length;
	request->flags |= stored->is_cut ? REQUEST_SERVER_TEXT | REQUEST_CUT : REQUEST_SERVER_TEXT;
}

/* A function of its own, which the verifier looks at once. Global: see `close_request`. */
__noinline int publish_progress(struct connection *connection, struct thread *thread, __u64 now)
{
	if (connection && thread)
		publish_parts(thread, &connection->request, &connection->waits, now);
	return 0;
}

/* Records the progress of a request: its last write, and the parts so far. Global: see `close_request`. */
__noinline int note_progress(struct connection *connection, __u64 now)
{
	struct thread *thread;

	if (!connection)
		return 0;
	thread = serving_thread(connection);
	connection->request.end = now;
	if (!thread || only_counts())
		return 0;
	/* Pre-empted since, within this program, or meanwhile: response and parts end where it goes on. */
	for (int i = 0; i < 3; i++) {
		if (thread->on_cpu_at > now)
			connection->request.end = now = bpf_ktime_get_ns();
		publish_progress(connection, thread, now);
		/* From here, and not from there: calls of functions are at most eight deep. */
		if (settings.streams && thread->rival_count)
			publish_rivals(thread, &connection->waits);
		if (thread->on_cpu_at <= now)
			break;
	}
	if (thread->file_wait_count != connection->file_wait_count) {
		connection->file_wait_count = thread->file_wait_count;
		__builtin_memcpy(connection->files.waits, thread->files.waits,
				 sizeof(connection->files.waits));
	}
	if (connection->request.statements)
		time_batch(connection, thread, now);
	if (thread->has_server_text && !thread->has_answered)
		copy_server_text(connection);
	thread->has_answered = 1;
	return 0;
}

/* Bytes that follow a request. */
static __always_inline __u32 trailing_length(struct connection *connection)
{
	struct request *request = &connection->request;
	__u32 length = request->text_length + request->name_length + request->portal_length;

	if (connection->request.statements)
		return TEXT_ROOM + sizeof(connection->executed);
	return length < TEXT_ROOM ? length : TEXT_ROOM;
}

/* Streams a request, with its waits where there were any. The reader looks by a timer: waking it for
 * each would cost more than all of this. */
static __always_inline long stream_request(struct connection *connection, __u32 length)
{
	struct file_waits *files = &connection->files;
	struct request *request = &connection->request;
	struct waits *waits = &connection->waits;

	length += sizeof(*request);
	if (connection->file_wait_count) {
		files->marker = ~0ull;
		return bpf_ringbuf_output(&stream, files, sizeof(*files) + sizeof(*waits) + length,
					  BPF_RB_NO_WAKEUP);
	}
	if (waits->blocker.length || waits->preemptors[0].length)
		return bpf_ringbuf_output(&stream, waits, sizeof(*waits) + length, BPF_RB_NO_WAKEUP);
	return bpf_ringbuf_output(&stream, request, length, BPF_RB_NO_WAKEUP);
}

/* Where requests are added up, only those are handed on that have waited for a lock, or let one go: whose
 * locks were waited for is found out by the reader. */
static __always_inline void stream_lock_waits(struct connection *connection, __u32 length)
{
	struct request *request = &connection->request;

	if (!settings.sums || connection->is_filtered_out || only_counts())
		return;
	if (connection->waits.blocker.length < MIN_LOCK_WAIT_NS && !(request->flags & REQUEST_RELEASED))
		return;
	request->flags |= REQUEST_LOCKS;
	connection->file_wait_count = 0;
	if (stream_request(connection, length))
		count(COUNT_LOCKS_LOST);
}

/*
 * Closes a request: it is counted, added up and streamed, and the next may begin. Global, so that
 * the verifier looks at it once and not wherever it is called.
 */
__noinline int close_request(struct connection *connection, __u32 outcome)
{
	struct request *request;
	struct thread *thread;
	__u32 length;
	__u64 start;

	if (!connection)
		return 0;
	/* Once: `iter_close` may have come before. */
	start = __sync_lock_test_and_set(&connection->start, 0);
	if (!start)
		return 0;
	request = &connection->request;
	length = trailing_length(connection);
	thread = serving_thread(connection);
	if (thread) {
		if (thread->has_released)
			request->flags |= REQUEST_RELEASED;
		unassign(thread);
	}
	request->start = start;
	request->outcome = outcome;
	if (settings.driver)
		copy_arrival(connection);
	count(outcome == OUTCOME_ENDED ? COUNT_ENDED : COUNT_ABORTED);
	if (request->flags & REQUEST_CUT)
		count(COUNT_CUT);
	if (request->flags & REQUEST_UNREAD)
		count(COUNT_UNREAD);
	if (connection->request.statements) {
		count(COUNT_BATCHES);
		request->chief = chief_of(connection);
	}
	if (settings.sums && outcome == OUTCOME_ENDED && !connection->is_filtered_out && !only_counts())
		add_to_totals(connection);
	if (settings.streams && depth != DEPTH_EVERYTHING)
		count(COUNT_NOT_STREAMED);
	if (!settings.streams || depth != DEPTH_EVERYTHING) {
		stream_lock_waits(connection, length);
		return 0;
	}
	if (stream_request(connection, length))
		count(COUNT_DROPPED);
	else
		count(COUNT_STREAMED);
	return 0;
}

/* A request that has no answer is over. */
static __always_inline void close_unanswered(struct connection *connection)
{
	note_progress(connection, bpf_ktime_get_ns());
	close_request(connection, OUTCOME_ENDED);
}

/* What was read of a request is no text. */
static __always_inline void forget_text(struct request *request)
{
	request->text_length = 0;
	request->name_length = 0;
	request->portal_length = 0;
	request->statements = 0;
}

/* What seemed to be a request is the rest of one from before, and what was read is no text of it.
 * Global: see `close_request`. */
__noinline int disown_request(struct connection *connection)
{
	struct thread *thread;

	/* Once, as there. */
	if (!connection || !__sync_lock_test_and_set(&connection->start, 0))
		return 0;
	count(COUNT_PARTIAL);
	forget_text(&connection->request);
	thread = serving_thread(connection);
	if (thread)
		unassign(thread);
	return 0;
}

/* MySQL: whether what seems to be a command is one will not be seen any more. It has no line, and may be
 * missing. Global: see `close_request`. */
__noinline int give_guess_up(struct connection *connection)
{
	if (!connection || !connection->start)
		return 0;
	count(COUNT_RESYNC);
	disown_request(connection);
	return 0;
}

/* Whether the server may be ready once it has answered what was read of the request: that is whole,
 * or was, before the data of a COPY. */
static __always_inline int may_be_answered(struct connection *connection)
{
	return connection->is_whole || connection->copy.may_be_ready;
}

/* Of a request that is under way no answer will be seen. */
static __always_inline void abort_request(struct connection *connection)
{
	if (!connection->start)
		return;
	if (connection->guess != GUESS_NONE && !may_be_answered(connection)) {
		disown_request(connection);
		return;
	}
	note_progress(connection, bpf_ktime_get_ns());
	close_request(connection, OUTCOME_ABORTED);
}

/* A piece of an answer was sent. Behind an error that ends the connection the server does not read
 * again, which would say that the request is over. Global: see `close_request`. */
__noinline int note_sent(struct connection *connection, __u64 now)
{
	if (!connection)
		return 0;
	note_progress(connection, now);
	if (connection->has_last_word)
		close_request(connection, OUTCOME_ENDED);
	return 0;
}

/* The last request of a connection: QUIT or Terminate, which has no answer. */
static __always_inline void close_at_quit(struct connection *connection)
{
	struct thread *thread = serving_thread(connection);

	close_unanswered(connection);
	if (thread)
		thread->is_client_gone = 1;
}

/* Whether a request has no answer. Where it is a guess that it is a command, its length has to fit too. */
static __always_inline int is_unanswered(struct connection *connection)
{
	struct request *request = &connection->request;

	if (connection->guess == GUESS_NONE)
		return has_no_answer(request->command);
	return (request->command == COM_QUIT && request->length == QUIT_LENGTH) ||
	       (request->command == COM_STMT_CLOSE && request->length == CLOSE_LENGTH);
}

/* The server reads on, or finds nothing to read: an answered request is over. Global: see
 * `close_request`. */
__noinline int maybe_close(struct connection *connection)
{
	struct request *request;

	if (!connection || !connection->start || connection->local_file)
		return 0;
	request = &connection->request;
	if (request->protocol == PROTOCOL_POSTGRES) {
		/* What a TLS library was given may not have been sent. */
		if (connection->is_ready && request->writes)
			close_request(connection, OUTCOME_ENDED);
	} else if (request->writes && connection->guess != GUESS_NONE) {
		give_guess_up(connection);
	} else if (request->writes) {
		close_request(connection, OUTCOME_ENDED);
	} else if (!connection->expects_command && is_unanswered(connection)) {
		close_unanswered(connection);
	} else if (!connection->expects_command && has_no_answer(request->command) && !request->end) {
		/* What comes next says whether it is one; it was over by now. */
		note_progress(connection, bpf_ktime_get_ns());
	}
	return 0;
}

/* The trace has ended: an open request is counted as in flight. Once: the iterator over what is left
 * and the server itself may come at the same time. */
static __always_inline void count_in_flight(struct connection *connection)
{
	if (__sync_lock_test_and_set(&connection->start, 0))
		count(COUNT_IN_FLIGHT);
}

/* The first bytes of what may be a request were read. Global: see `close_request`. */
__noinline int note_first_read(struct connection *connection, __u64 now)
{
	struct request *request;
	struct thread *thread;
	__u64 rx_at;

	if (!connection)
		return 0;
	request = &connection->request;
	rx_at = connection->rx_first_at;
	connection->read_at = now;
	request->server_queue = rx_at && rx_at <= now ? now - rx_at : NOT_KNOWN;
	__builtin_memset(request->early, 0, sizeof(request->early));
	if (only_counts())
		return 0;
	thread = current_thread_or_add();
	if (!thread) {
		count(COUNT_NO_STORAGE);
		return 0;
	}
	keep_early_rivals(thread, split_queue(request, thread, now));
	assign(thread, request->connection, connection->wait_event, now);
	thread->is_aggregated = settings.sums && !connection->is_filtered_out;
	return 0;
}

/* Where a connection is copied to while others may go on with it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct connection);
} scratch SEC(".maps");

/* The connection turns to TLS: its state moves to a map that probes can reach. Where its framing had
 * been lost, a request may be under way, whose answer is not seen any more. */
static __always_inline void begin_tls(struct connection *connection, enum framing framing,
				      enum strangeness strange)
{
	__u64 number = connection->request.connection;
	struct connection *copy;
	__u32 zero = 0;

	abort_request(connection);
	connection->role = ROLE_IGNORED;
	if (!connection->has_tls_probes) {
		count(COUNT_TLS);
		return;
	}
	connection->role = ROLE_ENCRYPTED;
	connection->framing = framing;
	connection->strange = strange;
	connection->rest = 0;
	connection->header_length = 0;
	/* As in `add_example`. */
	copy = bpf_map_lookup_elem(&scratch, &zero);
	if (copy && !bpf_map_update_elem(&encrypted, &number, copy, BPF_ANY)) {
		copy = bpf_map_lookup_elem(&encrypted, &number);
		if (copy && !bpf_probe_read_kernel(copy, sizeof(*copy), connection))
			return;
	}
	count(COUNT_NO_STORAGE);
	connection->role = ROLE_IGNORED;
}

/* A request begins. Global: see `close_request`. */
__noinline int begin_request(struct connection *connection, __u64 now)
{
	struct request *request;

	if (!connection)
		return 0;
	request = &connection->request;
	if (connection->start) {
		/* Servers answer before they read on; one that does not is counted. */
		count(COUNT_PIPELINED_OVER);
		note_progress(connection, now);
		close_request(connection, OUTCOME_ABORTED);
		connection->text_flags = 0;
	}
	/* PostgreSQL does not read on behind its last word. What looked like that was none, and what is
	 * left of its answer is taken for that to this request. */
	if (connection->has_last_word && request->protocol == PROTOCOL_POSTGRES)
		count(COUNT_RESYNC);
	if (!connection->read_at)
		note_first_read(connection, now);
	connection->start = connection->read_at;
	connection->piece_from = connection->start;
	connection->read_at = 0;
	connection->expects_command = 1;
	connection->local_file = LOCAL_FILE_NONE;
	connection->expects_answer = 1;
	connection->is_whole = 0;
	connection->names_left = 0;
	connection->continues = 0;
	connection->is_ready = 0;
	__builtin_memset(&connection->copy, 0, sizeof(connection->copy));
	/* Nothing of the request before stays. */
	__builtin_memset(request->parts, 0, sizeof(request->parts));
	connection->waits.blocker.length = 0;
	for (int i = 0; i < NAMED_RIVALS; i++)
		connection->waits.preemptors[i].length = 0;
	connection->file_wait_count = 0;
	request->other_call = 0;
	request->cache = CACHE_NOT_SEARCHED;
	request->first_sent = 0;
	request->end = 0;
	request->sent_bytes = 0;
	request->writes = 0;
	request->length = 0;
	request->text_length = 0;
	request->name_length = 0;
	request->executes = 0;
	request->portal_length = 0;
	request->statements = 0;
	request->chief = 0;
	request->shape = 0;
	request->answer_arrived = 0;
	if (settings.driver)
		copy_taking(connection);
	connection->bind_count = 0;
	connection->text_used = 0;
	request->rows = NOT_KNOWN;
	connection->answer.stage = STAGE_OVER;
	connection->answer.have = 0;
	connection->answer.rows = NOT_KNOWN;
	connection->answer.lacks_results = 0;
	__builtin_memset(connection->tail, 0, sizeof(connection->tail));
	request->statement = 0;
	request->error = 0;
	connection->has_late_error = 0;
	connection->has_last_word = 0;
	connection->sent_until = 0;
	request->flags = connection->text_flags;
	request->command = 0;
	request->reply = 0;
	request->tgid = bpf_get_current_pid_tgid() >> 32;
	request->tid = (__u32)bpf_get_current_pid_tgid();
	count(COUNT_STARTED);
	return 0;
}

/* Drops the framing: the place of the next packet is unknown. */
static __always_inline void reset_framing(struct connection *connection)
{
	connection->framing = FRAMING_LOST;
	connection->rest = 0;
	connection->header_length = 0;
	connection->continues = 0;
	connection->text_flags = 0;
}

/* Bytes fit no packet: counts it, and waits for a read that fits a header. */
static __always_inline void lose_framing(struct connection *connection)
{
	count(COUNT_RESYNC);
	reset_framing(connection);
}

#endif
