//! Time in which a server may not run: stopped by a signal, frozen or throttled with its control
//! group. Nobody has the CPU in its stead.

use super::*;
use crate::given_server::PRODUCTS;
use crate::raw_postgres::RawPostgres;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// How long a server is kept from running.
const STOP: Duration = Duration::from_secs(1);

/// Seconds of CPU: it goes on when the server is stopped, though the test stood still before.
const BUSY: &str = "DO BENCHMARK(150000000, 1 + 1)";

/// How long somebody else has a CPU: not as long as a share is used up for.
const TURN: Duration = Duration::from_millis(70);
const MOST_TURNS: usize = 500;

/// Where control groups can be frozen: where they are mounted, the file that does that, and what is
/// written for it and to let go.
pub(super) const FREEZERS: [(&str, &str, [&str; 2]); 3] = [
    ("/sys/fs/cgroup/freezer", "freezer.state", ["FROZEN", "THAWED"]),
    ("/sys/fs/cgroup/unified", "cgroup.freeze", ["1", "0"]),
    ("/sys/fs/cgroup", "cgroup.freeze", ["1", "0"]),
];

/// A control group of the tests' own that goes with this.
pub(super) struct ControlGroup(PathBuf);

impl ControlGroup {
    /// A new one below what is mounted there; `None` where nothing is, or none may be made.
    pub(super) fn new(mount: &str, file: &str) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let group = PathBuf::from(mount).join(format!("dbtime-test-{process}-{number}"));
        std::fs::create_dir(&group).ok()?;
        let group = Self(group);
        group.0.join(file).exists().then_some(group)
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).expect("it may be written");
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect("it may be read")
    }

    /// Moves a server into it, and out of it again to end with.
    pub(super) fn takes(&self, server: &GivenServer) {
        self.write("cgroup.procs", &server.server.pid().to_string());
    }

    fn leave(&self, server: &GivenServer) {
        self.releases(server.server.pid());
    }

    pub(super) fn releases(&self, pid: u32) {
        let root = self.0.parent().expect("a mount").join("cgroup.procs");
        std::fs::write(root, pid.to_string()).expect("it may be written");
    }
}

