//! pgbench scripts: the language, its built-in scripts, its options and its report.
//!
//! ```text
//!   text ── scan, meta ──► reader ──► Script ──► settings ──► plan ──► program (one per client)
//!             └─ token ─► expression ─► evaluate ◄── variables, random ◄───┘
//! ```
//!
//! The statements that clients send are those of pgbench 15 with the same seed.

mod actions;
mod answers;
mod awaited;
mod block;
mod builtin;
mod client;
mod command;
mod dialect;
mod evaluate;
mod expression;
mod function;
mod init;
mod loading;
mod log;
mod meta;
mod names;
mod notice;
mod observer;
pub mod options;
mod parameter;
mod parse_error;
mod plan;
mod program;
mod random;
mod reader;
pub mod report;
mod rows;
mod scan;
mod schema;
mod script;
mod seeds;
mod series;
mod settings;
mod shell;
mod shown_line;
mod statistics;
mod survey;
mod template;
mod token;
mod value;
mod variables;

pub use answers::message;
pub use builtin::BuiltinScript;
pub use dialect::QueryMode;
pub use init::{DEFAULT_STEPS, PartitionScheme, PgbenchTables, init_steps};
pub use loading::{LoadingProgress, LoadingScript};
pub use log::{LogEntry, LogOutcome, ThreadLog, log_file_name};
pub use notice::{NoticeListener, PgbenchNotice};
pub use observer::{ObservedTransaction, TransactionObserver};
pub use random::PgbenchRandom;
pub use rows::ResultTable;
pub use script::PgbenchScript;
pub use seeds::{ClientSeeds, ThreadSeeds, deal_clients, seed_named};
pub use settings::{PgbenchScripts, PgbenchSettings};
pub use statistics::{FailureKind, PgbenchCounts, ScriptCounts};
pub use survey::{StatementSurvey, SurveyReply};
