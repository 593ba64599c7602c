//! `dbtime ps` beside children with known behaviour: what it says of them, of those that come and
//! go, and of what is not there.

use crate::running::Running;
use crate::sandbox::{PATIENCE, Ran, Sandbox, number};
use crate::worker::Worker;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Waits until dbtime has taken its first samples: from then on it only sleeps and looks.
pub(crate) fn wait_until_watching(running: &Running) {
    let begun = Instant::now();
    let mut asleep = 0;
    while asleep < 20 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", running.pid())).expect("it runs");
        let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
        asleep = if state == Some("S") { asleep + 1 } else { 0 };
        assert!(begun.elapsed() < PATIENCE, "it never came to rest");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Watches until the work is done, and ends with Ctrl-C: no matter how busy the machine is, the
/// work lies within the interval.
pub(crate) fn during(sandbox: &Sandbox, line: &str, work: impl FnOnce()) -> Ran {
    let ps = sandbox.start(line);
    wait_until_watching(&ps);
    work();
    ps.interrupt();
    let ran = ps.end().stderr_has(&["ending early"]);
    ran.exits(130);
    ran
}

pub(crate) fn row(json: &Value, pid: u32) -> &Value {
    let rows = json["processes"].as_array().expect("rows");
    rows.iter().find(|row| row["pid"] == pid).unwrap_or_else(|| panic!("no {pid} in {json:#}"))
}

#[test]
fn a_table_is_a_page_and_markdown_too() {
    let (sandbox, own) = (Sandbox::new(), std::process::id());
    sandbox.run(&format!("ps 100ms {own} --html p.html")).fine().prints(&["Report: p.html\n"]);
    let page = fs::read_to_string(sandbox.path("p.html")).expect("a page");
    let has_row = page.contains(&format!(">{own}</td>"));
    assert!(page.contains("<h1>Processes over ") && has_row, "{page}");
    let ran = sandbox.run(&format!("ps 100ms {own} --markdown")).fine();
    ran.prints(&["## Processes over ", "\n| UID | PID |"]);
    sandbox.run("ps 1 --html p.html --count 2").refused(2, &["--html", "--count"]);
    // It is known before the hour.
    sandbox.run("ps 1h --html no/p.html").refused(3, &["cannot write no/p.html"]);
    sandbox.run("ps 1h --html tmp").refused(3, &["cannot write tmp", "in an existing folder"]);
}

#[test]
fn what_was_burned_is_what_is_measured() {
    let sandbox = Sandbox::new();
    let (mut much, mut little, idle) =
        (Worker::start("burn 500"), Worker::start("burn 70"), Worker::start("nap 0"));
    let pids = [much.pid(), little.pid(), idle.pid()];
    let line = format!("ps 1h {} {} {} --json", pids[0], pids[1], pids[2]);
    let mut burned = [0, 0, 0];
    let ran = during(&sandbox, &line, || burned = [much.work(), little.work(), 0]);
    let json = ran.json();
    assert_eq!(json["ended_early"], true);
    assert_eq!(json["processes"].as_array().expect("rows").len(), 3);
    for (pid, burned) in pids.into_iter().zip(burned) {
        let row = row(&json, pid);
        let (cpu, burned) = (number(row, "/cpu_us"), burned as f64 / 1e3);
        // Waking and answering cost a little of the same clock.
        assert!(cpu >= burned && cpu < burned + 50_000.0, "{burned} µs burned: {row:#}");
        let wall = number(row, "/wall_us");
        let share = 100.0 * cpu / (wall * number(&json, "/cpus"));
        assert!((number(row, "/cpu_pct") - share).abs() < 1e-6, "{row:#}");
    }
    // The split adds up to the exact total.
    let much = row(&json, pids[0]);
    let split = number(much, "/user_us") + number(much, "/system_us");
    assert!((split - number(much, "/cpu_us")).abs() < 0.01, "{much:#}");
}

#[test]
fn faults_writes_and_switches_are_counted() {
    let sandbox = Sandbox::new();
    let (mut toucher, mut writer, mut napper) =
        (Worker::start("touch 4000"), Worker::start("write 300"), Worker::start("nap 50"));
    let line = format!("ps 1h {} {} {} --json", toucher.pid(), writer.pid(), napper.pid());
    let mut figures = [0; 3];
    let ran = during(&sandbox, &line, || figures = [toucher.work(), writer.work(), napper.work()]);
    let json = ran.json();
    let of = |pid, pointer| number(row(&json, pid), pointer) as u64;
    assert!(figures[0] > 0 && of(toucher.pid(), "/faults/minor") >= figures[0], "{json:#}");
    assert!(of(writer.pid(), "/io/written_chars") >= figures[1], "{json:#}");
    assert!(of(writer.pid(), "/io/write_calls") >= 300, "{json:#}");
    assert!(of(napper.pid(), "/switches/voluntary") >= figures[2], "{json:#}");
    assert!(of(napper.pid(), "/switches/voluntary") < 10 * figures[2], "{json:#}");
}

/// A `sleep` that has a name of its own.
fn napper(sandbox: &Sandbox, name: &str) -> Child {
    let path = sandbox.path(name);
    if !path.exists() {
        symlink(sleep_program(), &path).expect("a link");
    }
    Command::new(path).arg("600").spawn().expect("it starts")
}

fn sleep_program() -> PathBuf {
    let places = ["/bin/sleep", "/usr/bin/sleep"].map(PathBuf::from);
    places.into_iter().find(|path| path.exists()).expect("sleep")
}

fn end(mut child: Child) {
    child.kill().expect("it sleeps");
    child.wait().expect("it ends");
}

#[test]
fn who_comes_and_who_goes_is_named() {
    let sandbox = Sandbox::new();
    let (stays, goes) = (napper(&sandbox, "dbt-nap"), napper(&sandbox, "dbt-nap"));
    let (stays_pid, goes_pid) = (stays.id(), goes.id());
    let mut comes = None;
    let ran = during(&sandbox, "ps 1h dbt-nap --json", || {
        end(goes);
        comes = Some(napper(&sandbox, "dbt-nap"));
    });
    let comes = comes.expect("started");
    let json = ran.json();
    for (pid, presence) in [(stays_pid, "stayed"), (goes_pid, "went"), (comes.id(), "came")] {
        assert_eq!(row(&json, pid)["presence"], presence);
    }
    assert!(row(&json, goes_pid)["switches"].is_null(), "nobody looked: null, not 0");
    let pid = comes.id();
    let ran = during(&sandbox, &format!("ps 1h dbt-nap {pid}"), || end(comes));
    ran.prints(&["UID", "COMMAND", "dbt-nap 600", "Came and went", "  went  "]);
    end(stays);
}

#[test]
fn nobody_left_to_watch_ends_it() {
    let sandbox = Sandbox::new();
    let napper = napper(&sandbox, "dbt-nap");
    let ps = sandbox.start(&format!("ps 1h {}", napper.id()));
    wait_until_watching(&ps);
    end(napper);
    ps.end().with(0, &["ended early", "  went  "]);
}

#[test]
fn everybody_is_listed_when_nobody_is_named() {
    let sandbox = Sandbox::new();
    let worker = Worker::start("nap 0");
    let json = sandbox.run("ps 100ms --json").fine().json();
    assert_eq!(row(&json, worker.pid())["presence"], "stayed");
    assert!(json["processes"].as_array().expect("rows").len() > 3);
    let shares: Vec<f64> = json["processes"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| number(row, "/cpu_us"))
        .collect();
    assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
    let headings = ["UID ", " PID ", " %CPU ", " %USR ", " %SYS  COMMAND\n", "percent of all"];
    sandbox.run("ps 0.05").fine().prints(&headings);
}

#[test]
fn intervals_follow_each_other_as_lines() {
    let sandbox = Sandbox::new();
    let worker = Worker::start("nap 0");
    let line = format!("ps 50ms {} --count 3 --json", worker.pid());
    let out = sandbox.run(&line).fine().out;
    let lines: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("a document")).collect();
    assert_eq!(lines.len(), 3);
    // They end when they are due, whatever the one before took.
    let all: f64 = lines.iter().map(|json| number(json, "/wall_us")).sum();
    assert!(all >= 150_000.0, "{out}");
    let text = sandbox.run(&format!("ps 20ms {} --count 2", worker.pid())).fine().out;
    assert_eq!(text.matches("COMMAND").count(), 2, "{text}");
}

