//! Help, version and what is said to a mistyped command.

use crate::sandbox::Sandbox;
use std::io::Read;
use std::process::Stdio;

/// Commands with the flags of another tool, and those that write what shells and man(1) read.
const OTHERS: [&str; 5] = ["pgbench", "sysbench", "completions", "manual", "help"];

/// The commands that are dbtime's own, with those below them (`study plan`), as the help has them.
pub(crate) fn own_commands(sandbox: &Sandbox) -> Vec<String> {
    let mut found = Vec::new();
    for command in listed(sandbox, "--help") {
        let below = listed(sandbox, &format!("{command} --help"));
        let below = below.iter().map(|below| format!("{command} {below}"));
        found.extend(std::iter::once(command.clone()).chain(below));
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// The commands that a help text lists, but for others.
fn listed(sandbox: &Sandbox, line: &str) -> Vec<String> {
    let help = sandbox.run(line).fine().out;
    let commands = help.split_once("\nCommands:\n").map_or("", |(_, commands)| commands);
    let of_list = commands.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
    // What goes on in a second line is indented further.
    let names = of_list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let own = names.filter(|name| !name.is_empty() && !OTHERS.contains(name));
    own.map(str::to_owned).collect()
}

#[test]
fn version_and_help_go_to_stdout() {
    let sandbox = Sandbox::new();
    let version = format!("dbtime {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(sandbox.run("--version").fine().out, version);
    for line in ["-V", "run -V", "trace --version"] {
        assert_eq!(sandbox.run(line).fine().out, version, "{line}");
    }
    let help = sandbox.run("--help").fine().prints(&["Usage: dbtime", "Exit codes:", "70  a bug"]);
    for command in own_commands(&sandbox) {
        let is_listed = help.out.contains(&format!("\n  {command} "));
        assert!(is_listed || command.contains(' '), "{help:?}");
        let own = sandbox.run(&format!("{command} --help")).fine();
        assert!(own.out.contains(&format!("Usage: dbtime {command}")), "{own:?}");
        assert!(own.out.contains("Example"), "no example in {own:?}");
        sandbox.run(&format!("help {command}")).fine();
    }
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

/// What its help shows `study ab` takes, and what it does not take it refuses with a reason.
#[test]
fn a_comparison_of_two_settings_shows_the_flags_that_it_takes() {
    let sandbox = Sandbox::new();
    let help = sandbox.run("study ab --help").fine();
    for taken in ["--connections", "--server-set", "--trace", "--seed", "--out", "--json"] {
        assert!(help.out.contains(taken), "{taken}: {help:?}");
    }
    for (refused, why) in [
        ("--no-record", "a study needs its records"),
        ("--password-file x", "from DBTIME_PASSWORD"),
        ("--snapshots x", "a folder of its own"),
        ("--sweep workers=1,2", "its own number of runs"),
        ("--find-rate 'p99<=1ms'", "its own number of runs"),
        ("--repeat 2", "its own number of runs"),
        ("--print-spec", "nothing is run"),
        ("--strict", "drops invalid runs"),
        ("--events", "the process of a single run"),
        ("--details", "`dbtime report RUN --text`"),
        ("--histogram", "`dbtime report RUN --text`"),
        ("--server-threads", "`dbtime report RUN --text`"),
        ("--markdown x.md", "give it to `dbtime study report`"),
    ] {
        let name = refused.split(' ').next().unwrap_or_default();
        assert!(!help.out.contains(name), "{name}: {help:?}");
        let line = format!("study ab values1 --a workers=1 --b workers=2 {refused}");
        sandbox.run(&line).refused(2, &[why]);
    }
    assert!(!help.out.contains("--spec"), "{help:?}");
    sandbox.run("study ab --a workers=1 --b workers=2 --spec x").refused(2, &["is a whole run"]);
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

#[test]
fn other_tools_commands_have_their_own_help() {
    let sandbox = Sandbox::new();
    let help = sandbox.run("--help").fine();
    for command in ["sysbench", "pgbench"] {
        assert!(help.out.contains(&format!("\n  {command} ")), "{help:?}");
        let own = sandbox.run(&format!("{command} --help")).fine();
        assert!(own.out.contains(&format!("dbtime {command} ")), "{own:?}");
        assert!(own.out.contains("--classic"), "{own:?}");
    }
}

#[test]
fn exit_codes_are_documented_once() {
    let sandbox = Sandbox::new();
    sandbox.run("run --help").fine().prints(&["Exit codes: see `dbtime --help`"]);
    let help = sandbox.run("--help").fine();
    for code in ["0   fine", "1   a limit", "2   wrong usage", "3   target", "4   undecided"] {
        assert!(help.out.contains(code), "{help:?}");
    }
}

#[test]
fn unknown_commands_and_flags_are_usage_errors() {
    let sandbox = Sandbox::new();
    sandbox.run("frobnicate").refused(2, &["'frobnicate'", "--help"]);
    sandbox.run("worklods").refused(2, &["worklods", "workloads"]);
    sandbox.run("run --frobnicate").refused(2, &["'--frobnicate'", "--help"]);
    sandbox.run("run --conections 5").refused(2, &["--connections"]);
    sandbox.run("init atm").refused(2, &["--target"]);
    let refused = sandbox.run("compare").refused(2, &["<A>..."]);
    assert!(refused.err.starts_with("dbtime: the following"), "{refused:?}");
    sandbox.run("compare one").refused(2, &["two runs", "-- B1"]);
    sandbox.run("compare one two --gate").refused(2, &["two groups"]);
    sandbox.run("compare a b -- c --gate").refused(2, &["put --gate before"]);
    let nothing = sandbox.run("");
    nothing.exits(2);
    assert!(nothing.stderr_has(&["Usage: dbtime"]).out.is_empty());
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = Sandbox::new();
    let lines =
        ["workloads", "workloads atm", "--help", "run values1 --target null --transactions 1000"];
    for line in lines {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = sandbox.command(line).stdout(writer).spawn().expect("dbtime starts");
        let mut err = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut err).expect("UTF-8");
        assert_eq!((child.wait().expect("it ends").code(), err.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn an_error_nobody_reads_keeps_its_exit_code() {
    let sandbox = Sandbox::new();
    for line in ["run nothing-like-it", "run --frobnicate", "report absent"] {
        let code = |stderr| sandbox.command(line).stderr(stderr).output().expect("it ends").status;
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert_eq!(code(Stdio::from(writer)), code(Stdio::piped()), "{line}");
    }
}
