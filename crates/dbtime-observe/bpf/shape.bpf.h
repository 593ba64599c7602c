/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The shape of a statement: a hash of its text without literals, comments, and names that clients make
 * up, of savepoints and cursors. Texts of one shape are the same statement, but for how long its lists
 * are; `dbtime-sql`, which looks closer, finds more of them the same.
 *
 * Texts are read as the server does by its defaults, or by what its answers say of the session.
 */
#ifndef DBTIME_SHAPE_H
#define DBTIME_SHAPE_H

#include "words.bpf.h"

enum inside {
	PLAIN,
	NUMBER,
	COMMENT,
	LINE,		/* a comment that its line ends */
	QUOTED,
	NAME,		/* in quotes */
	MADE_UP,	/* a name without quotes that is left out */
	TAG,		/* PostgreSQL: between the dollar signs that begin a string */
	DOLLARS,	/* PostgreSQL: a string that the same ends */
};

/* What a number is so far. MySQL's names may begin with digits. */
enum number { DIGITS, FRACTION, EXPONENT, HEX, BITS };

static __always_inline __u64 mixed(__u64 hash, __u8 c)
{
	return (hash ^ c) * FNV_PRIME;
}

static __always_inline void mix(struct shaper *shaper, __u8 c)
{
	shaper->hash = mixed(shaper->hash, c);
}

/* Lists of literals count as one. */
static __always_inline void shape_literal(struct shaper *shaper)
{
	if (!shaper->follows_literal)
		mix(shaper, '?');
	shaper->follows_literal = 1;
	shaper->has_comma = 0;
}

/* What counts as it is. */
static __always_inline void shape_byte(struct shaper *shaper, __u8 c)
{
	if (shaper->has_comma)
		mix(shaper, ',');
	mix(shaper, c);
	shaper->has_comma = 0;
	shaper->follows_literal = 0;
}

static __always_inline void begin_quoted(struct shaper *shaper, __u8 quote, int has_escapes)
{
	if (shaper->verb == VERB_NEXT)
		shaper->verb = VERB_OTHER;
	shaper->inside = QUOTED;
	shaper->quote = quote;
	shaper->escapes = has_escapes;
	shaper->is_escaped = 0;
	shape_literal(shaper);
}

static __always_inline void begin_name(struct shaper *shaper, __u8 quote)
{
	if (shaper->verb >= VERB_NAMES) {
		begin_quoted(shaper, quote, 0);
		return;
	}
	shaper->inside = NAME;
	shaper->quote = quote;
	shape_byte(shaper, quote);
}

static __always_inline void begin_number(struct shaper *shaper, __u8 c)
{
	__u64 hash = shaper->has_comma ? mixed(shaper->hash, ',') : shaper->hash;

	shaper->inside = NUMBER;
	shaper->number = DIGITS;
	shaper->hash_of_name = mixed(hash, c);
	shape_literal(shaper);
}

/* Whether a number goes on. */
static __always_inline int number_has(struct shaper *shaper, __u8 c)
{
	__u8 small = c | 32;

	if (shaper->is_postgres)
		return is_word_byte(c) || c == '.';
	if (!is_word_byte(c) && (c != '.' || shaper->number != DIGITS))
		return 0;
	if (c == '.')
		shaper->number = FRACTION;
	else if (shaper->number == BITS ? c == '0' || c == '1' : is_digit(c))
		;
	else if (small == 'e' && shaper->number <= FRACTION)
		shaper->number = shaper->number == FRACTION ? FRACTION : EXPONENT;
	else if (shaper->number == HEX && small >= 'a' && small <= 'f')
		;
	else if (shaper->number == DIGITS && shaper->last == '0' && (c == 'x' || c == 'b'))
		shaper->number = c == 'x' ? HEX : BITS;
	else
		return 0;
	shaper->hash_of_name = mixed(shaper->hash_of_name, c);
	return 1;
}

