/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * How many rows statements of PostgreSQL have sent or changed, by the tags in their answers.
 *
 *   …, CommandComplete "UPDATE 3", ReadyForQuery:   the last bytes tell
 *   …, PortalSuspended, ReadyForQuery:              as many as were asked for
 *   …, CommandComplete, …, CommandComplete, …:      of several executions each answer is looked at
 */
#ifndef DBTIME_COMPLETIONS_H
#define DBTIME_COMPLETIONS_H

#include "batches.bpf.h"
#include "failures.bpf.h"
#include "postgres_messages.h"
#include "rows.bpf.h"

#define READY_LENGTH 6	/* bytes of ReadyForQuery */
#define SHORTEST_COMPLETE 12	/* of CommandComplete with a number: COPY 1 */
#define MAX_DIGITS 14		/* of a number there are fewer */
#define MAX_CLOSED 2	/* what an execution is of that its client closes at once: a portal and a statement */

/* How long the tag of CommandComplete is before its number, and at most, by the last sign of that:
 * SELECT, COPY, FETCH, INSERT 0; MOVE, MERGE, UPDATE, DELETE. */
static __always_inline __u32 shortest_tag(__u8 last)
{
	switch (last) {
	case 'T':
		return 6;
	case 'Y':
	case 'E':
		return 4;
	case 'H':
		return 5;
	case '0':
		return 8;
	default:
		return 0;
	}
}

/*
 * One of several executions is over, and has had so many rows. Answers come in the order of executions,
 * and what is executed later may be read later: a statement's rows are known where it was answered as
 * often as it was executed. Global: see `consume`.
 */
__noinline int complete_execution(struct connection *connection, __u64 rows)
{
	struct executed *executed;
	struct answer *answer;
	__u32 statements;

	if (!connection)
		return 0;
	answer = &connection->answer;
	statements = connection->request.statements;
	for (int i = 0; i < MAX_EXECUTED; i++) {
		executed = &connection->executed[connection->next_answer & (MAX_EXECUTED - 1)];
		if (connection->next_answer + 1 >= statements || connection->answers_done < executed->executes)
			break;
		connection->next_answer++;
		connection->answers_done = 0;
	}
	if (!connection->answers_done++)
		answer->rows = rows;
	else if (answer->rows != NOT_KNOWN)
		answer->rows = rows == NOT_KNOWN ? NOT_KNOWN : answer->rows + rows;
	if (!statements)
		return 0;
	executed = &connection->executed[connection->next_answer & (MAX_EXECUTED - 1)];
	executed->rows = connection->answers_done == executed->executes ? answer->rows : NOT_KNOWN;
	return 0;
}

/* Reads the last bytes of a piece of an answer, or of a message in it: all that is looked for
 * there is looked for in these. */
static __always_inline void read_piece_end(struct connection *connection, const char *at,
					   __u32 length)
{
	__u32 kept = length < PIECE_END ? length : PIECE_END - 1;

	kept = masked(kept, PIECE_END);
	if (bpf_probe_read_user(connection->piece_end, kept, at + length - kept))
		kept = 0;
	connection->piece_end_length = kept;
}

/* One of these bytes, if there are as many. */
static __always_inline __u8 end_byte(struct connection *connection, __u32 at)
{
	/* The compiler knows more of it than the verifier: the mask is to stay. */
	barrier_var(at);
	return connection->piece_end[at & (PIECE_END - 1)];
}

/* Whether a message with that tag and length begins there. */
static __always_inline int begins_message(struct connection *connection, __u32 at, __u8 tag,
					  __u32 length)
{
	/* None of those that are looked for has more than 255 bytes. */
	return end_byte(connection, at) == tag && !end_byte(connection, at + 1) &&
	       !end_byte(connection, at + 2) && !end_byte(connection, at + 3) &&
	       end_byte(connection, at + 4) == length;
}

/*
 * The number at the end of a CommandComplete that ends behind so many bytes of `piece_end`;
 * NOT_KNOWN: there is none, or something else. Global: see `consume`.
 */
__noinline __u64 rows_in_tag(struct connection *connection, __u32 end)
{
	__u32 digits, digit, shortest, tag;
	__u64 rows = 0, scale = 1;

	if (!connection || end < SHORTEST_COMPLETE || end_byte(connection, end - 1))
		return NOT_KNOWN;
	for (digits = 0; digits < MAX_DIGITS; digits++) {
		digit = (__u32)end_byte(connection, end - 2 - digits) - '0';
		if (digit > 9)
			break;
		rows += digit * scale;
		scale *= 10;
	}
	if (!digits || digits + 3 > end || end_byte(connection, end - 2 - digits) != ' ')
		return NOT_KNOWN;
	shortest = shortest_tag(end_byte(connection, end - 3 - digits));
	for (__u32 more = 0; shortest && more < 3; more++) {
		tag = shortest + more + 1 + digits;
		if (TAGGED + tag + 1 > end)
			return NOT_KNOWN;
		if (begins_message(connection, end - 1 - tag - TAGGED, PG_COMPLETE, 4 + tag + 1))
			return rows;
	}
	return NOT_KNOWN;
}

