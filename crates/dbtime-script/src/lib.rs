//! Foreign workload languages: what others wrote for sysbench and pgbench, as programs.
//!
//! ```text
//!   FILE.lua ──► sysbench ──┐
//!                           ├──► Script ── a thread ──► ProgramFactory ── a client ──► Program
//!   FILE.sql ──► pgbench ───┘
//! ```
//!
//! Programs yield operations ([`dbtime_load::connection_op::ConnectionOp`]), and an engine performs
//! them. Nothing here opens a connection, and nothing here prints.

pub mod pgbench;
mod programs;
mod shared_call;
mod statement_registry;
pub mod sysbench;

pub use programs::{PROGRAM_MARK, ProgramWatch, abandon_programs, watch_programs};
