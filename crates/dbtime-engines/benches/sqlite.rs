//! What the embedded engine costs beside a bare rusqlite loop, and how well its parts add up.
//!
//! ```text
//! cargo bench -p dbtime-engines --bench sqlite [-- point-select|atm|identity]
//! ```
//!
//! The contenders take turns in short slices within one process, so that what the machine does
//! meanwhile hits all of them alike; shown are medians over the slices, and the medians of the
//! ratios within each round, in wall time and in CPU time: the latter holds on a busy machine too.
//! Targets: point-select at 92 % of the bare loop without budget and 85 %
//! with it, atm at 95 %, the timing VFS within 2 %, the unexplained remainder within 3 %.
#![allow(clippy::print_stdout)]

use dbtime_engines::databases::sqlite::{
    MeasureLevel, SqliteConnection, SqliteDatabase, SqliteTarget,
};
use dbtime_load::program::SqlValue;
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_machine::clock::thread_cpu;
use dbtime_machine::now;
use dbtime_model::{Budget, Nanos, OperationId, Part, Parts, StatementId};
use rusqlite::Connection;
use std::hint::black_box;
use std::path::Path;

const ACCOUNTS: u64 = 100_000;
const SLICE: Nanos = Nanos::from_millis(40);
const ROUNDS: usize = 51;

const SELECT: &str = "SELECT balance FROM account WHERE id = ?1";
const ATM: [&str; 9] = [
    "BEGIN IMMEDIATE",
    SELECT,
    "UPDATE account SET balance = balance + ?1 WHERE id = ?2",
    "INSERT INTO history (account_id, teller_id, branch_id, amount, created_at)
     VALUES (?1, ?2, ?3, ?4, CURRENT_TIMESTAMP)",
    "SELECT balance FROM teller WHERE id = ?1",
    "UPDATE teller SET balance = balance + ?1 WHERE id = ?2",
    "SELECT balance FROM branch WHERE id = ?1",
    "UPDATE branch SET balance = balance + ?1 WHERE id = ?2",
    "COMMIT",
];

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|w| w == name);
    if is_wanted("point-select") {
        compare("point-select", point_select_bare, point_select);
    }
    if is_wanted("atm") {
        compare("atm", atm_bare, atm);
    }
    if is_wanted("identity") {
        identity();
    }
}

/// A reproducible stream of keys.
struct Keys(u64);

impl Keys {
    fn next(&mut self, below: u64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (1 + self.0 % below).cast_signed()
    }
}

fn create(path: &Path) {
    let db = Connection::open(path).expect("a new database");
    let rows = |table: &str, extra: &str, count: u64| {
        format!(
            "CREATE TABLE {table} (id INTEGER PRIMARY KEY, {extra} balance INTEGER, filler CHAR(80));
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {count})
             INSERT INTO {table} (id, balance, filler) SELECT id, 0, hex(zeroblob(40)) FROM n;"
        )
    };
    let branch = "branch_id INTEGER,";
    db.execute_batch(&format!(
        "PRAGMA journal_mode=wal; BEGIN; {} {} {}
         CREATE TABLE history (id INTEGER PRIMARY KEY, account_id INTEGER, teller_id INTEGER,
                               branch_id INTEGER, amount INTEGER, created_at TIMESTAMP);
         CREATE INDEX history_account ON history (account_id); COMMIT;",
        rows("branch", "", 10),
        rows("teller", branch, 100),
        rows("account", branch, ACCOUNTS),
    ))
    .expect("tables are filled");
}

fn statements() -> Vec<Statement> {
    let kind = |sql: &str| match sql {
        "BEGIN IMMEDIATE" => StatementKind::Begin { write: true },
        "COMMIT" => StatementKind::Commit,
        sql => StatementKind::Sql(sql.to_owned()),
    };
    let statement =
        |sql| Statement { operation: OperationId(0), name: String::new(), kind: kind(sql) };
    ATM.into_iter().map(statement).collect()
}

fn connect(target: &SqliteTarget, measure: MeasureLevel) -> SqliteConnection {
    let database = SqliteDatabase::new(target.clone(), &statements(), 1, measure);
    let mut connection = database.connect(0).expect("a connection");
    connection.prepare_all().expect("good statements");
    connection
}

/// Nanoseconds per transaction.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: f64,
    cpu: f64,
}

