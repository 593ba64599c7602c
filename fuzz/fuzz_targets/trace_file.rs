//! No recording makes its reader panic or hang, and what was read can be written and read again.
#![cfg_attr(feature = "link", no_main)]

use dbtime_fuzz::with_check_sums;
use dbtime_model::traced_file::{RecordedPart, TraceLineWriter, TraceReader, TraceWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&with_check_sums(bytes));
});

fn read(bytes: &[u8]) {
    let Ok((begin, mut reader)) = TraceReader::begin(bytes) else { return };
    let (mut blocks, mut lines) = (Vec::new(), Vec::new());
    let mut writer = TraceWriter::begin(&mut blocks, &begin).expect("memory");
    let mut line_writer = TraceLineWriter::begin(&mut lines, &begin).expect("memory");
    while let Ok(Some(part)) = reader.next() {
        match part {
            RecordedPart::Requests(mut requests) => {
                for request in &requests {
                    line_writer.request(request, "QUERY").expect("memory");
                }
                writer.requests(&mut requests).expect("memory");
            }
            RecordedPart::End(end) => {
                writer.end(&end).expect("memory");
                line_writer.end(&end).expect("memory");
                for copy in [blocks, lines] {
                    let (again, _) = TraceReader::begin(&copy[..]).expect("what was written");
                    assert_eq!(again.servers, begin.servers);
                }
                return;
            }
        }
    }
}

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
