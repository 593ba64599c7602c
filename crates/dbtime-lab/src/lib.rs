//! Runs: prepares a target, drives the load, judges and records the result.
//!
//! The lab is the only writer of run folders. It prints nothing: what happens on the way it tells
//! as [`progress::Progress`].
#![forbid(unsafe_code)]

mod abandon;
pub mod checks;
pub mod counters;
pub mod error;
pub mod holders;
pub mod judge;
mod mark;
mod measurement;
pub mod monitor;
mod once;
pub mod progress;
pub mod request;
pub mod run;
pub mod scratch;
pub mod servers;
mod settle;
pub mod store;
mod stuck;
pub mod summary;
pub mod targets;

pub use abandon::abandon;
pub use error::LabError;
pub use once::{command, operation};
pub use progress::Progress;
pub use request::{BudgetChoice, Load, PrivateOptions, RateChoice, RunRequest};
pub use run::{Finished, find_rate, run, run_into};
pub use targets::Target;
