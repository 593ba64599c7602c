//! `dbtime usage` of commands, of processes that are there, and between two saved instants.

use crate::ps::wait_until_watching;
use crate::sandbox::{Ran, Sandbox, number};
use crate::worker::{self, Worker};
use std::process::Stdio;

/// Runs `dbtime usage FLAGS -- this test with a chore`.
fn usage_of(sandbox: &Sandbox, flags: &[&str], chore: &str) -> Ran {
    let worker = worker::command(chore);
    let mut command = sandbox.command("usage");
    command.args(flags).arg("--").arg(worker.get_program()).args(worker.get_args());
    command.env("DBTIME_CHORE", chore).stdin(Stdio::null());
    Ran::new("usage", &command.output().expect("dbtime starts"))
}

#[test]
fn a_command_is_measured_from_start_to_end() {
    let sandbox = Sandbox::new();
    let ran = usage_of(&sandbox, &["--json"], "burn 300");
    ran.exits(0);
    let json = ran.json();
    // What the command says goes where it does not disturb the document.
    let said = ran.err.split_once("done=").expect("what it burned").1;
    let burned: f64 = said.lines().next().and_then(|n| n.parse().ok()).expect("a number");
    let cpu = number(&json, "/cpu_us");
    // To start and to end takes it some of the same clock, on a busy machine more: not as much.
    assert!(cpu + 1.0 >= burned / 1e3 && cpu < burned / 1e3 + 200_000.0, "{burned} ns: {json:#}");
    assert_eq!(json["exit"]["code"], 0);
    let rusage = number(&json, "/rusage/user_us") + number(&json, "/rusage/system_us");
    assert!((cpu - rusage).abs() < 0.01, "{json:#}");
    assert!(number(&json, "/wall_us") >= burned / 1e3);
    assert!(number(&json, "/rusage/max_rss_bytes") > 100_000.0);
    assert!(number(&json, "/io/write_calls") >= 2.0, "{json:#}");
    let of = |name: &str| number(&json, &format!("/microstates/{name}_us"));
    let states = of("user") + of("system") + of("runnable") + of("sleeping");
    assert!(states + 1.0 >= of("thread_time"), "{json:#}");
    let rate = number(&json, "/per_second/cpus");
    assert!((rate - cpu / number(&json, "/wall_us")).abs() < 1e-9);
}

/// Neither dbtime's own size nor what it has read of its files counts.
#[test]
fn the_largest_size_of_a_command_is_its_own() {
    let sandbox = Sandbox::new();
    let sizes_mib = |command: &str| {
        let ran = sandbox.run(&format!("usage --json -- {command}"));
        ran.exits(0);
        let json = ran.json();
        let mib = |name: &str| number(&json, name) / f64::from(1 << 20);
        [mib("/rusage/max_rss_bytes"), mib("/rss_floor_bytes")]
    };
    let [ten, floor] = sizes_mib("dd if=/dev/zero of=/dev/null bs=10M count=1");
    assert!((10.0..13.0).contains(&ten) && floor < 9.0, "{ten} MiB, not below {floor} MiB");
    // Less than dbtime has when it starts a command is not to be seen, and said.
    let [least, floor] = sizes_mib("true");
    assert!(least < floor + 0.5, "{least} MiB, not below {floor} MiB");
    let ran = sandbox.run("usage -- true");
    ran.exits(0);
    let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(or less: dbtime itself had as much)"), "{ran:?}");
}

#[test]
fn a_report_of_a_command_is_a_page_and_markdown_too() {
    let sandbox = Sandbox::new();
    let ran = usage_of(&sandbox, &["--markdown", "--html", "u.html"], "nap 5");
    ran.exits(0);
    ran.stderr_has(&["## used ", "\n### Where the time of its threads went\n"]);
    let page = std::fs::read_to_string(sandbox.path("u.html")).expect("a page");
    assert!(page.contains("<h2>Where the time of its threads went</h2>"), "{page}");
    // A command is not run for a report that has no place.
    for flag in ["--html", "--out"] {
        let line = format!("usage {flag} no/report -- touch done");
        sandbox.run(&line).refused(3, &["cannot write no/report"]);
    }
    assert!(!sandbox.path("done").exists());
}

