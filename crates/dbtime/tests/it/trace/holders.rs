//! Who holds what others wait for is named while they wait, where a login is given; and the server
//! is asked for nothing while nobody waits.

use super::encrypted;
use super::*;
use crate::given_server::PRODUCTS;
use crate::lock_client::LockClient;
use dbtime_lab::holders::HolderLogin;
use std::thread;

/// What is held, how, and what waits for it: two sessions, one behind the other or beside it.
struct Held {
    hold: [&'static str; 2],
    wait: &'static str,
    /// As the holder's last statement and the lock are shown.
    shown: [&'static str; 2],
}

const MYSQL: [Held; 3] = [
    Held {
        hold: ["BEGIN", "UPDATE l SET n = 4711 WHERE id = 1"],
        wait: "UPDATE l SET n = n + 4712 WHERE id = 1",
        shown: ["last: update l set n = ? where id = ?", "row lock on d.l: update l set n = n + ?"],
    },
    Held {
        hold: ["BEGIN", "DO (SELECT COUNT(*) FROM l)"],
        wait: "ALTER TABLE l COMMENT 'w'",
        shown: ["last: do (select count(*) from l)", "table metadata lock on d.l: alter table l"],
    },
    Held {
        hold: ["DO 1", "DO GET_LOCK('lock 4711', 20)"],
        wait: "DO GET_LOCK('lock 4711', 900)",
        shown: ["last: do get_lock(?, ?)", "user lock: do get_lock(?, ?)"],
    },
];

const POSTGRES: [Held; 3] = [
    Held {
        hold: ["BEGIN", "UPDATE l SET n = 4711 WHERE id = 1"],
        wait: "UPDATE l SET n = n + 4712 WHERE id = 1",
        shown: ["last: update l set n = ? where id = ?", "row lock on l: update l set n = n + ?"],
    },
    Held {
        hold: ["BEGIN", "SELECT COUNT(*) FROM l"],
        wait: "ALTER TABLE l ADD IF NOT EXISTS m int",
        shown: ["last: select count(*) from l", "relation on l: alter table l"],
    },
    Held {
        hold: ["SELECT 1", "SELECT pg_advisory_lock(4711)"],
        wait: "SELECT pg_advisory_lock(4711)",
        shown: ["last: select pg_advisory_lock(?)", "advisory: select pg_advisory_lock(?)"],
    },
];

/// A server with a table `l` of two rows, and what is planted on it.
fn start(product: Product) -> (GivenServer, &'static [Held]) {
    // The plugin that knows who has metadata locks is not installed with every server.
    let settings: &[_] = match product {
        Product::Postgres => &[],
        _ => &[
            ("performance_schema", "ON"),
            ("performance_schema_instrument", "wait/lock/metadata/sql/mdl=ON"),
            // A tracer may take longer to attach than they would wait.
            ("innodb_lock_wait_timeout", "900"),
        ],
    };
    let server = GivenServer::start(product, settings);
    let held = planted(product, &server);
    (server, held)
}

/// The table, and what is planted.
fn planted(product: Product, server: &GivenServer) -> &'static [Held] {
    LockClient::connect(product, server).query("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
    LockClient::connect(product, server).query("INSERT INTO l VALUES (1, 0), (2, 0)");
    if product == Product::Postgres { &POSTGRES } else { &MYSQL }
}

/// A login to the database in which the table is.
fn login(product: Product, server: &GivenServer) -> String {
    let database = if product == Product::Postgres { "postgres" } else { "d" };
    server.target_as(server.server.user(), "", database)
}

/// The ids of the first two sessions of a tree: of the holder and of the first that waits.
fn ids(lines: &[String]) -> [u64; 2] {
    let id = |line: &String| line.trim_start_matches([' ', '└']).split(' ').next()?.parse().ok();
    let ids: Vec<u64> = lines.iter().filter(|line| line.starts_with("  ")).filter_map(id).collect();
    [ids[0], ids[1]]
}

/// Has two sessions wait for an idle one, and ends that as the tree says.
fn holder_is_named(product: Product, server: &GivenServer, login: &str, held: &Held) {
    let sandbox = Sandbox::new();
    let options = format!("--json --login '{login}'");
    let Some(mut tracer) = Tracer::start(&sandbox, server, &options) else { return };
    let mut holder = LockClient::connect(product, server);
    held.hold.iter().for_each(|sql| holder.query(sql));
    thread::sleep(Duration::from_millis(1500));
    let mut waiters = [0, 1].map(|_| LockClient::connect(product, server));
    let begin = Instant::now();
    waiters.iter_mut().for_each(|waiter| waiter.send(held.wait));
    let mut lines = lines_until(&mut tracer, "2 wait for locks, for up to", PATIENCE);
    lines.extend(lines_until(&mut tracer, "└", PATIENCE));
    lines.extend(lines_until(&mut tracer, "└", PATIENCE));
    let took = begin.elapsed();
    note(&format!("{product}: {took:?} after the wait began\n{}", lines.concat()));
    let text = lines.concat().to_lowercase();
    held.shown.iter().for_each(|shown| assert!(text.contains(shown), "{shown} in {text}"));
    assert!(!text.contains("4711") && !text.contains("4712"), "literals are hidden: {text}");
    if held.hold[0] == "BEGIN" {
        assert!(text.contains(": idle in transaction for "), "{text}");
    }
    let [id, _] = ids(&lines);
    let [ends, is_there] = match product {
        Product::Postgres => [
            format!("SELECT pg_terminate_backend({id})"),
            format!("SELECT COUNT(*) FROM pg_stat_activity WHERE pid = {id}"),
        ],
        _ => [
            format!("KILL {id}"),
            format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id}"),
        ],
    };
    assert_eq!(server.sql(&is_there).value(), Some("1"), "{text}");
    server.sql(&ends);
    let begin = Instant::now();
    while server.sql(&is_there).value() != Some("0") {
        assert!(begin.elapsed() < PATIENCE, "{id} is still there");
    }
    drop(waiters);
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0));
}

