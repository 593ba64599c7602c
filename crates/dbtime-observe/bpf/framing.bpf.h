/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Splits what was read into packets or messages, and reads answers: for both protocols, from the
 * socket or out of a TLS library.
 */
#ifndef DBTIME_FRAMING_H
#define DBTIME_FRAMING_H

#include "mysql.bpf.h"
#include "tagged_answers.bpf.h"

#define MAX_PIECES 4096	/* in a single read, of 8 or 16 KiB normally */

/*
 * Takes the next piece of what was read, a header or what belongs to the packet or message at hand.
 * Returns how many bytes that was; 0: it could not be read, or fits nothing. Global, so that the
 * verifier looks at it once and not wherever it is called.
 */
__noinline __u32 consume(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	__u32 have, needed, piece = length;
	int is_tagged;

	if (!connection)
		return 0;
	is_tagged = connection->request.protocol == PROTOCOL_POSTGRES;
	if (connection->rest) {
		if (piece > connection->rest)
			piece = connection->rest;
		if (is_tagged)
			message_piece(connection, at, piece);
		else
			packet_piece(connection, at, piece);
		return piece;
	}
	needed = is_tagged ? TAGGED : HEADER;
	have = connection->header_length & 7;
	if (!have && length >= needed) {
		if (bpf_probe_read_user(connection->header, needed, at))
			return 0;
		have = piece = needed;
	} else {
		if (bpf_probe_read_user(&connection->header[have], 1, at))
			return 0;
		piece = 1;
		have++;
	}
	connection->header_length = have;
	if (have < needed)
		return piece;
	if (!is_tagged)
		begin_packet(connection);
	else if (!begin_message(connection))
		return 0;
	return piece;
}

struct reading {
	struct connection *connection;
	__u64 at;
	__u32 length;
	__u32 is_lost;
	__u32 role;
};

/* PostgreSQL answers before it looks at what is behind, as it does a login. */
static __always_inline int is_ahead(struct connection *connection, __u64 at)
{
	if (!connection->is_logging_in &&
	    (!connection->is_whole || !connection->start || connection->is_ready))
		return 0;
	return !connection->rest && !connection->header_length &&
	       is_request_message((const char *)at);
}

static long next_piece(__u64 i, struct reading *reading)
{
	struct connection *connection = reading->connection;
	__u32 taken;

	if (!reading->length)
		return 1;
	if (is_ahead(connection, reading->at)) {
		connection->ahead = reading->at;
		connection->ahead_rx_at = connection->rx_first_at;
		connection->ahead_length = reading->length;
		return 1;
	}
	taken = consume(connection, reading->at, reading->length);
	if (!taken || taken > reading->length) {
		reading->is_lost = 1;
		return 1;
	}
	reading->at += taken;
	reading->length -= taken;
	/* What is behind a login that asks for TLS or compression is not to be read. */
	if (connection->role != reading->role)
		reading->length = 0;
	return 0;
}

static __always_inline void consume_all(struct connection *connection, __u64 at, __u32 length)
{
	struct reading reading = {
		.connection = connection, .at = at, .length = length, .role = connection->role,
	};

	bpf_loop(MAX_PIECES, next_piece, &reading, 0);
	if (reading.is_lost || (reading.length && !connection->ahead_length))
		lose_framing(connection);
}

/* A client's bytes were read by the server. */
static __always_inline void handle_request_bytes(struct connection *connection, const char *at, __u32 length)
{
	int is_tagged = connection->request.protocol == PROTOCOL_POSTGRES;
	__u32 taken;

	/* A login: what the thread waits for before it reads the first request is kept from here on. */
	if (!connection->has_read && !only_counts())
		current_thread_or_add();
	connection->has_read = 1;
	if (is_tagged && connection->is_ready)
		maybe_close(connection);
	if (connection->is_logging_in)
		note_read_at_login(connection, (__u64)at);
	connection->ahead_length = 0;
	if (connection->opening != OPENING_OVER) {
		taken = take_proxy_header(connection, (__u64)at, length);
		if (taken >= length)
			return;
		at += taken;
		length -= taken;
	}
	if (connection->framing == FRAMING_LOST) {
		if (!at || !(is_tagged ? find_message(connection, (__u64)at, length)
				       : find_packet(connection, (__u64)at, length)))
			return;
	}
	consume_all(connection, (__u64)at, length);
	if (!is_tagged)
		close_if_last(connection);
}

/* Whether a Sync is alone, another request was read behind it, and the answer is to that: the Sync
 * was passed over by a COPY that was not seen to begin. */
static __always_inline int is_answer_behind_sync(struct connection *connection, const char *at)
{
	__u8 tag = 0;

	if (!connection->expects_answer || !connection->ahead_length ||
	    connection->request.command != PG_SYNC || bpf_probe_read_user(&tag, 1, at))
		return 0;
	return tag != PG_READY && tag != PG_FAILED && tag != PG_NOTICE && tag != PG_NOTIFICATION &&
	       tag != PG_SETTING;
}

/* A Sync that was passed over is no request, and the one that is answered has begun unseen. Global: see
 * `consume`. */
__noinline int give_sync_up(struct connection *connection)
{
	if (!connection)
		return 0;
	connection->ahead_length = 0;
	abort_request(connection);
	lose_framing(connection);
	return 0;
}

/* Looks at a piece of an answer that is about to be sent, or was. Returns whether it is another protocol's.
 * Global: see `consume`. */
__noinline int handle_answer_bytes(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	__u8 stage;
	int is_first;

	if (!connection || !at)
		return 0;
	if (connection->has_late_error)
		doubt_late_error(connection, (__u64)at);
	if (connection->request.protocol == PROTOCOL_POSTGRES) {
		if (is_answer_behind_sync(connection, at))
			return give_sync_up(connection);
		handle_tagged_answer(connection, at, length);
	} else {
		/* Of a file whose end was not read all is there. */
		if (connection->local_file == LOCAL_FILE_SENT && !connection->rest &&
		    !connection->header_length && !connection->continues)
			end_local_file(connection);
		is_first = connection->expects_answer;
		stage = connection->answer.stage;
		if (is_first) {
			if (read_answer_head(connection, at, length))
				return 1;
			/* What is answered is from before. */
			if (!connection->start)
				return 0;
		} else if (connection->answer.stage == STAGE_OVER &&
			   connection->request.rows != NOT_KNOWN) {
			doubt_end(connection);
		}
		if (connection->answer.stage != STAGE_OVER)
			count_rows(connection, (__u64)at, length);
		if (!is_first && connection->request.command == COM_QUERY &&
		    (stage == STAGE_OVER || stage == STAGE_RESULT))
			find_file_request(connection, (__u64)at, length, stage == STAGE_RESULT);
		if (!connection->request.error && connection->request.rows == NOT_KNOWN)
			find_late_mysql_error(connection, (__u64)at, length);
	}
	connection->sent_until = (__u64)at + length;
	return 0;
}

/* What was read ahead of an answer: once the server is ready for the next request, that begins, or
 * it was of a COPY. */
static __always_inline void resume_ahead(struct connection *connection)
{
	__u32 length = connection->ahead_length;
	__u64 later = connection->rx_first_at;

	if (!connection->is_ready && !is_ahead_of_copy(connection))
		return;
	connection->ahead_length = 0;
	connection->rx_first_at = connection->ahead_rx_at;
	consume_all(connection, connection->ahead, length);
	connection->rx_first_at = later;
}

#endif
