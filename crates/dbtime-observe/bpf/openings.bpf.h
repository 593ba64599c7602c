/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * How connections begin, before the first request: with the header of a proxy, a greeting; and which are
 * no clients' of these protocols, or ask for no statements.
 *
 *   MySQL:       [header]  greeting ──► login …
 *   PostgreSQL:  [header]  see `startups.bpf.h`
 *
 * Source of the headers: "The PROXY protocol, versions 1 & 2" (haproxy.org).
 *
 *   "PROXY TCP4 192.0.2.7 192.0.2.1 56324 3306\r\n"
 *   12 bytes, version and command, family, length; both addresses, both ports, and more
 */
#ifndef DBTIME_OPENINGS_H
#define DBTIME_OPENINGS_H

#include "logins.bpf.h"
#include "requests.bpf.h"

#define PROXY_LINE 0x59584f5250ull	/* "PROXY" */
#define PROXY_LINE_SIGNS 5
#define PROXY_BINARY 0x510a0d000a0d0a0dull	/* eight of the twelve bytes, */
#define PROXY_BINARY_END 0x0a544955ull		/* and the other four */
#define PROXY_BINARY_SIGNS 12
#define PROXY_DECIDED 4		/* with so many of these no packet and no message begins */
#define LONGEST_PROXY_LINE 107
#define NO_WORD 128		/* a line has fewer, also behind that */
#define PROXY_HEAD 16		/* bytes of the other header before the addresses */
#define PROXY_NAMED 52		/* bytes of it up to the client's port, where addresses are longest */
#define BLIND 7			/* turns of an encrypted connection: agreement, login, and an answer */
#define SEES_PLAIN_BYTES 255
#define X_GREETING 0x0b		/* the kind of a server's first message in MySQL's X protocol */

/* What is heard of it from here on is nobody's request, or cannot be read; no request is under way.
 * Global: see `consume`. */
__noinline int leave_alone(struct connection *connection, __u32 why)
{
	if (!connection)
		return 0;
	/* What is encrypted is not read any more. */
	connection->role = why == COUNT_GSS ? ROLE_IGNORED : ROLE_ASIDE;
	/* The check is to stay: the verifier does not know what it is called with. */
	barrier_var(why);
	if (why < COUNTS)
		count(why);
	return 0;
}

/* The same where a request may be under way, whose answer is not seen then. Global: see `consume`. */
__noinline int set_aside(struct connection *connection, __u32 why)
{
	if (!connection)
		return 0;
	abort_request(connection);
	leave_alone(connection, why);
	return 0;
}

/* A connection or the watching ends: one that has said nothing that was understood is counted, once.
 * Global: see `consume`. */
__noinline int account_for_strange(struct connection *connection)
{
	int is_synced;
	__u8 strange;

	if (!connection)
		return 0;
	strange = connection->strange;
	connection->strange = STRANGE_NOT;
	/* What seemed to be a message, and has not ended, was perhaps none. */
	is_synced = connection->framing == FRAMING_SYNCED &&
		    (connection->guess == GUESS_NONE || !connection->rest);
	if (strange == STRANGE_NOT || is_synced || connection->request.length)
		return 0;
	if (strange == STRANGE_STREAM)
		count(COUNT_REPLICATION);
	else
		count(COUNT_UNPARSED);
	return 0;
}

/* The proxy says whose connection it is: not that of who is at the socket's other end. */
static __always_inline void replace_client(struct login *login, __u16 family)
{
	__builtin_memset(login->address, 0, sizeof(login->address));
	login->port = 0;
	login->family = family;
}

/* A header is over. One without a port has told of no client. */
static __always_inline void end_proxy_header(struct connection *connection)
{
	struct login *login = &connection->login;

	connection->opening = OPENING_OVER;
	if (!login->port && login->family != AF_UNIX)
		replace_client(login, AF_UNSPEC);
	stream_login(connection);
}

