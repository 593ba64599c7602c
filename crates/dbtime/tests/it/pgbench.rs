//! `dbtime pgbench` as a process: its tables, its runs, its logs and how it ends.

mod beside;

use crate::given_server::GivenServer;
use crate::running::Running;
use crate::sandbox::{Ran, Sandbox, count, counts_add_up, names};
use dbtime_model::Product;
use std::fs;

/// A PostgreSQL that runs, and a sandbox beside it.
struct Stage {
    sandbox: Sandbox,
    given: GivenServer,
}

impl Stage {
    fn new(settings: &[(&str, &str)]) -> Self {
        Self { sandbox: Sandbox::new(), given: GivenServer::start(Product::Postgres, settings) }
    }

    /// One with tables at scale 1.
    fn filled() -> Self {
        let stage = Self::new(&[]);
        stage.run("-i -q").exits(0);
        stage
    }

    /// One with tables whose scale is 1 and that have no accounts: whoever looks for some is
    /// answered too, and a hundred thousand take a second to load.
    fn laid_out(settings: &[(&str, &str)]) -> Self {
        let stage = Self::new(settings);
        stage.run("-i -q -I dt").exits(0);
        stage.given.sql("INSERT INTO pgbench_branches VALUES (1, 0)");
        stage
    }

    /// The database as pgbench takes it.
    fn database(&self) -> String {
        let server = &self.given.server;
        let folder = server.socket().parent().expect("a folder").display();
        let (port, user, file) = (server.port(), server.user(), server.login_file());
        format!("host={folder} port={port} user={user} dbname=d passfile={}", file.display())
    }

    fn run(&self, line: &str) -> Ran {
        self.sandbox.run(&format!("pgbench {line} '{}'", self.database()))
    }

    /// A run without vacuum and without dbtime's own report; it must be fine.
    fn classic(&self, line: &str) -> Ran {
        let ran = self.run(&format!("--classic -n {line}"));
        ran.exits(0);
        ran
    }

    /// The sums of balances and of changes, which are the same after whole transactions.
    fn balances(&self) -> Vec<Option<String>> {
        self.given.sql(SUMS).rows.remove(0)
    }
}

const SUMS: &str = "SELECT (SELECT sum(abalance) FROM pgbench_accounts), \
                    (SELECT sum(tbalance) FROM pgbench_tellers), \
                    (SELECT sum(bbalance) FROM pgbench_branches), \
                    (SELECT sum(delta) FROM pgbench_history)";

/// The number behind `name` on a line of its own.
fn field<'a>(ran: &'a Ran, name: &str) -> &'a str {
    let line = ran.out.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no `{name}` in {ran:?}"))
}

#[test]
fn transactions_are_whole_in_every_mode() {
    let stage = Stage::filled();
    for mode in ["simple", "extended", "prepared"] {
        let ran = stage.classic(&format!("-M {mode} -c 3 -j 2 -t 20 --shards=2"));
        assert_eq!(field(&ran, "query mode"), mode);
        assert_eq!(field(&ran, "number of transactions actually processed"), "60/60");
        let sums = stage.balances();
        assert!(sums.iter().all(|sum| sum.is_some() && *sum == sums[0]), "{sums:?}");
    }
    assert_eq!(stage.given.sql("SELECT count(*) FROM pgbench_history").rows.len(), 1);
    // A vacuum empties the history.
    stage.run("--classic -S -t 1").stderr_has(&["starting vacuum...end."]).exits(0);
    let left = stage.given.sql("SELECT tid FROM pgbench_history").rows;
    assert!(left.is_empty(), "{left:?}");
    let scaled = stage.run("--classic -n -s 7 -S -t 1");
    let scaled =
        scaled.stderr_has(&["scale option ignored, using count from pgbench_branches table (1)"]);
    assert_eq!(field(&scaled, "scaling factor"), "1");
}

