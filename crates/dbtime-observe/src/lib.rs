//! Watching: the machine a run shares with others, and the processes on it.
//!
//! This crate knows nothing of how load is made.
#![forbid(unsafe_code)]

pub mod machine;
pub mod process;
