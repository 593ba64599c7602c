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

mod form_text;
mod place;
mod plans;
mod progress;
mod request;
mod session;

pub use progress::QueryProgress;
pub use request::{FormSource, KeyDictionary, QueryRequest};
