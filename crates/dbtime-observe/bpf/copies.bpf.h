/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * COPY FROM STDIN of PostgreSQL's. While a server takes its data it passes over Sync and Flush:
 *
 *   Parse, Bind, Execute, Sync ──► … CopyInResponse      the Sync is passed over
 *   CopyData …, CopyDone, Sync ──► … ReadyForQuery       the only one
 *
 * That it takes data it says itself, as the last thing that it sends before it turns to them. Where
 * all was sent ahead, what was read until then is understood anew.
 */
#ifndef DBTIME_COPIES_H
#define DBTIME_COPIES_H

#include "connections.bpf.h"
#include "ledger.bpf.h"
#include "postgres_messages.h"

#define COPY_HEAD 8		/* bytes of CopyInResponse before the formats of columns, of two bytes each */
#define MOST_COLUMNS 1600	/* that a table has */

struct copy_search {
	struct connection *connection;
	__u64 at;		/* what is looked through, */
	__u64 end;
	__u64 until;		/* where the piece before it ended, */
	__u64 earlier;		/* and how many bytes before that are still there */
	__u32 behind;		/* bytes behind those that are read, */
	__u32 filled;		/* and how many these are */
	__u32 format;		/* of the last column */
	__u32 is_found;
};

/* Reads what stands before so many last bytes. Where the server's buffer was full, or the socket
 * had no room for all of it, it may begin in the piece before, as far as this one has left that.
 * Returns whether a CopyInResponse may begin there. */
static __always_inline int read_copy_block(struct copy_search *search, __u32 behind)
{
	__u8 *block = search->connection->answer_block;
	__u64 length = search->end - search->at, skipped = 0, here = 0, before = 0;

	if (behind < length)
		here = length - behind;
	else
		skipped = behind - length;
	if (here >= ANSWER_BLOCK)
		here = ANSWER_BLOCK - 1;
	/* What is not needed may have gone from there. */
	if (here < COPY_HEAD && search->earlier > skipped)
		before = search->earlier - skipped;
	if (before >= ANSWER_BLOCK - here)
		before = ANSWER_BLOCK - 1 - here;
	search->behind = behind;
	search->filled = here + before;
	if (search->filled < COPY_HEAD)
		return 0;
	here = masked(here, ANSWER_BLOCK);
	before = masked(before, ANSWER_BLOCK);
	skipped += before;
	behind += here;
	if (before && bpf_probe_read_user(block, before, (const char *)(search->until - skipped)))
		return 0;
	return !here ||
	       !bpf_probe_read_user(block + before, here, (const char *)(search->end - behind));
}

/* The number of columns stands before their formats, which are all the same. */
static long copy_begins_before(__u64 i, struct copy_search *search)
{
	__u32 behind = 2 * i, number, at;
	const __u8 *head;

	if (behind + COPY_HEAD > search->behind + search->filled &&
	    !read_copy_block(search, behind))
		return 1;
	at = search->behind + search->filled - behind - COPY_HEAD;
	head = search->connection->answer_block + masked(at, ANSWER_BLOCK);
	number = (__u32)head[6] << 8 | head[7];
	search->is_found = number == i && head[0] == PG_COPY_IN && head[5] < 2 &&
			   big_endian(head + 1) == COPY_HEAD - 1 + 2 * number;
	if (!i)
		search->format = number;
	return search->is_found || number != search->format;
}

/* Whether a piece of an answer ends with CopyInResponse. It is read in blocks: with a few columns,
 * and where the answer ends otherwise, that is one. Global: see `consume`. */
__noinline int ends_with_copy(struct connection *connection, __u64 address, __u32 length)
{
	struct copy_search search = {
		.connection = connection, .at = address, .end = address + length,
	};

	if (!connection)
		return 0;
	search.until = connection->sent_until;
	search.earlier = bytes_before(connection, address, length);
	bpf_loop(MOST_COLUMNS + 1, copy_begins_before, &search, 0);
	return search.is_found;
}

/* The data of a COPY have been read, or an error has ended it: the request is whole with them,
 * or with the Sync behind. */
static __always_inline void end_copy(struct connection *connection)
{
	connection->copy.is_under_way = 0;
	connection->copy.has_data = 0;
	connection->is_whole = connection->request.command == PG_QUERY;
}

/* CopyDone or CopyFail was read; of data that the server was not seen to ask for yet, it may be. */
static __always_inline void note_copy_end(struct connection *connection)
{
	if (connection->copy.is_under_way)
		end_copy(connection);
	else if (connection->is_whole)
		connection->copy.later_ends++;
	else
		connection->copy.ends++;
}

/* A Sync was read amid the data. Where these fail the server has perhaps not come to it by then,
 * and answers it. */
static __always_inline void pass_over_sync(struct connection *connection)
{
	connection->copy.is_in_doubt |= connection->copy.has_data;
	connection->copy.may_be_ready = 1;
}

/* The server takes data from here on. */
static __always_inline void begin_copy(struct connection *connection)
{
	struct copy *copy = &connection->copy;

	/* All were read before the Sync, which is answered. */
	if (copy->ends) {
		copy->ends--;
		return;
	}
	if (connection->is_whole && connection->request.command != PG_QUERY)
		copy->is_in_doubt |= copy->has_data;
	copy->may_be_ready = connection->is_whole;
	copy->has_begun = 1;
	copy->is_under_way = 1;
	connection->is_whole = 0;
	if (!copy->later_ends)
		return;
	copy->later_ends--;
	end_copy(connection);
}

/* The server is ready for the next request. Where a Sync is in doubt, it may be so once more. */
static __always_inline void end_copies(struct connection *connection)
{
	if (connection->copy.is_in_doubt && connection->request.error)
		count(COUNT_RESYNC);
	connection->is_whole = 1;
	__builtin_memset(&connection->copy, 0, sizeof(connection->copy));
}

/* Whether what was read ahead belongs to a COPY, as it has turned out. */
static __always_inline int is_ahead_of_copy(struct connection *connection)
{
	__u8 tag = 0;

	if (!connection->copy.has_begun)
		return 0;
	connection->copy.has_begun = 0;
	if (!connection->copy.is_under_way)
		return 1;
	/* Anything else the server refuses. */
	bpf_probe_read_user(&tag, 1, (const char *)connection->ahead);
	return tag == PG_SYNC || tag == PG_FLUSH;
}

#endif
