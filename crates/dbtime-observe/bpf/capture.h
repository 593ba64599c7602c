/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the kernel's side and its reader both know: `src/kernel_layout/` mirrors these structs and
 * enums, and a test compares it with the BTF of what is built. Every number is little-endian on the
 * machines that are built for; times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef DBTIME_CAPTURE_H
#define DBTIME_CAPTURE_H

#define NAMED_FILES 8		/* of a request; further ones share a place in each part */
#define FILE_PARTS 3		/* from PART_IO_READ on */

/* Rooms and limits. They are an enum for BTF to have them. */
enum bound {
	TEXT_ROOM = 1024,	/* bytes of a statement's text that are kept; a power of two */
	SERVER_TEXT_AT = 64,		/* where a text from the server begins, behind the request's own */
	MAX_EXECUTED = 8,	/* statements of a request with a record each; a power of two */
	FILE_WAITS = NAMED_FILES + FILE_PARTS,
	/* Tables that the reader empties before they are full have rows of so many sides: programs
	 * add to those of one, and the reader takes out those of the other once nobody adds to them
	 * any more. */
	SIDES = 2,
	/* Where statements are added up, shorter waits for locks are not streamed; nanoseconds. */
	MIN_LOCK_WAIT_NS = 1000000,
	STACK_FRAMES = 127,	/* of a stack, from the innermost, that are kept */
	NAMED_RIVALS = 3,	/* of those who had the CPU that a request waited for, that are handed on */
};

#define SERVER_TEXT_ROOM (TEXT_ROOM - SERVER_TEXT_AT)

struct text {
	char bytes[TEXT_ROOM];
};

/* Frames of a thread, the innermost first; further ones hold nothing. */
struct stack {
	__u32 tgid;		/* the first process that had it */
	__u32 frames;
	__u64 addresses[STACK_FRAMES];
};

/* A wait of a request is over, or the CPU that serves it was sampled. Stacks are named by their numbers
 * in the table; 0: there is none, or it is lost. */
struct stack_event {
	__u64 connection;
	__u64 start;		/* of the request */
	__u64 at;		/* when it left the CPU, or was sampled */
	__u64 length;		/* of the wait; of a sample 0 */
	__u64 user;
	__u64 kernel;
	__u32 part;		/* PART_CPU: a sample */
	__u32 reserved;
};

/* How a request ended. */
enum outcome {
	OUTCOME_ENDED = 1,		/* answered, or of a kind that has no answer */
	OUTCOME_ABORTED = 2,	/* the connection ended before the answer */
};

enum request_flags {
	REQUEST_CUT = 1,	/* the text is longer than what was kept */
	REQUEST_UNREAD = 2,	/* the text was not in memory, or not where it was looked for */
	REQUEST_NAMED = 4,	/* it names a statement that was prepared by an earlier one */
	REQUEST_SERVER_TEXT = 8,	/* the text is from the server: it stands behind SERVER_TEXT_AT bytes */
	REQUEST_MULTI = 16,	/* it executes several statements, of which it names the first */
	REQUEST_IN_TRANSACTION = 32,	/* by the status in its answer a transaction is open, */
	REQUEST_NO_TRANSACTION = 64,	/* or none is; neither flag: the answer has no status */
	REQUEST_FETCHES = 128,	/* it goes on with a portal that an earlier one has made */
	REQUEST_RELEASED = 256,	/* it let a lock go that somebody had waited for */
	REQUEST_LOCKS = 512,	/* it is handed on for such a wait alone, its own or another's */
	REQUEST_ESCAPES = 1024,	/* MySQL: in the session's strings a backslash escapes, */
	REQUEST_NO_ESCAPES = 2048,	/* or it does not; neither flag: that is not known */
	REQUEST_QUOTED_NAMES = 4096,	/* MySQL: double quotes are around names, as MariaDB tells */
};

/* What a server speaks. */
enum protocol { PROTOCOL_MYSQL = 1, PROTOCOL_POSTGRES };

/* A server's process. */
struct server {
	__u64 wait_event;	/* where it has the address of what it waits for (PostgreSQL); or 0 */
	__u32 protocol;
	__u16 is_child;		/* of one that is followed */
	__u16 has_tls_probes;	/* whether there are probes on its TLS library */
};

#define NAME_ROOM 64	/* of a user's or a database's name, its zero included */

