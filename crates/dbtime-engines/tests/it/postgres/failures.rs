//! Failed statements are outcomes: counted by code, tried again by class.

use crate::postgres::driving::{drive_with, once, plan, run, statement, workload};
use crate::postgres::private::{Server, is_there, settings};
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::{ReconnectPolicy, SocketSettings};
use dbtime_load::pipelining::Pipelining;
use dbtime_model::Nanos;
use std::sync::Arc;

const BOTH: [StatementProtocol; 2] = [StatementProtocol::Text, StatementProtocol::Prepared];

#[test]
fn errors_are_counted_by_code_and_the_connection_goes_on() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut admin = server.client();
    admin.query("CREATE TABLE t (id int PRIMARY KEY)").expect("created");
    admin.query("INSERT INTO t VALUES (1)").expect("inserted");
    let cases = [
        ("SELECT * FROM missing", "42P01"),
        ("SELEC 1", "42601"),
        ("SELECT 1 / (count(*) - 1) FROM t", "22012"),
        ("INSERT INTO t VALUES (1)", "23505"),
        ("COPY t FROM STDIN", "57014"),
        ("SELECT 1 FROM t, pg_sleep(0) WHERE id = 'x'", "22P02"),
    ];
    for (sql, code) in cases {
        let text = statement(sql);
        for protocol in BOTH {
            let driven = run(&plan(workload(&text), 2, 20), settings(server.unix()), protocol);
            let counts = driven.recorder.counts();
            assert_eq!((counts.failed, counts.add_up()), (20, true), "{sql} {protocol:?}");
            let codes: Vec<_> = driven.recorder.errors.keys().collect();
            assert_eq!(codes, [code], "{sql} {protocol:?}: {:?}", driven.recorder.errors);
            assert_eq!(driven.recorder.connections.lost, 0, "{sql} {protocol:?}");
        }
    }
    // A failure inside of a transaction is rolled back, and the next transaction is whole again.
    let text = "[[operation]]\nname = \"o\"\ntransaction = \"write\"\n\
        [operation.keys]\nid = { uniform = [1, 2] }\n\
        [[operation.statement]]\nsql = \"INSERT INTO t VALUES (:id + 10)\"\n\
        [[operation.statement]]\nsql = \"SELECT 1 / (:id - 1)\"\n";
    for protocol in BOTH {
        let driven = run(&plan(workload(text), 1, 30), settings(server.unix()), protocol);
        let counts = driven.recorder.counts();
        assert!(counts.add_up() && counts.failed >= 29, "{counts:?}");
        let (rows, _) = admin.query("DELETE FROM t WHERE id = 11 RETURNING id").expect("deleted");
        assert!(rows.rows.is_empty(), "what divided by zero was undone");
        admin.query("DELETE FROM t WHERE id > 10").expect("deleted");
    }
}

#[test]
fn statements_end_at_their_time_out_and_connections_that_do_not_are_given_up() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let limit = Some(Nanos::from_millis(150));
    let target = server.target();
    let plan = LoadPlan { shards: 1, ..plan(workload(&statement("SELECT pg_sleep(20)")), 2, 4) };
    for protocol in BOTH {
        // The server keeps to the limit by itself.
        let shared = Arc::new(target.shared(&plan.workload.statements, protocol, limit));
        let mut sockets = target.sockets(ReconnectPolicy::WhenLost, limit).expect("no TLS");
        // The driver gives it more time; here as much as a server takes that has no CPU.
        assert!(sockets.statement_timeout > limit);
        sockets.statement_timeout = Some(Nanos::from_secs(60));
        let driven = drive_with(&plan, &shared, sockets);
        assert_eq!(driven.recorder.errors["57014"].count, 4, "{:?}", driven.recorder.errors);
        assert_eq!(driven.recorder.connections.lost, 0);
        // It was not told: the connection is given up and made anew.
        let shared = Arc::new(target.shared(&plan.workload.statements, protocol, None));
        let mut sockets = target.sockets(ReconnectPolicy::WhenLost, None).expect("no TLS");
        sockets.statement_timeout = limit;
        let driven = drive_with(&plan, &shared, sockets);
        assert_eq!(driven.recorder.errors["timeout"].count, 4, "{:?}", driven.recorder.errors);
        assert_eq!(driven.recorder.counts().failed, 4);
    }
}

