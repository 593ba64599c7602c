//! The plan of a study: what is compared, how often, and by which rules it is decided. Nothing of
//! it changes once the first run has begun.

use super::history::StudyRun;
use super::program::ProgramRules;
use super::study_file;
use crate::bounded_file::recorded_text;
use crate::record::{FactorValue, LISTED_SWEEP, PrimaryMetric, file};
use crate::spec::RunSpec;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version of the plan that this program writes.
pub const STUDY_SCHEMA: u32 = 1;

/// The most slices of a run: transactions of more would take the numbers of trials before it.
pub const MOST_SLICES: u32 = 16;

/// Everything that a study is going to do, as in `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyPlan {
    /// [`STUDY_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Version of that program.
    pub dbtime: String,
    /// What it is called.
    pub name: String,
    /// What it is to answer, in a sentence; `null`: nobody said.
    pub question: Option<String>,
    /// The folder that relative paths in its runs are relative to.
    #[serde(default)]
    pub directory: String,
    /// The metric that its verdicts are on, by its name.
    pub primary: String,
    /// The smallest change of interest. Unit: percent.
    pub margin_pct: f64,
    /// How often, and in which order.
    pub design: BlockDesign,
    /// Which runs do not count.
    pub gate: GateLimits,
    /// How its runs are made where they are those of an external program; `null`: they are runs of
    /// dbtime.
    #[serde(default)]
    pub program: Option<ProgramRules>,
    /// What its runs start from where they make their data.
    #[serde(default)]
    pub data: StudyData,
    /// In which order they are made.
    #[serde(default)]
    pub order: RunOrder,
    /// What its runs have beside what they are, where that was given to a sweep or a search.
    #[serde(default, skip_serializing_if = "RunSurroundings::is_usual")]
    pub surroundings: RunSurroundings,
    /// What is compared, the baseline first.
    pub cells: Vec<StudyCell>,
    /// What was measured before it; `null`: nothing.
    #[serde(default)]
    pub pilot: Option<PilotRuns>,
}

/// What runs have beside what they are. A password itself is no part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSurroundings {
    /// Whether a run that is not valid has failed.
    pub strict: bool,
    /// The folder in which data are kept for later runs too; `null`: none.
    pub snapshots: Option<String>,
    /// The file with the target's password; `null`: it is where the target's clients look.
    pub password_file: Option<String>,
    /// The command that makes all of them, without passwords.
    pub command: String,
}

impl RunSurroundings {
    /// Whether nothing was given.
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Runs of the baseline from which a study was planned. They are in no verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PilotRuns {
    /// Their values of the primary metric.
    pub values: Vec<f64>,
    /// How long one took with all that belongs to it. Unit: seconds.
    pub seconds_a_run: f64,
    /// Why a block has as many slices as it has, where the noise has decided that; not written:
    /// something else has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<ChosenSlices>,
}

/// What slices were chosen by: standard deviations of logarithms of the ratio of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenSlices {
    /// Of two neighbouring slices.
    pub slice_deviation: f64,
    /// Of two lives of servers.
    pub life_deviation: f64,
    /// Half of the 95 % interval of the change that is expected of them. Unit: percent.
    pub half_width_pct: f64,
}

/// Random blocks: each has a run of every configuration, in an order of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockDesign {
    /// How many blocks: the fewest with [`StopRule::Precision`], the most with [`StopRule::Looks`].
    pub blocks: u32,
    /// What the orders and the seeds of the runs follow from.
    pub seed: u64,
    /// When enough is known.
    pub stop: StopRule,
    /// In how many slices the window of each run is made, in turns with those of the other
    /// configurations, on a target that lives for the block; 1, and not written: as a whole.
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub slices: u32,
}

/// The slices of a run that is made as a whole.
fn whole() -> u32 {
    1
}

/// By reference, as serde asks.
fn is_whole(slices: &u32) -> bool {
    *slices <= 1
}

/// The data that runs on private servers and temporary files start from. A database that is there
/// is used as it is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyData {
    /// Loaded by each run, other rows for each block.
    #[default]
    Loaded,
    /// Loaded by the first run of each server and its settings, and restored from a snapshot for
    /// each run behind it: the same rows for all.
    Snapshot,
}

