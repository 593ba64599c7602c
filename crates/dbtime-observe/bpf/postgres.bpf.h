/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * PostgreSQL's protocol, as far as it takes to find where requests begin and end, and what they say.
 * Source: PostgreSQL manual, "Frontend/Backend Protocol".
 *
 *   Query ──────────────────────────────► … ReadyForQuery     a request
 *   Parse, Bind, Execute, …, Sync ──────► … ReadyForQuery     another
 *
 * What a client sends ahead of answers is read together: a request that is followed by another in
 * what was read is answered before that is looked at, so dbtime looks at it then too, where the
 * server has it.
 */
#ifndef DBTIME_POSTGRES_H
#define DBTIME_POSTGRES_H

#include "startups.bpf.h"
#include "completions.bpf.h"
#include "copies.bpf.h"
#include "late_errors.bpf.h"

#define LONGEST_MESSAGE (1 << 30)	/* the server refuses longer ones */
#define MAX_TEXT (TEXT_ROOM - MAX_NAME)
#define MAX_EXECUTES 65535	/* that are counted of one request */
#define IDLE 'I'			/* its last, where no transaction is open */

/* Messages that a request is made of. */
static __always_inline int is_of_request(__u8 tag)
{
	switch (tag) {
	case PG_QUERY:
	case PG_PARSE:
	case PG_BIND:
	case PG_EXECUTE:
	case PG_DESCRIBE:
	case PG_CLOSE:
	case PG_FUNCTION:
	case PG_SYNC:
	case PG_FLUSH:
	case PG_TERMINATE:
		return 1;
	default:
		return 0;
	}
}

static __always_inline int is_of_copy(__u8 tag)
{
	return tag == PG_COPY_DATA || tag == PG_COPY_DONE || tag == PG_COPY_FAIL;
}

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

/* The last byte of a message was read. */
static __always_inline void end_message(struct connection *connection)
{
	__u8 tag = connection->header[0];

	if (!connection->start)
		return;
	if (tag == PG_COPY_DONE || tag == PG_COPY_FAIL) {
		note_copy_end(connection);
	} else if (tag == PG_SYNC && connection->copy.is_under_way) {
		pass_over_sync(connection);
	} else if (tag == PG_SYNC || tag == PG_QUERY || tag == PG_FUNCTION) {
		connection->is_whole = 1;
	} else if (tag == PG_TERMINATE) {
		/* It has no answer. */
		close_at_quit(connection);
	}
}

/* The first bytes of a message are there. Returns whether it can be one. */
static __always_inline int begin_message(struct connection *connection)
{
	__u32 length = big_endian(connection->header + 1);
	__u8 tag = connection->header[0];

	connection->header_length = 0;
	if (length < 4 || length > LONGEST_MESSAGE)
		return 0;
	connection->rest = length - 4;
	if (tag == PG_COPY_DATA)
		connection->copy.has_data = 1;
	if (is_of_request(tag) && (!connection->start || connection->is_whole)) {
		maybe_close(connection);
		begin_request(connection, bpf_ktime_get_ns());
	}
	if (connection->start && !is_of_copy(tag)) {
		connection->expects_command = 1;
		connection->request.length += length + 1;
	}
	/* A message without a body ends with its header. */
	if (!connection->rest) {
		if (connection->expects_command)
			read_message_body(connection, 0, 0);
		end_message(connection);
	}
	return 1;
}

/* What belongs to the message at hand. */
static __always_inline void message_piece(struct connection *connection, const char *at,
					  __u32 length)
{
	if (connection->expects_command)
		read_message_body(connection, (__u64)at, length);
	else if (connection->continues)
		read_text_rest(connection, at, length);
	else if (connection->names_left)
		read_names(connection, at, length);
	connection->rest -= length;
	if (!connection->rest)
		end_message(connection);
}

/* Whether a message is there that is no data of a COPY. */
static __always_inline int is_request_message(const char *at)
{
	__u8 tag = 0;

	return !bpf_probe_read_user(&tag, 1, at) && is_of_request(tag);
}

/* Whether a message is what a standby says while changes are streamed to it, by the sizes of these: how
 * far it is, what its oldest transaction is, or that it wants to know how far its server is. */
