//! What spoils figures or production on a machine, in a driver, in a server: `dbtime doctor`.
//!
//! The types are the file format of `dbtime doctor --json`, and of `findings` in a run's record.

use serde::{Deserialize, Serialize};

/// The version of the written form.
pub const SCHEMA: u32 = 1;

/// What was examined, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// The version of that program.
    pub dbtime: String,
    /// Its command line, without secrets.
    pub command: String,
    /// The target, without its password; `None`: the machine alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What runs here can tell apart; `None`: it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<NoiseResolution>,
    /// One for each check, in the order of the checks.
    pub findings: Vec<DoctorFinding>,
}

/// The smallest difference between two runs that is not taken for noise: the 95 % interval of a
/// pair of runs of one and the same thing. Unit: per cent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseResolution {
    /// Of throughput.
    pub throughput_pct: f64,
    /// Of the median response.
    pub p50_pct: f64,
    /// Of the 99th percentile.
    pub p99_pct: f64,
    /// From so many runs.
    pub runs: u32,
    /// Of such a length. Unit: seconds.
    pub run_s: f64,
}

/// What one check has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorFinding {
    /// The check's name: `governor`.
    pub id: String,
    /// Where it looked.
    pub scope: FindingScope,
    /// What it makes of that.
    pub grade: FindingGrade,
    /// What is the case: "powersave on 8 of 8 CPUs"; for `unknown` empty.
    pub value: String,
    /// What would be good.
    pub expected: String,
    /// Where that was read: a file, a system variable, a measurement.
    pub source: String,
    /// Why it is so graded; for `unknown` why it is not known.
    pub because: String,
    /// What it costs, measured here or cited with its source; empty where it is good.
    pub costs: String,
    /// How to mend it: commands or settings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
    /// How to undo that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub undo: String,
}

/// Where a check looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingScope {
    /// The machine.
    Machine,
    /// dbtime itself, and the way to the target.
    Driver,
    /// The server's program and its settings.
    Server,
    /// Its data.
    Data,
}

/// What a check makes of what it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingGrade {
    /// As it should be.
    Good,
    /// It may change figures, and must be known.
    Note,
    /// It spoils figures, or production.
    Bad,
    /// It could not be examined.
    Unknown,
}

impl FindingGrade {
    /// The name in files and on screens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
            Self::Unknown => "unknown",
        }
    }
}
