//! Causes whose share is not known beforehand: what the advice on a run begins with.

use super::super::stopped::{ControlGroup, children};
use super::*;
use crate::given_server::patient_bound;
use rustix::process::{Pid, Signal, kill_process};

/// How long a server is stopped each time, and goes on behind that; and how often.
const TURN: Duration = Duration::from_millis(250);
const TURNS: usize = 4;

/// The advice on one of some runs begins with this; a machine that is busy has causes of its own.
fn begins_with(words: &str, mut attempt: impl FnMut() -> Option<ExplainedRun>) {
    let _alone = PLANTING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some(run) = attempt() else { return };
        if run.first_line().contains(words) {
            return;
        }
        seen.push(format!("{}: {}", run.first_line(), run.record["budget_us"]));
    }
    panic!("{words}: {seen:#?}");
}

/// A run of this load against a server of each product; the query is for MySQL's and PostgreSQL's.
fn of_query([mysql, postgres]: [&str; 2], load: &str, words: &str) {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let query = if product == Product::Postgres { postgres } else { mysql };
        let line = format!("--query \"{query}\" --target '{}' {load} --time 2s", server.target());
        begins_with(words, || ExplainedRun::of(&line));
    }
}

/// Some tens of milliseconds of CPU.
const BUSY: [&str; 2] =
    ["SELECT BENCHMARK(200000, MD5('a'))", "SELECT count(*) FROM generate_series(1, 200000)"];

#[test]
fn a_pause_in_a_statement() {
    let queries = ["SELECT SLEEP(0.01)", "SELECT 1 FROM pg_sleep(0.01)"];
    of_query(queries, "--connections 2", "statements sleep in the server");
}

/// Of a hundred that are due in a second each takes eight milliseconds.
#[test]
fn a_small_pool() {
    let queries = ["SELECT SLEEP(0.008)", "SELECT 1 FROM pg_sleep(0.008)"];
    let load = "--connections 1 --rate 110/s --arrivals poisson";
    of_query(queries, load, "the pool is small: transactions wait for one of 1 connection");
}

#[test]
fn a_connection_for_each_transaction() {
    let load = "--connections 2 --reconnect every-transaction";
    of_query(["SELECT 1"; 2], load, "a connection is made for each transaction");
}

#[test]
fn large_results() {
    let queries = ["SELECT seq FROM seq_1_to_50000", "SELECT generate_series(1, 50000)"];
    of_query(queries, "--connections 1", "50,000 rows each time");
}

#[test]
fn a_network_with_a_delay() {
    let load = "--connections 2 --network-delay 2ms";
    of_query(["SELECT 1"; 2], load, "the simulated network");
}

/// Stops a server, with all that it has for its connections, and lets it go on, by turns.
fn stop_in_turns(server: &GivenServer) {
    let own = server.server.pid();
    let others = children(own).into_iter().filter_map(|pid| pid.parse().ok());
    let pids: Vec<_> = others.chain([own.cast_signed()]).filter_map(Pid::from_raw).collect();
    for signal in [Signal::STOP, Signal::CONT].into_iter().cycle().take(2 * TURNS) {
        // One that has just ended needs none.
        pids.iter().for_each(|pid| _ = kill_process(*pid, signal));
        std::thread::sleep(TURN);
    }
}

#[test]
fn a_server_that_is_stopped() {
    for (product, query) in [(Product::Mariadb, BUSY[0]), (Product::Postgres, BUSY[1])] {
        let server = GivenServer::start(product, &[]);
        let load = "--connections 1 --time 3s";
        let line = format!("--query \"{query}\" --target '{}' {load}", server.target());
        begins_with("the server was stopped or frozen", || {
            ExplainedRun::of_in(&Sandbox::new(), &line, |dbtime| {
                driven::wait_for_thread(dbtime, "load");
                std::thread::sleep(WARM_UP);
                stop_in_turns(&server);
            })
        });
    }
}

/// A group whose processes have a tenth of a CPU together; `None` where none can be made.
fn limited_group() -> Option<ControlGroup> {
    let group = ControlGroup::new("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us")?;
    group.write("cpu.cfs_period_us", "100000");
    group.write("cpu.cfs_quota_us", "10000");
    Some(group)
}

