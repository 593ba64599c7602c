// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Follows the connections of database servers: finds where requests begin and end, and hands each
 * on when it is over.
 *
 *   recv: header ── seq 0 ──► begins ── body: command, text ──┐
 *                                                             ▼
 *   recv finds nothing, or the next header ◄── answered ◄── send, send, …
 *        = it was over with its last send
 *
 * The state of a connection lies in its socket (sk_storage): it is found without a look-up by
 * number, and goes with the socket. A request is built where it lies, and copied once.
 *
 * Bytes come from clients: they are copied and measured here, and understood elsewhere.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "capture.h"
#include "threads.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define HEADER 4		/* bytes before each packet of MySQL's protocol */
#define LONGEST 0xffffff	/* a payload of this length goes on in the next packet */
#define MOST_PACKETS 8		/* in a single read; servers read one at a time */
#define PARAMETERS 9		/* bytes of an EXECUTE before its parameters, command included */

enum command {
	COM_QUIT = 0x01,
	COM_QUERY = 0x03,
	COM_CHANGE_USER = 0x11,
	COM_STMT_PREPARE = 0x16,
	COM_STMT_EXECUTE = 0x17,
	COM_STMT_SEND_LONG_DATA = 0x18,
	COM_STMT_CLOSE = 0x19,
	COM_STMT_RESET = 0x1a,
	COM_STMT_FETCH = 0x1c,
	COM_STMT_BULK_EXECUTE = 0xfa,
};

/* What a client wants, in the first bytes of its login. */
enum capability { CLIENT_COMPRESS = 1 << 5, CLIENT_SSL = 1 << 11, CLIENT_ZSTD = 1 << 26 };

#define SSL_REQUEST 32		/* bytes of a login that goes on in TLS */

enum reply { REPLY_OK = 0x00, REPLY_FILE = 0xfb, REPLY_ERROR = 0xff };

enum role { ROLE_UNKNOWN, ROLE_FOLLOWED, ROLE_IGNORED };

enum step {
	STEP_LOST,		/* it is not known where packets begin */
	STEP_KEPT,
};

struct connection {
	struct request request;	/* its text follows it, so that both are copied at once */
	char text[TEXT_ROOM];
	__u64 start;		/* of the request under way; 0: there is none */
	__u32 rest;		/* bytes of the packet that are still to come */
	__u8 header[HEADER];
	__u8 header_length;
	__u8 role;
	__u8 step;
	__u8 reads;		/* whether anything was read of it */
	__u8 logs_in;		/* the next bytes are the first of a login */
	__u8 wants_command;	/* the next byte is the first of a command */
	__u8 goes_on;		/* the next packet continues this one */
	__u8 takes_file;	/* the client sends a file: LOCAL INFILE */
	__u8 answers;		/* the next bytes sent are the first of an answer */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* The servers' processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u8);
} servers SEC(".maps");

/* The ports they listen on: what else they read is none of their clients'. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u16);
	__type(value, __u8);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} stream SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

struct counts {
	__u64 count[COUNTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} ledger SEC(".maps");

__u64 last_connection;
__u64 last_request;

/* Bytes of a text that are kept. */
const volatile __u32 text_limit = TEXT_ROOM - 1;

static __always_inline void count(enum count what)
{
	__u32 zero = 0;
	struct counts *counts = bpf_map_lookup_elem(&ledger, &zero);

	if (counts)
		__sync_fetch_and_add(&counts->count[what], 1);
}

static __always_inline int streams(void)
{
	__u32 zero = 0;
	struct settings *wanted = bpf_map_lookup_elem(&settings, &zero);

	return wanted && wanted->streams;
}

static __always_inline int follows_unix(void)
{
	__u32 zero = 0;
	struct settings *wanted = bpf_map_lookup_elem(&settings, &zero);

	return wanted && wanted->follows_unix;
}

/* Whether a client is at the other end. */
static __always_inline enum role role_of(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	if (family == AF_UNIX && follows_unix()) {
		/* What was accepted has the address of the socket that listened; clients have none. */
		struct unix_sock *local = (struct unix_sock *)sk;

		return BPF_CORE_READ(local, addr) ? ROLE_FOLLOWED : ROLE_IGNORED;
	}
	if (family == AF_INET || family == AF_INET6) {
		__u16 port = sk->__sk_common.skc_num;

		return bpf_map_lookup_elem(&ports, &port) ? ROLE_FOLLOWED : ROLE_IGNORED;
	}
	return ROLE_IGNORED;
}

