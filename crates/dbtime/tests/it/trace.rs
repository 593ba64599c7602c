//! `dbtime trace` against servers whose every request is known.
//!
//! It takes a kernel that permits eBPF to whoever runs the tests; where it does not, they say so
//! and do nothing. In CI that is a failure.

use crate::given_server::GivenServer;
use crate::raw_client::RawClient;
use crate::sandbox::Sandbox;
use dbtime_lab::servers::Product;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A prime, so that no loop hits it by chance.
const MANY: u64 = 1009;

/// A tracer that is attached.
struct Tracer<'a> {
    sandbox: &'a Sandbox,
    child: Child,
    told: BufReader<std::process::ChildStderr>,
}

/// What a tracer saw.
struct Seen {
    code: Option<i32>,
    requests: Vec<Value>,
    ledger: Value,
}

impl<'a> Tracer<'a> {
    /// Attaches to a server, for JSON; `None` where the kernel permits no eBPF.
    fn attach(sandbox: &'a Sandbox, server: &GivenServer, options: &str) -> Option<Self> {
        Self::start(sandbox, server, &format!("--json --raw-sql {options}"))
    }

    /// The same with these options alone.
    fn start(sandbox: &'a Sandbox, server: &GivenServer, options: &str) -> Option<Self> {
        let pid = server.server.pid();
        let mut command = sandbox.command(&format!("trace -p {pid} {options}"));
        let out = File::create(sandbox.path("trace.json")).expect("a file");
        let mut child = command.stdout(Stdio::from(out)).spawn().expect("dbtime starts");
        let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut first = String::new();
        told.read_line(&mut first).expect("a line");
        if first.contains("CAP_BPF") {
            assert!(std::env::var_os("CI").is_none(), "eBPF has to be permitted here: {first}");
            // The test harness would hide what is printed.
            let note = format!("NOT TESTED: no eBPF here: {first}");
            std::io::stderr().write_all(note.as_bytes()).expect("somebody listens");
            child.wait().expect("it has ended");
            return None;
        }
        assert!(first.starts_with("watching "), "{first}");
        Some(Self { sandbox, child, told })
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
        // What was said a moment ago has been read by the server, and is over.
        std::thread::sleep(Duration::from_millis(100));
        self.signal(rustix::process::Signal::INT);
    }

    /// Waits until it ends by itself; returns its exit code and what it printed.
    fn printed(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("it ends").code();
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.told, &mut said).expect("text");
        assert!(!said.contains("panicked"), "{said}");
        let out = std::fs::read_to_string(self.sandbox.path("trace.json")).expect("its output");
        (code, out)
    }

    /// Waits until it ends by itself.
    fn ended(self) -> Seen {
        let (code, out) = self.printed();
        let line = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
        let mut requests: Vec<Value> = out.lines().map(line).collect();
        let ledger = requests.pop().expect("a ledger")["ledger"].clone();
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
        self.ledger[name].as_u64().unwrap_or_else(|| panic!("{name} in {}", self.ledger))
    }

    /// Everything that began is accounted for, and nothing else.
    fn adds_up(&self) -> &Self {
        let of = |name: &str| self.counted(name);
        let known = of("ended") + of("in_flight") + of("aborted") + of("partial");
        assert_eq!(of("started"), known, "{}", self.ledger);
        assert_eq!(of("streamed") + of("dropped"), of("ended") + of("aborted"), "{}", self.ledger);
        assert_eq!(of("streamed"), self.requests.len() as u64, "{}", self.ledger);
        self
    }

    /// Nothing went wrong on the way.
    fn is_clean(&self) -> &Self {
        for trouble in ["dropped", "unread", "overlaid", "no_storage", "out_of_step", "aborted"] {
            assert_eq!(self.counted(trouble), 0, "{trouble}: {}", self.ledger);
        }
        self.adds_up()
    }
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

/// Parts add up to their response, to 5 µs or 3 %, of all requests but one in a hundred: a thread
/// that loses the CPU while it is looked at may be counted wrong.
fn parts_add_up(requests: &[Value]) {
    let is_off = |request: &&Value| {
        let of = |name: &str| request[name].as_f64().expect("a time");
        of("unexplained_us").abs() > (0.03 * of("response_us")).max(5.0)
    };
    let off: Vec<&Value> = requests.iter().filter(is_off).collect();
    assert!(off.len() <= 1 + requests.len() / 100, "{off:?}");
}