/// Two rows taken in both orders: deadlocks for sure.
const CROSSED: &str = "\
retry = { on = [\"conflict\"], max_tries = 1000, backoff = \"exp:1ms\" }
[[operation]]
name = \"o\"
transaction = \"write\"
[operation.keys]
a = { uniform = [1, 2] }
b = \"3 - a\"
[[operation.statement]]
sql = \"UPDATE pair SET n = n + 1 WHERE id = :a\"
[[operation.statement]]
sql = \"SELECT pg_sleep(0.002)\"
[[operation.statement]]
sql = \"UPDATE pair SET n = n + 1 WHERE id = :b\"
";

#[test]
fn deadlocks_and_serialization_failures_are_tried_again() {
    if !is_there() {
        return;
    }
    let server = Server::start(&["deadlock_timeout=5ms"]);
    let mut admin = server.client();
    admin.query("CREATE TABLE pair (id int PRIMARY KEY, n bigint)").expect("created");
    admin.query("INSERT INTO pair VALUES (1, 0), (2, 0)").expect("inserted");
    let mut expected = 0;
    for (isolation, code) in [("read committed", "40P01"), ("repeatable read", "40001")] {
        let sql =
            format!("ALTER DATABASE postgres SET default_transaction_isolation = '{isolation}'");
        admin.query(&sql).expect("set");
        for protocol in BOTH {
            let driven = run(&plan(workload(CROSSED), 4, 120), settings(server.unix()), protocol);
            let counts = driven.recorder.counts();
            assert_eq!((counts.completed, counts.add_up()), (120, true), "{counts:?}");
            let errors = &driven.recorder.errors;
            assert!(counts.retries > 0 && errors.contains_key(code), "{errors:?}");
            assert!(errors.keys().all(|code| code == "40P01" || code == "40001"), "{errors:?}");
            expected += 120;
            let (sums, _) = admin.query("SELECT n FROM pair ORDER BY id").expect("sums");
            // Each transaction has counted once, however often it was tried.
            let expected = Some(expected.to_string());
            assert_eq!(sums.rows, [[expected.clone()], [expected]]);
        }
    }
}

/// An operation with a key `t` that is one of `texts`; `head` says more of it.
fn with_texts(texts: &str, head: &str, statements: &[&str]) -> String {
    let statement = |sql: &&str| format!("[[operation.statement]]\nsql = \"{sql}\"\n");
    format!(
        "[dictionaries.texts]\nlist = [{texts}]\n[[operation]]\nname = \"o\"\n{head}\n\
         [operation.keys]\nt = {{ dictionary = \"texts\" }}\n{}",
        statements.iter().map(statement).collect::<String>()
    )
}

/// A text that cannot be sent, as a workload writes it.
const UNSENDABLE: &str = "\"a\\u0000b\"";

const WRITE: &str = "transaction = \"write\"";

#[test]
fn what_cannot_be_sent_ahead_fails_its_transaction_and_holds_no_other() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut admin = server.client();
    admin.query("CREATE TABLE t (c text)").expect("created");
    let statements = ["SELECT 1", "INSERT INTO t VALUES (:t)", "SELECT 2"];
    let text = with_texts(UNSENDABLE, WRITE, &statements);
    for pipelining in [Pipelining::Off, Pipelining::Transaction] {
        for protocol in BOTH {
            let plan = LoadPlan { pipelining, ..plan(workload(&text), 2, 6) };
            let driven = run(&plan, settings(server.unix()), protocol);
            let counts = driven.recorder.counts();
            assert_eq!((counts.failed, counts.add_up()), (6, true), "{counts:?}");
            let errors = &driven.recorder.errors;
            assert_eq!(errors["22021"].count, 6, "{errors:?}");
        }
    }
    let (rows, _) = admin.query("SELECT count(*) FROM t").expect("counted");
    assert_eq!(rows.value(), Some("0"));
}

