/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * MySQL's protocol, as far as it takes to find where packets and answers begin, and what a command
 * says.
 */
#ifndef DBTIME_MYSQL_H
#define DBTIME_MYSQL_H

#include "logins.bpf.h"
#include "requests.bpf.h"
#include "rows.bpf.h"

#define FIRST_BYTES (HEADER + 5)	/* of an answer that are looked at */

/* How much of a command is kept behind its first byte: never a password or a parameter. */
static __always_inline __u32 kept(__u8 command)
{
	switch (command) {
	case COM_CHANGE_USER:
		return 0;
	case COM_STMT_EXECUTE:
	case COM_STMT_SEND_LONG_DATA:
	case COM_STMT_CLOSE:
	case COM_STMT_RESET:
	case COM_STMT_FETCH:
	case COM_STMT_BULK_EXECUTE:
		return PARAMETERS;
	default:
		return TEXT_ROOM - 1;
	}
}

/* The first bytes of a command. */
static __always_inline void body(struct connection *connection, const char *at, __u32 length)
{
	struct request *request = &connection->request;
	__u32 wanted, all = request->length;

	connection->wants_command = 0;
	if (!at || bpf_probe_read_user(&request->command, 1, at)) {
		request->flags |= REQUEST_UNREAD;
		return;
	}
	if (request->command == COM_CHANGE_USER)
		take_login(connection, (__u64)(at + 1), length - 1, CLIENT_DATABASE | CLIENT_SHORT_PROOF);
	wanted = only_counts() ? 0 : kept(request->command);
	length -= 1;
	if (wanted > length)
		wanted = length;
	if (wanted >= TEXT_ROOM)
		wanted = TEXT_ROOM - 1;
	if (wanted && bpf_probe_read_user(connection->text.bytes, wanted, at + 1)) {
		request->flags |= REQUEST_UNREAD;
		return;
	}
	request->text_length = wanted;
	if (kept(request->command) == TEXT_ROOM - 1 && wanted + 1 < all)
		request->flags |= REQUEST_CUT;
	connection->kept_goes_on = !only_counts() && wanted == length && length + 1 < all &&
				   wanted < kept(request->command);
}

/* What follows of it in the next read, where one has ended soon: as much as fits in any case. */
static __always_inline void more_body(struct connection *connection, const char *at, __u32 length)
{
	struct request *request = &connection->request;
	__u32 from = request->text_length, all = kept(request->command), more = length;

	connection->kept_goes_on = 0;
	if (from > TEXT_ROOM / 2 || from >= all)
		return;
	if (more > all - from)
		more = all - from;
	if (more >= TEXT_ROOM / 2)
		more = TEXT_ROOM / 2 - 1;
	if (!more || bpf_probe_read_user(connection->text.bytes + from, more, at))
		return;
	request->text_length = from + more;
	if (request->text_length + 1 == request->length)
		request->flags &= ~REQUEST_CUT;
	connection->kept_goes_on = more == length && length < connection->rest;
}

/* A packet's header is there. */
static __always_inline void packet(struct connection *connection)
{
	__u8 *h = connection->header;
	__u32 length = h[0] | (__u32)h[1] << 8 | (__u32)h[2] << 16;

	connection->header_length = 0;
	connection->rest = length;
	connection->logs_in = 0;
	connection->kept_goes_on = 0;
	if (connection->goes_on) {
		connection->request.length += length;
	} else if (h[3] == 0) {
		turn(connection);
		begin(connection, bpf_ktime_get_ns());
		connection->request.length = length;
	} else if (h[3] == (is_encrypted(connection) ? 2 : 1) && !connection->start) {
		connection->logs_in = 1;
	} else if (connection->takes_file && length == 0) {
		/* The file is whole; what the server says next is the answer. */
		connection->takes_file = 0;
		connection->answers = 1;
		connection->answer.have = 0;
		connection->request.sends = 0;
	}
	connection->goes_on = length == LONGEST;
}

/* Of a login what says whether the rest can be read, and whose it is. */
static __always_inline void login(struct connection *connection, const char *at, __u32 length)
{
	__u32 wants = 0;

	connection->logs_in = 0;
	if (!at || length < sizeof(wants) || bpf_probe_read_user(&wants, sizeof(wants), at))
		return;
	if (wants & CLIENT_SSL && length == SSL_REQUEST) {
		encrypt(connection, STEP_KEPT);
	} else if (wants & (CLIENT_COMPRESS | CLIENT_ZSTD)) {
		count(COUNT_COMPRESSED);
		connection->role = ROLE_IGNORED;
	} else if (length > LOGIN_USER) {
		if (!(wants & (CLIENT_SHORT_PROOF | CLIENT_LONG_PROOF)))
			wants &= ~CLIENT_DATABASE;
		take_login(connection, (__u64)(at + LOGIN_USER), length - LOGIN_USER, wants);
	}
}

