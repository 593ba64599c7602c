//! The nouns of dbtime, in the order in which a run makes them.
//!
//! Everything else in the workspace speaks in these terms: instants and durations on one clock,
//! what became of a transaction, where its time went, histograms, per-second series, what processes
//! spend, and the run record on disk.
//! This crate knows nothing of threads, sockets or databases, and prints nothing.
#![forbid(unsafe_code)]

pub mod budget;
pub mod clock;
pub mod counters;
pub mod cpus;
pub mod histogram;
pub mod lock_picture;
pub mod outcome;
pub mod process;
pub mod record;
pub mod recorder;
pub mod sample;
pub mod series;
pub mod spans;
pub mod sparse_counts;
pub mod trace;
pub mod traced;
pub mod traced_file;
pub mod traced_files;
pub mod traced_live;
pub mod traced_since;
pub mod traced_totals;
pub mod units;

pub use budget::{Budget, BudgetCells, Part, Parts};
pub use clock::now;
pub use cpus::CpuList;
pub use histogram::Histogram;
pub use outcome::{ErrorClass, Outcome};
pub use recorder::Recorder;
pub use sample::{OperationId, Sample, StatementId};
pub use spans::TimeSpan;
pub use sparse_counts::SparseCounts;
pub use units::{MonoNanos, Nanos};
