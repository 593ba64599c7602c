/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * How many rows statements of PostgreSQL have sent or changed, by the tags in their answers.
 *
 *   …, CommandComplete "UPDATE 3", ReadyForQuery:   the last bytes tell
 *   …, CommandComplete, …, CommandComplete, …:      of several statements each answer is looked at
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

/* One of several statements was executed, and has had so many rows. */
static __always_inline void complete_statement(struct connection *connection, __u64 rows)
{
	struct executed *executed;

	/* What was only prepared has no answer of this kind. */
	for (int i = 0; i < MAX_EXECUTED; i++) {
		executed = &connection->executed[connection->next_answer & (MAX_EXECUTED - 1)];
		if (connection->next_answer >= connection->request.statements)
			return;
		if (executed->executes)
			break;
		connection->next_answer++;
	}
	executed = &connection->executed[connection->next_answer & (MAX_EXECUTED - 1)];
	if (!connection->answers_done++)
		executed->rows = rows;
	else if (executed->rows != NOT_KNOWN && rows != NOT_KNOWN)
		executed->rows += rows;
	if (connection->answers_done < executed->executes)
		return;
	connection->answers_done = 0;
	connection->next_answer++;
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
		complete_statement(connection,
			  whole <= length ? rows_in_tag(rest->at + whole, whole) : NOT_KNOWN);
	else if (head[0] == PG_EMPTY || head[0] == PG_SUSPENDED)
		complete_statement(connection, NOT_KNOWN);
	answer->packets++;
	if (whole > length) {
		answer->rest = whole - length;
		whole = length;
	}
	rest->at += whole;
	rest->length = length - whole;
	return 0;
}

/* Goes through a piece of an answer to several statements. Global: see `consume`. */
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

#endif