/// Runs one slice.
fn slice(mut transaction: impl FnMut()) -> Cost {
    let (start, cpu) = (now(), thread_cpu());
    let mut count = 0_u64;
    while now() - start < SLICE {
        for _ in 0..16 {
            transaction();
        }
        count += 16;
    }
    let per_transaction = |ns: Nanos| ns.0 as f64 / count as f64;
    Cost { wall: per_transaction(now() - start), cpu: per_transaction(thread_cpu() - cpu) }
}

type Bare = fn(&Connection, &mut Keys) -> Cost;
type Ours = fn(&mut SqliteConnection, &mut Keys, u64) -> Cost;

/// Lets the contenders take turns, and prints how they did.
fn compare(name: &str, bare: Bare, ours: Ours) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bench.db");
    create(&path);
    let target = SqliteTarget::new(&path);
    let rusqlite = Connection::open(&path).expect("a connection");
    rusqlite.execute_batch("PRAGMA synchronous=normal").expect("a setting");
    rusqlite.set_prepared_statement_cache_capacity(32);
    let mut plain = connect(&target, MeasureLevel::Nothing);
    let mut timed = connect(&target, MeasureLevel::Budget);
    let mut keys = Keys(0x9e37_79b9_7f4a_7c15);
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let mut costs = [Cost::default(); 4];
        for turn in 0..4 {
            let contender = (round + turn) % 4;
            costs[contender] = match contender {
                0 => bare(&rusqlite, &mut keys),
                1 => ours(&mut plain, &mut keys, 0),
                2 => ours(&mut timed, &mut keys, 0),
                _ => ours(&mut timed, &mut keys, 16),
            };
        }
        // The first round only warms up.
        if round > 0 {
            rounds.push(costs);
        }
    }
    report(name, &rounds);
}

fn report(name: &str, rounds: &[[Cost; 4]]) {
    let names = ["bare rusqlite", "no budget", "timing VFS", "timing VFS, 1/16 sampled"];
    let cost = |index: usize, of: fn(&Cost) -> f64| median(rounds.iter().map(|c| of(&c[index])));
    let ratio = |index: usize, to: usize, of: fn(&Cost) -> f64| {
        median(rounds.iter().map(|costs| of(&costs[index]) / of(&costs[to])))
    };
    println!("{name}, {ROUNDS} slices of {SLICE} each:    wall     cpu   speed: wall     cpu");
    for (index, contender) in names.iter().enumerate() {
        println!(
            "  {contender:<26} {:>7.0} ns {:>7.0} ns {:>6.1} % {:>6.1} %",
            cost(index, |c| c.wall),
            cost(index, |c| c.cpu),
            100.0 * ratio(0, index, |c| c.wall),
            100.0 * ratio(0, index, |c| c.cpu),
        );
    }
    let percent = |of| 100.0 * (ratio(2, 1, of) - 1.0);
    let (wall, cpu) = (percent(|c: &Cost| c.wall), percent(|c: &Cost| c.cpu));
    println!("  the timing VFS costs {wall:.2} % of wall time, {cpu:.2} % of CPU time");
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn point_select_bare(db: &Connection, keys: &mut Keys) -> Cost {
    let mut select = db.prepare(SELECT).expect("a good statement");
    slice(|| {
        let mut rows = select.query([keys.next(ACCOUNTS)]).expect("bound");
        while let Some(row) = rows.next().expect("a row") {
            black_box(row);
        }
    })
}

/// One transaction in `every` is sampled; none where that is zero.
fn point_select(connection: &mut SqliteConnection, keys: &mut Keys, every: u64) -> Cost {
    let mut index = 0_u64;
    let mut total = Nanos::ZERO;
    let mut sums = Parts::default();
    let cost = slice(|| {
        index += 1;
        let parameters = [SqlValue::Integer(keys.next(ACCOUNTS))];
        if index.is_multiple_of(every) {
            connection.clock().restart();
            let (result, timing) =
                connection.execute_measured(StatementId(1), &parameters, false, &mut sums);
            black_box(result.expect("a row"));
            total += timing.done - timing.sent;
        } else {
            let sent = now();
            black_box(connection.execute(StatementId(1), &parameters, false).expect("a row"));
            total += now() - sent;
        }
    });
    black_box((total, sums));
    cost
}

/// The parameters of a transaction's statements.
fn draw(keys: &mut Keys) -> [i64; 4] {
    [keys.next(ACCOUNTS), keys.next(100), keys.next(10), keys.next(999_999)]
}

fn atm_bare(db: &Connection, keys: &mut Keys) -> Cost {
    let mut prepared = ATM.map(|sql| db.prepare(sql).expect("a good statement"));
    slice(|| {
        let [account, teller, branch, amount] = draw(keys);
        let [begin, select, update, insert, s_teller, u_teller, s_branch, u_branch, commit] =
            &mut prepared;
        let fetch = |statement: &mut rusqlite::Statement<'_>, id: i64| {
            let mut rows = statement.query([id]).expect("bound");
            while let Some(row) = rows.next().expect("a row") {
                black_box(row);
            }
        };
        begin.execute([]).expect("begun");
        fetch(select, account);
        update.execute([amount, account]).expect("updated");
        insert.execute([account, teller, branch, amount]).expect("inserted");
        fetch(s_teller, teller);
        u_teller.execute([amount, teller]).expect("updated");
        fetch(s_branch, branch);
        u_branch.execute([amount, branch]).expect("updated");
        commit.execute([]).expect("committed");
    })
}