#[test]
fn a_rate_is_kept_and_what_is_late_is_skipped() {
    let stage = Stage::laid_out(&[]);
    // Of what was due while it had no CPU at the end some is missing.
    let ran = stage.classic("-S -T 4 -R 150 -P 1 -c 2");
    let processed: u64 = field(&ran, "number of transactions actually processed").parse().unwrap();
    assert!((300..750).contains(&processed), "{ran:?}");
    let first = ran.err.strip_prefix("progress: ").and_then(|rest| rest.split_once(" s, "));
    let at: Option<f64> = first.and_then(|(seconds, _)| seconds.parse().ok());
    assert!(at.is_some_and(|at| (1.0..=3.5).contains(&at)), "{ran:?}");
    assert!(ran.err.matches("progress: ").count() >= 2, "{ran:?}");
    let pause = "\\sleep 20ms\nSELECT 1;\n";
    stage.sandbox.write("pause.sql", pause);
    let ran = stage.classic("-f pause.sql -T 4 -R 100 -L 10 -l -P 1");
    let skipped = field(&ran, "number of transactions skipped");
    let skipped: u64 = skipped.split(' ').next().unwrap_or_default().parse().expect("a count");
    assert!(skipped > 50, "{ran:?}");
    assert!(ran.err.contains(" skipped\n"), "{ran:?}");
    let log = logs(&stage.sandbox).remove(0);
    let logged = log.lines().filter(|line| line.contains(" skipped ")).count();
    assert_eq!(logged as u64, skipped, "{ran:?}");
}

/// Another client that waits for them has them at once.
#[test]
fn a_client_that_pauses_at_a_signal_holds_no_locks_any_more() {
    let stage = Stage::laid_out(&[]);
    let script = "BEGIN;\nUPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n\
                  \\if :client_id = 0\n\\sleep 1000 s\n\\endif\nCOMMIT;\n";
    stage.sandbox.write("hold.sql", script);
    let line = "pgbench -n -f hold.sql -c 2 -T 3600 --json --out r";
    let running = stage.sandbox.start(&format!("{line} '{}'", stage.database()));
    stage.given.until_waiting(1);
    running.interrupt();
    let json = running.end().json();
    counts_add_up(&json);
    assert_eq!(count(&json, "/counts/unfinished"), 1, "{json}");
}

/// The logs in a sandbox, by name.
fn logs(sandbox: &Sandbox) -> Vec<String> {
    let all = names(&sandbox.path("."));
    let logs = all.iter().filter(|name| name.starts_with("pgbench_log."));
    logs.map(|name| fs::read_to_string(sandbox.path(name)).expect("a log")).collect()
}

#[test]
fn each_thread_logs_what_its_clients_did() {
    let stage = Stage::laid_out(&[]);
    stage.classic("-l -S -c 3 -j 2 -t 4");
    let logs = logs(&stage.sandbox);
    let clients = |log: &String| {
        let mut clients: Vec<_> =
            log.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect();
        clients.sort();
        clients.dedup();
        (clients.join(","), log.lines().count())
    };
    let seen: Vec<_> = logs.iter().map(clients).collect();
    assert_eq!(seen, [("0,1".to_owned(), 8), ("2".to_owned(), 4)]);
    assert!(logs.iter().flat_map(|log| log.lines()).all(|line| line.split(' ').count() == 6));
    stage.sandbox.write("pause.sql", "\\sleep 2ms\nSELECT 1;\n");
    stage.classic("-l --log-prefix=sum --aggregate-interval=1 -f pause.sql -T 2");
    let name = names(&stage.sandbox.path(".")).into_iter().find(|name| name.starts_with("sum."));
    let sums = fs::read_to_string(stage.sandbox.path(&name.expect("a log"))).expect("sums");
    assert!(sums.lines().count() >= 1, "{sums}");
    assert!(sums.lines().all(|line| line.split(' ').count() == 15), "{sums}");
}

#[test]
fn aborted_clients_leave_the_others_at_work_and_end_in_2() {
    let stage = Stage::new(&[]);
    stage.sandbox.write("bad.sql", "\\if :client_id = 0\nSELECT 1/0;\n\\endif\nSELECT 2;\n");
    let ran = stage.run("--classic -n -f bad.sql -c 2 -t 5");
    ran.exits(2);
    assert_eq!(field(&ran, "number of transactions actually processed"), "5/10");
    let abort = "pgbench: error: client 0 script 0 aborted in command 1 query 0: ERROR:  division \
                 by zero\npgbench: error: Run was aborted; the above results are incomplete.\n";
    assert_eq!(ran.err, abort);
}

