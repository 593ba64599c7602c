//! Servers that go away, and connections that somebody ends.

use crate::postgres::driving::{plan, run, statement, workload};
use crate::postgres::private::{Server, is_there, settings, superuser};
use dbtime_engines::databases::postgres::{PostgresProtocol, PostgresShared};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::{ReconnectPolicy, SocketSettings, drive};
use dbtime_load::workload::Workload;
use dbtime_machine::now;
use dbtime_model::Nanos;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How many transactions are offered each second.
const RATE: f64 = 300.0;

/// How long a load may take to come to what is waited for.
const PATIENCE: Nanos = Nanos::from_secs(90);

/// Ends a load when it goes, also where a wait fails: the load would go on for minutes.
struct LoadEnd<'a>(&'a RunStop);

impl Drop for LoadEnd<'_> {
    fn drop(&mut self) {
        self.0.at(now());
    }
}

/// An open loop that works, `meanwhile` happens, and that works again; of a workload that counts.
fn driven_while(
    workload: Workload,
    server: &mut Server,
    protocol: StatementProtocol,
    meanwhile: impl FnOnce(&mut Server),
) -> LoadResult {
    let plan = LoadPlan {
        demand: LoadDemand::Open {
            rate: format!("{RATE}/s").parse().expect("a rate"),
            arrivals: "poisson".parse().expect("arrivals"),
        },
        // It is ended before.
        measure: Some(Nanos::from_secs(200)),
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
        let end = LoadEnd(stop);
        wait_for_transactions(server, 300.0);
        meanwhile(server);
        wait_for_transactions(server, 300.0);
        drop(end);
        load.join().expect("no panic").expect("connected")
    });
    let counts = driven.recorder.counts();
    assert!(counts.add_up() && counts.completed > 500, "{counts:?}");
    // They are due whether there is a server or not.
    let due = RATE * (stop.instant() - driven.start).as_secs();
    assert!(counts.offered as f64 > 0.8 * due, "{counts:?} of {due}");
    driven
}

/// Waits until the load has committed so many more.
fn wait_for_transactions(server: &Server, more: f64) {
    let (mut admin, begun) = (server.client(), now());
    let mut committed = || {
        let (sum, _) = admin.query("SELECT sum(n) / 2 FROM counts").expect("a sum");
        sum.value().and_then(|sum| sum.parse::<f64>().ok()).expect("a number")
    };
    let wanted = committed() + more;
    while committed() < wanted {
        assert!(now() - begun < PATIENCE, "nothing is committed");
        thread::sleep(Duration::from_millis(10));
    }
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
            thread::sleep(Duration::from_secs(1));
            server.run();
        });
        let recorder = &driven.recorder;
        assert!(recorder.connections.lost >= 8, "{:?}", recorder.connections);
        assert!(recorder.counts().failed > 0);
        let over = recorder.outages.iter().filter_map(|outage| Some(outage.until? - outage.from));
        let length = over.max().expect("it came back");
        // It was gone for a second; its processes, and the driver, may take a while to notice.
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
pause = \"2s\"
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
        // Found and ended in one statement: it is in its pause however late this thread is.
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE pid <> pg_backend_pid() AND state = 'idle in transaction' \
                   AND clock_timestamp() - state_change > interval '200 ms'";
        let (mut admin, begun) = (server.client(), now());
        while admin.query(end).expect("asked").0.rows.is_empty() {
            assert!(now() - begun < PATIENCE, "nobody pauses");
            thread::sleep(Duration::from_millis(10));
        }
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
        // All have begun by then, and none has ended.
        let measure = Some(Nanos::from_secs(3));
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
