//! The ledger of everything that a tracer saw, and what watching took.

use crate::Nanos;
use crate::units::count_sum;
use serde::{Deserialize, Serialize};

/// What watching took of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCost {
    /// CPU time of the programs in the kernel, estimated: of 4,096 runs on a CPU 96 in a row are
    /// timed; with what the kernel takes to run them.
    #[serde(rename = "kernel_us")]
    pub kernel: Nanos,
    /// Hits of probes in servers and their libraries. Each costs a trap, which is not in `kernel`.
    pub probe_hits: u64,
    /// What such a trap takes on this machine.
    #[serde(default, rename = "trap_us")]
    pub trap: Nanos,
    /// CPU time of dbtime itself, counted by the kernel.
    #[serde(rename = "own_us")]
    pub own: Nanos,
}

impl TraceCost {
    /// CPU time of everything together.
    pub fn all(&self) -> Nanos {
        self.kernel + self.own + Nanos(self.probe_hits.saturating_mul(self.trap.0))
    }
}

/// Everything that was seen, counted by what became of it.
///
/// `started = ended + in_flight + aborted + partial + vanished()`, and
/// `streamed + dropped + not_streamed = ended + aborted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceLedger {
    /// Requests that were seen to begin or to be under way.
    pub started: u64,
    /// Answered, or of a kind that has no answer.
    pub ended: u64,
    /// Still under way when the tracer left.
    pub in_flight: u64,
    /// Their connection ended before the answer.
    pub aborted: u64,
    /// Under way when the tracer came: their beginning was not seen. The rest of one, such as the
    /// data of a COPY, may look like a request until the server answers.
    pub partial: u64,
    /// Handed on one by one.
    pub streamed: u64,
    /// Counted, but not handed on: the buffer between kernel and reader was full (`--buffer`).
    pub dropped: u64,
    /// Their text was longer than what is kept.
    pub cut: u64,
    /// Their text could not be read.
    pub unread: u64,
    /// Another came on the same connection before they were answered.
    #[serde(alias = "overlaid")]
    pub pipelined_over: u64,
    /// Reads and writes of connections that the kernel had no memory to follow.
    pub no_storage: u64,
    /// Times that connections were lost track of, until their next request, that a request was
    /// answered which had not been seen, or that one came in one read with the rest of one from
    /// before.
    #[serde(alias = "out_of_step")]
    pub resync: u64,
    /// Connections that turned to TLS, whose library gave no plain text, and were not followed.
    pub tls: u64,
    /// Connections that turned to compression and were not followed.
    pub compressed: u64,
    /// Connections that spoke without a request that was understood: those that were there before
    /// may be compressed.
    #[serde(alias = "not_understood")]
    pub unparsed: u64,
    /// Connections that turned to encryption by GSS and were not followed.
    #[serde(default)]
    pub gss: u64,
    /// Connections that spoke another protocol, such as HTTP or MySQL's X protocol, and were not
    /// followed.
    #[serde(default)]
    pub other_protocol: u64,
    /// Connections by which a replica takes changes: what they carry are no requests.
    #[serde(default)]
    pub replication: u64,
    /// Connections that only cancelled a request of another.
    #[serde(default)]
    pub cancels: u64,
    /// Connections whose clients their servers refused before they had said who they are.
    #[serde(default)]
    pub refused: u64,
    /// Connections that were followed.
    pub connections: u64,
    /// Statements that were prepared before that could be seen, among those that were added up.
    #[serde(alias = "nameless")]
    pub unresolved: u64,
    /// Times that a thread got a CPU and the kernel did not tell: taken from the scheduler's own
    /// record instead, which leaves out what interrupts took.
    pub unseen_arrivals: u64,
    /// Requests of PostgreSQL's with several statements.
    #[serde(default)]
    pub batches: u64,
    /// Waits for locks, and requests that let them go, that are missing in the sums of them: the
    /// reader was too slow.
    #[serde(default)]
    pub locks_lost: u64,
    /// Not handed on either, for the watching was to cost less (`--max-cost`).
    #[serde(default)]
    #[serde(alias = "withheld")]
    pub not_streamed: u64,
    /// Connections whose user is known.
    #[serde(default)]
    pub logins: u64,
    /// Events, of any process, that the kernel ran no program for, because another thread was
    /// within it on that CPU, and times that it may have run none for some: requests may be
    /// missing.
    #[serde(default)]
    pub missed_events: u64,
    /// Errors that servers sent while no request of the connection was under way: a login was
    /// refused, a client was idle for too long, somebody ended the connection.
    #[serde(default)]
    pub connection_errors: u64,
    /// Servers that were found where another, meant by its port or socket, had ended: what they
    /// served by then is missing.
    #[serde(default)]
    pub restarts: u64,
    /// How long these may have been there by then, all together.
    #[serde(default, rename = "unwatched_us")]
    pub unwatched: Nanos,
}