/* The same of a message of which all is there. */
static __always_inline __u64 rows_in_message(struct connection *connection, __u64 at, __u32 whole)
{
	read_piece_end(connection, (const char *)at, whole);
	return rows_in_tag(connection, connection->piece_end_length);
}

struct completion_walk {
	struct connection *connection;
};

static long next_message(__u64 i, struct completion_walk *walk)
{
	struct connection *connection = walk->connection;
	struct answer *answer = &connection->answer;
	struct unread *rest = &connection->unread;
	__u32 whole, length = rest->length;
	__u8 head[8], reply;

	if (length < TAGGED || answer->stage == STAGE_OVER)
		return 1;
	if (bpf_probe_read_user(head, TAGGED, (const void *)rest->at))
		return 1;
	whole = big_endian(head + 1) + 1;
	if (head[0] == PG_FAILED || whole < TAGGED) {
		/* What the answer begins with says whether the statement was prepared. */
		reply = connection->request.reply;
		read_tagged_answer_head(connection, rest->at, length);
		connection->request.reply = reply;
		answer->stage = STAGE_OVER;
		return 1;
	}
	/* The rest of a short one comes with the next piece. */
	if (whole > length && whole < CUT_ROOM)
		return 1;
	if (head[0] == PG_COMPLETE)
		complete_execution(connection,
				   whole <= length ? rows_in_message(connection, rest->at, whole)
						   : NOT_KNOWN);
	else if (head[0] == PG_EMPTY || head[0] == PG_SUSPENDED)
		complete_execution(connection, NOT_KNOWN);
	answer->packets++;
	if (whole > length) {
		answer->rest = whole - length;
		whole = length;
	}
	rest->at += whole;
	rest->length = length - whole;
	return 0;
}

/* The number that a tag ends with, sign by sign. */
struct tag_reading {
	struct connection *connection;
	__u64 rows;
	__u32 end;
	__u32 digits;
	__u32 is_number;	/* the word at hand has nothing but digits */
};

static long next_tag_sign(__u64 i, struct tag_reading *tag)
{
	__u32 at = TAGGED + i, digit;

	if (at >= tag->end)
		return 1;
	digit = (__u32)tag->connection->cut_message[at & (2 * CUT_ROOM - 1)] - '0';
	if (digit < 10) {
		tag->rows = tag->rows * 10 + digit;
		tag->digits++;
	} else {
		/* A number is a word behind a space. */
		tag->is_number = digit == (__u32)(' ' - '0');
		tag->rows = 0;
		tag->digits = 0;
	}
	return 0;
}

/* A message that was cut in two is whole. Global: see `consume`. */
__noinline int read_cut_message(struct connection *connection, __u32 whole)
{
	struct tag_reading tag = { .connection = connection, .end = whole - 1 };

	if (!connection)
		return 0;
	switch (connection->cut_message[0]) {
	case PG_COMPLETE:
		bpf_loop(CUT_ROOM, next_tag_sign, &tag, 0);
		complete_execution(connection, tag.is_number && tag.digits ? tag.rows : NOT_KNOWN);
		break;
	case PG_EMPTY:
	case PG_SUSPENDED:
		complete_execution(connection, NOT_KNOWN);
		break;
	case PG_FAILED:
		connection->answer.stage = STAGE_OVER;
		break;
	}
	return 0;
}

/* Servers send when their buffer is full, wherever that cuts a message: the piece at hand begins with the
 * rest of one whose beginning was kept. Global: see `consume`. */
