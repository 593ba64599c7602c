//! What is added up in the kernel.

use super::*;

#[test]
fn a_summary_counts_every_statement_and_a_histogram_too() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    for options in ["--summary --every 300ms", "--histogram"] {
        let Some(tracer) = Tracer::start(&sandbox, &server, options) else { return };
        let mut client = RawClient::connect(&server);
        (0..MANY).for_each(|_| client.query("DO 1"));
        client.query("DO SLEEP(0.02)");
        client.query_fails("DO nothing_of_the_kind()");
        // No statements.
        client.ping();
        drop(client);
        std::thread::sleep(Duration::from_millis(700));
        tracer.interrupt();
        let (code, out) = tracer.printed();
        assert_eq!(code, Some(0), "{out}");
        // The distribution of all comes first.
        let all = out.split("Response distribution").nth(1).expect("a distribution");
        let counts = all.lines().filter_map(|line| line.split_once(" |"));
        let counts = counts.filter_map(|(_, row)| row.split_whitespace().last());
        let sum: u64 = counts.map(|count| count.parse::<u64>().expect("a count")).sum();
        assert_eq!(sum, MANY + 2, "{out}");
        assert!(out.contains("1,013 started = 1,013 ended + 0 in flight"), "{out}");
        let told = [
            "Tracing started at ",
            "   throughput ",
            "Tracing ended   at ",
            "1,011 in ",
            "; 1 answered with an error",
            "  not pre-empted ",
            "  sleep ",
            "  unexplained ",
            "  DO SLEEP(?)",
        ];
        for text in told.into_iter().filter(|_| options.contains("summary")) {
            assert!(out.contains(text), "`{text}`: {out}");
        }
    }
}

#[test]
fn waits_for_files_are_added_up_and_are_the_parts_of_the_statements() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    server.sql("CREATE TABLE f (id INT PRIMARY KEY, n INT) ENGINE=InnoDB");
    let Some(tracer) = Tracer::start(&sandbox, &server, "--record it.trace --summary") else {
        return;
    };
    let mut client = RawClient::connect(&server);
    (0..200).for_each(|id| client.query(&format!("INSERT INTO d.f VALUES ({id}, 1)")));
    drop(client);
    tracer.interrupt();
    let (_, out) = tracer.printed();
    let file = std::fs::read_to_string(sandbox.path("it.trace")).expect("a recording");
    let end: Value =
        file.lines().last().and_then(|line| serde_json::from_str(line).ok()).expect("JSON");
    let totals = &end["end"]["totals"];
    // What is nothing is not written.
    let number = |value: &Value| match value {
        Value::Null => 0.0,
        value => value.as_f64().expect("a number"),
    };
    let statements = totals["statements"].as_array().expect("a list");
    let lists = statements.iter().filter_map(|row| row["totals"]["files"].as_array());
    let files: Vec<&Value> = lists.flatten().collect();
    let mut all = 0.0;
    assert!(statements.iter().any(|row| number(&row["totals"]["parts"]["cpu_us"]) > 0.0), "{end}");
    for part in ["io_read", "io_write", "sync"] {
        let of_files = files.iter().filter(|row| row["part"] == part);
        let of_files: f64 = of_files.map(|row| number(&row["length_us"])).sum();
        let parts = statements.iter().map(|row| &row["totals"]["parts"][format!("{part}_us")]);
        let of_statements: f64 = parts.map(number).sum();
        assert!((of_files - of_statements).abs() < 1.0, "{part}: {of_files} {of_statements} {out}");
        all += of_files;
    }
    assert!(all > 0.0, "each is on disk before it is answered: {totals}");
    assert!(out.contains("\nWaits for files\n") && out.contains("  ib_logfile0  "), "{out}");
    // The statement that waited says so too.
    let (_, insert) =
        out.split_once("INSERT INTO d.f VALUES (...)").unwrap_or_else(|| panic!("{out}"));
    let below: String = insert.lines().skip(1).take(3).collect();
    assert!(below.contains(" of ib_logfile0 "), "{out}");
}

/// What a summary says of a statement: its calls.
pub(super) fn calls(summary: &str, statement: &str) -> u64 {
    let mut lines = summary.lines().skip_while(|line| line.trim() != statement);
    let row = lines.nth(1).unwrap_or_else(|| panic!("{statement}: {summary}"));
    let calls = row.split('%').nth(1).and_then(|row| row.split_whitespace().next());
    calls.expect("a column").replace(',', "").parse().expect("a count")
}

