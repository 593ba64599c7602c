//! Watching: the machine a run shares with others.
//!
//! This crate knows nothing of how load is made.
#![forbid(unsafe_code)]

pub mod machine;
