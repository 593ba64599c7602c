//! Servers that go away, and connections that somebody ends.

use crate::postgres::driving::{plan, run, statement, workload};
use crate::postgres::private::{Server, is_there, settings, superuser};
use dbtime_engines::databases::postgres::{PostgresProtocol, PostgresShared};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::{ReconnectPolicy, SocketSettings, drive};
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// An open loop for some seconds, while `meanwhile` happens.
fn driven_while(
    workload: Workload,
    server: &mut Server,
    protocol: StatementProtocol,
    meanwhile: impl FnOnce(&mut Server),
) -> LoadResult {
    let plan = LoadPlan {
        demand: LoadDemand::Open {
            rate: "300/s".parse().expect("a rate"),
            arrivals: "poisson".parse().expect("arrivals"),
        },
        measure: Some(Nanos::from_secs(4)),
        transactions: None,
        rundown: Nanos::from_secs(3),
        late_start: Nanos::from_secs(3),
        ..plan(workload, 8, 0)
    };
    let statements = &plan.workload.statements;
    let shared = Arc::new(PostgresShared::of_workload(superuser(), statements, protocol));
    let sockets = Arc::new(settings(server.unix()));
    let stop = RunStop::default();
    let driven = thread::scope(|scope| {
        let (plan, stop) = (&plan, &stop);
        let load = scope
            .spawn(move || drive::<PostgresProtocol>(plan, &shared, &sockets, &NoObserver, stop));
        thread::sleep(Duration::from_millis(1000));
        meanwhile(server);
        load.join().expect("no panic").expect("connected")
    });
    let counts = driven.recorder.counts();
    assert!(counts.add_up(), "{counts:?}");
    assert!(counts.offered > 1000 && counts.completed > 500, "{counts:?}");
    driven
}

const COUNT: &str = "\
[[operation]]
name = \"o\"
transaction = \"write\"
[operation.keys]
id = { uniform = [1, 8] }
[[operation.statement]]
sql = \"UPDATE counts SET n = n + 1 WHERE id = :id\"
[[operation.statement]]
sql = \"UPDATE counts SET n = n + 1 WHERE id = :id + 100\"
";

fn counters(server: &Server) {
    let mut admin = server.client();
    admin.query("CREATE TABLE counts (id int PRIMARY KEY, n bigint)").expect("created");
    let insert =
        "INSERT INTO counts SELECT i + b, 0 FROM generate_series(1, 8) i, (VALUES (0), (100)) x(b)";
    admin.query(insert).expect("inserted");
}

#[test]
fn a_server_that_is_killed_and_comes_back_is_an_outage() {
    if !is_there() {
        return;
    }
    for protocol in [StatementProtocol::Text, StatementProtocol::Prepared] {
        let mut server = Server::start(&[]);
        counters(&server);
        let driven = driven_while(workload(COUNT), &mut server, protocol, |server| {
            server.kill();
            thread::sleep(Duration::from_millis(300));
            server.run();
        });
        let recorder = &driven.recorder;
        assert!(recorder.connections.lost >= 8, "{:?}", recorder.connections);
        assert!(recorder.counts().failed > 0);
        let outage = recorder.outages.first().expect("an outage");
        let until = outage.until.expect("it came back");
        let length = until - outage.from;
        assert!(length >= Nanos::from_millis(300), "{length}");
        // What was done before and after is both there or not at all.
        let (sums, _) = server
            .client()
            .query(
                "SELECT sum(n) FILTER (WHERE id < 100), sum(n) FILTER (WHERE id > 100) FROM counts",
            )
            .expect("sums");
        assert_eq!(sums.rows[0][0], sums.rows[0][1]);
        let codes: Vec<&str> = recorder.errors.keys().map(String::as_str).collect();
        let known =
            ["57P01", "57P02", "57P03", "ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOENT", "closed"];
        assert!(codes.iter().all(|code| known.contains(code)), "{codes:?}");
    }
}

#[test]
fn connections_that_somebody_ends_are_made_again() {
    if !is_there() {
        return;
    }
    let mut server = Server::start(&[]);
    counters(&server);
    let driven =
        driven_while(workload(COUNT), &mut server, StatementProtocol::Prepared, |server| {
            let mut admin = server.client();
            for _ in 0..20 {
                let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE pid <> pg_backend_pid() AND datid IS NOT NULL";
                admin.query(end).expect("ended");
                thread::sleep(Duration::from_millis(20));
            }
        });
    let recorder = &driven.recorder;
    assert!(recorder.connections.lost >= 8, "{:?}", recorder.connections);
    assert!(recorder.connections.times.count() > 8);
}

/// A pause in which the connection is ended.
const PAUSED: &str = "\
[[operation]]
name = \"o\"
transaction = \"write\"
[[operation.statement]]
sql = \"UPDATE counts SET n = n + 1 WHERE id = 1\"
[[operation.statement]]
sql = \"UPDATE counts SET n = n + 1 WHERE id = 101\"
pause = \"600ms\"
";

#[test]
fn a_transaction_whose_connection_is_lost_in_a_pause_has_failed() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    counters(&server);
    let plan = LoadPlan { shards: 1, ..plan(workload(PAUSED), 1, 2) };
    let driven = thread::scope(|scope| {
        let load = scope.spawn(|| run(&plan, settings(server.unix()), StatementProtocol::Prepared));
        thread::sleep(Duration::from_millis(300));
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE pid <> pg_backend_pid() AND datid IS NOT NULL";
        server.client().query(end).expect("ended");
        load.join().expect("no panic")
    });
    let counts = driven.recorder.counts();
    assert_eq!((counts.failed, counts.completed), (1, 1), "{:?}", driven.recorder.errors);
    assert_eq!(driven.recorder.errors.keys().collect::<Vec<_>>(), ["57P01"]);
    let (found, _) =
        server.client().query("SELECT id, n FROM counts WHERE n > 0 ORDER BY id").expect("counts");
    let row = |id: &str| vec![Some(id.to_owned()), Some("1".to_owned())];
    assert_eq!(found.rows, [row("1"), row("101")], "no half of a transaction is there");
}

#[test]
fn statements_that_are_abandoned_are_known_by_their_numbers() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    for reconnect in [ReconnectPolicy::WhenLost, ReconnectPolicy::EveryTransaction] {
        let measure = Some(Nanos::from_millis(200));
        let plan = LoadPlan {
            measure,
            transactions: None,
            ..plan(workload(&statement("SELECT pg_sleep(20)")), 3, 0)
        };
        let driven = run(
            &plan,
            SocketSettings { reconnect, ..settings(server.unix()) },
            StatementProtocol::Text,
        );
        assert_eq!(driven.recorder.counts().unfinished, 3);
        assert_eq!(driven.recorder.connections.abandoned.len(), 3, "{reconnect:?}");
    }
}
