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
pub mod block;
pub mod builtin;
mod client;
pub mod command;
pub mod complaint;
pub mod dialect;
pub mod evaluate;
pub mod expression;
pub mod function;
pub mod init;
pub mod loading;
pub mod log;
pub mod meta;
pub mod names;
pub mod notice;
pub mod observer;
pub mod options;
mod parameter;
mod plan;
mod program;
pub mod random;
pub mod reader;
pub mod report;
pub mod rows;
pub mod scan;
mod schema;
pub mod script;
pub mod seeds;
mod series;
pub mod settings;
mod shell;
pub mod statistics;
pub mod survey;
pub mod template;
pub mod token;
pub mod value;
pub mod variables;

pub use dialect::{Dialect, Mode};
pub use loading::Loading;
pub use notice::{Listener, Notice};
pub use observer::{Observer, Seen};
pub use script::PgbenchScript;
pub use settings::{Scripts, Settings};
pub use survey::Survey;
