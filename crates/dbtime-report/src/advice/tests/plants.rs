//! Causes that are planted in a record: the first line of the advice names each, on both servers.

use super::{counting, mariadb, postgres};
use crate::advice::RunAdvice;
use dbtime_model::Part;
use dbtime_model::record::{
    BudgetCpuHolder, BudgetFileWait, BudgetLockHolder, CpuHolderKind, LoadMode, OutsideHolder,
    RunRecord, ServerInfo, SpanInfo, StatementSummary, TraceInfo, WaitedFile,
};

/// A traced run of this server with these parts of its mean; what they leave is `cpu`.
type PlantedServer = fn(&[(Part, f64)]) -> RunRecord;

/// A cause, the record of a run that has it, and what the first line says of it.
type AdvicePlant = (&'static str, fn(PlantedServer) -> RunRecord, &'static [&'static str]);

/// What there is of any run on a machine of two CPUs, traced.
fn traced(mut record: RunRecord) -> RunRecord {
    record.trace = Some(TraceInfo::default());
    record.environment.cpus = 2;
    record.environment.memory_bytes = 8 << 30;
    record.round_trips_per_tx = Some(1.0);
    record.window.measure_s = 10.0;
    record.server = Some(ServerInfo { cpus: 2, wall_s: 10.0, cpu_s: 4.0, ..ServerInfo::default() });
    record.throughput_tps = 100.0;
    record.latency_us.service.mean = 1000.0;
    record
}

fn on(server: PlantedServer, parts: &[(Part, f64)]) -> RunRecord {
    traced(server(parts))
}

fn cpu_of(kind: CpuHolderKind, process: &str, share_pct: f64) -> BudgetCpuHolder {
    let (process, thread) = (Some(process.to_owned()), Some(process.to_owned()));
    let count = Some(10);
    BudgetCpuHolder { kind, process, thread, count, wait_s: 1.0, share_pct, pid: None }
}

/// Waits for a lock that somebody let go at that statement.
fn locked(mut record: RunRecord, holder: &str, lock: &str) -> RunRecord {
    record.lock_holders = vec![BudgetLockHolder {
        waiter: "tpcb: commit".to_owned(),
        holder: holder.to_owned(),
        lock: Some(lock.to_owned()),
        count: 100,
        wait_s: 5.0,
        ..BudgetLockHolder::default()
    }];
    record
}

/// The same by a connection of somebody else.
fn outside(record: RunRecord, transaction: Option<(f64, f64)>) -> RunRecord {
    let mut record = locked(record, "COMMIT", "row lock");
    record.lock_holders[0].outside = Some(OutsideHolder {
        server_id: Some(12),
        last_statement: transaction.map(|_| "UPDATE l SET n = ?".to_owned()),
        transaction_us: transaction.map(|(length, _)| length),
        idle_us: transaction.map(|(_, idle)| idle),
        has_left: false,
    });
    record
}

fn waited(mut record: RunRecord, part: Part, kind: WaitedFile, file: Option<&str>) -> RunRecord {
    record.file_waits = Some(vec![BudgetFileWait {
        waiter: Some("tpcb: commit".to_owned()),
        kind,
        file: file.map(str::to_owned),
        part,
        count: Some(100),
        wait_s: 1.0,
        share_pct: 95.0,
    }]);
    record
}

fn failing(mut record: RunRecord, code: &str) -> RunRecord {
    record.errors = [(code.to_owned(), 200)].into();
    record.counts.retries = 200;
    record
}

/// A hog leaves its mark on all that waits for a CPU, and the server little of the machine.
fn crowded(server: PlantedServer, holders: Option<Vec<BudgetCpuHolder>>) -> RunRecord {
    let waits = [(Part::ServerQueue, 250.0), (Part::RunqWoken, 150.0), (Part::Client, 100.0)];
    let mut record = on(server, &[&waits[..], &[(Part::Wire, 300.0)]].concat());
    record.round_trips_per_tx = Some(4.0);
    record.environment.foreign_cpu_pct = 89.0;
    record.server = Some(ServerInfo { cpus: 2, wall_s: 10.0, cpu_s: 0.5, ..ServerInfo::default() });
    record.cpu_holders = holders;
    record
}

const PLANTS: [AdvicePlant; 30] = [
    (
        "CPU quota",
        |server| on(server, &[(Part::Throttled, 250.0), (Part::ServerQueue, 400.0)]),
        &["the CPU limit of the server's control group"],
    ),
    (
        "CPU quota behind a queue",
        |server| on(server, &[(Part::Throttled, 40.0), (Part::Queue, 900.0)]),
        &["the CPU limit of the server's control group"],
    ),
    (
        "hog, whatever its niceness",
        |server| {
            let hog = cpu_of(CpuHolderKind::Other, "hog", 70.0);
            crowded(server, Some(vec![hog, cpu_of(CpuHolderKind::Server, "server", 20.0)]))
        },
        &["hog had the CPUs", "not part of the run"],
    ),
    (
        "hog whose name is not known",
        |server| crowded(server, None),
        &["other processes had 89 % of the machine's CPU time"],
    ),
    (
        "hog on a server that is not traced",
        |server| {
            let mut record = on(server, &[(Part::ServerAndWire, 950.0), (Part::Lag, 40.0)]);
            (record.trace, record.environment.foreign_cpu_pct) = (None, 89.0);
            record.server.as_mut().expect("it is there").cpu_s = 0.5;
            record
        },
        &["other processes had 89 % of the machine's CPU time"],
    ),
    (
        "outside holder, idle in its transaction",
        |server| outside(on(server, &[(Part::Lock, 600.0)]), Some((30_000.0, 29_000.0))),
        &["connection 12", "not part of", "idle in transaction after UPDATE l", "29.0 ms"],
    ),
    (
        "outside holder that works",
        |server| outside(on(server, &[(Part::Lock, 600.0)]), None),
        &["connection 12", "not part of this run", "executed COMMIT"],
    ),
    (
        "outside holder behind a queue",
        |server| outside(on(server, &[(Part::Lock, 90.0), (Part::Queue, 890.0)]), None),
        &["connection 12, which is not part of this run"],
    ),
    (
        "a lock never released",
        |server| locked(on(server, &[(Part::Lock, 600.0)]), BudgetLockHolder::NOBODY, "row lock"),
        &["a lock whose holder is not known", "a timer or a signal ended the wait"],
    ),
    (
        "missing index",
        |server| {
            let rows = [("Handler_read_rnd_next", 50_000.0), ("tup_returned", 50_000.0)];
            counting(on(server, &[(Part::Wire, 50.0)]), &rows)
        },
        &["many rows are read for few, as without an index, mostly by tpcb: commit"],
    ),
    (
        "slow sync, or syncs of others",
        |server| {
            let record = on(server, &[(Part::Sync, 800.0)]);
            waited(record, Part::Sync, WaitedFile::Named, Some("log"))
        },
        &["transactions wait for syncs of log: the disk is slow, or others use it too"],
    ),
    ("slow reader", |server| on(server, &[(Part::Net, 700.0)]), &["the client, or the way to it"]),
    (
        "large results",
        |server| {
            let mut record = on(server, &[(Part::Net, 700.0)]);
            record.statements[1].rows = 40_000_000;
            record
        },
        &["results are large", "tpcb: commit returns 40,000 rows"],
    ),
    (
        "small pool",
        |server| {
            let mut record = on(server, &[(Part::Queue, 900.0)]);
            record.load.mode = LoadMode::Open;
            (record.load.connections, record.throughput_tps) = (2, 1900.0);
            record
        },
        &["the pool is small: transactions wait for one of 2 connections"],
    ),
    (
        "checkpoint",
        |server| {
            let record = on(server, &[(Part::IoWrite, 700.0)]);
            waited(record, Part::IoWrite, WaitedFile::Named, Some("account.ibd"))
        },
        &["writes of account.ibd", "a checkpoint"],
    ),
    (
        "server busy with a log of its own",
        |server| {
            let record = on(server, &[(Part::IoWrite, 700.0)]);
            waited(record, Part::IoWrite, WaitedFile::Named, Some("general.log"))
        },
        &["writes of general.log", "a log of the server"],
    ),
    (
        "network delay",
        |server| on(server, &[(Part::Wire, 900.0)]),
        &["the network, a relay or a proxy", "900 µs"],
    ),
    (
        "stopped server",
        |server| on(server, &[(Part::Stopped, 300.0), (Part::Wire, 500.0)]),
        &["the server was stopped or frozen"],
    ),
    (
        "stop behind a queue",
        |server| on(server, &[(Part::Stopped, 60.0), (Part::Queue, 900.0)]),
        &["the server was stopped or frozen"],
    ),
    (
        "page faults and swap",
        |server| {
            waited(on(server, &[(Part::IoRead, 700.0)]), Part::IoRead, WaitedFile::Mapped, None)
        },
        &["pages of memory had to be read back from swap", "memory is short"],
    ),
    (
        "small cache",
        |server| {
            let mut record = on(server, &[(Part::IoRead, 700.0)]);
            record.target.data_bytes = Some(6 << 30);
            waited(record, Part::IoRead, WaitedFile::Named, Some("account.ibd"))
        },
        &["pages of account.ibd are read from the disk: the caches do not hold them"],
    ),
    (
        "lock order of MySQL",
        |server| {
            failing(locked(on(server, &[(Part::Lock, 600.0)]), "tpcb: commit", "row lock"), "1213")
        },
        &["deadlocks (1213: 200 times)", "in different orders"],
    ),
    (
        "lock order of PostgreSQL",
        |server| failing(on(server, &[(Part::Backoff, 600.0)]), "40P01"),
        &["deadlocks (40P01: 200 times)", "in different orders"],
    ),
    (
        "hot row",
        |server| locked(on(server, &[(Part::Lock, 600.0)]), "tpcb: commit", "row lock"),
        &["many change the same rows: transactions wait for tpcb: commit"],
    ),
    (
        "round trips",
        |server| {
            let mut record = on(server, &[(Part::Wire, 700.0)]);
            record.round_trips_per_tx = Some(20.0);
            record
        },
        &["20 round trips per transaction: each statement waits for the answer"],
    ),
    (
        "statements that are not prepared",
        |server| {
            let mut record = on(server, &[(Part::Wire, 550.0)]);
            record.target.protocol = Some("text".to_owned());
            record.budget_us = Some(super::budget(600.0, &[(Part::Wire, 150.0)]));
            record.statements[1].budget_us = record.budget_us;
            record
        },
        &["statements are sent as text: the server parses and plans tpcb: commit each time"],
    ),
    (
        "connection per transaction",
        |server| {
            let mut record = on(server, &[(Part::ServerAndWire, 700.0)]);
            record.load.reconnect = Some("every-transaction".to_owned());
            record
        },
        &["a connection is made for each transaction"],
    ),
    (
        "client at its limit",
        |server| {
            let mut record = on(server, &[(Part::Lag, 300.0), (Part::Wire, 600.0)]);
            record.client.busy = 0.97;
            record
        },
        &["dbtime is at its limit"],
    ),
    (
        "throttled client",
        |server| {
            let mut record = on(server, &[(Part::Lag, 300.0), (Part::Wire, 600.0)]);
            record.client.throttled_s = Some(4.0);
            record
        },
        &["the CPU limit of dbtime's own control group"],
    ),
    (
        "stopped client",
        |server| {
            let mut record = on(server, &[(Part::Lag, 700.0)]);
            record.client.standstills = vec![SpanInfo { from_s: 1.0, until_s: 2.0 }];
            record
        },
        &["dbtime itself stood still"],
    ),
];

fn first_line(record: &RunRecord) -> String {
    let all = RunAdvice::of(record);
    let first = all.advice.first().unwrap_or_else(|| panic!("no advice: {:?}", record.budget_us));
    first.cause.clone()
}

#[test]
fn the_first_line_names_what_was_planted() {
    for (name, plant, words) in PLANTS {
        for server in [mariadb as PlantedServer, postgres] {
            let line = first_line(&plant(server));
            words.iter().for_each(|words| assert!(line.contains(words), "{name}: {line}"));
        }
    }
}

/// What the run's own operation is told to do is nothing that somebody else has to.
#[test]
fn somebody_else_s_lock_is_no_reason_to_shorten_an_operation() {
    let record = outside(on(mariadb, &[(Part::Lock, 600.0)]), Some((30_000.0, 29_000.0)));
    super::says(&record, "lock_waits", &["were for COMMIT", "KILL 12"], &["shorten", "as late in"]);
    let record = outside(on(postgres, &[(Part::Lock, 600.0)]), Some((30_000.0, 29_000.0)));
    super::says(&record, "lock_waits", &["pg_terminate_backend(12)"], &["KILL"]);
    let own = locked(on(postgres, &[(Part::Lock, 600.0)]), "tpcb: commit", "row lock");
    super::says(&own, "lock_waits", &["shorten tpcb: commit", "as late in"], &["terminate"]);
}

/// MariaDB has the locks of GET_LOCK among those on tables.
#[test]
fn a_lock_of_the_application_is_no_locked_table() {
    let mut record = locked(on(mariadb, &[(Part::Lock, 600.0)]), "tpcb: commit", "metadata lock");
    assert!(first_line(&record).starts_with("a whole table is locked"));
    let executed = |fingerprint: &str| StatementSummary {
        operation: "tpcb".to_owned(),
        name: "commit".to_owned(),
        fingerprint: fingerprint.to_owned(),
        ..StatementSummary::default()
    };
    record.statements.push(executed("ALTER TABLE target_locks ADD n INT"));
    assert!(first_line(&record).starts_with("a whole table is locked"));
    record.statements.push(executed("SELECT Get_Lock (?, ?)"));
    assert!(first_line(&record).starts_with("the application's own lock"));
    super::says(&record, "lock_waits", &["look at the application"], &["LOCK TABLES"]);
}

/// A server that was stopped is told before one with a limit, and that before a crowd.
#[test]
fn what_changes_all_else_comes_first_in_its_own_order() {
    let parts = [(Part::Stopped, 110.0), (Part::Throttled, 120.0), (Part::RunqWoken, 130.0)];
    let mut record = on(mariadb, &[&parts[..], &[(Part::Wire, 400.0)]].concat());
    record.environment.foreign_cpu_pct = 89.0;
    let all = RunAdvice::of(&record);
    let rules: Vec<_> = all.advice.iter().map(|advice| advice.rule).collect();
    assert_eq!(rules, ["stopped", "cpu_limit", "foreign_cpu", "round_trips", "server_cpu"]);
    // What little of it there is changes nothing.
    let few = on(mariadb, &[(Part::Stopped, 20.0), (Part::Sync, 500.0)]);
    assert!(first_line(&few).starts_with("transactions wait for syncs"));
}

/// Of what a simulated network takes it is known that it is not theirs.
#[test]
fn a_crowd_has_no_part_in_what_a_simulated_network_may_take() {
    let mut record = on(mariadb, &[(Part::ServerAndWire, 900.0)]);
    record.environment.foreign_cpu_pct = 89.0;
    let first = |record: &RunRecord| RunAdvice::of(record).advice[0].rule;
    assert_eq!(first(&record), "foreign_cpu");
    record.load.network_delay_us = Some(400.0);
    assert_eq!(first(&record), "untraced");
}

/// What keeps connections busy from outside has a part in their queue.
#[test]
fn what_holds_up_connections_from_outside_is_told_with_their_queue() {
    let these = ["queue (900 µs) is partly a", "at most 960 µs of 1.00 ms without both"];
    for server in [mariadb as PlantedServer, postgres] {
        for (part, rule) in [
            (Part::Stopped, "stopped"),
            (Part::Throttled, "cpu_limit"),
            (Part::RunqWoken, "foreign_cpu"),
        ] {
            let of = |queue, us| {
                let mut record = on(server, &[(Part::Queue, queue), (part, us)]);
                record.environment.foreign_cpu_pct = 89.0;
                record.server.as_mut().expect("it is there").cpu_s = 0.5;
                record
            };
            super::says(&of(900.0, 60.0), rule, &these, &[]);
            super::says(&of(500.0, 120.0), rule, &[], &["a consequence"]);
            super::says(&of(90.0, 600.0), rule, &[], &["a consequence"]);
        }
    }
    let crowded = |parts: &[(Part, f64)]| {
        let mut record = on(mariadb, &[parts, &[(Part::Queue, 800.0)]].concat());
        (record.trace, record.environment.foreign_cpu_pct) = (None, 89.0);
        record.server.as_mut().expect("it is there").cpu_s = 0.5;
        record
    };
    let unsplit = crowded(&[(Part::ServerAndWire, 150.0)]);
    super::says(&unsplit, "foreign_cpu", &["may be partly a consequence"], &[]);
    let late = crowded(&[(Part::Lag, 150.0)]);
    super::says(&late, "foreign_cpu", &[], &["a consequence"]);
}

/// A queue is the pool's doing only where more connections would not wait for the same.
#[test]
fn a_queue_stands_behind_what_makes_it() {
    let record = on(postgres, &[(Part::Queue, 800.0), (Part::Lock, 150.0)]);
    let rules: Vec<_> = RunAdvice::of(&record).advice.iter().map(|advice| advice.rule).collect();
    assert_eq!(rules, ["lock_waits", "pool_queue"]);
    let record = on(postgres, &[(Part::Queue, 800.0), (Part::Sleep, 150.0)]);
    let rules: Vec<_> = RunAdvice::of(&record).advice.iter().map(|advice| advice.rule).collect();
    assert_eq!(rules, ["pool_queue", "pauses"]);
}
