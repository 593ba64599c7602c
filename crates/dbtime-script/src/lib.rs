//! Foreign workload languages: what others wrote for sysbench and pgbench, as programs.
//!
//! ```text
//!   FILE.lua ──► sysbench ──┐
//!                           ├──► Script ── crew(thread) ──► Crew ── program(client) ──► Program
//!   FILE.sql ──► pgbench ───┘
//! ```
//!
//! Programs say what they want ([`dbtime_load::request::Request`]), and an engine does it. Nothing
//! here opens a connection, and nothing here prints.

mod book;
pub mod pgbench;
pub mod sysbench;
