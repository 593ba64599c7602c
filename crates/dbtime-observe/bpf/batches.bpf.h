/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * PostgreSQL's requests that execute several statements before a Sync, such as BEGIN and the first
 * statement behind it: each has its own text or name, its time and its rows.
 *
 *   Parse, Bind, Execute │ Parse, Bind, Execute │ Sync ──► server: CreatePortal │ CreatePortal │ …
 *   └── executed[0] ──┘    └── executed[1] ──┘             └── executed[0] ──┘ └── executed[1]
 *
 * The server makes a portal for each Bind, which a probe sees as long as such requests come
 * (`src/trace/probes/portals.rs`).
 */
#ifndef DBTIME_BATCHES_H
#define DBTIME_BATCHES_H

#include "shape.bpf.h"

#define LATER_TEXT 384			/* bytes of the texts of further statements */
#define FIRST_TEXT 512			/* of the first, where there are further ones */
#define LATER_FROM (TEXT_ROOM - LATER_TEXT - MAX_NAME)

/* Answers are looked at from the first on, or not at all: the rows of those that nobody has looked at
 * would be missing. */
static __always_inline void follow_answers(struct connection *connection)
{
	struct answer *answer = &connection->answer;

	if (answer->stage != STAGE_OVER || connection->request.writes || !settings.streams ||
	    depth != DEPTH_EVERYTHING)
		return;
	answer->stage = STAGE_RESULT;
	answer->packets = 0;
	answer->rest = 0;
	connection->next_answer = 0;
	connection->answers_done = 0;
}

/* The first statement of a request turns out not to be the only one. */
static __always_inline void begin_batch(struct connection *connection)
{
	struct request *request = &connection->request;
	struct executed *first = &connection->executed[0];

	__builtin_memset(connection->executed, 0, sizeof(connection->executed));
	request->flags |= REQUEST_MULTI;
	connection->request.statements = 1;
	follow_answers(connection);
	first->flags = request->flags & (REQUEST_NAMED | REQUEST_CUT | REQUEST_UNREAD);
	first->text_length = request->text_length;
	first->name_from = request->flags & REQUEST_NAMED ? 0 : request->text_length;
	first->name_length = request->name_length;
	first->executes = request->executes;
	first->rows = NOT_KNOWN;
	if (connection->answer.stage != STAGE_OVER && first->executes &&
	    connection->answers_done == first->executes)
		first->rows = connection->answer.rows;
	connection->shapes[0] = 0;
	if (settings.sums && !(first->flags & REQUEST_NAMED))
		connection->shapes[0] = shape_of(connection);
	connection->text_used = request->text_length + request->name_length;
	if (connection->text_used <= FIRST_TEXT)
		return;
	/* Its name was behind the text: it is known by that no more. */
	first->flags |= REQUEST_CUT;
	first->text_length = FIRST_TEXT;
	first->name_length = 0;
	connection->text_used = FIRST_TEXT;
}

/* A further statement; the last that there is room for where there is none for another. */
static __always_inline struct executed *next_executed(struct connection *connection)
{
	__u32 index;
	struct executed *executed;

	if (!connection->request.statements)
		begin_batch(connection);
	index = connection->request.statements;
	if (index >= MAX_EXECUTED) {
		connection->executed[MAX_EXECUTED - 1].flags |= REQUEST_MULTI;
		return NULL;
	}
	connection->request.statements++;
	executed = &connection->executed[index & (MAX_EXECUTED - 1)];
	connection->shapes[index & (MAX_EXECUTED - 1)] = 0;
	executed->first_bind = connection->bind_count;
	executed->rows = NOT_KNOWN;
	return executed;
}

/* A text or a name goes behind those that are there; returns its length without the zero. */
static __always_inline __u32 append(struct connection *connection, const char *at, __u32 room,
				    __u32 left)
{
	__u32 from = connection->text_used;
	long length;

	if (from > LATER_FROM)
		return 0;
	length = read_string(connection->text.bytes + from, room, at, left);
	if (length <= 1)
		return 0;
	connection->text_used = from + length - 1;
	return length - 1;
}

/* Another Parse. Global: see `consume`. */
__noinline int append_parse(struct connection *connection, __u64 address, __u32 length, __u32 all)
{
	const char *at = (const char *)address;
	struct executed *executed;
	__u32 from, name;

	if (!connection)
		return 0;
	executed = next_executed(connection);
	if (!executed)
		return 0;
	/* The text first: where there is no room for the name it is known at least. */
	from = connection->text_used;
	name = append(connection, at, MAX_NAME, length);
	connection->text_used = from;
	if (name + 1 >= length || from > LATER_FROM) {
		executed->flags |= REQUEST_UNREAD;
		return 0;
	}
	executed->text_from = from;
	executed->text_length = append(connection, at + name + 1, LATER_TEXT, length - name - 1);
	if (executed->text_length > length - name - 1)
		executed->text_length = length - name - 1;
	connection->text_used = from + executed->text_length;
	if (executed->text_length == LATER_TEXT - 1 ||
	    (length < all && name + 1 + executed->text_length >= length))
		executed->flags |= REQUEST_CUT;
	if (settings.sums)
		connection->shapes[(connection->request.statements - 1) & (MAX_EXECUTED - 1)] =
			shape_between(connection, from, from + executed->text_length);
	executed->name_from = connection->text_used;
	executed->name_length = name ? append(connection, at, MAX_NAME, length) : 0;
	return 0;
}

