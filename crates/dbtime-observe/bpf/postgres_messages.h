/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The first bytes of messages of PostgreSQL's clients. Source: PostgreSQL manual, "Message Formats".
 */
#ifndef DBTIME_POSTGRES_MESSAGES_H
#define DBTIME_POSTGRES_MESSAGES_H

enum message {
	PG_BIND = 'B',
	PG_CLOSE = 'C',
	PG_DESCRIBE = 'D',
	PG_EXECUTE = 'E',
	PG_FUNCTION = 'F',
	PG_FLUSH = 'H',
	PG_PARSE = 'P',
	PG_QUERY = 'Q',
	PG_SYNC = 'S',
	PG_TERMINATE = 'X',
	PG_COPY_DONE = 'c',
	PG_COPY_DATA = 'd',
	PG_COPY_FAIL = 'f',
	PG_PASSWORD = 'p',
};

#endif
