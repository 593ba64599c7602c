/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What messages of PostgreSQL's clients say: texts, names of statements and portals, how often
 * something is executed. Passwords, parameters and the data of a COPY stay where they lie.
 */
#ifndef DBTIME_MESSAGE_BODIES_H
#define DBTIME_MESSAGE_BODIES_H

#include "batches.bpf.h"
#include "postgres_messages.h"

#define MAX_TEXT (TEXT_ROOM - MAX_NAME)
#define MAX_EXECUTES 65535	/* that are counted of one request */

/* The name of a prepared statement, behind the text. Returns its length with the zero, or 0. */
static __always_inline __u32 read_name(struct connection *connection, const char *at, __u32 left)
{
	__u32 from = connection->request.text_length & (TEXT_ROOM - 1);
	long length;

	if (from > MAX_TEXT)
		from = MAX_TEXT;
	length = read_string(connection->text.bytes + from, MAX_NAME, at, left);
	if (length <= 0) {
		connection->request.flags |= REQUEST_UNREAD;
		return 0;
	}
	connection->request.name_length = length - 1;
	return length;
}

/* The beginning of a Query: the text and a zero. */
static __always_inline void read_text(struct connection *connection, const char *at, __u32 length)
{
	struct request *request = &connection->request;
	__u32 all = connection->rest - 1;

	if (length > all)
		length = all;
	if (length > MAX_TEXT)
		length = MAX_TEXT;
	if (length && bpf_probe_read_user(connection->text.bytes, length, at)) {
		request->flags |= REQUEST_UNREAD;
		return;
	}
	request->text_length = length;
	if (length < all)
		request->flags |= REQUEST_CUT;
	connection->continues = length < all && length < MAX_TEXT / 2;
}

/* What follows of it in the next read, where one has ended soon: as much as fits in any case. */
static __always_inline void read_text_rest(struct connection *connection, const char *at, __u32 length)
{
	struct request *request = &connection->request;
	__u32 from = request->text_length, all = connection->rest - 1;

	connection->continues = 0;
	if (length > all)
		length = all;
	if (length > MAX_TEXT / 2)
		length = MAX_TEXT / 2;
	if (from > MAX_TEXT / 2 || !length)
		return;
	if (bpf_probe_read_user(connection->text.bytes + from, length, at))
		return;
	request->text_length = from + length;
	if (length == all)
		request->flags &= ~REQUEST_CUT;
}

/* Parse: the name, the text, the types of parameters. */
static __always_inline void read_parse(struct connection *connection, const char *at,
					  __u32 length, __u32 all)
{
	struct request *request = &connection->request;
	__u32 named = read_name(connection, at, length), ends;
	long whole;

	if (!named || named >= length) {
		request->flags |= REQUEST_UNREAD;
		request->name_length = 0;
		return;
	}
	/* It ends with a zero, behind which nothing is text. */
	whole = read_string(connection->text.bytes, MAX_TEXT, at + named, length - named);
	if (whole <= 0) {
		request->flags |= REQUEST_UNREAD;
		return;
	}
	ends = whole - 1;
	if (ends > length - named)
		ends = length - named;
	if (whole == MAX_TEXT || (ends == length - named && length < all))
		request->flags |= REQUEST_CUT;
	request->text_length = ends;
	read_name(connection, at, length);
}

/*
 * Bind: the name of the portal, which is none mostly, that of the statement, and parameters. Where a
 * read ends among the names they are taken byte by byte: what was read before is not there any more.
 */
struct name_reading {
	struct connection *connection;
	const char *at;
	__u32 length;
};

static long next_name_byte(__u64 i, struct name_reading *reading)
{
	struct connection *connection = reading->connection;
	struct request *request = &connection->request;
	__u8 c = 0;

	if (i >= reading->length || !connection->names_left)
		return 1;
	if (bpf_probe_read_user(&c, 1, reading->at + i)) {
		request->flags |= REQUEST_UNREAD;
		return 1;
	}
	if (!c)
		connection->names_left--;
	else if (connection->names_left == 1 && request->name_length < MAX_NAME - 1)
		connection->text.bytes[request->name_length++ & (MAX_NAME - 1)] = c;
	return 0;
}

static __always_inline void read_names(struct connection *connection, const char *at, __u32 length)
{
	struct name_reading reading = { connection, at, length };

	bpf_loop(2 * MAX_NAME, next_name_byte, &reading, 0);
}

static __always_inline void read_bind(struct connection *connection, const char *at,
					 __u32 length)
{
	__u32 portal;

	connection->request.flags |= REQUEST_NAMED;
	if (length < connection->rest && length < 2 * MAX_NAME) {
		connection->names_left = 2;
		read_names(connection, at, length);
		return;
	}
	portal = read_name(connection, at, length);
	if (portal && portal < length)
		read_name(connection, at + portal, length - portal);
}