impl Drop for ControlGroup {
    /// Also where a test fails: what is frozen in it goes on.
    fn drop(&mut self) {
        for (_, file, [_, thaw]) in FREEZERS {
            // Each group has one of them.
            if self.0.join(file).exists() {
                let _ = std::fs::write(self.0.join(file), thaw);
            }
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Says what could not be tried.
pub(super) fn not_tested(what: &str) {
    let note = format!("NOT TESTED: {what}\n");
    std::io::stderr().write_all(note.as_bytes()).expect("somebody listens");
}

/// What a wait for a row and a busy statement came to while `stop` kept the server from running,
/// and for how long that was.
fn stopped(server: &GivenServer, stop: impl FnOnce()) -> Option<([Value; 2], Duration)> {
    let sandbox = Sandbox::new();
    let tracer = Tracer::attach(&sandbox, server, "--strict")?;
    let [mut holder, mut waiter, mut busy] = [(); 3].map(|()| {
        let mut client = RawClient::connect(server);
        client.query("USE d");
        client
    });
    holder.query("CREATE OR REPLACE TABLE l (id INT PRIMARY KEY, n INT)");
    holder.query("INSERT INTO l VALUES (1, 0)");
    holder.query("BEGIN");
    holder.query("UPDATE l SET n = 1");
    waiter.ask("UPDATE l SET n = 2");
    until_at_rest(server.server.pid());
    busy.ask(BUSY);
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    stop();
    let length = begun.elapsed();
    std::thread::sleep(Duration::from_millis(100));
    holder.query("COMMIT");
    waiter.answered();
    busy.answered();
    let seen = tracer.end();
    parts_add_up(&seen.requests);
    let (commit, waited) = (seen.one("COMMIT"), seen.one("UPDATE l SET n = 2"));
    assert_eq!(waited["blocker"]["connection"], commit["connection"], "{waited}");
    assert!(part_ms(waited, "lock") > 150.0, "{waited}");
    Some(([waited.clone(), seen.one(BUSY).clone()], length))
}

/// It was stopped for about so long, in which nobody had its CPU; for less where the signal came
/// late to it.
fn was_stopped(requests: &[Value], length: Duration) {
    let (least, most) = (0.5 * STOP.as_secs_f64() * 1e3, length.as_secs_f64() * 1e3 + 300.0);
    for request in requests {
        let stopped = part_ms(request, "stopped");
        assert!((least..most).contains(&stopped), "{least} {most} {request}");
    }
}

#[test]
fn a_server_that_a_signal_stops_is_stopped_and_not_pre_empted() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    let pid = Pid::from_raw(server.server.pid().cast_signed()).expect("a process");
    let found = stopped(&server, || {
        kill_process(pid, Signal::STOP).expect("it is there");
        std::thread::sleep(STOP);
        kill_process(pid, Signal::CONT).expect("it is there");
    });
    found.iter().for_each(|(requests, length)| was_stopped(requests, *length));
}

#[test]
fn a_server_that_is_frozen_is_stopped_and_not_pre_empted() {
    let mut tried = 0;
    for (mount, file, [freeze, thaw]) in FREEZERS {
        let Some(group) = ControlGroup::new(mount, file) else { continue };
        let server = GivenServer::start(Product::Mariadb, &[]);
        group.takes(&server);
        let found = stopped(&server, || {
            group.write(file, freeze);
            std::thread::sleep(STOP);
            group.write(file, thaw);
        });
        group.leave(&server);
        // The first kind freezes what sleeps as it sleeps: its wait goes on.
        let wakes = file == "cgroup.freeze";
        let skipped = usize::from(!wakes);
        found.iter().for_each(|(requests, length)| was_stopped(&requests[skipped..], *length));
        tried += 1;
    }
    if tried == 0 {
        not_tested("no control group can be frozen here");
    }
}

/// A fifth of a CPU, of which a busy statement uses all; on whatever CPU it may go on.
#[test]
fn a_server_whose_share_is_used_up_is_throttled_and_not_pre_empted() {
    let Some(group) = ControlGroup::new("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us") else {
        return not_tested("no control group's CPU time can be limited here");
    };
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        group.write("cpu.cfs_quota_us", "20000");
        group.write("cpu.cfs_period_us", "100000");
        let before = throttled(&group);
        let busy = with_turns(|| keep_busy(product, &server, &group));
        let known = (throttled(&group) - before) / 1e6;
        let seen = tracer.end();
        parts_add_up(&seen.requests);
        let request = seen.one(busy);
        let part = part_ms(request, "throttled");
        // How much of its response that is others say, who have the CPU as well.
        assert!(part > 100.0, "{known} {request}");
        assert!((0.85 * known..1.1 * known).contains(&part), "{known} {request}");
        assert_ne!(request["preemptor"]["thread"], 0, "{request}");
    }
}

/// While it runs somebody has each CPU in turn: who was throttled on one may go on on another.
fn with_turns<T>(work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    let usual = sched_getaffinity(None).expect("allowed");
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| usual.is_set(cpu)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for &cpu in cpus.iter().cycle().take(MOST_TURNS) {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let mut one = CpuSet::new();
                one.set(cpu);
                sched_setaffinity(None, &one).expect("allowed");
                let begun = Instant::now();
                while begun.elapsed() < TURN {
                    std::hint::spin_loop();
                }
            }
        });
        let result = work();
        over.store(true, Ordering::Relaxed);
        result
    })
}

/// Has a server of the group execute something long; what that was.
fn keep_busy(product: Product, server: &GivenServer, group: &ControlGroup) -> &'static str {
    if product == Product::Postgres {
        let busy = "SELECT count(*) FROM generate_series(1, 2000000)";
        let mut client = RawPostgres::connect(server);
        children(server.server.pid()).iter().for_each(|pid| group.write("cgroup.procs", pid));
        client.query(busy);
        return busy;
    }
    let busy = "DO BENCHMARK(20000000, 1 + 1)";
    group.takes(server);
    RawClient::connect(server).query(busy);
    group.leave(server);
    busy
}

/// The processes that a process has started.
pub(super) fn children(parent: u32) -> Vec<String> {
    let of = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(of).expect("it is there");
    children.split_whitespace().map(str::to_owned).collect()
}

/// How long the group was throttled, in nanoseconds.
fn throttled(group: &ControlGroup) -> f64 {
    let stat = group.read("cpu.stat");
    let time = stat.lines().find_map(|line| line.strip_prefix("throttled_time "));
    time.and_then(|time| time.parse().ok()).expect("a time")
}