static __always_inline int is_of_standby(const __u8 *h, __u32 message_length)
{
	if (h[0] != PG_COPY_DATA)
		return 0;
	return (h[TAGGED] == 'r' && message_length == 38) ||
	       (h[TAGGED] == 'h' && (message_length == 21 || message_length == 29)) ||
	       (h[TAGGED] == 'p' && message_length == 13);
}

/* Without a step: a startup packet, TLS, or the first message that is seen. Returns whether a message
 * begins here. Of TLS that was agreed on the server reads the header of a record by itself; what begins
 * with TLS it may refuse. Global: see `consume`. */
__noinline int find_message(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	__u8 h[8] = {};
	__u32 message_length;

	if (!connection)
		return 0;
	if (connection->gss == GSS_AGREED && !connection->start) {
		leave_alone(connection, COUNT_GSS);
		return 0;
	}
	if (connection->strange != STRANGE_STREAM)
		connection->strange = STRANGE_BYTES;
	if (read_opening(connection, address, length) || length < TAGGED ||
	    bpf_probe_read_user(h, length < sizeof(h) ? TAGGED : sizeof(h), at))
		return 0;
	if (is_tls_record(h)) {
		begin_tls(connection, FRAMING_LOST, length == TAGGED ? STRANGE_NOT : STRANGE_BYTES);
		return 0;
	}
	message_length = big_endian(h + 1);
	if (is_of_standby(h, message_length))
		connection->strange = STRANGE_STREAM;
	if ((!is_of_request(h[0]) && h[0] != PG_PASSWORD) || message_length < 4 || message_length > LONGEST_MESSAGE)
		return 0;
	connection->framing = FRAMING_SYNCED;
	return 1;
}

/* Keeps the last bytes of an answer: a server that sends whenever its buffer is full may send the end of
 * ReadyForQuery by itself. */
static __always_inline void save_tail(struct connection *connection, const char *at, __u32 length)
{
	__u32 more = length < READY_LENGTH ? length : READY_LENGTH;
	__u8 *tail = connection->tail;

	more = masked(more, 8);
	if (bpf_probe_read_user(tail + READY_LENGTH, more, at + length - more))
		__builtin_memset(tail, 0, sizeof(connection->tail));
	for (int i = 0; i < READY_LENGTH; i++)
		tail[i] = tail[(more + i) & 15];
}

/* Whether that is ReadyForQuery. */
static __always_inline int ends_with_ready(struct connection *connection)
{
	const __u8 *end = connection->tail;

	return end[0] == PG_READY && big_endian(end + 1) == TAGGED;
}

/*
 * What a server of PostgreSQL's sends while it was asked for nothing. Where it says that it is ready it goes
 * on with what it has read behind a login. What it has read that was no login, and was not understood, was
 * the rest of a request from before. Global: see `consume`.
 */
__noinline int note_unasked_ready(struct connection *connection, __u64 address, __u32 length)
{
	__u8 first = 0;

	if (!connection || connection->request.protocol != PROTOCOL_POSTGRES)
		return 0;
	save_tail(connection, (const char *)address, length);
	if (!ends_with_ready(connection) || bpf_probe_read_user(&first, 1, (const void *)address))
		return 0;
	connection->is_ready = 1;
	connection->is_logging_in = 0;
	/* What seemed to be a startup packet, and has not ended, was none. */
	connection->startup.rest = 0;
	if (connection->strange == STRANGE_BYTES && connection->framing == FRAMING_LOST &&
	    !connection->request.length && first != PG_LET_IN) {
		count(COUNT_STARTED);
		count(COUNT_PARTIAL);
	}
	connection->strange = STRANGE_NOT;
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
	connection->is_ready = ends_with_ready(connection) &&
			       (connection->is_whole || connection->copy.may_be_ready);
	if (connection->is_ready) {
		connection->request.flags |= end[READY_LENGTH - 1] == IDLE ? REQUEST_NO_TRANSACTION : REQUEST_IN_TRANSACTION;
		end_copies(connection);
	} else if (!end[READY_LENGTH - 2] && end[READY_LENGTH - 1] < 2 &&
		   ends_with_copy(connection, (__u64)at, length)) {
		begin_copy(connection);
	}
	if (settings.streams && depth == DEPTH_EVERYTHING)
		note_tagged_rows(connection, (__u64)at, length);
}

#endif
