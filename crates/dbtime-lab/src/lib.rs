//! Runs: prepares a target, drives the load, judges and records the result.
//!
//! The lab is the only writer of run folders. It prints nothing: what happens on the way it tells
//! as [`progress::RunProgress`].
#![forbid(unsafe_code)]

mod abandon;
mod calibrate;
mod checks;
mod class_rows;
pub mod counters;
mod data_snapshot;
mod digest;
pub mod doctor;
mod drive;
mod error;
mod file_waits;
mod held_run;
pub mod holders;
mod join;
mod judge;
mod kept_transactions;
mod mark;
mod measurement;
mod observers;
mod one_shot;
pub mod progress;
pub mod query;
pub mod rate_search;
mod recorded_join;
mod reported_run;
mod request;
pub mod run;
mod run_event;
mod run_process;
mod run_trace;
mod scratch;
mod script_watchdog;
mod second_sampler;
mod server_layers;
pub mod servers;
mod statements;
pub mod store;
pub mod study;
mod summary;
mod targets;
pub mod tracing;
mod tracing_cost;
mod workload_names;

pub use abandon::abandon;
pub use class_rows::class_rows;
pub use data_snapshot::SnapshotRequest;
pub use error::{LabError, want_of_room};
pub use join::{
    BareStatement, JoinedStatement, JoinedTransaction, LeftOutTransaction, ServerAnswer,
    StatementJoiner, StatementMatch,
};
pub use one_shot::{OneShot, command, operation};
pub use progress::RunProgress;
pub use recorded_join::{JoinError, JoinedRun, join_recording};
pub use reported_run::{LoadMoment, ReportedResult, ReportedRun};
pub use request::{RecordDetail, RunRequest};
pub use run::{PreparedRun, RunResult, flat_out_rate, run, run_into};
pub use run_event::{RecordedRun, RunEvent, RunOutcome, SliceRequest};
pub use run_process::ProcessResult;
pub use script_watchdog::ComputingSpans;
pub use targets::{Dataset, Target, TargetForm};
