/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The tables of the simulated kernel. What is deleted stays where it lies until the machine is reset:
 * in the kernel, too, a program may go on with a row that another has just deleted.
 */
#include <stdlib.h>
#include <string.h>
#include "machine.h"

#define HOST_TABLES 64

struct host_row {
	struct host_row *next;
	void *owner;		/* whose storage it is */
	__u8 *key;
	__u8 *values[HOST_CPUS];	/* of all but tables of each CPU only the first */
	int is_deleted;
};

struct host_rows {
	void *map;
	char *name;
	enum host_kind kind;
	__u32 key;
	__u32 value;
	__u32 entries;
	__u32 used;
	struct host_row *rows;
	struct host_row **last;
};

static struct host_rows tables[HOST_TABLES];
static int known;

static void *zeroed(__u64 size)
{
	/* Of its own size exactly: what goes beyond it is found. */
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		abort();
	return memory;
}

void host_table(void *map, char *name, enum host_kind kind, __u32 key, __u32 value, __u32 entries)
{
	struct host_rows *table = &tables[known++];

	if (known > HOST_TABLES)
		abort();
	memset(table, 0, sizeof(*table));
	table->map = map;
	table->name = name;
	table->kind = kind;
	table->key = key;
	table->value = value;
	table->entries = entries;
	table->last = &table->rows;
}

void host_forget_tables(void)
{
	for (int i = 0; i < known; i++) {
		struct host_row *row = tables[i].rows, *next;

		for (; row; row = next) {
			next = row->next;
			free(row->key);
			for (int cpu = 0; cpu < HOST_CPUS; cpu++)
				free(row->values[cpu]);
			free(row);
		}
	}
	known = 0;
}

static struct host_rows *table_of(void *map)
{
	for (int i = 0; i < known; i++)
		if (tables[i].map == map)
			return &tables[i];
	abort();
}

static struct host_rows *named(char *name)
{
	for (int i = 0; i < known; i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	abort();
}

static struct host_row *add(struct host_rows *table, void *owner, void *key)
{
	struct host_row *row = zeroed(sizeof(*row));
	int cpus = table->kind == HOST_PERCPU ? HOST_CPUS : 1;

	row->owner = owner;
	row->key = zeroed(table->key);
	if (key)
		memcpy(row->key, key, table->key);
	for (int cpu = 0; cpu < cpus; cpu++)
		row->values[cpu] = zeroed(table->value);
	*table->last = row;
	table->last = &row->next;
	table->used++;
	return row;
}

static struct host_row *find(struct host_rows *table, void *owner, void *key)
{
	struct host_row *row;

	for (row = table->rows; row; row = row->next)
		if (!row->is_deleted && row->owner == owner &&
		    (owner || !memcmp(row->key, key, table->key)))
			return row;
	return NULL;
}

/* Rows of arrays are there all the time. */
static struct host_row *row_of(struct host_rows *table, void *key)
{
	struct host_row *row = find(table, NULL, key);
	int is_array = table->kind == HOST_ARRAY || table->kind == HOST_PERCPU;
	__u32 index;

	if (row || !is_array)
		return row;
	memcpy(&index, key, sizeof(index));
	return index < table->entries ? add(table, NULL, key) : NULL;
}

void *host_lookup(void *map, void *key)
{
	struct host_rows *table = table_of(map);
	struct host_row *row = row_of(table, key);

	host_step();
	return row ? row->values[table->kind == HOST_PERCPU ? host_cpu() : 0] : NULL;
}

static long update(struct host_rows *table, void *key, void *value, __u64 flags)
{
	struct host_row *row = row_of(table, key);

	if (row && flags == BPF_NOEXIST)
		return -17;
	if (!row && table->used >= table->entries)
		return -7;
	if (!row)
		row = add(table, NULL, key);
	memcpy(row->values[0], value, table->value);
	return 0;
}

long host_update(void *map, void *key, void *value, __u64 flags)
{
	host_step();
	return update(table_of(map), key, value, flags);
}

long host_delete(void *map, void *key)
{
	struct host_rows *table = table_of(map);
	struct host_row *row = find(table, NULL, key);

	host_step();
	if (!row)
		return -2;
	row->is_deleted = 1;
	table->used--;
	return 0;
}

long host_push(void *map, void *value)
{
	struct host_rows *table = table_of(map);

	memcpy(add(table, NULL, NULL)->values[0], value, table->value);
	return 0;
}

void *host_storage_of(void *map, void *owner, int creates)
{
	struct host_rows *table = table_of(map);
	struct host_row *row = find(table, owner, NULL);

	if (!row && creates)
		row = add(table, owner, NULL);
	return row ? row->values[0] : NULL;
}

/* For the tests: rows by the names of tables. */

__u32 host_value_size(char *name)
{
	return named(name)->value;
}

__u32 host_key_size(char *name)
{
	return named(name)->key;
}

long host_put(char *name, void *key, void *value)
{
	return update(named(name), key, value, BPF_ANY);
}

long host_remove(char *name, void *key)
{
	return host_delete(named(name)->map, key);
}

/* The row at a place in the order of their making; 0: there is no further one. */
int host_row_at(char *name, __u32 place, __u32 cpu, void *key, void *value)
{
	struct host_rows *table = named(name);
	struct host_row *row;

	for (row = table->rows; row; row = row->next) {
		if (row->is_deleted || place--)
			continue;
		memcpy(key, row->key, table->key);
		memcpy(value, row->values[table->kind == HOST_PERCPU ? cpu : 0], table->value);
		return 1;
	}
	return 0;
}
