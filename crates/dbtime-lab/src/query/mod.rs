//! One statement measured, two forms of it compared, and what would make it faster.
//!
//! ```text
//!   QueryPlace ──► QuerySession ──► pairs ─────► FormComparison
//!   (target, or      │  (one         rows_check ► RowsCheck
//!    a copy of it)   │   connection) plans ─────► StatementPlan
//!   FormText ────────┤               parts ─────► ExecutionPart
//!                    │               counters ──► ExecutionCounter
//!   QueryKeys ───────┘               tournament, advice: pairs, rows and plans again
//! ```
//!
//! [`measure`] puts them into a [`QueryRecord`](dbtime_model::query::QueryRecord). Times of a
//! comparison come from plain executions alone: whatever looks closer runs beside them.

mod advice;
mod against;
mod copy;
mod counters;
mod dictionary;
mod expectations;
#[cfg(test)]
mod fake_place;
mod form_text;
mod key_finding;
mod key_rows;
mod keys;
mod measure;
mod pairs;
mod parts;
mod place;
mod plans;
mod progress;
mod request;
mod row_difference;
mod row_digest;
mod row_encoding;
mod row_ties;
mod rows_check;
mod samples;
mod session;
mod settings;
mod statement_place;
mod tournament;
mod trials;
mod usual_plan;
mod value_rows;
mod workload_keys;
mod write_guard;

pub use expectations::{EXPECT_FASTER, EXPECT_SAME_ROWS};
pub use measure::measure;
pub(crate) use place::{QueryPlace, ServerPlace, SqlitePlace};
pub use progress::QueryProgress;
pub use request::{FormSource, KeyDictionary, QueryRequest};
pub use row_digest::RowDigest;
