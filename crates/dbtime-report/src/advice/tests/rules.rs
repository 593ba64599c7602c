//! Each rule on a run that shows it and on one that must not.

use super::{budget, counting, find, mariadb, postgres, said, says, set, sqlite};
use dbtime_model::Part;
use dbtime_model::record::{
    BudgetLockHolder, FileIo, LoadInfo, LoadMode, NetworkUse, RunRecord, ServerInfo, SpanInfo,
    TraceInfo, Validity, Warning, WarningKind,
};
use dbtime_model::spec::RunSpec;

#[test]
fn settings_that_are_there_are_not_recommended() {
    let syncs = [(Part::Sync, 600.0)];
    let flush = "innodb_flush_log_at_trx_commit";
    let one = set(mariadb(&syncs), &[(flush, "1"), ("log_bin", "OFF")]);
    says(
        &one,
        "log_sync",
        &["innodb_flush_log_at_trx_commit=2; price", "last second"],
        &["sync_bin"],
    );
    let both = set(one.clone(), &[("log_bin", "ON"), ("sync_binlog", "1")]);
    says(&both, "log_sync", &["commit=2 and sync_binlog=0 together", "replicas"], &[]);
    let two = set(both.clone(), &[(flush, "2")]);
    says(&two, "log_sync", &["→ sync_binlog=0".trim_start_matches("→ ")], &["trx_commit=2"]);
    let done = set(two, &[("sync_binlog", "0")]);
    says(&done, "log_sync", &["is 2 already"], &["=0", "trx_commit=2"]);

    let on = set(postgres(&syncs), &[("synchronous_commit", "on"), ("commit_delay", "0")]);
    says(&on, "log_sync", &["synchronous_commit=off", "commit_delay"], &["innodb", "PRAGMA"]);
    let few = RunRecord { load: LoadInfo { connections: 5, ..on.load.clone() }, ..on.clone() };
    says(&few, "log_sync", &["synchronous_commit=off"], &["commit_delay"]);
    let mut locked = on.clone();
    locked.budget_us = Some(budget(1000.0, &[(Part::Sync, 600.0), (Part::Lock, 200.0)]));
    says(&locked, "log_sync", &["synchronous_commit=off"], &["commit_delay"]);
    let off = set(on, &[("synchronous_commit", "off")]);
    says(&off, "log_sync", &["off already"], &["=off", "commit_delay"]);

    let full = set(sqlite(&syncs), &[("journal_mode", "wal"), ("synchronous", "full")]);
    says(&full, "log_sync", &["synchronous=NORMAL"], &["journal_mode=WAL", "autocheckpoint"]);
    let normal = set(full.clone(), &[("synchronous", "normal")]);
    says(&normal, "log_sync", &["wal_autocheckpoint above 1000"], &["=NORMAL"]);
    let delete = set(full, &[("journal_mode", "delete")]);
    says(&delete, "log_sync", &["journal_mode=WAL"], &["=NORMAL", "autocheckpoint"]);
}

#[test]
fn syncs_are_counted_where_that_is_known() {
    let record = counting(postgres(&[(Part::Sync, 600.0)]), &[("wal_sync", 0.96)]);
    says(&record, "log_sync", &["0.960 wal_sync per transaction"], &[]);
    let mut record = sqlite(&[(Part::Sync, 600.0)]);
    let file = |call: &str, count| FileIo {
        file: "wal".to_owned(),
        call: call.to_owned(),
        count,
        wall_s: Some(0.6),
        ..FileIo::default()
    };
    record.files = vec![file("write", 9000), file("sync", 2000)];
    says(&record, "log_sync", &["wal file is synced 2 times per transaction, 300 µs each"], &[]);
}

fn waiting(holder: &str, lock: Option<&str>, wait_s: f64) -> BudgetLockHolder {
    BudgetLockHolder {
        waiter: "tpcb: branch".to_owned(),
        holder: holder.to_owned(),
        outside: None,
        lock: lock.map(str::to_owned),
        count: 100,
        wait_s,
    }
}