/* A Bind of a statement that an earlier request, or an earlier message, prepared; 0: which one that is
 * was not read. Global: see `consume`. */
__noinline int append_bind(struct connection *connection, __u64 address, __u32 length)
{
	struct executed *executed;

	if (!connection)
		return 0;
	executed = next_executed(connection);
	if (!executed)
		return 0;
	executed->flags |= address ? REQUEST_NAMED : REQUEST_UNREAD;
	executed->name_from = connection->text_used;
	if (!address)
		return 0;
	executed->name_length = append(connection, (const char *)address, MAX_NAME, length);
	return 0;
}

/* The statement that messages are about. */
static __always_inline struct executed *latest_executed(struct connection *connection)
{
	return &connection->executed[(connection->request.statements - 1) & (MAX_EXECUTED - 1)];
}

/* The portal that a Bind makes, or an Execute means, where it has a name; whether it has. Of a name that
 * does not end in what was read nothing is known. */
static __always_inline int read_portal(struct connection *connection, const char *at, __u32 length)
{
	struct request *request = &connection->request;
	__u32 used = request->text_length + request->name_length;
	char first = 0;

	if (bpf_probe_read_user(&first, 1, at) || !first)
		return 0;
	if (connection->request.statements)
		used = connection->text_used;
	connection->text_used = used;
	request->portal_from = used;
	request->portal_length = append(connection, at, MAX_NAME, length);
	if (request->portal_length >= length) {
		request->portal_length = 0;
		connection->text_used = used;
	}
	return 1;
}

/* When the server turned to a statement, by the portals that it made; 0: that was not seen. */
static __always_inline __u64 portal_time(struct thread *thread, __u32 bind)
{
	if (bind >= thread->portals || bind >= MAX_PORTALS)
		return 0;
	return thread->portal[bind & (MAX_PORTALS - 1)];
}

/* What a loop over the statements of a request works with. The verifier follows its body once. */
struct batch {
	struct connection *connection;
	struct thread *thread;
	__u64 now;
	__u32 is_seen;
	__u32 chief;
};

static long time_executed(__u64 i, struct batch *batch)
{
	struct connection *connection = batch->connection;
	struct executed *executed = &connection->executed[i & (MAX_EXECUTED - 1)];
	__u64 begin, end = batch->now;

	if (i >= connection->request.statements)
		return 1;
	executed->length = NOT_KNOWN;
	if (!batch->is_seen)
		return 0;
	/* The first begins with the request. */
	begin = i ? portal_time(batch->thread, executed->first_bind) : connection->start;
	if (i + 1 < connection->request.statements) {
		executed = &connection->executed[(i + 1) & (MAX_EXECUTED - 1)];
		end = portal_time(batch->thread, executed->first_bind);
		/* Behind an error nothing is executed. */
		if (!end && connection->request.error)
			end = batch->now;
	}
	executed = &connection->executed[i & (MAX_EXECUTED - 1)];
	if (begin && end >= begin)
		executed->length = end - begin;
	return 0;
}

/* How long each statement took, up to now, where it is known when the server turned to them. Global:
 * see `consume`. */
__noinline int time_batch(struct connection *connection, struct thread *thread, __u64 now)
{
	struct batch batch = { .connection = connection, .thread = thread, .now = now };

	if (!connection || !thread)
		return 0;
	/* A probe that came in between has not seen all of them; behind an error there are fewer. */
	batch.is_seen = thread->portals == connection->bind_count ||
			(thread->portals && connection->request.error);
	bpf_loop(MAX_EXECUTED, time_executed, &batch, 0);
	return 0;
}

/* How much a statement is likely to do whose time is not known: BEGIN and its like are short, and are
 * seldom prepared. */
static __always_inline __u32 weight_of(struct executed *executed)
{
	return executed->flags & (REQUEST_NAMED | REQUEST_UNREAD) ? MAX_NAME : executed->text_length;
}

static long compare_executed(__u64 i, struct batch *batch)
{
	struct connection *connection = batch->connection;
	struct executed *chief = &connection->executed[batch->chief & (MAX_EXECUTED - 1)];
	struct executed *executed = &connection->executed[i & (MAX_EXECUTED - 1)];
	int is_known = executed->length != NOT_KNOWN, is_greater;

	if (i >= connection->request.statements)
		return 1;
	if (is_known != (chief->length != NOT_KNOWN))
		is_greater = is_known;
	else if (is_known)
		is_greater = executed->length > chief->length;
	else
		is_greater = weight_of(executed) > weight_of(chief);
	if (is_greater)
		batch->chief = i;
	return 0;
}

/* The statement that a request is known by: the one that took longest. Global: see `consume`. */
__noinline __u32 chief_of(struct connection *connection)
{
	struct batch batch = { .connection = connection };

	if (!connection)
		return 0;
	bpf_loop(MAX_EXECUTED, compare_executed, &batch, 0);
	return batch.chief;
}

#endif
