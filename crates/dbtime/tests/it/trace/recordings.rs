//! What is recorded is shown later as it was.

use super::*;
use crate::written_trace::{TestRecording, write_trace};
use dbtime_model::traced::{
    Blocker, ErrorCode, Preemptor, QueryCache, RequestOutcome, SessionLogin, TextState,
    TracedRequest,
};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_totals::{StatementName, StatementTotals, TraceTotals};
use dbtime_model::{MonoNanos, Nanos, Part, Parts, WireProtocol};
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Records some statements with literals; `None` where the kernel permits no eBPF.
fn recorded(sandbox: &Sandbox, server: &GivenServer, options: &str) -> Option<String> {
    let tracer = Tracer::start(sandbox, server, &format!("--record it.trace {options}"))?;
    let mut client = RawClient::connect(server);
    (0..MANY).for_each(|number| client.query(&format!("DO 4711, {number}")));
    client.query("DO SLEEP(0.02)");
    client.query_fails("DO nothing_of_the_kind('secret')");
    drop(client);
    tracer.interrupt();
    let (code, out) = tracer.printed();
    assert_eq!(code, Some(0), "{out}");
    Some(out)
}

/// What a command prints.
fn shown(sandbox: &Sandbox, line: &str) -> String {
    let ran = sandbox.run(line);
    ran.exits(0);
    ran.out
}

#[test]
fn a_recording_has_every_request_and_every_view() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(out) = recorded(&sandbox, &server, "--raw-sql --summary --strict") else { return };
    let file = sandbox.path("it.trace");
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let lines = shown(&sandbox, "trace it.trace --json --raw-sql");
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // It begins and ends as a recording does.
    assert_eq!(lines.len() as u64, MANY + 5);
    assert_eq!(lines[8]["request"]["text"], "DO 4711, 7");
    assert_eq!(lines.last().expect("an end")["end"]["ledger"]["streamed"], MANY + 3);
    let requests = lines.iter().filter_map(|line| line.get("request").cloned());
    parts_add_up(&requests.collect::<Vec<_>>());
    // The same figures, then and now.
    let again = shown(&sandbox, "trace it.trace --summary --details");
    let figures = |text: &str| text.split("\nStatements\n").nth(1).expect("figures").to_owned();
    assert_eq!(figures(&again), figures(&out));
    assert_eq!(sums::calls(&again, "DO ?, ?"), MANY);
    let histogram = shown(&sandbox, "trace it.trace --histogram");
    assert!(out.contains(histogram.split("\n\n").next().expect("rows").trim()), "{histogram}");
    let errors = shown(&sandbox, "trace it.trace --errors");
    assert!(errors.contains("ERROR 1305") && !errors.contains("secret"), "{errors}");
    let slow = shown(&sandbox, "trace it.trace --slow 20ms --json");
    // The beginning, the end, and the sleep; others where the machine was busy.
    let is_slow = |line: &&Value| line["request"]["response_us"].as_f64() >= Some(20e3);
    let expected = lines.iter().filter(is_slow).count();
    assert!((1..MANY as usize / 2).contains(&expected), "{expected}");
    assert_eq!(slow.lines().count(), expected + 2, "{slow}");
    assert!(slow.contains("SLEEP"), "{slow}");
    // What `--json` prints is a recording, as those of the versions before were.
    let json = shown(&sandbox, "trace it.trace --json --raw-sql");
    sandbox.write("json.trace", &json);
    assert_eq!(shown(&sandbox, "trace json.trace --errors"), errors);
    assert_eq!(shown(&sandbox, "trace json.trace --json --raw-sql"), json);
    let size = std::fs::metadata(&file).expect("a file").len();
    assert!(size * 4 < json.len() as u64, "{size} bytes, {} as JSON", json.len());
}

#[test]
fn literals_are_not_recorded_unless_they_are_wanted() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(out) = recorded(&sandbox, &server, "") else { return };
    assert!(!out.contains("Statement") && out.contains("1,012 started"), "{out}");
    let bytes = std::fs::read(sandbox.path("it.trace")).expect("a file");
    let has = |word: &str| bytes.windows(word.len()).any(|found| found == word.as_bytes());
    // Numbers of the recording's own have any digits.
    assert!(has("DO ?, ?") && ["secret", "DO 4711", "4711, "].iter().all(|word| !has(word)));
    let recording = TestRecording::read(&sandbox.path("it.trace"));
    let texts: Vec<&str> = recording.requests.iter().map(|request| &*request.text).collect();
    assert!(texts.len() as u64 >= MANY, "{} texts", texts.len());
    assert!(texts.iter().all(|text| !text.contains(|c: char| c.is_ascii_digit())), "{texts:?}");
    let lines = shown(&sandbox, "trace it.trace");
    assert!(lines.contains("DO ?, ?"), "{lines}");
    sandbox.run("trace it.trace --raw-sql").refused(2, &["without --raw-sql"]);
    sandbox.run("trace it.trace --histogram --step 1ms").refused(2, &["--record"]);
    sandbox.run("trace it.trace -p 1").refused(2, &["--process"]);
    let pid = server.server.pid();
    let again = sandbox.run(&format!("trace -p {pid} --record it.trace --time 1s"));
    again.refused(3, &["it.trace", "name a file that is not there"]);
    assert!(std::fs::read(sandbox.path("it.trace")).expect("a file") == bytes, "as it was");
}