#[test]
fn who_is_waited_for_is_named_with_what_that_one_does() {
    let mut record = mariadb(&[(Part::Lock, 300.0), (Part::Sync, 500.0)]);
    record.lock_holders =
        vec![waiting("tpcb: commit", Some("row lock"), 0.9), waiting("others", None, 0.1)];
    let these = [
        "90 % of the waits with a name were for tpcb: commit (row lock): 100 times, 9.00 ms each",
        "shorten tpcb: commit: sync 500 µs and cpu 200 µs of its 1.00 ms",
        "execute tpcb: branch as late in the transaction",
    ];
    says(&record, "lock_waits", &these, &["READ-COMMITTED", "PRAGMA"]);
    says(&record, "lock_waits", &["innodb_flush_log_at_trx_commit=2; price"], &[]);
    let record = set(record, &[("transaction_isolation", "REPEATABLE-READ")]);
    says(&record, "lock_waits", &["READ-COMMITTED"], &["--workers"]);
}

#[test]
fn rows_that_many_wait_for_are_let_go_sooner_by_fewer_at_once() {
    let mut record = mariadb(&[(Part::Lock, 300.0)]);
    record.lock_holders = vec![waiting("tpcb: commit", Some("row lock"), 1.0)];
    record.server = server(1.5, 2);
    record.load.connections = 150;
    let these = ["let fewer transactions than 150 run at once (--workers 16)"];
    says(&record, "lock_waits", &these, &[]);
    record.load.workers = Some(16);
    says(&record, "lock_waits", &[], &["run at once"]);
    (record.load.workers, record.server) = (None, None);
    says(&record, "lock_waits", &[], &["run at once"]);
}

#[test]
fn each_kind_of_lock_has_its_own_steps() {
    let of = |lock: Option<&str>| {
        let mut record = postgres(&[(Part::Lock, 300.0)]);
        record.lock_holders = vec![waiting("somebody", lock, 1.0)];
        said(&record, "lock_waits")
    };
    assert!(of(Some("transactionid")).contains("as late in"));
    assert!(of(Some("LWLock")).contains("wait_event"));
    assert!(of(Some("extend")).contains("partition"));
    assert!(of(Some("relation")).contains("DDL"));
    assert!(of(Some("advisory")).contains("explicitly"));
    assert!(of(Some("group commit")).contains("=off"));
    let locked = sqlite(&[(Part::Lock, 300.0)]);
    let loose = set(locked, &[("journal_mode", "delete"), ("immediate", "off")]);
    says(&loose, "lock_waits", &["fewer workers than 8", "=WAL", "BEGIN IMMEDIATE"], &[]);
    // Where most of it is the lock, and more want it than there are CPUs, that comes first.
    let first = |lock_us: f64, cpus: u32| {
        let mut record = sqlite(&[(Part::Lock, lock_us)]);
        record.environment.cpus = cpus;
        let (waiter, holder) = ("tpcb: begin".to_owned(), "tpcb: commit".to_owned());
        let waited = BudgetLockHolder { waiter, holder, wait_s: 1.0, ..Default::default() };
        record.lock_holders = vec![waited];
        find(&record, "lock_waits").expect("advice").steps[0].action.clone()
    };
    assert!(first(600.0, 2).starts_with("fewer workers than 8"));
    assert!(first(300.0, 2).starts_with("shorten tpcb: commit"));
    assert!(first(600.0, 16).starts_with("shorten tpcb: commit"));
    let best = set(loose, &[("journal_mode", "wal"), ("immediate", "on")]);
    says(&best, "lock_waits", &["fewer workers than 8"], &["=WAL", "BEGIN IMMEDIATE"]);
}

fn server(used: f64, cpus: u32) -> Option<ServerInfo> {
    Some(ServerInfo { cpu_s: used * 10.0, wall_s: 10.0, cpus, ..ServerInfo::default() })
}

