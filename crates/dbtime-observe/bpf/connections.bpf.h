/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The connections that are followed: which they are, and what is kept of each in its socket.
 */
#ifndef DBTIME_CONNECTIONS_H
#define DBTIME_CONNECTIONS_H

#include "mysql_commands.h"
#include "threads.bpf.h"

#define HEADER 4		/* bytes before each packet of MySQL's protocol */
#define TAGGED 5		/* before each message of PostgreSQL's */
#define MAX_NAME 64		/* bytes of a PostgreSQL statement's name that are kept, NAMEDATALEN */

enum role {
	ROLE_IGNORED,
	ROLE_FOLLOWED,
	ROLE_ENCRYPTED,		/* followed, and kept apart: see `encrypted` */
	ROLE_ASIDE,		/* ignored, but for an error that its client gets */
};

/* Whether a proxy's header goes before what the client says itself (`openings.bpf.h`). */
enum opening {
	OPENING_NEW,		/* nothing was read yet */
	OPENING_LINE,		/* there is one, a line, of which the rest is to come, */
	OPENING_BINARY,		/* or one that tells its length */
	OPENING_OVER,
};

/* What was read while it was not known where packets begin, and was none. */
enum strangeness {
	STRANGE_NOT,
	STRANGE_BYTES,
	STRANGE_REQUEST,	/* the same, and after them what seems to be a whole request */
	STRANGE_STREAM,		/* what PostgreSQL's replicas say, as it seems */
};

/* Whether a client of PostgreSQL's wants to encrypt by GSS. */
enum gss_wish {
	GSS_NOT_ASKED,		/* or its server does not agree */
	GSS_ASKED,
	GSS_AGREED,		/* nothing was said since */
};

enum framing {
	FRAMING_LOST,		/* it is not known where packets begin */
	FRAMING_SYNCED,
};

/* How it is known where messages or packets begin, and what they are. */
enum guess {
	GUESS_NONE,		/* by the connection's beginning, or by an answer since */
	GUESS_FIRST,		/* one seemed to begin where a read did, */
	GUESS_LATER,		/* after the server had answered; no answer has confirmed it */
	GUESS_PIECE,		/* MySQL: it is no command, but a piece of a login, or of a file */
	GUESS_FILE,		/* MySQL: of a file, or the like; so is what follows until the server answers */
};

/* How far the shape of a text is known (`shape.bpf.h`). It lies here, and not on the stack: of what
 * is in memory the verifier knows nothing, and need not try all that it could be. */
struct shaper {
	__u64 hash;
	__u64 hash_of_name;	/* the hash, if the number at hand begins a name */
	__u64 tag;		/* PostgreSQL: a hash of the tag of the string at hand */
	__u64 end_tag;		/* and of what may end it */
	__u32 from;
	__u32 length;
	__u8 is_postgres;
	__u8 has_escapes;	/* as are the next two, of the session: a backslash escapes in strings */
	__u8 quotes_names;	/* double quotes are around names */
	__u8 inside;		/* enum inside */
	__u8 quote;		/* that ends what is quoted */
	__u8 escapes;		/* a backslash does so in it */
	__u8 is_escaped;	/* the next byte is */
	__u8 last;		/* the byte before */
	__u8 is_prefix;		/* which is an E that a string may have */
	__u8 follows_dot;	/* which is a dot behind a name */
	__u8 follows_literal;	/* but for spaces and commas */
	__u8 has_comma;		/* among those */
	__u8 depth;		/* of comments */
	__u8 may_end;		/* since the last dollar sign there is nothing that no tag has */
	__u8 number;		/* enum number */
	__u8 verb;		/* enum verb */
};

enum stage {
	STAGE_OVER,		/* nothing more of the answer counts */
	STAGE_RESULT,		/* a result begins: OK, an error, or the number of columns */
	STAGE_COLUMNS,		/* their definitions */
	STAGE_ROWS,
};

/* What a server has its client send of a file: LOAD DATA LOCAL. */
enum local_file {
	LOCAL_FILE_NONE,
	LOCAL_FILE_REQUESTED,	/* its first packet should have the number that is the answer's next */
	LOCAL_FILE_SENT,	/* packets of it were read */
};

