/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the kernel's side and `src/trace/layout.rs` both know. Every number is little-endian on the
 * machines that are built for; times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef DBTIME_CAPTURE_H
#define DBTIME_CAPTURE_H

/* Bytes of a statement's text that a connection has room for; a power of two. */
#define TEXT_ROOM 1024

/* What a request came to. */
enum fate {
	FATE_ENDED = 1,		/* answered, or of a kind that has no answer */
	FATE_ABORTED = 2,	/* the connection ended before the answer */
};

enum request_flags {
	REQUEST_CUT = 1,	/* the text is longer than what was kept */
	REQUEST_UNREAD = 2,	/* the text was not in memory, or not where it was looked for */
	REQUEST_OVERLAID = 4,	/* the next one came before this one was answered */
};

/* Where the time of a request goes. The order is that of `PARTS` in `src/trace/layout.rs`. */
enum part {
	PART_CPU,
	PART_RUNQ_PREEMPTED,	/* runnable, but another had the CPU */
	PART_RUNQ_WOKEN,	/* woken, and not yet on a CPU */
	PART_LOCK,
	PART_IO_READ,
	PART_IO_WRITE,
	PART_SYNC,
	PART_NET,
	PART_SLEEP,
	PART_OTHER,
	PARTS,
};

/* Who ended the longest wait for a lock. */
struct blocker {
	__u64 length;
	__u64 connection;	/* whose request it served; 0: none's */
	__u64 start;		/* when that request had begun */
	__u32 tid;
	__u32 wait;		/* what the server called it: enum wait; 0: nothing */
};

/* What servers say that they wait for (include/mysql/service_thd_wait.h). */
enum wait {
	WAIT_SLEEP = 1,
	WAIT_DISK,
	WAIT_ROW_LOCK,
	WAIT_GLOBAL_LOCK,
	WAIT_METADATA_LOCK,
	WAIT_TABLE_LOCK,
	WAIT_USER_LOCK,
	WAIT_BINLOG,
	WAIT_GROUP_COMMIT,
	WAIT_SYNC,
	WAIT_NET,
};

/* Who had the CPU in the longest wait for one; tid 0: it was free, or nobody is known. */
struct preemptor {
	__u64 length;
	__u32 tid;
	char name[16];
	__u32 reserved;
};

#define FILE_NAME 40

/* The file of the longest wait for one. */
struct file_wait {
	__u64 length;
	char name[FILE_NAME];
};

#define NOT_KNOWN (~0ull)

/* A request that is over, followed by `text_length` bytes. */
struct request {
	__u64 number;		/* of this stream, from 0, without a gap for what was dropped */
	__u64 connection;	/* from 1, of this trace */
	__u64 start;		/* its first byte was read */
	__u64 first_sent;	/* the first and the last piece of its answer were handed over; 0: none */
	__u64 end;		/* its last piece was; without any, when the server turned to the next */
	__u64 sent_bytes;
	__u32 sends;
	__u32 length;		/* bytes of the command, its first byte included */
	__u32 tgid;
	__u32 tid;		/* the thread that read it */
	__u32 statement;	/* the id in an answer to PREPARE */
	__u32 text_length;
	__u16 error;		/* the number in an answer that is an error */
	__u16 flags;
	__u8 command;
	__u8 reply;		/* first byte of the answer */
	__u8 fate;
	__u8 reserved;
	__u16 other_call;	/* the system call of the last wait that is `other` */
	__u16 reserved2[3];
	__u64 server_queue;	/* it was there and nobody read it; NOT_KNOWN: that was not seen */
	__u64 parts[PARTS];
	struct blocker blocker;
	struct preemptor preemptor;
	struct file_wait file;
};

/* Every class of event is counted. The order is that of `Ledger` in `src/trace/ledger.rs`. */
enum count {
	COUNT_STARTED,
	COUNT_ENDED,
	COUNT_ABORTED,
	COUNT_PARTIAL,		/* was under way at the attach: its beginning was not seen */
	COUNT_STREAMED,
	COUNT_DROPPED,		/* the stream had no room for it */
	COUNT_CUT,
	COUNT_UNREAD,
	COUNT_OVERLAID,
	COUNT_NO_STORAGE,	/* a connection that the kernel had no memory to follow */
	COUNT_OUT_OF_STEP,	/* reads that fit no packet; followed again from the next one that does */
	COUNT_TLS,		/* connections that turned to TLS, and are not followed */
	COUNT_COMPRESSED,	/* that turned to compression */
	COUNT_NOT_UNDERSTOOD,	/* that were there before, and of which no request was found */
	COUNT_CONNECTIONS,
	COUNTS,
};

#define FINE 368		/* buckets of responses, eight to each power of two nanoseconds */
#define COARSE 40		/* buckets of powers of two microseconds; the first from 0 */
#define PREEMPTORS 256

/* What the statements of a row come to in all. The order is that of `src/trace/layout.rs`. */
struct totals {
	__u64 count;
	__u64 length;
	__u64 errors;
	__u64 longest;
	__u64 parts[PARTS];
	__u64 fine[FINE];
	__u64 coarse[COARSE];
};

/* Statements that kept the CPU, and those that were pre-empted. */
enum row { ROW_UNDISTURBED, ROW_PREEMPTED, ROWS };

/* Who had the CPU, and what that came to. No name: all for whom there was no room. */
struct name {
	char text[16];
};

struct preemption {
	__u64 count;
	__u64 length;
};

/* How it is to work. */
struct settings {
	__u32 streams;		/* whether requests are handed on one by one */
	__u32 follows_unix;	/* whether clients by Unix sockets are followed */
};

/* Of a connection with a request under way, for whoever looks at the end. */
struct under_way {
	__u64 connection;
	__u64 start;
	__u32 tgid;
	__u32 tid;
};

#endif