#[test]
fn who_had_the_cpu_is_named_as_far_as_the_record_knows() {
    let mut record = mariadb(&[(Part::RunqPreempted, 300.0), (Part::RunqWoken, 100.0)]);
    record.environment.cpus = 2;
    record.server = server(1.2, 2);
    (record.client.usr_pct, record.client.sys_pct) = (20.0, 18.0);
    let these =
        ["dbtime itself used 38 % of one CPU", "--client-cpus", "server used 60 % of its 2 CPUs"];
    says(&record, "cpu_queue", &these, &["other processes", "give the server more CPUs"]);
    assert_eq!(find(&record, "cpu_queue").expect("there").mean.at_most_us, 400.0);

    let mut apart = record.clone();
    let mut spec = RunSpec::default();
    spec.load.client_cpus = Some("1".parse().expect("a list"));
    apart.spec = Some(spec.into());
    says(&apart, "cpu_queue", &[], &["--client-cpus"]);
    apart.spec = None;
    apart.command = "dbtime run tpcb --client-cpus 1".to_owned();
    says(&apart, "cpu_queue", &[], &["(--client-cpus)"]);

    record.environment.foreign_cpu_pct = 30.0;
    record.server = server(1.9, 2);
    let record = set(record, &[("thread_handling", "one-thread-per-connection")]);
    let these = ["other processes used 30 %", "give the server more CPUs", "pool-of-threads"];
    says(&record, "cpu_queue", &these, &[]);
    let pooled = set(record, &[("thread_handling", "pool-of-threads")]);
    says(&pooled, "cpu_queue", &[], &["=pool-of-threads"]);
    let embedded = sqlite(&[(Part::Runq, 300.0)]);
    says(&embedded, "cpu_queue", &[], &["--client-cpus"]);
}

#[test]
fn a_server_with_idle_cpus_needs_no_smaller_crowd() {
    let mut record = postgres(&[(Part::RunqPreempted, 40.0), (Part::RunqWoken, 360.0)]);
    record.server = server(1.9, 2);
    says(
        &record,
        "cpu_queue",
        &["90 % of it is runq_woken", "fewer than 8", "a transaction pooler"],
        &[],
    );
    record.server = server(0.2, 2);
    says(
        &record,
        "cpu_queue",
        &["used 10 % of its 2 CPUs"],
        &["fewer than 8", "a transaction pooler"],
    );
}

#[test]
fn a_missing_index_shows_in_rows_read_for_few() {
    let scan = counting(mariadb(&[]), &[("Handler_read_rnd_next", 100_000.0)]);
    let these =
        ["reads 100,000 rows in scans of tables", "changes 2", "ANALYZE FORMAT=JSON", "index"];
    says(&scan, "server_cpu", &these, &[]);
    let key = counting(mariadb(&[]), &[("Handler_read_rnd_next", 0.1), ("Handler_read_next", 9.0)]);
    says(&key, "server_cpu", &["the plan of tpcb: commit"], &["rows", "index"]);
    let scan = counting(postgres(&[]), &[("tup_returned", 5000.0)]);
    says(&scan, "server_cpu", &["5,000 rows", "EXPLAIN (ANALYZE, BUFFERS)", "index"], &[]);
    let mut many = scan;
    many.statements[0].rows = 5_000_000;
    says(&many, "server_cpu", &[], &["index"]);
}

#[test]
fn a_commit_has_no_plan() {
    let mut record = sqlite(&[]);
    let texts = ["SELECT n FROM t WHERE id = ?", "COMMIT"];
    for (statement, text) in record.statements.iter_mut().zip(texts) {
        text.clone_into(&mut statement.fingerprint);
    }
    let these = ["the plan of tpcb: begin", "commit less often: tpcb: commit has most of it"];
    says(&record, "server_cpu", &these, &["the plan of tpcb: commit"]);
    record.statements.swap(0, 1);
    record.statements[0].fingerprint = "UPDATE t SET n = ?".to_owned();
    says(&record, "server_cpu", &["the plan of tpcb: commit"], &["less often"]);
}

