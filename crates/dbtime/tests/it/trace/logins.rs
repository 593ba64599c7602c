//! Whose requests are.

use super::encrypted::{EACH, mode, start};
use super::sums::calls;
use super::*;
use crate::given_server::PRODUCTS;
use crate::raw_postgres::RawPostgres;

/// Requests of a user in a database with this text.
fn count(seen: &Seen, user: Option<&str>, database: Option<&str>, text: &str) -> u64 {
    let is_one = |request: &&Value| {
        request["user"].as_str() == user
            && request["database"].as_str() == database
            && request["text"] == text
    };
    seen.requests.iter().filter(is_one).count() as u64
}

#[test]
fn requests_say_whose_they_are_encrypted_or_not() {
    for product in PRODUCTS {
        let (_certificates, server) = start(product);
        let password = match product {
            Product::Postgres => "CREATE USER app PASSWORD 'secret'",
            _ => "CREATE USER app IDENTIFIED BY 'secret'",
        };
        server.sql(password);
        if product != Product::Postgres {
            server.sql("GRANT ALL ON d.* TO app");
        }
        let root = server.server.user();
        // All at once: the clients have to come but once.
        let [all, of_one, summed] = [(); 3].map(|()| Sandbox::new());
        let Some(tracer) = Tracer::attach(&all, &server, "") else { return };
        let filter = Tracer::attach(&of_one, &server, "--user app --db d").expect("as before");
        let sums = Tracer::start(&summed, &server, "--summary --user app").expect("as before");
        for is_encrypted in [true, false] {
            for (user, login) in [("app", ":secret"), (root, "")] {
                let target = server.target_tcp_as(user, login);
                let line = format!(
                    "run --query 'SELECT 4711' --transactions {EACH} --connections 3 \
                     --protocol text --target '{target}?{}' --no-record",
                    mode(product, is_encrypted)
                );
                all.run(&line).exits(0);
            }
        }
        for (tracer, of_root) in [(tracer, 2 * EACH), (filter, 0)] {
            let seen = tracer.end();
            let of = |user| count(&seen, Some(user), Some("d"), "SELECT 4711");
            assert_eq!((of("app"), of(root)), (2 * EACH, of_root), "{product:?}");
            assert_eq!(seen.counted("logins"), seen.counted("connections"), "{product:?}");
        }
        let (_, out) = sums.interrupted();
        assert_eq!(calls(&out, "SELECT ?"), 2 * EACH, "{product:?}: {out}");
    }
}