/* How far an answer of MySQL's has come, packet by packet (`rows.bpf.h`). */
struct answer {
	__u64 rows;		/* sent or changed so far */
	__u32 rest;		/* bytes of the packet at hand that are still to come */
	__u32 columns;		/* definitions that are still to come */
	__u32 packets;		/* that were looked at */
	__u8 head[16];		/* the answer's first bytes; the next packet's header, and a byte of it */
	__u8 have;		/* bytes of that from earlier pieces */
	__u8 stage;		/* enum stage */
	__u8 sequence;		/* the next packet's number */
	__u8 has_columns;	/* their definitions have ended */
	__u8 row_continues;		/* the next packet continues a row */
	__u8 lacks_results;		/* not all before a file was looked at */
};

/* What is left of a piece of PostgreSQL's answers. It lies here for the reason that `struct shaper` does. */
struct unread {
	__u64 at;
	__u32 length;
};

/* How far the header of a proxy was taken. */
struct proxy_header {
	__u32 rest;		/* bytes of it behind the first 16 that are still to come, where it tells its length */
	__u16 taken;		/* bytes of it that were looked at */
	__u8 word;		/* words of the line before the byte at hand; or whether it names a client */
	__u8 part;		/* numbers before that in an address; or bytes that an address has */
};

/* The word of a startup packet that is at hand: names of settings and their values take turns. */
enum startup_word {
	WORD_NAME,
	WORD_VALUE,		/* of a setting that does not matter */
	WORD_USER,		/* the values of those that do */
	WORD_DATABASE,
	WORD_REPLICATION,
	WORD_NONE,		/* there are no more words */
	WORD_REFUSED,		/* there are bytes behind that, which servers refuse */
	WORD_UNREAD,		/* it was not in memory: what follows is not known */
};

/* How far a startup packet was taken. */
struct startup_reading {
	__u16 rest;		/* bytes of it that are still to come */
	__u8 length;		/* of the word at hand, so far */
	__u8 word;		/* enum startup_word */
};

/* How far a COPY from the client has come, of PostgreSQL's (`copies.bpf.h`). */
struct copy {
	__u16 ends;		/* of data that were read before the server was seen to ask for them, */
	__u16 later_ends;	/* and behind what seemed to be the end of the request */
	__u8 is_under_way;	/* the server takes data */
	__u8 has_data;		/* some were read */
	__u8 may_be_ready;	/* a Sync was read: an error before the data may be answered to it */
	__u8 is_in_doubt;	/* whether a Sync was passed over, if the data fail */
	__u8 has_begun;		/* what was read ahead is to be looked at once more */
};

#define ANSWER_END 1024		/* bytes of a piece of an answer: a power of two */
#define CUT_ROOM 64		/* a message that is as long, and is cut in two, tells of no rows; a power of two */
#define ERROR_ROOM 128		/* bytes of an error that are looked at, wherever it is cut in two */
#define PIECE_END 64		/* more than is kept of the end of a piece: a power of two */
#define ANSWER_BLOCK 256	/* more than is read at once to find a message: a power of two */
#define CACHED_SHAPES 4			/* a power of two */

/* What a statement looks like that was prepared. */
struct cached_shape {
	__u64 shape;		/* 0: there is none */
	__u32 statement;
};