#[test]
fn the_name_of_a_recording_need_not_be_utf_8() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    tracer.end();
    let name = OsStr::from_bytes(b"\xff.trace");
    let line = format!("trace -p {} --time 300ms --record", server.server.pid());
    let output = sandbox.command(&line).arg(name).output().expect("dbtime starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = sandbox.command("trace").arg(name).output().expect("dbtime starts");
    assert_eq!(shown.status.code(), Some(0), "{}", String::from_utf8_lossy(&shown.stderr));
}

#[test]
fn a_recording_that_was_cut_short_is_shown_up_to_there() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(_) = recorded(&sandbox, &server, "") else { return };
    let mut recording = TestRecording::read(&sandbox.path("it.trace"));
    recording.requests.truncate(7);
    recording.end = None;
    recording.write(&sandbox.path("whole.trace"));
    let whole = std::fs::read(sandbox.path("whole.trace")).expect("a file");
    let shown_of = |bytes: &[u8], code: i32, lines: usize, how: &str| {
        std::fs::write(sandbox.path("cut.trace"), bytes).expect("written");
        let ran = sandbox.run("trace cut.trace --json");
        ran.exits(code);
        assert_eq!(ran.out.lines().count(), lines, "the beginning, and requests");
        assert!(ran.err.contains(how), "{}", ran.err);
    };
    shown_of(&whole, 4, 8, "ends without its ledger");
    shown_of(&whole[..whole.len() - 1], 4, 7, "ends in the middle");
    let mut damaged = whole.clone();
    damaged[whole.len() - 1] ^= 1;
    shown_of(&damaged, 3, 7, "block 7: its contents have changed");
    std::fs::write(sandbox.path("none.trace"), "SELECT 1\n").expect("written");
    sandbox.run("trace none.trace").refused(3, &["no recording"]);
    sandbox.run("trace nowhere.trace").refused(3, &["No such file"]);
}

#[test]
fn the_ledger_adds_up_in_every_form() {
    let sandbox = Sandbox::new();
    let ledger = TraceLedger {
        started: 15,
        ended: 5,
        in_flight: 4,
        aborted: 2,
        partial: 1,
        streamed: 4,
        dropped: 2,
        not_streamed: 1,
        ..TraceLedger::default()
    };
    write_trace(&sandbox, &[], ledger);
    let lines = shown(&sandbox, "trace it.trace --json");
    let end: Value = serde_json::from_str(lines.lines().last().expect("an end")).expect("JSON");
    ledger_adds_up(&end["end"]["ledger"]);
    assert_eq!(counted(&end["end"]["ledger"], "vanished"), 3);
    let text = shown(&sandbox, "trace it.trace");
    assert!(text.contains("+ 1 under way before + 3 whose connection was gone"), "{text}");
    sandbox.run("trace it.trace --strict").exits(4);
}

#[test]
fn what_stands_behind_the_end_is_told_and_not_read() {
    let sandbox = Sandbox::new();
    write_trace(&sandbox, &[], TraceLedger::default());
    let whole = std::fs::read(sandbox.path("it.trace")).expect("a file");
    assert_eq!(sandbox.run("trace it.trace --json").fine().err, "");
    let lines = shown(&sandbox, "trace it.trace --json");
    for (name, recording) in [("blocks.trace", whole), ("lines.trace", lines.into_bytes())] {
        // Such as a second recording, which somebody has appended.
        let twice = [&recording[..], &recording].concat();
        std::fs::write(sandbox.path(name), &twice).expect("written");
        let told = format!("{name}: {} bytes after the end", recording.len());
        let ran = sandbox.run(&format!("trace {name}"));
        ran.exits(0);
        ran.stderr_has(&[&told]);
        sandbox.run(&format!("trace {name} --strict")).exits(4);
    }
}

