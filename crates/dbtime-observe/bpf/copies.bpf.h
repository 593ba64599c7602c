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
	__u64 until;		/* and where the piece before it ended; 0: there is none */
	__u32 format;		/* of the last column */
	__u32 is_found;
};

/* Reads what may be the beginning of CopyInResponse; not 0: it is not there. Where the server's
 * buffer was full, or the socket had no room for all of it, that is in the piece before, as far
 * as this one has left it. */
static __always_inline long read_copy_head(struct copy_search *search, __u64 at)
{
	__u8 *head = search->connection->answer.head;
	__u64 before = search->at - at, earlier = search->until - before;
	__u32 length;

	if (at >= search->at)
		return bpf_probe_read_user(head, COPY_HEAD, (const char *)at);
	if (search->until < before || (search->until != search->at && earlier < search->end))
		return 1;
	if (before >= COPY_HEAD)
		return bpf_probe_read_user(head, COPY_HEAD, (const char *)earlier);
	length = masked(before, COPY_HEAD);
	return bpf_probe_read_user(head, length, (const char *)earlier) ||
	       bpf_probe_read_user(head + length, masked(COPY_HEAD - length, COPY_HEAD),
				   (const char *)search->at);
}

/* The number of columns stands before their formats, which are all the same. */
static long copy_begins_before(__u64 i, struct copy_search *search)
{
	const __u8 *head = search->connection->answer.head;
	__u32 number;

	if (read_copy_head(search, search->end - 2 * i - COPY_HEAD))
		return 1;
	number = (__u32)head[6] << 8 | head[7];
	search->is_found = number == i && head[0] == PG_COPY_IN && head[5] < 2 &&
			   big_endian(head + 1) == COPY_HEAD - 1 + 2 * number;
	if (!i)
		search->format = number;
	return search->is_found || number != search->format;
}

/* Whether a piece of an answer ends with CopyInResponse. Global: see `consume`. */
__noinline int ends_with_copy(struct connection *connection, __u64 address, __u32 length)
{
	struct copy_search search = {
		.connection = connection, .at = address, .end = address + length,
	};

	if (!connection)
		return 0;
	search.until = connection->sent_until;
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
