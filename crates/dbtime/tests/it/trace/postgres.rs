//! The same of PostgreSQL.

use super::*;
use crate::raw_postgres::{RawPostgres, message};

/// Waits until a server has nobody in the database that the clients use: who goes has its
/// transactions counted at last.
fn until_alone(server: &GivenServer) {
    let begun = Instant::now();
    let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = 'postgres'";
    while server.sql(sql).value() != Some("0") {
        assert!(begun.elapsed() < PATIENCE, "somebody stays");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Transactions that the server has counted in the database that the clients use.
fn commits(server: &GivenServer) -> u64 {
    until_alone(server);
    let sql = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'";
    server.sql(sql).value().expect("a counter").parse().expect("a number")
}

pub(super) const SETTINGS: [(&str, &str); 1] = [("autovacuum", "off")];

fn start() -> (Sandbox, GivenServer) {
    (Sandbox::new(), GivenServer::start(Product::Postgres, &SETTINGS))
}

#[test]
fn every_request_is_seen_once_by_text_prepared_and_ahead_of_answers() {
    each_is_seen_once(&start().1);
}

pub(super) fn each_is_seen_once(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let before = commits(server);
    let mut early = RawPostgres::connect(server);
    early.prepare("old", "SELECT 8");
    let Some(tracer) = Tracer::attach(&sandbox, server, "--strict") else { return };
    // Its text is requested of the server in the first seconds alone, unless such statements come.
    early.execute("old");
    let mut client = RawPostgres::connect(server);
    for _ in 0..MANY {
        assert_eq!(client.query("SELECT 1"), "TDCZ");
        assert_eq!(client.extended("SELECT 2"), "12DCZ");
    }
    assert_eq!(client.tidying("none", "six", "SELECT 6"), "31tT2DCZ");
    assert_eq!(client.tidying("six", "seven", "SELECT 7"), "31tT2DCZ");
    client.execute("seven");
    client.prepare("three", "SELECT 3");
    (0..MANY).for_each(|_| assert_eq!(client.execute("three"), "2DCZ"));
    client.at_once("three", "SELECT 4", MANY as usize);
    client.behind_a_long_answer("SELECT repeat('x', 100000)", "SELECT 9");
    let long = format!("SELECT '{}'", "x".repeat(9000));
    client.query(&long);
    client.terminate();
    early.query("SELECT 5");
    early.terminate();
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    parts_add_up(&seen.requests);
    assert_eq!(seen.count("Q:QUERY", "SELECT 1"), MANY);
    assert_eq!(seen.count("E:EXECUTE", "SELECT 2"), MANY);
    assert_eq!(seen.count("P:PREPARE", "SELECT 3"), 1);
    assert_eq!(seen.count("E:EXECUTE", "SELECT 3"), 2 * MANY);
    assert_eq!(seen.count("Q:QUERY", "SELECT 4"), MANY);
    assert_eq!(seen.count("Q:QUERY", "SELECT repeat('x', 100000)"), 1);
    // It had come with the one before it, and was read when that was answered.
    let at = |text: &str, name: &str| seen.one(text)[name].as_f64().expect("a time");
    let long_one = at("SELECT repeat('x', 100000)", "response_us");
    assert!(at("SELECT 9", "server_queue_us") >= long_one, "{}", seen.one("SELECT 9"));
    assert_eq!(seen.count("E:EXECUTE", "SELECT 6"), 1);
    assert_eq!(seen.count("E:EXECUTE", "SELECT 7"), 2);
    assert_eq!((seen.count("Q:QUERY", "SELECT 5"), seen.count("X:TERMINATE", "")), (1, 2));
    // Prepared before: the server was asked.
    assert_eq!(seen.count("E:EXECUTE", "SELECT 8"), 1, "{:?}", seen.requests.first());
    assert_eq!(seen.requests.len() as u64, 5 * MANY + 11);
    let cut = seen.requests.iter().find(|request| request["text_state"] == "cut").expect("one");
    assert_eq!(cut["length"], long.len() + 6);
    assert!(long.starts_with(cut["text"].as_str().expect("a text")), "{cut}");
    // Of two logins, one statement that was prepared before, and all that was seen but the ends.
    assert_eq!(commits(server) - before, 2 + 1 + 5 * MANY + 9);
}

#[test]
fn what_is_executed_before_one_sync_is_one_request_that_says_how_often() {
    let (sandbox, server) = start();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let talk = || {
        let mut client = RawPostgres::connect(&server);
        client.prepare("one", "SELECT 1");
        client.prepare("on", "SELECT 2");
        assert_eq!(client.batch("one", 7), "2DC".repeat(7) + "Z");
        assert_eq!(client.batch("on", MANY as usize), "2DC".repeat(MANY as usize) + "Z");
        assert_eq!(client.both("one", "on"), "2DC2DCZ");
        assert_eq!(client.both("on", "one"), "2DC2DCZ");
        assert_eq!(client.pipeline(&["SELECT 3", "SELECT 4", "SELECT 5"]), "12DC".repeat(3) + "Z");
        assert_eq!(client.extended("SELECT 6"), "12DCZ");
        client.terminate();
    };
    talk();
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    let executed = |text: &str| {
        let found = seen.requests.iter().filter(|request| request["text"] == text);
        let found = found.filter(|request| request["command"] == "E:EXECUTE");
        found.map(|request| request["executes"].as_u64()).collect::<Vec<_>>()
    };
    let both = [executed("SELECT 1"), executed("SELECT 2")];
    assert_eq!((both[0][0], both[1][0]), (Some(7), Some(MANY)));
    // Which of two it is known by the times decide, where they are known.
    assert_eq!(both.concat().iter().filter(|executes| **executes == Some(2)).count(), 2);
    let several = seen.requests.iter().filter(|request| !request["statements"].is_null());
    let several: Vec<Vec<&str>> = several.map(batches::texts).collect();
    let three = vec!["SELECT 3", "SELECT 4", "SELECT 5"];
    let expected = [vec!["SELECT 1", "SELECT 2"], vec!["SELECT 2", "SELECT 1"], three];
    assert_eq!(several, expected);
    assert_eq!(executed("SELECT 6"), [Some(1)]);
    let tracer = Tracer::start(&sandbox, &server, "--summary").expect("as before");
    talk();
    tracer.interrupt();
    let (_, out) = tracer.printed();
    // Two batches and one by itself; two by names and one by texts.
    assert_eq!(sums::calls(&out, "SELECT ?"), 6, "{out}");
    assert!(out.contains(&format!("; {} executes", dots(7 + MANY + 1 + 7))), "{out}");
}

/// A number as reports show it.
fn dots(number: u64) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

#[test]
fn statements_are_added_up_and_errors_counted() {
    let (sandbox, server) = start();
    let Some(tracer) = Tracer::start(&sandbox, &server, "--summary") else { return };
    let mut client = RawPostgres::connect(&server);
    client.prepare("one", "SELECT 1 + 41");
    for number in 0..MANY {
        client.query(&format!("SELECT {number}, 'x{number}'"));
        client.execute("one");
        client.extended(&format!("SELECT {number} AS n"));
    }
    assert_eq!(client.query("SELECT * FROM nothing_of_the_kind"), "EZ");
    client.terminate();
    tracer.interrupt();
    let (code, out) = tracer.printed();
    assert_eq!(code, Some(0), "{out}");
    for (statement, count) in [
        ("SELECT ?, ?", MANY),
        ("SELECT ? + ?", MANY),
        ("SELECT ? AS n", MANY),
        ("SELECT * FROM nothing_of_the_kind", 1),
    ] {
        assert_eq!(sums::calls(&out, statement), count, "{statement}: {out}");
    }
    assert!(out.contains("; 1 answered with an error"), "{out}");
}

/// What a statement is about, and what another did, stands before its error.
#[test]
fn errors_are_seen_behind_columns_notices_and_other_statements() {
    let (sandbox, server) = start();
    let mut client = RawPostgres::connect(&server);
    client.query("CREATE TABLE u (a int PRIMARY KEY)");
    client.query("INSERT INTO u VALUES (1)");
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let notice = "DO $$ BEGIN RAISE NOTICE 'n'; RAISE NOTICE 'm'; RAISE EXCEPTION 'x'; END $$";
    let asked = [
        ("Q", "SELECT 1 / (a - 1) FROM u", "TEZ", Some("22012")),
        ("Q", notice, "NNEZ", Some("P0001")),
        ("Q", "INSERT INTO u VALUES (5); INSERT INTO u VALUES (1)", "CEZ", Some("23505")),
        ("Q", "SELECT a FROM u", "TDCZ", None),
        ("E", "INSERT INTO u VALUES (1) RETURNING a", "12TEZ", Some("23505")),
        ("E", "INSERT INTO u VALUES (1)", "12nEZ", Some("23505")),
        ("E", "SELECT a, 'x' FROM u", "12TDCZ", None),
        ("Q", "SELECT 10 / (3 - g) FROM generate_series(1, 9) AS g", "TDDEZ", Some("22012")),
        ("E", "SELECT 9 / (2 - g) FROM generate_series(1, 9) AS g", "12TDEZ", Some("22012")),
    ];
    for (kind, sql, answer, _) in asked {
        let answered = if kind == "Q" { client.query(sql) } else { client.described(sql) };
        assert_eq!(answered, answer, "{sql}");
    }
    let seen = tracer.end();
    seen.is_clean();
    for (_, sql, _, error) in asked {
        assert_eq!(seen.one(sql)["error"].as_str(), error, "{sql}: {}", seen.one(sql));
    }
}

#[test]
fn waits_have_the_servers_own_names_and_their_ends_a_statement() {
    waits_have_names(&start().1);
}

pub(super) fn waits_have_names(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let mut other = RawPostgres::connect(server);
    other.query("CREATE TABLE l (id int PRIMARY KEY, n int)");
    other.query("INSERT INTO l VALUES (1, 1)");
    let Some(tracer) = Tracer::attach(&sandbox, server, "") else { return };
    let (mut holder, mut waiter) = (RawPostgres::connect(server), RawPostgres::connect(server));
    holder.query("SELECT pg_sleep(0.05)");
    holder.query("BEGIN");
    holder.query("UPDATE l SET n = n + 1 WHERE id = 1");
    waiter.ask("UPDATE l SET n = n + 10 WHERE id = 1");
    until_at_rest(server.server.pid());
    holder.query("COMMIT");
    waiter.answered();
    // It asks for more than fits, and reads late, also behind a server that stood still.
    waiter.ask("SELECT repeat('x', 8000000)");
    std::thread::sleep(Duration::from_secs(3));
    waiter.answered();
    holder.query("SELEC");
    assert_eq!(other.query("SELECT 1 / 0"), "EZ");
    let seen = tracer.end();
    seen.is_clean();
    parts_add_up(&seen.requests);
    parts::is_no_lock(seen.one("SELECT pg_sleep(0.05)"));
    let unread = seen.one("SELECT repeat('x', 8000000)");
    assert!(part_ms(unread, "net") >= 1000.0, "{unread}");
    assert_eq!(seen.one("SELEC")["error"], "42601");
    assert_eq!(seen.one("SELECT 1 / 0")["error"], "22012");
    let (waited, commit) = (seen.one("UPDATE l SET n = n + 10 WHERE id = 1"), seen.one("COMMIT"));
    let blocker = &waited["blocker"];
    assert_eq!(blocker["lock"], "transactionid", "{waited}");
    assert_eq!(blocker["connection"], commit["connection"], "{waited}");
    assert_eq!(blocker["statement"], "COMMIT", "{waited}");
    waits_for_its_commit(waited, commit);
}

#[test]
fn lightweight_locks_have_the_names_that_their_server_gives_them() {
    let slow = [&SETTINGS[..], &SLOW_COMMITS].concat();
    lightweight_locks_have_names(&GivenServer::start(Product::Postgres, &slow));
}

/// Whoever writes the log waits for others to join, as behind a slow disk. Unit: microseconds.
const SLOW_COMMITS: [(&str, &str); 2] = [("commit_delay", "2000"), ("commit_siblings", "1")];

pub(super) fn lightweight_locks_have_names(server: &GivenServer) {
    let sandbox = Sandbox::new();
    server.sql("CREATE TABLE w (n int)");
    let Some(tracer) = Tracer::attach(&sandbox, server, "") else { return };
    // Whoever commits waits for whoever writes the log.
    let line = format!(
        "run --query 'INSERT INTO w VALUES (1)' --connections 8 --transactions {} --target '{}' \
         --no-record",
        4 * MANY,
        server.target()
    );
    sandbox.run(&line).exits(0);
    let seen = tracer.end();
    let locks = seen.requests.iter().filter_map(|request| request["blocker"]["lock"].as_str());
    let is_light = |lock: &&str| lock.starts_with(|first: char| first.is_ascii_uppercase());
    let locks: Vec<&str> = locks.filter(is_light).collect();
    assert!(locks.contains(&"WALWrite"), "{locks:?}");
    assert!(!locks.contains(&"LWLock"), "{locks:?}");
}

#[test]
fn files_have_the_names_of_what_is_in_them() {
    files_have_names(&start().1);
}

pub(super) fn files_have_names(server: &GivenServer) {
    let number = |sql: &str| server.sql(sql).value().expect("a number").to_owned();
    let node = |name: &str| number(&format!("SELECT pg_relation_filenode('{name}')"));
    server.sql("CREATE TABLE orders (id int PRIMARY KEY, text text)");
    server.sql("INSERT INTO orders VALUES (1, 'x')");
    for change in ["VACUUM FULL orders", "ALTER TABLE orders RENAME TO sold", "CHECKPOINT"] {
        server.sql(change);
    }
    let own = number("SELECT oid FROM pg_database WHERE datname = 'd'");
    let name = |folder: &str, file: String| {
        dbtime_observe::trace::file_name(server.server.pid(), &format!("{folder}/{file}"))
    };
    for (relation, known) in [
        ("sold", "d/sold"),
        ("orders_pkey", "d/orders_pkey"),
        // Their file nodes stand in the map, and that of the second is not its number any more.
        ("pg_class", "d/pg_class"),
        ("pg_attribute", "d/pg_attribute"),
    ] {
        assert_eq!(name(&own, node(relation)).as_deref(), Some(known));
        let part = name(&own, format!("{}_vm", node(relation)));
        assert_eq!(part.as_deref(), Some(&*format!("{known} (vm)")));
    }
    let shared = name("global", node("pg_database"));
    assert_eq!(shared.as_deref(), Some("global/pg_database"));
    let toast = number("SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'sold'");
    assert!(name(&own, node(&toast)).is_some_and(|name| name.starts_with("d/pg_toast_")));
    server.sql("VACUUM FULL pg_attribute");
    server.sql("CHECKPOINT");
    assert_eq!(name(&own, node("pg_attribute")).as_deref(), Some("d/pg_attribute"));
}

#[test]
fn tables_that_are_waited_for_are_named() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::on_disk(Product::Postgres, &SETTINGS));
    let mut client = RawPostgres::connect(&server);
    let statement = "CREATE DATABASE copied STRATEGY file_copy";
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    // File by file, each of which has to be on disk.
    assert_eq!(client.query(statement), "CZ");
    let seen = tracer.end();
    let files = seen.one(statement)["files"].as_array().expect("a list").clone();
    let names: Vec<&str> = files.iter().filter_map(|file| file["name"].as_str()).collect();
    assert!(names.iter().any(|name| name.starts_with("copied/pg_")), "{files:?}");
    let Some(tracer) = Tracer::start(&sandbox, &server, "--summary") else { return };
    client.query("DROP DATABASE copied");
    client.query(statement);
    tracer.interrupt();
    let (_, out) = tracer.printed();
    assert!(out.contains(" copied/pg_"), "{out}");
}

