//! A study: configurations compared by runs in random blocks, so that a verdict can be believed.
//!
//! A study is a folder: `plan.json` ([`StudyPlan`], frozen before the first run), `journal.jsonl`
//! ([`JournalEvent`], a line for everything that happened, in its order), and a run folder for each
//! run. What a study has come to is what its journal says ([`StudyHistory`]), and nothing else.

mod block_attempt;
mod folder;
mod found_rate;
mod history;
mod joined;
mod journal;
mod left_out;
mod made_run;
mod manifest;
mod plan;
mod program;
mod table;
mod trial_record;

pub use block_attempt::BlockAttempt;
pub use folder::RecordedStudy;
pub use found_rate::FoundRate;
pub use history::{BegunRuns, HistoryError, StudyHistory, StudyRun};
pub use journal::{
    IdentifiedFile, JournalError, JournalEvent, JournalText, StudySession, StudyTrial,
    TrialOutcome, read_journal,
};
pub use left_out::NoiseStop;
pub use made_run::MadeRun;
pub use manifest::{MANIFEST_SCHEMA, PackedFile, StudyManifest};
pub use plan::{
    BlockDesign, CellRole, ChosenSlices, GateLimits, MOST_SLICES, NoiseRule, PilotRuns, RunOrder,
    RunSurroundings, STUDY_SCHEMA, StopRule, StudyCell, StudyData, StudyPlan, StudyReadError,
    is_study, read_plan,
};
pub use program::{
    MetricSource, PROGRAM_SCHEMA, ProgramMetric, ProgramRecord, ProgramRules, UsageFigure,
};
pub use table::study_table;
pub use trial_record::{PlacedRecord, TrialReadError, TrialRecord};

/// The names of the files of a study's folder.
pub mod study_file {
    /// Everything that it is going to do.
    pub const PLAN: &str = "plan.json";
    /// Everything that has happened.
    pub const JOURNAL: &str = "journal.jsonl";
    /// The file that it was planned from, as it was.
    pub const SOURCE: &str = "study.toml";
    /// The folder of its runs.
    pub const RUNS: &str = "runs";
    /// What a run of an external program left, in the folder of the run.
    pub const PROGRAM: &str = "program.json";
    /// What it printed.
    pub const PROGRAM_OUTPUT: &str = "stdout.txt";
    /// Its messages.
    pub const PROGRAM_MESSAGES: &str = "stderr.txt";
    /// What it used: the report of `dbtime usage`.
    pub const PROGRAM_USAGE: &str = "usage.json";
    /// Data that are restored for each run; gone when the study has ended.
    pub const SNAPSHOTS: &str = "snapshots";
    /// What came of each run, as a table.
    pub const TABLE: &str = "runs.csv";
    /// Everything that was compared.
    pub const ANALYSIS: &str = "analysis.json";
    /// The files of a packed study.
    pub const MANIFEST: &str = "manifest.json";
}
