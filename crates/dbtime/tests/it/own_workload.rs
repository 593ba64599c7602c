//! A workload file of one's own with everything a file may hold, on SQLite.

use crate::sandbox::{Sandbox, count, counts_add_up, number};
use rusqlite::Connection;

const EVERYTHING: &str = r#"
name = "everything"
description = "Every generator, dictionary and option"
limits = ["throughput >= 1/s"]
think = "uniform:2ms..4ms"
retry = { on = ["busy", "conflict"], max_tries = 5, backoff = "exp:1ms" }

[dictionaries.users]
template = "user%05d"
count = 500
first = 1
order = "unique"
[dictionaries.towns]
list = ["Bergen", "Dublin", "Málaga"]
[dictionaries.words]
file = "words.txt"
order = "sequential"

[[table]]
name = "thing"
rows_per_scale = 500
columns = [
    { name = "id", type = "integer", primary_key = true, data = "row" },
    { name = "serial", type = "bigint", data = { permutation = [1, "thing.rows"] } },
    { name = "town", type = "varchar(20)", data = { dictionary = "towns" } },
    { name = "ratio", type = "double", data = { real = [0.0, 1.0] } },
    { name = "label", type = "char(12)", data = { pattern = "@@@-####" } },
    { name = "pad", type = "text", data = { constant = "x", repeat = 50 } },
    { name = "seen", type = "timestamp", data = { constant = "2026-01-01 00:00:00" } },
]
indexes = [{ name = "thing_serial", columns = ["serial"], unique = true }]

[[table]]
name = "entry"
rows = 40
columns = [
    { name = "id", type = "bigint", primary_key = true, auto = true },
    { name = "user", type = "varchar(20)", data = { dictionary = "users" } },
    { name = "word", type = "varchar(20)", data = { dictionary = "words" } },
    { name = "amount", type = "integer", data = { formula = "row * 2" } },
]

[keys]
one = { uniform = [1, "thing.rows"] }
hot = { zipf = [1, "thing.rows"], exponent = 0.9, scramble = true }
bell = { gaussian = [1, "thing.rows"], parameter = 5 }
decay = { exponential = [1, "thing.rows"], parameter = 5 }
tpcc = { nurand = [1, "thing.rows"], a = 255, c = 7 }
spot = { hot_spot = [1, "thing.rows"], draws = 80, keys = 20 }
next = { sequence = [1, "thing.rows"] }
fresh = { unique = 1 }
shuffled = { permutation = [1, "thing.rows"] }
share = { real = [0.0, 1.0] }
mixed = { choose = [{ weight = 3, constant = 1 }, { weight = 1, uniform = [2, "one + 2"] }] }
low = { uniform = [1, "thing.rows - 9"], draw = "statement" }
high = "low + 9"
user = { dictionary = "users" }
town = { dictionary = "towns" }
word = { dictionary = "words" }
code = { pattern = "@#@#", draw = "statement" }
five = 5

[[operation]]
name = "look"
weight = 9
transaction = "read"
think = "exp:3ms"
limits = ["p90 <= 10s", "share 90% ± 5"]
[[operation.statement]]
name = "keys"
sql = """
SELECT label FROM thing WHERE id IN (:one, :hot, :bell, :decay, :tpcc, :spot, :next, :shuffled)
AND ratio <= 1 + :share AND :five = 5 AND :mixed > 0"""
[[operation.statement]]
name = "range"
repeat = 3
sql = "SELECT id, town FROM thing WHERE id BETWEEN :low AND :high"

[[operation]]
name = "write"
transaction = "write"
retry = { on = ["busy"], max_tries = 20, backoff = "500us" }
limits = ["errors <= 0%"]
[[operation.statement]]
name = "insert"
sql = "INSERT INTO entry (user, word, amount) VALUES (:user, :word, :fresh)"
[[operation.statement]]
name = "update"
pause = "200us"
sql = "UPDATE thing SET town = :town, label = :code WHERE id = :one"
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("own.toml", EVERYTHING);
    sandbox.write("words.txt", "alpha\nbeta\ngamma\n");
    sandbox
}

