/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Errors that a request is answered with. In answers of PostgreSQL other messages may stand before
 * one. Each is a tag, a length and a body.
 *
 *   ParseComplete, BindComplete, RowDescription, ErrorResponse …        of the extended protocol
 *   NoticeResponse   ErrorResponse …                                   each sent by itself
 *   CommandComplete, ErrorResponse …                                   of several statements
 */
#ifndef DBTIME_FAILURES_H
#define DBTIME_FAILURES_H

#include "connections.bpf.h"
#include "postgres_messages.h"

#define ANSWER_HEAD 64		/* bytes of an answer, of which an error has more */
#define ERROR_HEAD 48		/* of these, from the error's first on */
#define MAX_SKIPPED 4		/* longer messages before an error */
#define LAST_WORD (1ull << 32)	/* beside an error's number: the connection ends with it */
#define CUT_IN_TWO (1ull << 33)	/* it begins in the piece before */

/* A request is answered with an error. Behind the last word of a connection nothing is read. */
static __always_inline void note_error(struct connection *connection, __u64 error)
{
	connection->request.error = error;
	connection->has_last_word = (error & LAST_WORD) != 0;
}

/* The same of MySQL's, whose packet was sent to its end, or in part. */
static __always_inline void note_mysql_error(struct connection *connection, __u32 number,
					     int is_whole)
{
	int is_last = is_whole && ends_mysql_connection(connection->request.command, number);

	note_error(connection, is_last ? number | LAST_WORD : number);
}

/* ParseComplete, BindComplete, CloseComplete and NoData have five bytes: how many of an answer's first
 * these are. */
static __always_inline __u32 behind_short_messages(const __u8 *head)
{
	__u32 from = 0;

	for (int i = 0; i < 4; i++) {
		__u8 tag;

		/* Or the compiler makes an index of what is no number. */
		barrier_var(from);
		tag = head[from & (ANSWER_HEAD - 1)];
		if (tag != PG_PARSED && tag != PG_BOUND && tag != PG_CLOSED && tag != PG_NO_COLUMNS)
			break;
		from += TAGGED;
	}
	/* It is at most four times five; the verifier is to see that it stays within. */
	from &= ANSWER_HEAD / 2 - 1;
	barrier_var(from);
	return from & (ANSWER_HEAD / 2 - 1);
}

/* What stands before an error of the same answer: the columns or parameters of the statement, notices,
 * settings, and the end of the statement before it. */
static __always_inline int may_precede_error(__u8 tag)
{
	return tag == PG_COLUMNS || tag == PG_PARAMETERS || tag == PG_NOTICE || tag == PG_SETTING ||
	       tag == PG_COMPLETE;
}

/*
 * The number of an error, whose message begins there, and after so many bytes goes on elsewhere: the
 * five signs of its SQLSTATE, and LAST_WORD where it is FATAL or a PANIC; 0: it has none. Fields end
 * with zeros: the severity in the session's language (in German an ERROR is a FEHLER), since
 * PostgreSQL 9.6 in English too, the code. Global: see `consume`.
 */
__noinline __u64 read_error(struct connection *connection, __u64 address, __u64 left, __u64 rest)
{
	__u32 first = left < ERROR_HEAD ? left : ERROR_HEAD;
	__u64 number = 0;
	__u8 *error, severity, second;

	if (!connection)
		return 0;
	error = connection->error;
	first = masked(first, ANSWER_HEAD);
	if (bpf_probe_read_user(error, first, (const char *)address))
		return 0;
	if (first < ERROR_HEAD &&
	    bpf_probe_read_user(error + masked(first, ANSWER_HEAD), ERROR_HEAD, (const char *)rest))
		return 0;
	severity = error[TAGGED + 1];
	second = error[TAGGED + 2];
	for (int i = TAGGED; i < ERROR_HEAD - 6; i++) {
		if (error[i] != 0)
			continue;
		if (error[i + 1] == 'V') {
			severity = error[i + 2];
			second = error[i + 3];
		}
		if (error[i + 1] != 'C')
			continue;
		for (int sign = 2; sign < 7; sign++)
			number = number << 6 | ((error[(i + sign) & 63] - '0') & 63);
		if ((severity == 'F' || severity == 'P') && second == 'A')
			number |= LAST_WORD;
		return number;
	}
	return 0;
}

/* Reads where a message begins. Behind the end of what is sent there are zeros. */
static __always_inline long read_head(__u8 *head, const char *at, __u32 left)
{
	if (left >= ANSWER_HEAD)
		return bpf_probe_read_user(head, ANSWER_HEAD, at);
	__builtin_memset(head, 0, ANSWER_HEAD);
	return bpf_probe_read_user(head, masked(left, ANSWER_HEAD), at);
}

/* Whether an answer begins with an error, and with which. Returns whether that is not known yet: notices
 * are sent by themselves. Global: see `consume`. */
__noinline int read_tagged_answer_head(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	__u8 h[ANSWER_HEAD] = {};
	__u32 from = 0;
	__u64 skipped = 0, end, error;

	if (!connection || read_head(h, at, length))
		return 0;
	connection->request.reply = h[0];
	for (int i = 0; i < MAX_SKIPPED; i++) {
		from = behind_short_messages(h);
		if (!may_precede_error(h[from]))
			break;
		skipped += from + 1 + big_endian(h + from + 1);
		from = 0;
		if (skipped >= length)
			return skipped == length;
		if (read_head(h, at + skipped, length - skipped))
			return 0;
	}
	/* What was prepared is executed next: no more than that was sent yet. */
	if (skipped + from == length)
		return 1;
	if (h[from] != PG_FAILED || skipped + from + ERROR_HEAD > length)
		return 0;
	end = skipped + from + 1 + big_endian(h + from + 1);
	error = read_error(connection, address + skipped + from, ERROR_HEAD, 0);
	note_error(connection, end == length ? error : (__u32)error);
	return 0;
}

#endif
