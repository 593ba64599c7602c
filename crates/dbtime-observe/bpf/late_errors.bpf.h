/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Errors that do not begin an answer. A server sends an error at once, so that it is the last message of
 * what it sends then, behind columns, rows and whatever else there is:
 *
 *   PostgreSQL:  RowDescription, DataRow …, ErrorResponse    apart: ReadyForQuery
 *   MySQL:       columns, definitions, EOF, rows …, ERR
 *
 * One that is cut in two, for the server's buffer was full, begins in what is still there of the piece
 * before. Of one that takes three pieces nothing is found.
 *
 *   rest of the error │ … what was sent before … │ ErrorResponse, and its first fields
 *   └─ this piece ────┘                            the piece before ends here ────────┘
 *
 * Where the socket had no room for a piece, the next lies behind what was sent of it.
 */
#ifndef DBTIME_LATE_ERRORS_H
#define DBTIME_LATE_ERRORS_H

#include "failures.bpf.h"
#include "rows.bpf.h"

#define ERROR_TAIL 64			/* bytes at the end of an error, its last field among them */
#define LONGEST_ERROR 8192		/* bytes in which the beginning of an error of PostgreSQL is looked for */
#define LONGEST_MYSQL_ERROR 640		/* bytes of a packet of one: its text has up to 511 */
#define MYSQL_ERROR_HEAD 13		/* its header, mark, number, '#' and SQLSTATE */

