//! Watching: the machine a run shares with others, and what databases count about themselves.
//!
//! This crate knows nothing of how load is made.
#![forbid(unsafe_code)]

pub mod counters;
pub mod machine;