/* The connection, if it is one of a server with a client. */
static __always_inline struct connection *followed(struct sock *sk, __u32 tgid)
{
	struct connection *connection;

	if (!sk || !bpf_map_lookup_elem(&servers, &tgid))
		return NULL;
	connection = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!connection) {
		count(COUNT_NO_STORAGE);
		return NULL;
	}
	if (connection->role == ROLE_UNKNOWN) {
		connection->role = role_of(sk);
		if (connection->role == ROLE_FOLLOWED) {
			connection->request.connection =
				__sync_fetch_and_add(&last_connection, 1) + 1;
			count(COUNT_CONNECTIONS);
		}
	}
	return connection->role == ROLE_FOLLOWED ? connection : NULL;
}

/* Where the present system call has its bytes; the first piece where there are several. */
static __always_inline const char *buffer(void)
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

/* The thread that runs, if it serves this connection's request. */
static __always_inline struct thread *serving(struct connection *connection)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	return thread && thread->connection == connection->request.connection ? thread : NULL;
}

/* The request has come so far. */
static __always_inline void reach(struct connection *connection, __u64 now)
{
	struct thread *thread = serving(connection);

	connection->request.end = now;
	if (thread)
		tell(thread, &connection->request, now);
}

static __always_inline int is_statement(__u8 command)
{
	return command == COM_QUERY || command == COM_STMT_EXECUTE ||
	       command == COM_STMT_BULK_EXECUTE;
}

/*
 * The request is over: its story goes out, and the connection is free for the next. Global, so that
 * the verifier looks at it once and not wherever it is called.
 */
int close_request(struct connection *connection, __u32 fate)
{
	struct request *request;
	struct thread *thread;
	__u32 length;

	if (!connection)
		return 0;
	request = &connection->request;
	length = request->text_length;
	thread = serving(connection);
	if (thread)
		thread->connection = 0;
	request->start = connection->start;
	connection->start = 0;
	request->fate = fate;
	request->number = __sync_fetch_and_add(&last_request, 1);
	count(fate == FATE_ENDED ? COUNT_ENDED : COUNT_ABORTED);
	if (request->flags & REQUEST_CUT)
		count(COUNT_CUT);
	if (request->flags & REQUEST_UNREAD)
		count(COUNT_UNREAD);
	if (fate == FATE_ENDED && is_statement(request->command))
		add_up(request, request->parts[PART_RUNQ_PREEMPTED] ? ROW_PREEMPTED : ROW_UNDISTURBED);
	if (!streams())
		return 0;
	if (length > TEXT_ROOM)
		length = TEXT_ROOM;
	/* The reader looks by a timer: waking it for each would cost more than all of this. */
	if (bpf_ringbuf_output(&stream, request, sizeof(*request) + length, BPF_RB_NO_WAKEUP))
		count(COUNT_DROPPED);
	else
		count(COUNT_STREAMED);
	return 0;
}

static __always_inline int has_no_answer(__u8 command)
{
	return command == COM_QUIT || command == COM_STMT_CLOSE ||
	       command == COM_STMT_SEND_LONG_DATA;
}

/* The server has turned to what the client says next, or finds that it says nothing. */
static __always_inline void turn(struct connection *connection, __u64 now)
{
	struct request *request = &connection->request;

	if (!connection->start || connection->takes_file)
		return;
	if (request->sends) {
		close_request(connection, FATE_ENDED);
	} else if (!connection->wants_command && has_no_answer(request->command)) {
		reach(connection, now);
		close_request(connection, FATE_ENDED);
	}
}

static __always_inline void begin(struct connection *connection, __u64 now)
{
	struct request *request = &connection->request;
	struct thread *thread;

	if (connection->start) {
		/* Servers answer before they read on; one that does not is told of. */
		request->flags |= REQUEST_OVERLAID;
		count(COUNT_OVERLAID);
		reach(connection, now);
		close_request(connection, FATE_ABORTED);
	}
	connection->start = now;
	connection->wants_command = 1;
	connection->takes_file = 0;
	connection->answers = 1;
	request->server_queue = NOT_KNOWN;
	thread = running();
	if (thread) {
		/* Woken since the last answer: by these bytes. */
		if (thread->called > request->end)
			request->server_queue = now - thread->called;
		bind(thread, request->connection, now);
		tell(thread, request, now);
	} else {
		count(COUNT_NO_STORAGE);
	}
	request->first_sent = 0;
	request->end = 0;
	request->sent_bytes = 0;
	request->sends = 0;
	request->length = 0;
	request->text_length = 0;
	request->statement = 0;
	request->error = 0;
	request->flags = 0;
	request->command = 0;
	request->reply = 0;
	request->tgid = bpf_get_current_pid_tgid() >> 32;
	request->tid = (__u32)bpf_get_current_pid_tgid();
	count(COUNT_STARTED);
}

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
		return text_limit;
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
	wanted = kept(request->command);
	length -= 1;
	if (wanted > length)
		wanted = length;
	if (wanted >= TEXT_ROOM)
		wanted = TEXT_ROOM - 1;
	if (wanted && bpf_probe_read_user(connection->text, wanted, at + 1)) {
		request->flags |= REQUEST_UNREAD;
		return;
	}
	request->text_length = wanted;
	if (kept(request->command) == text_limit && wanted + 1 < all)
		request->flags |= REQUEST_CUT;
}

