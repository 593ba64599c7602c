//! Given targets: loaded by `init`, checked by `run`, and told with the command that helps.

use crate::sandbox::{Ran, SMALL, Sandbox};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::process::Command;

const SHORT: &str = "--warmup 0s --time 100ms --no-record --budget-every 1";

/// The command between backquotes that a message tells to run.
fn remedy(ran: &Ran) -> String {
    let from = ran.err.find("`dbtime ").unwrap_or_else(|| panic!("no command in {ran:?}"));
    let command = &ran.err[from + "`dbtime ".len()..];
    command.split('`').next().expect("there is a first").to_owned()
}

/// The line is refused with these words, and works once the command it names has been run.
fn works_after_its_remedy(sandbox: &Sandbox, line: &str, told: &[&str]) {
    let refused = sandbox.run(line).refused(3, told);
    sandbox.run(&remedy(&refused)).fine().prints(&["rows loaded into"]);
    sandbox.run(line).fine();
}

#[test]
fn init_loads_and_run_takes_it() {
    let sandbox = Sandbox::loaded();
    assert_eq!(sandbox.left(), ["small.toml", "t.db"]);
    let run = sandbox.run(&format!("run small.toml --target sqlite:t.db {SHORT} --json")).fine();
    assert_eq!(run.json()["workload"]["rows"]["item"], 100);
    let again = sandbox.run("init small.toml --target sqlite:t.db").fine();
    again.prints(&["100 rows loaded into sqlite:t.db", "in the place of its data at scale 1"]);
    let other = "init small.toml --scale 2 --target sqlite:t.db";
    let told = ["t.db holds workload small at scale 1: nothing was changed", "--replace"];
    sandbox.run(other).refused(3, &told);
    let again = sandbox.run(&format!("{other} --replace")).fine();
    again.prints(&["small at scale 2", "200 rows loaded into sqlite:t.db in ", "at scale 1"]);
    let database = Connection::open(sandbox.path("t.db")).expect("a database");
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).expect(sql);
    assert_eq!(count("SELECT COUNT(*) FROM item"), 200);
    assert_eq!(count("SELECT MAX(n) FROM item"), 0);
}

#[test]
fn a_missing_database_is_told_with_the_command_that_makes_it() {
    let sandbox = Sandbox::new();
    let line = format!("run values1 --target sqlite:t.db {SHORT}");
    sandbox.run(&line).refused(3, &["there is no database t.db"]);
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
    let line = format!("run point-select --target sqlite:t.db {SHORT}");
    works_after_its_remedy(&sandbox, &line, &["there is no database t.db"]);
}

#[test]
fn missing_tables_are_told_with_the_command_that_makes_them() {
    let sandbox = Sandbox::loaded();
    let line = format!("run tpcb --target sqlite:t.db {SHORT}");
    works_after_its_remedy(&sandbox, &line, &["no data of workload tpcb", "it holds small"]);
    fs::write(sandbox.path("empty.db"), "").expect("an empty file");
    let line = format!("run point-select --target sqlite:empty.db {SHORT}");
    works_after_its_remedy(&sandbox, &line, &["no data of workload point-select"]);
}

#[test]
fn a_dropped_table_is_noticed() {
    let sandbox = Sandbox::new();
    sandbox.run("init point-select --target sqlite:t.db").fine();
    let database = Connection::open(sandbox.path("t.db")).expect("a database");
    database.execute_batch("DROP TABLE sbtest1").expect("dropped");
    drop(database);
    let line = format!("run point-select --target sqlite:t.db {SHORT}");
    works_after_its_remedy(&sandbox, &line, &["is incomplete", "without sbtest1"]);
}