#[test]
fn figures_of_a_command_are_the_kernels() {
    let sandbox = Sandbox::new();
    let json = usage_of(&sandbox, &["--json"], "touch 4000").json();
    assert!(number(&json, "/faults/minor") > 30.0, "{json:#}");
    assert_eq!(json["faults"]["minor"], json["rusage"]["minor_faults"]);
    let json = usage_of(&sandbox, &["--json"], "write 300").json();
    assert!(number(&json, "/io/written_chars") >= 300.0 * 1024.0, "{json:#}");
    let json = usage_of(&sandbox, &["--json"], "nap 50").json();
    assert!(number(&json, "/switches/voluntary") >= 50.0, "{json:#}");
    assert!(number(&json, "/cpu_us") < 500_000.0, "{json:#}");
}

#[test]
fn children_of_a_command_count_with_it() {
    let sandbox = Sandbox::new();
    let worker = worker::command("burn 300");
    let program = worker.get_program().to_string_lossy().into_owned();
    let script = "\"$0\" \"$@\" </dev/null & \"$0\" \"$@\" </dev/null & wait";
    let mut command = sandbox.command("usage --json -- sh -c");
    command.arg(script).arg(program).args(worker.get_args()).env("DBTIME_CHORE", "burn 300");
    let json = Ran::new("usage", &command.output().expect("dbtime starts")).json();
    let cpu = number(&json, "/cpu_us");
    // What both burn, and to start them less than what one burns.
    assert!((600_000.0..900_000.0).contains(&cpu), "{json:#}");
}

#[test]
fn the_report_stands_beside_what_a_command_prints() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("usage -- echo hello");
    ran.exits(0);
    assert_eq!(ran.out, "hello\n");
    let ran =
        ran.stderr_has(&["used ", " of CPU in ", "command       echo hello", "with exit code 0"]);
    ran.stderr_has(&["Where the time of its threads went", "voluntary switches", "getrusage"]);
    let ran = sandbox.run("usage --out report.txt -- echo hello").with(0, &["hello\n"]);
    assert_eq!(ran.out, "hello\n");
    let report = std::fs::read_to_string(sandbox.path("report.txt")).expect("a report");
    assert!(report.starts_with("used ") && report.contains("echo hello"), "{report}");
}

#[test]
fn a_command_ends_as_it_ends() {
    let sandbox = Sandbox::new();
    let coded = sandbox.run("usage -- sh -c 'exit 3'");
    coded.exits(3);
    coded.stderr_has(&["with exit code 3"]);
    let killed = sandbox.run("usage -- sh -c 'kill -9 $$'");
    killed.exits(137);
    killed.stderr_has(&["by signal 9"]);
    sandbox.run("usage -- /no/such").refused(127, &["cannot start `/no/such`"]);
    sandbox.write("plain.txt", "no program");
    sandbox.run("usage -- ./plain.txt").refused(126, &["cannot start `./plain.txt`"]);
}

/// The signal is for dbtime alone: the command goes on, and is measured to its end.
#[test]
fn a_signal_does_not_end_a_command_and_says_so() {
    let sandbox = Sandbox::new();
    let line = "usage -- sh -c 'touch begun; sleep 1; exit 3'";
    let ran = sandbox.signalled_when_begun(line, rustix::process::Signal::TERM);
    ran.exits(3);
    let ran = ran.stderr_has(&["waiting for the command to end; once more", "with exit code 3"]);
    assert!(!ran.err.contains("ending early"), "{ran:?}");
}

#[test]
fn a_process_is_watched_until_told_otherwise() {
    let sandbox = Sandbox::new();
    let mut worker = Worker::start("burn 200");
    let usage = sandbox.start(&format!("usage -p {} --json", worker.pid()));
    wait_until_watching(&usage);
    let burned = worker.work() as f64 / 1e3;
    usage.interrupt();
    let ran = usage.end();
    ran.exits(0);
    let json = ran.json();
    let cpu = number(&json, "/cpu_us");
    assert!(cpu >= burned && cpu < burned + 50_000.0, "{burned} µs burned: {json:#}");
    assert_eq!((&json["is_gone"], &json["exit"]), (&false.into(), &serde_json::Value::Null));
    // Before a set end it is cut short.
    let usage = sandbox.start(&format!("usage -p {} --time 1h", worker.pid()));
    wait_until_watching(&usage);
    usage.interrupt();
    usage.end().with(130, &["used "]);
    let line = format!("usage -p {} --time 60ms", worker.pid());
    sandbox.run(&line).fine().prints(&["used ", "1 process with ", "resident", "address space"]);
    let line = format!("usage -p {} --time 60ms --threads --alone", worker.pid());
    sandbox.run(&line).fine().prints(&["Threads by name", "without its descendants"]);
}

