//! What happens on the way of a run. Whoever receives it decides whether and how to show it.

use dbtime_model::{LoginCount, Nanos, PhaseInstant};
use serde::{Deserialize, Serialize};

/// Something worth showing while a run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunProgress {
    /// A private server is being made or started.
    Server {
        /// Which, and what is done now.
        step: String,
    },
    /// Rows are being loaded.
    Loading {
        /// Into which table.
        table: String,
        /// Rows done.
        done: u64,
        /// Rows in all.
        total: u64,
    },
    /// The server executes a statement of the loading, which takes as long as it takes.
    Building {
        /// Its first words.
        statement: String,
    },
    /// The flat-out rate is being measured.
    FlatOut {
        /// For how long.
        #[serde(rename = "length_us")]
        length: Nanos,
    },
    /// It has been found.
    Rate {
        /// Completed transactions per second flat out.
        flat_out_tps: f64,
        /// What will be offered.
        offered_tps: f64,
    },
    /// The load is planned.
    Planned {
        /// Load before the window.
        #[serde(rename = "warmup_us")]
        warmup: Nanos,
        /// The window; `None` when a number of transactions ends it.
        #[serde(rename = "measure_us")]
        measure: Option<Nanos>,
        /// That number.
        transactions: Option<u64>,
    },
    /// Connections of the load wait to be let in, or do so no more.
    Connecting(LoginCount),
    /// The run came to a phase.
    Phase(PhaseInstant),
    /// A client's script has not come back for so long: it computes, loops or blocks.
    ScriptOverdue {
        /// The client's number; `None`: there is but one, of a command, or all of a thread have
        /// gone.
        client: Option<u32>,
        /// For how long.
        #[serde(rename = "length_us")]
        length: Nanos,
        /// Whether it waits for a program that it has started.
        #[serde(default)]
        awaits_program: bool,
        /// The command that has started it, where the script's language has some, without literals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
    },
    /// A script is to end and does not come back: the process has to end with it, without a report
    /// and a record.
    ScriptDeaf {
        /// The client's number, of a run.
        client: Option<u32>,
    },
    /// A second of load has passed.
    Second(SecondSeen),
}

/// What was seen of one second as it passed; threads that are busy report late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondSeen {
    /// Seconds since the start of the load.
    pub second: u32,
    /// Completed in it.
    pub completed: u64,
    /// Failed in it.
    pub failed: u64,
    /// Median response.
    #[serde(rename = "p50_us")]
    pub p50: Nanos,
    /// 99th percentile.
    #[serde(rename = "p99_us")]
    pub p99: Nanos,
}
