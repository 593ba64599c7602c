//! What the fuzz targets share: a run made of bytes, and a traced request on the terminal.
#![forbid(unsafe_code)]

use dbtime_model::MonoNanos;
use dbtime_model::record::{Run, file, read_run, read_run_json};
use dbtime_model::traced::TracedRequest;
use dbtime_report::terminal::request_line;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

thread_local! {
    /// The folder that the comma-separated files are read from: readers take a folder.
    static FOLDER: TempDir = tempfile::tempdir_in("/dev/shm").expect("room for a folder");
}

/// The texts of a run folder: `run.json`, `series.csv`, `transactions.csv`, with a zero byte
/// between them. What cannot be read leaves its part of the run empty.
pub fn run(bytes: &[u8]) -> Run {
    let mut texts =
        bytes.splitn(3, |byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
    let json = texts.next().unwrap_or_default();
    let record = read_run_json(&json, Path::new(file::RUN)).unwrap_or_default();
    // The tables are read whatever became of the record, each without the other.
    let no_rows = || dbtime_model::record::csv::series_text(&[]);
    let series = texts.next().map(|text| tables(&text, "")).unwrap_or_default().series;
    let transactions = texts.next().map(|text| tables(&no_rows(), &text)).unwrap_or_default();
    Run { record, series, transactions: transactions.transactions, counters: None }
}

fn tables(series: &str, transactions: &str) -> Run {
    FOLDER.with(|folder| {
        let write = |name, text: &str| {
            fs::write(folder.path().join(name), text).expect("a file in memory");
        };
        write(file::RUN, "{\"schema\":1}");
        write(file::SERIES, series);
        write(file::TRANSACTIONS, transactions);
        read_run(folder.path()).unwrap_or_default()
    })
}

/// Shows a request as it is, and without literals.
pub fn shown(request: &TracedRequest, since: MonoNanos) {
    let mut fingerprint = String::new();
    dbtime_sql::fingerprint(&request.text, &mut fingerprint);
    for text in [request.text.clone(), fingerprint.as_str().into()] {
        let request = TracedRequest { text, ..request.clone() };
        let mut line = String::new();
        request_line(&request, since, "QUERY", Some(100), &mut line);
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!line.contains(is_control), "a control character reached the terminal");
    }
}
