/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Numbers of MySQL's protocol. Source: MySQL internals manual, "Client/Server Protocol".
 */
#ifndef DBTIME_MYSQL_COMMANDS_H
#define DBTIME_MYSQL_COMMANDS_H

#define LONGEST 0xffffff	/* a payload of this length goes on in the next packet */
#define PARAMETERS 9		/* bytes of an EXECUTE before its parameters, command included */
#define QUIT_LENGTH 1		/* bytes of a QUIT, */
#define CLOSE_LENGTH 5		/* and of a CLOSE */

enum command {
	COM_QUIT = 0x01,
	COM_INIT_DB = 0x02,
	COM_QUERY = 0x03,
	COM_CHANGE_USER = 0x11,
	COM_BINLOG_DUMP = 0x12,
	COM_REGISTER_REPLICA = 0x15,	/* with a user and a password */
	COM_STMT_PREPARE = 0x16,
	COM_STMT_EXECUTE = 0x17,
	COM_STMT_SEND_LONG_DATA = 0x18,
	COM_STMT_CLOSE = 0x19,
	COM_STMT_RESET = 0x1a,
	COM_STMT_FETCH = 0x1c,
	COM_BINLOG_DUMP_GTID = 0x1e,
	COM_RESET_CONNECTION = 0x1f,
	COM_REPLICA_HAS = 0xef,	/* what begins no command: a replica says how much it has */
	COM_STMT_BULK_EXECUTE = 0xfa,
};

/* Capabilities of a client, in the first bytes of its login. */
enum capability {
	CLIENT_DATABASE = 1 << 3,	/* it names one */
	CLIENT_COMPRESS = 1 << 5,
	CLIENT_PROTOCOL_41 = 1 << 9,	/* without, its capabilities are two bytes */
	CLIENT_SSL = 1 << 11,
	CLIENT_SHORT_PROOF = 1 << 15,	/* what proves the user has a length of one byte */
	CLIENT_LONG_PROOF = 1 << 21,	/* of one byte or more */
	CLIENT_ZSTD = 1 << 26,
};

/* Of a status, the last two in its higher byte. */
enum status {
	STATUS_MORE_RESULTS = 0x08,
	STATUS_NO_ESCAPES = 0x02,	/* NO_BACKSLASH_ESCAPES */
	STATUS_QUOTED_NAMES = 0x80,	/* ANSI_QUOTES, of MariaDB alone */
};

#define LOGIN_USER 32		/* bytes of a login before the user, */
#define LOGIN_ZEROS 9		/* and before zeros */

#define LAST_STATEMENT 0xffffffff	/* MariaDB's name for what was prepared last */

#define SSL_REQUEST 32		/* bytes of a login that goes on in TLS */

enum reply { REPLY_OK = 0x00, REPLY_FILE = 0xfb, REPLY_END = 0xfe, REPLY_ERROR = 0xff };

/* Errors behind which a server ends the connection. Source: error message references of MySQL and
 * MariaDB. */
enum last_error {
	HANDSHAKE_ERROR = 1043,
	SERVER_SHUTDOWN = 1053,
	ABORTING_CONNECTION = 1152,	/* up to */
	NET_WRITE_INTERRUPTED = 1161,
	NEW_ABORTING_CONNECTION = 1184,
	CONNECTION_KILLED = 1927,	/* of MariaDB */
	SESSION_WAS_KILLED = 3169,	/* of MySQL, as is the next */
	CLIENT_INTERACTION_TIMEOUT = 4031,
};

/* Whether a server ends the connection behind this answer. Where it goes on all the same, it reads a
 * command next, as it does behind any error. */
static __always_inline int ends_mysql_connection(__u8 command, __u32 number)
{
	return command == COM_CHANGE_USER || number == HANDSHAKE_ERROR ||
	       number == SERVER_SHUTDOWN ||
	       (number >= ABORTING_CONNECTION && number <= NET_WRITE_INTERRUPTED) ||
	       number == NEW_ABORTING_CONNECTION || number == CONNECTION_KILLED ||
	       number == SESSION_WAS_KILLED || number == CLIENT_INTERACTION_TIMEOUT;
}

static __always_inline int is_execute(__u8 command)
{
	return command == COM_STMT_EXECUTE || command == COM_STMT_BULK_EXECUTE;
}

/* A replica takes changes from here on, and asks for nothing any more. */
static __always_inline int begins_replication(__u8 command)
{
	return command == COM_BINLOG_DUMP || command == COM_BINLOG_DUMP_GTID ||
	       command == COM_REPLICA_HAS;
}

static __always_inline int has_no_answer(__u8 command)
{
	return command == COM_QUIT || command == COM_STMT_CLOSE ||
	       command == COM_STMT_SEND_LONG_DATA;
}

#endif