#[test]
fn a_copy_is_one_request_and_its_client_the_net() {
    let (sandbox, server) = start();
    let mut client = RawPostgres::connect(&server);
    client.query("CREATE TABLE c (n int)");
    client.query("CREATE TABLE e (t text)");
    let mut early = RawPostgres::connect(&server);
    early.ask("COPY e FROM STDIN");
    assert_eq!(early.until(b'G'), "G");
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    client.ask("COPY c FROM STDIN");
    assert_eq!(client.until(b'G'), "G");
    for number in 0..3000 {
        client.send(&message(b'd', format!("{number}\n").as_bytes()));
    }
    std::thread::sleep(Duration::from_secs(3)); // longer than it may need for those before
    client.send(&message(b'd', &b"7\n".repeat(20_000)));
    client.send(&message(b'c', b""));
    assert_eq!(client.answered(), "CZ");
    assert_eq!(client.query("COPY c TO STDOUT").matches('d').count(), 23_000);
    client.query("SELECT 1");
    // The second read of these, of 8 KiB each, begins as a message does.
    early.send(&message(b'd', &b"B1\n".repeat(20_000)));
    early.send(&message(b'c', b""));
    assert_eq!(early.answered(), "CZ");
    early.query("SELECT 2");
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    let texts: Vec<&str> =
        seen.requests.iter().map(|request| request["text"].as_str().expect("a text")).collect();
    assert_eq!(texts, ["COPY c FROM STDIN", "COPY c TO STDOUT", "SELECT 1", "SELECT 2"]);
    assert_eq!(seen.counted("partial"), 1, "{}", seen.ledger);
    assert!(part_ms(&seen.requests[0], "net") >= 1000.0, "{}", seen.requests[0]);
}

#[test]
fn many_connections_by_socket_and_tcp_are_seen_to_the_last_request() {
    let (sandbox, server) = start();
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    for target in [server.target(), server.target_tcp()] {
        for protocol in ["text", "prepared"] {
            let line = format!(
                "run --query 'SELECT 4711' --connections 8 --transactions {MANY} \
                 --protocol {protocol} --target '{target}' --no-record"
            );
            sandbox.run(&line).exits(0);
        }
    }
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    parts_add_up(&seen.requests);
    let of = |command: &str| seen.count(command, "SELECT 4711");
    assert_eq!(of("Q:QUERY") + of("E:EXECUTE"), 4 * MANY, "{}", seen.ledger);
}
