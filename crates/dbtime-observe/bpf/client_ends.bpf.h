/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Beside a run: the driver's ends of connections. When an answer came there, and for how long of the
 * time until it was taken the thread that took it waited for a CPU.
 *
 *   server   send ──► bytes arrive ── send returns ── reads on: the request is closed
 *   driver                 │ sleeps ─ waits for a CPU ─ runs ─ reads: the answer is taken
 *
 * Neither end reaches what is kept in the other's socket. So what both need lies in an array. The client's
 * socket has the number of its place; the server's end finds that number once, by what names the
 * client. When a request is closed its answer has arrived, and need not have been taken: how that was
 * goes with the next request.
 */
#ifndef DBTIME_CLIENT_ENDS_H
#define DBTIME_CLIENT_ENDS_H

#include "connections.bpf.h"

#define CLIENT_ENDS 16384	/* a power of two */

/* A place, which a later end takes over once all are taken. */
struct client_end {
	__u64 number;		/* whose it is; 0: nobody's */
	__u64 arrived_at;	/* when bytes came last; 0: none have */
	__u64 taken_of;		/* `arrived_at` of the answer that was taken last; 0: none was */
	__u64 taken_runq;	/* how long who took it had waited for a CPU since then */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CLIENT_ENDS);
	__type(key, __u32);
	__type(value, struct client_end);
} client_ends SEC(".maps");

/* What names a client at both ends: its address, as one of IPv6, and port; of a Unix socket the number. */
struct client_name {
	__u8 address[16];
	__u64 number;
};

/* The numbers of the driver's ends; what closed long ago makes room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CLIENT_ENDS);
	__type(key, struct client_name);
	__type(value, __u64);
} client_names SEC(".maps");

/* The number of each, in its socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} client_numbers SEC(".maps");

__u64 last_client_end;

/* Whether the thread that runs is the driver's. */
static __always_inline int is_driver(void)
{
	return settings.driver && bpf_get_current_pid_tgid() >> 32 == settings.driver;
}

/* An address of IPv4 as one of IPv6, which is what a server that listens at both sees of it. */
static __always_inline void map_address(struct client_name *name, __u32 address)
{
	name->address[10] = 0xff;
	name->address[11] = 0xff;
	__builtin_memcpy(name->address + 12, &address, sizeof(address));
}

/* What names the socket as a client's; whether anything does. */
static __always_inline int name_own(struct client_name *name, struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	if (family == AF_UNIX) {
		name->number = sk->__sk_common.skc_cookie.counter;
		return name->number != 0;
	}
	name->number = sk->__sk_common.skc_num;
	if (family == AF_INET)
		map_address(name, sk->__sk_common.skc_rcv_saddr);
	else if (family == AF_INET6 && bpf_core_field_exists(sk->__sk_common.skc_v6_rcv_saddr))
		BPF_CORE_READ_INTO(&name->address, sk, __sk_common.skc_v6_rcv_saddr);
	else
		return 0;
	return 1;
}

/* What names the client of a connection; whether anything does. */
static __always_inline int name_client(struct client_name *name, struct login *login)
{
	__u32 address;

	if (login->family == AF_UNIX) {
		name->number = login->client_cookie;
		return name->number != 0;
	}
	name->number = login->port;
	if (login->family == AF_INET) {
		__builtin_memcpy(&address, login->address, sizeof(address));
		map_address(name, address);
	} else {
		__builtin_memcpy(name->address, login->address, sizeof(name->address));
	}
	return name->number != 0;
}

/* The place of an end; NULL: it has none any more. */
static __always_inline struct client_end *client_end_of(__u64 number)
{
	__u32 place = number & (CLIENT_ENDS - 1);
	struct client_end *end = bpf_map_lookup_elem(&client_ends, &place);

	return end && end->number == number ? end : NULL;
}

/* The place of a driver's socket; NULL: it has none. */
static __always_inline struct client_end *own_client_end(struct sock *sk)
{
	__u64 *number = UNTRUSTED(sk)->sk_bpf_storage ?
				bpf_sk_storage_get(&client_numbers, sk, 0, 0) : NULL;

	return number ? client_end_of(*number) : NULL;
}

/* A socket of the driver's is read for the first time. */
static __always_inline void add_client_end(struct sock *sk)
{
	struct client_name name = {};
	struct client_end *end;
	__u64 number, *kept;
	__u32 place;

	if (!name_own(&name, sk))
		return;
	kept = bpf_sk_storage_get(&client_numbers, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	/* Whose place was taken over has none for good. */
	if (!kept || *kept)
		return;
	number = __sync_fetch_and_add(&last_client_end, 1) + 1;
	place = number & (CLIENT_ENDS - 1);
	end = bpf_map_lookup_elem(&client_ends, &place);
	if (!end)
		return;
	end->number = 0;
	end->arrived_at = 0;
	end->taken_of = 0;
	end->number = number;
	*kept = number;
	bpf_map_update_elem(&client_names, &name, &number, BPF_ANY);
}

/* Bytes have come to a socket that is no server's. */
static __always_inline void note_arrival(struct sock *sk)
{
	struct client_end *end = own_client_end(sk);

	if (end)
		end->arrived_at = bpf_ktime_get_ns();
}

/* How long a thread of the driver waited for CPUs between two instants, as far as its latest waits are
 * kept. A function of its own: requests of servers need the stack that it takes. */
__noinline __u64 waited_for_cpu(struct thread *thread, __u64 from, __u64 until)
{
	__u64 length = 0;

	if (!thread)
		return 0;
	for (int i = 0; i < CPU_WAITS; i++)
		length += common_time(thread->cpu_waits[i].from, thread->cpu_waits[i].until, from, until);
	return length;
}

/* The driver has read from a socket. */
static __always_inline void note_taken(struct sock *sk)
{
	struct client_end *end = own_client_end(sk);
	struct thread *thread;

	if (!end) {
		add_client_end(sk);
		return;
	}
	if (!settings.follows_threads || end->taken_of == end->arrived_at)
		return;
	thread = current_thread_or_add();
	if (!thread)
		return;
	/* Its waits are kept from here on. */
	if (!thread->is_drivers) {
		thread->is_drivers = 1;
		return;
	}
	end->taken_runq = waited_for_cpu(thread, end->arrived_at, bpf_ktime_get_ns());
	end->taken_of = end->arrived_at;
}

/* The place of a connection's client; NULL: it is not the driver's, or has none any more. */
static __always_inline struct client_end *other_client_end(struct connection *connection)
{
	struct client_name name = {};
	__u64 *number;

	if (!connection->client_number && name_client(&name, &connection->login)) {
		number = bpf_map_lookup_elem(&client_names, &name);
		if (number)
			connection->client_number = *number;
	}
	return connection->client_number ? client_end_of(connection->client_number) : NULL;
}

/* A request begins: who has sent it has taken the answer before it. */
static __always_inline void copy_taking(struct connection *connection)
{
	struct request *request = &connection->request;
	struct client_end *end = other_client_end(connection);

	request->taken_of = end ? end->taken_of : 0;
	request->taken_runq = end ? end->taken_runq : 0;
}

/* A request is closed: its answer has arrived. */
static __always_inline void copy_arrival(struct connection *connection)
{
	struct client_end *end = other_client_end(connection);

	/* What came before the last piece of the answer was sent is an earlier piece, or none of it. */
	if (end && end->arrived_at > connection->piece_from)
		connection->request.answer_arrived = end->arrived_at;
}

#endif