struct connection {
	struct file_waits files;	/* these five follow each other, so that they are copied at once */
	struct waits waits;
	struct request request;
	struct text text;
	struct executed executed[MAX_EXECUTED];
	/* What each request touches is together, before what few do. */
	__u64 start;		/* of the request under way; 0: there is none */
	__u64 read_at;		/* the first read of bytes that no request has yet; 0: there are none */
	__u64 rx_first_at;		/* when the first unread bytes came to the socket; 0: not seen */
	__u64 rx_last_at;	/* when the last bytes came to the socket */
	__u64 rx_drained_at;	/* what had come by then was read */
	__u64 piece_from;	/* before which the last piece of the answer was not sent */
	__u64 sent_until;	/* where the last piece of the answer ended; 0: there is none */
	__u64 wait_event;	/* as in struct server */
	__u32 rest;		/* bytes of the packet that are still to come */
	__u32 file_wait_count;	/* of the request: whether there is anything in `files` */
	__u8 header[8];
	__u8 header_length;
	__u8 role;
	__u8 framing;
	__u8 has_read;		/* whether anything was read of it */
	__u8 expects_login;		/* the next bytes are the first of a login */
	__u8 expects_command;	/* the next byte is the first of a command */
	__u8 continues;		/* the next packet continues this one; the next read this text */
	__u8 text_continues;	/* MySQL: the next read continues what is kept of the command */
	__u8 local_file;	/* MySQL: enum local_file */
	__u8 expects_answer;		/* the next bytes sent are the first of an answer */
	__u8 opening;		/* enum opening */
	__u8 strange;		/* enum strangeness */
	__u8 is_greeted;	/* MySQL: it was greeted, and has said nothing yet */
	__u8 guess;		/* enum guess */
	__u8 is_whole;		/* PostgreSQL: all of the request is there */
	__u8 names_left;		/* PostgreSQL: names of a Bind that are still to come */
	__u8 is_filtered_out;	/* its statements are not added up: see struct settings */
	__u8 is_ready;		/* PostgreSQL: ReadyForQuery was sent */
	__u8 has_late_error;	/* the last piece of the answer ends with what looks like an error */
	__u8 has_last_word;	/* the latest answer ends with an error that ends the connection */
	__u8 is_logging_in;	/* PostgreSQL: its startup packet was read, and ReadyForQuery was not sent yet */
	__u8 is_closed;		/* encrypted: its socket is, with a request under way */
	__u16 text_flags;	/* MySQL: how the session reads texts, in the flags of the next request */
	__u32 turns_left[WAYS];	/* from the last program on that ran: see `was_seen` */
	__u32 text_used;	/* by all of them */
	__u32 answers_done;	/* answers to the one at hand */
	struct answer answer;
	struct copy copy;
	__u16 bind_count;		/* of the request, without a name for the portal */
	__u8 tail[16];		/* PostgreSQL: the last bytes of the answer, and room for as many again */
	__u32 ahead_length;
	__u64 client_number;	/* of its client's end, where that is the driver's; 0: not known */
	struct cached_shape cached_shapes[CACHED_SHAPES];	/* the latest of `prepared_shapes`, by their lowest bits */
	__u64 tls;		/* the address of its TLS session, where it has one */
	__u64 tls_written;	/* what its library was given to write last */
	__u32 tls_length;
	__u32 last_prepared;	/* number of the statement that was prepared last */
	struct shaper shaper;
	__u8 retries_write;	/* the socket had no room: the library is given the same once more */
	__u8 has_tls_probes;		/* as in struct server */
	__u8 has_login;		/* its user is known */
	__u8 blind_turns;	/* encrypted: see `note_blind_read` */
	__u8 next_answer;		/* of several statements the one whose answer comes next, or came last */
	__u8 gss;		/* PostgreSQL: enum gss_wish */
	__u8 is_replica;	/* PostgreSQL: as its startup packet says */
	__u8 is_at_end;		/* the server has found the end of what its client says */
	struct unread unread;
	__u64 ahead;		/* PostgreSQL: what was read behind the request, and is still there */
	__u64 ahead_rx_at;	/* when that had come */
	struct login login;
	struct proxy_header proxy;
	__u8 most_rows[4];	/* PostgreSQL: that the last Execute asks for, as it says it; 0: all */
	struct startup_reading startup;		/* PostgreSQL */
	__u32 answer_end_length;
	union {
		__u8 answer_end[ANSWER_END] __attribute__((aligned(8)));	/* MySQL: the last bytes of a piece of the answer */
		/* PostgreSQL: each keeps its bytes while the others are written. */
		struct {
			__u8 cut_message[2 * CUT_ROOM];	/* the first bytes of one, and room for the rest */
			__u8 error[ERROR_ROOM];		/* the last bytes of what was sent, or an error's first */
			__u64 shapes[MAX_EXECUTED];	/* of several statements, where they are added up; 0: not known */
			__u64 unnamed_shape;	/* of the statement without a name; 0: not known */
			__u64 portal_shape;	/* of what the portal executes that was made last, of those with a name */
			__u32 portal_hash;	/* of its name */
			__u32 piece_end_length;
			__u8 piece_end[PIECE_END];	/* the last of a piece, or of a message */
			__u8 answer_block[2 * ANSWER_BLOCK];	/* and room for as many */
		};
	};
};