/* A packet's header is there. */
static __always_inline void packet(struct connection *connection, __u64 now)
{
	__u8 *h = connection->header;
	__u32 length = h[0] | (__u32)h[1] << 8 | (__u32)h[2] << 16;

	connection->header_length = 0;
	connection->rest = length;
	if (connection->goes_on) {
		connection->request.length += length;
	} else if (h[3] == 0) {
		turn(connection, now);
		begin(connection, now);
		connection->request.length = length;
	} else if (h[3] == 1 && !connection->start) {
		connection->logs_in = 1;
	} else if (connection->takes_file && length == 0) {
		/* The file is whole; what the server says next is the answer. */
		connection->takes_file = 0;
		connection->answers = 1;
		connection->request.sends = 0;
	}
	connection->goes_on = length == LONGEST;
}

/* Of a login only what says whether the rest can be read. */
static __always_inline void login(struct connection *connection, const char *at, __u32 length)
{
	__u32 wants = 0;

	connection->logs_in = 0;
	if (!at || length < sizeof(wants) || bpf_probe_read_user(&wants, sizeof(wants), at))
		return;
	if (wants & CLIENT_SSL && length == SSL_REQUEST) {
		count(COUNT_TLS);
		connection->role = ROLE_IGNORED;
	} else if (wants & (CLIENT_COMPRESS | CLIENT_ZSTD)) {
		count(COUNT_COMPRESSED);
		connection->role = ROLE_IGNORED;
	}
}

/* It is not known where the next packet begins. */
static __always_inline void forget_step(struct connection *connection)
{
	connection->step = STEP_LOST;
	connection->rest = 0;
	connection->header_length = 0;
	connection->goes_on = 0;
}

/* Loses its step, until a read fits a header again. */
static __always_inline void lose(struct connection *connection)
{
	count(COUNT_OUT_OF_STEP);
	forget_step(connection);
}

/* Without a step: is this the header of a command? Servers read it by itself. */
static __always_inline int finds_step(struct connection *connection, const char *at, __u32 length)
{
	__u8 h[HEADER] = {};

	if (length != HEADER || !at || bpf_probe_read_user(h, HEADER, at))
		return 0;
	if (h[3] != 0 || (h[0] | h[1] | h[2]) == 0)
		return 0;
	connection->step = STEP_KEPT;
	return 1;
}

/*
 * Takes the next piece of what was read, a header or what belongs to the packet at hand. Returns how
 * many bytes that was; 0: it could not be read. Global, so that the verifier looks at it once and not
 * in every round of the loop.
 */
__u32 take(struct connection *connection, __u64 address, __u32 length, __u64 now)
{
	const char *at = (const char *)address;
	__u32 have;

	if (!connection)
		return 0;
	if (connection->rest) {
		__u32 piece = connection->rest < length ? connection->rest : length;

		if (connection->wants_command)
			body(connection, at, piece);
		else if (connection->logs_in)
			login(connection, at, piece);
		connection->rest -= piece;
		return piece;
	}
	have = connection->header_length & (HEADER - 1);
	if (!have && length >= HEADER) {
		if (bpf_probe_read_user(connection->header, HEADER, at))
			return 0;
		packet(connection, now);
		return HEADER;
	}
	if (bpf_probe_read_user(&connection->header[have], 1, at))
		return 0;
	connection->header_length = have + 1;
	if (have + 1 == HEADER)
		packet(connection, now);
	return 1;
}

