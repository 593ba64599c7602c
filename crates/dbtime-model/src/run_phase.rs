//! The phases of a run, and how far the first of them is.

use crate::MonoNanos;
use serde::{Deserialize, Serialize};

/// How far a run has come. Every run goes through all of these in this order, unless it fails or is
/// ended before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    /// The target is there with its data, and the load is planned.
    Prepared,
    /// Every connection has been made or refused, and every script is ready. The load waits.
    Connected,
    /// The first transaction may be due.
    Started,
    /// The warm-up is over: what is due from here on is measured.
    WindowBegan,
    /// What is due from here on is not measured any more.
    WindowEnded,
    /// The last transaction has ended. The connections are still there.
    LoadEnded,
    /// The connections are closed.
    Disconnected,
}

/// When a run came to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseInstant {
    /// The phase.
    pub phase: RunPhase,
    /// The instant, by the machine's monotonic clock.
    #[serde(rename = "at_us")]
    pub at: MonoNanos,
}

/// How far the connections are that are made before a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginCount {
    /// How many have logged in.
    pub up: u32,
    /// How many were refused, or have been given up.
    pub refused: u32,
    /// How many there are to be.
    pub all: u32,
}

impl LoginCount {
    /// How many wait to be let in.
    pub fn waiting(&self) -> u32 {
        self.all.saturating_sub(self.up).saturating_sub(self.refused)
    }
}
