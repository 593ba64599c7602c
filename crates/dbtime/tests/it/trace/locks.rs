//! Who is named as the holder of a lock, where that is known beforehand.

use super::*;
use crate::given_server::{PRODUCTS, patient};
use crate::lock_client::LockClient;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Unit: milliseconds. Not whole seconds: MariaDB looks around each second that it waits for
/// metadata, and who lets go just then wakes nobody.
const LENGTHS: [u64; 3] = [200, 1500, 3070];

/// How a holder lets go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Release {
    Statement,
    Goodbye,
    HangUp,
}

/// What is waited for: `n` stands for a number of the wait's own.
struct Lock {
    name: &'static str,
    hold: [&'static str; 2],
    wait: &'static str,
    free: &'static str,
}

const MYSQL: [Lock; 4] = [
    Lock {
        name: "row lock",
        hold: ["BEGIN", "UPDATE l{n} SET n = 1 WHERE id = 1"],
        wait: "UPDATE l{n} SET n = 2 WHERE id = 1",
        free: "COMMIT",
    },
    Lock {
        name: "metadata lock",
        hold: ["DO 1", "LOCK TABLES l{n} WRITE"],
        wait: "DO (SELECT COUNT(*) FROM l{n} AS w)",
        free: "UNLOCK TABLES",
    },
    Lock {
        name: "metadata lock",
        hold: ["BEGIN", "DO (SELECT COUNT(*) FROM l{n})"],
        wait: "ALTER TABLE l{n} COMMENT 'w'",
        free: "COMMIT",
    },
    Lock {
        name: "metadata lock",
        hold: ["DO 1", "DO GET_LOCK('l{n}', 20)"],
        wait: "DO GET_LOCK('l{n}', 900)",
        free: "DO RELEASE_LOCK('l{n}')",
    },
];

const POSTGRES: [Lock; 4] = [
    Lock {
        name: "transactionid",
        hold: ["BEGIN", "UPDATE l{n} SET n = 1 WHERE id = 1"],
        wait: "UPDATE l{n} SET n = 2 WHERE id = 1",
        free: "COMMIT",
    },
    Lock {
        name: "relation",
        hold: ["BEGIN", "LOCK TABLE l{n}"],
        wait: "SELECT COUNT(*) FROM l{n} AS w",
        free: "COMMIT",
    },
    Lock {
        name: "relation",
        hold: ["BEGIN", "SELECT COUNT(*) FROM l{n}"],
        wait: "ALTER TABLE l{n} ADD m int",
        free: "COMMIT",
    },
    Lock {
        name: "advisory",
        hold: ["SELECT 1", "SELECT pg_advisory_lock({n})"],
        wait: "SELECT pg_advisory_lock({n} + 0)",
        free: "SELECT pg_advisory_unlock({n})",
    },
];

/// Ends what a holder has begun; one that is still there comes back.
fn let_go(holder: LockClient, free: &str, release: Release) -> Option<LockClient> {
    match (release, holder) {
        (Release::Statement, mut client) => {
            client.query(free);
            return Some(client);
        }
        (Release::HangUp, LockClient::Mysql(client)) => client.hang_up(),
        (Release::Goodbye, LockClient::Postgres(client)) => client.terminate(),
        // What is dropped says goodbye of MySQL's, and nothing of PostgreSQL's.
        (_, client) => drop(client),
    }
    None
}

/// Where so many threads wait for one another, again and again. Not for ever, as at a barrier of
/// the library: one that has failed does not come any more.
struct Meeting {
    all: usize,
    /// How often one has come, over all times.
    come: AtomicUsize,
}

impl Meeting {
    /// Waits for all others; whether this was the last.
    fn meet(&self) -> bool {
        let begun = Instant::now();
        let number = self.come.fetch_add(1, Ordering::SeqCst) + 1;
        let last = number.next_multiple_of(self.all);
        while self.come.load(Ordering::SeqCst) < last {
            assert!(begun.elapsed() < PATIENCE, "another one has failed");
            thread::sleep(Duration::from_millis(10));
        }
        number == last
    }
}

/// A wait that was planted.
struct Planted {
    /// Its number, which is in its statements.
    number: usize,
    lock: &'static Lock,
    length: Duration,
    release: Release,
}

impl Planted {
    fn sql(&self, sql: &str) -> String {
        sql.replace("{n}", &self.number.to_string())
    }

    /// Has one client wait for another, for so long from when all of them wait; how long it was
    /// from its request to the answer.
    fn happen(&self, product: Product, server: &GivenServer, together: &Meeting) -> Duration {
        let mut holder = LockClient::connect(product, server);
        holder.query(&self.sql("CREATE TABLE l{n} (id INT PRIMARY KEY, n INT)"));
        holder.query(&self.sql("INSERT INTO l{n} VALUES (1, 0)"));
        holder.sign(&self.sql("holder {n}"));
        for sql in self.lock.hold {
            holder.query(&self.sql(sql));
        }
        let mut waiter = LockClient::connect(product, server);
        together.meet();
        let sent = Instant::now();
        waiter.send(&self.sql(self.lock.wait));
        if together.meet() {
            until_at_rest(server.server.pid());
        }
        together.meet();
        thread::sleep(self.length);
        let holder = let_go(holder, &self.sql(self.lock.free), self.release);
        waiter.answered();
        drop(holder);
        sent.elapsed()
    }

