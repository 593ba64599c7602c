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
mod block;
pub mod builtin;
mod client;
mod command;
mod complaint;
mod dialect;
mod evaluate;
mod expression;
mod function;
pub mod init;
pub mod loading;
pub mod log;
mod meta;
mod names;
mod notice;
mod observer;
pub mod options;
mod parameter;
mod plan;
mod program;
pub mod random;
mod reader;
pub mod report;
pub mod rows;
mod scan;
mod schema;
mod script;
pub mod seeds;
mod series;
mod settings;
mod shell;
pub mod statistics;
pub mod survey;
mod template;
mod token;
mod value;
mod variables;

pub use answers::message;
pub use dialect::QueryMode;
pub use loading::LoadingScript;
pub use notice::{Notice, NoticeListener};
pub use observer::{ObservedTransaction, TransactionObserver};
pub use script::PgbenchScript;
pub use settings::{PgbenchScripts, PgbenchSettings};
pub use survey::StatementSurvey;
