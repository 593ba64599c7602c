//! No bytes make the reader of a driver's statements panic or hang, and what was read can be
//! written and read again.
#![cfg_attr(feature = "link", no_main)]

use dbtime_fuzz::with_check_sums;
use dbtime_model::driven_file::{DrivenReader, DrivenWriter};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

/// The rows and the names, and the file that they make.
fn copied(bytes: &[u8]) -> Option<(String, Vec<u8>)> {
    let (begin, mut reader) = DrivenReader::begin(Cursor::new(bytes)).ok()?;
    let mut writer = DrivenWriter::begin(Vec::new(), &begin).expect("it is in memory");
    let (mut exchanges, mut transactions) = (Vec::new(), Vec::new());
    while let Some(batch) = reader.next().ok()? {
        writer.batch(&batch).expect("it is in memory");
        exchanges.extend(batch.exchanges);
        transactions.extend(batch.transactions);
    }
    let names = reader.end().names.clone();
    let shown = format!("{begin:?} {exchanges:?} {transactions:?} {names:?}");
    Some((shown, writer.end(names).expect("it is in memory")))
}

fuzz_target!(|bytes: &[u8]| {
    for bytes in [bytes, &with_check_sums(bytes)] {
        if let Some((shown, file)) = copied(bytes) {
            let (again, _) = copied(&file).expect("what was written can be read");
            assert_eq!(again, shown);
        }
    }
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
