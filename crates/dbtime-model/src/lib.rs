//! The nouns of dbtime, in the order in which a run makes them.
//!
//! Everything else in the workspace speaks in these terms: instants and durations on one clock,
//! what became of a transaction, where its time went, histograms, per-second series, what processes
//! spend, and the run record on disk.
//! This crate knows nothing of threads, clocks, sockets or databases, and prints nothing.
#![forbid(unsafe_code)]

mod block_file;
pub mod bounded_file;
mod budget;
pub mod counters;
mod distribution;
pub mod doctor;
pub mod driven_file;
pub mod exchange;
pub mod exemplar;
mod growing;
mod histogram;
pub mod inner_path;
pub mod lock_picture;
pub mod log_digest;
mod named_variants;
pub mod near_names;
mod outcome;
pub mod parts;
pub mod percent;
pub mod plain_text;
pub mod process;
mod product;
pub mod query;
pub mod record;
pub mod recorder;
mod run_phase;
mod sample;
pub mod secret_text;
pub mod series;
mod server_queue_parts;
pub mod shell;
pub mod spans;
mod sparse_counts;
pub mod spec;
pub mod study;
pub mod traced;
pub mod traced_batch;
pub mod traced_file;
pub mod traced_files;
pub mod traced_json;
pub mod traced_ledger;
pub mod traced_live;
pub mod traced_prior;
mod traced_since;
pub mod traced_stacks;
pub mod traced_totals;
pub mod units;

pub use budget::{Budget, BudgetCells};
pub use distribution::LogHistogram;
pub use histogram::Histogram;
pub use outcome::{ErrorClass, Outcome};
pub use parts::{Part, PartSet, Parts};
pub use product::{Product, SqlDialect, WireProtocol};
pub use recorder::Recorder;
pub use run_phase::{LoginCount, PhaseInstant, RunPhase};
pub use sample::{OperationId, Sample, StatementId};
pub use server_queue_parts::ServerQueueParts;
pub use spans::TimeSpan;
pub use sparse_counts::SparseCounts;
pub use spec::BitRate;
pub use units::{MonoNanos, Nanos};