fn atm(connection: &mut SqliteConnection, keys: &mut Keys, every: u64) -> Cost {
    let mut index = 0_u64;
    let mut budget = Budget::default();
    let cost = slice(|| {
        index += 1;
        let is_sampled = index.is_multiple_of(every);
        atm_transaction(connection, keys, is_sampled, &mut budget);
    });
    black_box(budget);
    cost
}

fn atm_transaction(
    connection: &mut SqliteConnection,
    keys: &mut Keys,
    is_sampled: bool,
    budget: &mut Budget,
) {
    let [account, teller, branch, amount] = draw(keys).map(SqlValue::Integer);
    let parameters: [&[SqlValue]; 9] = [
        &[],
        std::slice::from_ref(&account),
        &[amount.clone(), account.clone()],
        &[account.clone(), teller.clone(), branch.clone(), amount.clone()],
        std::slice::from_ref(&teller),
        &[amount.clone(), teller.clone()],
        std::slice::from_ref(&branch),
        &[amount.clone(), branch.clone()],
        &[],
    ];
    let mut parts = Parts::default();
    let mut service = Nanos::ZERO;
    if is_sampled {
        connection.clock().restart();
    }
    for (id, parameters) in (0..).map(StatementId).zip(parameters) {
        if is_sampled {
            let (result, timing) = connection.execute_measured(id, parameters, false, &mut parts);
            black_box(result.expect("executed"));
            service += timing.done - timing.sent;
        } else {
            let sent = now();
            black_box(connection.execute(id, parameters, false).expect("executed"));
            service += now() - sent;
        }
    }
    if is_sampled {
        parts.close(service);
        budget.add(service, &parts);
    }
}

/// Prints where the time of atm transactions goes at several settings, and what stays unexplained.
fn identity() {
    let settings = [("wal", "full"), ("wal", "normal"), ("wal", "off"), ("delete", "full")];
    println!("identity of atm transactions, all sampled, for 2 s each:");
    for (journal, synchronous) in settings {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bench.db");
        create(&path);
        let mut target = SqliteTarget::new(&path);
        target.set("journal_mode", journal).expect("a mode");
        target.set("synchronous", synchronous).expect("a level");
        let mut connection = connect(&target, MeasureLevel::Budget);
        let mut keys = Keys(88_172_645_463_325_252);
        let mut budget = Budget::default();
        let probe = connection.clock().probe_cost();
        connection.start_figures();
        let start = now();
        while now() - start < Nanos::from_secs(2) {
            atm_transaction(&mut connection, &mut keys, true, &mut budget);
        }
        print!(
            "  {journal}/{synchronous}: {} transactions, mean {}, probe {probe}, unexplained {:.2} %;",
            budget.count,
            Nanos(budget.response_ns / budget.count.max(1)),
            budget.error() * 100.0
        );
        for part in Part::ALL.into_iter().filter(|&part| budget.sums.get(part) != 0) {
            print!(" {} {:.2} us", part.name(), budget.mean_ns(part) / 1e3);
        }
        println!();
        let per = |count: u64| count as f64 / budget.count.max(1) as f64;
        print!("    calls per transaction:");
        for file in connection.figures().io.records() {
            print!(" {} {} {:.2},", file.file, file.call, per(file.count));
        }
        println!();
    }
}