#[test]
fn everything_a_file_may_hold_runs() {
    let sandbox = sandbox();
    sandbox.run("init own.toml --target sqlite:t.db").fine().prints(&["540 rows loaded"]);
    let line = "run own.toml --target sqlite:t.db --connections 3 --transactions 900";
    let json = sandbox.run(&format!("{line} --no-record --json --budget-every 4")).fine().json();
    counts_add_up(&json);
    assert_eq!(count(&json, "/counts/completed"), 900, "{}", json["errors"]);
    let statement = |name: &str| {
        let statements = json["statements"].as_array().expect("statements");
        let found = statements.iter().find(|statement| statement["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is missing")).clone()
    };
    let (looks, writes) =
        (count(&json, "/operations/0/count"), count(&json, "/operations/1/count"));
    assert!((765..855).contains(&looks) && looks + writes == 900, "{looks} and {writes}");
    assert_eq!(count(&statement("range"), "/count"), 3 * looks);
    assert_eq!(count(&statement("range"), "/rows"), 30 * looks);
    assert!(number(&json, "/operations/1/budget_us/think") >= 200.0, "a pause is think time");
    assert!(number(&json, "/operations/0/think/requested_us") > 2e3);
    let checks = json["operations"][0]["limits"].as_array().expect("checks");
    assert!(checks.len() >= 2 && checks.iter().any(|check| check["metric"] == "share"));
    // Rows loaded and rows inserted get their ids from the database.
    let database = Connection::open(sandbox.path("t.db")).expect("a database");
    let whole = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).expect(sql);
    let rows = 40 + i64::try_from(writes).expect("few");
    assert_eq!(whole("SELECT COUNT(*) FROM entry"), rows);
    assert_eq!(whole("SELECT COUNT(DISTINCT id) FROM entry"), rows);
    assert_eq!((whole("SELECT MIN(id) FROM entry"), whole("SELECT MAX(id) FROM entry")), (1, rows));
    assert_eq!(whole("SELECT SUM(amount) FROM entry WHERE id <= 40"), 40 * 41);
    assert_eq!(whole("SELECT COUNT(DISTINCT amount) FROM entry WHERE id > 40"), rows - 40);
    assert_eq!(whole("SELECT COUNT(DISTINCT user) FROM entry WHERE id <= 40"), 40);
    assert_eq!(whole("SELECT COUNT(*) FROM entry WHERE word NOT IN ('alpha', 'beta', 'gamma')"), 0);
    assert_eq!(whole("SELECT COUNT(DISTINCT serial) FROM thing"), 500);
    assert_eq!(
        whole("SELECT COUNT(*) FROM thing WHERE town NOT IN ('Bergen', 'Dublin', 'Málaga')"),
        0
    );
    assert_eq!(whole("SELECT MIN(LENGTH(pad)) FROM thing"), 50);
}

#[test]
fn it_runs_on_a_temporary_target_and_in_an_open_loop() {
    let sandbox = sandbox();
    // A schedule takes the place of think times.
    let line = "run ./own.toml --rate 1000/s --workers 2 --transactions 300 --details --out r";
    sandbox.run(line).fine().prints(&["everything on sqlite", "look", "write", "PASSED"]);
    assert_eq!(sandbox.left(), ["own.toml", "r", "words.txt"]);
}

#[test]
fn the_command_told_for_an_own_file_works() {
    let sandbox = sandbox();
    let line = "run ./own.toml --target sqlite:t.db --transactions 200 --no-record";
    let ran = sandbox.run(line).refused(3, &["there is no database t.db"]);
    let told = "dbtime init ./own.toml --target sqlite:t.db";
    let ran = ran.stderr_has(&[told]);
    sandbox.run(told.strip_prefix("dbtime ").expect("its name")).fine();
    drop(ran);
    sandbox.run(line).fine();
}

#[test]
fn a_dictionary_that_cannot_be_read_is_told_with_its_place() {
    let sandbox = sandbox();
    std::fs::remove_file(sandbox.path("words.txt")).expect("removed");
    let told = ["own.toml:16:", "cannot read dictionary file", "words.txt", "No such file"];
    sandbox.run("run own.toml").refused(2, &told);
}
