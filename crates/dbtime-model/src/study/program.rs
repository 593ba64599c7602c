//! External programs as the runs of a study: how they are made, and what is read of them.

use crate::record::FactorValue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of [`ProgramRecord`] that this program writes.
pub const PROGRAM_SCHEMA: u32 = 1;

/// How the runs of a study are made that are no runs of dbtime, and what is measured of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramRules {
    /// What the shell does before each run; `null`: nothing. It is in no metric.
    pub prepare: Option<String>,
    /// What the shell does after each run, one that failed too; `null`: nothing.
    pub conclude: Option<String>,
    /// A run that takes longer has failed. Unit: seconds.
    pub timeout_s: f64,
    /// What is measured, the metric of the verdicts first.
    pub metrics: Vec<ProgramMetric>,
}

/// A figure of an external program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramMetric {
    /// What it is called.
    pub name: String,
    /// Its unit, as the program has it; empty: none.
    pub unit: String,
    /// Whether more is better.
    pub is_higher_better: bool,
    /// Where it is read.
    pub source: MetricSource,
}

/// Where a figure of an external program is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricSource {
    /// At this path in the JSON document that it prints: `latency.p99`, `runs[0].tps`.
    Json(String),
    /// The first group of the last match of this regular expression in what it prints.
    Regex(String),
    /// What the kernel says of it.
    Usage(UsageFigure),
}

/// What the kernel says of a program that has ended, and of the children that it has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageFigure {
    /// From its start to its end. Unit: seconds.
    Wall,
    /// CPU time in user mode. Unit: seconds.
    User,
    /// CPU time in the kernel. Unit: seconds.
    System,
    /// The most resident memory of one of its processes: getrusage(2). Unit: bytes.
    RssPeak,
}

impl UsageFigure {
    /// All of them, each with its name and unit.
    pub const NAMED: [(&'static str, &'static str, Self); 4] = [
        ("wall", "s", Self::Wall),
        ("user", "s", Self::User),
        ("system", "s", Self::System),
        ("rss-peak", "bytes", Self::RssPeak),
    ];
}

/// What a run of an external program left: `program.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// [`PROGRAM_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Version of dbtime.
    pub dbtime: String,
    /// What the shell was given.
    pub command: String,
    /// The variables of its environment that make it this configuration.
    pub variables: Vec<FactorValue>,
    /// `DBTIME_SEED` of its environment.
    pub seed: u64,
    /// When it was started, UTC, RFC 3339.
    pub started_at: String,
    /// When it had ended.
    pub ended_at: String,
    /// From its start to its end. Unit: seconds.
    pub wall_s: f64,
    /// CPU time in user mode. Unit: seconds.
    pub user_s: Option<f64>,
    /// CPU time in the kernel. Unit: seconds.
    pub system_s: Option<f64>,
    /// The most resident memory of one of its processes. Unit: bytes.
    pub rss_peak_bytes: Option<u64>,
    /// CPU that the hypervisor took beside it. Unit: percent of all CPUs.
    pub steal_pct: f64,
    /// CPU time of processes that are neither of it nor database servers, which may be its own;
    /// `null`: not known, as in records of earlier versions. Unit: percent of all CPUs.
    #[serde(default)]
    pub foreign_cpu_pct: Option<f64>,
    /// How long its threads were ready and something else had the CPU, side by side, as far as they
    /// were seen; `null`: not known. Unit: seconds.
    #[serde(default)]
    pub run_delay_s: Option<f64>,
    /// Its metrics by name; one that it did not print is not there.
    pub values: BTreeMap<String, f64>,
}

impl ProgramRecord {
    /// By which share of its time others can have held it up at most: as much CPU time as they
    /// took, and no longer than it waited for a CPU. `None`: not known. Unit: percent.
    pub fn held_up_pct(&self, cpus: u32) -> Option<f64> {
        let of_one_cpu = self.foreign_cpu_pct? * f64::from(cpus);
        let waited = self.run_delay_s.map(|waited_s| 100.0 * waited_s / self.wall_s.max(1e-9));
        Some(waited.map_or(of_one_cpu, |waited| waited.min(of_one_cpu)))
    }

    /// What the kernel says of it.
    pub fn usage(&self, figure: UsageFigure) -> Option<f64> {
        match figure {
            UsageFigure::Wall => Some(self.wall_s),
            UsageFigure::User => self.user_s,
            UsageFigure::System => self.system_s,
            UsageFigure::RssPeak => self.rss_peak_bytes.map(|bytes| bytes as f64),
        }
    }
}
