/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What servers of PostgreSQL's send: answers, of which the last bytes say whether the server is
 * ready for the next request, and that it is ready where it was asked for nothing.
 */
#ifndef DBTIME_TAGGED_ANSWERS_H
#define DBTIME_TAGGED_ANSWERS_H

#include "completions.bpf.h"
#include "late_errors.bpf.h"
#include "postgres.bpf.h"

#define IDLE 'I'	/* the last byte of ReadyForQuery, where no transaction is open */

/* Keeps the last bytes of an answer: a server that sends whenever its buffer is full may send the end of
 * ReadyForQuery by itself. */
static __always_inline void save_tail(struct connection *connection, const char *at, __u32 length)
{
	__u8 *tail = connection->tail;
	__u32 kept, more;

	read_piece_end(connection, at, length);
	kept = connection->piece_end_length;
	more = masked(kept < READY_LENGTH ? kept : READY_LENGTH, 8);
	if (!kept)
		__builtin_memset(tail, 0, sizeof(connection->tail));
	for (int i = 0; i < READY_LENGTH; i++)
		tail[READY_LENGTH + i] = end_byte(connection, kept - more + i);
	for (int i = 0; i < READY_LENGTH; i++)
		tail[i] = tail[(more + i) & 15];
}

/* Whether that is ReadyForQuery. */
static __always_inline int ends_with_ready(struct connection *connection)
{
	const __u8 *end = connection->tail;

	return end[0] == PG_READY && big_endian(end + 1) == TAGGED;
}

/* A server is ready that was asked for nothing, as it seems: bytes that it has read, and that were
 * not understood, were the rest of a request from before. Where it was ready already it has
 * answered another that was not seen: one from before as well, where nothing of the connection
 * was ever read, or one that is lost. So is what came after such a rest, as that of a COPY which
 * had failed before. `first`: of the bytes that are sent. */
static __always_inline void note_unseen_request(struct connection *connection, __u8 first)
{
	int is_lost = connection->framing == FRAMING_LOST || connection->rest ||
		      connection->header_length;
	int is_request = connection->strange == STRANGE_REQUEST;
	int is_rest = (connection->strange == STRANGE_BYTES || is_request) && !connection->request.length &&
		      !connection->request.end && first != PG_LET_IN;

	if (!is_lost && connection->guess == GUESS_NONE)
		return;
	if ((connection->is_ready && connection->has_read) || (is_lost && is_rest && is_request)) {
		count(COUNT_RESYNC);
	} else if (connection->is_ready || (is_lost && is_rest)) {
		count(COUNT_STARTED);
		count(COUNT_PARTIAL);
	}
	if (is_lost)
		reset_framing(connection);
}

/*
 * What a server of PostgreSQL's sends while it was asked for nothing. Where it says that it is
 * ready it goes on with what it has read behind a login. Global: see `consume`.
 */
__noinline int note_unasked_ready(struct connection *connection, __u64 address, __u32 length)
{
	__u8 first = 0;

	if (!connection || connection->request.protocol != PROTOCOL_POSTGRES)
		return 0;
	save_tail(connection, (const char *)address, length);
	if (!ends_with_ready(connection) || bpf_probe_read_user(&first, 1, (const void *)address))
		return 0;
	/* What seemed to be a startup packet, and has not ended, was none. */
	connection->startup.rest = 0;
	note_unseen_request(connection, first);
	connection->is_ready = 1;
	connection->is_logging_in = 0;
	connection->strange = STRANGE_NOT;
	connection->guess = GUESS_NONE;
	return 0;
}

/* The server reads on at a message while a login was under way, as it seems. Where it has read a request
 * before, and was not seen to be ready for that, that is lost. Global: see `consume`. */
__noinline int note_read_at_login(struct connection *connection, __u64 address)
{
	if (!connection || connection->rest || connection->header_length ||
	    !is_request_message((const char *)address))
		return 0;
	connection->is_logging_in = 0;
	if (connection->ahead_length)
		count(COUNT_RESYNC);
	return 0;
}

/* Whether a piece of an answer, of less than 16 bytes, ends where a message does. */
static __always_inline int are_whole_messages(struct connection *connection, const char *at, __u32 length)
{
	__u8 *head = connection->answer.head;
	__u32 from = 0;

	length = masked(length, 16);
	if (bpf_probe_read_user(head, length, at))
		return 0;
	for (int i = 0; i < 3 && from < length; i++)
		from += 1 + (head[(from + 3) & 15] << 8 | head[(from + 4) & 15]);
	return from == length;
}

/* The server is ready, as it seems: whether messages begin elsewhere than was guessed, for the
 * request or the message behind it is not whole, or a Sync alone seems to have executed
 * something. */
static __always_inline int is_wrong_guess(struct connection *connection)
{
	struct request *request = &connection->request;

	if (!may_be_answered(connection))
		return 1;
	return (connection->rest && !is_of_copy(connection->header[0])) ||
	       (request->command == PG_SYNC && request->reply == PG_COMPLETE);
}

/* An answer ends with ReadyForQuery, as it seems. Returns whether that answers the request. */
static __always_inline int confirm_guess(struct connection *connection)
{
	__u8 guess = connection->guess;

	connection->strange = STRANGE_NOT;
	if (guess == GUESS_NONE)
		return 1;
	if (!is_wrong_guess(connection)) {
		connection->guess = connection->ahead_length ? GUESS_LATER : GUESS_NONE;
		return 1;
	}
	disown_request(connection);
	/* What was read since the server was ready is lost. */
	if (guess == GUESS_LATER)
		count(COUNT_RESYNC);
	reset_framing(connection);
	connection->ahead_length = 0;
	connection->guess = GUESS_NONE;
	connection->is_ready = 1;
	return 0;
}

/* Looks at a piece of an answer. */
static __always_inline void handle_tagged_answer(struct connection *connection, const char *at,
					  __u32 length)
{
	__u32 error = connection->request.error;
	__u8 *end = connection->tail;

	if (connection->expects_answer && length >= 16) {
		connection->expects_answer = read_tagged_answer_head(connection, (__u64)at, length);
	} else if (connection->expects_answer && !are_whole_messages(connection, at, length)) {
		/* What it begins with is not there any more once the rest comes. */
		connection->expects_answer = 0;
	}
	if (connection->answer.stage != STAGE_OVER)
		count_completions(connection, (__u64)at, length);
	save_tail(connection, at, length);
	/* One that this piece begins with is known. */
	if (connection->request.error == error && !end[READY_LENGTH - 1] && !end[READY_LENGTH - 2])
		note_late_error(connection, find_late_error(connection, (__u64)at, length));
	/* What the client goes on to send the server passes over, but for the Sync. */
	if (connection->request.error && connection->copy.is_under_way)
		end_copy(connection);
	if (ends_with_ready(connection) && !confirm_guess(connection))
		return;
	connection->is_ready = ends_with_ready(connection) && may_be_answered(connection);
	if (connection->is_ready) {
		connection->request.flags |= end[READY_LENGTH - 1] == IDLE ? REQUEST_NO_TRANSACTION : REQUEST_IN_TRANSACTION;
		end_copies(connection);
	} else if (!end[READY_LENGTH - 2] && end[READY_LENGTH - 1] < 2 &&
		   ends_with_copy(connection, (__u64)at, length)) {
		begin_copy(connection);
	}
	if (settings.streams && depth == DEPTH_EVERYTHING)
		note_tagged_rows(connection);
}

#endif
