//! What load is, before any database is involved.
//!
//! In pipeline order: a [`workload`] file becomes [`program`]s; [`arrivals`] say when transactions
//! are due; a [`queue`] deals them to whoever is free; a [`session`] runs one program at a time,
//! with its retries and pauses. Engines add the database, the clock and the threads.
//! This crate knows no drivers and no async runtime, and never reads a clock.
#![forbid(unsafe_code)]

pub mod arrivals;
pub mod connection_op;
pub mod excerpt;
pub mod failure;
pub mod keys;
pub mod pipelining;
pub mod program;
pub mod queue;
pub mod random;
pub mod results;
pub mod script;
pub mod session;
pub mod statement;
pub mod think;
pub mod workload;
