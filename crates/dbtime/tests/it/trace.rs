//! `dbtime trace` against servers whose every request is known.
//!
//! It takes a kernel that permits eBPF to whoever runs the tests; where it does not, they say so
//! and do nothing. In CI that is a failure.

mod attaching;
mod batches;
mod cost;
mod cut_errors;
mod driven;
mod early_waits;
mod encrypted;
mod held;
mod holders;
mod hostile;
mod joined;
mod last_words;
mod locks;
mod logins;
mod namespaces;
mod openings;
mod parts;
#[cfg(feature = "planted")]
mod planted;
mod postgres;
mod query_parts;
mod recordings;
mod requests;
mod restarts;
mod rights;
mod rows;
mod run_chains;
mod run_layers;
mod run_stacks;
mod run_waits;
mod statement_file;
mod stopped;
mod sums;
mod ten_thousand;
mod texts;
mod unmeasured;
#[cfg(feature = "versions")]
mod versions;
mod wakes;

use crate::given_server::GivenServer;
use crate::raw_client::RawClient;
use crate::sandbox::{PATIENCE, Sandbox};
use dbtime_model::Product;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A prime, so that no loop hits it by chance.
const MANY: u64 = 1009;

/// A tracer that is attached.
struct Tracer<'a> {
    sandbox: &'a Sandbox,
    /// The server that it was attached to first.
    server: u32,
    child: Child,
    told: BufReader<std::process::ChildStderr>,
}

impl Drop for Tracer<'_> {
    /// Also where a test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a tracer saw.
struct Seen {
    code: Option<i32>,
    requests: Vec<Value>,
    ledger: Value,
}

/// Lines that come within so long, up to one that contains a text.
fn lines_until(tracer: &mut Tracer<'_>, text: &str, patience: Duration) -> Vec<String> {
    let (begin, mut lines) = (Instant::now(), Vec::new());
    loop {
        let left = patience.saturating_sub(begin.elapsed());
        if tracer.told.buffer().is_empty() {
            let mut wait = [PollFd::new(tracer.told.get_ref(), PollFlags::IN)];
            let left = Timespec::try_from(left).expect("a short time");
            if poll(&mut wait, Some(&left)).expect("a pipe") == 0 {
                panic!("no {text:?} within {patience:?}: {lines:#?}");
            }
        }
        let mut line = String::new();
        tracer.told.read_line(&mut line).expect("a line");
        assert!(!line.is_empty(), "it has ended: {lines:#?}");
        lines.push(line);
        if lines.last().is_some_and(|line| line.contains(text)) {
            return lines;
        }
    }
}

/// Reports that nothing can be tested without eBPF, by what dbtime printed.
fn not_tested(printed: &str) {
    assert!(std::env::var_os("CI").is_none(), "eBPF has to be permitted here: {printed}");
    // The test harness would hide what is printed.
    let note = format!("NOT TESTED: no eBPF here: {printed}\n");
    std::io::stderr().write_all(note.as_bytes()).expect("a terminal or a log");
}

/// Waits until every thread of a server waits for something: none has a request in hand that it is
/// yet to read or to end, but those that wait for a lock or for a timer.
pub(crate) fn until_at_rest(server: u32) {
    let is_at_rest = comes_to_rest(server, Duration::from_secs(60));
    assert!(is_at_rest, "the server is at work all the time: {:?}", threads_at_work(server));
}

/// Whether a server comes to rest within so long: some are given more to do all the time.
fn comes_to_rest(server: u32, patience: Duration) -> bool {
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(100));
    // The test itself is never at rest where it looks.
    if server == std::process::id() {
        return true;
    }
    // Twice in a row: between two pieces of its work it may wait for a moment.
    let (mut at_rest, mut since) = (0, BTreeMap::<String, Instant>::new());
    while at_rest < 2 && begun.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(10));
        let at_work = threads_at_work(server);
        since.retain(|thread, _| at_work.contains_key(thread));
        for thread in at_work.into_keys() {
            since.entry(thread).or_insert_with(Instant::now);
        }
        // Who never waits has work of the server's own: no request of a test takes as long.
        let is_at_rest = since.values().all(|since| since.elapsed() > Duration::from_secs(15));
        at_rest = if is_at_rest { at_rest + 1 } else { 0 };
    }
    at_rest == 2
}

/// The threads of a server, or of a process that it started, that have a CPU, or wait for one or
/// for the disk (State in proc(5)), by number and name: where in the kernel.
fn threads_at_work(server: u32) -> BTreeMap<String, String> {
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
    let (server, children) = (server.to_string(), children.unwrap_or_default());
    let processes = std::iter::once(&*server).chain(children.split_whitespace());
    let tasks = processes.filter_map(|one| std::fs::read_dir(format!("/proc/{one}/task")).ok());
    let at_work = |task: std::fs::DirEntry| {
        let read = |file| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let stat = read("stat");
        // The name of a thread stands in parentheses, and may have some itself.
        let (thread, state) = stat.rsplit_once(") ")?;
        let is_at_work = state.starts_with(['R', 'D']);
        is_at_work.then(|| (thread.to_owned(), format!("{} {}", &state[..1], read("wchan"))))
    };
    tasks.flatten().flatten().filter_map(at_work).collect()
}

