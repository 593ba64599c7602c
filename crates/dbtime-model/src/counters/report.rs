//! What changed between two samples.

use super::{CounterSource, CounterValue};
use serde::{Deserialize, Serialize};

/// How a value is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterKind {
    /// Grows with what happens: its difference says how often, how many bytes, how long.
    Counter,
    /// A present value, a highest value, a mean or a setting: its difference is no amount of work.
    Gauge,
    /// No number.
    Text,
}

/// What a reader must know of one difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterNote {
    /// It was set to zero between the samples: the difference counts from there, and what was
    /// counted before is lost.
    Reset,
    /// It went past 2^32 and on from zero; the difference is whole.
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
    /// The monotonic clock of the machine that took both.
    Clock,
    /// Wall clocks, which may have been set in between.
    WallClock,
    /// The server's uptime, in whole seconds.
    Uptime,
}

/// One counter in two samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterDelta {
    /// What it is shown under: a family of names (`Com`), or a row of a view.
    pub group: String,
    /// As the server has it.
    pub name: String,
    /// How it is to be read.
    pub kind: CounterKind,
    /// Its value in the first sample; `null` where that has none.
    pub before: Option<CounterValue>,
    /// Its value in the second.
    pub after: Option<CounterValue>,
    /// `after − before`, of a counter that was reset `after`; `null` where it is not known.
    pub difference: Option<CounterValue>,
    /// The difference of a counter per second; `null` where either is not known, and after a reset.
    pub per_second: Option<f64>,
    /// The difference of a counter per transaction; `null` likewise.
    pub per_transaction: Option<f64>,
    /// What a reader must know.
    pub note: Option<CounterNote>,
}

impl CounterDelta {
    /// Whether both samples have the same value, and there is nothing else to say.
    pub fn is_unchanged(&self) -> bool {
        self.note.is_none() && self.before == self.after
    }
}

/// What changed between two samples of one database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterReport {
    /// `SCHEMA` of the program that wrote it.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// Whose counters they are, as the second sample has it.
    pub source: CounterSource,
    /// When the first sample was taken, UTC, RFC 3339; `null` when the file does not say.
    #[serde(default)]
    pub from: Option<String>,
    /// When the second was taken.
    #[serde(default)]
    pub to: Option<String>,
    /// Time between them, in seconds; `null` when nothing tells.
    #[serde(default)]
    pub interval_s: Option<f64>,
    /// What it was read from.
    #[serde(default)]
    pub interval_from: Option<IntervalSource>,
    /// Transactions in between; `null` where nothing counts them, and zero.
    #[serde(default)]
    pub transactions: Option<u64>,
    /// What they were counted by: `Com_commit + Com_rollback`.
    #[serde(default)]
    pub transactions_from: Option<String>,
    /// What a reader must know of all of them: a restart, another server.
    #[serde(default)]
    pub notes: Vec<String>,
    /// How many counters did not change and were left out of `counters`.
    #[serde(default)]
    pub left_out: u64,
    /// The counters, by group and name.
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
