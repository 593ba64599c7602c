//! The ledger of everything that a tracer saw, and what watching took.

use crate::Nanos;
use crate::units::count_sum;
use serde::{Deserialize, Serialize};

/// The cost of watching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCost {
    /// CPU time of the programs in the kernel, estimated from 96 of every 4,096 runs on a CPU.
    #[serde(rename = "kernel_us")]
    pub kernel: Nanos,
    /// Hits of probes in servers and libraries; each costs a trap outside `kernel_us`.
    pub probe_hits: u64,
    /// Cost of a trap on this machine.
    #[serde(default, rename = "trap_us")]
    pub trap: Nanos,
    /// CPU time of dbtime itself.
    #[serde(rename = "own_us")]
    pub own: Nanos,
}

impl TraceCost {
    /// CPU time of everything together.
    pub fn all(&self) -> Nanos {
        self.kernel + self.own + Nanos(self.probe_hits.saturating_mul(self.trap.0))
    }
}

/// Everything seen, by what became of it. `started = ended + in_flight + aborted + partial +
/// vanished`; `streamed + dropped + not_streamed = ended + aborted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceLedger {
    /// Requests seen to begin or under way.
    pub started: u64,
    /// Answered, or of a kind that has no answer.
    pub ended: u64,
    /// Still under way when the tracer left.
    pub in_flight: u64,
    /// Their connection ended before the answer.
    pub aborted: u64,
    /// Under way when the tracer came.
    pub partial: u64,
    /// Handed on one by one.
    pub streamed: u64,
    /// Counted, but lost to a full buffer (`--buffer`).
    pub dropped: u64,
    /// Their text was longer than is kept.
    pub cut: u64,
    /// Their text could not be read.
    pub unread: u64,
    /// Another came on the connection before their answer.
    #[serde(alias = "overlaid")]
    pub pipelined_over: u64,
    /// Reads and writes of connections that the kernel had no memory to follow.
    pub no_storage: u64,
    /// Times that a connection was lost track of.
    #[serde(alias = "out_of_step")]
    pub resync: u64,
    /// Connections not followed: TLS, whose library gave no plain text.
    pub tls: u64,
    /// Likewise: compression.
    pub compressed: u64,
    /// Connections without a request that was understood, perhaps compressed.
    #[serde(alias = "not_understood")]
    pub unparsed: u64,
    /// Not followed: encryption by GSS.
    #[serde(default)]
    pub gss: u64,
    /// Not followed: another protocol, such as HTTP or MySQL's X protocol.
    #[serde(default)]
    pub other_protocol: u64,
    /// Connections of replicas, whose traffic is no requests.
    #[serde(default)]
    pub replication: u64,
    /// Connections that only cancelled a request.
    #[serde(default)]
    pub cancels: u64,
    /// Connections refused before they said who they are.
    #[serde(default)]
    pub refused: u64,
    /// Connections followed.
    pub connections: u64,
    /// Statements added up whose preparation was not seen.
    #[serde(alias = "nameless")]
    pub unresolved: u64,
    /// Times a thread got a CPU unseen: taken from the scheduler's record.
    pub unseen_arrivals: u64,
    /// Requests of PostgreSQL with several statements.
    #[serde(default)]
    pub batches: u64,
    /// Waits for locks, and requests that ended them, missing in the sums.
    #[serde(default)]
    pub locks_lost: u64,
    /// Counted, but not handed on, to keep to `--max-cost`.
    #[serde(default)]
    #[serde(alias = "withheld")]
    pub not_streamed: u64,
    /// Connections whose user is known.
    #[serde(default)]
    pub logins: u64,
    /// Events that the kernel may have run no program for: requests may be missing.
    #[serde(default)]
    pub missed_events: u64,
    /// Errors sent with no request under way.
    #[serde(default)]
    pub connection_errors: u64,
    /// Servers followed after a restart, without their first requests.
    #[serde(default)]
    pub restarts: u64,
    /// How long they may have been there, in all.
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