/// A counter of the server's own.
fn status(server: &GivenServer, name: &str) -> u64 {
    let sql = format!(
        "SELECT variable_value FROM information_schema.global_status \
         WHERE variable_name = '{name}'"
    );
    server.sql(&sql).value().expect("a counter").parse().expect("a number")
}

#[test]
fn every_request_is_seen_once_by_text_prepared_and_ahead_of_answers() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let before = [status(&server, "Com_do"), status(&server, "Com_stmt_execute")];
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let mut client = RawClient::connect(&server);
    (0..MANY).for_each(|_| client.query("DO 1"));
    client.queries_at_once("DO 2", MANY as usize);
    let id = client.prepare("DO ?+3");
    (0..MANY).for_each(|_| client.execute(id, 5));
    client.ping();
    drop(client);
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    assert_eq!(seen.count("03:QUERY", "DO 1"), MANY);
    assert_eq!(seen.count("03:QUERY", "DO 2"), MANY);
    assert_eq!(seen.count("16:PREPARE", "DO ?+3"), 1);
    assert_eq!(seen.count("17:EXECUTE", "DO ?+3"), MANY);
    assert_eq!((seen.count("0e:PING", ""), seen.count("01:QUIT", "")), (1, 1));
    let after = [status(&server, "Com_do"), status(&server, "Com_stmt_execute")];
    // MariaDB counts what a prepared statement does as well.
    assert_eq!([after[0] - before[0], after[1] - before[1]], [3 * MANY, MANY]);
}

#[test]
fn many_connections_by_socket_and_tcp_are_seen_to_the_last_request() {
    for settings in [&[][..], &[("thread_handling", "pool-of-threads")][..]] {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, settings));
        let run = |target: &str, protocol: &str| {
            let line = format!(
                "run --query 'SELECT 4711' --connections 16 --transactions 5003 \
                 --protocol {protocol} --target '{target}' --no-record"
            );
            sandbox.run(&line).exits(0);
        };
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let before = [status(&server, "Com_select"), status(&server, "Com_stmt_execute")];
        run(&server.target(), "text");
        run(&server.target_tcp(), "prepared");
        let after = [status(&server, "Com_select"), status(&server, "Com_stmt_execute")];
        let seen = tracer.end();
        seen.is_clean();
        // What asks for the counters is a SELECT itself, and the driver looks around with others.
        let is_select = |request: &&Value| {
            let text = request["text"].as_str().unwrap_or_default().trim_start();
            let begins = text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("SELECT"));
            begins && request["command"] != "16:PREPARE" && request["command"] != "19:CLOSE_STMT"
        };
        let selects = seen.requests.iter().filter(is_select).count() as u64;
        let executed =
            seen.requests.iter().filter(|request| request["command"] == "17:EXECUTE").count();
        // The first request for a counter is not among its differences, the last two are.
        assert_eq!(executed as u64, after[1] - before[1], "{settings:?}");
        assert!(seen.count("03:QUERY", "SELECT 4711") >= 5003, "{settings:?}");
        assert!(selects >= after[0] - before[0] && selects <= after[0] - before[0] + 4);
    }
}

#[test]
fn a_response_is_as_long_as_the_server_took_and_a_text_as_long_as_it_was() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO SLEEP(0.05)");
    let long = format!("DO '{}'", "x".repeat(5000));
    client.query(&long);
    client.query_fails("DO nothing_of_the_kind()");
    client.query("DO 1; DO 2; DO 3");
    drop(client);
    let seen = tracer.end();
    seen.is_clean();
    let slept = seen.one("DO SLEEP(0.05)")["response_us"].as_f64().expect("a time");
    assert!((50_000.0..1_000_000.0).contains(&slept), "{slept}");
    let cut = seen.requests.iter().find(|request| request["text_state"] == "cut").expect("one");
    assert_eq!(cut["length"], long.len() as u64 + 1);
    let text = cut["text"].as_str().expect("a text");
    assert!(long.starts_with(text) && text.len() == 1023, "{}", text.len());
    assert_eq!(seen.counted("cut"), 1);
    assert_eq!(seen.one("DO nothing_of_the_kind()")["error"], 1305);
    assert_eq!(seen.one("DO 1; DO 2; DO 3")["fate"], "ended");
}