static __always_inline void received(struct connection *connection, __u32 length, __u64 now)
{
	const char *at = buffer();
	__u32 done = 0;

	connection->reads = 1;
	if (connection->step == STEP_LOST && !finds_step(connection, at, length))
		return;
	for (int i = 0; i < 2 * MOST_PACKETS && done < length; i++) {
		__u32 taken = at ? take(connection, (__u64)(at + done), length - done, now) : 0;

		if (!taken)
			break;
		done += taken;
	}
	if (done < length)
		lose(connection);
	else if (connection->start && connection->request.command == COM_QUIT &&
		 !connection->wants_command && !connection->rest) {
		/* The server closes the socket without another read. */
		reach(connection, now);
		close_request(connection, FATE_ENDED);
	}
}

/* The client has gone, or what was sent cannot reach it. */
static __always_inline void hang_up(struct connection *connection, __u64 now)
{
	turn(connection, now);
	if (connection->start) {
		reach(connection, now);
		close_request(connection, FATE_ABORTED);
	}
	forget_step(connection);
}

static __always_inline int is_passing(int result)
{
	return result == -EAGAIN || result == -EINTR || result <= -ERESTARTSYS;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int result, int flags)
{
	struct connection *connection = followed(sk, bpf_get_current_pid_tgid() >> 32);
	__u64 now = bpf_ktime_get_ns();

	if (!connection || flags & MSG_PEEK)
		return 0;
	if (result > 0)
		received(connection, result, now);
	else if (!is_passing(result))
		hang_up(connection, now);
	else if (!connection->rest && !connection->header_length)
		turn(connection, now);
	return 0;
}

/* What the first bytes of an answer say. */
static __always_inline void first_of_answer(struct connection *connection, __u32 length)
{
	struct request *request = &connection->request;
	const char *at = buffer();
	__u8 h[HEADER + 5] = {};

	if (!at || length < HEADER + 1)
		return;
	if (length < sizeof(h) ? bpf_probe_read_user(h, HEADER + 1, at)
			       : bpf_probe_read_user(h, sizeof(h), at))
		return;
	request->reply = h[4];
	/* MariaDB reports progress as an error with this number; the answer is still to come. */
	if (h[4] == REPLY_ERROR && h[5] == 0xff && h[6] == 0xff)
		connection->answers = 1;
	else if (h[4] == REPLY_ERROR)
		request->error = h[5] | (__u16)h[6] << 8;
	else if (h[4] == REPLY_FILE && request->command == COM_QUERY && h[3] == 1)
		connection->takes_file = 1;
	else if (h[4] == REPLY_OK && request->command == COM_STMT_PREPARE)
		request->statement = h[5] | (__u32)h[6] << 8 | (__u32)h[7] << 16 | (__u32)h[8] << 24;
}

/* A server that speaks first greets a new client: packets begin here. */
static __always_inline int greets(__u32 length)
{
	const char *at = buffer();
	__u8 h[HEADER + 1] = {};

	if (!at || length < sizeof(h) || bpf_probe_read_user(h, sizeof(h), at))
		return 0;
	return h[3] == 0 && h[4] == 10;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int result, int flags)
{
	struct connection *connection = followed(sk, bpf_get_current_pid_tgid() >> 32);
	__u64 now = bpf_ktime_get_ns();
	struct request *request;

	if (!connection)
		return 0;
	request = &connection->request;
	if (result <= 0) {
		if (!is_passing(result))
			hang_up(connection, now);
		return 0;
	}
	if (!connection->start) {
		if (connection->step == STEP_LOST && request->end == 0) {
			/* The first that is seen of it. */
			request->end = now;
			if (greets(result)) {
				connection->step = STEP_KEPT;
			} else {
				count(COUNT_STARTED);
				count(COUNT_PARTIAL);
			}
		}
		return 0;
	}
	if (!request->sends++)
		request->first_sent = now;
	if (connection->answers) {
		connection->answers = 0;
		first_of_answer(connection, result);
	}
	reach(connection, now);
	request->sent_bytes += result;
	return 0;
}

/* Looks at what is left when nothing is followed any more: what was answered is over, the rest is
 * told. */
SEC("iter/bpf_sk_storage_map")
int left(struct bpf_iter__bpf_sk_storage_map *context)
{
	struct connection *connection = context->value;
	struct under_way open = {};

	if (!context->sk || !connection || connection->role != ROLE_FOLLOWED)
		return 0;
	if (connection->step == STEP_LOST && connection->reads && !connection->request.length)
		count(COUNT_NOT_UNDERSTOOD);
	turn(connection, bpf_ktime_get_ns());
	if (!connection->start)
		return 0;
	open.connection = connection->request.connection;
	open.start = connection->start;
	open.tgid = connection->request.tgid;
	open.tid = connection->request.tid;
	bpf_seq_write(context->meta->seq, &open, sizeof(open));
	return 0;
}
