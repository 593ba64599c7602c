//! What the screen shows, apart from how.

use super::rows::right;
use dbtime_model::lock_picture::LockPicture;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_prior::PriorWork;
use dbtime_model::traced_totals::{Preemption, ReplacedStatements, TraceTotals};
use dbtime_model::{Nanos, WireProtocol};

/// Everything that is known at one instant.
#[derive(Clone, Debug, Default)]
pub struct TopScene {
    /// The time of day.
    pub clock: String,
    /// The servers that are watched.
    pub servers: Vec<SceneServer>,
    /// The last interval.
    pub lately: Span,
    /// Since the watching began.
    pub whole: Span,
    /// Statements a second, of one interval after the other, the last at the end.
    pub rates: Vec<u64>,
    /// What every connection is at.
    pub connections: Vec<LiveConnection>,
    /// Whether nothing is known of that.
    pub lacks_connections: bool,
    /// What sessions were at before the watching began, as far as it goes on.
    pub prior: PriorWork,
    /// For how long it has gone on by now.
    pub watched_for: Nanos,
    /// Waits for locks that are over, since the watching began or as far back as is kept.
    pub lock_waits: Vec<LockWait>,
    /// What a login to a server has found out.
    pub login: LoginScene,
    /// The slowest requests, the slowest first; texts as they may be shown.
    pub slowest: Vec<TracedRequest>,
    /// What became of everything.
    pub ledger: TraceLedger,
}

/// A server that is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SceneServer {
    /// Its process.
    pub process: u32,
    /// What it is called, with its ports.
    pub name: String,
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
    /// The process of the server that both are connected to, where it is known which one that is.
    pub server: Option<u32>,
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
    /// The process of the server that it was made to, where it is known which one that is.
    pub server: Option<u32>,
    /// Whether it was made to one that is not watched.
    pub is_elsewhere: bool,
    /// What that server speaks.
    pub protocol: Option<WireProtocol>,
    /// Who waits for whom, where somebody has waited long enough; texts as they may be shown.
    pub picture: Option<LockPicture>,
    /// What a reader has to know of it.
    pub notes: Vec<String>,
}

impl TopScene {
    /// What stands above the servers of rows, where there are several.
    pub(super) fn server_heading(&self) -> String {
        match self.servers.len() {
            0 | 1 => String::new(),
            _ => right("Server", 7) + " ",
        }
    }

    /// The server of a row, where there are several.
    pub(super) fn server_column(&self, server: Option<u32>) -> String {
        match self.servers.len() {
            0 | 1 => String::new(),
            _ => right(&server.map_or("?".to_owned(), |process| process.to_string()), 7) + " ",
        }
    }

    /// Behind what a server calls a connection: which server that is, where the number alone does
    /// not say so.
    pub(super) fn of_server(&self, request: &TracedRequest) -> String {
        match request.protocol {
            WireProtocol::Mysql if self.servers.len() > 1 => format!(" of {}", request.process),
            WireProtocol::Mysql | WireProtocol::Postgres => String::new(),
        }
    }

    /// What a server is called.
    pub(super) fn server_name(&self, process: u32) -> String {
        let known = self.servers.iter().find(|server| server.process == process);
        known.map_or_else(|| format!("process {process}"), |server| server.name.clone())
    }
}

impl LoginScene {
    /// Whether a connection is of the server that the login was made to, as far as that is known:
    /// numbers of sessions are a server's own.
    pub(super) fn is_of_it(&self, one: &LiveConnection) -> bool {
        let is_same = |server: u32| one.server.is_none_or(|other| other == server);
        let speaks_so = |protocol: WireProtocol| one.request.protocol == protocol;
        let may_be = self.server.is_none_or(is_same) && self.protocol.is_none_or(speaks_so);
        may_be && !self.is_elsewhere
    }
}
