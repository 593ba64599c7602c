//! Causes that are planted: the right part of the responses grows by what was planted, and the
//! advice names it.

use super::run_waits::NamedHog;
use super::*;
use crate::given_server::PRODUCTS;
use crate::relay::{Relay, RelayPace};
use crate::sandbox::number;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far what is found may be from what was planted.
const TOLERANCE: RangeInclusive<f64> = 0.95..=1.05;

/// The same where others' work on the same CPU takes a share that no test can plant or know: waits
/// that last for more stints than are kept have no name in part.
const CPU_TOLERANCE: RangeInclusive<f64> = 0.7..=1.05;

/// A traced run, and the advice on it.
struct ExplainedRun {
    record: Value,
    advice: Value,
}

impl ExplainedRun {
    /// Runs a load; `None` without eBPF.
    fn of(line: &str) -> Option<Self> {
        Self::of_in(&Sandbox::new(), line, |_| {})
    }

    /// The same in a sandbox, with something that happens meanwhile.
    fn of_in(sandbox: &Sandbox, line: &str, meanwhile: impl FnOnce(u32)) -> Option<Self> {
        let _ = std::fs::remove_dir_all(sandbox.path("r"));
        let load = "--warmup 300ms --trace --out r --json";
        let running = sandbox.start(&format!("run {line} {load}"));
        meanwhile(running.pid());
        let ran = running.end();
        let record: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        if record["trace"].is_null() {
            not_tested(&record["validity"].to_string());
            return None;
        }
        let join = &record["trace"]["join"];
        assert_eq!((&join["unmatched"], &join["ambiguous"]), (&0.into(), &0.into()), "{join}");
        let advice = sandbox.run("explain r --json").fine().json();
        Some(Self { record, advice })
    }

    fn part_us(&self, part: &str) -> f64 {
        self.record["budget_us"][part].as_f64().unwrap_or_default()
    }

    /// How long a commit was blocked in its sync, or woken from it without a CPU.
    fn commit_us(&self) -> f64 {
        let mut statements = self.record["statements"].as_array().expect("a list").iter();
        let commit = statements.find(|one| one["name"] == "commit").expect("it commits");
        let part = |part: &&str| commit["budget_us"][*part].as_f64();
        ["sync", "runq_preempted", "runq_woken"].iter().filter_map(part).sum()
    }

    /// Whether a rule gives advice with these words in it.
    fn advises(&self, rule: &str, words: &[&str]) {
        let mut pieces = self.advice["advice"].as_array().expect("a list").iter();
        let piece = pieces.find(|piece| piece["rule"] == rule);
        let piece = piece.unwrap_or_else(|| panic!("no {rule}: {:#}", self.advice)).to_string();
        words.iter().for_each(|words| assert!(piece.contains(words), "{words}: {piece}"));
    }
}

/// What other processes of a busy machine make of any response.
const BUSY: [&str; 4] = ["lag", "runq_preempted", "runq_woken", "server_queue"];

/// The planting is repeated so often while the machine is too busy to find it.
const ATTEMPTS: usize = 4;

/// Two at once would plant in each other's runs.
static PLANTING: Mutex<()> = Mutex::new(());

/// What was found of something is what was planted, in one of some attempts.
fn is_found(attempt: impl FnMut() -> Option<(f64, f64)>) {
    is_found_within(&TOLERANCE, attempt);
}

fn is_found_within(
    tolerance: &RangeInclusive<f64>,
    mut attempt: impl FnMut() -> Option<(f64, f64)>,
) {
    let _alone = PLANTING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some((found, planted)) = attempt() else { return };
        if tolerance.contains(&(found / planted)) {
            return;
        }
        seen.push(format!("{found} of {planted}"));
    }
    panic!("{seen:#?}");
}

/// By how much these parts have grown, and by how much the responses, without what a busy machine
/// makes of them. Unit: microseconds.
fn growth(without: &ExplainedRun, with: &ExplainedRun, parts: &[&str]) -> (f64, f64) {
    let grown = |part: &str| with.part_us(part) - without.part_us(part);
    let sum = |parts: &[&str]| parts.iter().map(|part| grown(part)).sum::<f64>();
    (sum(parts), grown("total") - sum(&BUSY))
}

