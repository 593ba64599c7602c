//! Watching: the processes of the machine a run shares with others, what databases count about
//! themselves, and how they say that they execute statements.
//!
//! This crate knows nothing of how load is made.
#![forbid(unsafe_code)]

pub mod block_device;
pub mod counters;
pub mod doctor;
mod kernel_layout;
pub mod lock_waits;
pub mod logs;
pub mod plans;
pub mod process;
pub mod scheduler;
pub mod trace;