#[test]
fn what_cannot_be_run_ends_in_1() {
    let stage = Stage::new(&[]);
    let told = |line: &str, text: &str| {
        let ran = stage.run(line).stderr_has(&[text]);
        ran.exits(1);
        assert!(ran.err.starts_with("pgbench: error: "), "{ran:?}");
    };
    told("-t 5", "could not count number of branches: ERROR:  relation \"pgbench_branches\"");
    told("-f none.sql", "could not open file \"none.sql\": No such file or directory\n");
    told("-t 0", "-t/--transactions must be in range 1..2147483647");
    told("-i -I dx", "unrecognized initialization step \"x\"");
    stage.sandbox.write("wrong.sql", "\\set a 1 +\n");
    told("-n -f wrong.sql", "wrong.sql:1: ");
    stage.sandbox.write("one.sql", "SELECT 1;\n");
    told("-n -f one.sql -c 500 -t 1", "could not create connection for client ");
    let nothing = stage.sandbox.run("pgbench --target sqlite:none.db -t 1");
    nothing.stderr_has(&["none.db", "Perhaps you need to do initialization"]).exits(1);
    let nowhere = stage.sandbox.run("pgbench -h /nowhere d");
    nowhere.stderr_has(&["/nowhere", "could not create connection for setup"]).exits(1);
    let secret = stage.sandbox.run("pgbench -t 1 'postgres://u:secret@127.0.0.1:1/d'");
    secret.exits(1);
    assert!(!secret.err.contains("secret"), "{secret:?}");
}

#[test]
fn other_databases_run_the_same_scripts() {
    let sandbox = Sandbox::new();
    let given = GivenServer::start(Product::Mariadb, &[]);
    for target in ["sqlite:t.db".to_owned(), given.target()] {
        let line = format!("pgbench --classic --target '{target}'");
        sandbox.run(&format!("{line} -i")).stderr_has(&["100000 of 100000 tuples (100%)"]).exits(0);
        for mode in ["simple", "prepared"] {
            let ran = sandbox.run(&format!("{line} -n -M {mode} -c 2 -t 50 --max-tries=1000"));
            ran.exits(0);
            assert_ne!(field(&ran, "number of transactions actually processed"), "0/100");
        }
        sandbox
            .run(&format!("{line} -n -M extended -t 1"))
            .stderr_has(&["PostgreSQL's own"])
            .exits(1);
    }
    let rows = given.sql(SUMS).rows;
    assert!(rows[0].iter().all(|sum| sum.is_some() && *sum == rows[0][0]), "{rows:?}");
    let database = rusqlite::Connection::open(sandbox.path("t.db")).expect("a database");
    let sums = database.query_row(SUMS, [], |row| {
        (0..4).map(|column| row.get::<_, i64>(column)).collect::<Result<Vec<_>, _>>()
    });
    let sums = sums.expect("sums");
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
}

#[test]
fn a_target_of_its_own_is_filled_and_recorded() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("pgbench --target sqlite --json --out r -t 20 -c 2");
    ran.exits(0);
    let json = ran.json();
    counts_add_up(&json);
    assert_eq!(count(&json, "/counts/completed"), 40);
    assert_eq!(json["workload"]["name"], "tpcb-like");
    assert_eq!(sandbox.left(), ["r"]);
    let ran =
        sandbox.run("pgbench --target postgres -n -S -t 5").stderr_has(&["creating tables..."]);
    ran.exits(0);
    let bases = ["/s flat out, over the window of ", "; tps: over the run, to its last answer"];
    let ran = ran.prints(&["tps = ", "select-only on PostgreSQL", "Where the time goes"]);
    ran.prints(&bases);
}

#[test]
fn tables_are_not_made_where_they_are_gone_at_once() {
    let sandbox = Sandbox::new();
    for target in ["sqlite", "mariadb"] {
        let remedy = format!("`dbtime pgbench --target {target}` prepares and runs in one");
        let ran = sandbox.run(&format!("pgbench --target {target} -i"));
        ran.stderr_has(&["-i needs a place that stays", &remedy]).exits(1);
    }
    assert!(sandbox.left().is_empty());
}