impl TraceLedger {
    /// Requests that began and of which nothing more is known: their connection was gone when the
    /// tracer left, and nothing had told of it. Negative never, unless the tracer is wrong.
    pub fn vanished(&self) -> i64 {
        let known = count_sum([self.ended, self.in_flight, self.aborted, self.partial]);
        let vanished = i128::from(self.started) - i128::from(known);
        vanished.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Whether every request is accounted for, everything that ended was handed on, but for what
    /// `--max-cost` held back, no event may have been missed, no connection with requests was left
    /// out, and every server was watched from its beginning on.
    pub fn is_whole(&self) -> bool {
        let not_seen = [self.missed_events, self.unread_connections(), self.restarts];
        let is_complete = not_seen == [0; 3];
        self.vanished() == 0 && self.lost() == 0 && is_complete
    }

    /// Connections whose requests, if they had any, are in no figure.
    pub fn unread_connections(&self) -> u64 {
        let encrypted = [self.tls, self.gss, self.compressed];
        count_sum(encrypted.into_iter().chain([self.other_protocol, self.unparsed]))
    }

    /// Requests that were not followed to their end, or not handed on.
    pub(crate) fn lost(&self) -> u64 {
        count_sum([self.dropped, self.pipelined_over, self.no_storage, self.resync])
    }

    /// Connections whose user nobody has seen to log in, for they were there before.
    pub fn unknown_users(&self) -> u64 {
        let encrypted = [self.tls, self.gss, self.compressed];
        let without_login = [self.other_protocol, self.cancels, self.refused];
        let known = count_sum(encrypted.into_iter().chain(without_login));
        self.connections.saturating_sub(self.logins).saturating_sub(known)
    }

    /// Requests that were to be handed on one by one, whatever became of that.
    pub fn for_stream(&self) -> u64 {
        count_sum([self.streamed, self.dropped, self.not_streamed])
    }

    /// Whether what was handed on and what was not add up to what was over.
    pub fn adds_up(&self) -> bool {
        self.for_stream() == count_sum([self.ended, self.aborted]) && self.vanished() >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_accounts_for_every_request() {
        let ledger = TraceLedger {
            started: 10,
            ended: 6,
            in_flight: 2,
            aborted: 1,
            partial: 1,
            streamed: 7,
            ..TraceLedger::default()
        };
        assert!(ledger.adds_up() && ledger.is_whole());
        let dropped = TraceLedger { streamed: 5, dropped: 2, ..ledger };
        assert!(dropped.adds_up() && !dropped.is_whole());
        assert_eq!(dropped.lost(), 2);
        assert!(!TraceLedger { missed_events: 1, ..ledger }.is_whole());
        assert!(!TraceLedger { restarts: 1, ..ledger }.is_whole());
        for left_out in [
            TraceLedger { tls: 1, ..ledger },
            TraceLedger { gss: 1, ..ledger },
            TraceLedger { compressed: 1, ..ledger },
            TraceLedger { other_protocol: 1, ..ledger },
            TraceLedger { unparsed: 1, ..ledger },
        ] {
            assert!(!left_out.is_whole() && left_out.adds_up(), "{left_out:?}");
            assert_eq!(left_out.unread_connections(), 1);
        }
        let without_requests = TraceLedger { replication: 1, cancels: 1, ..ledger };
        assert!(without_requests.is_whole());
        let connected = TraceLedger { connections: 5, logins: 2, cancels: 1, gss: 1, ..ledger };
        assert_eq!(connected.unknown_users(), 1);
        assert_eq!(TraceLedger { refused: 1, ..connected }.unknown_users(), 0);
        let vanished = TraceLedger { started: 11, ..ledger };
        assert_eq!(vanished.vanished(), 1);
        assert!(vanished.adds_up() && !vanished.is_whole());
        assert!(!TraceLedger { ended: 7, ..ledger }.adds_up());
    }

    #[test]
    fn a_ledger_of_a_stranger_has_sums_too() {
        let most = TraceLedger {
            ended: u64::MAX,
            in_flight: u64::MAX,
            streamed: u64::MAX,
            dropped: u64::MAX,
            resync: u64::MAX,
            ..TraceLedger::default()
        };
        assert_eq!(
            (most.vanished(), most.lost(), most.for_stream()),
            (i64::MIN, u64::MAX, u64::MAX)
        );
        assert!(!most.adds_up() && !most.is_whole());
    }
}