impl<'a> Tracer<'a> {
    /// Attaches to a server, for JSON; `None` where the kernel permits no eBPF.
    fn attach(sandbox: &'a Sandbox, server: &GivenServer, options: &str) -> Option<Self> {
        Self::start(sandbox, server, &format!("--json --raw-sql {options}"))
    }

    /// The same with these options alone.
    fn start(sandbox: &'a Sandbox, server: &GivenServer, options: &str) -> Option<Self> {
        let (tracer, left_out) = Self::start_of(sandbox, server.server.pid(), options)?;
        assert_eq!(left_out, server.not_measured);
        Some(tracer)
    }

    /// The same of a process that may be no server, with what is not measured of it.
    fn start_of(sandbox: &'a Sandbox, pid: u32, options: &str) -> Option<(Self, String)> {
        Self::of(sandbox, pid, sandbox.command(&format!("trace -p {pid} {options}")))
    }

    /// The same by a command of one's own.
    fn of(sandbox: &'a Sandbox, server: u32, mut command: Command) -> Option<(Self, String)> {
        let out = File::create(sandbox.path("trace.json")).expect("a file");
        let mut child = command.stdout(Stdio::from(out)).spawn().expect("dbtime starts");
        let told = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut tracer = Self { sandbox, server, child, told };
        let mut first = String::new();
        tracer.told.read_line(&mut first).expect("a line");
        if first.contains("CAP_BPF") {
            not_tested(&first);
            return None;
        }
        let mut left_out = String::new();
        while first.starts_with("not measured: ") {
            left_out += &std::mem::take(&mut first);
            tracer.told.read_line(&mut first).expect("a line");
        }
        assert!(first.starts_with("watching "), "{first}");
        Some((tracer, left_out))
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is there");
    }

    /// Ends it by Ctrl-C.
    fn end(self) -> Seen {
        self.interrupt();
        self.ended()
    }

    fn interrupt(&self) {
        // What was said a moment ago has been read by the server, and is over; where clients go on
        // there is no such moment.
        comes_to_rest(self.server, Duration::from_secs(10));
        self.signal(rustix::process::Signal::INT);
    }

    /// Waits until it has printed a text so many times.
    fn until_printed(&self, text: &str, times: usize) {
        let begun = Instant::now();
        while self.printed_so_far().matches(text).count() < times {
            assert!(begun.elapsed() < PATIENCE, "{text} is not printed {times} times");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What it has printed by now; the last line may be half there.
    fn printed_so_far(&self) -> String {
        std::fs::read_to_string(self.sandbox.path("trace.json")).expect("its output")
    }

    /// Waits until it ends by itself; returns its exit code and what it printed.
    fn printed(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("it ends").code();
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.told, &mut said).expect("text");
        assert!(!said.contains("panicked"), "{said}");
        (code, self.printed_so_far())
    }

    /// Ends it by Ctrl-C; what it told of itself, and what it printed.
    fn interrupted(mut self) -> (String, String) {
        self.interrupt();
        self.child.wait().expect("it ends");
        let mut told = String::new();
        std::io::Read::read_to_string(&mut self.told, &mut told).expect("text");
        (told, self.printed_so_far())
    }

    /// Waits until it ends by itself.
    fn ended(self) -> Seen {
        let (code, out) = self.printed();
        let line = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
        let mut lines: Vec<Value> = out.lines().map(line).collect();
        let end = lines.pop().expect("the end");
        // A summary is one document.
        let ledger = end.pointer("/end/ledger").unwrap_or(&end["ledger"]).clone();
        let requests = lines.iter().filter_map(|line| line.get("request").cloned()).collect();
        Seen { code, requests, ledger }
    }
}

impl Seen {
    /// Requests with this command and text.
    fn count(&self, command: &str, text: &str) -> u64 {
        let is_one = |request: &&Value| request["command"] == command && request["text"] == text;
        self.requests.iter().filter(is_one).count() as u64
    }

    fn one(&self, text: &str) -> &Value {
        let mut found = self.requests.iter().filter(|request| request["text"] == text);
        let one = found.next().unwrap_or_else(|| panic!("{text} in {:?}", self.requests));
        assert!(found.next().is_none(), "{text} is there twice");
        one
    }

    fn counted(&self, name: &str) -> u64 {
        counted(&self.ledger, name)
    }

    /// Everything that began is accounted for, and nothing else.
    fn adds_up(&self) -> &Self {
        ledger_adds_up(&self.ledger);
        // What its connection took with it would hide what was miscounted.
        assert_eq!(self.counted("vanished"), 0, "{} {:#?}", self.ledger, self.last_of_each());
        assert_eq!(self.counted("streamed"), self.requests.len() as u64, "{}", self.ledger);
        self
    }

