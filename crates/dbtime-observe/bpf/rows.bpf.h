/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * How many rows a statement of MySQL has sent or changed, by its answer.
 *
 *   OK: changed
 *   columns, definitions, [EOF], rows, EOF: sent, counted by the headers of packets
 *
 * Of rows themselves the first byte of a packet is looked at, which tells a row from what ends them,
 * and the last bytes of what may be all of a short answer.
 */
#ifndef DBTIME_ROWS_H
#define DBTIME_ROWS_H

#include "mysql_commands.h"
#include "connections.bpf.h"

#define MAX_PACKETS 8192	/* in a single write, of 16 KiB normally */
#define EOF_LENGTH 5		/* bytes of an EOF, which ends columns too */
#define END_LENGTH 7		/* of the OK packet that replaces it since, at its shortest */
#define MAX_OK_LENGTH 19		/* bytes of an OK behind its first, up to its status */
#define IN_TRANSACTION 1	/* one is open */
#define CURSOR_EXISTS 64	/* rows are to be fetched */

/* In so few bytes there are no more packets than packets have numbers. */
#define SHORT_ANSWER (256 * (HEADER + 1))

/* So many packets are looked at in any case, and further ones while an answer takes so many nanoseconds
 * for each: looking at one takes an eighth of that (docs/benchmarks.md). */
#define MIN_PACKETS 128
#define NS_PER_PACKET 360

/* An answer to a command begins, of which so many bytes have come before this piece; or that behind a file,
 * whose rows are added to those of the statements before. */
static __always_inline void begin_answer(struct connection *connection, __u32 before)
{
	struct answer *answer = &connection->answer;
	__u8 command = connection->request.command;

	answer->stage = STAGE_OVER;
	if (!settings.streams || depth != DEPTH_EVERYTHING || answer->lacks_results)
		return;
	if (command == COM_STMT_FETCH)
		answer->stage = STAGE_ROWS;
	else if (command == COM_QUERY || is_execute(command))
		answer->stage = STAGE_RESULT;
	if (answer->rows == NOT_KNOWN)
		answer->rows = 0;
	answer->packets = 0;
	answer->rest = 0;
	answer->have = before;
	answer->row_continues = 0;
	answer->has_columns = command == COM_STMT_FETCH;
	/* More than a header is not there any more. */
	if (before > HEADER)
		answer->stage = STAGE_OVER;
}

static __always_inline void end_result(struct connection *connection, __u8 status)
{
	struct answer *answer = &connection->answer;

	if (status & STATUS_MORE_RESULTS) {
		answer->stage = STAGE_RESULT;
		answer->has_columns = 0;
		return;
	}
	answer->stage = STAGE_OVER;
	connection->request.rows = answer->rows;
	connection->request.flags |= status & IN_TRANSACTION ? REQUEST_IN_TRANSACTION : REQUEST_NO_TRANSACTION;
}

/* More comes behind what seemed to end an answer: it was none, and nothing is known of what it said. */
static __always_inline void doubt_end(struct connection *connection)
{
	connection->request.rows = NOT_KNOWN;
	connection->request.flags &= ~(REQUEST_IN_TRANSACTION | REQUEST_NO_TRANSACTION);
}

/* What is at hand of an answer. */
struct piece {
	struct connection *connection;
	__u64 at;
	__u32 length;
	__u32 payload;		/* of the packet that begins there, behind its header */
	__u8 first;		/* byte of that */
};

/* Reads behind the first byte of a packet; whether it is there. */
static __always_inline int read_payload(struct piece *piece, void *to, __u32 length)
{
	return piece->length > length &&
	       !bpf_probe_read_user(to, length, (const void *)(piece->at + 1));
}

/* Bytes of a number that begins so; its first says how many follow. */
static __always_inline __u32 length_of_number(__u8 first)
{
	switch (first) {
	case 0xfc:
		return 3;
	case 0xfd:
		return 4;
	case 0xfe:
		return 9;
	default:
		return 1;
	}
}

/* OK: rows that were changed, the id of one, a status. */
static __always_inline void read_ok(struct piece *piece)
{
	__u32 first, second, length = piece->payload - 1;
	struct connection *connection = piece->connection;
	__u8 bytes[32] = {};
	__u64 changed = 0;

	connection->answer.stage = STAGE_OVER;
	if (length > MAX_OK_LENGTH)
		length = MAX_OK_LENGTH;
	if (length < END_LENGTH - 1 || !read_payload(piece, bytes, length))
		return;
	first = length_of_number(bytes[0]);
	if (first == 1)
		changed = bytes[0];
	for (__u32 i = 1; i < 9; i++)
		if (i < first)
			changed |= (__u64)bytes[i] << (8 * (i - 1));
	second = first + length_of_number(bytes[first & 15]);
	connection->answer.rows += changed;
	end_result(connection, bytes[second & 31]);
}