/* Without a step: is this the header of a command? Servers read it by itself. */
static __always_inline int finds_step(struct connection *connection, const char *at, __u32 length)
{
	__u8 h[TAGGED] = {};

	if (length == TAGGED && !bpf_probe_read_user(h, TAGGED, at) && is_record(h)) {
		encrypt(connection, STEP_LOST);
		return 0;
	}
	if (length != HEADER || bpf_probe_read_user(h, HEADER, at))
		return 0;
	if (h[3] != 0 || (h[0] | h[1] | h[2]) == 0)
		return 0;
	connection->step = STEP_KEPT;
	return 1;
}

/* What belongs to the packet at hand. */
static __always_inline void packet_piece(struct connection *connection, const char *at,
					 __u32 length)
{
	if (connection->wants_command)
		body(connection, at, length);
	else if (connection->logs_in)
		login(connection, at, length);
	else if (connection->kept_goes_on)
		more_body(connection, at, length);
	connection->rest -= length;
}

/* A QUIT that was read to its end: the server closes the socket without another read. */
static __always_inline void quits(struct connection *connection)
{
	if (!connection->start || connection->request.command != COM_QUIT ||
	    connection->wants_command || connection->rest)
		return;
	end_with_goodbye(connection);
}

/* What the first bytes of an answer say, which may come in pieces: they are kept until there are as many
 * as are looked at, or as there are of the first packet. */
static __always_inline void first_of_answer(struct connection *connection, const char *at,
					    __u32 length)
{
	struct request *request = &connection->request;
	struct answer *answer = &connection->answer;
	__u32 before = answer->have, have, whole, more = FIRST_BYTES;
	__u8 *h = answer->head;

	if (before >= FIRST_BYTES)
		before = 0;
	if (!before)
		__builtin_memset(answer->head, 0, sizeof(answer->head));
	more -= before;
	if (more > length)
		more = length;
	/* The compiler knows more of this than the verifier: the mask is to stay. */
	barrier_var(more);
	more &= 15;
	have = before + more;
	if (!more || bpf_probe_read_user(h + before, more, at)) {
		connection->answers = 0;
		return;
	}
	whole = HEADER + (h[0] | (__u32)h[1] << 8 | (__u32)h[2] << 16);
	if (have <= HEADER || (have < FIRST_BYTES && have < whole)) {
		answer->have = have;
		return;
	}
	connection->answers = 0;
	request->reply = h[4];
	begin_answer(connection, before);
	/* MariaDB reports progress as an error with this number; the answer is still to come. */
	if (h[4] == REPLY_ERROR && h[5] == 0xff && h[6] == 0xff) {
		connection->answers = 1;
		answer->have = 0;
	} else if (h[4] == REPLY_ERROR) {
		request->error = h[5] | (__u16)h[6] << 8;
	} else if (h[4] == REPLY_FILE && request->command == COM_QUERY && h[3] == 1) {
		connection->takes_file = 1;
	} else if (h[4] == REPLY_OK && request->command == COM_STMT_PREPARE) {
		request->statement = h[5] | (__u32)h[6] << 8 | (__u32)h[7] << 16 | (__u32)h[8] << 24;
	} else if (h[4] == REPLY_OK &&
		   (request->command == COM_INIT_DB || request->command == COM_QUERY)) {
		use_database(connection);
	}
}

/* A server that speaks first greets a new client: packets begin here. Its version and a zero are followed
 * by the number that it gives the connection. */
static __always_inline int greets(struct connection *connection, __u32 length)
{
	const char *at = buffer();
	__u8 h[HEADER + 1] = {};
	char version[NAME_ROOM];
	__u32 id = 0;
	long read;

	if (!at || length < sizeof(h) || bpf_probe_read_user(h, sizeof(h), at))
		return 0;
	if (h[3] != 0 || h[4] != 10)
		return 0;
	read = bpf_probe_read_user_str(version, sizeof(version), at + sizeof(h));
	if (read <= 0 || read == sizeof(version) ||
	    bpf_probe_read_user(&id, sizeof(id), at + sizeof(h) + read))
		return 1;
	connection->login.id = id;
	tell_login(connection);
	return 1;
}

#endif
