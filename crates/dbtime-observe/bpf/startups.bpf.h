/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * How clients of PostgreSQL begin, wherever a read ends in that:
 *
 *   [wish for encryption ──► 'S', 'G' or 'N']  startup packet ──► … ReadyForQuery
 *   length, version, "user", "app", "database", "shop", … and an empty name
 *
 * Behind a startup packet requests may lie in the same read: the server turns to them once it is ready.
 */
#ifndef DBTIME_STARTUPS_H
#define DBTIME_STARTUPS_H

#include "openings.bpf.h"
#include "postgres_messages.h"

#define OPENING_HEAD 8		/* bytes of a length and of what is wanted */
#define LONGEST_STARTUP 10004	/* bytes of a startup packet with its length: servers refuse longer ones */
#define PG_GSS_AGREED 'G'	/* how a server agrees to encrypt by GSS */

/* What a startup packet asks for, or what stands in its place. */
enum startup_code {
	STARTUP_2 = 2,		/* the upper halves of a protocol's version */
	STARTUP_3 = 3,
	STARTUP_CANCELS = 1234 << 16 | 5678,	/* what another connection has asked for */
	STARTUP_ASKS_TLS = 1234 << 16 | 5679,
	STARTUP_ASKS_GSS = 1234 << 16 | 5680,
};

static __always_inline int is_user(const char *key)
{
	return key[0] == 'u' && key[1] == 's' && key[2] == 'e' && key[3] == 'r' && !key[4];
}

static __always_inline int is_database(const char *key)
{
	return key[0] == 'd' && key[1] == 'a' && key[2] == 't' && key[3] == 'a' && key[4] == 'b' &&
	       key[5] == 'a' && key[6] == 's' && key[7] == 'e' && !key[8];
}

/* A replica's, of which the value is some way to say yes, or `database`. */
static __always_inline int is_replication(const char *key)
{
	return key[0] == 'r' && key[1] == 'e' && key[2] == 'p' && key[3] == 'l' && key[4] == 'i' &&
	       key[5] == 'c' && key[6] == 'a' && key[7] == 't' && key[8] == 'i' && key[9] == 'o' &&
	       key[10] == 'n' && !key[11];
}

static __always_inline int is_no(const char *value)
{
	char first = value[0] | 32;

	return first == 'f' || first == 'n' || value[0] == '0' || (first == 'o' && (value[1] | 32) == 'f');
}

/* A word of a startup packet is whole: it lies where a text does, with zeros behind it. */
static __always_inline void end_startup_word(struct connection *connection)
{
	struct startup_reading *startup = &connection->startup;
	const char *word = connection->text.bytes;

	switch (startup->word) {
	case WORD_NAME:
		if (!startup->length)
			startup->word = WORD_NONE;
		else if (is_user(word))
			startup->word = WORD_USER;
		else if (is_database(word))
			startup->word = WORD_DATABASE;
		else
			startup->word = is_replication(word) ? WORD_REPLICATION : WORD_VALUE;
		return;
	case WORD_USER:
		__builtin_memcpy(connection->login.user, connection->text.bytes, NAME_ROOM);
		break;
	case WORD_DATABASE:
		__builtin_memcpy(connection->login.database, connection->text.bytes, NAME_ROOM);
		break;
	case WORD_REPLICATION:
		connection->is_replica = !is_no(word);
		break;
	}
	startup->word = WORD_NAME;
}

/* Of a long word its beginning is kept, as the server does with names. */
static __always_inline void take_startup_byte(struct connection *connection, __u8 byte)
{
	struct startup_reading *startup = &connection->startup;
	__u32 at = startup->length;

	if (!byte) {
		end_startup_word(connection);
		startup->length = 0;
		__builtin_memset(connection->text.bytes, 0, NAME_ROOM);
	} else if (at < NAME_ROOM - 1) {
		/* The compiler knows more of it than the verifier: the mask is to stay. */
		barrier_var(at);
		connection->text.bytes[at & (NAME_ROOM - 1)] = byte;
		startup->length = at + 1;
	}
}

/* Bytes of a startup packet that were read. */
struct startup_walk {
	struct connection *connection;
	__u64 at;
	__u32 length;
};

static long next_startup_byte(__u64 i, struct startup_walk *walk)
{
	struct connection *connection = walk->connection;
	__u8 byte = 0;

	if (i >= walk->length || connection->startup.word > WORD_NONE)
		return 1;
	if (connection->startup.word == WORD_NONE)
		connection->startup.word = WORD_REFUSED;
	else if (bpf_probe_read_user(&byte, 1, (const void *)(walk->at + i)))
		connection->startup.word = WORD_UNREAD;
	else
		take_startup_byte(connection, byte);
	return 0;
}

/* What may be a startup packet is whole. What lies behind it waits until the server is ready. Where words do
 * not end with it servers refuse it, or it is something else: a COPY from before may have values that begin
 * as startup packets do. Then nothing was understood. */
