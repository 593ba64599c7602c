//! The engine: files become blocks, blocks are read by workers, and what they read is joined in the
//! order of the file.
//!
//! ```text
//!   plan ─► parts of files ─► formats ─► in the order of time: input ─► divider ─► workers ─┐
//!           (since_state)                                                                   │
//!                              LogDigest ◄── digest ◄── joiner, in the order of the file ◄──┘
//! ```
//!
//! The calling thread reads the file, divides it and joins; a log that is packed is unpacked there.

mod blocks;
mod digest_logs;
mod digest_words;
mod error;
mod foreign;
mod formats;
mod head_peek;
mod input;
mod joiners;
mod memo;
mod namers;
mod one_clock;
mod open_log;
mod parts;
mod plan;
mod primed;
mod since_state;
#[cfg(test)]
mod test_lines;
mod waiting;
mod workers;

pub use digest_logs::{digest_logs, digest_unsaved};
pub use error::LogError;
pub use plan::{FormatChoice, LogPlan, LogProgress, TimeBound};
pub use since_state::UnsavedState;
