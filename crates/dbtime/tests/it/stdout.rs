//! Where results go: a full disk behind stdout is an error, a reader who has gone is none.

use crate::sandbox::{Ran, Sandbox};
use std::fs::File;
use std::process::Stdio;

/// One of each command that prints, with what it needs before it.
const LINES: [&str; 26] = [
    "--help",
    "--version",
    "help run",
    "workloads",
    "workloads atm",
    "init small.toml --target sqlite:other.db",
    "run values1 --target null --transactions 100 --no-record",
    "run values1 --target null --transactions 100 --no-record --json",
    "run values1 --target null --transactions 100 --out NEW --sweep connections=1,2",
    "run values1 --target null --transactions 100 --out NEW --repeat 2 --json",
    "report r --text",
    "report r --text --details",
    "report r --markdown",
    "report r",
    "explain r",
    "compare r r",
    "compare r r --details",
    "counters --target sqlite:t.db --interval 10ms",
    "query --query 'SELECT count(*) FROM item' --target sqlite:t.db --time 100ms --no-advice",
    "query --query 'SELECT 1' --target sqlite:t.db --time 100ms --no-advice --json",
    "doctor --json",
    "ps 10ms --json",
    "usage --json -- true",
    "sysbench --help",
    "pgbench --version",
    "pgbench --target sqlite --classic -S -t 5",
];

/// A sandbox with a record `r`.
fn recorded() -> Sandbox {
    let sandbox = Sandbox::loaded();
    sandbox.run("run values1 --target null --transactions 100 --out r").fine();
    sandbox
}

/// Runs a line with this behind stdout; `NEW` becomes a name that is free.
fn run_into(sandbox: &Sandbox, line: &str, stdout: impl Into<Stdio>) -> Ran {
    let free = (0..).map(|n| format!("new-{n}")).find(|name| !sandbox.path(name).exists());
    let line = line.replace("NEW", &free.expect("a number"));
    let output = sandbox.command(&line).stdout(stdout).output().expect("dbtime starts");
    Ran::new(&line, &output)
}

fn full() -> File {
    File::options().write(true).open("/dev/full").expect("a full disk")
}

/// What is written to this has no reader.
fn unread() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer
}

/// A line fails once, by its output, where the disk behind stdout is full.
pub(crate) fn tells_of_a_full_disk(sandbox: &Sandbox, line: &str) {
    let ran = run_into(sandbox, line, full());
    ran.exits(3);
    let ran = ran.stderr_has(&["dbtime: cannot write the output to stdout: No space left"]);
    assert_eq!(ran.err.matches("No space left").count(), 1, "{ran:?}");
}

/// A line is fine where nobody reads its output.
pub(crate) fn goes_unread(sandbox: &Sandbox, line: &str) {
    let ran = run_into(sandbox, line, unread());
    ran.exits(0);
    assert!(!ran.err.contains("stdout"), "{ran:?}");
}

#[test]
fn a_full_disk_behind_stdout_is_an_error_of_every_command() {
    let sandbox = recorded();
    LINES.iter().for_each(|line| tells_of_a_full_disk(&sandbox, line));
}

#[test]
fn a_reader_that_has_gone_is_no_error_of_any_command() {
    let sandbox = recorded();
    LINES.iter().for_each(|line| goes_unread(&sandbox, line));
}

#[test]
fn a_failure_that_was_told_keeps_its_code() {
    let sandbox = Sandbox::new();
    for (line, code) in [
        ("workloads nothing-like-it", 2),
        ("report absent", 3),
        ("usage --json -- false", 1),
        ("pgbench --nonsense", 1),
        ("sysbench absent.lua run", 1),
    ] {
        run_into(&sandbox, line, full()).exits(code);
    }
}

#[test]
fn a_record_does_not_depend_on_who_reads_the_report() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target null --transactions 100 --limit 'p99<=1ns' --out r";
    run_into(&sandbox, line, full()).exits(3);
    let run = dbtime_model::record::read_run(&sandbox.path("r")).expect("a whole record");
    assert_eq!(run.record.counts.completed, 100);
}

#[test]
fn what_goes_on_to_be_read_ends_with_its_reader() {
    let sandbox = Sandbox::loaded();
    for line in [
        "ps 10ms --count 1000000000",
        "counters --target sqlite:t.db --interval 10ms --count 1000000000",
    ] {
        // It would go on for months.
        run_into(&sandbox, line, unread()).with(0, &[]);
        run_into(&sandbox, line, full()).exits(3);
    }
}

#[test]
fn a_recording_that_cannot_be_shown() {
    let sandbox = Sandbox::new();
    crate::written_trace::write_trace(
        &sandbox,
        &[],
        dbtime_model::traced_ledger::TraceLedger::default(),
    );
    for view in ["", "--json", "--summary", "--histogram"] {
        let line = format!("trace it.trace {view}");
        let told = ["cannot write the output to stdout"];
        run_into(&sandbox, &line, full()).stderr_has(&told).exits(3);
        run_into(&sandbox, &line, unread()).with(0, &[]);
    }
}