#[test]
fn a_delay_of_the_network_is_the_wire() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let delays = [Duration::ZERO, Duration::from_millis(2)];
        let paces = delays.map(|delay| RelayPace { delay, ..RelayPace::default() });
        is_found(|| {
            let relays =
                paces.map(|pace| Relay::start(Ipv4Addr::LOCALHOST, server.server.port(), pace));
            let runs = relays.each_ref().map(|relay| {
                let target = server.target_at(server.server.user(), "", relay.at);
                let load = "--connections 2 --rate 100/s --time 3s";
                ExplainedRun::of(&format!("--query 'SELECT 1' --target '{target}' {load}"))
            });
            let [Some(without), Some(with)] = runs else { return None };
            let [before, held] = relays.each_ref().map(Relay::mean_hold);
            with.advises("round_trips", &["round trip"]);
            // There and back.
            Some((growth(&without, &with, &["wire"]).0, 2e6 * (held - before).as_secs_f64()))
        });
    }
}

#[test]
fn a_client_that_reads_slowly_is_the_net() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let pauses = [Duration::ZERO, Duration::from_micros(500)];
        let series = match product {
            Product::Postgres => "generate_series(1, 40)",
            _ => "seq_1_to_40",
        };
        let query = format!("SELECT REPEAT('x', 1000000) FROM {series}");
        is_found(|| {
            let runs = pauses.map(|pause| {
                let pace = RelayPace { pause, ..RelayPace::default() };
                let relay = Relay::start(Ipv4Addr::LOCALHOST, server.server.port(), pace);
                let target = server.target_at(server.server.user(), "", relay.at);
                let load = "--connections 1 --transactions 4";
                ExplainedRun::of(&format!("--query \"{query}\" --target '{target}' {load}"))
            });
            let [Some(without), Some(with)] = runs else { return None };
            let budget = &with.record["budget_us"];
            assert!(with.part_us("net") > 2.0 * with.part_us("wire"), "{budget}");
            with.advises("network", &["did not read", "fewer and smaller rows"]);
            Some(growth(&without, &with, &["net", "wire"]))
        });
    }
}

/// Has a server run on one CPU, with all that it starts later.
fn pin(server: &GivenServer, cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    let tasks = format!("/proc/{}/task", server.server.pid());
    for task in std::fs::read_dir(tasks).expect("it runs").flatten() {
        let tid = task.file_name().to_str().and_then(|name| name.parse().ok());
        let pid = tid.and_then(Pid::from_raw).expect("a number");
        // One that has just ended needs none.
        let _ = sched_setaffinity(Some(pid), &set);
    }
}

/// CPU time of processes so far. Unit: seconds.
fn cpu_s(pids: &[u32]) -> f64 {
    let of = |pid: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("it runs");
        text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds") / 1e9
    };
    pids.iter().map(of).sum()
}

/// A server that always wants a CPU waits while others have it.
#[test]
fn busy_processes_on_the_server_s_cpu_are_the_run_queue() {
    let _alone = run_waits::FIRST_CPU.lock().unwrap_or_else(PoisonError::into_inner);
    let cpu = run_waits::first_cpu();
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        pin(&server, cpu);
        let query = match product {
            Product::Postgres => "SELECT count(*) FROM generate_series(1, 40000)",
            _ => "SELECT BENCHMARK(20000, MD5('a'))",
        };
        let load = "--connections 1 --time 3s";
        let line = format!("--query \"{query}\" --target '{}' {load}", server.target());
        is_found_within(&CPU_TOLERANCE, || {
            let sandbox = Sandbox::new();
            let hogs = NamedHog::start_some(&sandbox, cpu);
            let pids: Vec<u32> = hogs.iter().map(NamedHog::pid).collect();
            let mut per_s = 0.0;
            let with = ExplainedRun::of_in(&sandbox, &line, |dbtime| {
                driven::wait_for_thread(dbtime, "load");
                std::thread::sleep(Duration::from_millis(500));
                let (begin, before) = (Instant::now(), cpu_s(&pids));
                std::thread::sleep(Duration::from_millis(2_000));
                per_s = (cpu_s(&pids) - before) / begin.elapsed().as_secs_f64();
            })?;
            with.advises("cpu_queue", &["hog had the CPU in", "stop hog"]);
            let rows = with.record["cpu_holders"].as_array().expect("a list");
            let hogs = rows.iter().filter(|row| row["process"] == "hog");
            let found: f64 = hogs.filter_map(|row| row["wait_s"].as_f64()).sum();
            let runq = run_waits::part_s(&with.record, "runq_preempted");
            assert!(found <= 1.01 * runq, "{found} of {runq}");
            Some((found, per_s * number(&with.record, "/window/measure_s")))
        });
    }
}