/* With what the kernel has beside it it fits into 4096 bytes. */
_Static_assert(sizeof(struct connection) <= 4016, "a connection takes twice the memory");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/*
 * Encrypted connections, by number. Their plain bytes come from probes on the server's TLS
 * library, and a probe cannot reach what a socket holds.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct connection);
} encrypted SEC(".maps");

/* The ports they listen on: what else they read is none of their clients'. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u16);
	__type(value, __u8);
} ports SEC(".maps");

__u64 last_connection;

/* A length that is less than a power of two, where the verifier is to see that too: the compiler, which
 * knows it, would leave the mask out, and older verifiers learn nothing from comparing two variables. */
static __always_inline __u32 masked(__u32 length, __u32 room)
{
	barrier_var(length);
	return length & (room - 1);
}

/* Reads a string of the process. Returns its length with the zero: of an empty one many kernels say 0. */
static __always_inline long read_user_string(char *to, __u32 size, const char *at)
{
	long length = bpf_probe_read_user_str(to, size, at);
	__u64 sign = length | -length;

	/* Without a branch, which the verifier would follow on from wherever a string is read. */
	barrier_var(sign);
	return length + 1 - (sign >> 63);
}

/* Reads a string that begins in what was read, of which so many bytes are left. Returns its length with
 * the zero: more than these where it does not end in them. What lies behind them is what was read before,
 * and is not copied. */
static __always_inline long read_string(char *to, __u32 room, const char *at, __u32 left)
{
	__u64 size = left;

	size = size < room ? size + 1 : room;
	/* The compiler knows more of this than the verifier: the check is to stay. */
	barrier_var(size);
	if (size > room)
		size = room;
	return read_user_string(to, size, at);
}

/* How many bytes that were sent for the request are still there before a piece: all, where it lies
 * behind them, and else those that it has not overwritten. */
static __always_inline __u64 bytes_before(struct connection *connection, __u64 address,
					  __u32 length)
{
	__u64 until = connection->sent_until, end = address + length;
	__u64 sent = connection->request.sent_bytes - length;

	if (until == address)
		return sent;
	if (until < end)
		return 0;
	return until - end < sent ? until - end : sent;
}

/* Whether a client is at the other end. */
static __always_inline enum role role_of(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	if (family == AF_UNIX && settings.follows_unix)
		return ROLE_FOLLOWED;
	if (family == AF_INET || family == AF_INET6) {
		__u16 port = sk->__sk_common.skc_num;

		return bpf_map_lookup_elem(&ports, &port) ? ROLE_FOLLOWED : ROLE_IGNORED;
	}
	return ROLE_IGNORED;
}

/* Whether it is a client's end: what was accepted has the address of the socket that listened. */
static __always_inline int is_unix_client(struct sock *sk)
{
	struct unix_sock *local = bpf_skc_to_unix_sock(sk);

	return local && !local->addr;
}

/* Streams the login of a connection, as far as it is known by now. */
static __always_inline long stream_login(struct connection *connection)
{
	return bpf_ringbuf_output(&stream, &connection->login, sizeof(connection->login),
				  BPF_RB_NO_WAKEUP);
}

/* The number of a Unix socket's other end, which a client of dbtime's knows of its own; 0: it has none. */
static __always_inline __u64 client_cookie(struct sock *sk)
{
	struct unix_sock *local = bpf_skc_to_unix_sock(sk);
	struct sock *client = local ? local->peer : NULL;

	return client ? client->__sk_common.skc_cookie.counter : 0;
}

