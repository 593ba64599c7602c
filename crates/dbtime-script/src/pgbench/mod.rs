//! pgbench scripts: the language, its built-in scripts, its options and its report.

pub mod log;
pub mod options;
pub mod report;
