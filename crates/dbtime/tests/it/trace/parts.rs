//! Where the time of requests went, where that is known beforehand.

use super::*;

#[test]
fn a_sleep_is_no_lock_and_a_client_that_does_not_read_is_the_net() {
    a_sleep_is_no_lock(&GivenServer::start(Product::Mariadb, &[]));
}

pub(super) fn a_sleep_is_no_lock(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, server, "") else { return };
    let mut client = RawClient::connect(server);
    (0..5).for_each(|_| client.query("DO SLEEP(0.05)"));
    // It makes the value and fills the socket before that, also where it stands still for a while.
    client.value_read_late(8_000_000, Duration::from_secs(3));
    client.query("DO BENCHMARK(300000, SHA2('a', 256))");
    drop(client);
    let seen = tracer.end();
    seen.is_clean();
    parts_add_up(&seen.requests);
    let mut sleeps: Vec<&Value> =
        seen.requests.iter().filter(|request| request["text"] == "DO SLEEP(0.05)").collect();
    assert_eq!(sleeps.len(), 5);
    sleeps.iter().for_each(|slept| is_no_lock(slept));
    sleeps.sort_by(|one, other| part_ms(one, "sleep").total_cmp(&part_ms(other, "sleep")));
    assert!(part_ms(sleeps[2], "sleep") >= 45.0, "{sleeps:?}");
    let unread = seen.one("SELECT REPEAT('x', 8000000)");
    assert!(part_ms(unread, "net") >= 1000.0, "{unread}");
    let busy = seen.one("DO BENCHMARK(300000, SHA2('a', 256))");
    assert!(part_ms(busy, "cpu") > 5.0 && part_ms(busy, "sleep") == 0.0, "{busy}");
}

/// A sleep of 50 ms is no lock: one that is taken for a lock has all of it there.
pub(super) fn is_no_lock(slept: &Value) {
    assert!(since_its_clock_ms(slept) >= 40.0 && part_ms(slept, "lock") < 10.0, "{slept}");
}

/// How long a request slept, and was on its way there. The server sets its clock before it goes to
/// sleep, and may have no CPU for a while before it does. Unit: milliseconds.
pub(super) fn since_its_clock_ms(slept: &Value) -> f64 {
    ["sleep", "cpu", "runq_preempted"].iter().map(|part| part_ms(slept, part)).sum()
}

#[test]
fn a_row_lock_is_waited_for_until_its_holder_commits_and_the_holder_is_named() {
    the_holder_of_a_row_is_named(&GivenServer::start(Product::Mariadb, &[]));
}

pub(super) fn the_holder_of_a_row_is_named(server: &GivenServer) {
    let sandbox = Sandbox::new();
    server.sql("CREATE TABLE l (id INT PRIMARY KEY, n INT) ENGINE=InnoDB");
    server.sql("INSERT INTO l VALUES (1, 1)");
    let Some(tracer) = Tracer::attach(&sandbox, server, "") else { return };
    let (mut holder, mut waiter) = (RawClient::connect(server), RawClient::connect(server));
    holder.query("BEGIN");
    holder.query("UPDATE d.l SET n = n + 1 WHERE id = 1");
    waiter.ask("UPDATE d.l SET n = n + 10 WHERE id = 1");
    until_at_rest(server.server.pid());
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
    waits_for_its_commit(waited, commit);
}

#[test]
fn waits_for_other_commits_have_names() {
    for settings in [&[][..], &BINLOG] {
        waits_for_commits_have_names(&GivenServer::on_disk(Product::Mariadb, settings));
    }
}

/// With these commits wait for the binlog, too.
pub(super) const BINLOG: [(&str, &str); 3] =
    [("log_bin", "log"), ("server_id", "1"), ("sync_binlog", "1")];

pub(super) fn waits_for_commits_have_names(server: &GivenServer) {
    let sandbox = Sandbox::new();
    server.sql("CREATE TABLE c (n INT) ENGINE=InnoDB");
    let Some(tracer) = Tracer::attach(&sandbox, server, "") else { return };
    let line = format!(
        "run --query 'INSERT INTO c VALUES (1)' --connections 8 --transactions {} --target '{}' \
         --no-record",
        2 * MANY,
        server.target()
    );
    sandbox.run(&line).exits(0);
    let seen = tracer.end();
    let blockers: Vec<&Value> =
        seen.requests.iter().map(|one| &one["blocker"]).filter(|one| one.is_object()).collect();
    let called = |name: &str| blockers.iter().filter(|one| one["lock"] == name).count();
    let (group, binlog) = (called("group commit"), called("binlog"));
    // One in ten of the commits and more; the longest wait of others is for who has a mutex, and on
    // a busy machine no CPU.
    let is_many = 10 * (group + binlog) as u64 > 2 * MANY;
    assert!(group > 0 && is_many, "{group} {binlog} {blockers:?}");
}

