//! What the fuzz targets share: a run made of bytes, and a traced request on the terminal.
#![forbid(unsafe_code)]

use dbtime_model::MonoNanos;
use dbtime_model::record::{Run, file, read_run, read_run_json};
use dbtime_model::traced::TracedRequest;
use dbtime_report::terminal::request_line;
use dbtime_sql::LexicalRules;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

thread_local! {
    /// The folder that the comma-separated files are read from: readers take a folder.
    static FOLDER: TempDir = tempfile::tempdir_in("/dev/shm").expect("room for a folder");
}

/// The texts of a run folder with a zero byte between them: `run.json`, then those of [`TABLES`].
/// What cannot be read leaves its part of the run empty.
pub fn run(bytes: &[u8]) -> Run {
    let mut texts = bytes
        .splitn(1 + TABLES.len(), |byte| *byte == 0)
        .map(|text| String::from_utf8_lossy(text).into_owned());
    let json = texts.next().unwrap_or_default();
    let record = read_run_json(&json, Path::new(file::RUN)).unwrap_or_default();
    let sampled = serde_json::json!({ "schema": 1, "sampled_counters": &record.sampled_counters });
    let head = sampled.to_string();
    let [series, transactions, statements, seconds, responses] =
        TABLES.map(|name| (name, texts.next().unwrap_or_default()));
    // The tables are read whatever became of the record, each without the others.
    let read = |files: &[&(&str, String)]| tables(&head, files);
    let with_statements = read(&[&transactions, &statements]);
    Run {
        record,
        series: read(&[&series]).unwrap_or_default().series,
        transactions: with_statements
            .or_else(|| read(&[&transactions]))
            .unwrap_or_default()
            .transactions,
        responses: read(&[&responses]).unwrap_or_default().responses,
        server_seconds: read(&[&seconds]).unwrap_or_default().server_seconds,
        ..Run::default()
    }
}

/// The files of a run folder behind `run.json`, in their order.
const TABLES: [&str; 5] = [
    file::SERIES,
    file::TRANSACTIONS,
    file::TRANSACTION_STATEMENTS,
    file::SERVER_SECONDS,
    file::LATENCY,
];

/// A run folder with these files; `None`: one of them is damaged.
fn tables(head: &str, files: &[&(&str, String)]) -> Option<Run> {
    FOLDER.with(|folder| {
        let path = |name: &str| folder.path().join(name);
        TABLES.iter().for_each(|name| drop(fs::remove_file(path(name))));
        let write = |name: &str, text: &str| {
            fs::write(path(name), text).expect("a file in memory");
        };
        write(file::RUN, head);
        write(file::SERIES, &dbtime_model::record::csv::series_text(&[]));
        files
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .for_each(|(name, text)| write(name, text));
        read_run(folder.path()).ok()
    })
}

/// Shows a request as it is, and without literals.
pub fn shown(request: &TracedRequest, since: MonoNanos) {
    let mut fingerprint = String::new();
    let rules = LexicalRules::of_protocol(Some(request.protocol));
    dbtime_sql::fingerprint(request.text.as_bytes(), &rules, &mut fingerprint);
    for text in [request.text.clone(), fingerprint.as_str().into()] {
        let request = TracedRequest { text, ..request.clone() };
        let mut line = String::new();
        request_line(&request, since, "QUERY", Some(100), &mut line);
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!line.contains(is_control), "a control character reached the terminal");
    }
}

/// A file of blocks with every check sum put right, so that their payloads are read: behind the
/// first line a length and a check sum of four bytes each, little-endian, a kind and the payload.
pub fn with_check_sums(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    let heading = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    let mut rest = &mut file[heading..];
    while rest.len() > 8 {
        let (head, behind) = rest.split_at_mut(8);
        let length = &head[..4];
        let length = length.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte));
        let Some((block, next)) = behind.split_at_mut_checked(length + 1) else { break };
        head[4..].copy_from_slice(&crc32fast::hash(block).to_le_bytes());
        rest = next;
    }
    file
}