#[test]
fn whoever_waits_for_a_pipe_says_so() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.path("it.pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("coreutils");
    assert!(made.success());
    for line in ["trace it.pipe", "run --spec it.pipe --print-spec", "study plan it.pipe"] {
        let mut running = sandbox.start(line);
        running.hear("waiting for a writer of the pipe it.pipe");
        running.signal(rustix::process::Signal::TERM);
        assert_eq!(running.end().code, None, "it ends by the signal");
    }
    // Who is written to in time has nothing to say.
    write_trace(&sandbox, &[], TraceLedger::default());
    let recording = std::fs::read(sandbox.path("it.trace")).expect("a file");
    let reading = sandbox.start("trace it.pipe");
    write_once_read(&pipe, &recording);
    reading.end().exits(0);
}

/// Writes into a pipe as soon as somebody reads it.
fn write_once_read(pipe: &Path, bytes: &[u8]) {
    let mut options = OpenOptions::new();
    // Waiting in the kernel would have no end if nobody came.
    options.write(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    let begun = Instant::now();
    let mut file = loop {
        match options.open(pipe) {
            Ok(file) => break file,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "nobody reads {pipe:?}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    file.write_all(bytes).expect("a pipe has room for it");
}

#[test]
fn figures_of_a_stranger_have_views_of_a_bounded_length() {
    let sandbox = Sandbox::new();
    write_trace(&sandbox, &[full_of("DO 1"), full_of("DO 2")], TraceLedger::default());
    let mut totals = TraceTotals {
        count: 1,
        response: Nanos(1),
        parts: Parts::of(&[(Part::Cpu, 1_000_000_000_000)]),
        ..TraceTotals::default()
    };
    totals.coarse.add_to(3, 1_000_000_000_000);
    let name = StatementName::Text("DO ?".into());
    let of_one = StatementTotals { totals, ..StatementTotals::nothing_of(name) };
    let recording = |since: u64, end: u64| {
        let mut recording = TestRecording::read(&sandbox.path("it.trace"));
        recording.begin.since = MonoNanos(since);
        recording.requests[1].end = MonoNanos(end);
        recording.end.as_mut().expect("an end").totals.statements = vec![of_one.clone()];
        recording.write(&sandbox.path("odd.trace"));
    };
    // A silence of 36 years.
    recording(0, 1 << 60);
    for view in ["", "--summary", "--histogram", "--json", "--summary --json"] {
        let out = shown(&sandbox, &format!("trace odd.trace {view}"));
        assert!(out.len() < 100_000, "{} bytes with {view:?}", out.len());
    }
    let out = shown(&sandbox, "trace odd.trace --summary --details");
    assert!(out.contains("throughput 0 queries/sec since"), "{out}");
    recording(1 << 63, 9);
    let ages = "a time of more than 73 years: the recording is damaged";
    sandbox.run("trace odd.trace --summary").refused(3, &["line 1: it has", ages]);
    recording(0, u64::MAX);
    let ran = sandbox.run("trace odd.trace --summary");
    ran.exits(3);
    ran.stderr_has(&["block 2: it has", ages]);
}

/// A request of which every text is this one.
fn full_of(text: &str) -> TracedRequest {
    let length = Nanos(5);
    let file = FileName::Named(text.into());
    TracedRequest {
        connection: 1,
        process: 2,
        thread: 3,
        start: MonoNanos(1),
        first_sent: None,
        end: MonoNanos(9),
        login: Some(
            SessionLogin {
                user: text.to_owned(),
                database: text.to_owned(),
                ..SessionLogin::default()
            }
            .into(),
        ),
        protocol: WireProtocol::Postgres,
        command: b'Q',
        executes: 0,
        statements: Vec::new(),
        length: 9,
        text: text.into(),
        text_state: TextState::Whole,
        sent_bytes: 5,
        writes: 1,
        rows: None,
        error: Some(ErrorCode::SqlState(text.to_owned())),
        outcome: RequestOutcome::Ended,
        server_queue: None,
        queue_parts: None,
        parts: Parts::traced(|_| Nanos::ZERO),
        other_call: None,
        blocker: Some(Blocker {
            thread: Some(4),
            lock: Some(text.to_owned().into()),
            statement: Some(text.into()),
            length,
            ..Blocker::default()
        }),
        preemptors: vec![Preemptor { thread: 5, name: text.to_owned(), length }; 2],
        files: vec![FileWait { file, part: Part::Sync, count: 1, length }],
        cache: QueryCache::NotAsked,
        is_match: false,
        answer_arrived: None,
        taken: None,
        stacks: Vec::new(),
    }
}

#[test]
fn no_text_drives_the_terminal() {
    let sandbox = Sandbox::new();
    // One that JSON escapes, and beside it what deletes, introduces commands or turns text round.
    let controls = "\u{1b}\u{7f}\u{80}\u{9b}2J\u{9f}";
    let turns = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}";
    let text = format!("SELECT 'ä', '表', '🦀' {controls}{turns}");
    let ledger = TraceLedger { started: 2, ended: 2, streamed: 2, ..TraceLedger::default() };
    write_trace(&sandbox, &[full_of("DO 1"), full_of(&text)], ledger);
    let out = shown(&sandbox, "trace it.trace --json --raw-sql");
    let is_raw = |sign: char| turns.contains(sign) || (sign.is_control() && sign != '\n');
    assert!(!out.contains(is_raw), "{out:?}");
    assert!(out.contains("'ä', '表', '🦀' \\u001b\\u007f\\u0080\\u009b2J"), "{out}");
    let line: Value = serde_json::from_str(out.lines().nth(2).expect("a line")).expect("JSON");
    for place in [
        "/text",
        "/user",
        "/database",
        "/error",
        "/blocker/lock",
        "/blocker/statement",
        "/preemptor/name",
        "/further_preemptors/0/name",
        "/files/0/name",
    ] {
        let place = format!("/request{place}");
        assert_eq!(line.pointer(&place).and_then(Value::as_str), Some(&*text), "{place} in {line}");
    }
}

#[test]
fn sums_of_a_recording_are_one_screen_and_all_by_details() {
    let sandbox = Sandbox::new();
    write_trace(&sandbox, &[], TraceLedger { missed_events: 3, ..TraceLedger::default() });
    let short = sandbox.run("trace it.trace --summary").fine();
    let short = short.prints(&[
        "0 requests in 1.0 s\n",
        "  recorded      from then to later\n",
        "  ! 3 events of some process that may have been missed",
        "--details prints the rest",
    ]);
    assert!(short.out.lines().count() <= 45 && !short.out.contains("Tracing"), "{short:?}");
    let whole = sandbox.run("trace it.trace --summary --details").fine();
    let whole = whole.prints(&["Tracing ended", "\nrequests     0 started", "! 3 events"]);
    assert!(!whole.out.contains("--details"), "{whole:?}");
}

#[test]
fn a_recording_without_an_end_has_its_throughput() {
    let sandbox = Sandbox::new();
    let request = |end: u64| TracedRequest { end: MonoNanos(end), ..full_of("DO 1") };
    let requests = [request(4_000_000_000), request(5_000_000_000)];
    write_trace(&sandbox, &requests, TraceLedger::default());
    let mut recording = TestRecording::read(&sandbox.path("it.trace"));
    recording.end = None;
    recording.write(&sandbox.path("cut.trace"));
    let ran = sandbox.run("trace cut.trace --summary").with(4, &["throughput 0 queries/sec"]);
    assert!(!ran.out.contains("--details"), "{ran:?}");
    // Up to where one is damaged, too.
    let mut damaged = std::fs::read(sandbox.path("cut.trace")).expect("a file");
    *damaged.last_mut().expect("a block") ^= 1;
    std::fs::write(sandbox.path("cut.trace"), damaged).expect("written");
    let ran = sandbox.run("trace cut.trace --summary").with(3, &["throughput 0 queries/sec"]);
    ran.stderr_has(&["its contents have changed"]);
}

#[test]
fn sums_of_a_recording_are_a_page_and_markdown_too() {
    let sandbox = Sandbox::new();
    write_trace(&sandbox, &[], TraceLedger::default());
    let ran = sandbox.run("trace it.trace --summary --html t.html").fine();
    ran.prints(&["Tracing ended", "Report: t.html\n", "requests     0 started"]);
    let page = std::fs::read_to_string(sandbox.path("t.html")).expect("a page");
    assert!(page.contains("<h2>Ledger</h2>\n<pre class"), "{page}");
    assert!(page.contains(">requests     0 started"), "{page}");
    assert!(page.contains("<dt>recorded</dt><dd>from then to later</dd>"), "{page}");
    let ran = sandbox.run("trace it.trace --summary --markdown").fine();
    let first = "## 0 requests in 1.0 s\n\n- recorded: from then to later\n- complete: nothing is";
    assert!(ran.out.starts_with(first), "{ran:?}");
    assert!(ran.out.contains("\n### Ledger\n\n    requests     0 started"), "{ran:?}");
    // What it reads stays as it is.
    let recording = std::fs::read(sandbox.path("it.trace")).expect("a recording");
    for flags in ["", "--markdown", "--json"] {
        let line = format!("trace it.trace --summary {flags} --html it.trace");
        sandbox.run(&line).refused(2, &["it.trace is a file that this command reads"]);
        assert_eq!(std::fs::read(sandbox.path("it.trace")).expect("there"), recording);
    }
    sandbox.run("trace it.trace --html t.html").refused(2, &["add --summary"]);
    sandbox.run("trace --summary --html t.html").refused(2, &["--html needs a recording"]);
    // Nothing is printed before it is known whether the page has a place.
    let line = "trace it.trace --summary --html no/t.html";
    sandbox.run(line).refused(3, &["cannot write no/t.html"]);
}
