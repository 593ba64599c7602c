//! The whole engine against a bare rusqlite loop that issues the same statements, one worker flat
//! out, in turn. `cargo bench -p dbtime-engines --bench pair`
//!
//! Targets, as a share of the bare loop's throughput: point-select 92 % without a budget and 85 %
//! with the parts of every transaction; atm 95 %. Pairs follow each other in short slices, so that
//! a machine that drifts drifts for both; the median of the ratios is the figure to quote.

#![allow(clippy::print_stdout)]

use dbtime_engines::databases::sqlite::SqlitePool;
use dbtime_engines::databases::sqlite::{MeasureLevel, SqliteAdmin, SqliteTarget};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, RunStop};
use dbtime_engines::drive::pool;
use dbtime_engines::load_marker::LoadMarker;
use dbtime_load::pipelining::Pipelining;
use dbtime_load::queue::Backlog;
use dbtime_load::statement::StatementKind;
use dbtime_load::workload::Workload;
use dbtime_machine::now;
use dbtime_model::Nanos;
use rusqlite::{Connection, Statement};
use std::path::Path;
use std::sync::Arc;

const PAIRS: usize = 21;
const WARMUP: Nanos = Nanos::from_millis(150);
const SLICE: Nanos = Nanos::from_millis(400);

fn load(name: &str, folder: &Path) -> (Arc<Workload>, SqliteTarget) {
    let workload = Workload::find(name).expect("shipped");
    let target = SqliteTarget::new(folder.join(format!("{name}.db")));
    let admin = SqliteAdmin::create(&target).expect("a new file");
    admin.create_tables(&workload.tables).expect("tables");
    for (index, table) in workload.tables.iter().enumerate() {
        let data = workload.table_data(index, 1, 1);
        let fill = |row, values: &mut Vec<_>| data.fill_row(row, values);
        admin.load(table, data.row_count(), fill, |_| true).expect("rows");
    }
    admin.create_indexes(&workload.tables).expect("indexes");
    let marker =
        LoadMarker { workload: name.to_owned(), scale: 1, seed: 1, version: String::new() };
    admin.finish(&marker).expect("whole");
    (Arc::new(workload), target)
}

/// Transactions per second through the engine.
fn engine(
    workload: &Arc<Workload>,
    target: &SqliteTarget,
    measure: MeasureLevel,
    every: u32,
) -> f64 {
    let plan = LoadPlan {
        workload: Arc::clone(workload),
        scale: 1,
        seed: now().0,
        first: 0,
        demand: LoadDemand::Closed { clients: 1, think: None },
        backlog: Backlog::Wait,
        concurrency: 1,
        warmup: WARMUP,
        measure: Some(SLICE),
        transactions: None,
        rundown: Nanos::ZERO,
        late_start: Nanos::ZERO,
        budget_every: every,
        shards: 1,
        pipelining: Pipelining::Off,
    };
    let database = SqlitePool::new(target.clone(), &workload.statements, 1, measure);
    let driven = pool::drive(&plan, &database, &NoObserver, &RunStop::default()).expect("driven");
    driven.recorder.counts().completed as f64 / SLICE.as_secs()
}

/// Transactions per second of a loop that does nothing else.
fn bare(workload: &Workload, target: &SqliteTarget, transaction: Transaction) -> f64 {
    let db = Connection::open(&target.path).expect("the database");
    db.execute_batch("PRAGMA journal_mode=wal; PRAGMA synchronous=normal;").expect("settings");
    db.busy_timeout(std::time::Duration::from_secs(5)).expect("a timeout");
    let text = |kind: &StatementKind| match kind {
        StatementKind::Begin { .. } => "BEGIN IMMEDIATE".to_owned(),
        StatementKind::Commit => "COMMIT".to_owned(),
        StatementKind::Rollback => "ROLLBACK".to_owned(),
        StatementKind::Sql(sql) => sql.clone(),
    };
    let prepared = workload.statements.iter().map(|s| db.prepare(&text(&s.kind)).expect("valid"));
    let mut statements: Vec<Statement<'_>> = prepared.collect();
    let mut keys = Keys(now().0 | 1);
    let start = now() + WARMUP;
    let mut done = 0u64;
    loop {
        transaction(&mut statements, &mut keys);
        let present = now();
        if present >= start {
            done += 1;
        }
        if present >= start + SLICE {
            return done as f64 / SLICE.as_secs();
        }
    }
}

type Transaction = fn(&mut [Statement<'_>], &mut Keys);

struct Keys(u64);

impl Keys {
    /// A number in `1..=most`, by Marsaglia's xorshift.
    fn next(&mut self, most: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        1 + (self.0 % most.cast_unsigned()).cast_signed()
    }
}

fn step(statement: &mut Statement<'_>, parameters: impl rusqlite::Params) {
    let mut rows = statement.query(parameters).expect("a good statement");
    while rows.next().expect("no error").is_some() {}
}

fn point_select(statements: &mut [Statement<'_>], keys: &mut Keys) {
    step(&mut statements[0], [keys.next(100_000)]);
}

fn atm(statements: &mut [Statement<'_>], keys: &mut Keys) {
    let teller = keys.next(100);
    let branch = (teller - 1) / 10 + 1;
    let home = if keys.next(100) <= 85 { branch } else { keys.next(10) };
    let account = (home - 1) * 10_000 + keys.next(10_000);
    let amount = keys.next(1_999_999) - 1_000_000;
    step(&mut statements[0], []);
    step(&mut statements[1], [account]);
    step(&mut statements[2], [amount, account]);
    step(&mut statements[3], [account, teller, branch, amount]);
    step(&mut statements[4], [teller]);
    step(&mut statements[5], [amount, teller]);
    step(&mut statements[6], [branch]);
    step(&mut statements[7], [amount, branch]);
    step(&mut statements[8], []);
}

fn compare(name: &str, transaction: Transaction) {
    let folder = tempfile::tempdir().expect("a folder");
    let (workload, target) = load(name, folder.path());
    let bare = || bare(&workload, &target, transaction);
    for (what, measure, every) in [
        ("without budget", MeasureLevel::Nothing, 0),
        ("timing VFS, nothing measured", MeasureLevel::Budget, 0),
        ("parts of every transaction", MeasureLevel::Budget, 1),
    ] {
        let mut ratios = Vec::new();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            // Neither is always the first.
            let (a, b) = if pair % 2 == 0 {
                let a = engine(&workload, &target, measure, every);
                (a, bare())
            } else {
                let b = bare();
                (engine(&workload, &target, measure, every), b)
            };
            ratios.push(100.0 * a / b);
            ours.push(a);
            theirs.push(b);
        }
        println!(
            "{name:13} {what:28} {:9.0}/s of {:9.0}/s: median {:5.1} %  (quartiles {:5.1} to {:5.1})",
            quantile(&mut ours, 0.5),
            quantile(&mut theirs, 0.5),
            quantile(&mut ratios, 0.5),
            quantile(&mut ratios, 0.25),
            quantile(&mut ratios, 0.75),
        );
    }
}

fn quantile(figures: &mut [f64], q: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[((figures.len() - 1) as f64 * q).round() as usize]
}

fn main() {
    // `cargo test` runs benches too; there it is enough that they build.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    compare("point-select", point_select);
    compare("atm", atm);
}
