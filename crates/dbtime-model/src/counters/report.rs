//! What changed between two samples.

use super::{CounterSource, CounterValue};
use serde::{Deserialize, Serialize};

/// How a value is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterKind {
    /// It grows with events: the difference is an amount.
    Counter,
    /// A present or highest value, a mean or a setting.
    Gauge,
    /// No number.
    Text,
}

/// What a reader must know of one difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterNote {
    /// It was reset between the samples: what it counted before is lost.
    Reset,
    /// It wrapped at 2^32; the difference is whole.
    Wrapped,
    /// Only the second sample has it.
    Appeared,
    /// Only the first sample has it.
    Gone,
}

/// What the time between two samples was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalSource {
    /// The monotonic clock of the machine of both.
    Clock,
    /// Wall clocks, which may have been set.
    WallClock,
    /// The server's uptime, in whole seconds.
    Uptime,
}

/// A counter in two samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterDelta {
    /// Its heading: a family of names (`Com`), or a row of a view.
    pub group: String,
    /// At the server.
    pub name: String,
    /// How it is read.
    pub kind: CounterKind,
    /// In the first sample.
    pub before: Option<CounterValue>,
    /// In the second.
    pub after: Option<CounterValue>,
    /// `after − before`; `after` of a counter that was reset.
    pub difference: Option<CounterValue>,
    /// Of a counter; `None` after a reset.
    pub per_second: Option<f64>,
    /// Likewise.
    pub per_transaction: Option<f64>,
    /// A caveat.
    pub note: Option<CounterNote>,
}

impl CounterDelta {
    /// Whether both samples have the same value, and there is nothing else to say.
    pub fn is_unchanged(&self) -> bool {
        self.note.is_none() && self.before == self.after
    }
}

/// The change between two samples of a database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterReport {
    /// Version of the report's meaning.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// Whose counters they are, by the second sample.
    pub source: CounterSource,
    /// First sample, UTC, RFC 3339.
    #[serde(default)]
    pub from: Option<String>,
    /// Second sample.
    #[serde(default)]
    pub to: Option<String>,
    /// Time between them.
    #[serde(default)]
    pub interval_s: Option<f64>,
    /// Its source.
    #[serde(default)]
    pub interval_from: Option<IntervalSource>,
    /// Transactions in between, where counted and not zero.
    #[serde(default)]
    pub transactions: Option<u64>,
    /// Counters they were taken from: `Com_commit + Com_rollback`.
    #[serde(default)]
    pub transactions_from: Option<String>,
    /// Notes on all counters: a restart, another server.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Counters without a change, not in `counters`.
    #[serde(default)]
    pub left_out: u64,
    /// By group and name.
    pub counters: Vec<CounterDelta>,
}

impl CounterReport {
    /// The report without the counters that did not change.
    pub fn without_unchanged(mut self) -> Self {
        let all = self.counters.len();
        self.counters.retain(|delta| !delta.is_unchanged());
        self.left_out += (all - self.counters.len()) as u64;
        self
    }
}