/* A number ends. Where a word goes on it was none, but for what is behind a fraction. */
static __always_inline void end_number(struct shaper *shaper, __u8 c)
{
	shaper->inside = PLAIN;
	if (shaper->is_postgres || !is_word_byte(c) || shaper->number == FRACTION)
		return;
	shaper->hash = shaper->hash_of_name;
	shaper->has_comma = 0;
	shaper->follows_literal = 0;
}

/* Whether a comment begins; MySQL executes the text of some. */
static __always_inline int begins_comment(struct shaper *shaper, __u8 c, __u8 next, __u8 third,
					  __u8 fourth)
{
	int is_line = c == '-' && next == '-';

	if (shaper->is_postgres) {
		shaper->inside = is_line ? LINE : COMMENT;
		return is_line || (c == '/' && next == '*');
	}
	is_line = c == '#' || (is_line && (third <= ' ' || third == 127));
	shaper->inside = is_line ? LINE : COMMENT;
	return is_line || (c == '/' && next == '*' && third != '!' && !(third == 'M' && fourth == '!'));
}

/* A byte of the text at hand; 0: it has ended. */
static __always_inline __u8 byte_at(struct connection *connection, __u32 at)
{
	if (at >= connection->shaper.length)
		return 0;
	return connection->text.bytes[at & (TEXT_ROOM - 1)];
}

static __always_inline void shape_plain(struct connection *connection, __u32 at, __u8 c)
{
	__u8 next = byte_at(connection, at + 1), third = byte_at(connection, at + 2);
	__u8 fourth = byte_at(connection, at + 3);
	struct shaper *shaper = &connection->shaper;
	__u8 last = shaper->last, is_prefix = shaper->is_prefix, follows_dot = shaper->follows_dot;
	int begins_word = !is_word_byte(last);

	shaper->is_prefix = (c | 32) == 'e' && begins_word;
	shaper->follows_dot = c == '.' && (!begins_word || last == '`' || last == '"');
	shaper->depth = 0;
	shaper->tag = 0;
	if (c == '\'') {
		/* What follows a quote that closed is a doubled one: the string goes on as it began. */
		begin_quoted(shaper, c, last == '\'' ? shaper->escapes :
			     shaper->has_escapes || (shaper->is_postgres && is_prefix));
	} else if (c == '"' && !shaper->quotes_names) {
		begin_quoted(shaper, c, shaper->has_escapes);
	} else if (c == '"' || (c == '`' && !shaper->is_postgres)) {
		begin_name(shaper, c);
	} else if (is_digit(c) && begins_word && (!follows_dot || shaper->is_postgres)) {
		begin_number(shaper, c);
	} else if (c == '$' && begins_word && shaper->is_postgres && !is_digit(next)) {
		shaper->inside = TAG;
	} else if (begins_comment(shaper, c, next, third, fourth)) {
		;
	} else if (shaper->follows_literal && (c == ' ' || c == ',')) {
		shaper->inside = PLAIN;
		shaper->has_comma |= c == ',';
	} else if (shaper->verb != VERB_OTHER && begins_word && is_word_byte(c) &&
		   is_made_up(connection, at)) {
		shaper->inside = MADE_UP;
		shape_literal(shaper);
	} else {
		shaper->inside = PLAIN;
		if (c == ';')
			shaper->verb = VERB_FIRST;
		shape_byte(shaper, c);
	}
}

/* Inside of quotes, of which a backslash may keep the next from being the last. */
static __always_inline void shape_quoted(struct shaper *shaper, __u8 c)
{
	if (shaper->is_escaped)
		shaper->is_escaped = 0;
	else if (c == '\\' && shaper->escapes)
		shaper->is_escaped = 1;
	else if (c == shaper->quote)
		shaper->inside = PLAIN;
}

/* Inside of a comment, from its star on. PostgreSQL's may have others in them. Returns what the next
 * byte finds before it. */