__noinline int join_cut_message(struct connection *connection)
{
	__u32 have, more, whole, taken;
	struct answer *answer;
	struct unread *rest;
	__u8 *message;

	if (!connection)
		return 0;
	answer = &connection->answer;
	rest = &connection->unread;
	message = connection->cut_message;
	have = answer->have & (CUT_ROOM - 1);
	more = rest->length < CUT_ROOM ? rest->length : CUT_ROOM - 1;
	more = masked(more, CUT_ROOM);
	if (bpf_probe_read_user(message + have, more, (const void *)rest->at)) {
		answer->stage = STAGE_OVER;
		return 0;
	}
	whole = big_endian(message + 1) + 1;
	if (have + more < TAGGED || (whole > have + more && whole < CUT_ROOM)) {
		answer->have = have + more;
		rest->length = 0;
		return 0;
	}
	answer->have = 0;
	if (whole < TAGGED || whole <= have) {
		answer->stage = STAGE_OVER;
		return 0;
	}
	if (whole < CUT_ROOM)
		read_cut_message(connection, whole);
	else if (message[0] == PG_FAILED)
		answer->stage = STAGE_OVER;
	answer->packets++;
	taken = whole - have < rest->length ? whole - have : rest->length;
	rest->at += taken;
	rest->length -= taken;
	answer->rest = whole - have - taken;
	return 0;
}

/* Keeps what is left of a piece, the beginning of a message that is cut in two. More is left where going
 * on would cost too much. */
static __always_inline void keep_cut_message(struct connection *connection)
{
	struct answer *answer = &connection->answer;
	__u32 length = connection->unread.length;

	if (!length)
		return;
	if (length >= CUT_ROOM ||
	    bpf_probe_read_user(connection->cut_message, masked(length, CUT_ROOM),
				(const void *)connection->unread.at))
		answer->stage = STAGE_OVER;
	else
		answer->have = length;
}

/* Goes through a piece of an answer to several executions. Global: see `consume`. */
__noinline int count_completions(struct connection *connection, __u64 at, __u32 length)
{
	struct completion_walk walk = { connection };
	struct answer *answer;
	__u32 skipped;
	__u64 worth;

	if (!connection)
		return 0;
	answer = &connection->answer;
	worth = (bpf_ktime_get_ns() - connection->start) / NS_PER_PACKET + MIN_PACKETS;
	worth = worth > answer->packets ? worth - answer->packets : 0;
	skipped = answer->rest < length ? answer->rest : length;
	answer->rest -= skipped;
	connection->unread.at = at + skipped;
	connection->unread.length = length - skipped;
	if (answer->have && connection->unread.length)
		join_cut_message(connection);
	bpf_loop(worth < MAX_PACKETS ? worth : MAX_PACKETS, next_message, &walk, 0);
	if (answer->stage != STAGE_OVER)
		keep_cut_message(connection);
	return 0;
}

/* Whether a request executes one thing, of which rows are kept until it is answered to its end. */
static __always_inline int is_single(struct connection *connection)
{
	return connection->request.executes == 1 && !connection->request.statements;
}

/* Whether a message without a body ends behind so many bytes of `piece_end`. */
static __always_inline int ends_empty_message(struct connection *connection, __u32 end, __u8 tag)
{
	return end >= TAGGED && begins_message(connection, end - TAGGED, tag, 4);
}

/*
 * How many rows were told of by the first so many bytes of `piece_end`: of several statements those
 * of the last. Where a Flush came before the Sync, nothing else may be there, or what closes the
 * statement and its portal. Global: see `consume`.
 */
__noinline __u64 rows_before(struct connection *connection, __u32 end)
{
	__u64 rows;

	if (!connection)
		return NOT_KNOWN;
	for (int i = 0; i < MAX_CLOSED && ends_empty_message(connection, end, PG_CLOSED); i++)
		end -= TAGGED;
	if (!end)
		return is_single(connection) ? connection->answer.rows : NOT_KNOWN;
	rows = rows_in_tag(connection, end);
	if (rows != NOT_KNOWN || connection->request.executes != 1 ||
	    !ends_empty_message(connection, end, PG_SUSPENDED))
		return rows;
	rows = big_endian(connection->most_rows);
	return rows ? rows : NOT_KNOWN;
}

/* What the end of a piece of an answer tells of the rows of the request, or may tell, where that
 * is not over yet. Global: see `consume`. */
__noinline int note_tagged_rows(struct connection *connection)
{
	struct request *request;
	struct answer *answer;
	__u32 end;

	if (!connection)
		return 0;
	request = &connection->request;
	answer = &connection->answer;
	end = connection->piece_end_length;
	if (!connection->is_ready) {
		if (is_single(connection))
			answer->rows = end ? rows_before(connection, end) : NOT_KNOWN;
	} else if (request->executes > 1 && !request->statements) {
		request->rows = NOT_KNOWN;
		if (answer->stage != STAGE_OVER && connection->answers_done == request->executes)
			request->rows = answer->rows;
	} else if (end >= READY_LENGTH) {
		request->rows = rows_before(connection, end - READY_LENGTH);
	} else {
		request->rows = NOT_KNOWN;
	}
	return 0;
}

#endif
