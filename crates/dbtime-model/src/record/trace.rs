//! The tracer beside a run in `run.json`: how far what it saw was matched with what was driven.

use super::StacksInfo;
use crate::Nanos;
use crate::traced_ledger::{TraceCost, TraceLedger};
use crate::traced_prior::{PriorActivity, PriorSession, PriorWork};
use serde::{Deserialize, Serialize};

/// How the driver's statements were matched with requests of the server. A request belongs to the
/// statement of its connection within which it lies. `matched + unmatched + ambiguous` are the
/// statements, `transactions + left_out` the transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JoinCounts {
    /// Statements with the server's side of them.
    pub matched: u64,
    /// Of these, under way together and not told apart: only their transactions have all parts.
    pub unsplit: u64,
    /// Of the matched, with a seen arrival of the answer at the driver's socket.
    pub arrived: u64,
    /// Statements without a request.
    pub unmatched: u64,
    /// Statements with a request that may or may not be theirs.
    pub ambiguous: u64,
    /// Requests of the driver outside of its statements: logins, settings, pings.
    pub outside: u64,
    /// Requests of others, or of unnamed connections.
    pub foreign: u64,
    /// Transactions with all statements matched.
    pub transactions: u64,
    /// The others, which are in no sum of parts.
    pub left_out: u64,
}

impl JoinCounts {
    /// The share of statements that were matched, rounded down to a hundredth so that 100 stands
    /// for all. Unit: percent. `None`: there was none.
    pub fn matched_pct(&self) -> Option<f64> {
        let all = self.matched + self.unmatched + self.ambiguous;
        (all > 0).then(|| (10_000.0 * self.matched as f64 / all as f64).floor() / 100.0)
    }
}

/// The tracer beside a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceInfo {
    /// Matches with the driver's statements, over the whole run.
    pub join: JoinCounts,
    /// Mean wait of the driver's threads for a CPU with an answer in their sockets: part of
    /// `client`, outside `lag`.
    pub client_runq_us: Option<f64>,
    /// Everything it saw, by what became of it; `None`: its reader ended without.
    pub ledger: Option<TraceLedger>,
    /// Cost of watching; its CPU time within the driver is part of `client`.
    pub cost: Option<TraceCost>,
    /// Stacks of the server's threads.
    pub stacks: Option<StacksInfo>,
    /// Time watched.
    #[serde(rename = "length_us")]
    pub length: Nanos,
    /// Whether the server's names of locks were measured.
    pub lock_names: Option<bool>,
    /// Gaps and events of the watching.
    pub notes: Vec<String>,
    /// Sessions of others before it looked.
    pub before: Option<SessionsBefore>,
    /// The recording joined afterwards; `None`: the tracer ran beside.
    pub recording: Option<JoinedRecording>,
}

/// Sessions of others from before the tracer. Until their next request, what they wait for and hold
/// has no name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionsBefore {
    /// At work, where known one by one.
    pub at_work: u64,
    /// Idle in a transaction, which may hold locks.
    pub in_transaction: u64,
    /// Clients at work otherwise, at most.
    pub clients_at_most: u64,
    /// Clients of other servers, at most.
    pub clients_unknown: u64,
}

impl SessionsBefore {
    /// Of these.
    pub fn of(work: &PriorWork) -> Self {
        let is_idle = |one: &&PriorSession| one.activity == PriorActivity::InTransaction;
        let in_transaction = work.sessions.iter().filter(is_idle).count() as u64;
        let mut before = Self {
            at_work: work.sessions.len() as u64 - in_transaction,
            in_transaction,
            ..Self::default()
        };
        for clients in &work.clients {
            match clients.at_work {
                Some(most) => before.clients_at_most += most as u64,
                None => before.clients_unknown += clients.connected as u64,
            }
        }
        before
    }
}

impl TraceInfo {
    /// What a note says that was not measured, among other things, where a lock without a name may
    /// be any.
    pub const LOCK_NAMES: &str = "names of locks";