#[test]
fn columns_are_as_asked_for() {
    let sandbox = Sandbox::new();
    let mut worker = Worker::start("spin");
    worker.begin();
    let pid = worker.pid();
    let ps = |flags: &str| sandbox.run(&format!("ps 50ms {pid} {flags}")).fine();
    ps("--of cpu").prints(&["percent of one CPU"]);
    ps("--seconds").prints(&["CPU s", "USR s", "SYS s", "CPU seconds"]);
    ps("--all").prints(&["%RUNQ", "SWITCHES", "FAULTS", "READ", "WRITTEN", "RSS", "THREADS"]);
    ps("-t").prints(&["TID", " all ", "worker::chore"]);
    let json = ps("-t --json").json();
    let threads = row(&json, pid)["each_thread"].as_array().expect("threads").len();
    assert_eq!(threads as f64, number(row(&json, pid), "/threads"));
    let json = ps("--json").json();
    assert_eq!(row(&json, pid)["each_thread"], Value::Array(Vec::new()));
}

#[test]
fn passwords_of_command_lines_are_masked() {
    let sandbox = Sandbox::new();
    let mut command = Command::new("sh");
    command.args(["-c", "read line", "x", "--password=geheim", "mysql://joe:geheim@h/"]);
    let shell = command.stdin(Stdio::piped()).spawn().expect("a shell");
    let pid = shell.id();
    for flags in ["", "--json"] {
        let ran = sandbox.run(&format!("ps 20ms {pid} {flags}")).fine();
        assert!(!ran.out.contains("geheim"), "{ran:?}");
        ran.prints(&["--password=***", "mysql://joe:***@h/"]);
    }
    end(shell);
}

