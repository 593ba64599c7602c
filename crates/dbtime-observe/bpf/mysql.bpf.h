/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * MySQL's protocol, as far as it takes to find where packets and answers begin, and what a command
 * says.
 */
#ifndef DBTIME_MYSQL_H
#define DBTIME_MYSQL_H

#include "failures.bpf.h"
#include "first_packets.bpf.h"
#include "openings.bpf.h"
#include "rows.bpf.h"

#define LONGEST_LOGIN 9		/* the greatest number of its packets */
#define FIRST_BYTES (HEADER + 5)	/* of an answer that are looked at */

/* How much of a command is kept behind its first byte: never a password or a parameter. */
static __always_inline __u32 kept_length(__u8 command)
{
	switch (command) {
	case COM_CHANGE_USER:
	case COM_REGISTER_REPLICA:
	case COM_REPLICA_HAS:
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
static __always_inline void read_command(struct connection *connection, const char *at, __u32 length)
{
	struct request *request = &connection->request;
	__u32 copied, all = request->length;

	connection->expects_command = 0;
	if (!at || bpf_probe_read_user(&request->command, 1, at)) {
		request->flags |= REQUEST_UNREAD;
		return;
	}
	if (connection->guess != GUESS_NONE && begins_replication(request->command) &&
	    !is_of_replica(at, length)) {
		take_for_file(connection);
		return;
	}
	if (request->command == COM_CHANGE_USER && connection->guess == GUESS_NONE)
		read_login_names(connection, (__u64)(at + 1), length - 1, CLIENT_DATABASE | CLIENT_SHORT_PROOF);
	copied = only_counts() ? 0 : kept_length(request->command);
	length -= 1;
	if (copied > length)
		copied = length;
	copied = masked(copied, TEXT_ROOM);
	if (copied && bpf_probe_read_user(connection->text.bytes, copied, at + 1)) {
		request->flags |= REQUEST_UNREAD;
		return;
	}
	request->text_length = copied;
	if (kept_length(request->command) == TEXT_ROOM - 1 && copied + 1 < all)
		request->flags |= REQUEST_CUT;
	connection->text_continues = !only_counts() && copied == length && length + 1 < all &&
				   copied < kept_length(request->command);
}

/* What follows of it in the next read, where one has ended soon: as much as fits in any case. */
static __always_inline void read_command_rest(struct connection *connection, const char *at, __u32 length)
{
	struct request *request = &connection->request;
	__u32 from = request->text_length, all = kept_length(request->command), more = length;

	connection->text_continues = 0;
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
	connection->text_continues = more == length && length < connection->rest;
}

/* A file has ended, and the server answers. */
static __always_inline void end_local_file(struct connection *connection)
{
	connection->local_file = LOCAL_FILE_NONE;
	connection->expects_answer = 1;
	connection->answer.have = 0;
}

/* A packet of a file: each 256th has the number of a command. The last is empty. Where packets were lost
 * track of amid a file, that may have been missed: what follows is a guess. */
static __always_inline void take_file_packet(struct connection *connection, __u32 length)
{
	connection->local_file = LOCAL_FILE_SENT;
	if (length)
		return;
	end_local_file(connection);
	connection->request.writes = 0;
}

/* Whether a packet is of a file. Where the first has the number of a command, and not that behind the
 * server's, what looked like a request for a file was none. */
static __always_inline int is_of_file(struct connection *connection)
{
	if (!connection->local_file || connection->guess != GUESS_NONE)
		return 0;
	if (connection->local_file == LOCAL_FILE_SENT || connection->header[3] || !connection->answer.sequence)
		return 1;
	connection->local_file = LOCAL_FILE_NONE;
	return 0;
}

/* A packet's header is there. */
static __always_inline void begin_packet(struct connection *connection)
{
	__u8 *h = connection->header;
	__u32 length = h[0] | (__u32)h[1] << 8 | (__u32)h[2] << 16;

	connection->header_length = 0;
	connection->rest = length;
	connection->expects_login = 0;
	connection->text_continues = 0;
	/* What a client says first is its login, or a command: neither has the 64 KB that TLS seems to have. */
	if (connection->is_greeted && (h[3] > 1 || (h[2] && is_tls_record(h)))) {
		set_aside(connection, COUNT_OTHER_PROTOCOL);
		return;
	}
	connection->is_greeted = 0;
	if (connection->continues) {
		connection->request.length += length;
	} else if (is_of_file(connection)) {
		take_file_packet(connection, length);
	} else if (!is_of_before(connection)) {
		if (h[3] == 0) {
			maybe_close(connection);
			begin_request(connection, bpf_ktime_get_ns());
			connection->request.length = length;
		} else if (h[3] == (is_encrypted(connection) ? 2 : 1) && !connection->start) {
			connection->expects_login = 1;
		}
	}
	connection->continues = length == LONGEST;
}

/* The capabilities of a login, which decide whether the rest can be read, and its names. */
static __always_inline void read_login(struct connection *connection, const char *at, __u32 length)
{
	__u32 capabilities = 0;

	connection->expects_login = 0;
	if (!at || length < sizeof(capabilities) || bpf_probe_read_user(&capabilities, sizeof(capabilities), at))
		return;
	if (connection->guess != GUESS_NONE && !is_login(at, length))
		return;
	/* Where a client is that old, names stand elsewhere, and are left. */
	if (!(capabilities & CLIENT_PROTOCOL_41))
		capabilities &= 0xffff;
	if (capabilities & CLIENT_SSL && length == SSL_REQUEST) {
		connection->guess = GUESS_NONE;
		begin_tls(connection, FRAMING_SYNCED, STRANGE_NOT);
	} else if (capabilities & (CLIENT_COMPRESS | CLIENT_ZSTD)) {
		count(COUNT_COMPRESSED);
		connection->role = ROLE_IGNORED;
	} else if (capabilities & CLIENT_PROTOCOL_41 && length > LOGIN_USER) {
		if (!(capabilities & (CLIENT_SHORT_PROOF | CLIENT_LONG_PROOF)))
			capabilities &= ~CLIENT_DATABASE;
		read_login_names(connection, (__u64)(at + LOGIN_USER), length - LOGIN_USER, capabilities);
	}
}

/* Without a step: is this the header of a command, or of a piece of a login, which is short and has a
 * number? Servers read it by itself. Global: see `consume`. */
__noinline int find_packet(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	__u8 h[TAGGED] = {};

	if (!connection)
		return 0;
	connection->strange = STRANGE_BYTES;
	if (length == TAGGED && !bpf_probe_read_user(h, TAGGED, at) && is_tls_record(h)) {
		begin_tls(connection, FRAMING_LOST, STRANGE_NOT);
		return 0;
	}
	if (length != HEADER || bpf_probe_read_user(h, HEADER, at))
		return 0;
	if ((h[0] | h[1] | h[2]) == 0 || (h[3] != 0 && (h[2] || h[3] > LONGEST_LOGIN)))
		return 0;
	connection->framing = FRAMING_SYNCED;
	connection->guess = connection->request.end ? GUESS_LATER : GUESS_FIRST;
	return 1;
}

/* What belongs to the packet at hand. */
static __always_inline void packet_piece(struct connection *connection, const char *at,
					 __u32 length)
{
	if (connection->expects_command)
		read_command(connection, at, length);
	else if (connection->expects_login)
		read_login(connection, at, length);
	else if (connection->text_continues)
		read_command_rest(connection, at, length);
	connection->rest -= length;
}

/* A command that was read to its end and is the connection's last: at QUIT the server closes the socket
 * without another read, and what a replica takes is no answer. */
static __always_inline void close_if_last(struct connection *connection)
{
	if (!connection->start || connection->expects_command || connection->rest)
		return;
	if (connection->request.command == COM_QUIT) {
		if (is_unanswered(connection))
			close_at_quit(connection);
	} else if (begins_replication(connection->request.command)) {
		close_unanswered(connection);
		set_aside(connection, COUNT_REPLICATION);
	}
}

/* How the session reads texts from now on, as an OK says by its status, which lies within the bytes at
 * hand where no number before it is large. What may have changed that makes it unknown. Global: see
 * `consume`. */
__noinline int note_text_status(struct connection *connection)
{
	__u8 command, low, high;
	const __u8 *h;
	int is_ok;

	if (!connection)
		return 0;
	command = connection->request.command;
	h = connection->answer.head;
	low = h[FIRST_BYTES - 2];
	high = h[FIRST_BYTES - 1];
	/* One that is shorter is something else. */
	is_ok = h[4] == REPLY_OK && (h[0] >= END_LENGTH || h[1] || h[2]) &&
		h[5] < 0xfb && h[6] < 0xfb && !(low & STATUS_MORE_RESULTS);
	if (command == COM_CHANGE_USER || command == COM_RESET_CONNECTION) {
		connection->text_flags = 0;
	} else if (is_ok && (command == COM_QUERY || is_execute(command))) {
		connection->text_flags = high & STATUS_NO_ESCAPES ? REQUEST_NO_ESCAPES : REQUEST_ESCAPES;
		if (high & STATUS_QUOTED_NAMES)
			connection->text_flags |= REQUEST_QUOTED_NAMES;
	} else if (connection->text_flags && command == COM_QUERY &&
		   (only_counts() || may_be_multi(connection))) {
		connection->text_flags = 0;
	}
	return 0;
}

/* The server has its client send a file. */
static __always_inline void request_file(struct connection *connection, __u8 number)
{
	connection->local_file = LOCAL_FILE_REQUESTED;
	connection->answer.sequence = number + 1;
}

/* Whether an answer goes on with a request for a file, behind that to another statement of the same text.
 * Servers send it by itself; so they may, by chance, a row that begins with NULL, unless rows are followed.
 * Global: see `consume`. */
__noinline int find_file_request(struct connection *connection, __u64 address, __u32 length, int is_result)
{
	__u8 h[8] = {};

	if (!connection || length <= HEADER ||
	    bpf_probe_read_user(h, HEADER + 1, (const void *)address))
		return 0;
	if (h[HEADER] != REPLY_FILE || HEADER + (h[0] | (__u32)h[1] << 8 | (__u32)h[2] << 16) != length ||
	    !may_be_multi(connection))
		return 0;
	request_file(connection, h[3]);
	connection->request.reply = REPLY_FILE;
	connection->answer.lacks_results |= !is_result;
	return 0;
}

/* What the first bytes of an answer say, which may come in pieces: they are kept until there are as many
 * as are looked at, or as there are of the first packet. Returns whether it is another protocol's. */
static __always_inline int read_answer_head(struct connection *connection, const char *at,
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
		connection->expects_answer = 0;
		connection->text_flags = 0;
		return 0;
	}
	whole = HEADER + (h[0] | (__u32)h[1] << 8 | (__u32)h[2] << 16);
	if (have <= HEADER || (have < FIRST_BYTES && have < whole)) {
		answer->have = have;
		return 0;
	}
	connection->expects_answer = 0;
	/* The first packet of an answer is not the first of all; but it seems so in MySQL's X protocol. */
	if (!h[3] && !request->reply && h[4] != REPLY_ERROR)
		return 1;
	if (connection->guess != GUESS_NONE && !confirm_command(connection))
		return 0;
	request->reply = h[4];
	begin_answer(connection, before);
	note_text_status(connection);
	/* MariaDB reports progress as an error with this number; the answer is still to come. */
	if (h[4] == REPLY_ERROR && h[5] == 0xff && h[6] == 0xff) {
		connection->expects_answer = 1;
		answer->have = 0;
	} else if (h[4] == REPLY_ERROR) {
		note_mysql_error(connection, h[5] | (__u32)h[6] << 8, before + length == whole);
	} else if (h[4] == REPLY_FILE && request->command == COM_QUERY) {
		request_file(connection, h[3]);
	} else if (h[4] == REPLY_OK && request->command == COM_STMT_PREPARE) {
		request->statement = h[5] | (__u32)h[6] << 8 | (__u32)h[7] << 16 | (__u32)h[8] << 24;
	} else if (h[4] == REPLY_OK &&
		   (request->command == COM_INIT_DB || request->command == COM_QUERY)) {
		use_database(connection);
	}
	return 0;
}

#endif
