//! Mirrors the structs of `bpf/capture.h`. Unit of all times: nanoseconds of CLOCK_MONOTONIC.

use super::numbers::{
    COUNTS, EARLY_PARTS, FILE_WAITS, MAX_EXECUTED, NAMED_RIVALS, PARTS, STACK_FRAMES, TEXT_ROOM,
};

/// Buckets of the fine distribution of responses: `FINE`.
pub(crate) const FINE: usize = 368;
/// Buckets of the coarse one: `COARSE`.
pub(crate) const COARSE: usize = dbtime_model::traced_totals::COARSE_BUCKETS as usize;
/// Bytes of a user's or a database's name, its zero included: `NAME_ROOM`.
pub(crate) const NAME_ROOM: usize = 64;
/// Bytes of a file's name, its zero included: `FILE_NAME`.
pub(crate) const FILE_NAME: usize = 40;
/// What the kernel's side says of what it has not seen: `NOT_KNOWN`.
pub(crate) const NOT_KNOWN: u64 = u64::MAX;

mirrored_structs! {
    /// Texts and names of a request that executes several statements.
    struct TextRecord = "text" {
        bytes: [u8; TEXT_ROOM],
    }

    /// Frames of a thread, the innermost first: a row of `stacks`, by its number.
    struct StackRow = "stack" {
        /// The first process that had it.
        tgid: u32,
        frames: u32,
        /// Behind the frames they mean nothing.
        addresses: [u64; STACK_FRAMES],
    }

    /// A wait of a request, or a sample of the CPU that serves it: a record of the stream. No other
    /// has the same length.
    struct StackEventRecord = "stack_event" {
        connection: u64,
        /// Of the request.
        start: u64,
        /// When it left the CPU, or was sampled.
        at: u64,
        /// Of the wait; of a sample 0.
        length: u64,
        user: u64,
        kernel: u64,
        /// `enum part`; `PART_CPU`: a sample.
        part: u32,
        reserved: u32,
    }

    /// A server's process: a row of `servers`, by its number.
    struct ServerRow = "server" {
        /// Where it has the address of what it waits for (PostgreSQL); or 0.
        wait_event: u64,
        /// `enum protocol`.
        protocol: u32,
        /// Whether it was started by one that is watched; such a row goes as it ends.
        is_child: u16,
        has_tls_probes: u16,
    }

    /// Whose a connection is: a record of the stream.
    struct LoginRecord = "login" {
        connection: u64,
        /// What the server calls it (PostgreSQL: the process, by the number that it has for
        /// itself); 0: that was not seen.
        id: u64,
        /// The number of the client's end of a Unix socket; 0: it has none.
        client_cookie: u64,
        /// The client's, of four bytes or sixteen.
        address: [u8; 16],
        port: u32,
        /// `AF_INET`, `AF_INET6` or another.
        family: u16,
        /// Whether the client has said who it is, or that it is another now.
        is_named: u16,
        user: [u8; NAME_ROOM],
        database: [u8; NAME_ROOM],
    }

    /// Who ended the longest wait for a lock.
    struct BlockerRecord = "blocker" {
        length: u64,
        /// Whose request it served, or had served last; 0: none's.
        connection: u64,
        /// When that request had begun.
        start: u64,
        tid: u32,
        /// What the server called the wait: `enum wait`, or PostgreSQL's number; 0: nothing.
        wait: u32,
        /// `enum release`.
        release: u32,
        /// Of a PostgreSQL process that serves nobody: the number by which its server knows it; 0:
        /// not known.
        number: u32,
    }

    /// A thread's name: a key of `preemptors` and of `programs`.
    struct ThreadName = "name" {
        text: [u8; 16],
    }

    /// Who had the CPU while a request could have run.
    struct PreemptorRecord = "preemptor" {
        /// In all; 0: nobody had it.
        length: u64,
        name: ThreadName,
        tid: u32,
        reserved: u32,
    }

    /// How often, and how long in all: a row of `preemptors` and of `files`.
    struct TallyRow = "tally" {
        count: u64,
        length: u64,
    }

    /// Which file was waited for, in which part.
    struct FileRow = "file_row" {
        name: [u8; FILE_NAME],
        /// `enum part`.
        part: u32,
        /// `enum file_kind`.
        kind: u16,
        /// 0 but in the table of files.
        side: u16,
    }

    /// What a request has waited for in a file, in one part.
    struct FileWaitRecord = "file_wait" {
        row: FileRow,
        tally: TallyRow,
    }

    /// The files that a request has waited for; goes before its `WaitsRecord`.
    struct FileWaitsRecord = "file_waits" {
        /// All ones: no request begins so, and no `WaitsRecord`.
        marker: u64,
        waits: [FileWaitRecord; FILE_WAITS],
    }

    /// The longest waits of a request; goes before it where there were any.
    struct WaitsRecord = "waits" {
        /// No request begins so.
        marker: u64,
        blocker: BlockerRecord,
        /// Longest first.
        preemptors: [PreemptorRecord; NAMED_RIVALS],
    }

    /// A request that is over, or under way behind a `SnapshotRecord`. Its text and names follow.
    struct RequestRecord = "request" {
        /// From 1, of this trace.
        connection: u64,
        /// Its first byte was read.
        start: u64,
        /// The first piece of its answer was handed over; 0: there is none.
        first_sent: u64,
        /// The last piece was; without any, when the server turned to the next request.
        end: u64,
        sent_bytes: u64,
        writes: u32,
        /// Bytes of the command, its first byte included.
        length: u32,
        tgid: u32,
        /// The thread that read it.
        tid: u32,
        /// The id in an answer to PREPARE.
        statement: u32,
        text_length: u32,
        /// The number in an answer that is an error.
        error: u32,
        /// `enum request_flags`.
        flags: u16,
        /// The system call of the last wait that is `other`.
        other_call: u16,
        command: u8,
        /// The first byte of the answer.
        reply: u8,
        /// `enum outcome`.
        outcome: u8,
        /// `enum cache`.
        cache: u8,
        /// `enum protocol`.
        protocol: u8,
        /// Of the name of a prepared statement.
        name_length: u8,
        /// PostgreSQL: how often it executes something.
        executes: u16,
        /// From when it came until it was read; `NOT_KNOWN`.
        server_queue: u64,
        /// Sent or changed; `NOT_KNOWN`.
        rows: u64,
        /// By `enum part`.
        parts: [u64; PARTS],
        /// PostgreSQL: where the portal's name begins.
        portal_from: u16,
        /// 0: it has none.
        portal_length: u16,
        /// Of several statements the one that it is known by.
        chief: u16,
        /// That follow; 0: there are not several.
        statements: u16,
        /// Of the statement, where it was added up; 0: it was not.
        shape: u64,
        /// When the last of its answer came to the driver's socket; 0: not seen.
        answer_arrived: u64,
        /// The same of the answer that the driver took before it sent this; 0: not seen.
        taken_of: u64,
        /// For how long of the time since then the thread that took it had no CPU.
        taken_runq: u64,
        /// Of `server_queue`, by `enum early_part`.
        early: [u64; EARLY_PARTS],
    }

    /// One of several statements of a PostgreSQL request.
    struct ExecutedRecord = "executed" {
        /// How long it took; `NOT_KNOWN`.
        length: u64,
        /// `NOT_KNOWN`: its answer does not tell.
        rows: u64,
        executes: u32,
        /// Which of the request's Binds was its first.
        first_bind: u16,
        /// `enum request_flags`.
        flags: u16,
        text_from: u16,
        text_length: u16,
        name_from: u16,
        name_length: u16,
    }

    /// What watching itself takes: behind the counts in the row of `processors`, of each.
    struct CostRow = "cost" {
        runs: u64,
        timed: u64,
        /// Of those that were timed.
        length: u64,
        /// Hits of probes.
        traps: u64,
    }

    /// A connection as it is at some instant; its request follows.
    struct SnapshotRecord = "snapshot" {
        now: u64,
        /// The request is under way.
        is_under_way: u32,
        /// Which part goes on (`enum part`); `PARTS`: that is not known.
        part: u32,
        /// As in `BlockerRecord`.
        wait: u32,
        reserved: u32,
    }

    /// What was counted: the beginning of the row of `processors`, of each.
    struct CountsRow = "counts" {
        /// By `enum count`.
        count: [u64; COUNTS],
    }

    /// Which statements share a row: a key of `totals` and of `examples`.
    struct StatementRow = "row" {
        /// `enum shape`, or a hash of the text.
        shape: u64,
        is_preempted: u16,
        side: u16,
        /// `enum cache`.
        cache: u32,
    }

    /// Waits of statements of one shape for a file: a key of `files`.
    struct ShapeFileRow = "shape_file" {
        shape: u64,
        file: FileRow,
    }

    /// What the statements of a row come to: a row of `totals`.
    struct TotalsRow = "totals" {
        count: u64,
        length: u64,
        errors: u64,
        longest: u64,
        executes: u64,
        /// Those of which it is known how long they lay in the socket.
        queued: u64,
        /// How long these did, together.
        server_queue: u64,
        /// Of that, by `enum early_part`.
        early: [u64; EARLY_PARTS],
        /// By `enum part`.
        parts: [u64; PARTS],
        fine: [u64; FINE],
        coarse: [u64; COARSE],
    }

    /// The first request of a shape, with its text: a row of `examples`.
    struct ExampleRow = "example" {
        request: RequestRecord,
        text: TextRecord,
        executed: [ExecutedRecord; MAX_EXECUTED],
    }

    /// How the kernel's side is to work: what its constants are before it is loaded.
    struct SettingsRecord = "settings" {
        user: [u8; NAME_ROOM],
        database: [u8; NAME_ROOM],
        streams: u32,
        sums: u32,
        follows_unix: u32,
        /// Of the coarse distribution, in microseconds; 0: by powers of two.
        step: u32,
        follows_new: u32,
        filters_user: u32,
        filters_database: u32,
        follows_threads: u32,
        /// The process of the run that servers are watched beside; 0: of none.
        driver: u32,
        stacks: u32,
        /// Whether the kernel finds a thread by its number.
        finds_threads: u32,
        /// Whether threads are pre-empted within programs of tracepoints.
        preempts_programs: u32,
        /// Whether pointers are cast to ones that the verifier does not trust.
        casts: u32,
    }
}
