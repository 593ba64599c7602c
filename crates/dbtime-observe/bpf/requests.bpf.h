/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The life of a request: it begins, comes so far, and is over. What it says is in `mysql.bpf.h`.
 */
#ifndef DBTIME_REQUESTS_H
#define DBTIME_REQUESTS_H

#include "connections.bpf.h"

#define LONGEST 0xffffff	/* a payload of this length goes on in the next packet */
#define MOST_PACKETS 64		/* in a single read; servers read one at a time */
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

#endif
