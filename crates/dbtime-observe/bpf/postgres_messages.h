/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The first bytes of messages of PostgreSQL's clients and servers. Source: PostgreSQL manual, "Message Formats".
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

#define PG_LET_IN 'R'		/* a server's Authentication, by which a login is answered, */
#define PG_COMPLETE 'C'		/* CommandComplete, */
#define PG_EMPTY 'I'		/* EmptyQueryResponse, */
#define PG_SUSPENDED 's'	/* PortalSuspended */
#define PG_FAILED 'E'		/* ErrorResponse, */
#define PG_READY 'Z'		/* ReadyForQuery, */
#define PG_PARSED '1'		/* ParseComplete, */
#define PG_BOUND '2'		/* BindComplete, */
#define PG_CLOSED '3'		/* CloseComplete, */
#define PG_NO_COLUMNS 'n'	/* NoData, */
#define PG_COLUMNS 'T'		/* RowDescription, */
#define PG_PARAMETERS 't'	/* ParameterDescription, */
#define PG_NOTICE 'N'		/* NoticeResponse, */
#define PG_NOTIFICATION 'A'	/* NotificationResponse, */
#define PG_SETTING 'S'		/* ParameterStatus, */
#define PG_COPY_IN 'G'		/* and CopyInResponse */

static __always_inline __u32 big_endian(const __u8 *at)
{
	return (__u32)at[0] << 24 | (__u32)at[1] << 16 | (__u32)at[2] << 8 | at[3];
}

#endif
