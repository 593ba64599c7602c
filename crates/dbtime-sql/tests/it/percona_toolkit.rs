//! Classes, counts and sums of a slow log beside those of `pt-query-digest`.
//!
//! Needs Percona Toolkit (on Debian: `apt-get install percona-toolkit`), found on the PATH or named
//! by the environment variable `PT_QUERY_DIGEST`.
//! Without it the test passes and says loudly that it did not run; with `CI=true` it fails.
#![allow(clippy::print_stderr, reason = "a test that could not run must say so")]

use crate::statement_maker::StatementMaker;
use dbtime_sql::{PerconaRules, percona_fingerprint, statement_id};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const STATEMENTS: u64 = 100_000;

/// The program, if there is one.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("PT_QUERY_DIGEST").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = || {
        let mut files = std::env::split_paths(&path).map(|folder| folder.join("pt-query-digest"));
        files.find(|file| file.is_file())
    };
    let found = named.or_else(on_path);
    if found.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "CI=true, and there is no pt-query-digest: install it (Debian: apt-get install \
             percona-toolkit)"
        );
        eprintln!("\n*** NOT RUN: no pt-query-digest was found, nothing was compared. ***\n");
    }
    found
}

/// What the program prints.
fn output(program: &Path, arguments: &[&str]) -> Vec<u8> {
    let made = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let made = made.expect("pt-query-digest begins");
    let errors = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{arguments:?}: {errors}");
    made.stdout
}

/// The rules of its version: `pt-query-digest 3.2.1`.
fn rules(program: &Path) -> PerconaRules {
    let text = String::from_utf8_lossy(&output(program, &["--version"])).into_owned();
    let version = text.split_whitespace().last().expect("a version");
    let mut parts = version.split('.').map(|part| part.parse::<u32>().expect("a number"));
    let version = (parts.next().expect("a major one"), parts.next().expect("a minor one"));
    if version < (3, 4) { PerconaRules::Old } else { PerconaRules::Current }
}

/// A class as it should be found.
#[derive(Default)]
struct ExpectedClass {
    count: u64,
    sum_us: u64,
    first: String,
}

/// A slow log of MySQL 5.6, and its classes by their IDs.
fn slow_log(rules: PerconaRules) -> (String, BTreeMap<String, ExpectedClass>) {
    let mut maker = StatementMaker::new(45);
    let (mut log, mut classes) = (String::new(), BTreeMap::<String, ExpectedClass>::new());
    let mut fingerprint = Vec::new();
    for number in 0..STATEMENTS {
        let (sql, time_us) = (maker.statement(), 1 + maker.below(5_000_000));
        let (second, fraction) = (time_us / 1_000_000, time_us % 1_000_000);
        let _ = write!(
            log,
            "# User@Host: root[root] @ localhost []  Id: {}\n\
             # Query_time: {second}.{fraction:06}  Lock_time: 0.000010 Rows_sent: 1  \
             Rows_examined: 2\nSET timestamp={};\n{sql};\n",
            number % 7,
            1_600_000_000 + number / 100
        );
        percona_fingerprint(sql.as_bytes(), rules, &mut fingerprint);
        let class = classes.entry(statement_id(&fingerprint)).or_default();
        class.count += 1;
        class.sum_us += time_us;
        if class.first.is_empty() {
            class.first = sql;
        }
    }
    (log, classes)
}

/// A number, also one in quotes.
fn number(value: &Value) -> f64 {
    let quoted = || value.as_str().and_then(|text| text.parse().ok());
    value.as_f64().or_else(quoted).unwrap_or_else(|| panic!("a number, not {value}"))
}

#[test]
fn classes_counts_and_sums_are_those_of_pt_query_digest() {
    let Some(program) = program() else { return };
    let (log, classes) = slow_log(rules(&program));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("slow.log");
    std::fs::write(&path, log).expect("a file");
    let path = path.to_str().expect("a path in UTF-8");
    let json = ["--no-version-check", "--output", "json", "--limit", "1000000", path];
    let report: Value = serde_json::from_slice(&output(&program, &json)).expect("JSON");
    let found = report["classes"].as_array().expect("classes");
    for other in found {
        let id = other["checksum"].as_str().expect("an ID");
        let text = &other["fingerprint"];
        let class = classes.get(id).unwrap_or_else(|| panic!("no class {id}: {text}"));
        assert_eq!(number(&other["query_count"]) as u64, class.count, "{text}: {}", class.first);
        let sum_s = number(&other["metrics"]["Query_time"]["sum"]);
        assert!((sum_s - class.sum_us as f64 / 1e6).abs() < 1e-5, "{text}: {sum_s}");
    }
    assert_eq!(found.len(), classes.len());
}
