//! The names of the parts, their order and their meaning.

/// Where a stretch of a transaction's response went. The order is that of a transaction's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Part {
    /// Waiting for a free connection or worker.
    Queue,
    /// The driver was late.
    Lag,
    /// The driver's own time between an answer and the next statement.
    Client,
    /// Think time inside the transaction.
    Think,
    /// Pauses before a retry.
    Backoff,
    /// Request and response on their way.
    Wire,
    /// The request lay in the server's socket unread, and the thread that then read it slept, was
    /// at another one, or was not yet the one to read it.
    ServerQueue,
    /// On a CPU in the database.
    Cpu,
    /// Runnable, but something else had the CPU: the whole, where its two kinds are not told
    /// apart.
    Runq,
    /// Runnable, but another thread had taken the CPU. A kind of `runq`.
    RunqPreempted,
    /// Woken, and not yet on a CPU. A kind of `runq`.
    RunqWoken,
    /// Runnable, but the control group had used up its share of the CPUs.
    Throttled,
    /// Stopped by a signal, a debugger or the freezer of control groups.
    Stopped,
    /// Waiting for a lock, naps taken to get one included.
    Lock,
    /// Blocked in reads.
    IoRead,
    /// Blocked in writes.
    IoWrite,
    /// Blocked in fsync or fdatasync.
    Sync,
    /// The server waited on the client in mid-statement.
    Net,
    /// Deliberate sleeps in the server.
    Sleep,
    /// Blocked elsewhere, with the place named.
    Other,
    /// Everything between wire and other as one measured number, where no tracer splits it.
    ServerAndWire,
    /// The signed remainder.
    Unexplained,
}

impl Part {
    /// Every part, in the order of a transaction's life.
    pub const ALL: [Self; PART_COUNT] = [
        Self::Queue,
        Self::Lag,
        Self::Client,
        Self::Think,
        Self::Backoff,
        Self::Wire,
        Self::ServerQueue,
        Self::Cpu,
        Self::Runq,
        Self::RunqPreempted,
        Self::RunqWoken,
        Self::Throttled,
        Self::Stopped,
        Self::Lock,
        Self::IoRead,
        Self::IoWrite,
        Self::Sync,
        Self::Net,
        Self::Sleep,
        Self::Other,
        Self::ServerAndWire,
        Self::Unexplained,
    ];

    /// Every part by the number that it has in binary formats: a new one is the last here, whatever
    /// its place in a transaction's life, so that files of before are read as they were written.
    pub(super) const WRITTEN: [Self; PART_COUNT] = [
        Self::Queue,
        Self::Lag,
        Self::Client,
        Self::Think,
        Self::Backoff,
        Self::Wire,
        Self::ServerQueue,
        Self::Cpu,
        Self::Runq,
        Self::RunqPreempted,
        Self::RunqWoken,
        Self::Throttled,
        Self::Stopped,
        Self::Lock,
        Self::IoRead,
        Self::IoWrite,
        Self::Sync,
        Self::Net,
        Self::Sleep,
        Self::Other,
        Self::ServerAndWire,
        Self::Unexplained,
    ];

    /// Pauses of the driver, which its clock alone measures.
    pub const PAUSES: [Self; 2] = [Self::Think, Self::Backoff];

    /// The parts of a traced request, in the order of the kernel's side (`enum part` in
    /// `crates/dbtime-observe/bpf/capture.h`) and of reports.
    pub const TRACED: [Self; 12] = [
        Self::Cpu,
        Self::RunqPreempted,
        Self::RunqWoken,
        Self::Lock,
        Self::IoRead,
        Self::IoWrite,
        Self::Sync,
        Self::Net,
        Self::Sleep,
        Self::Other,
        Self::Throttled,
        Self::Stopped,
    ];

    /// The part that this one is a kind of.
    pub fn whole(self) -> Option<Self> {
        matches!(self, Self::RunqPreempted | Self::RunqWoken).then_some(Self::Runq)
    }

    /// The part with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The name used in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Lag => "lag",
            Self::Client => "client",
            Self::Think => "think",
            Self::Backoff => "backoff",
            Self::Wire => "wire",
            Self::ServerQueue => "server_queue",
            Self::Cpu => "cpu",
            Self::Runq => "runq",
            Self::RunqPreempted => "runq_preempted",
            Self::RunqWoken => "runq_woken",
            Self::Throttled => "throttled",
            Self::Stopped => "stopped",
            Self::Lock => "lock",
            Self::IoRead => "io_read",
            Self::IoWrite => "io_write",
            Self::Sync => "sync",
            Self::Net => "net",
            Self::Sleep => "sleep",
            Self::Other => "other",
            Self::ServerAndWire => "server_and_wire",
            Self::Unexplained => "unexplained",
        }
    }

    /// What the part means, in a few words for a report.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Queue => "waiting for a free connection or worker",
            Self::Lag => "the driver was late",
            Self::Client => "the driver between two statements",
            Self::Think => "deliberate think time",
            Self::Backoff => "pauses before retries",
            Self::Wire => "on the way between client and server",
            Self::ServerQueue => "unread in the server's socket",
            Self::Cpu => "on a CPU in the database",
            Self::Runq => "runnable, but the CPU was taken",
            Self::RunqPreempted => "pre-empted by another thread",
            Self::RunqWoken => "woken, and not yet on a CPU",
            Self::Throttled => "over the CPU limit of its control group",
            Self::Stopped => "stopped or frozen",
            Self::Lock => "waiting for a lock",
            Self::IoRead => "blocked in reads",
            Self::IoWrite => "blocked in writes",
            Self::Sync => "blocked in fsync",
            Self::Net => "the server waiting on the client",
            Self::Sleep => "sleeping in the server",
            Self::Other => "blocked elsewhere",
            Self::ServerAndWire => "server and wire together",
            Self::Unexplained => "not explained by any part",
        }
    }
}

/// How many parts there are.
pub const PART_COUNT: usize = 22;
