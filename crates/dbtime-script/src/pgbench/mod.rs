//! pgbench scripts: the language, its built-in scripts, its options and its report.

pub mod command;
pub mod complaint;
pub mod evaluate;
pub mod expression;
pub mod function;
pub mod meta;
pub mod names;
pub mod random;
pub mod reader;
pub mod scan;
pub mod seeds;
pub mod template;
pub mod token;
pub mod value;
pub mod variables;
