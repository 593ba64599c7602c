//! Locks that transactions hold.

use super::*;
use crate::given_server::patient_bound;

/// Holds the row for `HOLD`, again and again.
fn hold_row(server: &GivenServer, is_over: &AtomicBool) {
    let server = server.server.server().with_database("d");
    let mut session = server.connect(&patient_bound()).expect("it lets us in");
    while !is_over.load(Ordering::Relaxed) {
        for sql in ["BEGIN", "UPDATE l SET n = n + 1 WHERE id = 1"] {
            session.query(sql).expect("nobody is in the way for long");
        }
        std::thread::sleep(HOLD);
        session.query("COMMIT").expect("its own transaction");
    }
}

const HOLD: Duration = Duration::from_millis(30);

#[test]
fn a_lock_that_another_session_holds_is_the_lock() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        server.sql("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
        server.sql("INSERT INTO l VALUES (1, 0)");
        let line = format!(
            "--query 'UPDATE l SET n = n + 2 WHERE id = 1' --target '{}' --connections 1 --time 3s",
            server.target()
        );
        is_found(|| {
            let without = ExplainedRun::of(&line)?;
            let is_over = AtomicBool::new(false);
            let with = std::thread::scope(|scope| {
                scope.spawn(|| hold_row(&server, &is_over));
                let _over = EndSignal(&is_over);
                ExplainedRun::of(&line)
            })?;
            let (found, planted) = growth(&without, &with, &["lock"]);
            assert!(found > 0.5 * HOLD.as_secs_f64() * 1e6, "{found}");
            with.advises("lock_waits", &["were for COMMIT", "its client keeps"]);
            let words = "which is not part of this run, held the lock: idle in transaction";
            Some(with.if_first(words, (found, planted)))
        });
    }
}

/// One lock that all sessions take by turns, each for 2 ms.
#[test]
fn a_hot_spot_is_the_lock() {
    for (product, query) in [
        (Product::Mariadb, "SELECT GET_LOCK('hot', 10) + SLEEP(0.002) + RELEASE_LOCK('hot')"),
        (Product::Postgres, "SELECT pg_advisory_xact_lock(1), pg_sleep(0.002)"),
    ] {
        let server = GivenServer::start(product, &[]);
        is_found(|| {
            let runs = [1, 6].map(|connections| {
                let load = format!("--connections {connections} --time 2s");
                let target = server.target();
                ExplainedRun::of(&format!("--query \"{query}\" --target '{target}' {load}"))
            });
            let [Some(without), Some(with)] = runs else { return None };
            with.advises("lock_waits", &["look at the application"]);
            let found = growth(&without, &with, &["lock"]);
            Some(with.if_first("the application's own lock", found))
        });
    }
}
