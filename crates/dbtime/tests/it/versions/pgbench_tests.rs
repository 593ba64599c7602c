//! pgbench's own tests, fetched by `scripts/pgbench-tests.sh`, with `dbtime pgbench` in its place.

use super::say;
use crate::sandbox::Sandbox;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where they are; empty where they could not be had.
const FOLDER: &str = "DBTIME_PGBENCH_TESTS";

/// The programs of PostgreSQL 15 that they use.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// What differs, by the beginning and a part of a test's name, and how many tests see it.
const DIFFERENCES: [(&str, &str, usize); 4] = [
    // The text is dbtime's own.
    ("pgbench help stdout", "", 4),
    // It says whose program it is.
    ("pgbench version stdout", "", 1),
    // A statement that cannot be prepared is not executed: pgbench tries that as well, and is told
    // that it does not exist.
    ("pgbench script error: sql syntax error stderr", "prepared statement", 1),
    // What a server repeats of values stands as `?`: literals reach no output.
    ("server parameter logging stderr", "", 6),
];

#[test]
fn pgbenchs_own_tests_see_no_other_differences() {
    let Some(folder) = env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
        return say("NOT TESTED: pgbench's own tests, which could not be fetched");
    };
    let tests = PathBuf::from(folder);
    let (mut failed, mut count) = (Vec::new(), 0);
    for name in ["001_pgbench_with_server.pl", "002_pgbench_no_server.pl"] {
        let report = run(&tests, name);
        let whole = planned(&report).unwrap_or_else(|| panic!("{name} stopped early: {report}"));
        count += whole;
        failed.extend(failures(&report));
        assert_eq!(results(&report).count(), whole, "{name}: {report}");
    }
    say(&format!("pgbench's own tests: {count}, {} of them see known differences", failed.len()));
    for (begins, has, times) in DIFFERENCES {
        let is_it = |name: &String| name.starts_with(begins) && name.contains(has);
        assert_eq!(failed.iter().filter(|name| is_it(name)).count(), times, "{begins}: {failed:?}");
        failed.retain(|name| !is_it(name));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Runs a file of tests to its end and returns what it reports.
fn run(tests: &Path, name: &str) -> String {
    let sandbox = Sandbox::new();
    sandbox.open_to_all();
    let program = put_in_place(&sandbox);
    let work = sandbox.path("tmp");
    // PostgreSQL does not run as root.
    let mut command = match rustix::process::geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "perl"]);
            command
        }
        false => Command::new("perl"),
    };
    command
        .arg("-I")
        .arg(tests.join("src/test/perl"))
        .arg(tests.join("src/bin/pgbench/t").join(name));
    sandbox.settle(&mut command);
    let path = format!("{}:{PROGRAMS}:/usr/bin:/bin", program.display());
    // The last is for Windows, where it would change who is let in.
    let own = [("TESTDIR", &work), ("HOME", &work), ("top_builddir", &work), ("TMPDIR", &work)];
    command.env_clear().envs(own).env("TESTLOGDIR", work.join("log")).env("PATH", path);
    command.env("TESTDATADIR", work.join("data")).env("PG_REGRESS", "/bin/true").current_dir(&work);
    let output = command.output().expect("perl is installed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Makes a folder with a `pgbench` that is dbtime's.
fn put_in_place(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.path("bin");
    fs::create_dir(&folder).expect("a folder");
    // Where it was built others may not look.
    let dbtime = folder.join("dbtime");
    fs::copy(env!("CARGO_BIN_EXE_dbtime"), &dbtime).expect("a copy");
    let line = format!("exec {} pgbench --classic --allow-shell \"$@\"", dbtime.display());
    let pgbench = folder.join("pgbench");
    fs::write(&pgbench, format!("#!/bin/sh\n{line}\n")).expect("a script");
    for file in [&folder, &dbtime, &pgbench] {
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("ours");
    }
    folder
}

/// How many tests a report says there were; `None` where they did not come to their end.
fn planned(report: &str) -> Option<usize> {
    report.lines().find_map(|line| line.strip_prefix("1..")?.parse().ok())
}

/// Whether each test was fine, and its name. Those that may fail say so behind a `#`.
fn results(report: &str) -> impl Iterator<Item = (bool, &str)> {
    report.lines().filter_map(|line| match line.strip_prefix("not ok ") {
        Some(rest) => Some((rest.contains("# TODO "), rest.split_once(" - ")?.1)),
        None => Some((true, line.strip_prefix("ok ")?)),
    })
}

fn failures(report: &str) -> impl Iterator<Item = String> {
    results(report).filter(|(is_fine, _)| !is_fine).map(|(_, name)| name.to_owned())
}