static __always_inline void end_startup(struct connection *connection, __u64 behind, __u32 left)
{
	struct login *login = &connection->login;
	__u8 word = connection->startup.word;

	if (word != WORD_NONE) {
		__builtin_memset(login->user, 0, sizeof(login->user));
		__builtin_memset(login->database, 0, sizeof(login->database));
	}
	if (word != WORD_NONE && word != WORD_UNREAD)
		return;
	connection->strange = STRANGE_NOT;
	connection->framing = FRAMING_SYNCED;
	connection->guess = GUESS_NONE;
	connection->is_logging_in = 1;
	connection->ahead = behind;
	connection->ahead_rx_at = connection->rx_first_at;
	connection->ahead_length = left;
	if (word != WORD_NONE)
		return;
	if (login->user[0]) {
		if (!login->database[0])
			__builtin_memcpy(login->database, login->user, NAME_ROOM);
		publish_login(connection);
	}
	if (connection->is_replica)
		leave_alone(connection, COUNT_REPLICATION);
}

/* Takes what was read of a startup packet. Returns that it was one so far. Global: see `consume`. */
__noinline int take_startup(struct connection *connection, __u64 address, __u32 length)
{
	struct startup_walk walk = { .connection = connection, .at = address };
	__u32 taken;

	if (!connection)
		return 0;
	taken = connection->startup.rest < length ? connection->startup.rest : length;
	walk.length = taken;
	bpf_loop(LONGEST_STARTUP, next_startup_byte, &walk, 0);
	connection->startup.rest -= taken;
	if (!connection->startup.rest)
		end_startup(connection, address + taken, length - taken);
	return 1;
}

/* What is wanted is known, and so many bytes of the same read are behind that. Returns whether it is
 * anything. No request is under way. */
static __always_inline int begin_opening(struct connection *connection, __u64 behind, __u32 left)
{
	__u32 whole = big_endian(connection->header), code = big_endian(connection->header + 4);
	struct login *login = &connection->login;

	if (whole == OPENING_HEAD && (code == STARTUP_ASKS_TLS || code == STARTUP_ASKS_GSS)) {
		/* Nothing may be behind it before it is answered. */
		if (!left)
			connection->strange = STRANGE_NOT;
		connection->gss = code == STARTUP_ASKS_GSS ? GSS_ASKED : GSS_NOT_ASKED;
		return 1;
	}
	if (code == STARTUP_CANCELS) {
		leave_alone(connection, COUNT_CANCELS);
		return 1;
	}
	if (code >> 16 == STARTUP_2) {
		leave_alone(connection, COUNT_OTHER_PROTOCOL);
		return 1;
	}
	if (code >> 16 != STARTUP_3 || whole < OPENING_HEAD || whole > LONGEST_STARTUP)
		return 0;
	connection->startup.rest = whole - OPENING_HEAD;
	connection->startup.length = 0;
	connection->startup.word = WORD_NAME;
	connection->is_replica = 0;
	__builtin_memset(connection->text.bytes, 0, NAME_ROOM);
	__builtin_memset(login->user, 0, sizeof(login->user));
	__builtin_memset(login->database, 0, sizeof(login->database));
	return take_startup(connection, behind, left);
}

/*
 * A startup packet, or what stands in its place, of which any number of bytes may have come with this read.
 * Returns whether it is one so far. Until it is whole it counts as nothing that was understood. Global:
 * see `consume`.
 */
__noinline int read_opening(struct connection *connection, __u64 address, __u32 length)
{
	__u32 have, taken = 0;

	if (!connection || connection->start)
		return 0;
	if (connection->startup.rest)
		return take_startup(connection, address, length);
	have = connection->header_length;
	connection->header_length = 0;
	for (int i = 0; i < OPENING_HEAD; i++) {
		if (have >= OPENING_HEAD || taken >= length)
			break;
		if (bpf_probe_read_user(&connection->header[have & (OPENING_HEAD - 1)], 1,
					(const void *)(address + taken)))
			return 0;
		have++;
		taken++;
	}
	/* None is so long that its length has more than two bytes. */
	if (connection->header[0] || (have > 1 && connection->header[1]))
		return 0;
	if (have == OPENING_HEAD)
		return begin_opening(connection, address + taken, length - taken);
	connection->header_length = have;
	return 1;
}

/* Whether a server answers its client's wish for GSS. Where it agrees, nothing can be read of what is said
 * from then on: that is nothing where the client leaves. */
static __always_inline int is_gss_answer(struct connection *connection, __u64 address,
					 __u32 length)
{
	__u8 first = 0, wish = connection->gss;

	if (wish == GSS_NOT_ASKED || connection->start)
		return 0;
	connection->gss = GSS_NOT_ASKED;
	if (wish == GSS_AGREED) {
		leave_alone(connection, COUNT_GSS);
		return 1;
	}
	/* An error is longer. */
	if (length != 1)
		return 0;
	if (!bpf_probe_read_user(&first, 1, (const void *)address) && first == PG_GSS_AGREED)
		connection->gss = GSS_AGREED;
	return 1;
}

#endif