/// What the server lists, once it does.
fn until_listed(server: &GivenServer, listed: &str) -> Vec<Option<String>> {
    let begun = Instant::now();
    loop {
        if let Some(row) = server.sql(listed).rows.pop() {
            return row;
        }
        assert!(begun.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A statement that takes so many seconds, and one that lists who sleeps in it: by the server's own
/// number, and the client's port. A connection that merely prepares it is listed with it too.
fn sleep_and_listing(product: Product, seconds: &str) -> [String; 2] {
    match product {
        Product::Postgres => [
            format!("SELECT pg_sleep({seconds})"),
            format!(
                "SELECT pid, client_port FROM pg_stat_activity \
                 WHERE query LIKE 'SELECT pg_sleep({seconds})%' AND wait_event = 'PgSleep'"
            ),
        ],
        _ => [
            format!("SELECT SLEEP({seconds})"),
            format!(
                "SELECT id, SUBSTRING_INDEX(host, ':', -1) FROM information_schema.processlist \
                 WHERE info LIKE 'SELECT SLEEP({seconds})%' AND state = 'User sleep'"
            ),
        ],
    }
}

/// By the server's own number, and the client's port, as the server lists them.
#[test]
fn connections_have_the_servers_number_and_their_clients_address() {
    for product in PRODUCTS {
        let (_certificates, server) = start(product);
        let sandbox = Sandbox::new();
        let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        // Each has a text of its own: whoever is left of the first is not taken for the second.
        let slept = [(true, "2"), (false, "2.0")].map(|(is_encrypted, seconds)| {
            let [sleep, listing] = sleep_and_listing(product, seconds);
            let client = sandbox.start(&format!(
                "run --query '{sleep}' --transactions 1 --connections 1 --protocol text \
                 --warmup 0s --target '{}?{}' --no-record",
                server.target_tcp(),
                mode(product, is_encrypted)
            ));
            let row = until_listed(&server, &listing);
            client.end();
            (sleep, row)
        });
        let seen = tracer.end();
        for (sleep, row) in slept {
            let cell = |index: usize| row[index].clone().expect("a value");
            let client = format!("127.0.0.1:{}", cell(1));
            let id: u64 = cell(0).parse().expect("a number");
            let is_it = |one: &&Value| one["server_id"] == id;
            let own: Vec<&Value> = seen.requests.iter().filter(is_it).collect();
            assert!(own.iter().any(|one| one["text"] == sleep), "{row:?} {:?}", seen.requests);
            assert!(own.iter().all(|one| one["client"] == *client), "{row:?} {own:?}");
        }
    }
}

#[test]
fn a_connection_may_turn_to_another_database_and_user() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    server.sql("CREATE USER app");
    server.sql("CREATE DATABASE other");
    server.sql("GRANT ALL ON *.* TO app");
    let mut early = RawClient::connect(&server);
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    let root = server.server.user();
    client.query("DO 1");
    client.init_db("d");
    client.query("DO 2");
    client.query("use `other` ;");
    client.query("DO 3");
    client.query_fails("USE nowhere");
    client.query("DO 4");
    client.change_user("app", "d");
    client.query("DO 5");
    early.query("DO 6");
    early.change_user("app", "");
    early.query("DO 7");
    let seen = tracer.end();
    seen.is_clean();
    for (user, database, text) in [
        (Some(root), Some(""), "DO 1"),
        (Some(root), Some("d"), "DO 2"),
        (Some(root), Some("other"), "DO 3"),
        (Some(root), Some("other"), "DO 4"),
        (Some("app"), Some("d"), "DO 5"),
        (None, None, "DO 6"),
        (Some("app"), Some(""), "DO 7"),
    ] {
        assert_eq!(count(&seen, user, database, text), 1, "{text}: {:?}", seen.one(text));
    }
}

#[test]
fn who_was_there_before_is_unknown_and_says_so() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let mut client = RawClient::connect(&server);
    let options = format!("--user {}", server.server.user());
    let Some(tracer) = Tracer::start(&sandbox, &server, &options) else { return };
    client.query("DO 8");
    tracer.interrupt();
    let (code, out) = tracer.printed();
    assert_eq!(code, Some(0), "{out}");
    assert!(!out.contains("DO ?"), "{out}");
    assert!(out.contains("connections  1 followed, 1 of unknown users, from before\n"), "{out}");
}

#[test]
fn servers_of_a_control_group_are_watched_and_filters_that_fit_nothing_refused() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", server.server.pid()));
    let groups = groups.expect("readable");
    let own = groups.lines().next().and_then(|line| line.rsplit(':').next()).expect("one");
    let Some(tracer) = Tracer::attach(&sandbox, &server, &format!("--cgroup {own}")) else {
        return;
    };
    RawClient::connect(&server).query("DO 1");
    tracer.end().one("DO 1");
    sandbox.run("trace --cgroup /none.slice").refused(3, &["/none.slice", "/proc/PID/cgroup"]);
    sandbox.run("trace --summary --slow 5ms").refused(2, &["--slow", "--summary"]);
    sandbox.run("trace --user ''").refused(2, &["1 to 63 bytes"]);
    sandbox.run("trace x.trace --record y.trace --db d").refused(2, &["--record"]);
}

/// Their greetings were sent before anybody looked: the server is asked once, and by the thread.
#[test]
fn connections_from_before_are_called_as_the_server_calls_them_where_there_is_a_login() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    those_from_before_are_known(&server);
    client_from_before_is_known_by_port(&server);
}

pub(super) fn those_from_before_are_known(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let mut before = [0, 1].map(|_| RawClient::connect(server));
    let user = server.server.user();
    let login = format!("--login '{}'", server.target_as(user, "", "d"));
    for (options, is_known) in [("", false), (login.as_str(), true)] {
        let Some(tracer) = Tracer::attach(&sandbox, server, options) else { return };
        let mut after = RawClient::connect(server);
        for client in before.iter_mut().chain([&mut after]) {
            let sql = format!("DO 'number {}'", client.id);
            client.query(&sql);
        }
        let ids: Vec<u64> = before.iter().map(|one| one.id).collect();
        let new = after.id;
        drop(after);
        let seen = tracer.end();
        let found = |id: u64| seen.one(&format!("DO 'number {id}'"));
        assert_eq!(found(new)["server_id"], new, "{}", found(new));
        for id in ids {
            let one = found(id);
            assert_eq!(one["server_id"].as_u64(), is_known.then_some(id), "{one}");
            assert_eq!(one["user"].as_str(), is_known.then_some(user), "{one}");
        }
    }
}

