//! No text makes the reader of pgbench scripts panic or hang, nor what takes the statements of
//! sysbench's scripts apart for SQLite.
#![cfg_attr(feature = "link", no_main)]

use dbtime_script::pgbench::PgbenchScripts;
use dbtime_script::sysbench::sqlite::rewritten;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = PgbenchScripts::default().add("fuzz.sql", text, 1);
    let _ = rewritten(text);
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