#[test]
fn a_sleep_is_no_lock_and_a_client_that_does_not_read_is_the_net() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO SLEEP(0.05)");
    client.value_read_late(8_000_000, Duration::from_millis(600));
    client.query("DO BENCHMARK(300000, MD5('a'))");
    drop(client);
    let seen = tracer.end();
    seen.is_clean();
    parts_add_up(&seen.requests);
    let slept = seen.one("DO SLEEP(0.05)");
    assert!(part_ms(slept, "sleep") >= 50.0 && part_ms(slept, "lock") < 1.0, "{slept}");
    let unread = seen.one("SELECT REPEAT('x', 8000000)");
    assert!(part_ms(unread, "net") >= 150.0, "{unread}");
    let busy = seen.one("DO BENCHMARK(300000, MD5('a'))");
    assert!(part_ms(busy, "cpu") > 5.0 && part_ms(busy, "sleep") == 0.0, "{busy}");
}

#[test]
fn a_row_lock_is_waited_for_until_its_holder_commits_and_the_holder_is_named() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    server.sql("CREATE TABLE l (id INT PRIMARY KEY, n INT) ENGINE=InnoDB");
    server.sql("INSERT INTO l VALUES (1, 1)");
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let (mut holder, mut waiter) = (RawClient::connect(&server), RawClient::connect(&server));
    holder.query("BEGIN");
    holder.query("UPDATE d.l SET n = n + 1 WHERE id = 1");
    waiter.ask("UPDATE d.l SET n = n + 10 WHERE id = 1");
    std::thread::sleep(Duration::from_millis(200));
    holder.query("COMMIT");
    waiter.answered();
    let seen = tracer.end();
    seen.adds_up();
    parts_add_up(&seen.requests);
    let (waited, commit) = (seen.one("UPDATE d.l SET n = n + 10 WHERE id = 1"), seen.one("COMMIT"));
    let blocker = &waited["blocker"];
    assert_eq!(blocker["lock"], "row lock", "{waited}");
    assert_eq!(blocker["connection"], commit["connection"], "{waited}");
    assert_eq!(blocker["thread"], commit["thread"], "{waited}");
    assert_eq!(blocker["statement"], "COMMIT", "{waited}");
    // It was blocked soon after it came, until some moment of the holder's COMMIT.
    let at = |request: &Value, name: &str| request[name].as_f64().expect("a time");
    let (came, length) = (at(waited, "time_us"), at(blocker, "wait_us"));
    let (begun, took) = (at(commit, "time_us"), at(commit, "response_us"));
    assert!(came + length <= begun + took, "{waited} {commit}");
    assert!(length >= begun - came - 20_000.0, "{waited} {commit}");
    assert!(part_ms(waited, "lock") * 1e3 >= length);
}

#[test]
fn the_file_that_is_waited_for_is_named_and_so_is_the_time_in_the_socket() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    server.sql("CREATE TABLE f (id INT PRIMARY KEY, n INT) ENGINE=InnoDB");
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    for id in 0..50 {
        // The server has gone to sleep before each, and is woken by it.
        std::thread::sleep(Duration::from_millis(5));
        client.query(&format!("INSERT INTO d.f VALUES ({id}, 1)"));
    }
    drop(client);
    let seen = tracer.end();
    parts_add_up(&seen.requests);
    let inserts: Vec<&Value> =
        seen.requests.iter().filter(|request| request["command"] == "03:QUERY").collect();
    assert_eq!(inserts.len(), 50);
    let named = |request: &&&Value| request["file"]["name"] == "ib_logfile0";
    assert!(inserts.iter().filter(named).count() > 0, "{:?}", inserts[1]);
    let waits = |name| inserts.iter().map(|request| part_ms(request, name)).sum::<f64>();
    assert!(waits("sync") + waits("io_write") > 0.0, "each is on disk before it is answered");
    let queued = inserts.iter().filter(|request| {
        request["server_queue_us"].as_f64().is_some_and(|queue| queue > 0.0 && queue < 1e6)
    });
    assert!(queued.count() > 40, "{:?}", inserts[1]);
}

