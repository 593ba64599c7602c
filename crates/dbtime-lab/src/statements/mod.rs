//! `statements.parquet`: a row for each statement of the window, with where its time went.
//!
//! ```text
//! joiner ──► ExecutionRow ──► StatementLog ──(groups of rows)──► thread ──► RowGroupWriter
//! ```
//!
//! What is in a row is decided in `execution_row`, the columns are one list in `columns`. The file
//! is written while the run goes on, by a thread of its own: a slow disk costs rows, which are
//! counted, and never holds up the load.

mod columns;
mod execution_row;
mod row_group_writer;
mod statement_log;
mod statement_names;
#[cfg(test)]
mod tests;
mod waiting_groups;

pub(crate) use statement_log::{StatementLog, unwritten};
pub(crate) use statement_names::StatementNames;
