//! The tracer beside a run in `run.json`: how far what it saw was matched with what was driven.

use super::StacksInfo;
use crate::Nanos;
use crate::traced_ledger::{TraceCost, TraceLedger};
use crate::traced_prior::{PriorActivity, PriorSession, PriorWork};
use serde::{Deserialize, Serialize};

/// How far statements of the driver were matched with requests of the server. A request belongs to
/// the statement of the same connection within which it lies, on one clock.
///
/// `matched + unmatched + ambiguous` are the statements, and `transactions + left_out` the
/// transactions of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JoinCounts {
    /// Statements with the server's side of them.
    pub matched: u64,
    /// Of these, statements that were under way together and could not be told apart: their
    /// transactions have all parts, but these statements have none of their own.
    pub unsplit: u64,
    /// Of the matched, statements of whose answer it was seen when it came to the driver's socket;
    /// of statements under way together, of the last answer. Of the others the way back and what
    /// the driver took to read are both `wire`.
    pub arrived: u64,
    /// Statements for which no request was seen.
    pub unmatched: u64,
    /// Statements for which a request was seen that may or may not be theirs.
    pub ambiguous: u64,
    /// Requests on the driver's connections outside of its statements: logins, settings, pings.
    pub outside: u64,
    /// Requests of others, or of connections that could not be named.
    pub foreign: u64,
    /// Transactions all of whose statements were matched.
    pub transactions: u64,
    /// Transactions with a statement that was not matched: they are in no sum of parts.
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
    /// How far it was matched with what was driven, from the first connection to the last.
    pub join: JoinCounts,
    /// Of `client`, how long the driver's threads waited for a CPU while an answer was in their
    /// sockets: the mean over the transactions of the window of which that was seen. Unit:
    /// microseconds. What of it is `lag` is not in it. `None`: it was seen of none.
    pub client_runq_us: Option<f64>,
    /// Everything that it saw, counted by what became of it; `None`: its reader ended without.
    pub ledger: Option<TraceLedger>,
    /// What watching took, likewise. Its CPU time within the driver is part of `client`.
    pub cost: Option<TraceCost>,
    /// Stacks of the server's threads; `None`: they were not traced.
    pub stacks: Option<StacksInfo>,
    /// How long was watched.
    #[serde(rename = "length_us")]
    pub length: Nanos,
    /// Whether the server's own names of locks were measured, as far as it has any. `None`: of a
    /// recording in which no lock has one, and of before, when the notes alone had it.
    pub lock_names: Option<bool>,
    /// What was not measured, and what happened to the watching.
    pub notes: Vec<String>,
    /// What others were at before it looked; `None`: that was not seen.
    pub before: Option<SessionsBefore>,
    /// The recording that was joined with the run afterwards; `None`: the tracer was beside it.
    pub recording: Option<JoinedRecording>,
}

/// What sessions of others were at before the tracer looked, and still were when the load was under
/// way: what they wait for and hold has no name until they send their next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionsBefore {
    /// Sessions at work, where they are known one by one.
    pub at_work: u64,
    /// Of these that did nothing, in a transaction that may hold locks.
    pub in_transaction: u64,
    /// Clients at work where they are not known one by one: so many at most.
    pub clients_at_most: u64,
    /// Clients of servers of which it is not known how many were at work: so many at most, for with
    /// a pool of threads those of the driver are among them.
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

/// A recording of `dbtime trace` that was joined with a run, and how its clock was mapped
/// to the driver's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JoinedRecording {
    /// When it began, by the clock on the wall of its host.
    pub began: String,
    /// What was watched.
    pub servers: Vec<String>,
    /// Whether both sides read one clock: they were on one host, in one boot.
    pub is_same_clock: bool,
    /// By how much the recording's clock is before the driver's, in the middle of the window. Unit:
    /// microseconds.
    pub offset_us: f64,
    /// The offset is known to this, at the worst place of the window: the truth lies within it on
    /// either side. Unit: microseconds; 0 on one clock.
    pub uncertainty_us: f64,
    /// By how much the recording's clock ran faster over the window. Unit: parts in a million;
    /// `None`: on one clock, and where it is less than the uncertainty.
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
