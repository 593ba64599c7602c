//! No bytes make the readers of what a PostgreSQL server sends panic, use more than there is, or
//! read something else when they arrive in other pieces.
#![cfg_attr(feature = "link", no_main)]

use dbtime_wire::ResultRows;
use dbtime_wire::postgres::{
    Authentication, ExpectedResponse, PostgresResponse, PostgresResponseReader, cells, columns,
    parameter_status,
};
use libfuzzer_sys::fuzz_target;

struct Read;

impl ResultRows for Read {
    fn columns(&mut self, payload: &[u8]) {
        assert!(columns(payload).count() <= payload.len());
    }

    fn row(&mut self, payload: &[u8]) {
        assert!(cells(payload).count() <= payload.len());
    }
}

fn read(bytes: &[u8], chunk: usize, expected: ExpectedResponse) -> Option<(u64, PostgresResponse)> {
    let mut reader = PostgresResponseReader::new();
    let (mut held, mut answers) = (Vec::new(), 0);
    reader.expect(expected);
    for more in bytes.chunks(chunk) {
        held.extend_from_slice(more);
        loop {
            let (used, _) = reader.feed(&held, &mut Read).ok()?;
            held.drain(..used);
            if !reader.is_done() {
                break;
            }
            answers += 1;
            reader.expect(expected);
        }
    }
    Some((answers, reader.take()))
}

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (kind, chunk, bytes) = input;
    let kinds = [ExpectedResponse::Nothing, ExpectedResponse::FirstRow, ExpectedResponse::Rows];
    let expected = kinds[usize::from(kind) % 3];
    let whole = read(bytes, bytes.len().max(1), expected);
    assert_eq!(whole, read(bytes, usize::from(chunk) + 1, expected));
    let _ = (Authentication::read(bytes), parameter_status(bytes));
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