    /// Nothing went wrong on the way. In a guest a run may end before its server has answered what
    /// it asks for each second.
    fn is_clean(&self) -> &Self {
        let cut_short = self.requests.iter().filter(|one| one["outcome"] == "aborted");
        let (expected, odd): (Vec<_>, Vec<_>) =
            cut_short.partition(|one| is_in_guest() && is_of_each_second(one));
        assert!(odd.is_empty(), "{} {odd:?}", self.ledger);
        assert_eq!(self.counted("aborted"), expected.len() as u64, "{}", self.ledger);
        for trouble in ["dropped", "unread", "pipelined_over", "no_storage", "resync"] {
            assert_eq!(self.counted(trouble), 0, "{trouble}: {}", self.ledger);
        }
        self.adds_up()
    }

    /// By connection, for a test that fails: its last request, and when that ended.
    fn last_of_each(&self) -> BTreeMap<u64, String> {
        let of = |one: &Value| {
            let connection = one["connection"].as_u64().unwrap_or_default();
            (connection, format!("{} {} {}", one["command"], one["time_us"], one["text"]))
        };
        self.requests.iter().map(of).collect()
    }
}

/// Whether the tests are on another kernel under an emulation, slow and with all files in memory
/// (`scripts/kernels/guest.sh`).
fn is_in_guest() -> bool {
    std::env::var_os("DBTIME_KERNEL_IS_LISTED").is_some()
}

/// Whether it is what a run asks for each second.
fn is_of_each_second(request: &Value) -> bool {
    let text = request["text"].as_str().unwrap_or_default();
    ["Innodb_os_log_fsyncs", "wal_insert_lsn"].iter().any(|one| text.contains(one))
}

fn counted(ledger: &Value, name: &str) -> u64 {
    ledger[name].as_u64().unwrap_or_else(|| panic!("{name} in {ledger}"))
}

/// A ledger of `--json` adds up as it is printed.
fn ledger_adds_up(ledger: &Value) {
    let sum = |names: &[&str]| names.iter().map(|name| counted(ledger, name)).sum::<u64>();
    let fates = sum(&["ended", "in_flight", "aborted", "partial", "vanished"]);
    assert_eq!(counted(ledger, "started"), fates, "{ledger}");
    let over = sum(&["streamed", "dropped", "not_streamed"]);
    assert_eq!(over, sum(&["ended", "aborted"]), "{ledger}");
}

/// A part of a request, in milliseconds.
fn part_ms(request: &Value, name: &str) -> f64 {
    let part = request["parts_us"][name].as_f64();
    part.unwrap_or_else(|| panic!("{name} in {request}")) / 1e3
}

/// Waits of a request for a CPU, in milliseconds.
fn runq_ms(request: &Value) -> f64 {
    part_ms(request, "runq_preempted") + part_ms(request, "runq_woken")
}

/// The longest wait for a lock lasted from when the request was blocked (after it came, and before
/// it had spent more than it did elsewhere) until some moment of the holder's COMMIT, to 100 µs.
fn waits_for_its_commit(waited: &Value, commit: &Value) {
    let at = |request: &Value, name: &str| request[name].as_f64().expect("a time");
    let parts = waited["parts_us"].as_object().expect("parts").values();
    let parts: f64 = parts.map(|part| part.as_f64().expect("a time")).sum();
    let (came, length) = (at(waited, "time_us"), at(&waited["blocker"], "wait_us"));
    let begun = at(commit, "time_us");
    let (first, last) = (came + length, came + parts);
    let is_within = last >= begun - 100.0 && first <= begun + at(commit, "response_us") + 100.0;
    assert!(is_within && at(&waited["parts_us"], "lock") >= length, "{waited} {commit}");
}

/// Parts add up to their responses, to 5 µs or 3 %.
fn parts_add_up(requests: &[Value]) {
    let is_off = |request: &&Value| {
        let of = |name: &str| request[name].as_f64().expect("a time");
        of("unexplained_us").abs() > (0.03 * of("response_us")).max(5.0)
    };
    let off: Vec<&Value> = requests.iter().filter(is_off).collect();
    assert!(off.is_empty(), "{off:?}");
    requests.iter().for_each(waits_are_within_their_parts);
}

/// What kept a thread from reading a request is no longer than that lay in the socket, and nobody
/// had the CPU for longer than it was waited for, before the read and behind it.
fn waits_are_within_their_parts(request: &Value) {
    let us = |of: &Value, name: &str| of[name].as_f64().unwrap_or_default();
    let early = &request["server_queue_parts_us"];
    let parts = early.as_object().into_iter().flat_map(|parts| parts.values());
    let sum: f64 = parts.filter_map(Value::as_f64).sum();
    assert!(sum <= us(request, "server_queue_us") + 0.01, "{request}");
    let further = request["further_preemptors"].as_array().into_iter().flatten();
    let named: f64 = further.chain([&request["preemptor"]]).map(|one| us(one, "wait_us")).sum();
    let runq = ["runq_preempted", "runq_woken"]
        .map(|part| us(&request["parts_us"], part) + us(early, part));
    assert!(named <= runq.iter().sum::<f64>() + 0.01, "{request}");
}

/// A counter of the server's own.
fn status(server: &GivenServer, name: &str) -> u64 {
    let rows = server.sql(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).rows;
    rows[0][1].as_deref().expect("a counter").parse().expect("a number")
}