#[test]
fn a_process_that_ends_is_reported_as_it_was_last_seen() {
    let sandbox = Sandbox::new();
    let mut worker = Worker::start("burn 100");
    let usage = sandbox.start(&format!("usage -p {}", worker.pid()));
    wait_until_watching(&usage);
    worker.work();
    worker.end();
    usage.end().with(0, &["used ", "it has ended"]);
}

#[test]
fn two_saved_instants_bracket_an_experiment() {
    let sandbox = Sandbox::new();
    let mut worker = Worker::start("burn 150");
    let pid = worker.pid();
    sandbox.run(&format!("usage -p {pid} --start a.json")).fine().prints(&["a.json"]);
    let burned = worker.work() as f64 / 1e3;
    let json = sandbox.run("usage --since a.json --json").fine().json();
    let cpu = number(&json, "/cpu_us");
    assert!(cpu >= burned && cpu < burned + 50_000.0, "{burned} µs burned: {json:#}");
    sandbox.run("usage --since a.json").fine().prints(&["used ", "voluntary switches"]);
    worker.end();
    sandbox.run("usage --since a.json").refused(3, &["has ended", &pid.to_string()]);
}

#[test]
fn files_that_are_no_samples_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.run("usage --since absent.json").refused(3, &["absent.json"]);
    sandbox.write("b.json", "{}");
    for flag in ["--out", "--html"] {
        let line = format!("usage --since b.json {flag} b.json");
        sandbox.run(&line).refused(2, &["b.json is a file that this command reads"]);
    }
    sandbox.run("usage --since b.json").refused(3, &["b.json", "not a sample"]);
    sandbox.write("c.json", "{\"schema\": 99}");
    sandbox.run("usage --since c.json").refused(3, &["schema 99", "reads up to 1"]);
    let line = format!("usage -p {} --start d.json", std::process::id());
    sandbox.run(&line).fine();
    let path = sandbox.path("d.json");
    let text = std::fs::read_to_string(&path).expect("saved");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    json["boot_id"] = "another".into();
    sandbox.write("d.json", &json.to_string());
    sandbox.run("usage --since d.json").refused(3, &["restarted"]);
}

#[test]
fn what_to_watch_has_to_be_one_thing() {
    let sandbox = Sandbox::new();
    for (line, told) in [
        ("usage", &["nothing to watch", "--since"][..]),
        ("usage -p 1 -- true", &["--pid", "COMMAND"]),
        ("usage --time 1s", &["--pid"]),
        ("usage -p 1 --time 0", &["measures nothing"]),
        ("usage -p 1 --start a --since b", &["--start"]),
        ("usage --since a -- true", &["--since"]),
        ("usage --parent=7 -- true", &["--parent"]),
    ] {
        sandbox.run(line).refused(2, told);
    }
    sandbox.run("usage -p 4194305").refused(3, &["there is no process 4194305"]);
}

#[test]
fn several_of_a_name_are_listed_with_whose_they_are() {
    let sandbox = Sandbox::new();
    // Another run of the tests may have its own.
    let name = format!("two{}", std::process::id());
    let program = sandbox.path(&name);
    std::fs::copy("/bin/sleep", &program).expect("a copy");
    let start = || std::process::Command::new(&program).arg("60").spawn().expect("it starts");
    let mut both = [start(), start()];
    let ran = sandbox.run(&format!("usage -p {name} --time 1s"));
    for child in &mut both {
        child.kill().expect("ours");
        child.wait().expect("ours");
    }
    let listed = both.each_ref().map(|child| format!("{} (", child.id()));
    let fits = format!("dbtime: {name} fits 2 processes");
    ran.refused(3, &[&fits, &listed[0], &listed[1], ":PORT"]);
}
