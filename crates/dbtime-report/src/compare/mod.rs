//! Two runs, or two sweeps, side by side, without a verdict; two groups of runs, or all that a
//! study has, with one.
//!
//! A verdict needs repeated runs: the difference of two runs holds both what was changed and
//! whatever else differed between two lives of a server, and nothing in them tells the two apart.
//!
//! What is compared ([`RunComparison`], [`SweepComparison`]) is what `--json` prints; text, HTML
//! and Markdown are made of one document (`document`), whose tables have first what changed most.

mod document;
mod figures;
mod foreign;
mod given_flags;
mod groups;
mod junit;
mod run;
mod setup;
mod short;
mod study;
mod sweep;
mod tables;

pub(crate) use document::study_sections;
pub use document::{groups_document, runs_document, study_document, sweeps_document};
pub use figures::{FigurePair, FigureUnit};
pub use foreign::{
    ForeignComparison, ForeignError, ForeignFile, ForeignMean, ForeignRow, ForeignSide,
    foreign_document, recorded_rules, short_foreign_document,
};
pub use groups::{
    CellVerdict, FoundStates, GivenExclusion, GroupComparison, GroupFigure, GroupGate,
    GroupOptions, GroupOutcome, GroupedRun, PartChange, PercentileChange, PlacedRun, RunGroup,
    SliceUnit, StateChange, Verdict,
};
pub use junit::{foreign_junit, groups_junit, run_junit, study_junit, unended_junit};
pub use run::{ComparedItem, ComparedRun, RunComparison};
pub use setup::SettingPair;
pub use short::{
    short_groups_document, short_runs_document, short_study_document, short_sweeps_document,
};
pub use study::{
    CellComparison, CellFigures, CrossedCell, CrossedFactors, FactorEffect, FactorEffects,
    FittedScalability, LatencyRun, LatencySeries, LawParameter, LeftOutCell, MeanKind, ProgramMean,
    ScalabilityRun, ScalabilitySeries, ScalabilityStep, SessionChange, SessionChanges,
    StudyCapacity, StudyComparison, StudyRunLine, brief_plan_text, plan_text, resolution_text,
};
pub use sweep::{ComparedCombination, SweepComparison};

/// The version of the documents that `dbtime compare --json` prints.
pub const SCHEMA: u32 = 1;

/// That there is none, in a line.
const NO_VERDICT_LINE: &str =
    "No verdict: single runs cannot tell the tested change from other differences";

/// Why there is none.
const NO_VERDICT: &str = "No verdict: these are single runs. A difference between them may come from the tested change, \
     or from anything else that differs between one run and the next (caches, file layout, \
     neighbours on the machine), and two runs cannot show which. To learn it, repeat both in \
     random order with the server restarted between runs: `dbtime study ab` does so. `dbtime \
     compare A1 A2 A3 -- B1 B2 B3` gives the verdict on such runs.";