/* Whose a connection is, as far as that is known. Behind each name there are zeros. */
struct login {
	__u64 connection;
	__u64 id;		/* the server's, from MySQL's greeting; or as `own_number`; 0: not seen */
	__u64 client_cookie;	/* the number of the client's end of a Unix socket; 0: it has none */
	__u8 address[16];	/* the client's, of four bytes or sixteen */
	__u32 port;		/* the client's; 0: it has none */
	__u16 family;		/* AF_INET, AF_INET6 or another */
	__u16 is_named;		/* the client has said who it is, or that it is another now */
	char user[NAME_ROOM];
	char database[NAME_ROOM];
};

/* Where the time of a request goes, in the order of `RequestParts::named` (dbtime-model). */
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
	PART_THROTTLED,		/* runnable, but its control group has used up its share */
	PART_STOPPED,		/* by a signal, a debugger or a freezer */
	PARTS,
};

/* What the thread that read a request had waited for since that came to the socket. */
enum early_part {
	EARLY_RUNQ_PREEMPTED,
	EARLY_RUNQ_WOKEN,
	EARLY_THROTTLED,
	EARLY_STOPPED,
	EARLY_PARTS,		/* a power of two */
};

/* How who let a lock go was related to its connection. */
enum release {
	RELEASE_NONE,		/* nobody did: a timer or a signal ended the wait */
	RELEASE_SERVING,	/* it served a request */
	RELEASE_BEHIND,		/* it had answered one, and read nothing since */
	RELEASE_LEAVING,	/* its client had gone */
};

/* Who ended the longest wait for a lock. */
struct blocker {
	__u64 length;
	__u64 connection;	/* whose request it served, or had served last; 0: none's */
	__u64 start;		/* when that request had begun */
	__u32 tid;
	__u32 wait;		/* what the server called it: enum wait, or PostgreSQL's; 0: nothing */
	__u32 release;		/* enum release */
	__u32 number;		/* of a PostgreSQL process that serves nobody, as `own_number`; or 0 */
};

/* Kinds of waits that servers report (include/mysql/service_thd_wait.h). */
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

/* A thread's. */
struct name {
	char text[16];
} __attribute__((aligned(8)));

/* The highest byte of PostgreSQL's wait_event_info (utils/wait_classes.h). */
enum wait_class {
	CLASS_LWLOCK = 1,
	CLASS_LOCK = 3,
	CLASS_BUFFER = 4,
	CLASS_CLIENT = 6,
	CLASS_IPC = 8,
	CLASS_TIMEOUT = 9,
	CLASS_IO = 10,
};

/* Who had the CPU while a request could have run: threads of one name. */
struct preemptor {
	__u64 length;		/* in all; 0: nobody had it */
	struct name name;
	__u32 tid;		/* of one of them */
	__u32 reserved;
};

/* How often, and how long in all. Of pre-emptors no name stands for several of them, or for all for
 * whom there was no room. */
struct tally {
	__u64 count;
	__u64 length;
};

#define FILE_NAME 40

/* Waits for one file, in one part. Behind the name there are zeros. */
struct file_row {
	char name[FILE_NAME];
	__u32 part;
	__u16 kind;
	__u16 side;		/* see SIDES; 0 but in the table of files */
};

enum file_kind {
	FILE_NAMED,
	FILE_MAPPED,	/* pages of some mapped file */
	FILE_OTHERS,	/* several, or all for which there was no room */
};

/* What a request has waited for in a file, in one part. */
struct file_wait {
	struct file_row row;
	struct tally tally;	/* nothing: it has not */
};

/* The files that a request has waited for. */
struct file_waits {
	__u64 marker;		/* all ones: no request begins so, and no `struct waits` */
	struct file_wait waits[FILE_WAITS];
};

/* The longest wait of a request for a lock, and for whom it waited longest for a CPU, in any order.
 * Each holds nothing where its length is 0. */
struct waits {
	__u64 marker;		/* no request begins so */
	struct blocker blocker;
	struct preemptor preemptors[NAMED_RIVALS];
};

#define NOT_KNOWN (~0ull)

/* A request that is over, followed by `text_length` bytes and a name of `name_length`. Where it has
 * waited so, `struct waits` goes before it, and before that `struct file_waits`. */
