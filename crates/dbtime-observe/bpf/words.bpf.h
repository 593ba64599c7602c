/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Words of a text, as far as it takes to tell names that clients make up anew each time, of savepoints,
 * cursors and prepared statements. `made_up_names.rs` (dbtime-sql) has these and some more.
 */
#ifndef DBTIME_WORDS_H
#define DBTIME_WORDS_H

#include "connections.bpf.h"

/* Which words of a statement are made up. */
enum verb {
	VERB_FIRST,	/* the next word tells */
	VERB_OTHER,	/* none is */
	VERB_NAMES,	/* all but some */
	VERB_NEXT,	/* the next one is */
};

static __always_inline int is_digit(__u8 c)
{
	return c >= '0' && c <= '9';
}

/* Whether it goes on with a name. */
static __always_inline int is_word_byte(__u8 c)
{
	return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$' || c >= 128;
}

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

/* A word of small letters: the first eight as they are, and what is behind them in a hash. */
#define WORD(a, b, c, d, e, f, g, h)                                                                     \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |           \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define MORE(word, c) (((word) ^ (__u64)(c)) * FNV_PRIME)
#define SAVEPOINT MORE(WORD('s', 'a', 'v', 'e', 'p', 'o', 'i', 'n'), 't')
#define DEALLOCATE MORE(MORE(WORD('d', 'e', 'a', 'l', 'l', 'o', 'c', 'a'), 't'), 'e')
#define TRANSACTION MORE(MORE(MORE(WORD('t', 'r', 'a', 'n', 's', 'a', 'c', 't'), 'i'), 'o'), 'n')

/* Longer words are none of those that are looked for. */
#define LONGEST_WORD 12

static __always_inline __u64 word_at(struct connection *connection, __u64 from)
{
	__u64 word = 0;

	for (__u32 i = 0; i < LONGEST_WORD; i++) {
		__u8 c = connection->text.bytes[(from + i) & (TEXT_ROOM - 1)];

		if (from + i >= connection->shaper.length || !is_word_byte(c))
			break;
		if (i < 8)
			word |= (__u64)(c | 32) << (8 * i);
		else
			word = MORE(word, c | 32);
	}
	return word;
}

static __always_inline enum verb verb_of(__u64 word)
{
	switch (word) {
	case SAVEPOINT:
	case DEALLOCATE:
	case WORD('r', 'e', 'l', 'e', 'a', 's', 'e', 0):
	case WORD('r', 'o', 'l', 'l', 'b', 'a', 'c', 'k'):
	case WORD('c', 'l', 'o', 's', 'e', 0, 0, 0):
	case WORD('f', 'e', 't', 'c', 'h', 0, 0, 0):
	case WORD('m', 'o', 'v', 'e', 0, 0, 0, 0):
		return VERB_NAMES;
	case WORD('d', 'e', 'c', 'l', 'a', 'r', 'e', 0):
		return VERB_NEXT;
	default:
		return VERB_OTHER;
	}
}

/* Whether a word behind such a verb is no name. */
static __always_inline int is_keyword(__u64 word)
{
	switch (word) {
	case SAVEPOINT:
	case TRANSACTION:
	case WORD('t', 'o', 0, 0, 0, 0, 0, 0):
	case WORD('i', 'n', 0, 0, 0, 0, 0, 0):
	case WORD('n', 'o', 0, 0, 0, 0, 0, 0):
	case WORD('a', 'l', 'l', 0, 0, 0, 0, 0):
	case WORD('a', 'n', 'd', 0, 0, 0, 0, 0):
	case WORD('f', 'r', 'o', 'm', 0, 0, 0, 0):
	case WORD('i', 'n', 't', 'o', 0, 0, 0, 0):
	case WORD('w', 'o', 'r', 'k', 0, 0, 0, 0):
	case WORD('n', 'e', 'x', 't', 0, 0, 0, 0):
	case WORD('l', 'a', 's', 't', 0, 0, 0, 0):
	case WORD('f', 'i', 'r', 's', 't', 0, 0, 0):
	case WORD('p', 'r', 'i', 'o', 'r', 0, 0, 0):
	case WORD('c', 'h', 'a', 'i', 'n', 0, 0, 0):
	case WORD('p', 'r', 'e', 'p', 'a', 'r', 'e', 0):
	case WORD('p', 'r', 'e', 'p', 'a', 'r', 'e', 'd'):
	case WORD('r', 'e', 'l', 'e', 'a', 's', 'e', 0):
	case WORD('f', 'o', 'r', 'w', 'a', 'r', 'd', 0):
	case WORD('b', 'a', 'c', 'k', 'w', 'a', 'r', 'd'):
	case WORD('a', 'b', 's', 'o', 'l', 'u', 't', 'e'):
	case WORD('r', 'e', 'l', 'a', 't', 'i', 'v', 'e'):
		return 1;
	default:
		return 0;
	}
}

/* Whether the word that begins there is made up. */
static __always_inline int is_made_up(struct connection *connection, __u32 at)
{
	struct shaper *shaper = &connection->shaper;
	__u64 word = word_at(connection, at);

	switch (shaper->verb) {
	case VERB_FIRST:
		shaper->verb = verb_of(word);
		return 0;
	case VERB_NEXT:
		shaper->verb = VERB_OTHER;
		return 1;
	default:
		return !is_keyword(word);
	}
}

#endif