/* The number of columns, and to clients that can do without their definitions whether these follow: of
 * MariaDB behind the number, of MySQL before it. */
static __always_inline void read_columns(struct piece *piece)
{
	struct answer *answer = &piece->connection->answer;
	__u32 behind = piece->payload - 1;
	__u8 bytes[3] = {};

	answer->stage = STAGE_COLUMNS;
	answer->columns = piece->first;
	if (!behind)
		return;
	if (behind > sizeof(bytes) || !read_payload(piece, bytes, behind))
		answer->stage = STAGE_OVER;
	else if (piece->first == 0xfc)
		answer->columns = behind == 3 && !bytes[2] ? 0 : bytes[0] | (__u32)bytes[1] << 8;
	else if (piece->first == 1 && bytes[0] == 0xfc)
		answer->columns = bytes[1] | (__u32)bytes[2] << 8;
	else if (piece->first == 1 && bytes[0] > 1)
		answer->columns = bytes[0];
	else if (!bytes[0])
		answer->columns = 0;
}

/* Whether a statement is executed with many parameters: MariaDB may answer with a row for each, which
 * says how many it has changed. */
static __always_inline int is_bulk(struct connection *connection)
{
	return connection->request.command == COM_STMT_BULK_EXECUTE;
}

static __always_inline void begin_result(struct piece *piece)
{
	switch (piece->first) {
	case REPLY_OK:
		read_ok(piece);
		break;
	case REPLY_ERROR:
	case REPLY_FILE:
		piece->connection->answer.stage = STAGE_OVER;
		break;
	default:
		if (is_bulk(piece->connection))
			piece->connection->answer.stage = STAGE_OVER;
		else
			read_columns(piece);
	}
}

/* What ends rows, or the definitions of columns: warnings, or two numbers that are 0; a status. */
static __always_inline void read_end(struct piece *piece)
{
	struct connection *connection = piece->connection;
	struct answer *answer = &connection->answer;
	__u8 bytes[4] = {};

	answer->stage = STAGE_OVER;
	/* To clients from before 4.1 it is a byte alone. */
	if (piece->payload < EOF_LENGTH || !read_payload(piece, bytes, sizeof(bytes)))
		return;
	if (piece->payload == EOF_LENGTH && !answer->has_columns && !(bytes[2] & CURSOR_EXISTS)) {
		answer->stage = STAGE_ROWS;
		answer->has_columns = 1;
		return;
	}
	end_result(connection, bytes[2]);
}

static __always_inline void read_row(struct piece *piece)
{
	struct answer *answer = &piece->connection->answer;
	int continues = answer->row_continues;

	answer->row_continues = piece->payload == LONGEST;
	if (continues)
		return;
	if (piece->first == REPLY_END && piece->payload < LONGEST) {
		read_end(piece);
	} else if (piece->first == REPLY_ERROR) {
		answer->stage = STAGE_OVER;
	} else {
		answer->rows++;
		answer->has_columns = 1;
	}
}

/* The packet that begins with this header, of which what is behind is at hand. */
static __always_inline void begin_answer_packet(struct piece *piece, const __u8 *head)
{
	struct answer *answer = &piece->connection->answer;

	piece->payload = head[0] | (__u32)head[1] << 8 | (__u32)head[2] << 16;
	piece->first = piece->payload ? head[HEADER] : 0;
	if (!answer->packets++)
		answer->sequence = head[3];
	if (answer->sequence++ != head[3])
		/* It is not what it is taken for. */
		answer->stage = STAGE_OVER;
	else if (answer->stage == STAGE_ROWS)
		read_row(piece);
	else if (answer->stage == STAGE_RESULT)
		begin_result(piece);
	else if (answer->columns)
		answer->columns--;
	else
		read_row(piece);
	if (piece->payload > piece->length) {
		answer->rest = piece->payload - piece->length;
		piece->payload = piece->length;
	}
	piece->at += piece->payload;
	piece->length -= piece->payload;
}

static long next_packet(__u64 i, struct piece *piece)
{
	__u8 head[8];

	if (piece->length <= HEADER || piece->connection->answer.stage == STAGE_OVER)
		return 1;
	if (bpf_probe_read_user(head, HEADER + 1, (const void *)piece->at))
		return 1;
	piece->at += HEADER;
	piece->length -= HEADER;
	begin_answer_packet(piece, head);
	return 0;
}

/* What is left of the packet at hand, or of the next one's header. */
static __always_inline void finish_packet(struct piece *piece)
{
	struct answer *answer = &piece->connection->answer;
	__u32 length = answer->rest, have = answer->have & 7;

	if (length > piece->length)
		length = piece->length;
	piece->at += length;
	piece->length -= length;
	answer->rest -= length;
	if (!have || have > HEADER || !piece->length)
		return;
	length = HEADER + 1 - have;
	if (length > piece->length)
		length = piece->length;
	length = masked(length, 8);
	if (bpf_probe_read_user(&answer->head[have], length, (const void *)piece->at)) {
		answer->stage = STAGE_OVER;
		return;
	}
	answer->have += length;
	if (answer->have <= HEADER) {
		piece->length = 0;
		return;
	}
	/* The byte behind the header is the packet's. */
	piece->at += length - 1;
	piece->length -= length - 1;
	answer->have = 0;
	begin_answer_packet(piece, answer->head);
}