/// What stands in the log of a test.
pub(super) fn note(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).expect("somebody listens");
}

#[test]
fn a_holder_that_does_nothing_is_named_while_others_wait() {
    at_once(|product| {
        let (server, all) = start(product);
        for held in all {
            holder_is_named(product, &server, &login(product, &server), held);
        }
    });
}

/// Does the same with both products, where most of it is waiting.
fn at_once(test: fn(Product)) {
    thread::scope(|threads| {
        for product in PRODUCTS {
            threads.spawn(move || test(product));
        }
    });
}

/// So many kinds of them.
#[cfg(feature = "versions")]
pub(super) fn are_named(product: Product, server: &GivenServer, kinds: usize) {
    for held in &planted(product, server)[..kinds] {
        holder_is_named(product, server, &login(product, server), held);
    }
}

#[test]
fn a_login_may_be_encrypted() {
    for product in PRODUCTS {
        let (_certificates, server) = encrypted::start(product);
        let held = &planted(product, &server)[0];
        let target = server.target_tcp().replace("/d", "/postgres");
        let target = if product == Product::Postgres { target } else { server.target_tcp() };
        let login = format!("{target}?{}", encrypted::mode(product, true));
        holder_is_named(product, &server, &login, held);
    }
}

/// Statements that a server has counted so far, this one and its login too.
fn questions(product: Product, server: &GivenServer) -> u64 {
    if product == Product::Postgres {
        let log = std::fs::read_to_string(server.server.log()).expect("a log");
        return log.matches("statement: ").count() as u64;
    }
    let row = server.sql("SHOW GLOBAL STATUS LIKE 'Questions'").rows.remove(0).remove(1);
    row.and_then(|text| text.parse().ok()).expect("a number")
}

/// Statements that a server counts within so long, with the one that reads its counter.
fn counted_within(product: Product, server: &GivenServer, length: Duration) -> u64 {
    let before = questions(product, server);
    thread::sleep(length);
    questions(product, server) - before
}