/* A byte of a line: words with a space between them. An address of IPv6 is not read. */
static __always_inline void take_line_byte(struct connection *connection, __u8 byte)
{
	struct proxy_header *proxy = &connection->proxy;
	struct login *login = &connection->login;
	__u32 digit = (__u32)byte - '0', part = proxy->part & 3;

	if (byte == '\n') {
		end_proxy_header(connection);
	} else if (byte == ' ') {
		proxy->word++;
		proxy->part = 0;
	} else if (proxy->word == 1 && byte == 'T') {
		replace_client(login, AF_UNSPEC);
	} else if (proxy->word == 1 && byte == 'U') {
		/* UNKNOWN: the client is who is at the socket's other end. */
		proxy->word = NO_WORD;
	} else if (proxy->word == 1 && byte == '4') {
		login->family = AF_INET;
	} else if (login->family != AF_INET) {
		return;
	} else if (proxy->word == 2 && byte == '.') {
		proxy->part++;
	} else if (proxy->word == 2 && digit < 10) {
		login->address[part] = login->address[part] * 10 + digit;
	} else if (proxy->word == 4 && digit < 10 && login->port <= 65535) {
		login->port = login->port * 10 + digit;
	}
}

/* A byte behind the first twelve of the other header, by its place. */
static __always_inline void take_binary_byte(struct connection *connection, __u32 place, __u8 byte)
{
	struct proxy_header *proxy = &connection->proxy;
	struct login *login = &connection->login;
	__u32 behind = place - PROXY_HEAD, address = proxy->part;

	switch (place) {
	case 12:
		/* Whether it is a client's connection, or the proxy's own. */
		proxy->word = byte & 1;
		return;
	case 13:
		proxy->part = 0;
		if (!proxy->word || byte < 0x10)
			return;
		replace_client(login, AF_UNSPEC);
		if (byte >> 4 == 1 || byte >> 4 == 2) {
			login->family = byte >> 4 == 1 ? AF_INET : AF_INET6;
			proxy->part = byte >> 4 == 1 ? 4 : 16;
		}
		return;
	case 14:
		proxy->rest = (__u32)byte << 8;
		return;
	case 15:
		proxy->rest |= byte;
		break;
	default:
		proxy->rest--;
		if (behind < address)
			login->address[behind & 15] = byte;
		else if (address && (behind == 2 * address || behind == 2 * address + 1))
			login->port = login->port << 8 | byte;
	}
	if (!proxy->rest)
		end_proxy_header(connection);
}

/* A byte of what may be a header; whether it is one so far. */
static __always_inline int take_proxy_byte(struct connection *connection, __u8 byte)
{
	struct proxy_header *proxy = &connection->proxy;
	__u32 place = proxy->taken, signs = PROXY_LINE_SIGNS;
	__u64 begin = PROXY_LINE;

	if (!place)
		connection->opening = byte == (PROXY_LINE & 0xff) ? OPENING_LINE : OPENING_BINARY;
	if (connection->opening == OPENING_BINARY) {
		begin = place < 8 ? PROXY_BINARY : PROXY_BINARY_END;
		signs = PROXY_BINARY_SIGNS;
	}
	if (place < signs && byte != (__u8)(begin >> 8 * (place & 7)))
		return 0;
	proxy->taken = place + 1;
	if (place < signs)
		return 1;
	if (connection->opening == OPENING_BINARY) {
		take_binary_byte(connection, place, byte);
		return 1;
	}
	take_line_byte(connection, byte);
	return place + 1 < LONGEST_PROXY_LINE || byte == '\n';
}

/* What is left of bytes that were read. */
struct proxy_walk {
	struct connection *connection;
	__u64 at;
	__u32 length;
	__u32 is_none;		/* they are no header */
};

static long next_proxy_byte(__u64 i, struct proxy_walk *walk)
{
	struct connection *connection = walk->connection;
	__u8 byte = 0;

	if (!walk->length || connection->opening == OPENING_OVER)
		return 1;
	/* What is behind the addresses is skipped at once. */
	if (connection->opening == OPENING_BINARY && connection->proxy.taken >= PROXY_NAMED)
		return 1;
	if (bpf_probe_read_user(&byte, 1, (const void *)walk->at) || !take_proxy_byte(connection, byte)) {
		walk->is_none = 1;
		return 1;
	}
	walk->at++;
	walk->length--;
	return 0;
}