/// In which order the runs of a study are made, and what becomes of those that do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOrder {
    /// In random blocks, each with a seed of its own. A block with a run that does not count is
    /// repeated.
    #[default]
    Blocks,
    /// Rounds in the order of the plan, with the seed of each configuration's own form. Each run is
    /// made once, whatever comes of it: a sweep.
    Rounds,
    /// One after the other, each with a seed of its own and at a rate that those before it decide:
    /// a search. The plan's one configuration is what is run, with the limit that is sought and
    /// the flat-out rate.
    Search,
}

/// When a study has blocks enough. None of these looks at the sign of what was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum StopRule {
    /// After all blocks, whatever they show.
    Fixed,
    /// As soon as every change is known this well.
    Precision {
        /// Half of the 95 % interval. Unit: percent.
        half_width_pct: f64,
        /// The most blocks.
        max_blocks: u32,
    },
    /// After each of so many equal shares of the blocks it may end: O'Brien and Fleming's bounds.
    Looks {
        /// How many.
        looks: u32,
    },
}

/// What a machine may do beside a run that counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateLimits {
    /// CPU that the hypervisor takes. Unit: percent of all CPUs.
    pub steal_pct: f64,
    /// CPU of other processes. Unit: percent of one CPU.
    pub foreign_cpu_pct: f64,
    /// How long a quiet machine is waited for before a run. Unit: seconds.
    pub wait_s: f64,
    /// How many blocks may be repeated because a run in them does not count.
    pub repeats: u32,
    /// Whether a run of which the window is not of one steady state does not count.
    #[serde(default)]
    pub steady: bool,
    /// What becomes of runs beside noise of the machine.
    #[serde(default, skip_serializing_if = "NoiseRule::is_usual")]
    pub noise: NoiseRule,
}

/// What becomes of runs beside noise of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseRule {
    /// They do not count, and the study stops once no more blocks may be repeated.
    #[default]
    Stop,
    /// They count, whichever side they are of: order is random, and the interval has the noise.
    /// Other flaws of a run cost its block all the same.
    Count,
}

impl NoiseRule {
    fn is_usual(&self) -> bool {
        *self == Self::Stop
    }
}

/// What a configuration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellRole {
    /// What others are compared with.
    Baseline,
    /// The first baseline once more: what differs here differs by chance.
    Control,
    /// Compared with the baseline.
    Candidate,
}

/// One configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyCell {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub role: CellRole,
    /// The place of the configuration that it is compared with; its own: with none.
    #[serde(default)]
    pub baseline: u32,
    /// What makes it this one, without passwords.
    pub factors: Vec<FactorValue>,
    /// The factors of the study with its level of each; empty where configurations were listed.
    #[serde(default)]
    pub levels: Vec<FactorValue>,
    /// The command that makes one of its runs, without passwords.
    pub command: String,
    /// A run of it; `null`: it is one of an external program.
    #[serde(default)]
    pub spec: Option<RunSpec>,
}

impl StudyPlan {
    /// The most blocks that there can be, repeated ones left out.
    pub fn most_blocks(&self) -> u32 {
        match self.design.stop {
            StopRule::Precision { max_blocks, .. } => max_blocks.max(self.design.blocks),
            StopRule::Fixed | StopRule::Looks { .. } => self.design.blocks,
        }
    }

    /// How many runs a block has: of a sliced plan each slice is a run.
    pub fn runs_a_block(&self) -> usize {
        self.cells.len() * self.design.slices.max(1) as usize
    }

    /// The metric of the verdicts on runs of dbtime. External programs have metrics of their own.
    pub fn primary_metric(&self) -> PrimaryMetric {
        PrimaryMetric::named(&self.primary).unwrap_or_else(|| PrimaryMetric::usual(true))
    }

    /// How many runs it comes to at most, repeated ones left out; `None`: a search, whose runs
    /// decide that.
    pub fn most_runs(&self) -> Option<u64> {
        let all = u64::from(self.most_blocks()) * self.runs_a_block() as u64;
        (self.order != RunOrder::Search).then_some(all)
    }

