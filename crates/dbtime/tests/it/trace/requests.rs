//! Every request is seen once, and accounted for.

use super::*;

#[test]
fn every_request_is_seen_once_by_text_prepared_and_ahead_of_answers() {
    each_is_seen_once(&GivenServer::start(Product::Mariadb, &[]));
}

pub(super) fn each_is_seen_once(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let before = [status(server, "Com_do"), status(server, "Com_stmt_execute")];
    let Some(tracer) = Tracer::attach(&sandbox, server, "--strict") else { return };
    let mut client = RawClient::connect(server);
    (0..MANY).for_each(|_| client.query("DO 1"));
    client.queries_at_once("DO 2", MANY as usize);
    let id = client.prepare("DO ?+3");
    (0..MANY).for_each(|_| client.execute(id, 5));
    client.ping();
    drop(client);
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    assert_eq!(seen.count("03:QUERY", "DO 1"), MANY);
    assert_eq!(seen.count("03:QUERY", "DO 2"), MANY);
    assert_eq!(seen.count("16:PREPARE", "DO ?+3"), 1);
    assert_eq!(seen.count("17:EXECUTE", "DO ?+3"), MANY);
    assert_eq!((seen.count("0e:PING", ""), seen.count("01:QUIT", "")), (1, 1));
    let after = [status(server, "Com_do"), status(server, "Com_stmt_execute")];
    // MariaDB counts what a prepared statement does as well.
    assert_eq!([after[0] - before[0], after[1] - before[1]], [3 * MANY, MANY]);
}

#[test]
fn a_statement_that_was_prepared_before_has_its_text_from_the_server() {
    the_server_tells_texts(&GivenServer::start(Product::Mariadb, &[]));
}

pub(super) fn the_server_tells_texts(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let mut clients = [RawClient::connect(server), RawClient::connect(server)];
    let long = format!("DO ? + LENGTH('{}')", "x".repeat(2000));
    let numbers =
        clients.each_mut().map(|client| [client.prepare("DO ?+8"), client.prepare(&long)]);
    let Some(tracer) = Tracer::attach(&sandbox, server, "--strict") else { return };
    for (client, [short, long]) in clients.iter_mut().zip(numbers) {
        (0..3).for_each(|_| client.execute(short, 5));
        client.execute(long, 5);
        client.execute(short, 5);
    }
    let seen = tracer.end();
    seen.is_clean();
    assert_eq!(seen.count("17:EXECUTE", "DO ?+8"), 8);
    let cut = seen.requests.iter().filter(|request| request["text_state"] == "cut");
    let texts: Vec<&str> = cut.map(|request| request["text"].as_str().expect("a text")).collect();
    assert_eq!(texts.len(), 2);
    assert!(texts.iter().all(|text| text.len() == 960 && long.starts_with(text)), "{texts:?}");
}

#[test]
fn many_connections_by_socket_and_tcp_are_seen_to_the_last_request() {
    for settings in [&[][..], &POOL] {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, settings));
        let run = |target: &str, protocol: &str| {
            let line = format!(
                "run --query 'SELECT 4711' --connections 16 --transactions {MANY} \
                 --protocol {protocol} --target '{target}' --no-record"
            );
            sandbox.run(&line).exits(0);
        };
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let before = [status(&server, "Com_select"), status(&server, "Com_stmt_execute")];
        run(&server.target(), "text");
        run(&server.target_tcp(), "prepared");
        let after = [status(&server, "Com_select"), status(&server, "Com_stmt_execute")];
        let seen = tracer.end();
        seen.is_clean();
        // The driver looks around with some of its own.
        let is_select = |request: &&Value| {
            let text = request["text"].as_str().unwrap_or_default().trim_start();
            let begins = text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("SELECT"));
            begins && request["command"] != "16:PREPARE" && request["command"] != "19:CLOSE_STMT"
        };
        let selects = seen.requests.iter().filter(is_select).count() as u64;
        let executed =
            seen.requests.iter().filter(|request| request["command"] == "17:EXECUTE").count();
        // The first request for a counter is not among its differences, the last two are.
        assert_eq!(executed as u64, after[1] - before[1], "{settings:?}");
        assert!(seen.count("03:QUERY", "SELECT 4711") >= MANY, "{settings:?}");
        assert!(selects >= after[0] - before[0] && selects <= after[0] - before[0] + 4);
    }
}

#[test]
fn a_pool_of_threads_is_shown_when_it_has_answered() {
    a_pool_shows_answers(&GivenServer::start(Product::Mariadb, &POOL));
}

/// A server with a pool of threads.
pub(super) const POOL: [(&str, &str); 1] = [("thread_handling", "pool-of-threads")];