/* It does not begin with a header. Earlier reads may have had bytes that a header has as well: what they
 * were is known. */
static __always_inline void give_back(struct connection *connection, __u32 before)
{
	__u64 begin = connection->opening == OPENING_LINE ? PROXY_LINE : PROXY_BINARY;

	connection->opening = OPENING_OVER;
	if (before >= PROXY_DECIDED) {
		/* It looked like one, and goes on as none does. */
		reset_framing(connection);
		connection->strange = STRANGE_BYTES;
	} else if (before && connection->framing == FRAMING_SYNCED) {
		connection->header[0] = begin;
		connection->header[1] = begin >> 8;
		connection->header[2] = begin >> 16;
		connection->header_length = before;
	}
}

/* Takes what belongs to the header of a proxy, which goes before all else and may come in pieces. Returns
 * how many of the bytes that are. Global: see `consume`. */
__noinline __u32 take_proxy_header(struct connection *connection, __u64 address, __u32 length)
{
	struct proxy_walk walk = { .connection = connection, .at = address, .length = length };
	__u32 skipped, before;

	if (!connection)
		return 0;
	before = connection->proxy.taken;
	bpf_loop(LONGEST_PROXY_LINE, next_proxy_byte, &walk, 0);
	if (walk.is_none) {
		give_back(connection, connection->proxy.taken < PROXY_DECIDED ? before : PROXY_DECIDED);
		return 0;
	}
	if (connection->opening == OPENING_BINARY && connection->proxy.taken >= PROXY_NAMED) {
		skipped = connection->proxy.rest < walk.length ? connection->proxy.rest : walk.length;
		connection->proxy.rest -= skipped;
		walk.length -= skipped;
		if (!connection->proxy.rest)
			end_proxy_header(connection);
	}
	/* By itself it is nothing that a server of PostgreSQL's understands. */
	if (connection->request.protocol == PROTOCOL_POSTGRES)
		connection->strange = STRANGE_BYTES;
	return length - walk.length;
}

/*
 * The server's library may be none of those that there are probes on, and give no plain bytes. That shows
 * once both sides have spoken more often than it takes to agree and to log in: a turn is a read behind
 * what was sent, or the other way round.
 */
static __always_inline void note_blind_read(struct connection *connection)
{
	if (connection->blind_turns < BLIND && connection->blind_turns & 1)
		connection->blind_turns++;
}

static __always_inline void note_blind_send(struct connection *connection)
{
	if (connection->blind_turns >= BLIND || connection->blind_turns & 1)
		return;
	connection->blind_turns++;
	/* It has understood that its client encrypts. */
	connection->strange = STRANGE_NOT;
	if (connection->blind_turns == BLIND)
		count(COUNT_TLS);
}

enum greeting { GREETING_NONE, GREETING_CLASSIC, GREETING_X };

/* A server of MySQL's that speaks first greets a new client, in one of its protocols (enum greeting).
 * The version and a zero are followed by the number that it gives the connection. Global: see
 * `consume`. */
__noinline int read_greeting(struct connection *connection, __u64 address, __u32 length)
{
	const char *at = (const char *)address;
	__u8 h[HEADER + 1] = {};
	char version[NAME_ROOM];
	__u32 id = 0;
	long read;

	if (!connection || length < sizeof(h) || bpf_probe_read_user(h, sizeof(h), at))
		return GREETING_NONE;
	/* There a length of four bytes and a kind begin a message. */
	if (h[0] == length - HEADER && !h[1] && !h[2] && !h[3] && h[4] == X_GREETING)
		return GREETING_X;
	if (h[3] != 0 || h[4] != 10)
		return GREETING_NONE;
	read = read_user_string(version, sizeof(version), at + sizeof(h));
	if (read <= 0 || read == sizeof(version) ||
	    bpf_probe_read_user(&id, sizeof(id), at + sizeof(h) + read))
		return GREETING_CLASSIC;
	connection->login.id = id;
	stream_login(connection);
	return GREETING_CLASSIC;
}

#endif
