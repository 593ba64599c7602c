//! What a digest of rows costs. `cargo bench -p dbtime-lab --bench row_digest`
//!
//! Budget: 100 ms for a million rows of three columns, which a server takes about a second to send.

use dbtime_engines::server::{CellValue, RowVisitor};
use dbtime_lab::query::RowDigest;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

/// Rows of a result.
const ROWS: i64 = 1_000_000;

/// The rows that are others, of which one has to be found.
const CHANGES: [i64; 3] = [0, 613_201, ROWS - 1];

fn main() {
    divan::main();
}

/// A result with a row that is another one where `changed` says so.
fn digest(mut digest: RowDigest, price: fn(i64) -> CellValue<'static>, changed: i64) -> RowDigest {
    let columns = ["id", "name", "price"].map(str::to_owned);
    digest.begin(&columns);
    for row in 0..ROWS {
        digest.cell(CellValue::Integer(if row == changed { -1 } else { row }));
        digest.cell(CellValue::Text(black_box(b"a name of some length")));
        digest.cell(price(row));
        digest.end_row();
    }
    digest
}

fn decimal(_: i64) -> CellValue<'static> {
    CellValue::Decimal(black_box(b"1234.50"))
}

fn real(row: i64) -> CellValue<'static> {
    CellValue::Real(row as f64 * 0.1)
}

#[divan::bench(sample_count = 20)]
fn a_million_rows(bencher: Bencher<'_, '_>) {
    let whole = digest(RowDigest::new(1), decimal, ROWS);
    for changed in CHANGES {
        assert!(!digest(RowDigest::new(1), decimal, changed).has_same_rows(&whole));
    }
    bencher
        .counter(ItemsCount::new(ROWS as usize))
        .bench_local(|| digest(RowDigest::new(1), decimal, ROWS));
}

#[divan::bench(sample_count = 20)]
fn a_million_rows_with_rounded_numbers(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(ROWS as usize))
        .bench_local(|| digest(RowDigest::rounding(1), real, ROWS));
}
