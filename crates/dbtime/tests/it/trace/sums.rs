//! What is added up in the kernel.

use super::*;
use crate::small_workloads::write_small;

#[test]
fn a_summary_counts_every_statement_and_a_histogram_too() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    for options in ["--summary --every 300ms", "--histogram"] {
        let Some(tracer) = Tracer::start(&sandbox, &server, options) else { return };
        let mut client = RawClient::connect(&server);
        (0..MANY).for_each(|_| client.query("DO 1"));
        client.query("DO SLEEP(0.02)");
        client.query_fails("DO nothing_of_the_kind()");
        // No statements.
        client.ping();
        drop(client);
        if options.contains("--every") {
            tracer.until_printed("   throughput ", 2);
        }
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
    const LIGHT: u64 = 8_000;
    let (sandbox, server) = (Sandbox::new(), GivenServer::on_disk(Product::Mariadb, &[]));
    server.sql("CREATE TABLE f (id INT PRIMARY KEY, n INT) ENGINE=InnoDB");
    let Some(tracer) = Tracer::start(&sandbox, &server, "--record it.trace --summary") else {
        return;
    };
    // Each is another one: the tables of the kernel are emptied meanwhile, more than once.
    let mut clients = [(); 2].map(|()| RawClient::connect(&server));
    one_by_one(&mut clients, LIGHT, |id| format!("REPLACE d.f SELECT {id} AS a{id}, 2"));
    let [mut client, other] = clients;
    (0..800).for_each(|id| client.query(&format!("REPLACE d.f VALUES ({id}, 1)")));
    drop((client, other));
    tracer.interrupt();
    let (_, out) = tracer.printed();
    let end = recorded_end(&sandbox);
    let totals = &end["end"]["totals"];
    assert_eq!(calls(&out, "REPLACE d.f VALUES (...)"), 800, "{out}");
    assert!(calls(&out, "(others)") > 1000, "{out}");
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
    let (_, insert) = out.split_once("REPLACE d.f VALUES (...)").unwrap_or_else(|| panic!("{out}"));
    let below: String = insert.lines().skip(1).take(6).collect();
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
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
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
fn what_becomes_heavy_behind_thousands_of_others_has_a_row_of_its_own() {
    const LIGHT: u64 = 16_000;
    const HEAVY: u64 = 3_000;
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let mut client = RawClient::connect(&server);
    let options = "--record it.trace --summary";
    let Some(tracer) = Tracer::start(&sandbox, &server, options) else { return };
    let prepared = client.prepare("DO ?+3");
    let one = std::slice::from_mut(&mut client);
    one_by_one(one, LIGHT, |number| format!("SET @n{number} = 1"));
    (0..HEAVY).for_each(|number| client.query(&format!("DO {number}*2")));
    // Its text came before all of that.
    (0..HEAVY).for_each(|number| client.execute(prepared, number));
    tracer.interrupt();
    let (code, out) = tracer.printed();
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains(&format!("  {} in ", dbtime_count(LIGHT + 2 * HEAVY))), "{out}");
    for statement in ["DO ?*?", "DO ?+?"] {
        assert_eq!(calls(&out, statement), HEAVY, "{statement}: {out}");
    }
    let others = calls(&out, "(others)");
    assert!((LIGHT / 2..LIGHT).contains(&others), "{others}: {out}");
    let totals = &recorded_end(&sandbox)["end"]["totals"];
    let rows = totals["statements"].as_array().expect("a list");
    let counts = rows.iter().map(|row| row["totals"]["count"].as_u64().expect("a count"));
    assert_eq!(counts.sum::<u64>(), LIGHT + 2 * HEAVY, "{out}");
    let replaced = &totals["replaced"];
    let number = |name: &str| replaced[name].as_f64().expect("a number");
    assert_eq!(number("rows"), others as f64, "{replaced}: {out}");
    assert!((1.0..20.0).contains(&number("most_calls")), "{replaced}");
    assert!(number("most_us") > 0.0, "{replaced}");
    let lacks = format!("what {} rows had that went to heavier", dbtime_count(others));
    assert!(out.contains(&lacks) && out.contains("no row lacks more"), "{out}");
}

/// Statements that are all different, not faster than dbtime takes them in where it was not
/// optimised and the machine is at work with other things: the kernel has room for those of three
/// seconds. Several clients wait for the disk together, and are no faster than one may be.
fn one_by_one(clients: &mut [RawClient], count: u64, statement: impl Fn(u64) -> String + Sync) {
    let (all, statement) = (clients.len(), &statement);
    std::thread::scope(|threads| {
        for (first, client) in (0..).zip(clients) {
            threads.spawn(move || {
                for (nth, number) in (first..count).step_by(all).enumerate() {
                    client.query(&statement(number));
                    if nth % (200 / all) == 0 {
                        std::thread::sleep(Duration::from_millis(150));
                    }
                }
            });
        }
    });
}

/// The end of what was recorded.
fn recorded_end(sandbox: &Sandbox) -> Value {
    let ran = sandbox.run("trace it.trace --json");
    ran.out.lines().last().and_then(|line| serde_json::from_str(line).ok()).expect("JSON")
}

#[test]
fn answers_from_the_query_cache_are_told_from_those_that_were_not_there() {
    hits_are_told_from_misses(&GivenServer::start(Product::Mariadb, &CACHES));
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
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    sandbox.run("trace --step 1ms").refused(2, &["--summary", "--histogram"]);
    sandbox.run("trace --histogram --step 1500ns").refused(2, &["whole microseconds"]);
    let options = "--histogram --step 100ms";
    let Some(tracer) = Tracer::start(&sandbox, &server, options) else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO SLEEP(0.25)");
    client.query("DO SLEEP(4)");
    tracer.interrupt();
    let (_, out) = tracer.printed();
    let is_one = |line: &&str| line.split_whitespace().last() == Some("1") && line.contains('|');
    let rows = out.lines().filter(is_one).filter_map(|line| line.split('|').next());
    let rows: Vec<&str> = rows.map(str::trim).collect();
    // On a busy machine the first takes longer than it sleeps.
    let [first, ">= 3900000"] = rows[..] else { panic!("{out}") };
    assert!((200_000..3_900_000).contains(&first.parse().unwrap_or(0)), "{out}");
}

/// The fingerprint is the way from a statement of a run to the same one of a trace.
#[test]
fn a_run_and_a_trace_have_the_same_fingerprints() {
    for product in [Product::Mariadb, Product::Postgres] {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let target = server.target();
        let workload = write_small(&sandbox, "oltp-read-write");
        sandbox.run(&format!("init {workload} --target '{target}'")).fine();
        let Some(tracer) = Tracer::start(&sandbox, &server, "--summary --json") else { return };
        let line = format!("run {workload} --target '{target}' --transactions 20 --warmup 0s");
        let json = sandbox.run(&format!("{line} --no-record --json")).fine().json();
        tracer.interrupt();
        let (_, out) = tracer.printed();
        let statements = json["statements"].as_array().expect("a list");
        assert!(statements.len() > 8, "{json}");
        for statement in statements {
            assert!(out.contains(&statement["fingerprint"].to_string()), "{statement}: {out}");
        }
    }
}