static __always_inline int is_of_function_name(__u8 c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Where the name begins that the last bytes of an error end with. */
struct name_search {
	const __u8 *tail;
	__u32 at;		/* the byte that is looked at */
};

static long name_begins_behind(__u64 i, struct name_search *search)
{
	__u32 at = ERROR_TAIL - 3 - i;

	search->at = at;
	return at <= 1 || !is_of_function_name(search->tail[at & (ERROR_TAIL - 1)]);
}

/* The last field of an error of PostgreSQL names the function that reports it: R, a name, two zeros. */
static __always_inline int ends_with_function_name(const __u8 *tail)
{
	struct name_search search = { .tail = tail };
	__u32 at;

	bpf_loop(ERROR_TAIL - 3, name_begins_behind, &search, 0);
	at = search.at;
	if (at <= 1 || at >= ERROR_TAIL - 4)
		return 0;
	/* The compiler knows more of this than older verifiers: the masks are to stay. */
	barrier_var(at);
	return !tail[at & (ERROR_TAIL - 1)] && tail[(at + 1) & (ERROR_TAIL - 1)] == 'R';
}

/* Whether that is the one by which a process tells that the server ends at once, for another has
 * crashed, or as it was told: a warning, behind which nothing comes. What SQL raises has another. */
static __always_inline int is_farewell(const __u8 *tail)
{
	const __u8 *name = tail + ERROR_TAIL - 10;

	return name[-1] == 'R' && name[0] == 'q' && name[1] == 'u' && name[2] == 'i' &&
	       name[3] == 'c' && name[4] == 'k' && name[5] == 'd' && name[6] == 'i' &&
	       name[7] == 'e';
}

/* Where the last message of a piece begins. */
struct error_search {
	struct connection *connection;
	__u64 from;		/* what is looked through */
	__u64 last;		/* where it may begin at the latest */
	__u64 end;		/* where it ends, if it were in one piece */
	__u64 found;		/* 0: it is no error, or does not begin here */
	__u64 block_at;		/* where the bytes begin that are read; 0: none are */
	__u32 is_there;
	__u32 is_farewell;
};

/* Reads what stands before a place, as much as is looked through at once. */
static __always_inline int read_error_block(struct error_search *search, __u64 end)
{
	__u64 length = end - search->from;

	if (length >= ANSWER_BLOCK)
		length = ANSWER_BLOCK - 1;
	search->block_at = end - length;
	return !bpf_probe_read_user(search->connection->answer_block, masked(length, ANSWER_BLOCK),
				    (const char *)search->block_at);
}

static long error_begins_at(__u64 i, struct error_search *search)
{
	__u64 at = search->last - i;
	const __u8 *head;

	if (at < search->from)
		return 1;
	if ((!search->block_at || at < search->block_at) && !read_error_block(search, at + TAGGED))
		return 1;
	head = search->connection->answer_block + masked(at - search->block_at, ANSWER_BLOCK);
	if (head[0] != PG_FAILED && head[0] != PG_NOTICE)
		return 0;
	if (at + 1 + big_endian(head + 1) != search->end)
		return 0;
	search->is_there = 1;
	search->found = head[0] == PG_FAILED || search->is_farewell ? at : 0;
	return 1;
}

/* Reads the end of what is sent, that of a short piece behind that of the one before. Returns whether
 * it may be the end of an error. */
static __always_inline int read_error_tail(struct connection *connection, __u64 address,
					   __u32 length)
{
	__u64 until = connection->sent_until, end = address + length;
	__u8 *tail = connection->error;
	__u32 have, before;

	if (length >= ERROR_TAIL || until == address) {
		if (bpf_probe_read_user(tail, ERROR_TAIL, (const char *)(end - ERROR_TAIL)))
			return 0;
	} else {
		have = masked(length, ERROR_TAIL);
		before = masked(ERROR_TAIL - have, 2 * ERROR_TAIL);
		if (end + before > until ||
		    bpf_probe_read_user(tail, before, (const char *)(until - before)) ||
		    bpf_probe_read_user(tail + before, have, (const char *)address))
			return 0;
	}
	return !tail[ERROR_TAIL - 1] && !tail[ERROR_TAIL - 2] && ends_with_function_name(tail);
}

/* Where an error begins of whose first five bytes only some are in the piece before; 0: none does. */
static __always_inline __u64 begins_on_seam(struct connection *connection, __u64 address,
					    __u32 length, int is_farewell)
{
	__u64 until = connection->sent_until;
	__u8 head[8] = {};

	if (until < address + length + TAGGED - 1 ||
	    bpf_probe_read_user(head, TAGGED - 1, (const char *)(until - (TAGGED - 1))) ||
	    bpf_probe_read_user(head + TAGGED - 1, TAGGED - 1, (const char *)address))
		return 0;
	for (__u32 i = 0; i < TAGGED - 1; i++) {
		if (head[i] != PG_FAILED && !(head[i] == PG_NOTICE && is_farewell))
			continue;
		if (big_endian(head + i + 1) + 1 == TAGGED - 1 - i + length)
			return until - (TAGGED - 1) + i;
	}
	return 0;
}

/* The error that a piece of what PostgreSQL sends ends with, as `read_error` has it, and CUT_IN_TWO
 * where it does not begin in it; 0: it ends with none. Global: see `consume`. */
__noinline __u64 find_late_error(struct connection *connection, __u64 address, __u32 length)
{
	struct error_search search = { .connection = connection };
	__u64 until, flags, before;

	if (!connection || !read_error_tail(connection, address, length))
		return 0;
	search.is_farewell = is_farewell(connection->error);
	before = connection->sent_until == address ? bytes_before(connection, address, length) : 0;
	search.from = address - (before < LONGEST_ERROR ? before : LONGEST_ERROR);
	search.last = address + length - ERROR_HEAD;
	search.end = address + length;
	bpf_loop(LONGEST_ERROR, error_begins_at, &search, 0);
	flags = search.is_farewell ? LAST_WORD : 0;
	if (search.found && search.found < address)
		flags |= CUT_IN_TWO;
	if (search.found)
		return read_error(connection, search.found, ERROR_HEAD, 0) | flags;
	if (search.is_there)
		return 0;
	until = connection->sent_until;
	search.from = address + length;
	search.last = until - TAGGED;
	search.end = until + length;
	search.block_at = 0;
	search.found = begins_on_seam(connection, address, length, search.is_farewell);
	if (!search.found)
		bpf_loop(LONGEST_ERROR, error_begins_at, &search, 0);
	if (!search.found)
		return 0;
	flags |= CUT_IN_TWO;
	return read_error(connection, search.found, until - search.found, address) | flags;
}

/* A piece of an answer ends with an error. Where the request has one already it is not the request's:
 * the connection ends with it, while the client is yet to say that the request is whole. */
static __always_inline void note_late_error(struct connection *connection, __u64 error)
{
	if (!error)
		return;
	if (!connection->request.error) {
		note_error(connection, error);
		connection->has_late_error = 1;
	} else if (error & LAST_WORD) {
		/* One that began in the piece before is that which is known. */
		if (!(error & CUT_IN_TWO))
			count(COUNT_CONNECTION_ERRORS);
		connection->has_last_word = 1;
	}
}

struct mysql_error_search {
	struct connection *connection;
};

static long mysql_error_begins_at(__u64 i, struct mysql_error_search *search)
{
	struct connection *connection = search->connection;
	const __u8 *bytes = connection->answer_end;
	__u32 at = i, length;

	if (at + MYSQL_ERROR_HEAD > connection->answer_end_length)
		return 1;
	/* So far below the end of the array that all of a head is in it. The check is to stay. */
	barrier_var(at);
	if (at > LONGEST_MYSQL_ERROR)
		return 1;
	if (bytes[at + HEADER] != REPLY_ERROR || bytes[at + HEADER + 3] != '#')
		return 0;
	length = bytes[at] | (__u32)bytes[at + 1] << 8 | (__u32)bytes[at + 2] << 16;
	if (at + HEADER + length != connection->answer_end_length)
		return 0;
	note_mysql_error(connection,
			 bytes[at + HEADER + 1] | (__u32)bytes[at + HEADER + 2] << 8, 1);
	return 1;
}

#define MARK_WORDS 8	/* looked at together: what follows would be verified once for the branch of each */

_Static_assert(LONGEST_MYSQL_ERROR / 8 % MARK_WORDS == 0, "words behind those of an error are looked at");

/* Whether these bytes, or up to 63 old ones behind them, have an error's mark, which no text in UTF-8 has. */
static __always_inline int has_error_mark(const __u8 *bytes, __u32 length)
{
	const __u64 ones = ~0ull / 255, *at = (const __u64 *)bytes;

	for (__u32 i = 0; i < LONGEST_MYSQL_ERROR / 8 && 8 * i < length; i += MARK_WORDS) {
		__u64 marks = 0;

		for (int j = 0; j < MARK_WORDS; j++)
			marks |= (~at[i + j] - ones) & at[i + j];
		if (marks & ones << 7)
			return 1;
	}
	return 0;
}

/* Whether rows that are sent end with what ends rows, as nearly all do: EOF, or the OK that replaces it. */
static __always_inline int ends_with_rows_end(const char *end)
{
	__u8 tail[HEADER + END_LENGTH] = {};

	if (bpf_probe_read_user(tail, sizeof(tail), end - sizeof(tail)))
		return 0;
	return is_old_end(tail) || is_new_end(tail);
}

/* Reads the end of the piece before, which is still there behind this one, as much as an error may have
 * in it. Returns how many bytes that are. */
static __always_inline __u32 read_piece_before(struct connection *connection, __u64 end,
					       __u32 length)
{
	__u64 until = connection->sent_until, there = until - end;
	__u32 before = LONGEST_MYSQL_ERROR - length;

	if (until <= end)
		return 0;
	if (before > there)
		before = there;
	if (before >= ANSWER_END / 2)
		before = ANSWER_END / 2 - 1;
	before = masked(before, ANSWER_END / 2);
	if (bpf_probe_read_user(connection->answer_end, before, (const char *)(until - before)))
		return 0;
	return before;
}

/* Whether a piece of an answer of MySQL's ends with an error, and with which. Global: see `consume`. */
__noinline int find_late_mysql_error(struct connection *connection, __u64 address, __u32 length)
{
	struct mysql_error_search search = { connection };
	__u32 looked = length, before = 0;
	__u64 end = address + length;

	/* An OK is shorter than any error, and there is nothing before it. */
	if (!connection || (length < MYSQL_ERROR_HEAD && !connection->sent_until))
		return 0;
	if (length >= HEADER + END_LENGTH && ends_with_rows_end((const char *)end))
		return 0;
	if (length < ANSWER_END / 2 && connection->sent_until != address) {
		before = masked(read_piece_before(connection, end, length), ANSWER_END / 2);
		looked = masked(looked, ANSWER_END / 2);
	} else {
		if (looked > LONGEST_MYSQL_ERROR || connection->sent_until == address)
			looked = LONGEST_MYSQL_ERROR;
		looked = masked(looked, ANSWER_END);
	}
	if (bpf_probe_read_user(connection->answer_end + before, looked, (const char *)(end - looked)))
		return 0;
	looked += before;
	connection->answer_end_length = looked;
	if (has_error_mark(connection->answer_end, looked))
		bpf_loop(LONGEST_MYSQL_ERROR, mysql_error_begins_at, &search, 0);
	connection->has_late_error = connection->request.error != 0;
	return 0;
}

/* More is sent behind what looked like an error. Of PostgreSQL that is its settings, what the client
 * listens for, that it is ready, and an error that ends the connection; anything else says that it
 * was none. Global: see `consume`. */
__noinline int doubt_late_error(struct connection *connection, __u64 address)
{
	__u8 tag = 0;

	if (!connection)
		return 0;
	connection->has_late_error = 0;
	if (connection->request.protocol == PROTOCOL_POSTGRES &&
	    !bpf_probe_read_user(&tag, 1, (const char *)address) &&
	    (tag == PG_READY || tag == PG_SETTING || tag == PG_NOTICE || tag == PG_NOTIFICATION ||
	     tag == PG_FAILED))
		return 0;
	connection->request.error = 0;
	connection->has_last_word = 0;
	return 0;
}

#endif
