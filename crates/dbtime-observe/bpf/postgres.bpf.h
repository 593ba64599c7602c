/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * PostgreSQL's protocol, as far as it takes to find where requests begin and end. What messages say
 * is read in `message_bodies.bpf.h`, answers in `tagged_answers.bpf.h`.
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
#include "message_bodies.bpf.h"
#include "copies.bpf.h"

#define LONGEST_MESSAGE (1 << 30)	/* the server refuses longer ones */

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

/* Whether clients say that, at this length. Some messages have no body. */
static __always_inline int is_of_client(__u8 tag, __u32 length)
{
	if (tag == PG_SYNC || tag == PG_FLUSH || tag == PG_COPY_DONE)
		return length == 4;
	return (is_of_request(tag) || is_of_copy(tag) || tag == PG_PASSWORD) && length >= 4 &&
	       length <= LONGEST_MESSAGE;
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
	if (!is_of_client(tag, length))
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

/* Whether what was read is one whole message of a request, or begins with one and goes on with another:
 * data of a COPY hardly do. `h`: the header, which is overwritten. */
static __always_inline int is_whole_request(const char *at, __u8 *h, __u32 length)
{
	__u32 whole = 1 + big_endian(h + 1);

	if (is_of_copy(h[0]) || !is_of_client(h[0], whole - 1) || whole > length)
		return 0;
	if (whole == length)
		return 1;
	return length - whole >= TAGGED && !bpf_probe_read_user(h, TAGGED, at + whole) &&
	       !is_of_copy(h[0]) && is_of_client(h[0], big_endian(h + 1));
}

/* Without a step: a startup packet, TLS, or the first message that is seen. Returns whether a
 * message begins here. Behind what was not understood none does before the server is ready: what
 * looks like one is more of that. Of TLS that was agreed on the server reads the header of a
 * record by itself; what begins with TLS it may refuse. Global: see `consume`. */
__noinline int find_message(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	__u8 h[8] = {}, before;
	__u32 message_length;

	if (!connection)
		return 0;
	if (connection->gss == GSS_AGREED && !connection->start) {
		leave_alone(connection, COUNT_GSS);
		return 0;
	}
	before = connection->strange;
	if (before != STRANGE_STREAM && before != STRANGE_REQUEST)
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
	if (before == STRANGE_BYTES && is_whole_request(at, h, length))
		connection->strange = STRANGE_REQUEST;
	if (before != STRANGE_NOT || is_of_copy(h[0]) || !is_of_client(h[0], message_length))
		return 0;
	/* A password says nothing yet of where it belongs to. */
	if (h[0] != PG_PASSWORD)
		connection->strange = STRANGE_NOT;
	connection->framing = FRAMING_SYNCED;
	connection->guess = connection->is_ready ? GUESS_LATER : GUESS_FIRST;
	return 1;
}

#endif
