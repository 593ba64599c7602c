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
 * often as it was executed.
 */
static __always_inline void complete_execution(struct connection *connection, __u64 rows)
{
	__u32 statements = connection->request.statements;
	struct answer *answer = &connection->answer;
	struct executed *executed;

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
		return;
	executed = &connection->executed[connection->next_answer & (MAX_EXECUTED - 1)];
	executed->rows = connection->answers_done == executed->executes ? answer->rows : NOT_KNOWN;
}

/*
 * The number at the end of a CommandComplete that ends there; NOT_KNOWN: there is none, or something
 * else. It is read from its end on, and never beyond its beginning. Global: see `consume`.
 */
__noinline __u64 rows_in_tag(__u64 end, __u32 length)
{
	__u8 tail[16] = {}, head[TAGGED] = {};
	__u64 rows = 0, scale = 1;
	__u32 from, at, digits, shortest;

	if (length < 12 || bpf_probe_read_user(tail + 8, 8, (const char *)end - 8) || tail[15])
		return NOT_KNOWN;
	/* The shortest tag with six digits has as many bytes. */
	for (from = 14; from > 8 && tail[from & 15] >= '0' && tail[from & 15] <= '9';)
		from--;
	if (from == 8 && (length < 16 || bpf_probe_read_user(tail, 8, (const char *)end - 16)))
		return NOT_KNOWN;
	for (at = 14; at > 0 && tail[at & 15] >= '0' && tail[at & 15] <= '9'; at--) {
		rows += (tail[at & 15] - '0') * scale;
		scale *= 10;
	}
	digits = 14 - at;
	if (!digits || !at || tail[at & 15] != ' ')
		return NOT_KNOWN;
	shortest = shortest_tag(tail[(at - 1) & 15]);
	for (__u32 more = 0; shortest && more < 3; more++) {
		__u32 tag = shortest + more + 1 + digits, whole = TAGGED + tag + 1;

		if (whole > length ||
		    bpf_probe_read_user(head, TAGGED, (const char *)end - whole))
			return NOT_KNOWN;
		if (head[0] == PG_COMPLETE && big_endian(head + 1) == 4 + tag + 1)
			return rows;
	}
	return NOT_KNOWN;
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
	__u8 head[8];

	if (length < TAGGED || answer->stage == STAGE_OVER)
		return 1;
	if (bpf_probe_read_user(head, TAGGED, (const void *)rest->at))
		return 1;
	whole = big_endian(head + 1) + 1;
	if (head[0] == PG_FAILED || whole < TAGGED) {
		read_tagged_answer_head(connection, rest->at, length);
		answer->stage = STAGE_OVER;
		return 1;
	}
	if (head[0] == PG_COMPLETE)
		complete_execution(connection,
			  whole <= length ? rows_in_tag(rest->at + whole, whole) : NOT_KNOWN);
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
	bpf_loop(worth < MAX_PACKETS ? worth : MAX_PACKETS, next_message, &walk, 0);
	if (connection->unread.length)
		answer->stage = STAGE_OVER;
	return 0;
}

/* How many rows a request has had whose answer ends there, but for ReadyForQuery: of several statements
 * those of the last. Global: see `consume`. */
__noinline __u64 rows_of_request(struct connection *connection, __u64 end, __u32 length)
{
	__u8 head[8] = {};
	__u64 rows;

	if (!connection)
		return NOT_KNOWN;
	if (connection->request.executes > 1 && !connection->request.statements)
		return connection->answer.stage != STAGE_OVER &&
			       connection->answers_done == connection->request.executes ?
			       connection->answer.rows : NOT_KNOWN;
	rows = rows_in_tag(end, length);
	if (rows != NOT_KNOWN || connection->request.executes != 1 || length < TAGGED ||
	    bpf_probe_read_user(head, TAGGED, (const char *)end - TAGGED))
		return rows;
	rows = big_endian(connection->most_rows);
	return head[0] == PG_SUSPENDED && big_endian(head + 1) == 4 && rows ? rows : NOT_KNOWN;
}

#endif
