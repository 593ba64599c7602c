//! Two runs, or two sweeps, side by side, without a verdict; two groups of runs, or all that a
//! study has, with one.
//!
//! A verdict needs repeated runs: the difference of two runs holds both what was changed and
//! whatever else differed between two lives of a server, and nothing in them tells the two apart.
//!
//! What is compared ([`RunComparison`], [`SweepComparison`]) is what `--json` prints; text and HTML
//! show the same tables (`tables`), each in the order of what changed most.

mod figures;
mod forest_text;
mod given_flags;
mod groups;
mod junit;
mod markdown;
mod page;
mod run;
mod setup;
mod study;
mod sweep;
mod tables;
mod text;

pub use figures::{FigurePair, FigureUnit};
pub use groups::{
    CellVerdict, GroupComparison, GroupFigure, GroupOptions, GroupOutcome, GroupedRun, PartChange,
    PercentileChange, PlacedRun, RunGroup, Verdict,
};
pub use junit::{groups_junit, run_junit, study_junit};
pub use markdown::{groups_markdown, study_markdown};
pub(crate) use page::study_sections;
pub use page::{groups_page, runs_page, study_page, sweeps_page};
pub use run::{ComparedItem, ComparedRun, RunComparison};
pub use setup::SettingPair;
pub use study::{
    CellComparison, CellFigures, CrossedCell, CrossedFactors, FactorEffect, FactorEffects,
    FittedScalability, LatencyRun, LatencySeries, LawParameter, ScalabilityRun, ScalabilitySeries,
    ScalabilityStep, StudyCapacity, StudyComparison, StudyRunLine, plan_text,
};
pub use sweep::{ComparedCombination, SweepComparison};
pub use text::{groups_text, runs_text, study_text, sweeps_text};

/// The version of the documents that `dbtime compare --json` prints.
pub const SCHEMA: u32 = 1;

/// Why there is none.
const NO_VERDICT: &str = "No verdict: these are single runs. A difference between them may come from what was changed, \
     or from anything else that differs between one run and the next (caches, file layout, \
     neighbours on the machine), and two runs cannot show which. To learn it, repeat both in \
     random order with the server restarted between runs, and look whether the two groups of \
     results overlap.";