#[test]
fn nothing_is_asked_while_nobody_waits() {
    at_once(|product| {
        let sandbox = Sandbox::new();
        let settings: &[_] = match product {
            Product::Postgres => &[("log_statement", "all")],
            _ => &[],
        };
        let server = GivenServer::start(product, settings);
        // Of those that count, whose goodbye may be counted among the next.
        let own = |_| counted_within(product, &server, Duration::ZERO);
        let most = (0..3).map(own).min().expect("three") + 1;
        let options = format!("--json --login '{}'", server.target());
        let Some(tracer) = Tracer::start(&sandbox, &server, &options) else { return };
        let mut client = LockClient::connect(product, &server);
        client.query("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
        // What waited before the watching is asked for once, which a busy machine may put off.
        let (begin, mut quiet) = (Instant::now(), 0);
        while quiet < 2 {
            assert!(begin.elapsed() < PATIENCE, "{product} is asked all the time");
            let counted = counted_within(product, &server, Duration::from_secs(4));
            quiet = if counted > most { 0 } else { quiet + 1 };
        }
        assert_eq!(tracer.end().code, Some(0));
    });
}

#[test]
fn who_waits_before_the_watching_is_there_and_a_lost_login_is_spoken_of_once() {
    for product in PRODUCTS {
        let (server, all) = start(product);
        let sandbox = Sandbox::new();
        let [mut holder, mut waiter] = [0, 1].map(|_| LockClient::connect(product, &server));
        all[0].hold.iter().for_each(|sql| holder.query(sql));
        waiter.send(all[0].wait);
        thread::sleep(Duration::from_millis(1200));
        let options = format!("--json --raw-sql --login '{}'", server.target());
        let Some(mut tracer) = Tracer::start(&sandbox, &server, &options) else { return };
        let lines = lines_until(&mut tracer, "└", PATIENCE);
        assert!(lines.concat().contains("4712"), "{lines:?}");
        server.sql(&match product {
            Product::Postgres => "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE application_name = 'dbtime' AND pid <> pg_backend_pid()"
                .to_owned(),
            _ => {
                // It has come last, and may be at a statement.
                let sql = "SELECT ID FROM information_schema.PROCESSLIST \
                           WHERE ID <> CONNECTION_ID() ORDER BY ID DESC LIMIT 1";
                format!("KILL {}", server.sql(sql).value().expect("a login"))
            }
        });
        lines_until(&mut tracer, "the login is lost", PATIENCE);
        holder.query("ROLLBACK");
        waiter.answered();
        let (told, printed) = tracer.interrupted();
        assert!(!told.contains("lost"), "{told}");
        assert!(printed.contains("ledger"), "{printed}");
    }
}

#[test]
fn what_a_login_may_not_see_is_named() {
    for product in PRODUCTS {
        let (server, all) = start(product);
        let sandbox = Sandbox::new();
        let (user, missing) = match product {
            Product::Postgres => ("CREATE ROLE weak LOGIN PASSWORD 'w'", "GRANT pg_read_all_stats"),
            _ => ("CREATE USER weak IDENTIFIED BY 'w'", "GRANT PROCESS ON *.*"),
        };
        server.sql(user);
        let mut clients = [0, 1].map(|_| LockClient::connect(product, &server));
        all[0].hold.iter().for_each(|sql| clients[0].query(sql));
        clients[1].send(all[0].wait);
        thread::sleep(Duration::from_millis(1200));
        let database = if product == Product::Postgres { "d" } else { "" };
        let options = format!("--json --login '{}'", server.target_as("weak", ":w", database));
        let Some(mut tracer) = Tracer::start(&sandbox, &server, &options) else { return };
        lines_until(&mut tracer, missing, PATIENCE);
        assert_eq!(tracer.end().code, Some(0));
    }
}

#[test]
fn a_login_that_is_refused_is_spoken_of_before_the_watching() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let pid = server.server.pid();
    let trace = |login: &str| sandbox.run(&format!("trace -p {pid} --login '{login}'"));
    trace(&server.target_tcp_as("nobody", ":wrong")).refused(3, &["cannot connect to", "1045"]);
    trace("mysql://root@127.0.0.1:1/").refused(3, &["cannot connect to", "ECONNREFUSED"]);
    trace("sqlite:l.db").refused(2, &["--login: `sqlite:…` is no URL of a server"]);
    trace("mysql://root:secret@127.0.0.1/?sockt=l").refused(2, &["--login: ", "`socket`?"]);
    sandbox.run("trace l.trace --login mysql://root@/").refused(2, &["cannot be used with"]);
}

/// CPU time of all threads of a process.
pub(super) fn cpu(process: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it is there");
    let of = |path: std::path::PathBuf| -> Option<u64> {
        std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    Duration::from_nanos(threads.flatten().filter_map(|thread| of(thread.path())).sum())
}

/// The figures of docs/tracing.md come from here.
#[test]
fn a_picture_has_every_waiter_and_a_known_cost() {
    const TIMES: u32 = 20;
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[("max_connections", "200")]);
        let held = &planted(product, &server)[0];
        let idle: Vec<_> = (0..89).map(|_| LockClient::connect(product, &server)).collect();
        for waiting in [0, 10] {
            let mut holder = LockClient::connect(product, &server);
            held.hold.iter().for_each(|sql| holder.query(sql));
            let mut waiters: Vec<_> =
                (0..waiting).map(|_| LockClient::connect(product, &server)).collect();
            waiters.iter_mut().for_each(|waiter| waiter.send(held.wait));
            let mut login = HolderLogin::connect(&login(product, &server)).expect("let in");
            let process = match product {
                Product::Postgres => {
                    let sql = "SELECT pid FROM pg_stat_activity WHERE \
                               application_name = 'dbtime' AND pid <> pg_backend_pid() \
                               ORDER BY backend_start DESC LIMIT 1";
                    // One from before may be on its way out.
                    server.sql(sql).value().and_then(|pid| pid.parse().ok()).expect("a process")
                }
                _ => server.server.pid(),
            };
            let (mut took, mut claims) = (Duration::ZERO, 0);
            let before = cpu(process);
            for _ in 0..TIMES {
                // InnoDB answers the same again for 100 ms.
                thread::sleep(Duration::from_millis(150));
                let begin = Instant::now();
                login.begin();
                claims = loop {
                    if let Some(picture) = login.go_on().expect("it answers") {
                        break picture.claims.len();
                    }
                };
                took += begin.elapsed();
            }
            // A thread of the server that has ended takes its time with it.
            let (took, spent) = (took / TIMES, cpu(process).saturating_sub(before) / TIMES);
            note(&format!("{product}, {waiting} wait ({claims} pairs): {took:?}, CPU {spent:?}"));
            assert!(claims >= waiting, "{claims} of {waiting}");
            drop((holder, waiters));
        }
        drop(idle);
    }
}