#[test]
fn another_scale_is_told_and_the_loaded_one_is_taken() {
    let sandbox = Sandbox::loaded();
    let told =
        ["loaded at scale 1, not 2", "`--scale 1`", "--scale 2 --replace --target sqlite:t.db`"];
    sandbox
        .run(&format!("run small.toml --scale 2 --target sqlite:t.db {SHORT}"))
        .refused(3, &told);
    let line = format!("run point-select --scale 2 --target sqlite:t.db {SHORT}");
    sandbox.run("init point-select --target sqlite:t.db").fine();
    works_after_its_remedy(&sandbox, &line, &["loaded at scale 1, not 2"]);
    let line = format!("run point-select --target sqlite:t.db {SHORT} --json");
    assert_eq!(sandbox.run(&line).fine().json()["workload"]["scale"], 2);
}

#[test]
fn a_killed_init_does_not_count() {
    let sandbox = Sandbox::new();
    // A new database does not get its name before it is whole.
    let init = sandbox.start("init atm --scale 20 --target sqlite:t.db");
    sandbox.wait_for(&["t.db.loading"]);
    std::thread::sleep(std::time::Duration::from_millis(200));
    init.kill();
    assert_eq!(init.end().code, None);
    assert!(!sandbox.path("t.db").exists(), "{:?}", sandbox.left());
    let line = format!("run atm --target sqlite:t.db {SHORT}");
    works_after_its_remedy(&sandbox, &line, &["there is no database t.db"]);
    assert!(!sandbox.left().iter().any(|name| name.contains("loading")), "{:?}", sandbox.left());
    // One that exists is loaded in place, and is incomplete until the end.
    let size =
        || ["t.db", "t.db-wal"].map(|f| fs::metadata(sandbox.path(f)).map_or(0, |m| m.len()));
    let before = size();
    let init = sandbox.start("init atm --scale 20 --replace --target sqlite:t.db");
    while size() == before {
        std::thread::yield_now();
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    init.kill();
    assert_eq!(init.end().code, None);
    works_after_its_remedy(&sandbox, &line, &["the data of workload atm in sqlite:t.db is inc"]);
}

#[test]
fn a_folder_that_is_not_there_or_not_writable() {
    let sandbox = Sandbox::new();
    for line in ["init atm --target sqlite:no/t.db", "run atm --target sqlite:no/t.db --no-record"]
    {
        sandbox.run(line).refused(3, &["cannot write in no: No such file"]);
    }
    sandbox.write("file", "");
    sandbox.run("init atm --target sqlite:file/t.db").refused(3, &["file", "Not a directory"]);
    sandbox.run("init atm --target sqlite:tmp").refused(3, &["tmp"]);
    fs::remove_file(sandbox.path("file")).expect("removed");
    // Root may write anywhere else.
    let told = ["cannot write in /proc"];
    sandbox.run("init atm --target sqlite:/proc/t.db").refused(3, &told);
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

/// As a user whom permissions bind: nobody, when the tests run as root.
#[test]
fn permissions_are_told() {
    let sandbox = Sandbox::loaded();
    let readable = |name: &str, mode| {
        fs::set_permissions(sandbox.path(name), fs::Permissions::from_mode(mode))
            .expect("own file");
    };
    readable("", 0o755);
    readable("t.db", 0o444);
    let is_root = fs::metadata("/proc/self").expect("of this process").uid() == 0;
    let program = sandbox.path("tmp").join("dbtime");
    fs::copy(env!("CARGO_BIN_EXE_dbtime"), &program).expect("copied where nobody may read");
    let as_nobody = |line: &str| {
        let mut command = match is_root {
            true => Command::new("setpriv"),
            false => Command::new(&program),
        };
        if is_root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        }
        sandbox.settle(command.args(line.split(' ')));
        Ran::new(line, &command.output().expect("setpriv starts"))
    };
    readable("", 0o555);
    as_nobody("init atm --target sqlite:new.db").refused(3, &["cannot write in", "ermission"]);
    let line = "run small.toml --target sqlite:t.db --no-record";
    as_nobody(line).refused(3, &["ermission", "readonly"]);
    as_nobody("run values1 --target null --out r").refused(3, &["cannot write the record", "r:"]);
    readable("", 0o755);
    fs::remove_file(program).expect("removed");
    assert_eq!(sandbox.left(), ["small.toml", "t.db"]);
}

#[test]
fn a_file_that_is_no_database() {
    let sandbox = Sandbox::new();
    let text = "What is written here is no database, however long it may be. ".repeat(20);
    sandbox.write("t.db", &text);
    for line in ["init atm --target sqlite:t.db", "run atm --target sqlite:t.db --no-record"] {
        sandbox.run(line).refused(3, &["t.db is not an SQLite database"]);
    }
    let kept = fs::read_to_string(sandbox.path("t.db")).expect("still there");
    assert_eq!(kept, text);
    assert_eq!(sandbox.left(), ["t.db"]);
}

#[test]
fn a_damaged_database_is_told_before_or_counted_during_the_run() {
    let sandbox = Sandbox::new();
    sandbox.run("init point-select --target sqlite:t.db").fine();
    let overwrite = |page: u64, pages: usize| {
        let file = fs::OpenOptions::new().write(true).open(sandbox.path("t.db")).expect("a file");
        file.write_all_at(&vec![0xa5; pages * 4096], (page - 1) * 4096).expect("written");
    };
    overwrite(1000, 500);
    let line = "run point-select --target sqlite:t.db --warmup 0s --transactions 2000 --no-record";
    let run = sandbox.run(&format!("{line} --json")).unserved().json();
    let failed = crate::sandbox::count(&run, "/counts/failed");
    assert!(failed > 0, "{}", run["counts"]);
    assert_eq!(run["errors"]["SQLITE_CORRUPT"], failed);
    sandbox.run(&format!("{line} --details")).unserved().prints(&["SQLITE_CORRUPT"]);
    crate::sandbox::counts_add_up(&run);
    // Page 2 is the root of the first table.
    overwrite(2, 10);
    sandbox.run(line).refused(3, &["t.db is damaged", "dbtime init"]);
}

/// What neither the statement nor the target has may be a value.
#[test]
fn a_name_that_the_target_has_stays_in_a_refusal() {
    let sandbox = Sandbox::loaded();
    let connection = Connection::open(sandbox.path("t.db")).expect("a database");
    let views = "CREATE VIEW a AS SELECT * FROM db; CREATE VIEW b AS SELECT * FROM l4nt3d";
    connection.execute_batch(views).expect("views of what is not there");
    drop(connection);
    for (view, told) in [("a", "no such table: main.db"), ("b", "no such table: main.?")] {
        let line = format!("run --query 'SELECT * FROM {view}' --target sqlite:t.db --no-record");
        sandbox.run(&line).refused(3, &["refuses statement `query`", told]);
    }
}

#[test]
fn bad_sql_is_refused_before_the_run_and_good_sql_is_run() {
    let sandbox = Sandbox::loaded();
    let query = |sql: &str| {
        let flags = "--target sqlite:t.db --transactions 20 --no-record --details --budget-every 1";
        sandbox.run(&format!("run --query '{sql}' {flags}"))
    };
    query("SELECT COUNT(*) FROM item").fine().prints(&["query on sqlite", "completed 20 "]);
    query("SELEC 1").refused(3, &["t.db refuses statement", "SELEC", "syntax error"]);
    query("SELECT 1 2").refused(3, &["refuses statement", "near \"?\": syntax error"]);
    let secret = query("ALTER USER u IDENTIFED BY l4nt3d");
    let secret = secret.refused(3, &["refuses statement `query`: near ***"]);
    assert!(!secret.err.contains("l4nt3d"), "{secret:?}");
    query("SELECT * FROM nowhere").refused(3, &["refuses statement", "no such table: nowhere"]);
    query("SELECT :x").refused(2, &["`:x`", "without parameters"]);
    for sql in ["SELECT $1", "SELECT @x"] {
        query(sql).refused(3, &["refuses statement", "sees in it: 1", "`:name`"]);
    }
    query("").refused(2, &["query:1"]);
    query("SELECT 1; SELECT 2").refused(2, &["query:1"]);
    sandbox.write("w.toml", &SMALL.replace("SET n = n", "SET m = n"));
    let told = ["refuses statement `set`", "no such column: m"];
    sandbox.run("run w.toml --transactions 5 --no-record").refused(3, &told);
}
