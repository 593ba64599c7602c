/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What programs hand on to who reads them, and what the tests take of it.
 */
#include <stdlib.h>
#include <string.h>
#include "machine.h"

#define ENOSPC_RETURN (-28)

struct host_record {
	struct host_record *next;
	__u64 length;
	__u8 bytes[];
};

/* Oldest first. */
static struct host_record *records;
static struct host_record **last_record = &records;
static int is_ring_full;

static long keep(void *data, __u64 size)
{
	struct host_record *record = malloc(sizeof(*record) + size);

	if (!record)
		abort();
	record->next = NULL;
	record->length = size;
	memcpy(record->bytes, data, size);
	*last_record = record;
	last_record = &record->next;
	return 0;
}

long host_output(void *ring, void *data, __u64 size)
{
	host_step();
	return is_ring_full ? ENOSPC_RETURN : keep(data, size);
}

long host_seq_write(void *data, __u32 size)
{
	return keep(data, size);
}

/* For the tests. */

void host_set_ring_full(int is_full)
{
	is_ring_full = is_full;
}

/* Bytes of the oldest record; -1: there is none. */
long host_record_length(void)
{
	return records ? (long)records->length : -1;
}

static void drop_oldest(void)
{
	struct host_record *record = records;

	records = record->next;
	if (!records)
		last_record = &records;
	free(record);
}

/* Takes the oldest record away. */
void host_take_record(__u8 *to)
{
	if (!records)
		return;
	memcpy(to, records->bytes, records->length);
	drop_oldest();
}

void host_forget_records(void)
{
	while (records)
		drop_oldest();
}
