/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Whose a connection is. Of a login the user and the database are taken; what proves who it is stays
 * where it lies, and is stepped over by its length.
 */
#ifndef DBTIME_LOGINS_H
#define DBTIME_LOGINS_H

#include "connections.bpf.h"

#define TWO_BYTE_LENGTH 0xfc	/* a length of two bytes follows */

/* The user or the database is another now. */
static __always_inline void publish_login(struct connection *connection)
{
	struct login *login = &connection->login;

	login->is_named = 1;
	/* What is not of a name is zero in both. */
	connection->is_filtered_out =
		(settings.filters_user && !is_same(login->user, settings.user, NAME_ROOM)) ||
		(settings.filters_database && !is_same(login->database, settings.database, NAME_ROOM));
	if (!stream_login(connection) && !connection->has_login)
		count(COUNT_LOGINS);
	connection->has_login = 1;
}

/* Takes a name that ends in what was read, of which so many bytes are left; returns its length with the
 * zero. One that does not is none. Global, so that the verifier looks at it once. */
__noinline int read_login_name(struct connection *connection, __u64 address, __u32 left, __u32 is_user)
{
	long length;
	char *to;

	if (!connection)
		return 0;
	to = is_user ? connection->login.user : connection->login.database;
	length = read_string(to, NAME_ROOM, (const char *)address, left);
	if (length > 0 && length <= left)
		return length;
	__builtin_memset(to, 0, NAME_ROOM);
	return 0;
}

/* Whether more of a login is to come than was read of it, behind its first bytes: those of a request, which
 * asks for another user, are its command. */
static __always_inline int is_login_cut(struct connection *connection, __u32 length)
{
	return connection->rest > length + (connection->start ? 1 : LOGIN_USER);
}

/* MySQL: the user and a zero; what proves it, behind its length; the database and a zero. Without the
 * database, where that is still to come, nobody knows whose it is. Global, so that the verifier looks at
 * it once. */
__noinline int read_login_names(struct connection *connection, __u64 address, __u32 length, __u32 capabilities)
{
	const char *at = (const char *)address;
	struct login *login;
	__u8 proof_length[2] = {};
	__u32 from, named, is_whole;

	if (!connection)
		return 0;
	login = &connection->login;
	__builtin_memset(login->user, 0, sizeof(login->user));
	__builtin_memset(login->database, 0, sizeof(login->database));
	named = read_login_name(connection, address, length, 1);
	/* Behind a name that is longer than what is kept of it the rest is not found. */
	is_whole = !(capabilities & CLIENT_DATABASE) ||
		   (named < NAME_ROOM && !is_login_cut(connection, length));
	from = named;
	if (capabilities & CLIENT_DATABASE && named && named < NAME_ROOM && from < length &&
	    !bpf_probe_read_user(proof_length, 1, at + from++)) {
		__u32 proof = proof_length[0];

		if (capabilities & CLIENT_LONG_PROOF && proof == TWO_BYTE_LENGTH &&
		    !bpf_probe_read_user(proof_length, 2, at + from))
			proof = 2 + (proof_length[0] | (__u32)proof_length[1] << 8);
		from += proof;
		if (from < length && read_login_name(connection, (__u64)(at + from), length - from, 0))
			is_whole = 1;
	}
	if (named && is_whole) {
		publish_login(connection);
		return 0;
	}
	__builtin_memset(login->user, 0, sizeof(login->user));
	/* It is another's now, whoever that is. */
	if (connection->has_login)
		publish_login(connection);
	return 0;
}

static __always_inline int is_name_sign(char sign)
{
	return sign && sign != ' ' && sign != ';' && sign != '`' && sign != '\n' && sign != '\t';
}

/* Takes a name out of a text, without what is around it. */
struct name_copy {
	struct connection *connection;
	__u32 from;
	__u32 end;
	__u32 length;
	__u32 takes_all;
};

static long next_name_sign(__u64 i, struct name_copy *naming)
{
	__u32 at = naming->from + i, length = naming->length;
	char sign;

	if (at >= naming->end || at >= TEXT_ROOM || length >= NAME_ROOM - 1)
		return 1;
	sign = naming->connection->text.bytes[at];
	if (!is_name_sign(sign) && !naming->takes_all)
		return length > 0;
	naming->connection->login.database[length] = sign;
	naming->length = length + 1;
	return 0;
}

/* Where the name begins that USE is followed by; 0: it is another statement. */
static __always_inline __u32 behind_use(const char *text, __u32 length)
{
	/* Attributes of a query may be before it: none, and one set of them. */
	__u32 from = text[0] == 0 && text[1] == 1 ? 2 : 0;

	/* Behind a text lies what an earlier one had there. */
	if (length < from + 4)
		return 0;
	if ((text[from] | 32) != 'u' || (text[from + 1] | 32) != 's' || (text[from + 2] | 32) != 'e')
		return 0;
	return is_name_sign(text[from + 3]) ? 0 : from + 3;
}

/* MySQL: the database is that of the command INIT_DB, or of the statement USE. Global: see above. */
__noinline int use_database(struct connection *connection)
{
	struct name_copy naming = { .connection = connection };

	if (!connection || !connection->has_login)
		return 0;
	naming.end = connection->request.text_length;
	naming.takes_all = connection->request.command == COM_INIT_DB;
	if (!naming.takes_all) {
		naming.from = behind_use(connection->text.bytes, naming.end);
		if (!naming.from)
			return 0;
	}
	__builtin_memset(connection->login.database, 0, NAME_ROOM);
	/* The rest of a name that was cut is not known. */
	if (!(connection->request.flags & REQUEST_CUT))
		bpf_loop(2 * NAME_ROOM, next_name_sign, &naming, 0);
	publish_login(connection);
	return 0;
}

#endif
