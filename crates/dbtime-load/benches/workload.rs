//! What a transaction costs before any database is involved: drawing its keys and stepping through
//! its statements.
//!
//! Budget: 60 ns for the whole of point-select; a million rows per second for atm's accounts.

use dbtime_load::program::{Program, ProgramEvent, ProgramStep, Ticket};
use dbtime_load::workload::Workload;
use dbtime_model::{MonoNanos, OperationId};
use divan::{Bencher, black_box};
use std::path::Path;

fn main() {
    divan::main();
}

fn shipped(name: &str) -> Workload {
    Workload::find(name).unwrap_or_else(|error| panic!("{error}"))
}

/// One transaction; the number of its statements.
fn transaction(program: &mut dyn Program, index: u64) -> u32 {
    let operation = OperationId(0);
    program.start(&Ticket { index, operation, due: MonoNanos(0), client: 0 });
    let mut executed = 0;
    let mut event = ProgramEvent::Started;
    while let ProgramStep::Execute { statement, parameters, .. } = program.resume(event) {
        black_box((statement, parameters));
        executed += 1;
        event = ProgramEvent::Answered { rows: 1, first: &[] };
    }
    executed
}

#[divan::bench(args = ["values1", "point-select", "atm", "tpcb", "oltp-read-only", "oltp-read-write"])]
fn program(bencher: Bencher<'_, '_>, name: &str) {
    let mut program = shipped(name).program(10, 1);
    let mut index = 0;
    bencher.bench_local(|| {
        index += 1;
        transaction(program.as_mut(), index)
    });
}

#[divan::bench(args = [
    "{ uniform = [1, 1000000] }",
    "{ zipf = [1, 1000000], exponent = 0.99 }",
    "{ zipf = [1, 1000000], exponent = 0.99, scramble = true }",
    "{ gaussian = [1, 1000000], parameter = 5 }",
    "{ exponential = [1, 1000000], parameter = 5 }",
    "{ nurand = [1, 3000], a = 1023, c = 259 }",
    "{ hot_spot = [1, 1000000], draws = 80, keys = 20 }",
    "{ sequence = 1 }",
    "{ unique = 1 }",
    "{ permutation = [1, 1000000] }",
    "{ pattern = \"###########-###########-###########\" }",
])]
fn key(bencher: Bencher<'_, '_>, key: &str) {
    let text = format!(
        "name = \"key\"\n[keys]\nx = {key}\n[[operation]]\nname = \"o\"\n\
         [[operation.statement]]\nsql = \"SELECT :x\"\n"
    );
    let workload = Workload::parse(&text, Path::new("key.toml")).unwrap_or_else(|e| panic!("{e}"));
    let mut program = workload.program(1, 1);
    let mut index = 0;
    bencher.bench_local(|| {
        index += 1;
        transaction(program.as_mut(), index)
    });
}

#[divan::bench(args = ["account", "sbtest1"])]
fn row(bencher: Bencher<'_, '_>, table: &str) {
    let workload = shipped(if table == "account" { "atm" } else { "point-select" });
    let position = workload.tables.iter().position(|t| t.name == table).expect("its table");
    let data = workload.table_data(position, 1, 1);
    let mut row = Vec::new();
    let mut index = 0;
    bencher.bench_local(|| {
        index += 1;
        data.fill_row(black_box(index), &mut row);
        row.len()
    });
}
