//! What keeps a server from reading a request that has come: it is stopped, or throttled.

use super::stopped::{ControlGroup, children, not_tested};
use super::*;
use crate::given_server::PRODUCTS;
use crate::raw_postgres::RawPostgres;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::PoisonError;

/// How long a server is kept from reading.
const STOP: Duration = Duration::from_millis(700);

/// A client of either product, whose requests are numbers.
enum ProductClient {
    Mysql(RawClient),
    Postgres(RawPostgres),
}

impl ProductClient {
    fn connect(product: Product, server: &GivenServer) -> Self {
        match product {
            Product::Postgres => Self::Postgres(RawPostgres::connect(server)),
            _ => Self::Mysql(RawClient::connect(server)),
        }
    }

    fn text(&self, number: u32) -> String {
        match self {
            Self::Mysql(_) => format!("DO {number}"),
            Self::Postgres(_) => format!("SELECT {number}"),
        }
    }

    fn ask(&mut self, number: u32) {
        let text = self.text(number);
        match self {
            Self::Mysql(client) => client.ask(&text),
            Self::Postgres(client) => client.ask(&text),
        }
    }

    fn answered(&mut self) {
        match self {
            Self::Mysql(client) => client.answered(),
            Self::Postgres(client) => drop(client.answered()),
        }
    }

    /// Its connection is known to the tracer, and its thread waits for the next request.
    fn is_seen_by(&mut self, server: &GivenServer) {
        self.ask(1);
        self.answered();
        until_at_rest(server.server.pid());
    }
}

/// The processes that serve clients, which have asked for nothing at present.
fn serving(product: Product, server: &GivenServer) -> Vec<u32> {
    let pid = server.server.pid();
    let is_idle = |child: &String| {
        // PostgreSQL's have a title: others of it come and go.
        let title = std::fs::read_to_string(format!("/proc/{child}/cmdline"));
        title.is_ok_and(|title| title.contains("idle"))
    };
    match product {
        Product::Postgres => {
            let idle = children(pid).into_iter().filter(is_idle);
            idle.map(|child| child.parse().expect("a number")).collect()
        }
        _ => vec![pid],
    }
}

fn signal_all(pids: &[u32], signal: Signal) {
    for pid in pids {
        let pid = Pid::from_raw(pid.cast_signed()).expect("a process");
        kill_process(pid, signal).expect("it is there");
    }
}

/// Waits until a stop has come to each thread.
fn until_stopped(pid: u32) {
    let is_stopped = |task: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('T'))
    };
    let begun = Instant::now();
    loop {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it is there");
        if tasks.flatten().all(is_stopped) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not stop");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What kept a thread from reading a request, in milliseconds; `None`: it was not seen to come.
fn early_ms(request: &Value, name: &str) -> Option<f64> {
    request["server_queue_parts_us"][name].as_f64().map(|us| us / 1e3)
}

#[test]
fn a_request_that_comes_to_a_stopped_server_waits_for_the_end_of_the_stop() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let mut client = ProductClient::connect(product, &server);
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        client.is_seen_by(&server);
        let pids = serving(product, &server);
        signal_all(&pids, Signal::STOP);
        pids.iter().for_each(|pid| until_stopped(*pid));
        let begun = Instant::now();
        client.ask(2);
        let asked = Instant::now();
        std::thread::sleep(STOP);
        let least = asked.elapsed().as_secs_f64() * 1e3;
        signal_all(&pids, Signal::CONT);
        let most = begun.elapsed().as_secs_f64() * 1e3;
        client.answered();
        let seen = tracer.end();
        parts_add_up(&seen.requests);
        let request = seen.one(&client.text(2));
        let stopped = early_ms(request, "stopped").expect("it was seen to come");
        assert!((least..=most).contains(&stopped), "{least} {most} {request}");
    }
}

/// Somebody else of its control group uses the share up.
#[test]
fn a_request_that_comes_to_a_throttled_server_waits_for_its_share() {
    let Some(group) = ControlGroup::new("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us") else {
        return not_tested("no control group's CPU time can be limited here");
    };
    let _alone = run_waits::FIRST_CPU.lock().unwrap_or_else(PoisonError::into_inner);
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let mut client = ProductClient::connect(product, &server);
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        client.is_seen_by(&server);
        let hog = parts::Hog::start();
        let mut pids = serving(product, &server);
        pids.push(hog.0.id());
        pids.iter().for_each(|pid| put_on_first_cpu(*pid));
        group.write("cpu.cfs_period_us", "100000");
        group.write("cpu.cfs_quota_us", "10000");
        pids.iter().for_each(|pid| group.write("cgroup.procs", &pid.to_string()));
        // They come at any time of several periods, in most of which the share is used up.
        for _ in 0..60 {
            client.ask(2);
            client.answered();
            std::thread::sleep(Duration::from_millis(7));
        }
        group.write("cpu.cfs_quota_us", "-1");
        drop(hog);
        let seen = tracer.end();
        seen.requests.iter().for_each(waits_are_within_their_parts);
        let text = client.text(2);
        let asked = seen.requests.iter().filter(|one| one["text"] == *text);
        let throttled = asked.filter_map(|one| early_ms(one, "throttled"));
        assert!(throttled.sum::<f64>() > 0.0, "{:?}", seen.requests);
        serving(product, &server).iter().for_each(|pid| group.releases(*pid));
    }
}

/// Keeps all threads that a process has to one CPU.
fn put_on_first_cpu(pid: u32) {
    let mut only = CpuSet::new();
    only.set(run_waits::first_cpu());
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).expect("it is there").flatten() {
        let tid = task.file_name().to_str().and_then(|name| name.parse().ok());
        let tid = tid.and_then(Pid::from_raw).expect("a number");
        // One that has just ended needs none.
        let _ = sched_setaffinity(Some(tid), &only);
    }
}