enum bound_statement {
	BINDS_SAME,		/* the one that the request was about so far */
	BINDS_OTHER,
	BINDS_UNREAD,		/* another, and its name does not end in what was read */
};

/* Which statement a Bind names, of which so many bytes were read. Global: see `consume`. */
__noinline int bound_statement(struct connection *connection, __u64 address, __u32 read)
{
	char name[MAX_NAME] = {};
	__u32 from, length, executes, flags;
	long portal, named = 0;

	if (!connection)
		return BINDS_SAME;
	flags = connection->request.flags;
	from = flags & REQUEST_NAMED ? 0 : connection->request.text_length;
	length = connection->request.name_length;
	executes = connection->request.executes;
	if (connection->request.statements) {
		from = latest_executed(connection)->name_from;
		length = latest_executed(connection)->name_length;
		executes = latest_executed(connection)->executes;
		flags = latest_executed(connection)->flags;
	}
	portal = read_string(name, sizeof(name), (const char *)address, read);
	__builtin_memset(name, 0, sizeof(name));
	if (portal > 0 && portal < read)
		named = read_string(name, sizeof(name), (const char *)address + portal,
				    read - portal);
	/* What was prepared just now is bound next. */
	if (!executes && (named <= 0 || portal + named > read || flags & REQUEST_UNREAD))
		return BINDS_SAME;
	if (named <= 0 || portal + named > read)
		return BINDS_UNREAD;
	for (__u32 i = 0; i < MAX_NAME - 1 && i < length; i++)
		if (name[i] != connection->text.bytes[(from + i) & (TEXT_ROOM - 1)])
			return BINDS_OTHER;
	return name[length & (MAX_NAME - 1)] ? BINDS_OTHER : BINDS_SAME;
}

/* Bytes of a Bind's first name, its zero included. */
static __always_inline __u32 length_of_portal(const char *at)
{
	char portal[MAX_NAME];
	long length = read_user_string(portal, sizeof(portal), at);

	return length > 0 ? length : 0;
}

/* Whether a message of the request has named its statement: the first that does counts. */
static __always_inline int has_statement(__u8 command)
{
	return command == PG_QUERY || command == PG_PARSE || command == PG_BIND ||
	       command == PG_EXECUTE;
}

/* How many rows an Execute asks for, where it was read at once: its last four bytes. */
static __always_inline void read_most_rows(struct connection *connection, __u64 address, __u32 length)
{
	__u8 *rows = connection->most_rows;

	if (length != connection->rest || length < sizeof(connection->most_rows) ||
	    bpf_probe_read_user(rows, sizeof(connection->most_rows),
				(const char *)address + length - sizeof(connection->most_rows)))
		__builtin_memset(rows, 0, sizeof(connection->most_rows));
}

/* Reads the body of a message; never a password or a parameter. Global: see `consume`. */
__noinline int read_message_body(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	struct request *request;
	__u32 all, bound, portal;

	if (!connection)
		return 0;
	request = &connection->request;
	all = connection->rest;
	connection->expects_command = 0;
	if (only_counts()) {
		if (!has_statement(request->command))
			request->command = connection->header[0];
		return 0;
	}
	switch (connection->header[0]) {
	case PG_QUERY:
		request->command = PG_QUERY;
		if (all)
			read_text(connection, at, length);
		break;
	case PG_PARSE:
		if (has_statement(request->command)) {
			append_parse(connection, address, length, all);
			break;
		}
		request->command = PG_PARSE;
		read_parse(connection, at, length, all);
		break;
	case PG_BIND:
		if (!has_statement(request->command)) {
			request->command = PG_BIND;
			read_bind(connection, at, length);
		} else {
			bound = bound_statement(connection, address, length);
			portal = length_of_portal(at);
			if (bound == BINDS_OTHER)
				append_bind(connection, address + portal, length - portal);
			else if (bound == BINDS_UNREAD)
				append_bind(connection, 0, 0);
		}
		if (!read_portal(connection, at, length))
			connection->bind_count++;
		break;
	case PG_EXECUTE:
		if (!has_statement(request->command) && read_portal(connection, at, length))
			request->flags |= REQUEST_FETCHES;
		request->command = PG_EXECUTE;
		if (request->executes < MAX_EXECUTES)
			request->executes++;
		if (connection->request.statements) {
			latest_executed(connection)->executes++;
			latest_executed(connection)->rows = NOT_KNOWN;
		} else if (request->executes == 2) {
			follow_answers(connection);
		}
		read_most_rows(connection, address, length);
		break;
	default:
		if (!request->command)
			request->command = connection->header[0];
	}
	return 0;
}

#endif