#[test]
fn statements_sent_as_text_may_be_prepared() {
    let mut record = mariadb(&[]);
    record.target.protocol = Some("text".to_owned());
    says(&record, "server_cpu", &["--protocol prepared"], &["hypervisor"]);
    record.target.protocol = Some("prepared".to_owned());
    record.environment.steal_pct = 12.0;
    says(&record, "server_cpu", &["hypervisor took 12 %"], &["--protocol prepared"]);
}

#[test]
fn a_pool_is_made_larger_where_the_server_has_cpus_left() {
    let mut record = mariadb(&[(Part::Queue, 600.0)]);
    record.throughput_tps = 7600.0;
    record.latency_us.service.mean = 1000.0;
    record.server = server(1.0, 2);
    says(
        &record,
        "pool_queue",
        &["8 connections, busy 95 % of the time", "(--connections)"],
        &["--rate"],
    );
    record.load.workers = Some(4);
    record.load.mode = LoadMode::Open;
    let these = ["more than 4 workers (--workers)", "by its other parts (cpu 400 µs)"];
    says(&record, "pool_queue", &these, &["at any moment"]);
    record.load.mode = LoadMode::Closed;
    let these = ["4 of 8 clients wait at any moment", "(--sweep workers=2,8)"];
    says(&record, "pool_queue", &these, &["more than 4"]);
    record.load.think_us = Some(100.0);
    says(&record, "pool_queue", &["more than 4"], &["at any moment"]);
    record.load.think_us = None;
    record.server = server(1.95, 2);
    says(&record, "pool_queue", &["no room for more"], &["more than 4", "--sweep"]);
    record.validity = Validity::from_warnings(vec![Warning {
        kind: WarningKind::RateMissed,
        ..Warning::default()
    }]);
    says(&record, "pool_queue", &["lower --rate"], &[]);
}

#[test]
fn transactions_that_wait_for_each_other_are_named() {
    let mut record = sqlite(&[(Part::Runq, 300.0), (Part::Lag, 200.0)]);
    says(&record, "cpu_queue", &["ps 10 --exact"], &["of this process had"]);
    (record.client.threads_runq_s, record.client.ready_runq_s) = (Some(1.2), Some(0.8));
    says(&record, "driver_delay", &["threads waited 1.20 s for a CPU"], &[]);
    record.client.own_contention_s = Some(0.7);
    let these = ["waited 700 ms for a CPU that others of this process had (at most 800 ms)"];
    says(&record, "cpu_queue", &these, &[]);
    // What they waited for each other made the driver no later.
    says(&record, "driver_delay", &["waited 100 ms for a CPU"], &["1.20 s"]);
    record.client.own_contention_s = Some(0.8);
    says(&record, "driver_delay", &["wakes a sleeper"], &["for a CPU"]);
}

#[test]
fn the_drivers_lateness_has_the_reason_that_its_figures_show() {
    let mut record = mariadb(&[(Part::Lag, 300.0)]);
    says(&record, "driver_delay", &["not the database's", "wakes a sleeper"], &["--shards"]);
    record.client.busy = 0.9;
    says(&record, "driver_delay", &["busy 90 %", "--shards"], &["wakes a sleeper"]);
    record.client.threads_runq_s = Some(0.2);
    says(&record, "driver_delay", &["threads waited 200 ms for a CPU", "--client-cpus"], &[]);
    // A twentieth of the delay, but many were due in each of these waits.
    record.client.threads_runq_s = Some(0.01);
    says(&record, "driver_delay", &[], &["for a CPU"]);
    (record.throughput_tps, record.latency_us.lag.p999) = (1_000.0, 40_000.0);
    says(&record, "driver_delay", &["threads waited 10.0 ms for a CPU"], &[]);
}