/// Each has connections of these numbers.
#[test]
fn a_login_names_the_connections_of_its_own_server_alone() {
    let servers = [0, 1].map(|_| GivenServer::start(Product::Mariadb, &[]));
    let mut before = servers.each_ref().map(RawClient::connect);
    let (sandbox, [one, other]) = (Sandbox::new(), &servers);
    let login = one.target_as(one.server.user(), "", "d");
    let options = format!("-p {} --json --raw-sql --login '{login}'", other.server.pid());
    let Some((tracer, _)) = Tracer::start_of(&sandbox, one.server.pid(), &options) else { return };
    for (client, text) in before.iter_mut().zip(["DO 1", "DO 2"]) {
        client.query(text);
    }
    let seen = tracer.end();
    assert_eq!(seen.one("DO 1")["server_id"], before[0].id, "{}", seen.one("DO 1"));
    assert!(seen.one("DO 2")["server_id"].is_null(), "{}", seen.one("DO 2"));
    let elsewhere = format!("trace -p {} --time 300ms --login '{login}'", other.server.pid());
    let ran = sandbox.run(&elsewhere);
    ran.exits(0);
    ran.stderr_has(&["which --login names, is none of the servers that are watched"]);
}

/// Their numbers are known without a login: each is a process.
#[test]
fn sessions_of_postgresql_from_before_have_a_user_and_a_database_where_there_is_a_login() {
    let server = GivenServer::start(Product::Postgres, &[]);
    those_of_postgresql_are_known(&server, server.server.pid());
}

pub(super) fn those_of_postgresql_are_known(server: &GivenServer, pid: u32) {
    let sandbox = Sandbox::new();
    let mut before = [0, 1].map(|_| RawPostgres::connect(server));
    let user = server.server.user();
    let login = format!("--login '{}'", server.target_as(user, "", "postgres"));
    for (options, is_known) in [("", false), (login.as_str(), true)] {
        let options = format!("--json --raw-sql {options}");
        let Some((tracer, _)) = Tracer::start_of(&sandbox, pid, &options) else { return };
        let mut after = RawPostgres::connect(server);
        after.query("SELECT 'after'");
        let text = |number: usize| format!("SELECT 'number {number}'");
        for (number, client) in before.iter_mut().enumerate() {
            client.query(&text(number));
        }
        drop(after);
        let seen = tracer.end();
        let whose =
            |one: &Value| ["user", "database"].map(|name| one[name].as_str().map(str::to_owned));
        let known = [user, "postgres"].map(|name| Some(name.to_owned()));
        assert_eq!(whose(seen.one("SELECT 'after'")), known);
        for number in 0..before.len() {
            let one = seen.one(&text(number));
            let expected = if is_known { known.clone() } else { [None, None] };
            assert_eq!(whose(one), expected, "{one}");
            assert!(one["server_id"].is_u64(), "{one}");
        }
    }
}

/// Also where the server does not say which thread serves it.
pub(super) fn client_from_before_is_known_by_port(server: &GivenServer) {
    let sandbox = Sandbox::new();
    let client = sandbox.start(&format!(
        "run --query 'DO SLEEP(0.1)' --connections 1 --protocol text --warmup 0s --time 300s \
         --target '{}?ssl-mode=DISABLED' --no-record",
        server.target_tcp()
    ));
    let listed = "SELECT id FROM information_schema.processlist WHERE info LIKE 'DO SLEEP(0.1)%'";
    let started = Instant::now();
    let mut row = None;
    // What a run tries out before its load has connections of its own: this one stays.
    while row.is_none() || server.sql(listed).rows.pop() != row {
        row = server.sql(listed).rows.pop();
        assert!(started.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(300));
    }
    let row = row.expect("it was waited for");
    let login = format!("--login '{}'", server.target_as(server.server.user(), "", "d"));
    let Some(tracer) = Tracer::attach(&sandbox, server, &login) else { return };
    let sessions = server.sql("SELECT ID, HOST, COMMAND FROM information_schema.PROCESSLIST");
    tracer.until_printed("\"DO SLEEP(0.1)\"", 2);
    let seen = tracer.end();
    client.interrupt();
    client.end();
    let of_client = seen.requests.iter().filter(|one| one["text"] == "DO SLEEP(0.1)");
    let ids: Vec<String> = of_client.map(|one| one["server_id"].to_string()).collect();
    let id = row[0].clone().expect("a number");
    let all = || {
        let of_server = &sessions.rows;
        format!("{ids:?}, not {id} of {of_server:?}: {:#?}, {}", seen.requests, seen.ledger)
    };
    assert!(!ids.is_empty() && ids.iter().all(|one| *one == id), "{}", all());
}
