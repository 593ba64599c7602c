//! The embedded engine: SQLite, in the process of the driver.
//!
//! In the order of use: a [`SqliteTarget`] says which file and how; [`SqliteAdmin`] creates, loads
//! and checks its data; a [`SqliteDatabase`] is what the workers of a run share; each worker opens
//! a [`SqliteConnection`] on its own thread and executes statements, some of them sampled: split
//! into parts by the clocks of its thread ([`dbtime_machine`]) and a VFS that times calls on files.
//! What was counted over the window becomes [`WorkerFigures`], and from them the records of files,
//! layers and lock holders. Beside runs, [`SqliteStatements`] executes single statements and shows
//! their rows.
//!
//! Threads, schedules and transactions are not its affair: it executes one statement at a time.

mod adhoc;
mod admin;
mod busy;
mod connection;
mod context;
mod copy;
mod database;
mod error;
mod examination;
mod facts;
mod failure;
mod ffi;
mod figures;
mod file_locks;
mod file_wait;
mod interrupt;
mod layer;
mod lock;
mod lock_chain;
mod mutex;
mod pool;
mod schema;
mod settings;
mod statements;
mod target;
mod vfs;
mod vfs_file;

pub use admin::{LoadProgress, SqliteAdmin, check};
pub use connection::{SqliteConnection, StatementTiming};
pub use database::{MeasureLevel, SqliteDatabase};
pub use error::SqliteError;
pub use examination::{LARGE_ROWS, SqliteExamination};
pub use facts::SqliteFacts;
pub use failure::DatabaseFailure;
pub use figures::{CacheFigures, CallFigures, IoFigures, SqliteFileKind, VfsCall, WorkerFigures};
pub use file_locks::beside;
pub use file_wait::FileAttribution;
pub use layer::layers;
pub use lock::{LockAttribution, LockHolder, lock_chains, lock_holders};
pub use lock_chain::{WorkerActivity, WorkerChain};
pub use mutex::time_mutexes;
pub use pool::SqlitePool;
pub use settings::{AllowedValues, SETTINGS, SqliteSetting, SqliteSettings};
pub use statements::SqliteStatements;
pub use target::{SqliteTarget, SqliteTargetError};
