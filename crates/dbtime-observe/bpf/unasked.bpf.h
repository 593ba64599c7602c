/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What a server sends while no request of its connection is under way:
 *
 *   its greeting, whether it encrypts, and what belongs to a login
 *   what is left of an answer to a request that had begun before it was followed
 *   an error: the login is refused, the client was idle for too long, somebody ends the connection,
 *   also one that was set aside
 *   that it is ready, behind a login and what is left of an answer
 *   to a client that has left: nothing that counts, such as MySQL's 1158
 */
#ifndef DBTIME_UNASKED_H
#define DBTIME_UNASKED_H

#include "framing.bpf.h"

/* Whether what is sent is a packet of MySQL's with an error, of which the first bytes are read. */
static __always_inline int is_mysql_error(__u8 *h, __u64 address, __u32 length)
{
	return length >= HEADER + 3 && !bpf_probe_read_user(h, HEADER + 3, (const char *)address) &&
	       h[4] == REPLY_ERROR &&
	       HEADER + (h[0] | (__u32)h[1] << 8 | (__u32)h[2] << 16) == length;
}

/* Whether a client receives an error that is sent behind the end of what it says: it has left, unless
 * the server closes the connection itself, which begins with that direction. */
static __always_inline int is_received(struct connection *connection, __u32 number)
{
	return !connection->is_at_end || number == SERVER_SHUTDOWN ||
	       number == CONNECTION_KILLED || number == SESSION_WAS_KILLED;
}

/* Whether a packet of MySQL's is an error of its connection. Where it is not known whether a request
 * is under way it may be the answer to that, unless it ends the connection, or stands in the place of
 * the greeting. Nor is it known behind what looked like the end of the connection. */
static __always_inline int is_unasked_error(struct connection *connection, __u64 address,
					    __u32 length, int is_first)
{
	__u8 h[8] = {};
	__u32 number;

	if (!is_mysql_error(h, address, length))
		return 0;
	number = h[5] | (__u32)h[6] << 8;
	if (!is_received(connection, number))
		return 0;
	return (connection->framing == FRAMING_SYNCED && connection->guess != GUESS_FILE &&
		!connection->has_last_word) ||
	       (is_first && !h[3]) || ends_mysql_connection(0, number);
}

/* Whether a client is refused that has not said yet who it is: MySQL's error stands in the place of the
 * greeting; of PostgreSQL's the client has asked for no more than encryption, or has named nobody. A server
 * that has been ready had let it in. */
static __always_inline int is_refusal(struct connection *connection, __u64 address, int is_first)
{
	__u8 h[8] = {};

	if (connection->request.protocol == PROTOCOL_POSTGRES)
		return !connection->has_login && !connection->is_ready &&
		       (connection->is_logging_in ||
			(connection->has_read && connection->framing == FRAMING_LOST &&
			 connection->strange == STRANGE_NOT && !connection->request.length));
	return is_first && !bpf_probe_read_user(h, HEADER + 3, (const void *)address) && !h[3] &&
	       !ends_mysql_connection(0, h[5] | (__u32)h[6] << 8);
}

/* A server has sent an error while no request was under way. Global: see `consume`. */
__noinline int count_unasked_error(struct connection *connection, __u64 address, int is_first)
{
	if (!connection)
		return 0;
	count(COUNT_CONNECTION_ERRORS);
	if (is_refusal(connection, address, is_first))
		count(COUNT_REFUSED);
	return 0;
}

/* What is sent over a connection that was set aside: of that the error alone counts with which it ends.
 * Global: see `consume`. */
__noinline int note_aside(struct connection *connection, __u32 length)
{
	__u8 h[8] = {};
	__u64 address;
	int is_error;

	if (!connection)
		return 0;
	address = (__u64)user_buffer();
	connection->sent_until = 0;
	if (!address)
		return 0;
	if (connection->request.protocol == PROTOCOL_POSTGRES)
		is_error = (find_late_error(connection, address, length) & LAST_WORD) != 0;
	else
		is_error = is_mysql_error(h, address, length) &&
			   is_received(connection, h[5] | (__u32)h[6] << 8);
	if (is_error)
		count(COUNT_CONNECTION_ERRORS);
	return 0;
}

/* The first that is seen of a connection is sent by its server, and is no error: a greeting, or what
 * is left of an answer. */
static __always_inline void begin_with_answer(struct connection *connection, __u64 address,
					      __u32 length)
{
	int greeting = GREETING_NONE;

	if (connection->request.protocol == PROTOCOL_MYSQL)
		greeting = read_greeting(connection, address, length);
	if (greeting == GREETING_X) {
		leave_alone(connection, COUNT_OTHER_PROTOCOL);
	} else if (greeting == GREETING_CLASSIC) {
		/* Packets begin here. */
		connection->framing = FRAMING_SYNCED;
		connection->is_greeted = 1;
	} else {
		count(COUNT_STARTED);
		count(COUNT_PARTIAL);
	}
}

/* The server answers what its client has sent of a login, or of a request from before: what the client says
 * next is more of a login, or a command. Where a packet should go on, packets begin elsewhere, and what is
 * answered has not been seen. */
static __always_inline void note_answer_to_piece(struct connection *connection, __u64 now)
{
	int is_file = connection->guess == GUESS_FILE;

	if (!is_file && connection->guess != GUESS_PIECE)
		return;
	if (connection->rest || connection->header_length) {
		if (!is_file && connection->request.end) {
			count(COUNT_RESYNC);
		} else if (!is_file) {
			count(COUNT_STARTED);
			count(COUNT_PARTIAL);
			is_file = 1;
		}
		reset_framing(connection);
	}
	if (is_file)
		connection->request.end = now;
	connection->guess = connection->request.end ? GUESS_LATER : GUESS_FIRST;
}

/*
 * Looks at what is sent while no request is under way, or behind what says that it was answered.
 * Returns whether it belongs to no answer. `address` is 0 where it cannot be read. Global: see
 * `consume`.
 */
__noinline int handle_unasked(struct connection *connection, __u64 address, __u32 length, __u64 now)
{
	int is_mysql, is_first, is_error;

	if (!connection)
		return 0;
	if (!address && is_encrypted(connection))
		note_blind_send(connection);
	if (is_gss_answer(connection, address, length))
		return 1;
	/* What was sent before is of another answer. */
	connection->sent_until = 0;
	is_mysql = connection->request.protocol == PROTOCOL_MYSQL;
	/* PostgreSQL's connections begin with reads of what is no request. */
	is_first = connection->framing == FRAMING_LOST && !connection->request.end &&
		   (is_mysql || !connection->has_read);
	if (!address)
		is_error = 0;
	else if (is_mysql)
		is_error = is_unasked_error(connection, address, length, is_first);
	else
		is_error = (find_late_error(connection, address, length) & LAST_WORD) != 0;
	if (!is_error && connection->start)
		return 0;
	if (!is_error && connection->is_at_end)
		return 1;
	if (is_error) {
		maybe_close(connection);
		count_unasked_error(connection, address, is_first);
	} else if (address && connection->has_last_word) {
		/* What looked like its end was none, and this is of the same answer. */
		connection->has_last_word = 0;
		lose_framing(connection);
	} else {
		if (is_first)
			begin_with_answer(connection, address, length);
		if (is_mysql)
			note_answer_to_piece(connection, now);
		else if (address)
			note_unasked_ready(connection, address, length);
	}
	if (is_first) {
		connection->request.end = now;
		/* What was read before was the rest of what this answers. */
		connection->strange = STRANGE_NOT;
	}
	return 1;
}

#endif
