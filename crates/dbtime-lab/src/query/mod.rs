//! One statement measured, two forms of it compared, and what would make it faster.
//!
//! ```text
//!   QueryPlace ──► QuerySession ──► pairs ─────► FormComparison
//!   (target, or      │  (one         rows_check ► RowsCheck
//!    a copy of it)   │   connection) plans ─────► StatementPlan
//!   FormText ────────┤               counters ──► ExecutionCounter
//!   QueryKeys ───────┘               tournament, advice: pairs, rows and plans again
//! ```
//!
//! [`measure`] puts them into a [`QueryRecord`](dbtime_model::query::QueryRecord). Times of a
//! comparison come from plain executions alone: whatever looks closer runs beside them.

mod advice;
mod dictionary;
mod form_text;
mod keys;
mod pairs;
mod place;
#[cfg(test)]
mod planned_place;
mod progress;
mod request;
mod samples;
mod session;
mod value_rows;

pub use progress::QueryProgress;
pub use request::{FormSource, KeyDictionary, QueryRequest};
