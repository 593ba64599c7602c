//! What the screen shows, apart from how.

use dbtime_model::Nanos;
use dbtime_model::lock_picture::LockPicture;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_totals::{Preemption, ReplacedStatements, TraceTotals};

/// Everything that is known at one instant.
#[derive(Clone, Debug, Default)]
pub struct TopScene {
    /// The time of day.
    pub clock: String,
    /// The servers that are watched.
    pub servers: Vec<String>,
    /// The last interval.
    pub lately: Span,
    /// Since the watching began.
    pub whole: Span,
    /// Statements a second, of one interval after the other, the last at the end.
    pub rates: Vec<u64>,
    /// What every connection is at.
    pub connections: Vec<LiveConnection>,
    /// Waits for locks that are over, since the watching began or as far back as is kept.
    pub lock_waits: Vec<LockWait>,
    /// What a login to a server has found out.
    pub login: LoginScene,
    /// The slowest requests, the slowest first; texts as they may be shown.
    pub slowest: Vec<TracedRequest>,
    /// What became of everything.
    pub ledger: TraceLedger,
}

/// What some time came to.
#[derive(Clone, Debug, Default)]
pub struct Span {
    /// How long it was.
    pub length: Nanos,
    /// Statements by what they are called, in no order.
    pub statements: Vec<(String, TraceTotals)>,
    /// All of them.
    pub all: TraceTotals,
    /// Who had the CPU instead, longest first.
    pub preemptors: Vec<Preemption>,
    /// What it may have cost that there were more statements than rows, since the beginning.
    pub replaced: Option<ReplacedStatements>,
}

/// A connection that waited for a lock, or let one go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockParty {
    /// By dbtime's own number.
    pub connection: u64,
    /// By the server's, where it is known.
    pub server_id: Option<u64>,
    /// Its statement, as it may be shown.
    pub statement: String,
}

/// A wait for a lock that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWait {
    /// Who waited.
    pub waiter: LockParty,
    /// Who ended the wait, where that was a connection.
    pub holder: Option<LockParty>,
    /// What the server calls the lock.
    pub lock: String,
    /// How long it took.
    pub length: Nanos,
}

/// What a login to a server has found out of the waits that go on.
#[derive(Clone, Debug, Default)]
pub struct LoginScene {
    /// Whether there is one, or was.
    pub is_there: bool,
    /// Who waits for whom, where somebody has waited long enough; texts as they may be shown.
    pub picture: Option<LockPicture>,
    /// What a reader has to know of it.
    pub notes: Vec<String>,
}
