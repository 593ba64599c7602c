/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What statements come to in all, added up where they end: nothing of it can be dropped. Those whose
 * text has the same shape share a row.
 */
#ifndef DBTIME_TOTALS_H
#define DBTIME_TOTALS_H

#include "mysql_commands.h"
#include "postgres_messages.h"
#include "batches.bpf.h"

/* The rows of SHAPE_OTHER are there from the beginning. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STATEMENTS);
	__type(key, struct row);
	__type(value, struct totals);
} totals SEC(".maps");

/* A row to begin with. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct totals);
} empty_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STATEMENTS);
	__type(key, struct row);
	__type(value, struct example);
} examples SEC(".maps");

/* An example to begin with. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct example);
} empty_example SEC(".maps");

struct prepared {
	__u64 connection;
	__u32 statement;
	__u32 reserved;
};

/* The shapes of what was prepared; those that have not been used for longest go first. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct prepared);
	__type(value, __u64);
} prepared_shapes SEC(".maps");

/* The position of the highest bit; 0 of 0. Global: of what it returns the verifier knows nothing, and
 * need not follow each of 64 ways on. */
__noinline __u32 highest_bit(__u64 value)
{
	__u32 bits = 0;

	for (__u32 shift = 32; shift; shift >>= 1) {
		if (value >> shift) {
			value >>= shift;
			bits += shift;
		}
	}
	return bits;
}

/* Eight buckets to each power of two: the same as in `crates/dbtime-model/src/traced_totals.rs`. */
static __always_inline __u32 fine_bucket(__u64 value)
{
	__u32 shift, power = highest_bit(value);

	if (power < 3)
		return value & 7;
	shift = power - 3;
	if (shift > FINE / 8 - 2)
		return FINE - 1;
	return (shift + 1) * 8 + (value >> shift & 7);
}

static __always_inline __u32 coarse_bucket(__u64 us)
{
	__u64 bucket = settings.step ? us / settings.step : highest_bit(us);

	return bucket < COARSE ? bucket : COARSE - 1;
}

static __always_inline void add_request(struct totals *sums, struct request *request)
{
	__u64 length = request->end - request->start;
	__u32 fine = fine_bucket(length), coarse = coarse_bucket(length / 1000);

	/* The compiler knows more of these than the verifier: the checks below are to stay. */
	barrier_var(fine);
	barrier_var(coarse);
	__sync_fetch_and_add(&sums->count, 1);
	__sync_fetch_and_add(&sums->length, length);
	if (request->error)
		__sync_fetch_and_add(&sums->errors, 1);
	if (request->executes)
		__sync_fetch_and_add(&sums->executes, request->executes);
	if (request->server_queue != NOT_KNOWN) {
		__sync_fetch_and_add(&sums->queued, 1);
		__sync_fetch_and_add(&sums->server_queue, request->server_queue);
		for (int part = 0; part < EARLY_PARTS; part++)
			if (request->early[part])
				__sync_fetch_and_add(&sums->early[part], request->early[part]);
	}
	/* A few at the same instant on one CPU may lose one of them. */
	if (length > sums->longest)
		sums->longest = length;
	for (int part = 0; part < PARTS; part++)
		if (request->parts[part])
			__sync_fetch_and_add(&sums->parts[part], request->parts[part]);
	if (fine < FINE)
		__sync_fetch_and_add(&sums->fine[fine], 1);
	if (coarse < COARSE)
		__sync_fetch_and_add(&sums->coarse[coarse], 1);
}

/* The first of a shape shows what it looks like. It is copied to where it stays, the request itself at
 * last, for verifiers before 6.3 take no row from what a function was given. */
static __always_inline void add_example(struct connection *connection, __u64 shape, __u32 present)
{
	struct row row = { .shape = shape, .side = present };
	struct example *example;
	__u32 zero = 0;

	example = bpf_map_lookup_elem(&empty_example, &zero);
	if (!example || bpf_map_update_elem(&examples, &row, example, BPF_NOEXIST))
		return;
	__sync_fetch_and_add(&made[EMPTIED_EXAMPLES], 1);
	example = bpf_map_lookup_elem(&examples, &row);
	if (!example)
		return;
	bpf_probe_read_kernel(&example->text, sizeof(example->text), &connection->text);
	bpf_probe_read_kernel(&example->executed, sizeof(example->executed), &connection->executed);
	bpf_probe_read_kernel(&example->request, sizeof(example->request), &connection->request);
}