/// Holds the row for `HOLD`, again and again.
fn hold_row(server: &GivenServer, is_over: &AtomicBool) {
    let server = server.server.server().with_database("d");
    let mut session = server.connect(None).expect("it lets us in");
    while !is_over.load(Ordering::Relaxed) {
        for sql in ["BEGIN", "UPDATE l SET n = n + 1 WHERE id = 1"] {
            session.query(sql).expect("nobody is in the way for long");
        }
        std::thread::sleep(HOLD);
        session.query("COMMIT").expect("its own transaction");
    }
}

const HOLD: Duration = Duration::from_millis(30);

#[test]
fn a_lock_that_another_session_holds_is_the_lock() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        server.sql("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
        server.sql("INSERT INTO l VALUES (1, 0)");
        let line = format!(
            "--query 'UPDATE l SET n = n + 2 WHERE id = 1' --target '{}' --connections 1 --time 3s",
            server.target()
        );
        is_found(|| {
            let without = ExplainedRun::of(&line)?;
            let is_over = AtomicBool::new(false);
            let with = std::thread::scope(|scope| {
                scope.spawn(|| hold_row(&server, &is_over));
                let with = ExplainedRun::of(&line);
                is_over.store(true, Ordering::Relaxed);
                with
            })?;
            let (found, planted) = growth(&without, &with, &["lock"]);
            assert!(found > 0.5 * HOLD.as_secs_f64() * 1e6, "{found}");
            with.advises("lock_waits", &["were for COMMIT", "its client keeps"]);
            Some((found, planted))
        });
    }
}

/// One lock that all sessions take by turns, each for 2 ms.
#[test]
fn a_hot_spot_is_the_lock() {
    for (product, query) in [
        (Product::Mariadb, "SELECT GET_LOCK('hot', 10) + SLEEP(0.002) + RELEASE_LOCK('hot')"),
        (Product::Postgres, "SELECT pg_advisory_xact_lock(1), pg_sleep(0.002)"),
    ] {
        let server = GivenServer::start(product, &[]);
        is_found(|| {
            let runs = [1, 6].map(|connections| {
                let load = format!("--connections {connections} --time 2s");
                let target = server.target();
                ExplainedRun::of(&format!("--query \"{query}\" --target '{target}' {load}"))
            });
            let [Some(without), Some(with)] = runs else { return None };
            with.advises("lock_waits", &["look at the application"]);
            Some(growth(&without, &with, &["lock"]))
        });
    }
}

#[test]
fn a_missing_index_is_the_cpu() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let series = match product {
            Product::Postgres => "SELECT x, x FROM generate_series(1, 50000) AS x",
            _ => "SELECT seq, seq FROM seq_1_to_50000",
        };
        server.sql("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
        server.sql(&format!("INSERT INTO l {series}"));
        let [analyze, drop] = match product {
            Product::Postgres => ["VACUUM ANALYZE l", "DROP INDEX by_n"],
            _ => ["ANALYZE TABLE l", "DROP INDEX by_n ON l"],
        };
        let line = format!(
            "--query 'SELECT id FROM l WHERE n = 4711' --target '{}' --connections 1 --time 2s",
            server.target()
        );
        is_found(|| {
            server.sql("CREATE INDEX by_n ON l (n)");
            server.sql(analyze);
            let without = ExplainedRun::of(&line)?;
            server.sql(drop);
            let with = ExplainedRun::of(&line)?;
            with.advises("server_cpu", &["index", "rows"]);
            Some(growth(&without, &with, &["cpu"]))
        });
    }
}