#[test]
fn who_has_the_cpu_is_named() {
    let sandbox = Sandbox::new();
    let server = GivenServer::start(Product::MariaDb, &[]);
    let cpu = rustix::thread::sched_getaffinity(None).expect("CPUs");
    let only = (0..1024).find(|cpu_number| cpu.is_set(*cpu_number)).expect("a CPU");
    let mut set = rustix::thread::CpuSet::new();
    set.set(only);
    let all_threads = std::fs::read_dir(format!("/proc/{}/task", server.server.pid()));
    for thread in all_threads.expect("its threads").flatten() {
        let id: i32 = thread.file_name().to_string_lossy().parse().expect("a number");
        let id = rustix::process::Pid::from_raw(id);
        // Some of them have ended meanwhile.
        let _ = rustix::thread::sched_setaffinity(id, &set);
    }
    let mut hog = std::process::Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .spawn()
        .expect("a shell");
    let pid = rustix::process::Pid::from_child(&hog);
    rustix::thread::sched_setaffinity(Some(pid), &set).expect("it is ours");
    let mut client = RawClient::connect(&server);
    // Several tens of slices.
    let work = "DO BENCHMARK(3000000, MD5('a'))";
    let lines = Tracer::attach(&sandbox, &server, "").map(|tracer| {
        client.query(work);
        tracer.end()
    });
    let sums = Tracer::start(&sandbox, &server, "--summary").map(|tracer| {
        client.query(work);
        tracer.interrupt();
        tracer.printed().1
    });
    hog.kill().expect("it is there");
    hog.wait().expect("it ends");
    let Some((lines, sums)) = lines.zip(sums) else { return };
    parts_add_up(&lines.requests);
    let busy = lines.one(work);
    assert!(runq_ms(busy) > 0.2 * part_ms(busy, "cpu"), "{busy}");
    assert!(busy["preemptor"]["name"].is_string(), "{busy}");
    // In a single wait somebody else may have been first; in all it is the hog.
    let (_, preemptors) = sums.split_once("Pre-emptors").expect("there were some");
    let first = preemptors.lines().nth(2).expect("a row");
    assert!(first.trim_start().starts_with("sh "), "{sums}");
}

#[test]
fn what_is_under_way_at_either_end_is_accounted_for() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let (mut early, mut late) = (RawClient::connect(&server), RawClient::connect(&server));
    early.ask("DO SLEEP(4)");
    std::thread::sleep(Duration::from_millis(100));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    early.answered();
    early.query("DO 1");
    late.ask("DO SLEEP(3)");
    let seen = tracer.end();
    late.answered();
    seen.adds_up();
    assert_eq!((seen.counted("partial"), seen.counted("in_flight")), (1, 1), "{}", seen.ledger);
    assert_eq!(seen.requests.len(), 1);
    seen.one("DO 1");
}

#[test]
fn a_client_that_does_not_wait_leaves_an_aborted_request() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.ask("DO SLEEP(0.3)");
    client.hang_up();
    std::thread::sleep(Duration::from_millis(600));
    let seen = tracer.end();
    seen.adds_up();
    assert_eq!(seen.counted("aborted"), 1, "{}", seen.ledger);
    assert_eq!(seen.one("DO SLEEP(0.3)")["fate"], "aborted");
}

#[test]
fn clients_that_go_without_a_word_are_no_trouble_and_those_of_other_sockets_are_not_seen() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO 1");
    client.hang_up();
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean().one("DO 1");
    let port = server.server.port();
    let tracer = Tracer::attach(&sandbox, &server, &format!("--port {port}")).expect("as before");
    let mut client = RawClient::connect(&server);
    client.query("DO 2");
    let line = format!("run --query 'DO 3' --transactions 3 --target '{}'", server.target_tcp());
    sandbox.run(&format!("{line} --connections 1 --protocol text --no-record")).exits(0);
    let seen = tracer.end();
    seen.is_clean();
    assert_eq!(seen.count("03:QUERY", "DO 2"), 0);
    assert!(seen.count("03:QUERY", "DO 3") >= 3, "{:?}", seen.requests);
}