#[test]
fn nothing_goes_ahead_of_what_cannot_be_sent() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut admin = server.client();
    admin.query("CREATE TABLE t (c text)").expect("created");
    admin.query("CREATE TABLE u (n int)").expect("created");
    let statements = ["INSERT INTO t VALUES (:t)", "INSERT INTO u VALUES (1)"];
    let text = with_texts(UNSENDABLE, WRITE, &statements);
    for reconnect in [ReconnectPolicy::WhenLost, ReconnectPolicy::EveryTransaction] {
        for protocol in BOTH {
            let pipelining = Pipelining::Transaction;
            let plan = LoadPlan { pipelining, ..plan(workload(&text), 2, 6) };
            let sockets = SocketSettings { reconnect, ..settings(server.unix()) };
            let driven = run(&plan, sockets, protocol);
            let errors = &driven.recorder.errors;
            assert_eq!((driven.recorder.counts().failed, errors["22021"].count), (6, 6));
        }
    }
    let (rows, _) = admin.query("SELECT count(*) FROM u").expect("counted");
    assert_eq!(rows.value(), Some("0"), "half of a transaction was committed");
}

/// Half of its transactions fail before a statement is met for the first time, and that statement
/// is executed again before its own failure is known.
const REPEATED: &str = "\
[[operation]]
name = \"o\"
transaction = \"write\"
[operation.keys]
d = { uniform = [0, 1] }
[[operation.statement]]
sql = \"SELECT 1 / :d\"
[[operation.statement]]
sql = \"SELECT 2 + :d\"
repeat = 3
[[operation]]
name = \"other\"
[[operation.statement]]
sql = \"SELECT 4\"
";

#[test]
fn a_statement_that_went_out_behind_its_failed_preparation_is_prepared_the_next_time() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    for seed in 1..=4 {
        let pipelining = Pipelining::Transaction;
        let plan = LoadPlan { pipelining, seed, ..plan(workload(REPEATED), 2, 60) };
        let driven = run(&plan, settings(server.unix()), StatementProtocol::Prepared);
        let errors = &driven.recorder.errors;
        assert_eq!(errors.keys().collect::<Vec<_>>(), ["22012"], "{errors:?}");
        let counts = driven.recorder.counts();
        assert!(counts.add_up() && counts.completed > 20, "{counts:?}");
    }
}

#[test]
fn a_first_execution_that_cannot_be_sent_leaves_the_statement_to_be_prepared() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let texts = format!("{UNSENDABLE}, \"ab\"");
    let text = with_texts(&texts, "", &["SELECT length(:t)"]);
    for seed in 1..=4 {
        let plan = LoadPlan { seed, ..plan(workload(&text), 2, 40) };
        let driven = run(&plan, settings(server.unix()), StatementProtocol::Prepared);
        let errors = &driven.recorder.errors;
        assert_eq!(errors.keys().collect::<Vec<_>>(), ["22021"], "{errors:?}");
        assert!(driven.recorder.counts().completed > 8, "{:?}", driven.recorder.counts());
    }
}

#[test]
fn locks_and_read_only_servers_are_told_apart() {
    if !is_there() {
        return;
    }
    let server = Server::start(&["lock_timeout=30ms"]);
    let mut admin = server.client();
    admin.query("CREATE TABLE t (id int)").expect("created");
    admin.query("BEGIN").expect("begun");
    admin.query("LOCK TABLE t").expect("locked");
    for driven in once(&server.unix(), &statement("INSERT INTO t VALUES (1)")) {
        let errors: Vec<_> = driven.recorder.errors.keys().collect();
        assert_eq!(errors, ["55P03"]);
    }
    admin.query("ROLLBACK").expect("released");
    admin.query("ALTER DATABASE postgres SET default_transaction_read_only = on").expect("set");
    for driven in once(&server.unix(), &statement("INSERT INTO t VALUES (1)")) {
        let error = &driven.recorder.errors["25006"];
        assert!(error.message.contains("only reads"), "{error:?}");
    }
}
