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

/// Hands a macro every part, in the order of a transaction's life: its name in records, its variant
/// and what it means.
macro_rules! each_part {
    ($then:ident) => {
        $then! {
            queue: Queue = "waiting for a free connection or worker",
            lag: Lag = "the driver was late",
            client: Client = "the driver between two statements",
            think: Think = "deliberate think time",
            backoff: Backoff = "pauses before retries",
            wire: Wire = "on the way between client and server",
            server_queue: ServerQueue = "unread in the server's socket",
            cpu: Cpu = "on a CPU in the database",
            runq: Runq = "runnable, but the CPU was taken",
            runq_preempted: RunqPreempted = "pre-empted by another thread",
            runq_woken: RunqWoken = "woken, and not yet on a CPU",
            throttled: Throttled = "over the CPU limit of its control group",
            stopped: Stopped = "stopped or frozen",
            lock: Lock = "waiting for a lock",
            io_read: IoRead = "blocked in reads",
            io_write: IoWrite = "blocked in writes",
            sync: Sync = "blocked in fsync",
            net: Net = "the server waiting on the client",
            sleep: Sleep = "sleeping in the server",
            other: Other = "blocked elsewhere",
            server_and_wire: ServerAndWire = "server and wire together",
            unexplained: Unexplained = "not explained by any part",
        }
    };
}
pub(crate) use each_part;

macro_rules! part_lists {
    ($($name:ident: $part:ident = $meaning:literal,)+) => {
        impl Part {
            /// Every part, in the order of a transaction's life.
            pub const ALL: [Self; PART_COUNT] = [$(Self::$part),+];

            /// The name used in records and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$part => stringify!($name),)+
                }
            }

            /// What the part means, in a few words for a report.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$part => $meaning,)+
                }
            }
        }
    };
}

each_part!(part_lists);

impl Part {
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
}

/// How many parts there are.
pub const PART_COUNT: usize = 22;