static __always_inline __u8 shape_comment(struct shaper *shaper, __u8 c)
{
	if (c == '*' && shaper->last == '/' && (shaper->is_postgres || !shaper->depth)) {
		shaper->depth++;
		return 0;
	}
	if (c != '/' || shaper->last != '*')
		return c;
	shaper->depth--;
	if (!shaper->depth)
		shaper->inside = PLAIN;
	return 0;
}

/* Inside of a string between dollar signs, which the same tag ends. */
static __always_inline void shape_dollars(struct shaper *shaper, __u8 c)
{
	if (c == '$' && shaper->may_end && shaper->end_tag == shaper->tag) {
		shaper->inside = PLAIN;
	} else if (c == '$') {
		shaper->may_end = 1;
		shaper->end_tag = 0;
	} else if (is_word_byte(c)) {
		shaper->end_tag = mixed(shaper->end_tag, c);
	} else {
		shaper->may_end = 0;
	}
}

/* A byte of what leaves no trace; whether it is one. */
static __always_inline int is_hidden(struct shaper *shaper, __u8 c)
{
	switch (shaper->inside) {
	case QUOTED:
		shape_quoted(shaper, c);
		shaper->last = c;
		return 1;
	case COMMENT:
		shaper->last = shape_comment(shaper, c);
		return 1;
	case LINE:
		if (c == '\n' || (c == '\r' && shaper->is_postgres))
			shaper->inside = PLAIN;
		shaper->last = c;
		return 1;
	case DOLLARS:
		shape_dollars(shaper, c);
		shaper->last = shaper->inside == PLAIN ? 0 : c;
		return 1;
	default:
		return 0;
	}
}

/* A byte of a word of its own kind; whether it is one. */
static __always_inline int is_within(struct shaper *shaper, __u8 c)
{
	switch (shaper->inside) {
	case NAME:
		mix(shaper, c);
		if (c == shaper->quote)
			shaper->inside = PLAIN;
		return 1;
	case MADE_UP:
		return is_word_byte(c);
	case NUMBER:
		if (number_has(shaper, c))
			return 1;
		end_number(shaper, c);
		return 0;
	case TAG:
		if (c == '$') {
			shaper->inside = DOLLARS;
			shaper->may_end = 0;
			shape_literal(shaper);
			return 1;
		}
		shaper->tag = mixed(shaper->tag, c);
		return is_word_byte(c);
	default:
		return 0;
	}
}

struct shaped {
	struct connection *connection;
};

static long next_byte(__u64 i, struct shaped *shaped)
{
	struct connection *connection = shaped->connection;
	struct shaper *shaper = &connection->shaper;
	const char *at = connection->text.bytes;
	__u8 c;

	i += shaper->from;
	if (i >= shaper->length || i >= TEXT_ROOM)
		return 1;
	c = at[i];
	if (is_hidden(shaper, c))
		return 0;
	if (!is_within(shaper, c))
		shape_plain(connection, i, c);
	shaper->last = c;
	return 0;
}

/* The shape of what a connection's text has between two places. Global: see `consume`. */
__noinline __u64 shape_between(struct connection *connection, __u32 from, __u32 to)
{
	struct shaped shaped = { connection };
	struct shaper *shaper;
	__u64 hash;
	__u16 flags;

	if (!connection)
		return 0;
	shaper = &connection->shaper;
	flags = connection->request.flags;
	__builtin_memset(shaper, 0, sizeof(*shaper));
	shaper->hash = FNV_BASIS;
	shaper->from = from;
	shaper->length = to;
	shaper->is_postgres = connection->request.protocol == PROTOCOL_POSTGRES;
	shaper->has_escapes = !shaper->is_postgres && !(flags & REQUEST_NO_ESCAPES);
	shaper->quotes_names = shaper->is_postgres || flags & REQUEST_QUOTED_NAMES;
	bpf_loop(TEXT_ROOM - 1, next_byte, &shaped, 0);
	hash = shaper->hash;
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