/// Others had most of the machine, and could not stop the driver for a second.
#[test]
fn a_driver_that_stood_still_beside_others_is_late_for_that_first() {
    let mut record = mariadb(&[(Part::Lag, 700.0)]);
    record.environment.foreign_cpu_pct = 89.0;
    (record.window.measure_s, record.throughput_tps) = (10.0, 100.0);
    assert_eq!(find(&record, "driver_delay"), None, "theirs");
    record.client.standstills = vec![SpanInfo { from_s: 1.0, until_s: 2.0 }];
    says(&record, "driver_delay", &["stood still 1 time"], &["stop those"]);
    assert_eq!(find(&record, "foreign_cpu"), None, "nothing is left for them");
    // Seven tenths of the lag.
    record.throughput_tps = 0.98;
    let rest = ["used 89 %", "keep them to other CPUs (at most 210 µs)"];
    says(&record, "driver_delay", &rest, &[]);
    // A part of it.
    record.throughput_tps = 0.2;
    says(&record, "foreign_cpu", &["100 µs of lag are not theirs"], &[]);
    // It waited for a CPU as long.
    record.throughput_tps = 100.0;
    record.client.threads_runq_s = Some(1.0);
    says(&record, "foreign_cpu", &["used 89 %"], &["not theirs"]);
}

#[test]
fn an_engine_inside_the_driver_is_no_server() {
    let crowded = |mut record: RunRecord| {
        record.environment.foreign_cpu_pct = 89.0;
        record.server = None;
        said(&record, "foreign_cpu")
    };
    let inside = crowded(super::run("null", "", 1000.0, &[(Part::ServerAndWire, 900.0)]));
    assert!(inside.contains("most of it may be waiting for a CPU"), "{inside}");
    assert!(!inside.contains("server's work") && !inside.contains("--trace"), "{inside}");
}

#[test]
fn round_trips_are_saved_and_shortened() {
    let parts = [(Part::Wire, 200.0), (Part::ServerQueue, 200.0)];
    let mut record = postgres(&parts);
    record.round_trips_per_tx = Some(4.0);
    record.target.url = "postgres://app@127.0.0.1/shop".to_owned();
    let these = [
        "4 round trips per transaction, 100 µs each",
        "--pipeline",
        "(at most 300 µs)",
        "Unix socket",
        "(at most 200 µs)",
    ];
    says(&record, "round_trips", &these, &[]);
    record.target.url = "postgres".to_owned();
    record.target.protocol = Some("prepared, pipelined".to_owned());
    says(&record, "round_trips", &[], &["--pipeline", "Unix socket"]);
    record.round_trips_per_tx = Some(1.0);
    says(&record, "round_trips", &["1 round trip per transaction"], &["several rows"]);
    record.load.network_delay_us = Some(200.0);
    record.load.network_bits_per_s = Some(1_000_000_000);
    record.client.network = Some(NetworkUse { requests_pct: 1.0, answers_pct: 94.0 });
    let these = ["held back for 200 µs each", "network 1Gbit/s: answers took 94 %"];
    says(&record, "round_trips", &these, &["it limits", "a faster network"]);
    record.client.network = Some(NetworkUse { requests_pct: 96.0, answers_pct: 2.0 });
    says(&record, "round_trips", &["it limits the throughput", "a faster network"], &[]);
}

#[test]
fn reads_name_the_cache_that_is_too_small() {
    let reads = [(Part::IoRead, 300.0)];
    let mut record = set(mariadb(&reads), &[("innodb_buffer_pool_size", "134217728")]);
    record.environment.memory_bytes = 8 << 30;
    record.target.data_bytes = Some(6 << 30);
    says(
        &record,
        "file_reads",
        &["6.00 GiB of data", "innodb_buffer_pool_size (128 MiB now)"],
        &["--warmup"],
    );
    record.target.data_bytes = Some(1 << 30);
    says(&record, "file_reads", &["--warmup"], &[]);
    let record = set(postgres(&reads), &[("shared_buffers", "128MB")]);
    says(&record, "file_reads", &["shared_buffers (128MB now)"], &["innodb"]);
    says(
        &set(sqlite(&reads), &[("cache_size", "-2000")]),
        "file_reads",
        &["cache_size (-2000 now)"],
        &[],
    );
}