    /// What a search seeks: its limit, and the flat-out rate; `None`: it is none.
    pub fn sought(&self) -> Option<(&str, f64)> {
        let spec = self.cells.first().and_then(|cell| cell.spec.as_ref());
        let spec = spec.filter(|_| self.order == RunOrder::Search)?;
        let flat_out = spec.load.flat_out.as_ref();
        Some((spec.limits.last()?.text.as_str(), flat_out.map_or(0.0, |found| found.flat_out_tps)))
    }

    /// The configurations that are compared with the baseline, the control left out.
    pub fn candidates(&self) -> impl Iterator<Item = (usize, &StudyCell)> {
        self.with_role(CellRole::Candidate)
    }

    /// Whether it was decided as the run was made that it counts, also if others made its driver
    /// late.
    pub fn has_judged(&self, run: &StudyRun) -> bool {
        self.gate.noise == NoiseRule::Count && run.counts()
    }

    /// The configurations of a role, with their places.
    pub fn with_role(&self, role: CellRole) -> impl Iterator<Item = (usize, &StudyCell)> {
        self.cells.iter().enumerate().filter(move |(_, cell)| cell.role == role)
    }
}

/// Why a folder could not be read as a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyReadError {
    /// It has no plan.
    #[error("{0} holds no study: name the folder that `dbtime study run` has made")]
    NotAStudy(PathBuf),
    /// It is a sweep whose runs `sweep.json` lists.
    #[error("{0} {LISTED_SWEEP}")]
    ListedSweep(PathBuf),
    /// A file of it cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The plan is none.
    #[error("{path} is no plan of a study: {reason}")]
    Plan {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The record of a run is there and cannot be read: why, and what to do.
    #[error("{0}")]
    Record(String),
    /// The journal is damaged, or contradicts itself.
    #[error("{path}, {reason}; restore it from a copy")]
    Journal {
        /// Where it is.
        path: PathBuf,
        /// Where, and what is wrong there.
        reason: String,
    },
}

/// Whether a folder holds a study.
pub fn is_study(folder: &Path) -> bool {
    folder.join(study_file::PLAN).is_file()
}

/// The plan in a folder, with its text.
///
/// # Errors
/// There is none, it cannot be read, or a newer dbtime has written it.
pub fn read_plan(folder: &Path) -> Result<(StudyPlan, String), StudyReadError> {
    let path = folder.join(study_file::PLAN);
    let text = recorded_text(&path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound if folder.join(file::LISTED_SWEEP).is_file() => {
            StudyReadError::ListedSweep(folder.to_owned())
        }
        std::io::ErrorKind::NotFound => StudyReadError::NotAStudy(folder.to_owned()),
        _ => StudyReadError::Read { path: path.clone(), source },
    })?;
    let failed = |reason: String| StudyReadError::Plan { path: path.clone(), reason };
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    match value.get("schema").and_then(serde_json::Value::as_u64) {
        Some(schema) if schema <= u64::from(STUDY_SCHEMA) => {}
        Some(newer) => {
            return Err(failed(format!(
                "it has schema {newer}, and this dbtime knows up to {STUDY_SCHEMA}: use a newer \
                 dbtime"
            )));
        }
        None => return Err(failed("it has no schema".to_owned())),
    }
    let plan: StudyPlan =
        serde_json::from_value(value).map_err(|error| failed(error.to_string()))?;
    if plan.cells.is_empty() {
        return Err(failed("it has no configuration".to_owned()));
    }
    if plan.design.slices > MOST_SLICES {
        let slices = plan.design.slices;
        return Err(failed(format!("its runs have {slices} slices, more than {MOST_SLICES}")));
    }
    if let Some(cell) = plan.cells.iter().find(|cell| cell.baseline as usize >= plan.cells.len()) {
        let place = cell.baseline;
        let text = format!("a configuration is compared with number {place}, which there is not");
        return Err(failed(text));
    }
    Ok((plan, text))
}