/* Where its client is. */
static __always_inline void find_client(struct login *login, struct sock *sk)
{
	__u16 port = sk->__sk_common.skc_dport;
	__u32 address = sk->__sk_common.skc_daddr;

	login->family = sk->__sk_common.skc_family;
	if (login->family == AF_UNIX)
		login->client_cookie = client_cookie(sk);
	if (login->family != AF_INET && login->family != AF_INET6)
		return;
	login->port = __builtin_bswap16(port);
	if (login->family == AF_INET)
		__builtin_memcpy(login->address, &address, sizeof(address));
	else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
		BPF_CORE_READ_INTO(&login->address, sk, __sk_common.skc_v6_daddr);
}

/* Makes the state of a socket, where a followed server has it. */
static __always_inline struct connection *lookup_or_add(struct sock *sk)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct connection *connection;
	struct server *server;

	/* Clients on this machine cause as many events as servers: the quickest check is first. */
	if (is_unix_client(sk))
		return NULL;
	server = bpf_map_lookup_elem(&servers, &tgid);
	if (!server)
		return NULL;
	connection = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!connection) {
		count(COUNT_NO_STORAGE);
		return NULL;
	}
	connection->role = role_of(sk);
	if (connection->role == ROLE_FOLLOWED) {
		connection->request.connection = __sync_fetch_and_add(&last_connection, 1) + 1;
		connection->request.protocol = server->protocol;
		connection->wait_event = server->wait_event;
		connection->has_tls_probes = server->has_tls_probes;
		connection->is_filtered_out = settings.filters_user || settings.filters_database;
		count(COUNT_CONNECTIONS);
		connection->login.connection = connection->request.connection;
		if (connection->request.protocol == PROTOCOL_POSTGRES)
			connection->login.id = own_number();
		find_client(&connection->login, sk);
		stream_login(connection);
	}
	return connection;
}

static __always_inline int is_encrypted(struct connection *connection)
{
	return connection->role == ROLE_ENCRYPTED;
}

/* Whether a TLS record begins here, or what turns to TLS. */
static __always_inline int is_tls_record(const __u8 *at)
{
	return at[0] >= 0x14 && at[0] <= 0x17 && at[1] == 3;
}

/* The state of an encrypted connection, by its number; NULL: it is not followed. */
static __always_inline struct connection *encrypted_connection(__u64 *number)
{
	struct connection *connection = bpf_map_lookup_elem(&encrypted, number);

	return connection && is_encrypted(connection) ? connection : NULL;
}

/* The state of a connection: in its socket or, encrypted, in a map; NULL: it is not followed. */
static __always_inline struct connection *state_of(struct connection *connection)
{
	__u64 number = connection->request.connection;

	switch (connection->role) {
	case ROLE_FOLLOWED:
		return connection;
	case ROLE_ENCRYPTED:
		return encrypted_connection(&number);
	default:
		return NULL;
	}
}

/* The state of a socket; NULL: it has none. */
static __always_inline struct connection *lookup(struct sock *sk)
{
	return UNTRUSTED(sk)->sk_bpf_storage ? bpf_sk_storage_get(&connections, sk, 0, 0) : NULL;
}

/* What is kept of a socket, if it is one of a server. */
static __always_inline struct connection *connection_of(struct sock *sk)
{
	struct connection *connection;

	if (!sk)
		return NULL;
	connection = lookup(sk);
	return connection ? connection : lookup_or_add(sk);
}

/* Where the present system call has its bytes; the first piece where there are several. */
static __always_inline const char *user_buffer(void)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	const char *at = (const char *)SECOND_ARGUMENT(regs);
	struct iovec first = {};
	void *pieces = NULL;

	switch (CALL(regs)) {
	case NR_READ:
	case NR_WRITE:
	case NR_SENDTO:
	case NR_RECVFROM:
		return at;
	case NR_SENDMSG:
	case NR_RECVMSG:
		/* struct user_msghdr: name, length of the name, pieces. */
		if (bpf_probe_read_user(&pieces, sizeof(pieces), at + 16))
			return NULL;
		break;
	case NR_READV:
	case NR_WRITEV:
		pieces = (void *)at;
		break;
	default:
		return NULL;
	}
	if (bpf_probe_read_user(&first, sizeof(first), pieces))
		return NULL;
	return first.iov_base;
}

#endif