    /// Whether the server's own names of locks were measured, as far as it has any.
    pub fn has_lock_names(&self) -> bool {
        // A recording has no notes of the tracer.
        let has_notes = self.recording.is_none();
        self.lock_names.unwrap_or_else(|| has_notes && Self::names_locks(&self.notes))
    }

    /// The same by the tracer's notes.
    pub fn names_locks(notes: &[String]) -> bool {
        notes.iter().all(|note| !note.contains(Self::LOCK_NAMES))
    }
}

/// A recording joined with a run, and its clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JoinedRecording {
    /// By the wall clock of its host.
    pub began: String,
    /// The servers watched.
    pub servers: Vec<String>,
    /// Whether both sides were on one host, in one boot.
    pub is_same_clock: bool,
    /// How far the recording's clock is before the driver's, in the middle of the window.
    pub offset_us: f64,
    /// Greatest error of that in the window, either way; 0 on one clock.
    pub uncertainty_us: f64,
    /// How much faster the recording's clock ran, in parts in a million, where that exceeds the
    /// uncertainty.
    pub drift_ppm: Option<f64>,
}

impl TraceInfo {
    /// What reader and helper took of a CPU, as far as that is known. Unit: percent of one CPU.
    pub fn own_cpu_pct(&self) -> f64 {
        let own = self.cost.as_ref().map_or(Nanos::ZERO, |cost| cost.own);
        100.0 * own.as_secs() / self.length.as_secs().max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_statements_are_matched_only_where_all_are() {
        let counts =
            |matched, unmatched| JoinCounts { matched, unmatched, ..JoinCounts::default() };
        assert_eq!(counts(0, 0).matched_pct(), None);
        assert_eq!(counts(99_999, 1).matched_pct(), Some(99.99));
        assert_eq!(counts(100_000, 0).matched_pct(), Some(100.0));
    }

    #[test]
    fn names_of_locks_are_lacking_by_the_record_and_in_old_ones_by_a_note() {
        let noted = vec![format!("not measured: the {} (no symbols)", TraceInfo::LOCK_NAMES)];
        for (lock_names, notes, has) in [
            (None, Vec::new(), true),
            (None, noted.clone(), false),
            (Some(true), noted, true),
            (Some(false), Vec::new(), false),
        ] {
            let info = TraceInfo { lock_names, notes, ..TraceInfo::default() };
            assert_eq!(info.has_lock_names(), has, "{info:?}");
        }
        let recording = Some(JoinedRecording::default());
        let joined = TraceInfo { recording, ..TraceInfo::default() };
        assert!(!joined.has_lock_names(), "it has no notes of the tracer");
        assert!(TraceInfo { lock_names: Some(true), ..joined }.has_lock_names());
    }

    #[test]
    fn what_reader_and_helper_take_is_a_share_of_the_watching() {
        let cost = Some(TraceCost { own: Nanos::from_millis(30), ..TraceCost::default() });
        let info = TraceInfo { cost, length: Nanos::from_secs(2), ..TraceInfo::default() };
        assert!((info.own_cpu_pct() - 1.5).abs() < 1e-9);
        assert_eq!(TraceInfo::default().own_cpu_pct(), 0.0);
    }

    #[test]
    fn counts_without_a_reader_are_unknown_and_not_zero() {
        let read = |json: &str| serde_json::from_str::<TraceInfo>(json).expect("a trace");
        let json = serde_json::to_string(&TraceInfo::default()).expect("JSON");
        assert!(json.contains(r#""ledger":null,"cost":null"#), "{json}");
        assert_eq!(read(&json), TraceInfo::default());
        let ledger = serde_json::to_string(&TraceLedger::default()).expect("JSON");
        let whole = read(&format!(r#"{{"ledger":{ledger}}}"#));
        assert_eq!(whole.ledger, Some(TraceLedger::default()));
    }
}