/* The row of a statement; that of SHAPE_OTHER where there is none left. */
static __always_inline struct totals *row_of(struct connection *connection, __u64 shape,
					     __u32 present)
{
	struct request *request = &connection->request;
	struct row row = {
		.shape = shape,
		.is_preempted = request->parts[PART_RUNQ_PREEMPTED] != 0,
		.side = present,
		.cache = request->cache,
	};
	struct totals *sums = bpf_map_lookup_elem(&totals, &row);
	__u32 zero = 0;

	if (sums)
		return sums;
	sums = bpf_map_lookup_elem(&empty_totals, &zero);
	if (!sums)
		return NULL;
	if (!bpf_map_update_elem(&totals, &row, sums, BPF_NOEXIST))
		__sync_fetch_and_add(&made[EMPTIED_TOTALS], 1);
	sums = bpf_map_lookup_elem(&totals, &row);
	if (sums) {
		/* Of a prepared one that is what prepared it. */
		if (shape >= SHAPES && request->text_length && (!is_execute(request->command) ||
					     request->flags & REQUEST_SERVER_TEXT))
			add_example(connection, shape, present);
		return sums;
	}
	row.shape = SHAPE_OTHER;
	return bpf_map_lookup_elem(&totals, &row);
}

/* A hash of a name in a connection's text. Global: see `consume`. */
__noinline __u32 hash_of_name(struct connection *connection, __u32 from, __u32 length)
{
	__u64 hash = FNV_BASIS;

	if (!connection)
		return 0;
	for (__u32 i = 0; i < MAX_NAME && i < length; i++)
		hash = (hash ^ connection->text.bytes[(from + i) & (TEXT_ROOM - 1)]) * FNV_PRIME;
	return hash ^ hash >> 32;
}

/* That of the statement's; it is what the request began with, or stands behind the text. */
static __always_inline __u32 hash_of_statement(struct connection *connection)
{
	struct request *request = &connection->request;

	return hash_of_name(connection, request->flags & REQUEST_NAMED ? 0 : request->text_length,
			    request->name_length);
}

/* Which statement of the connection an EXECUTE names; PostgreSQL's names count by a hash. */
static __always_inline struct prepared prepared_of(struct connection *connection)
{
	struct prepared prepared = { .connection = connection->request.connection };
	const unsigned char *text = (const unsigned char *)connection->text.bytes;

	if (connection->request.protocol == PROTOCOL_POSTGRES) {
		prepared.statement = hash_of_statement(connection);
		return prepared;
	}
	prepared.statement = text[0] | (__u32)text[1] << 8 | (__u32)text[2] << 16 | (__u32)text[3] << 24;
	if (prepared.statement == LAST_STATEMENT)
		prepared.statement = connection->last_prepared;
	return prepared;
}

static __always_inline struct cached_shape *cached_shape_of(struct connection *connection, __u32 statement)
{
	return &connection->cached_shapes[statement & (CACHED_SHAPES - 1)];
}

static __always_inline void cache_shape(struct connection *connection, __u32 statement, __u64 shape)
{
	struct cached_shape *cached = cached_shape_of(connection, statement);

	cached->statement = statement;
	cached->shape = shape;
}

/* What was prepared has this shape: EXECUTE will name it. PostgreSQL's statement without a name most
 * requests bring anew. */
static __always_inline void store_shape(struct connection *connection, struct prepared prepared,
				     int is_unnamed, __u64 shape)
{
	if (is_unnamed) {
		connection->unnamed_shape = shape;
		return;
	}
	cache_shape(connection, prepared.statement, shape);
	bpf_map_update_elem(&prepared_shapes, &prepared, &shape, BPF_ANY);
}

static __always_inline int is_unnamed(struct request *request)
{
	return request->protocol == PROTOCOL_POSTGRES && !request->name_length;
}

/* The shape of what was prepared; 0: it is not known. */
static __always_inline __u64 stored_shape(struct connection *connection, struct prepared prepared,
					int is_unnamed)
{
	struct cached_shape *latest = cached_shape_of(connection, prepared.statement);
	__u64 *cached;

	if (is_unnamed) {
		return connection->unnamed_shape;
	} else if (latest->shape && latest->statement == prepared.statement) {
		return latest->shape;
	} else {
		cached = bpf_map_lookup_elem(&prepared_shapes, &prepared);
		if (cached) {
			cache_shape(connection, prepared.statement, *cached);
			return *cached;
		}
	}
	return 0;
}

/* The same, or the shape of the text from the server. */
static __always_inline __u64 prepared_shape(struct connection *connection, struct prepared prepared)
{
	int unnamed = is_unnamed(&connection->request);
	__u64 shape = stored_shape(connection, prepared, unnamed);

	if (shape)
		return shape;
	count(COUNT_UNRESOLVED);
	if (!(connection->request.flags & REQUEST_SERVER_TEXT))
		return SHAPE_NOT_KNOWN;
	shape = shape_of(connection);
	store_shape(connection, prepared, unnamed, shape);
	return shape;
}