/// Compiles the library that makes syncs slow, and makes the files that it uses.
fn slow_sync(sandbox: &Sandbox) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/slow_sync.c");
    let library = sandbox.path("slow_sync.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(library).args([source, "-ldl"]);
    assert!(compiler.status().expect("a C compiler").success());
    for (name, length) in [("scratch", 64 << 10), ("totals", 4096)] {
        sandbox.write(name, &"\0".repeat(length));
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        std::fs::set_permissions(sandbox.path(name), all).expect("it is ours");
    }
    sandbox.open_to_all();
}

/// How long the thread that synced most often was off the CPU each time. Unit: microseconds.
fn blocked_us(sandbox: &Sandbox) -> f64 {
    let totals = std::fs::read(sandbox.path("totals")).expect("a file");
    let number = |row: &[u8], at: usize| {
        u64::from_ne_bytes(row[8 * at..8 * at + 8].try_into().expect("eight bytes"))
    };
    let rows = totals.chunks_exact(24).filter(|row| number(row, 1) > 0);
    let most = rows.max_by_key(|row| number(row, 1)).expect("somebody syncs");
    number(most, 2) as f64 / number(most, 1) as f64 / 1e3
}

#[test]
fn a_slow_disk_is_the_sync() {
    for product in PRODUCTS {
        is_found(|| {
            let sandbox = Sandbox::new();
            slow_sync(&sandbox);
            let path = |name: &str| sandbox.path(name).display().to_string();
            let [library, file, totals] = ["slow_sync.so", "scratch", "totals"].map(path);
            let environment = [
                format!("LD_PRELOAD={library}"),
                format!("SLOW_SYNC_FILE={file}"),
                format!("SLOW_SYNC_TOTALS={totals}"),
                "SLOW_SYNC_MS=8".to_owned(),
            ];
            let environment = environment.map(|set| format!("--server-env {set}")).join(" ");
            let load = "--connections 1 --time 3s";
            let line = format!("tpcb --target {} {load} {environment}", product.name());
            let with = ExplainedRun::of_in(&sandbox, &line, |_| {})?;
            let planted = blocked_us(&sandbox);
            assert!(planted > 2_000.0, "{planted}");
            with.advises("log_sync", &["in tpcb: commit", "faster syncs"]);
            Some((with.commit_us(), planted))
        });
    }
}

/// The driver is stopped so long each time.
const STOP: Duration = Duration::from_millis(100);

/// What is due while the driver is stopped goes out late: by half a stop, in the mean.
#[test]
fn a_driver_that_is_stopped_is_the_driver() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let load = "--connections 64 --rate 200/s --time 4s";
        let line = format!("--query 'SELECT 1' --target '{}' {load}", server.target());
        let stops = |dbtime: u32| {
            driven::wait_for_thread(dbtime, "load");
            let pid = Pid::from_raw(dbtime.cast_signed()).expect("a process");
            std::thread::sleep(Duration::from_millis(1_000));
            for _ in 0..4 {
                kill_process(pid, Signal::STOP).expect("it runs");
                std::thread::sleep(STOP);
                kill_process(pid, Signal::CONT).expect("it is there");
                std::thread::sleep(Duration::from_millis(300));
            }
        };
        is_found(|| {
            let without = ExplainedRun::of(&line)?;
            let with = ExplainedRun::of_in(&Sandbox::new(), &line, stops)?;
            with.advises("driver_delay", &["this is dbtime itself"]);
            let late = |run: &ExplainedRun| run.part_us("lag") + run.part_us("client");
            let share = 4.0 * STOP.as_secs_f64() / number(&with.record, "/window/measure_s");
            Some((late(&with) - late(&without), share * STOP.as_secs_f64() * 1e6 / 2.0))
        });
    }
}