#[test]
fn run_takes_pgbenchs_scripts() {
    let sandbox = Sandbox::new();
    let text = "\\set aid random(1, 100000 * :scale)\n\
                SELECT abalance + :more FROM pgbench_accounts WHERE aid = :aid;\n";
    sandbox.write("own.sql", text);
    let line = "run --script own.sql --script-set more=5 --transactions 20 --json --no-record";
    for more in ["", "--protocol text", "--connections 3", "--rate 500/s"] {
        let json = sandbox.run(&format!("{line} {more}")).fine().json();
        assert_eq!(count(&json, "/counts/completed"), 20, "{more}");
        assert_eq!(json["workload"]["name"], "own");
    }
    sandbox.run("run --script own.txt").refused(2, &[".sql for pgbench's"]);
    sandbox.run("run --script none.sql").refused(2, &["none.sql cannot be read"]);
    sandbox.run("run atm --script own.sql").refused(2, &["cannot be used with"]);
}

#[test]
fn what_a_record_says_can_be_repeated() {
    let stage = Stage::laid_out(&[]);
    let chosen = stage.run("-n -S -t 2 --random-seed=42 --json").json();
    assert_eq!(count(&chosen, "/load/seed"), 42);
    let by_clock = stage.run("-n -S -t 2 --json").json();
    let seed = format!(" --random-seed={}", count(&by_clock, "/load/seed"));
    assert!(by_clock["command"].as_str().expect("a command").contains(&seed), "{by_clock}");
}

#[test]
fn json_has_stdout_to_itself() {
    let stage = Stage::laid_out(&[]);
    stage.sandbox.write("echo.sql", "\\shell echo out\nSELECT 1;\n");
    let ran = stage.run("-n -f echo.sql -t 2 --allow-shell --json");
    counts_add_up(&ran.json());
    assert_eq!(ran.err.matches("out\n").count(), 2, "{ran:?}");
    stage.run("-i --json").stderr_has(&["--json prints the record of a run"]).exits(1);
    // The same server serves.
    a_second_interrupt_ends_programs(&stage);
    programs_end_with_a_process_that_is_killed(&stage);
    a_program_is_waited_for_aloud(&stage);
}

/// Starts a script whose clients wait for a program.
fn start_waiting(stage: &Stage, start: &str, waits: &str, clients: u32) -> Running {
    let text = format!("{start} exec >/dev/null 2>&1; {waits}\nSELECT 1;\n");
    stage.sandbox.write("waits.sql", &text);
    let line = format!("pgbench -n -f waits.sql -c {clients} -T 3600 --allow-shell");
    stage.sandbox.start(&format!("{line} '{}'", stage.database()))
}

fn a_second_interrupt_ends_programs(stage: &Stage) {
    for start in ["\\shell", "\\setshell x"] {
        let running = start_waiting(stage, start, "sleep 1000000 & touch begun; wait", 2);
        stage.sandbox.wait_for(&["begun"]);
        running.interrupt_twice().exits(130);
        stage.sandbox.wait_until_none_is_left();
        fs::remove_file(stage.sandbox.path("begun")).expect("it began");
    }
}

fn programs_end_with_a_process_that_is_killed(stage: &Stage) {
    for start in ["\\shell", "\\setshell x"] {
        let mut running = start_waiting(stage, start, "sleep 1000000 & wait", 1);
        // By then it knows of its program.
        running.hear("it waits for a program");
        running.kill();
        assert_eq!(running.end().code, None);
        stage.sandbox.wait_until_none_is_left();
    }
}

fn a_program_is_waited_for_aloud(stage: &Stage) {
    let until = "for i in $(seq 1000); do [ -e go ] && break; sleep 0.1; done";
    for (start, shown) in
        [("\\shell X=4711;", "`\\shell X=…`"), ("\\setshell x", "`\\setshell exec`")]
    {
        let mut running = start_waiting(stage, start, until, 1);
        running.hear(shown);
        running.interrupt();
        stage.sandbox.write("go", "");
        let ran = running.end();
        assert!(ran.err.contains("the script of client 0 has not returned for"), "{ran:?}");
        assert!(!ran.err.contains("4711"), "{ran:?}");
        fs::remove_file(stage.sandbox.path("go")).expect("it is there");
    }
}

#[test]
fn sessions_are_named_and_set_as_pgbenchs() {
    let stage = Stage::new(&[]);
    stage.sandbox.write(
        "name.sql",
        "SELECT 1/(count(*) - 1) FROM pg_stat_activity \
        WHERE application_name = 'pgbench' AND pid = pg_backend_pid();\n",
    );
    // One divided by nothing: it is called so.
    stage.run("-n -f name.sql -t 1").stderr_has(&["division by zero"]).exits(2);
}
