//! The phases of a run, and how far the first of them is.

use crate::MonoNanos;
use serde::{Deserialize, Serialize};

/// Phases of a run. In this order, unless it fails or is ended before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    /// The target has its data, and the load is planned.
    Prepared,
    /// Every connection is made or refused, every script ready.
    Connected,
    /// The first transaction may be due.
    Started,
    /// What is due from here on is measured.
    WindowBegan,
    /// What is due from here on is not.
    WindowEnded,
    /// The last transaction has ended.
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
