//! Mirrors the enums of `bpf/capture.h`, as far as they are needed here.

mirrored_enums! {
    "bound": usize {
        /// Bytes of a statement's text that a connection has room for.
        TEXT_ROOM = 1024,
        /// Where a text begins that the server told of.
        SERVER_TEXT_AT = 64,
        /// Statements of a request that are told apart.
        MAX_EXECUTED = 8,
        /// Places for files in a request's waits.
        FILE_WAITS = 11,
        /// How many sides tables have that are emptied.
        SIDES = 2,
        /// From here on waits for locks are told of where statements are added up. Unit:
        /// nanoseconds.
        MIN_LOCK_WAIT_NS = 1_000_000,
        /// Frames of a stack that are kept.
        STACK_FRAMES = 127,
        /// Of those who had the CPU that a request waited for, that are handed on.
        NAMED_RIVALS = 3,
    }

    "outcome": u8 {
        OUTCOME_ENDED = 1,
        OUTCOME_ABORTED = 2,
    }

    "request_flags": u16 {
        /// The text is longer than what was kept.
        REQUEST_CUT = 1,
        /// The text was not in memory.
        REQUEST_UNREAD = 2,
        /// The statement is one that an earlier request prepared.
        REQUEST_NAMED = 4,
        /// The server told of the text, which stands behind what the request said of itself.
        REQUEST_SERVER_TEXT = 8,
        /// It executes several statements; of one of these: further ones are with it.
        REQUEST_MULTI = 16,
        /// Its answer says that a transaction is open,
        REQUEST_IN_TRANSACTION = 32,
        /// or that none is.
        REQUEST_NO_TRANSACTION = 64,
        /// It goes on with a portal that an earlier request has made.
        REQUEST_FETCHES = 128,
        /// It is handed on alone for a lock that it waited for, or let go.
        REQUEST_LOCKS = 512,
        /// MySQL: in the session's strings a backslash escapes the next byte,
        REQUEST_ESCAPES = 1024,
        /// or it does not.
        REQUEST_NO_ESCAPES = 2048,
        /// MySQL: double quotes are around names in the session, as MariaDB tells.
        REQUEST_QUOTED_NAMES = 4096,
    }

    "protocol": u8 {
        PROTOCOL_MYSQL = 1,
        PROTOCOL_POSTGRES = 2,
    }

    "part": usize {
        PART_CPU = 0,
        PART_RUNQ_PREEMPTED = 1,
        PART_RUNQ_WOKEN = 2,
        PART_LOCK = 3,
        PART_IO_READ = 4,
        PART_IO_WRITE = 5,
        PART_SYNC = 6,
        PART_NET = 7,
        PART_SLEEP = 8,
        PART_OTHER = 9,
        PART_THROTTLED = 10,
        PART_STOPPED = 11,
        PARTS = 12,
    }

    "early_part": usize {
        EARLY_RUNQ_PREEMPTED = 0,
        EARLY_RUNQ_WOKEN = 1,
        EARLY_THROTTLED = 2,
        EARLY_STOPPED = 3,
        EARLY_PARTS = 4,
    }

    "release": u32 {
        /// A timer or a signal ended the wait.
        RELEASE_NONE = 0,
        /// The client of who let go had gone.
        RELEASE_LEAVING = 3,
    }

    "wait": u32 {
        WAIT_ROW_LOCK = 3,
        WAIT_GLOBAL_LOCK = 4,
        WAIT_METADATA_LOCK = 5,
        WAIT_TABLE_LOCK = 6,
        WAIT_USER_LOCK = 7,
        WAIT_BINLOG = 8,
        WAIT_GROUP_COMMIT = 9,
    }

    "wait_class": u32 {
        CLASS_LWLOCK = 1,
        CLASS_LOCK = 3,
        CLASS_BUFFER = 4,
        CLASS_IPC = 8,
    }

    "file_kind": u16 {
        FILE_NAMED = 0,
        FILE_MAPPED = 1,
        FILE_OTHERS = 2,
    }

    "count": usize {
        COUNT_STARTED = 0,
        COUNT_ENDED = 1,
        COUNT_IN_FLIGHT = 2,
        COUNT_ABORTED = 3,
        COUNT_PARTIAL = 4,
        COUNT_STREAMED = 5,
        COUNT_DROPPED = 6,
        COUNT_CUT = 7,
        COUNT_UNREAD = 8,
        COUNT_PIPELINED_OVER = 9,
        COUNT_NO_STORAGE = 10,
        COUNT_RESYNC = 11,
        COUNT_TLS = 12,
        COUNT_COMPRESSED = 13,
        COUNT_UNPARSED = 14,
        COUNT_CONNECTIONS = 15,
        COUNT_UNRESOLVED = 16,
        COUNT_UNSEEN_SWITCHES = 17,
        COUNT_LOGINS = 18,
        COUNT_BATCHES = 19,
        COUNT_LOCKS_LOST = 20,
        COUNT_NOT_STREAMED = 21,
        COUNT_STACKS_LOST = 22,
        COUNT_ALL_TAKEN = 23,
        COUNT_CONNECTION_ERRORS = 24,
        COUNT_GSS = 25,
        COUNT_OTHER_PROTOCOL = 26,
        COUNT_REPLICATION = 27,
        COUNT_CANCELS = 28,
        COUNT_REFUSED = 29,
        COUNTS = 30,
    }

    "shape": u64 {
        /// The row of what has none of its own.
        SHAPE_OTHER = 0,
        /// Of what was prepared before it could be seen.
        SHAPE_NOT_KNOWN = 1,
        /// What is less is no statement's.
        SHAPES = 2,
    }

    "cache": u32 {
        CACHE_NOT_SEARCHED = 0,
        CACHE_MISS = 1,
        CACHE_HIT = 2,
        CACHES = 3,
    }

    "depth": u32 {
        DEPTH_EVERYTHING = 0,
        DEPTH_SUMS = 1,
        DEPTH_COUNTS = 2,
    }

    "phase": u32 {
        PHASE_BEFORE = 0,
        PHASE_WATCHING = 1,
        PHASE_ENDED = 2,
    }

    "emptied": usize {
        EMPTIED_TOTALS = 0,
        EMPTIED_EXAMPLES = 1,
        EMPTIED_FILES = 2,
        EMPTIED = 3,
    }
}