#[test]
fn writes_name_the_buffer_that_is_too_small() {
    let writes = [(Part::IoWrite, 300.0)];
    let record = counting(mariadb(&writes), &[("Innodb_log_waits", 0.2)]);
    says(&record, "page_writes", &["innodb_log_buffer_size", "=0"], &["io_capacity"]);
    let record = set(counting(mariadb(&writes), &[]), &[("innodb_flush_log_at_trx_commit", "0")]);
    says(&record, "page_writes", &["innodb_log_file_size"], &["innodb_log_buffer_size", "=0"]);
    let record = counting(postgres(&writes), &[("wal_buffers_full", 0.5)]);
    says(&record, "page_writes", &["wal_buffers", "max_wal_size"], &["work_mem"]);
    let record = set(sqlite(&writes), &[("journal_mode", "wal")]);
    says(&record, "page_writes", &["wal_autocheckpoint"], &["innodb"]);
}

#[test]
fn pauses_are_told_apart() {
    says(&mariadb(&[(Part::Think, 300.0)]), "pauses", &["the workload"], &["SLEEP"]);
    says(&mariadb(&[(Part::Sleep, 300.0)]), "pauses", &["SLEEP()"], &["the workload"]);
    let delayed = set(postgres(&[(Part::Sleep, 300.0)]), &[("commit_delay", "500")]);
    says(&delayed, "pauses", &["commit_delay, 500 now"], &[]);
}

/// Whatever else had the CPUs, what never ended waits for something else.
#[test]
fn what_never_ended_is_not_blamed_on_other_processes() {
    let mut record = postgres(&[(Part::ServerAndWire, 990.0)]);
    record.environment.foreign_cpu_pct = 80.0;
    record.server = server(0.1, 2);
    assert!(find(&record, "foreign_cpu").is_some());
    (record.counts.completed, record.counts.unfinished) = (0, 1000);
    assert_eq!(find(&record, "foreign_cpu"), None);
    assert!(find(&record, "untraced").is_some());
}

#[test]
fn retries_name_what_failed() {
    let mut record = mariadb(&[(Part::Backoff, 300.0)]);
    record.counts.retries = 500;
    record.errors = [("1213".to_owned(), 480), ("1205".to_owned(), 20)].into();
    record.error_messages = [("1213".to_owned(), "Deadlock found".to_owned())].into();
    says(&record, "retries", &["0.500 retries", "1213: 480 times (Deadlock found"], &["1205"]);
}

#[test]
fn what_is_not_split_is_to_be_traced() {
    let parts = [(Part::ServerAndWire, 900.0)];
    let mut record = postgres(&parts);
    record.server = Some(ServerInfo { cpu_us_per_tx: Some(337.0), ..ServerInfo::default() });
    says(&record, "untraced", &["337 µs of CPU per transaction", "with --trace"], &["the warning"]);
    record.validity = Validity::from_warnings(vec![Warning {
        kind: WarningKind::Untraced,
        ..Warning::default()
    }]);
    says(&record, "untraced", &["do what the warning", "as root, or with the capabilities"], &[]);
    record.load.network_bits_per_s = Some(1_000_000_000);
    record.client.network = Some(NetworkUse { requests_pct: 1.0, answers_pct: 96.0 });
    says(&record, "untraced", &["network 1Gbit/s: answers took 96 %", "a faster network"], &[]);
    says(&postgres(&parts), "untraced", &["on the server's machine"], &[]);
}

#[test]
fn the_tracer_is_named_where_it_takes_cpu() {
    let mut record = mariadb(&[(Part::RunqWoken, 300.0)]);
    says(&record, "cpu_queue", &[], &["tracer"]);
    let length = dbtime_model::Nanos::from_secs(10);
    let cost = dbtime_model::traced_ledger::TraceCost {
        own: dbtime_model::Nanos::from_secs(2),
        ..Default::default()
    };
    record.trace = Some(TraceInfo { length, cost: Some(cost), ..TraceInfo::default() });
    says(
        &record,
        "cpu_queue",
        &["tracer's processes used 20 % of one CPU", "without --trace"],
        &[],
    );
}
