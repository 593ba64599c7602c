//! No bytes make the readers of what a MySQL server sends panic, use more than there is, or read
//! something else when they arrive in other pieces.
#![cfg_attr(feature = "link", no_main)]

use dbtime_wire::mysql::{
    ExpectedReply, MysqlColumn, MysqlResponse, MysqlResponseReader, binary_cells, column,
    text_cells,
};
use dbtime_wire::{ReadProgress, ResultRows};
use libfuzzer_sys::fuzz_target;

#[derive(Default)]
struct Read(Vec<MysqlColumn>);

impl ResultRows for Read {
    fn column(&mut self, payload: &[u8]) {
        self.0.extend(column(payload));
    }

    fn row(&mut self, payload: &[u8]) {
        assert!(text_cells(payload).count() <= payload.len());
        let _ = binary_cells(payload, &self.0);
    }
}

fn read(
    bytes: &[u8],
    chunk: usize,
    (without_eof, needs_rows): (bool, bool),
) -> Option<MysqlResponse> {
    let mut reader = MysqlResponseReader::new(without_eof);
    reader.expect(ExpectedReply::Results, needs_rows);
    let (mut held, mut rows) = (Vec::new(), Read::default());
    for more in bytes.chunks(chunk) {
        held.extend_from_slice(more);
        let (used, progress) = reader.feed(&held, &mut rows).ok()?;
        held.drain(..used);
        if progress == ReadProgress::Done {
            return Some(reader.take());
        }
    }
    None
}

fuzz_target!(|input: (bool, bool, u8, &[u8])| {
    let (without_eof, needs_rows, chunk, bytes) = input;
    let mode = (without_eof, needs_rows);
    let whole = read(bytes, bytes.len().max(1), mode);
    assert_eq!(whole, read(bytes, usize::from(chunk) + 1, mode));
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
