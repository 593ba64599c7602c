//! What a visitor of rows sees, written down.

use dbtime_engines::server::{CellValue, RowVisitor};

/// One line for each result, value and end of a row.
#[derive(Debug, Default)]
pub(crate) struct ListedRows(pub(crate) Vec<String>);

impl RowVisitor for ListedRows {
    fn begin(&mut self, columns: &[String]) {
        self.0.push(format!("begin {}", columns.join(",")));
    }

    fn cell(&mut self, value: CellValue<'_>) {
        let of = |kind: &str, bytes: &[u8]| format!("{kind} {}", bytes.escape_ascii());
        self.0.push(match value {
            CellValue::Null => "null".to_owned(),
            CellValue::Integer(n) => format!("integer {n}"),
            CellValue::Unsigned(n) => format!("unsigned {n}"),
            CellValue::Real(x) => format!("real {x}"),
            CellValue::Decimal(bytes) => of("decimal", bytes),
            CellValue::Text(bytes) => of("text", bytes),
            CellValue::Bytes(bytes) => of("bytes", bytes),
        });
    }

    fn end_row(&mut self) {
        self.0.push("end".to_owned());
    }
}

/// How many rows there were, and by how many bytes the process has grown meanwhile at most.
#[derive(Debug, Default)]
pub(crate) struct CountedRows {
    pub(crate) rows: u64,
    before: u64,
    pub(crate) grown: u64,
}

/// How many rows go by between two looks at the process.
const LOOK_EVERY: u64 = 10_000;

impl RowVisitor for CountedRows {
    fn begin(&mut self, _: &[String]) {
        self.before = resident();
    }

    fn cell(&mut self, _: CellValue<'_>) {}

    fn end_row(&mut self) {
        self.rows += 1;
        if self.rows.is_multiple_of(LOOK_EVERY) {
            self.grown = self.grown.max(resident().saturating_sub(self.before));
        }
    }
}

/// Bytes of the process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    let kib = line.trim().trim_end_matches(" kB");
    kib.parse::<u64>().expect("a number") << 10
}