    /// The waiter, which was answered after so long, names the holder.
    fn check(&self, product: Product, seen: &Seen, took: Duration) {
        let waited = seen.one(&self.sql(self.lock.wait));
        let blocker = &waited["blocker"];
        let what = format!("{:?} {} {waited}", self.release, self.length.as_millis());
        assert_eq!(blocker["connection"], holder(product, self.number, seen), "{what}");
        let own = seen.requests.iter().find(|one| one["connection"] == blocker["connection"]);
        let id = own.map_or(Value::Null, |one| one["server_id"].clone());
        assert!(id.is_u64() && blocker["server_id"] == id, "{what}");
        assert_eq!(blocker["lock"], self.lock.name, "{what}");
        let has_left = self.release != Release::Statement;
        assert_eq!(blocker["client_left"], has_left, "{what}");
        let us = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no figure: {what}"));
        let (wait, length) = (us(&blocker["wait_us"]), self.length.as_secs_f64() * 1e6);
        // On a busy machine it comes late to the lock: its own work, syncs and CPU are no wait.
        let before = us(&waited["response_us"]) - us(&waited["parts_us"]["lock"]);
        let most = took.as_secs_f64() * 1e6;
        assert!((0.5 * length - before..most).contains(&wait), "{most} {what}");
        if self.lock.hold[0] == "BEGIN" {
            let did = &blocker["transaction"];
            let statements = if has_left { 2 } else { 3 };
            assert_eq!(did["statements"], statements, "{what}");
            assert!(did["idle_us"].as_f64().is_some_and(|idle| idle > 0.5 * length), "{what}");
        }
    }
}

/// Has them all happen at once; how long each took.
fn happen(product: Product, server: &GivenServer, planted: &[Planted]) -> Vec<Duration> {
    let together = Meeting { all: planted.len(), come: AtomicUsize::new(0) };
    thread::scope(|threads| {
        let mut all = Vec::new();
        for one in planted {
            all.push(threads.spawn(|| one.happen(product, server, &together)));
        }
        all.into_iter().map(|one| one.join().expect("it happens")).collect()
    })
}

/// The connection of the holder with this number.
fn holder(product: Product, number: usize, seen: &Seen) -> Value {
    let sql = match product {
        Product::Postgres => format!("SELECT 'holder {number}'"),
        _ => format!("DO 'holder {number}'"),
    };
    seen.one(&sql)["connection"].clone()
}

/// Every lock, for waits within and beyond a second (by then PostgreSQL has looked for deadlocks,
/// and MySQL looks around while it waits for metadata), let go in every way.
#[test]
fn who_held_a_lock_is_named_however_it_lets_go() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let server = GivenServer::start(product, patient(product));
        let locks = if product == Product::Postgres { &POSTGRES } else { &MYSQL };
        let mut planted = Vec::new();
        for lock in locks {
            for length in LENGTHS.map(Duration::from_millis) {
                for release in [Release::Statement, Release::Goodbye, Release::HangUp] {
                    planted.push(Planted { number: planted.len(), lock, length, release });
                }
            }
        }
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        let took = happen(product, &server, &planted);
        let seen = tracer.end();
        planted.iter().zip(took).for_each(|(one, took)| one.check(product, &seen, took));
    }
}