struct request {
	__u64 connection;	/* from 1, of this trace */
	__u64 start;		/* its first byte was read */
	__u64 first_sent;	/* the first and the last piece of its answer were handed over; 0: none */
	__u64 end;		/* its last piece was; without any, when the server turned to the next */
	__u64 sent_bytes;
	__u32 writes;
	__u32 length;		/* bytes of the command, its first byte included */
	__u32 tgid;
	__u32 tid;		/* the thread that read it */
	__u32 statement;	/* the id in an answer to PREPARE */
	__u32 text_length;
	__u32 error;		/* the number in an answer that is an error */
	__u16 flags;
	__u16 other_call;	/* the system call of the last wait that is `other` */
	__u8 command;
	__u8 reply;		/* first byte of the answer */
	__u8 outcome;
	__u8 cache;		/* enum cache */
	__u8 protocol;		/* enum protocol */
	__u8 name_length;	/* of the name of a prepared statement, which stands behind the text */
	__u16 executes;		/* PostgreSQL: how often it executes something */
	__u64 server_queue;	/* from its arrival in the socket until the read; NOT_KNOWN: not seen */
	__u64 rows;		/* sent or changed, by the answer; NOT_KNOWN: it has no count, or was not read */
	__u64 parts[PARTS];
	__u16 portal_from;	/* PostgreSQL: where the portal's name begins, behind the rest of the text */
	__u16 portal_length;	/* 0: it has none */
	__u16 chief;		/* of several statements the one that stands for the request */
	__u16 statements;	/* that follow; 0: there are not several */
	__u64 shape;		/* of the statement, where it was added up; 0: it was not */
	/* Beside a run, of a connection of the driver's: */
	__u64 answer_arrived;	/* the last of its answer came to the client's socket; 0: not seen */
	__u64 taken_of;		/* the same of the answer that the driver took before it sent this; 0: not seen */
	__u64 taken_runq;	/* how long of the time since then the thread that took it had no CPU */
	__u64 early[EARLY_PARTS];	/* of the time in the socket, as far as it was seen */
};

/* One of several statements of a PostgreSQL request. Where there are several, the whole text and all of
 * these follow the request. */
struct executed {
	__u64 length;		/* how long it took; NOT_KNOWN: that was not seen */
	__u64 rows;		/* NOT_KNOWN: its answer has no count, or was too long */
	__u32 executes;
	__u16 first_bind;	/* of the request's Binds, as far as these make portals without a name */
	__u16 flags;		/* enum request_flags; REQUEST_MULTI: further ones are with it */
	__u16 text_from;	/* in the request's text */
	__u16 text_length;
	__u16 name_from;
	__u16 name_length;
};

/* What watching itself takes: of TIMED_CYCLE runs of the programs on a CPU, TIMED in a row are timed.
 * The first TIMED_COLD of those do not count: the path that reads the clock is not in the caches there,
 * which made a run of 250 ns one of 450. */
#define TIMED_CYCLE 4096
#define TIMED 96
#define TIMED_COLD 32

struct cost {
	__u64 runs;
	__u64 timed;
	__u64 length;		/* of those that were timed */
	__u64 traps;		/* hits of probes in servers and libraries */
};

/* A connection as it is at some instant, followed by the request that is under way, or by its last, as
 * it would be handed on. */
struct snapshot {
	__u64 now;
	__u32 is_under_way;	/* the request is under way */
	__u32 part;		/* which part of the response goes on (enum part); PARTS: that is not known */
	__u32 wait;		/* what the server calls what it waits for, as in struct blocker */
	__u32 reserved;
};

/* Every class of event is counted. */
enum count {
	COUNT_STARTED,
	COUNT_ENDED,
	COUNT_IN_FLIGHT,	/* under way at the end */
	COUNT_ABORTED,
	COUNT_PARTIAL,		/* was under way at the attach: its beginning was not seen */
	COUNT_STREAMED,
	COUNT_DROPPED,		/* the stream had no room for it */
	COUNT_CUT,
	COUNT_UNREAD,
	COUNT_PIPELINED_OVER,		/* the next one came before this one was answered */
	COUNT_NO_STORAGE,	/* a connection that the kernel had no memory to follow */
	COUNT_RESYNC,	/* reads that fit no packet, until one does; answers to unseen requests */
	COUNT_TLS,		/* connections that turned to TLS, without probes on the TLS library */
	COUNT_COMPRESSED,	/* that turned to compression */
	COUNT_UNPARSED,	/* that said what is no request, and none before */
	COUNT_CONNECTIONS,
	COUNT_UNRESOLVED,		/* statements, added up, whose text was not seen when they were prepared */
	COUNT_UNSEEN_SWITCHES,		/* switches to a thread without an event */
	COUNT_LOGINS,		/* connections whose user is known */
	COUNT_BATCHES,		/* requests with several statements, with a record each */
	COUNT_LOCKS_LOST,	/* waits for locks, and who let them go, for which the stream had no room */
	COUNT_NOT_STREAMED,		/* not handed on, for that was to cost less: see enum depth */
	COUNT_STACKS_LOST,	/* for which the table or the stream had no room */
	COUNT_ALL_TAKEN,	/* times that events may have found all programs for them taken */
	COUNT_CONNECTION_ERRORS,	/* that were sent while no request was under way */
	COUNT_GSS,		/* connections that turned to GSS, */
	COUNT_OTHER_PROTOCOL,	/* that spoke another protocol, */
	COUNT_REPLICATION,	/* by which a replica takes changes, */
	COUNT_CANCELS,		/* that cancelled what another had asked for, */
	COUNT_REFUSED,		/* or were refused before they had said whose they are */
	COUNTS,
};

