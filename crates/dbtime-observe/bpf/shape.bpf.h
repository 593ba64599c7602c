/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The shape of a statement: a hash of its text without literals and comments. Texts of one shape are
 * the same statement, but for how long its lists are; `dbtime-sql`, which looks closer, finds more of
 * them the same.
 */
#ifndef DBTIME_SHAPE_H
#define DBTIME_SHAPE_H

#include "connections.bpf.h"

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

enum inside { PLAIN, NUMBER, COMMENT, QUOTED };

static __always_inline int is_digit(__u8 c)
{
	return c >= '0' && c <= '9';
}

/* Whether it goes on with a name. */
static __always_inline int is_word_byte(__u8 c)
{
	return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$' || c >= 128;
}

static __always_inline void mix(struct shaper *shaper, __u8 c)
{
	shaper->hash = (shaper->hash ^ c) * FNV_PRIME;
}

/* Lists of literals count as one. */
static __always_inline void shape_literal(struct shaper *shaper)
{
	if (!shaper->follows_literal)
		mix(shaper, '?');
	shaper->follows_literal = 1;
	shaper->has_comma = 0;
}

static __always_inline void shape_plain(struct shaper *shaper, __u8 c, __u8 next, __u8 third)
{
	if (c == '\'' || c == '"') {
		shaper->inside = QUOTED;
		shaper->quote = c;
		shape_literal(shaper);
	} else if (is_digit(c) && !is_word_byte(shaper->last)) {
		shaper->inside = NUMBER;
		shape_literal(shaper);
	} else if (c == '/' && next == '*' && third != '!' && third != '+') {
		shaper->inside = COMMENT;
	} else if (shaper->follows_literal && (c == ' ' || c == ',')) {
		shaper->has_comma |= c == ',';
	} else {
		if (shaper->has_comma)
			mix(shaper, ',');
		mix(shaper, c);
		shaper->has_comma = 0;
		shaper->follows_literal = 0;
	}
}

/* Inside of quotes, of which a backslash keeps the next from being the last. */
static __always_inline void shape_quoted(struct shaper *shaper, __u8 c)
{
	int is_escaped = shaper->last == '\\';

	if (c == shaper->quote && !is_escaped)
		shaper->inside = PLAIN;
	/* An escaped backslash escapes nothing. */
	shaper->last = is_escaped ? 0 : c;
}

struct shaped {
	struct connection *connection;
};

static long next_byte(__u64 i, struct shaped *shaped)
{
	struct shaper *shaper = &shaped->connection->shaper;
	const char *at = shaped->connection->text.bytes;
	__u8 c;

	i += shaper->from;
	if (i >= shaper->length || i >= TEXT_ROOM)
		return 1;
	c = at[i];
	if (shaper->inside == QUOTED) {
		shape_quoted(shaper, c);
		return 0;
	}
	if (shaper->inside == COMMENT) {
		if (c == '/' && shaper->last == '*')
			shaper->inside = PLAIN;
	} else if (shaper->inside == PLAIN || (!is_word_byte(c) && c != '.')) {
		shaper->inside = PLAIN;
		shape_plain(shaper, c, at[(i + 1) & (TEXT_ROOM - 1)], at[(i + 2) & (TEXT_ROOM - 1)]);
	}
	shaper->last = c;
	return 0;
}

/* The shape of what a connection's text has between two places. Global: see `consume`. */
__noinline __u64 shape_between(struct connection *connection, __u32 from, __u32 to)
{
	struct shaped shaped = { connection };
	__u64 hash;

	if (!connection)
		return 0;
	__builtin_memset(&connection->shaper, 0, sizeof(connection->shaper));
	connection->shaper.hash = FNV_BASIS;
	connection->shaper.from = from;
	connection->shaper.length = to;
	bpf_loop(TEXT_ROOM - 1, next_byte, &shaped, 0);
	hash = connection->shaper.hash;
	/* Small numbers are names of other rows. */
	return hash < SHAPES ? hash + SHAPES : hash;
}

/* The shape of the whole text, or of the text from the server. */
static __always_inline __u64 shape_of(struct connection *connection)
{
	struct request *request = &connection->request;

	return shape_between(connection, request->flags & REQUEST_SERVER_TEXT ? SERVER_TEXT_AT : 0,
			     request->text_length);
}

#endif