/* What a loop over several statements looks for. */
struct chief_shape {
	struct connection *connection;
	__u64 shape;
	__u32 chief;
	__u32 present;		/* the side that rows are added to */
};

/* One of several statements: later requests may mean it. */
static long next_shape(__u64 i, struct chief_shape *found)
{
	struct connection *connection = found->connection;
	struct executed *executed = &connection->executed[i & (MAX_EXECUTED - 1)];
	__u64 shape = connection->shapes[i & (MAX_EXECUTED - 1)];
	struct prepared prepared = { .connection = connection->request.connection };

	if (i >= connection->request.statements)
		return 1;
	prepared.statement = hash_of_name(connection, executed->name_from, executed->name_length);
	if (executed->flags & REQUEST_UNREAD) {
		shape = SHAPE_NOT_KNOWN;
	} else if (executed->flags & REQUEST_NAMED) {
		shape = stored_shape(connection, prepared, !executed->name_length);
	} else {
		connection->request.chief = i;
		store_shape(connection, prepared, !executed->name_length, shape);
		add_example(connection, shape, found->present);
	}
	if (i == found->chief)
		found->shape = shape;
	return 0;
}

/* The shape of the statement that a request with several is known by. */
static __always_inline __u64 shape_of_chief(struct connection *connection,
						 __u32 present)
{
	struct chief_shape found = {
		.connection = connection,
		.chief = connection->request.chief,
		.present = present,
	};

	bpf_loop(MAX_EXECUTED, next_shape, &found, 0);
	connection->request.chief = found.chief;
	if (found.shape)
		return found.shape;
	count(COUNT_UNRESOLVED);
	return SHAPE_NOT_KNOWN;
}

/* What a portal executes, as it was when that was made. */
static __always_inline __u64 shape_of_portal(struct connection *connection)
{
	struct request *request = &connection->request;
	__u32 hash = hash_of_name(connection, request->portal_from, request->portal_length);

	if (connection->portal_shape && connection->portal_hash == hash)
		return connection->portal_shape;
	count(COUNT_UNRESOLVED);
	return SHAPE_NOT_KNOWN;
}

static __always_inline void store_portal_shape(struct connection *connection, __u64 shape)
{
	struct request *request = &connection->request;

	if (!request->portal_length)
		return;
	connection->portal_hash =
		hash_of_name(connection, request->portal_from, request->portal_length);
	connection->portal_shape = shape;
}

/* Adds a request to its row, if it is a statement. Global, as all that is long. */
__noinline int add_to_totals(struct connection *connection)
{
	struct request *request;
	struct prepared prepared;
	struct totals *sums;
	__u64 shape = SHAPE_NOT_KNOWN;
	/* Once: all of it goes to one side. */
	__u32 present = side;

	if (!connection)
		return 0;
	request = &connection->request;
	switch (request->command) {
	case COM_QUERY:
	case PG_QUERY:
	case PG_FUNCTION:
		shape = shape_of(connection);
		break;
	case PG_PARSE:
	case PG_EXECUTE:
		if (connection->request.statements) {
			shape = shape_of_chief(connection, present);
			store_portal_shape(connection, shape);
			if (request->command == PG_EXECUTE)
				break;
			return 0;
		}
		if (request->flags & REQUEST_FETCHES) {
			shape = shape_of_portal(connection);
			break;
		}
		prepared = prepared_of(connection);
		if (!(request->flags & REQUEST_NAMED)) {
			shape = shape_of(connection);
			/* One that fails as it is executed has been prepared all the same. */
			if (!request->error || request->reply == PG_PARSED)
				store_shape(connection, prepared, is_unnamed(request), shape);
			store_portal_shape(connection, shape);
			if (request->command == PG_EXECUTE)
				break;
			add_example(connection, shape, present);
			return 0;
		}
		shape = prepared_shape(connection, prepared);
		store_portal_shape(connection, shape);
		break;
	case COM_STMT_EXECUTE:
	case COM_STMT_BULK_EXECUTE:
		shape = prepared_shape(connection, prepared_of(connection));
		break;
	case COM_STMT_PREPARE:
		if (request->writes && request->reply == REPLY_OK) {
			prepared.connection = request->connection;
			prepared.statement = request->statement;
			prepared.reserved = 0;
			connection->last_prepared = request->statement;
			shape = shape_of(connection);
			store_shape(connection, prepared, 0, shape);
			add_example(connection, shape, present);
		}
		return 0;
	default:
		return 0;
	}
	request->shape = shape;
	sums = row_of(connection, shape, present);
	if (sums)
		add_request(sums, request);
	if (connection->file_wait_count)
		for (int i = 0; i < FILE_WAITS; i++)
			add_file_totals(&connection->files.waits[i], shape, present);
	return 0;
}

#endif