struct counts {
	__u64 count[COUNTS];
};

#define FINE 368		/* buckets of responses, eight to each power of two nanoseconds */
#define COARSE 40		/* buckets of powers of two microseconds, or of steps; from 0 */
#define PREEMPTORS 256
#define FILES 8192		/* rows of waits for files */

#define STACKS 8192
#define STATEMENTS 4096		/* rows of statements */

/* Which statements share a row. */
struct row {
	__u64 shape;		/* of their text, or one of enum shape */
	__u16 is_preempted;
	__u16 side;		/* see SIDES */
	__u32 cache;		/* enum cache */
};

enum shape {
	SHAPE_OTHER,		/* there was no row left, or no longer one */
	SHAPE_NOT_KNOWN,	/* it was prepared before it could be seen */
	SHAPES,
};

/* What became of a statement that was looked for in the query cache. */
enum cache { CACHE_NOT_SEARCHED, CACHE_MISS, CACHE_HIT, CACHES };

/* Waits of statements of one shape for a file. */
struct shape_file {
	__u64 shape;
	struct file_row file;
};

/* What the statements of a row come to in all. */
struct totals {
	__u64 count;
	__u64 length;
	__u64 errors;
	__u64 longest;
	__u64 executes;
	__u64 queued;		/* those of which it is known how long they lay in the socket */
	__u64 server_queue;	/* how long these did, together */
	__u64 early[EARLY_PARTS];	/* of that */
	__u64 parts[PARTS];
	__u64 fine[FINE];
	__u64 coarse[COARSE];
};

/* The first request of each shape and side, with its text. */
struct example {
	struct request request;
	struct text text;
	struct executed executed[MAX_EXECUTED];
};

/* How much is done for a request. It may become less while servers are watched. */
enum depth {
	DEPTH_EVERYTHING,	/* it is streamed, where the settings have it so */
	DEPTH_SUMS,		/* it is added up, and not handed on */
	DEPTH_COUNTS,		/* it is counted */
};

/* Whether servers are watched. All programs are attached before that begins and detached after it has
 * ended, one by one: what begins and ends it for all of them at once is this. */
enum phase {
	PHASE_BEFORE,
	PHASE_WATCHING,
	PHASE_ENDED,	/* what is under way is accounted for, and nothing begins */
};

/* Which tables the reader empties: see SIDES. */
enum emptied { EMPTIED_TOTALS, EMPTIED_EXAMPLES, EMPTIED_FILES, EMPTIED };

/* How it is to work; all numbers but the step and the driver 0 or 1. */
struct settings {
	char user[NAME_ROOM];		/* first, for names are compared by words of eight bytes */
	char database[NAME_ROOM];
	__u32 streams;		/* whether requests are handed on one by one */
	__u32 sums;		/* whether statements are added up */
	__u32 follows_unix;	/* whether clients by Unix sockets are followed */
	__u32 step;		/* of the coarse distribution, in microseconds; 0: by powers of two */
	__u32 follows_new;	/* whether servers that start later are reported, and followed at any port */
	__u32 filters_user;	/* whether only statements of this user are added up */
	__u32 filters_database;	/* whether only those in this database are */
	__u32 follows_threads;	/* whether the scheduler's programs are attached: without, there are no parts */
	__u32 driver;		/* the process of the run that servers are watched beside; 0: of none */
	__u32 stacks;		/* whether stacks are kept */
	__u32 finds_threads;	/* whether the kernel finds a thread by its number, which it does since 6.2 */
	__u32 preempts_programs;	/* whether threads are pre-empted within programs of tracepoints */
	__u32 casts;		/* whether the kernel casts pointers for programs, which it does since 6.2: see UNTRUSTED */
};

#endif
