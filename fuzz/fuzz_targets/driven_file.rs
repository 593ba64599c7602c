//! No bytes make the reader of a driver's statements panic or hang, and what was read can be
//! written and read again.
#![no_main]

use dbtime_model::driven_file::{DrivenLine, DrivenReader, DrivenWriter};
use libfuzzer_sys::fuzz_target;

/// The lines, and the file that they make.
fn copied(bytes: &[u8]) -> Option<(Vec<String>, Vec<u8>)> {
    let (begin, mut reader) = DrivenReader::begin(bytes).ok()?;
    let mut writer = DrivenWriter::begin(Vec::new(), &begin).expect("it is in memory");
    let mut lines = vec![format!("{begin:?}")];
    while let Some(line) = reader.next().ok()? {
        lines.push(format!("{line:?}"));
        match line {
            DrivenLine::Begin(_) => return None,
            DrivenLine::Statement(exchange) => writer.statement(&exchange).expect("as before"),
            DrivenLine::Transaction(driven) => writer.transaction(&driven).expect("as before"),
            DrivenLine::End(names) => {
                return Some((lines, writer.end(names).expect("as before")));
            }
        }
    }
    None
}

fuzz_target!(|bytes: &[u8]| {
    if let Some((lines, file)) = copied(bytes) {
        let (again, _) = copied(&file).expect("what was written can be read");
        assert_eq!(again, lines);
    }
});
