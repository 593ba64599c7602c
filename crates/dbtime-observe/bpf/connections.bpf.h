/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The connections that are followed: which they are, and what is kept of each in its socket.
 */
#ifndef DBTIME_CONNECTIONS_H
#define DBTIME_CONNECTIONS_H

#include "threads.bpf.h"

#define HEADER 4		/* bytes before each packet of MySQL's protocol */

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

#endif