/// dbtime where any user may start it.
fn dbtime_for_all(folder: &Path) -> PathBuf {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("own folder");
    let path = folder.join("dbtime");
    fs::copy(env!("CARGO_BIN_EXE_dbtime"), &path).expect("room");
    path
}

#[test]
fn what_may_not_be_read_is_null_and_said_once() {
    let is_root = rustix::process::geteuid().is_root();
    let worker = Worker::start("nap 0");
    // Somebody else's process: of root as nobody, or the first of all as anybody else.
    let pid = if is_root { worker.pid() } else { 1 };
    let folder = tempfile::tempdir().expect("a folder");
    let program = dbtime_for_all(folder.path());
    let ps = |flags: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["ps", "20ms", &pid.to_string()]).args(flags).current_dir("/");
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        Ran::new("ps as nobody", &command.output().expect("dbtime starts")).fine()
    };
    let json = ps(&["--json"]).json();
    let row = row(&json, pid);
    assert!(row["io"].is_null() && row["cpu_us"].is_number(), "{row:#}");
    assert_eq!(json["unreadable"], 1);
    let told = "of 1 process may be read by their users and root alone";
    let text = ps(&["--all"]).out.replace('\n', " ");
    assert_eq!(text.matches(told).count(), 1, "{text}");
}

#[test]
fn what_is_not_there_and_what_is_no_length() {
    let sandbox = Sandbox::new();
    for (line, code, told) in [
        ("ps 1 4194305", 3, &["there is no process 4194305", "dbtime ps 1"][..]),
        ("ps 1 no-such-program", 3, &["no process is called `no-such-program`"]),
        ("ps 1 :1", 3, &["no process listens on TCP port 1"]),
        ("ps 1 /no/such.sock", 3, &["no process listens on the socket /no/such.sock"]),
        ("ps", 2, &["<SECONDS>"]),
        ("ps 0", 2, &["measures nothing"]),
        ("ps ten", 2, &["`ten`", "1.5ms"]),
        ("ps 5x", 2, &["`5x`"]),
        ("ps 1 --of everything", 2, &["system", "cpu"]),
        ("ps 1 --count 0", 2, &["--count"]),
        ("ps 1 --seconds --of cpu", 2, &["--seconds", "--of"]),
    ] {
        sandbox.run(line).refused(code, told);
    }
}