/// Says that there is no such group here.
fn not_limited() {
    let note = "NOT TESTED: no control group's CPU time can be limited here\n";
    std::io::stderr().write_all(note.as_bytes()).expect("a terminal or a log");
}

#[test]
fn a_server_with_a_cpu_limit() {
    for (product, query) in [(Product::Mariadb, BUSY[0]), (Product::Postgres, BUSY[1])] {
        let Some(group) = limited_group() else { return not_limited() };
        let server = GivenServer::start(product, &[]);
        group.takes(&server);
        let load = "--connections 1 --time 4s";
        let line = format!("--query \"{query}\" --target '{}' {load}", server.target());
        begins_with("the CPU limit of the server's control group", || ExplainedRun::of(&line));
        // It is to end in its own time.
        group.write("cpu.cfs_quota_us", "-1");
    }
}

#[test]
fn a_driver_with_a_cpu_limit() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    let line = format!("--query 'SELECT 1' --target '{}' --time 4s", server.target());
    begins_with("the CPU limit of dbtime's own control group", || {
        let Some(group) = limited_group() else {
            not_limited();
            return None;
        };
        ExplainedRun::of_in(&Sandbox::new(), &line, |dbtime| {
            driven::wait_for_thread(dbtime, "load");
            group.write("cgroup.procs", &dbtime.to_string());
        })
    });
}

/// Two operations that change the same rows, one in the order of the other's end.
const LOCK_ORDER: &str = r#"
name = "order"
retry = { on = ["conflict", "busy"], max_tries = 20, backoff = "exp:1ms" }

[[table]]
name = "l"
rows = 2
columns = [
    { name = "id", type = "integer", primary_key = true, data = "row" },
    { name = "n", type = "integer", data = 0 },
]

[[operation]]
name = "up"
transaction = "write"

[[operation.statement]]
name = "first"
sql = "UPDATE l SET n = n + 1 WHERE id = 1"

[[operation.statement]]
name = "second"
sql = "UPDATE l SET n = n + 1 WHERE id = 2"

[[operation]]
name = "down"
transaction = "write"

[[operation.statement]]
name = "second"
sql = "UPDATE l SET n = n - 1 WHERE id = 2"

[[operation.statement]]
name = "first"
sql = "UPDATE l SET n = n - 1 WHERE id = 1"
"#;

#[test]
fn locks_in_different_orders() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        sandbox.write("order.toml", LOCK_ORDER);
        let line = format!("order.toml --target {} --connections 8 --time 4s", product.name());
        begins_with("in different orders", || ExplainedRun::of_in(&sandbox, &line, |_| {}));
    }
}

#[test]
fn a_hot_row() {
    for product in PRODUCTS {
        let line = format!("tpcb --target {} --connections 12 --time 2s", product.name());
        begins_with("many change the same rows", || ExplainedRun::of(&line));
    }
}

/// Somebody else locks a table, and lets it go after a while, again and again.
fn hold_table(server: &GivenServer, statements: [&str; 3], is_over: &AtomicBool) {
    let server = server.server.server().with_database("d");
    let mut session = server.connect(&patient_bound()).expect("it lets us in");
    let [begin, lock, unlock] = statements;
    while !is_over.load(Ordering::Relaxed) {
        for sql in [begin, lock] {
            session.query(sql).expect("nobody is in the way for long");
        }
        std::thread::sleep(Duration::from_millis(30));
        session.query(unlock).expect("its own lock");
    }
}

#[test]
fn a_table_that_somebody_else_locks() {
    for (product, statements) in [
        (Product::Mariadb, ["DO 1", "LOCK TABLES l WRITE", "UNLOCK TABLES"]),
        (Product::Postgres, ["BEGIN", "LOCK TABLE l", "COMMIT"]),
    ] {
        let server = GivenServer::start(product, &[]);
        server.sql("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
        let load = "--connections 1 --time 3s";
        let line = format!("--query 'SELECT n FROM l' --target '{}' {load}", server.target());
        begins_with("which is not part of this run, held the lock", || {
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| hold_table(&server, statements, &is_over));
                let _over = EndSignal(&is_over);
                ExplainedRun::of(&line)
            })
        });
    }
}
