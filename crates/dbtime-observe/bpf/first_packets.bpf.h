/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What is seen first of a connection of MySQL's that was there before: whether packets are commands is a
 * guess until the server has answered one.
 *
 *   0 ──► server: 1 …                  a command, and its answer
 *   …, 254, 255, 0, 1, … ──► server    a file that LOAD DATA LOCAL reads: its packets are numbered on
 *   1 ──► server: 2, 3 ──► server: 4   a login
 */
#ifndef DBTIME_FIRST_PACKETS_H
#define DBTIME_FIRST_PACKETS_H

#include "openings.bpf.h"

/* What seemed to be a command, or a piece of a login, is of a file that a client had begun to send before,
 * or of whatever else was under way then. Global: see `consume`. */
__noinline int take_for_file(struct connection *connection)
{
	if (!connection)
		return 0;
	if (connection->start) {
		/* What the server has answered since may have been of another request. */
		if (connection->guess == GUESS_LATER)
			count(COUNT_RESYNC);
		disown_request(connection);
	} else if (!connection->request.end) {
		count(COUNT_STARTED);
		count(COUNT_PARTIAL);
	}
	connection->expects_command = 0;
	connection->guess = GUESS_FILE;
	connection->strange = STRANGE_NOT;
	return 0;
}

/* Whether a packet, by its header, is of what was under way before. No answer has confirmed yet that
 * commands are seen: where packets follow each other without an answer between them, they are no commands,
 * though each 256th packet of a file has the number of one. */
static __always_inline int is_of_before(struct connection *connection)
{
	__u8 number = connection->header[3];

	if (connection->guess == GUESS_NONE)
		return 0;
	if (connection->guess == GUESS_FILE)
		return 1;
	if (connection->guess != GUESS_PIECE && !connection->start) {
		if (number)
			connection->guess = GUESS_PIECE;
		return 0;
	}
	if (connection->start && !number) {
		/* Another command: the first has no answer, or was none. */
		maybe_close(connection);
		if (connection->start && !connection->expects_command &&
		    connection->request.command == COM_STMT_SEND_LONG_DATA)
			close_request(connection, OUTCOME_ENDED);
		give_guess_up(connection);
		return 0;
	}
	take_for_file(connection);
	return 1;
}

/* Whether a replica may say that: numbers that are followed by a name, where a text has no zero. */
static __always_inline int is_of_replica(const char *at, __u32 length)
{
	const __u64 ones = ~0ull / 255;
	__u64 numbers;

	return length > sizeof(numbers) && !bpf_probe_read_user(&numbers, sizeof(numbers), at + 1) &&
	       ((numbers - ones) & ~numbers & ones << 7);
}

/* Whether a packet of which only the number is known is a login: behind a few numbers it has zeros. */
static __always_inline int is_login(const char *at, __u32 length)
{
	__u64 zeros[2];

	return length >= LOGIN_USER && !bpf_probe_read_user(zeros, sizeof(zeros), at + LOGIN_ZEROS) &&
	       !(zeros[0] | zeros[1]);
}

/* An answer begins to what seems to be a command. It is one where the server has read all of it, and its
 * packet has the number behind those of the command; returns whether that is so. An error that ends the
 * connection says nothing: it may come amid a file. Global: see `consume`. */
__noinline int confirm_command(struct connection *connection)
{
	int is_next, is_last;
	__u8 *h;

	if (!connection)
		return 0;
	h = connection->answer.head;
	is_next = !connection->rest && !connection->header_length && h[3] == (__u8)(connection->header[3] + 1);
	is_last = h[4] == REPLY_ERROR && ends_mysql_connection(0, h[5] | (__u32)h[6] << 8);
	connection->strange = STRANGE_NOT;
	if (is_next && !is_last) {
		connection->guess = GUESS_NONE;
		/* Whose it is now was not read. */
		if (connection->request.command == COM_CHANGE_USER)
			read_login_names(connection, 0, 0, 0);
		return 1;
	}
	/* Nor is it known whether a request is missing that was read since an answer. */
	if (is_last || connection->guess == GUESS_LATER)
		count(COUNT_RESYNC);
	disown_request(connection);
	reset_framing(connection);
	connection->guess = GUESS_NONE;
	connection->request.end = bpf_ktime_get_ns();
	return 0;
}

#endif