pub(super) fn a_pool_shows_answers(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::attach(&sandbox, server, "--strict") else { return };
    let mut client = RawClient::connect(server);
    for text in ["DO 1", "DO SLEEP(0.05)", "DO 2"] {
        client.query(text);
        // The connection says nothing more.
        tracer.until_printed(&format!("\"{text}\""), 1);
    }
    drop(client);
    let seen = tracer.end();
    seen.is_clean();
    parts_add_up(&seen.requests);
    assert_eq!(seen.requests.len(), 4, "{:?}", seen.requests);
}

#[test]
fn a_response_is_as_long_as_the_server_took_and_a_text_as_long_as_it_was() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    let begun = Instant::now();
    client.query("DO SLEEP(0.05)");
    let long = format!("DO '{}'", "x".repeat(5000));
    client.query(&long);
    // By then the first was over, which may take longer than it sleeps.
    let most = begun.elapsed().as_secs_f64() * 1e6;
    client.query_fails("DO nothing_of_the_kind()");
    client.query("DO 1; DO 2; DO 3");
    drop(client);
    let seen = tracer.end();
    seen.is_clean();
    let slept = seen.one("DO SLEEP(0.05)")["response_us"].as_f64().expect("a time");
    assert!((50_000.0..most).contains(&slept), "{slept} {most}");
    let cut = seen.requests.iter().find(|request| request["text_state"] == "cut").expect("one");
    assert_eq!(cut["length"], long.len() as u64 + 1);
    let text = cut["text"].as_str().expect("a text");
    assert!(long.starts_with(text) && text.len() == 1023, "{}", text.len());
    assert_eq!(seen.counted("cut"), 1);
    assert_eq!(seen.one("DO nothing_of_the_kind()")["error"], 1305);
    assert_eq!(seen.one("DO 1; DO 2; DO 3")["outcome"], "ended");
}

#[test]
fn what_is_under_way_at_either_end_is_accounted_for() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let [mut holder, mut early, mut late] = [(); 3].map(|()| RawClient::connect(&server));
    // It waits as long as attaching takes, and then for nobody who says a word.
    holder.query("DO GET_LOCK('l', 1)");
    early.ask("DO GET_LOCK('l', 900)");
    until_at_rest(server.server.pid());
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    holder.hang_up();
    early.answered();
    early.query("DO 1");
    late.ask("DO SLEEP(900)");
    let seen = tracer.end();
    seen.adds_up();
    assert_eq!((seen.counted("partial"), seen.counted("in_flight")), (1, 1), "{}", seen.ledger);
    assert_eq!(seen.requests.len(), 1);
    seen.one("DO 1");
}

#[test]
fn a_client_that_does_not_wait_leaves_an_aborted_request() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.ask("DO SLEEP(0.3)");
    client.hang_up();
    tracer.until_printed("DO SLEEP(0.3)", 1);
    let seen = tracer.end();
    seen.adds_up();
    assert_eq!(seen.counted("aborted"), 1, "{}", seen.ledger);
    assert_eq!(seen.one("DO SLEEP(0.3)")["outcome"], "aborted");
}

#[test]
fn a_client_that_leaves_amid_an_answer_leaves_an_aborted_request() {
    // More than any socket has room for.
    const SQL: &str = "SELECT REPEAT('x', 15000000)";
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.ask(SQL);
    client.packet();
    client.hang_up();
    tracer.until_printed(SQL, 1);
    let seen = tracer.end();
    seen.adds_up();
    assert_eq!(seen.counted("aborted"), 1, "{}", seen.ledger);
    assert_eq!(seen.one(SQL)["outcome"], "aborted");
}

#[test]
fn clients_that_go_without_a_word_are_no_trouble_and_those_of_other_sockets_are_not_seen() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO 1");
    client.hang_up();
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean().one("DO 1");
    let port = server.server.port();
    let tracer = Tracer::attach(&sandbox, &server, &format!("--port {port}")).expect("as before");
    let mut client = RawClient::connect(&server);
    client.query("DO 2");
    let line = format!("run --query 'DO 3' --transactions 3 --target '{}'", server.target_tcp());
    sandbox.run(&format!("{line} --connections 1 --protocol text --no-record")).exits(0);
    let seen = tracer.end();
    seen.is_clean();
    assert_eq!(seen.count("03:QUERY", "DO 2"), 0);
    assert!(seen.count("03:QUERY", "DO 3") >= 3, "{:?}", seen.requests);
}

#[test]
fn a_flood_into_a_tiny_buffer_is_counted_to_the_unit() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--buffer 4 --strict") else { return };
    let before = status(&server, "Com_do");
    tracer.signal(rustix::process::Signal::STOP);
    let mut client = RawClient::connect(&server);
    (0..MANY).for_each(|_| client.query("DO 1"));
    drop(client);
    tracer.signal(rustix::process::Signal::CONT);
    let done = status(&server, "Com_do") - before;
    let seen = tracer.end();
    assert_eq!(seen.code, Some(4), "{}", seen.ledger);
    seen.adds_up();
    assert_eq!(done, MANY);
    assert!(seen.counted("dropped") > MANY / 2, "{}", seen.ledger);
    assert!(seen.counted("ended") >= MANY, "{}", seen.ledger);
}

