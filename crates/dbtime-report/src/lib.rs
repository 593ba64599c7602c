//! Shows what a run recorded: as text in a terminal, as one HTML file, and beside another run; and
//! what changed between two samples of status counters.
//!
//! Everything here is a pure function from the nouns of `dbtime-model` to text; nothing is printed,
//! read or measured.
//! What commands show is made of blocks, which know nothing of the terminal, HTML or Markdown
//! ([`reports`]).
//! The report of a run has them in the order in which a reader asks: how fast, where did the time
//! go, why is the tail slow, did it pass, and only then everything else; its page begins with the
//! answer as a drawing ([`html`]).
//! A chart is one file in [`charts`] and one line in its list; a rule of [`advice`] likewise.
#![forbid(unsafe_code)]

mod budget_story;
mod cost_story;
mod counted;
mod document;
mod facts;
mod files;
mod format;
mod labels;
mod lock_chains;
mod lock_tree;
mod means;
mod plain;
mod repeat;
mod replaced;
mod stacks;
mod steadiness;
mod story;
mod sweep_story;
mod tail;
mod trace_json;
mod unended;

pub mod advice;
pub mod charts;
pub mod compare;
pub mod html;
pub mod log;
pub mod query;
pub mod reports;
pub mod terminal;
pub mod top;

pub use document::ReportDocument;
pub use format::{fit, one_line, percent, wrap};
pub use lock_tree::{lock_summary, lock_tree};
pub use plain::plain_json;
pub use terminal::{SweepRow, TerminalOptions};
pub use trace_json::trace_json;
pub use unended::unended_document;
