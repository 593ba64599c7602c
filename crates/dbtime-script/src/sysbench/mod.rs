//! sysbench scripts: LuaJIT, the interface that scripts expect, its options and its reports.

pub mod help;
pub mod histogram;
pub mod options;
pub mod report;
pub mod stats;