#[test]
fn statements_are_added_up_by_their_shape_and_what_was_prepared_by_its_text() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let mut early = RawClient::connect(&server);
    let old = early.prepare("DO ?*8");
    let Some(tracer) = Tracer::start(&sandbox, &server, "--summary") else { return };
    let mut client = RawClient::connect(&server);
    for number in 0..MANY {
        client.query(&format!("DO {number}, 'it''s \\'{number}'"));
        client.query(&format!("DO 1 IN ({})", vec!["7"; 1 + number as usize % 5].join(", ")));
        client.query(&format!("DO /* {number} */ 4"));
        client.query(&format!("DO -{number}.5e{}", number % 7));
    }
    let id = client.prepare("DO ?+3");
    (0..MANY).for_each(|_| client.execute(id, 5));
    early.execute(old, 1);
    client.query(&format!("DO {}", "x'41',".repeat(400) + "1"));
    tracer.interrupt();
    let (code, out) = tracer.printed();
    assert_eq!(code, Some(0), "{out}");
    for (statement, count) in [
        ("DO ?, ?", MANY),
        ("DO ? IN (...)", MANY),
        ("DO ?", MANY),
        ("DO -?", MANY),
        ("DO ?+?", MANY),
        // Prepared before: the server was asked.
        ("DO ?*?", 1),
    ] {
        assert_eq!(calls(&out, statement), count, "{statement}: {out}");
    }
    assert!(out.contains(&format!("  {} in ", dbtime_count(5 * MANY + 2))), "{out}");
}

/// A number as reports have it.
fn dbtime_count(number: u64) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

#[test]
fn statements_for_whom_there_is_no_row_share_one_and_are_all_counted() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    let Some(tracer) = Tracer::start(&sandbox, &server, "--summary") else { return };
    let mut client = RawClient::connect(&server);
    for number in 0..2500 {
        client.query(&format!("SET @n{number} = 1"));
    }
    tracer.interrupt();
    let (_, out) = tracer.printed();
    assert!(out.contains("2,500 in "), "{out}");
    let others = calls(&out, "(others)");
    assert!((400..1000).contains(&others), "{others}: {out}");
}

#[test]
fn answers_from_the_query_cache_are_told_from_those_that_were_not_there() {
    hits_are_told_from_misses(&GivenServer::start(Product::MariaDb, &CACHES));
}

/// A server with a query cache.
pub(super) const CACHES: [(&str, &str); 2] =
    [("query_cache_type", "1"), ("query_cache_size", "4M")];

pub(super) fn hits_are_told_from_misses(server: &GivenServer) {
    let sandbox = Sandbox::new();
    server.sql("CREATE TABLE cached (id INT PRIMARY KEY)");
    let Some(tracer) = Tracer::attach(&sandbox, server, "") else { return };
    let mut client = RawClient::connect(server);
    let before = status(server, "Qcache_hits");
    let ask = |client: &mut RawClient| client.select("SELECT * FROM d.cached WHERE id < 7");
    (0..4).for_each(|_| ask(&mut client));
    client.query("INSERT INTO d.cached VALUES (1)");
    (0..3).for_each(|_| ask(&mut client));
    // Its own changes keep a transaction from what others may have.
    client.query("BEGIN");
    client.query("INSERT INTO d.cached VALUES (2)");
    ask(&mut client);
    client.query("COMMIT");
    let seen = tracer.end();
    let hits = status(server, "Qcache_hits") - before;
    let of = |state: &str| {
        let is_one = |request: &&Value| {
            request["query_cache"] == state && request["text"].as_str().unwrap().contains("id < 7")
        };
        seen.requests.iter().filter(is_one).count() as u64
    };
    assert_eq!((of("hit"), of("miss"), of("not_asked")), (5, 3, 0), "{:?}", seen.requests);
    assert_eq!(hits, 5);
    let summary = Tracer::start(&sandbox, server, "--summary").expect("as before");
    ask(&mut client);
    ask(&mut client);
    summary.interrupt();
    let (_, out) = summary.printed();
    for (kind, count) in [("query-cache hits", "1"), ("query-cache misses", "1")] {
        let row = out.lines().find(|line| line.trim().starts_with(kind)).expect("a row");
        assert_eq!(row.replace(kind, "").split_whitespace().next(), Some(count), "{out}");
    }
}

#[test]
fn equal_steps_take_a_view_that_shows_them() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::MariaDb, &[]));
    sandbox.run("trace --step 1ms").refused(2, &["--summary", "--histogram"]);
    sandbox.run("trace --histogram --step 1500ns").refused(2, &["whole microseconds"]);
    let Some(tracer) = Tracer::start(&sandbox, &server, "--histogram --step 10ms") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO SLEEP(0.025)");
    client.query("DO SLEEP(0.5)");
    tracer.interrupt();
    let (_, out) = tracer.printed();
    let row = |value: &str| {
        let row = out.lines().find(|line| line.trim_start().starts_with(value));
        row.and_then(|row| row.split_whitespace().last()).unwrap_or_else(|| panic!("{out}"))
    };
    assert_eq!((row("20000 |"), row(">= 390000 |")), ("1", "1"), "{out}");
}