/// What ends a wait in vain is a timer, or whoever finds the deadlock: none of them held anything.
#[test]
fn nobody_is_named_who_let_nothing_go() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let server = GivenServer::start(product, &[]);
        let [limit, long_limit, deadlock] = match product {
            Product::Postgres => ["SET lock_timeout = '1500ms'", "SET lock_timeout = 0", "40P01"],
            _ => ["SET innodb_lock_wait_timeout = 2", "SET innodb_lock_wait_timeout = 900", "1213"],
        };
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        let [mut one, mut other] = [0, 1].map(|number| {
            let mut client = LockClient::connect(product, &server);
            client.sign(&format!("holder {number}"));
            client
        });
        one.query("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
        one.query("INSERT INTO l VALUES (1, 0), (2, 0)");
        one.query("BEGIN");
        one.query("UPDATE l SET n = 1 WHERE id = 1");
        other.query(limit);
        other.query("UPDATE l SET n = 2 WHERE id = 1 OR id = 3");
        other.query("BEGIN");
        other.query("UPDATE l SET n = 3 WHERE id = 2");
        // From here on nothing ends a wait but whoever finds the deadlock.
        for client in [&mut one, &mut other] {
            client.query(long_limit);
        }
        one.send("UPDATE l SET n = 4 WHERE id = 2");
        until_at_rest(server.server.pid());
        other.query("UPDATE l SET n = 5 WHERE id = 1");
        // The victim's transaction may be either; what the other holds it lets go.
        one.answered();
        let seen = tracer.end();
        let nobody = |request: &Value| {
            let blocker = &request["blocker"];
            assert!(blocker["wait_us"].as_f64().is_none_or(|wait| wait > 0.0), "{request}");
            assert!(blocker["thread"].is_null() && blocker["connection"].is_null(), "{request}");
        };
        let late = seen.one("UPDATE l SET n = 2 WHERE id = 1 OR id = 3");
        assert!(!late["error"].is_null() && part_ms(late, "lock") > 1000.0, "{late}");
        assert!(!late["blocker"].is_null(), "{late}");
        nobody(late);
        let both = [
            seen.one("UPDATE l SET n = 4 WHERE id = 2"),
            seen.one("UPDATE l SET n = 5 WHERE id = 1"),
        ];
        let is_victim = |request: &Value| request["error"].to_string().contains(deadlock);
        let victim = usize::from(is_victim(both[1]));
        assert!(is_victim(both[victim]) && !is_victim(both[1 - victim]), "{both:?}");
        nobody(both[victim]);
        if part_ms(both[1 - victim], "lock") > 1.0 {
            let connection = &both[1 - victim]["blocker"]["connection"];
            assert_eq!(*connection, holder(product, victim, &seen), "{both:?}");
        }
    }
}

/// In sums the waiting statement has those that let go below it, with their connections and times.
#[test]
fn sums_say_whose_locks_statements_waited_for() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let server = GivenServer::start(product, patient(product));
        let lock = if product == Product::Postgres { &POSTGRES[0] } else { &MYSQL[0] };
        let releases = [Release::Statement, Release::Statement, Release::HangUp];
        let planted = releases.into_iter().enumerate().map(|(number, release)| Planted {
            number,
            lock,
            length: Duration::from_millis(200),
            release,
        });
        let planted: Vec<Planted> = planted.collect();
        let record = format!("--record {} ", sandbox.path("locks.trace").display());
        for recorded in ["", record.as_str()] {
            let options = format!("{recorded}--summary");
            let Some(tracer) = Tracer::start(&sandbox, &server, &options) else { return };
            happen(product, &server, &planted);
            tracer.interrupt();
            let (code, out) = tracer.printed();
            assert_eq!(code, Some(0), "{out}");
            has_locks(&out, lock.name);
            LockClient::connect(product, &server).query("DROP TABLE l0, l1, l2");
            if !recorded.is_empty() {
                let file = sandbox.path("locks.trace");
                let line = format!("trace {} --summary --details", file.display());
                let replayed = sandbox.run(&line);
                replayed.exits(0);
                has_locks(&replayed.out, lock.name);
                let line = format!("trace {} --summary --json", file.display());
                is_the_same(&sandbox.run(&line).out, lock.name);
            }
        }
    }
}

/// The same of one JSON document.
fn is_the_same(out: &str, lock: &str) {
    let summary: Value = serde_json::from_str(out).expect("one document");
    let waits = summary["lock_waits"].as_array().expect("waits");
    let of = |wait: &&Value| wait["lock"] == lock && wait["count"] == 1;
    let of_lock: Vec<&Value> = waits.iter().filter(of).collect();
    let count = |name: &str, value: &str| {
        let is_one = |wait: &&&Value| wait[name] == value && wait["wait_us"] == wait["longest_us"];
        of_lock.iter().filter(is_one).count()
    };
    assert_eq!((of_lock.len(), count("holder", "client_left")), (3, 1), "{out}");
    assert_eq!(count("holder_statement", "COMMIT"), 2, "{out}");
    let sum = |name: &str| -> u64 {
        let rows = summary["statements"].as_array().expect("statements").iter();
        rows.map(|row| row[name].as_u64().expect("a count")).sum()
    };
    let all = &summary["all"];
    assert!(all["count"] == sum("count") && all["errors"] == sum("errors"), "{out}");
}

/// Three tables had their own statement; each waited once, and one for a client that left.
fn has_locks(out: &str, lock: &str) {
    let of_lock = format!("{lock} released ");
    let lines: Vec<&str> = out.lines().filter(|line| line.contains(&of_lock)).collect();
    let count = |text: String| lines.iter().filter(|line| line.contains(&text)).count();
    assert_eq!(count(format!("{lock} released by COMMIT (connection ")), 2, "{out}");
    assert_eq!(count(format!("{lock} released as a client left (connection ")), 1, "{out}");
    assert!(lines.iter().all(|line| line.contains(" 1 time, ") && !line.contains('#')), "{out}");
}