#[test]
fn a_server_that_starts_again_is_followed_from_its_first_request() {
    let sandbox = Sandbox::new();
    let first = GivenServer::start(Product::Mariadb, &[]);
    // Those of other tests have the same name.
    let options = "-p mariadbd --json --raw-sql --match 4713";
    let Some(mut tracer) = Tracer::start(&sandbox, &first, options) else { return };
    drop(first);
    let second = GivenServer::start(Product::Mariadb, &[]);
    let pid = second.server.pid();
    let started = format!("watching mariadbd, process {pid}, which has just started");
    let mut told = lines_until(&mut tracer, &started, PATIENCE).concat();
    for target in [second.target_tcp(), second.target()] {
        let line = format!(
            "run --query 'DO 4713' --transactions {MANY} --connections 3 --protocol text \
             --target '{target}' --no-record"
        );
        sandbox.run(&line).exits(0);
    }
    tracer.until_printed("\"text\":\"DO 4713\"", 2 * MANY as usize);
    let (rest, printed) = tracer.interrupted();
    told += &rest;
    let is_one = |line: &&str| line.contains("\"text\":\"DO 4713\"");
    assert_eq!(printed.lines().filter(is_one).count() as u64, 2 * MANY, "{told}");
    assert!(told.contains(", has ended"), "{told}");
}

#[test]
fn it_ends_with_its_server() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO 1");
    // The server has read on by then, so that the first is over.
    client.ping();
    drop(server);
    let seen = tracer.ended();
    assert_eq!(seen.code, Some(0));
    assert_eq!(seen.count("03:QUERY", "DO 1"), 1);
}

#[test]
fn filters_and_lines_show_what_is_wanted() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    // Slower than whatever may hold up another one.
    let options = "--command query --match 'do ' --slow 3s -n 1";
    let Some(tracer) = Tracer::attach(&sandbox, &server, options) else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO 1");
    client.ping();
    client.query("DO SLEEP(3.5)");
    let seen = tracer.ended();
    assert_eq!(seen.requests.len(), 1);
    seen.one("DO SLEEP(3.5)");
    // Without --raw-sql no literal is shown.
    let tracer = Tracer::start(&sandbox, &server, "").expect("as before");
    client.query("DO 'secret', 4711");
    tracer.interrupt();
    let (code, out) = tracer.printed();
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("03:QUERY") && out.contains("DO ?, ?"), "{out}");
    assert!(!out.contains("secret") && out.contains("1 started = 1 ended"), "{out}");
}

#[test]
fn what_cannot_be_watched_is_said_with_a_remedy() {
    let sandbox = Sandbox::new();
    let own = std::process::id();
    sandbox.run(&format!("trace -p {own}")).refused(3, &["is no server", "--server-kind"]);
    sandbox.run("trace -p 4194305").refused(3, &["4194305"]);
    sandbox.run("trace --buffer 5").refused(2, &["power of two"]);
    sandbox.run("trace --slow -5").refused(2, &["--slow"]);
}

/// Definitions of columns are sent before the first row is looked for.
#[test]
fn errors_of_mariadb_are_seen_behind_columns_and_rows() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    server.sql("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
    server.sql("INSERT INTO t VALUES (1, 1), (2, 5), (3, 5)");
    // 387 million rows.
    let many = (0..18).map(|number| format!("t t{number}")).collect::<Vec<_>>().join(", ");
    let limited = format!("SET STATEMENT max_statement_time = 0.1 FOR SELECT COUNT(*) FROM {many}");
    let asked = [
        ("SELECT id, (SELECT v.id FROM t v WHERE v.a <= t.a AND v.id > 2 - t.a) FROM t", 1242),
        (&*limited, 1969),
    ];
    let fails = || {
        let mut client = RawClient::connect(&server);
        client.query("USE d");
        asked.iter().for_each(|(sql, _)| client.fails_at_last(sql));
    };
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    fails();
    let seen = tracer.end();
    seen.is_clean();
    asked.iter().for_each(|(sql, code)| assert_eq!(seen.one(sql)["error"], *code, "{sql}"));
    let Some(tracer) = Tracer::start(&sandbox, &server, "--summary") else { return };
    fails();
    tracer.interrupt();
    let (_, out) = tracer.printed();
    assert!(out.contains("; 2 answered with an error"), "{out}");
}

#[test]
fn a_trace_that_is_cut_short_before_its_set_end_is_not_fine() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    for (options, code) in [("--strict --time 10m", 130), ("--time 10m", 130), ("", 0)] {
        let Some(tracer) = Tracer::attach(&sandbox, &server, options) else { return };
        assert_eq!(tracer.end().code, Some(code), "{options}");
    }
}