#[test]
fn the_file_that_is_waited_for_is_named_and_so_is_the_time_in_the_socket() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::on_disk(Product::Mariadb, &[]));
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
    let files = |request: &Value| request["files"].as_array().expect("a list").clone();
    let named = |request: &&&Value| files(request).iter().any(|file| file["name"] == "ib_logfile0");
    assert!(inserts.iter().filter(named).count() > 0, "{:?}", inserts[1]);
    for request in &inserts {
        for part in ["io_read", "io_write", "sync"] {
            let of_part = files(request).into_iter().filter(|file| file["part"] == part);
            let waited: f64 = of_part.map(|file| file["wait_us"].as_f64().expect("a time")).sum();
            assert!((waited / 1e3 - part_ms(request, part)).abs() < 1e-3, "{part} of {request}");
        }
    }
    let waits = |name| inserts.iter().map(|request| part_ms(request, name)).sum::<f64>();
    assert!(waits("sync") + waits("io_write") > 0.0, "each is on disk before it is answered");
    let queued = inserts.iter().filter(|request| {
        request["server_queue_us"].as_f64().is_some_and(|queue| queue > 0.0 && queue < 1e6)
    });
    assert!(queued.count() > 25, "{:?}", inserts[1]);
}

#[test]
fn what_lies_in_the_socket_before_it_is_read_is_the_queue_and_no_part_of_the_response() {
    // Two threads at most are at work at a time.
    let small = [
        ("thread_pool_size", "1"),
        ("thread_pool_oversubscribe", "1"),
        ("thread_pool_stall_limit", "60000"),
    ];
    let pool = [&requests::POOL[..], &small].concat();
    for settings in [&[][..], &pool] {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, settings));
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let mut client = RawClient::connect(&server);
        let mut busy = [(); 3].map(|()| RawClient::connect(&server));
        // Each comes with the first, and has to wait for those before it.
        let begun = Instant::now();
        client.queries_at_once("DO 1, SLEEP(0.02)", 5);
        let all_us = begun.elapsed().as_secs_f64() * 1e6;
        // Half a second of CPU or more: the next comes meanwhile, though this stands still.
        let work = "DO 2, BENCHMARK(1000000, MD5('a'))";
        busy.iter_mut().for_each(|busy| busy.ask(work));
        std::thread::sleep(Duration::from_millis(20));
        client.query("DO 3");
        busy.iter_mut().for_each(RawClient::answered);
        let seen = tracer.end();
        seen.is_clean();
        seen.requests.iter().for_each(waits_are_within_their_parts);
        let queue = |request: &Value| request["server_queue_us"].as_f64().expect("it was seen");
        let of = |text| seen.requests.iter().filter(move |one| one["text"] == text);
        for (before, request) in of("DO 1, SLEEP(0.02)").enumerate() {
            let least = before as f64 * 20e3;
            assert!((least..all_us).contains(&queue(request)), "{before} {all_us}: {request}");
        }
        let at = |request: &Value, name: &str| request[name].as_f64().expect("a time");
        let ends = of(work).map(|one| at(one, "time_us") + at(one, "response_us"));
        let (count, first_end) = ends.fold((0, f64::MAX), |(n, min), end| (n + 1, min.min(end)));
        let last = seen.one("DO 3");
        let (came, read) = (at(last, "time_us") - queue(last), at(last, "time_us"));
        assert_eq!(count, busy.len());
        // Either it has a thread of its own, or somebody had to be done first.
        assert!(came < first_end, "{last} {first_end}");
        assert_eq!(read > first_end, !settings.is_empty(), "{last} {first_end}");
    }
}

/// A process that wants a CPU, until this goes, also with a test that fails.
pub(super) struct Hog(pub(super) Child);

impl Hog {
    pub(super) fn start() -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]);
        Self(shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell"))
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.0.kill().expect("it is there");
        self.0.wait().expect("it ends");
    }
}

#[test]
fn who_has_the_cpu_is_named() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let server = GivenServer::start(Product::Mariadb, &[]);
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
    let mut client = RawClient::connect(&server);
    let Some(lines) = Tracer::attach(&sandbox, &server, "") else { return };
    let sums = Tracer::start(&other, &server, "--summary").expect("as before");
    // Behind that: neither tracer need attach beside it.
    let hog = Hog::start();
    let pid = rustix::process::Pid::from_child(&hog.0);
    rustix::thread::sched_setaffinity(Some(pid), &set).expect("it is ours");
    // Several tens of slices.
    let work = "DO BENCHMARK(3000000, MD5('a'))";
    client.query(work);
    drop(hog);
    let lines = lines.end();
    sums.interrupt();
    let (_, sums) = sums.printed();
    parts_add_up(&lines.requests);
    let busy = lines.one(work);
    assert!(runq_ms(busy) > 0.2 * part_ms(busy, "cpu"), "{busy}");
    assert!(busy["preemptor"]["name"].is_string(), "{busy}");
    // Servers of other tests may have been there for longer.
    let (_, preemptors) = sums.split_once("Pre-emptors").expect("there were some");
    let mut rows = preemptors.lines().skip(2).take(3);
    assert!(rows.any(|row| row.trim_start().starts_with("sh ")), "{sums}");
}
