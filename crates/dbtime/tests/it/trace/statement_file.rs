//! `statements.parquet` of traced runs: a row for each statement, whose parts add up.

use super::not_tested;
use crate::given_server::PRODUCTS;
use crate::sandbox::Sandbox;
use crate::small_workloads::write_small;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;
use std::fs::File;
use std::path::Path;

/// What the document lists, in its order.
fn documented_columns() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/record-format.md");
    let text = std::fs::read_to_string(path).expect("a document");
    let (_, section) = text.split_once("\n## `statements.parquet`\n").expect("a section");
    let section = section.split("\n## ").next().expect("its text");
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split("`, `").map(|name| name.trim_matches('`')));
    names.map(str::to_owned).collect()
}

pub(super) fn number(row: &Row, name: &str) -> Option<i64> {
    match field(row, name) {
        Field::Long(number) => Some(*number),
        _ => None,
    }
}

fn text<'r>(row: &'r Row, name: &str) -> Option<&'r str> {
    match field(row, name) {
        Field::Str(text) => Some(text),
        _ => None,
    }
}

fn field<'r>(row: &'r Row, name: &str) -> &'r Field {
    let mut columns = row.get_column_iter();
    columns.find(|(column, _)| *column == name).map(|(_, field)| field).expect("a column")
}

/// The parts of a matched row are its time: nothing is left, and nothing counts twice.
pub(super) fn adds_up(row: &Row) {
    let is_part = |name: &str| {
        let (others, shares) =
            (["due_ns", "sent_ns", "received_ns", "lock_wait_ns", "client_runq_ns"], "wire_");
        name.ends_with("_ns")
            && !others.contains(&name)
            && (name == "wire_ns" || !name.starts_with(shares))
    };
    let names = row.get_column_iter().map(|(name, _)| name).filter(|name| is_part(name));
    let sum: i64 = names.filter_map(|name| number(row, name)).sum();
    let took = number(row, "received_ns").zip(number(row, "sent_ns"));
    assert_eq!(Some(sum), took.map(|(received, sent)| received - sent), "{row}");
    // Without one of them how the wire is split is not known well enough.
    if let Some((out, back)) = number(row, "wire_out_ns").zip(number(row, "wire_back_ns")) {
        assert_eq!(Some(out + back), number(row, "wire_ns"), "{row}");
    }
}

/// The rows of a file.
pub(super) fn rows_of(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("whole");
    reader.get_row_iter(None).expect("rows").map(|row| row.expect("one")).collect()
}

#[test]
fn each_statement_of_a_traced_run_is_a_row_whose_parts_add_up() {
    for (product, options) in PRODUCTS.into_iter().zip(["--protocol text", "--protocol prepared"]) {
        let sandbox = Sandbox::new();
        let workload = write_small(&sandbox, "tpcb");
        let ran = sandbox.run(&format!(
            "run {workload} --target {} --connections 4 --transactions 300 --trace --json --out r \
             {options}",
            product.name()
        ));
        let record: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        if record["trace"].is_null() {
            assert!(!sandbox.path("r/statements.parquet").exists());
            return not_tested(&record["validity"].to_string());
        }
        let file = File::open(sandbox.path("r/statements.parquet")).expect("a file");
        let reader = SerializedFileReader::new(file).expect("it is whole");
        let schema = reader.metadata().file_metadata().schema();
        let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, documented_columns());

        let rows: Vec<Row> =
            reader.get_row_iter(None).expect("rows").map(|r| r.expect("one")).collect();
        let counted = record["statements"].as_array().expect("a list");
        let mut all = 0;
        for statement in counted {
            let (operation, name) = (statement["operation"].as_str(), statement["name"].as_str());
            let is_its =
                |row: &&Row| (text(row, "operation"), text(row, "statement")) == (operation, name);
            let count = rows.iter().filter(is_its).count() as u64;
            assert_eq!(Some(count), statement["count"].as_u64(), "{statement}");
            all += count;
        }
        assert!(all > 50 && rows.len() as u64 == all, "{all} of {}", rows.len());

        let matched: Vec<&Row> =
            rows.iter().filter(|row| text(row, "match") == Some("matched")).collect();
        assert!(matched.len() as f64 >= 0.999 * rows.len() as f64, "{}", matched.len());
        matched.iter().for_each(|row| adds_up(row));
        let end = (record["window"]["measure_s"].as_f64().expect("a length") * 1e9) as i64;
        for row in &rows {
            let due = number(row, "due_ns").expect("an instant");
            assert!((0..=end).contains(&due), "{row}");
            assert!(number(row, "sent_ns") >= Some(due), "{row}");
        }
        assert!(matched.iter().all(|row| number(row, "cpu_ns") > Some(0)));
        let has_id = matched.iter().all(|row| number(row, "server_id") > Some(0));
        assert!(has_id, "{}", product.name());
        // All transactions change the row of one branch.
        let waited = |row: &&&Row| text(row, "lock_holder_statement") == Some("COMMIT");
        assert!(matched.iter().filter(waited).count() > 0, "{}", product.name());
    }
}
