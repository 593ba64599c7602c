//! What a run tells on its way. Whoever listens decides whether and how to show it.

use dbtime_model::{MonoNanos, Nanos};

/// Something worth showing while a run goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A private server is being made or started: which, and what is done now.
    Server(String),
    /// Rows are being loaded.
    Loading {
        /// Into which table.
        table: String,
        /// Rows done.
        done: u64,
        /// Rows in all.
        total: u64,
    },
    /// The flat-out rate is being measured.
    FlatOut {
        /// For how long.
        length: Nanos,
    },
    /// It has been found.
    Rate {
        /// Completed transactions per second flat out.
        flat_out_tps: f64,
        /// What will be offered.
        offered_tps: f64,
    },
    /// The load has started.
    Started {
        /// When.
        at: MonoNanos,
        /// Load before the window.
        warmup: Nanos,
        /// The window; `None` when a number of transactions ends it.
        measure: Option<Nanos>,
        /// That number.
        transactions: Option<u64>,
    },
    /// A client's script has not come back for so long: it computes, loops or blocks.
    Stuck {
        /// Which client.
        client: u32,
        /// For how long.
        length: Nanos,
    },
    /// A second of load has passed.
    Second(SecondSeen),
}

/// What was seen of one second as it passed; threads that are busy report late.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SecondSeen {
    /// Seconds since the start of the load.
    pub second: u32,
    /// Completed in it.
    pub completed: u64,
    /// Failed in it.
    pub failed: u64,
    /// Median response.
    pub p50: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
}