#[test]
fn a_flood_into_a_tiny_buffer_is_counted_to_the_unit() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--buffer 4 --strict") else { return };
    let before = status(&server, "Com_do");
    tracer.signal(rustix::process::Signal::STOP);
    let mut client = RawClient::connect(&server);
    (0..MANY).for_each(|_| client.query("DO 1"));
    drop(client);
    tracer.signal(rustix::process::Signal::CONT);
    let done = status(&server, "Com_do") - before;
    let seen = tracer.end();
    assert_eq!(seen.code, Some(4), "{}", seen.ledger);
    seen.adds_up();
    assert_eq!(done, MANY);
    assert!(seen.counted("dropped") > MANY / 2, "{}", seen.ledger);
    assert!(seen.counted("ended") >= MANY, "{}", seen.ledger);
}

#[test]
fn it_ends_with_its_server() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO 1");
    drop(server);
    let seen = tracer.ended();
    assert_eq!(seen.code, Some(0));
    assert_eq!(seen.count("03:QUERY", "DO 1"), 1);
}

#[test]
fn filters_and_lines_show_what_is_wanted() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let options = "--command query --match 'do ' --slow 20ms -n 1";
    let Some(tracer) = Tracer::attach(&sandbox, &server, options) else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO 1");
    client.ping();
    client.query("DO SLEEP(0.03)");
    let seen = tracer.ended();
    assert_eq!(seen.requests.len(), 1);
    seen.one("DO SLEEP(0.03)");
    // Without --raw-sql no literal is shown.
    let tracer = Tracer::start(&sandbox, &server, "").expect("as before");
    client.query("DO 'secret', 4711");
    tracer.interrupt();
    let (code, out) = tracer.printed();
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("03:QUERY") && out.contains("DO ?, ?"), "{out}");
    assert!(!out.contains("secret") && out.contains("1 started = 1 ended"), "{out}");
}

#[test]
fn a_summary_counts_every_statement_and_a_histogram_too() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    for options in ["--summary --every 300ms", "--histogram"] {
        let Some(tracer) = Tracer::start(&sandbox, &server, options) else { return };
        let mut client = RawClient::connect(&server);
        (0..MANY).for_each(|_| client.query("DO 1"));
        client.query("DO SLEEP(0.02)");
        client.query_fails("DO nothing_of_the_kind()");
        // No statements.
        client.ping();
        drop(client);
        std::thread::sleep(Duration::from_millis(700));
        tracer.interrupt();
        let (code, out) = tracer.printed();
        assert_eq!(code, Some(0), "{out}");
        let counts = out.lines().filter_map(|line| line.split_once(" |"));
        let counts = counts.filter_map(|(_, row)| row.split_whitespace().last());
        let sum: u64 = counts.map(|count| count.parse::<u64>().expect("a count")).sum();
        assert_eq!(sum, MANY + 2, "{out}");
        assert!(out.contains("1,013 started = 1,013 ended + 0 in flight"), "{out}");
        let told = [
            "Tracing started at ",
            "   throughput ",
            "Tracing ended   at ",
            "1,011 in ",
            "; 1 answered with an error",
            "was not pre-empted",
            "  sleep ",
            "  unexplained ",
        ];
        for text in told.into_iter().filter(|_| options.contains("summary")) {
            assert!(out.contains(text), "`{text}`: {out}");
        }
    }
}

#[test]
fn what_cannot_be_watched_is_said_with_a_remedy() {
    let sandbox = Sandbox::new();
    let own = std::process::id();
    sandbox.run(&format!("trace -p {own}")).refused(3, &["is no server", "--server-kind"]);
    sandbox.run("trace -p 4194305").refused(3, &["4194305"]);
    sandbox.run("trace --buffer 5").refused(2, &["power of two"]);
    sandbox.run("trace --slow 5").refused(2, &["--slow"]);
    let server = GivenServer::start(Product::MariaDb, &[]);
    // As nobody, from a place that nobody may enter.
    let program = sandbox.path("dbtime");
    std::fs::copy(env!("CARGO_BIN_EXE_dbtime"), &program).expect("a copy");
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    for path in [sandbox.path("."), program.clone()] {
        std::fs::set_permissions(path, std::fs::Permissions::clone(&everybody)).expect("allowed");
    }
    let mut command = std::process::Command::new(program);
    command.args(["trace", "-p", &server.server.pid().to_string()]).current_dir("/");
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let output = command.output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("CAP_SYS_PTRACE") || told.contains("CAP_BPF"), "{told}");
}
