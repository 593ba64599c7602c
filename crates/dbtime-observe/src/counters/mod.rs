//! Status counters: reading what databases and their clients print, and what changed between two
//! samples.
//!
//! In the order of use: a sample comes from a file ([`read`], [`parse`]: saved by dbtime, or
//! printed by `mysql`, `mysqladmin` or `psql`), from the headers of an SQLite file
//! ([`SqliteHeaders`]), or from a server. Asking a server needs a login, so whoever has one
//! executes each of [`queries`] and hands its rows to [`add_rows`]. [`difference`] makes a report
//! of two samples, [`key_counters`] names those that a run shows, and [`page_accesses`] has those
//! of its buffer pool.
//!
//! What is known of each database (which numbers do not count, how they are grouped, which tell
//! most) is data in a file of its own; nothing here opens a connection.

mod dialect;
mod difference;
mod difference_error;
mod global_status;
mod interval;
mod key_counters;
mod page_accesses;
mod parse;
mod postgres;
mod products;
mod query;
mod rows;
mod second_query;
mod sqlite;

pub use difference::{difference, per_transaction_of};
pub use difference_error::DifferenceError;
pub use key_counters::key_counters;
pub use page_accesses::{PageAccesses, page_accesses};
pub use parse::{FileError, MAX_FILE_BYTES, ParseError, parse, read};
pub use products::queries;
pub use query::{CounterQuery, ServerVersion};
pub use rows::{CounterCell, add_rows};
pub use second_query::{SecondQuery, second_query};
pub use sqlite::SqliteHeaders;