/* Whether there may be several statements in the text: a semicolon is somewhere in it, or behind it.
 * Global: see `consume`. Eight bytes at a time: https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord */
__noinline int may_be_multi(struct connection *connection)
{
	const __u64 ones = ~0ull / 255;
	const __u64 *at;
	__u64 differs;

	if (!connection || connection->request.command != COM_QUERY)
		return 0;
	at = (const __u64 *)connection->text.bytes;
	if (connection->request.flags & REQUEST_CUT)
		return 1;
	for (__u32 i = 0; i < TEXT_ROOM / 8 && 8 * i < connection->request.text_length; i++) {
		differs = at[i] ^ ones * ';';
		if ((differs - ones) & ~differs & ones << 7)
			return 1;
	}
	return 0;
}

/* Whether the last bytes of rows are an EOF, or the OK that replaces it: of both the packet, and as many
 * bytes before it as the longer has more. */
static __always_inline int is_old_end(const __u8 *tail)
{
	return tail[2] == EOF_LENGTH && !tail[3] && !tail[4] && tail[6] == REPLY_END;
}

static __always_inline int is_new_end(const __u8 *tail)
{
	return tail[0] == END_LENGTH && !tail[1] && !tail[2] && tail[4] == REPLY_END;
}

/* How many definitions of columns follow the first packet of a result, which has one byte or two. */
static __always_inline __u32 definitions_behind(const __u8 *head)
{
	__u8 first = head[HEADER], second = head[HEADER + 1];

	if (head[0] == 1)
		return first;
	if (first == 1 && second > 1)
		return second;
	return second ? first : 0;
}

/*
 * A short answer with rows of one statement: the number of its last packet gives their count.
 * Returns whether that is so.
 */
static __always_inline int read_short_answer(struct piece *piece)
{
	struct connection *connection = piece->connection;
	struct answer *answer = &connection->answer;
	__u8 tail[HEADER + END_LENGTH], head[8], last, status;
	int number, is_result = answer->stage == STAGE_RESULT, is_old = 0;

	if (piece->length > SHORT_ANSWER || piece->length < 2 * sizeof(tail))
		return 0;
	if (bpf_probe_read_user(head, HEADER + 2, (const void *)piece->at) ||
	    bpf_probe_read_user(tail, sizeof(tail),
				(const void *)(piece->at + piece->length - sizeof(tail))))
		return 0;
	if (is_old_end(tail)) {
		/* Another of these stands behind the columns. */
		is_old = is_result;
		last = tail[5];
		status = tail[9];
	} else if (is_new_end(tail)) {
		last = tail[3];
		status = tail[7];
	} else {
		return 0;
	}
	if (may_be_multi(connection) || is_bulk(connection))
		return 0;
	number = (__u8)(last - head[3]) - is_old;
	if (is_result) {
		if (!head[0] || head[0] > 2 || head[1] || head[2] || !head[HEADER] ||
		    head[HEADER] >= REPLY_FILE)
			return 0;
		number -= 1 + definitions_behind(head);
	}
	/* There are none yet where the columns end and rows are to be fetched. */
	if (is_result && status & CURSOR_EXISTS)
		number = 0;
	if (number < 0)
		return 0;
	answer->rows += number;
	end_result(connection, status);
	return 1;
}

/* Goes through a piece of an answer. Global: see `consume`. */
__noinline int count_rows(struct connection *connection, __u64 at, __u32 length)
{
	struct piece piece = { .connection = connection, .at = at, .length = length };
	struct answer *answer;
	__u64 worth;

	if (!connection)
		return 0;
	answer = &connection->answer;
	if (!answer->packets && !answer->have && read_short_answer(&piece))
		return 0;
	worth = (bpf_ktime_get_ns() - connection->start) / NS_PER_PACKET + MIN_PACKETS;
	worth = worth > answer->packets ? worth - answer->packets : 0;
	finish_packet(&piece);
	bpf_loop(worth < MAX_PACKETS ? worth : MAX_PACKETS, next_packet, &piece, 0);
	if (piece.length > HEADER || answer->stage == STAGE_OVER) {
		answer->stage = STAGE_OVER;
		if (piece.length)
			doubt_end(connection);
	} else if (piece.length) {
		answer->have = piece.length;
		if (bpf_probe_read_user(answer->head, piece.length, (const void *)piece.at))
			answer->stage = STAGE_OVER;
	}
	return 0;
}

#endif
