//! Where a log is cut changes nothing.

use super::*;
use crate::logs::BorderState;

/// A log of two sessions whose messages depend on each other.
fn messages() -> Vec<ShortMessage<'static>> {
    vec![
        ("LOG", "00000", "duration: 2.000 ms  parse <unnamed>: SELECT $1", ""),
        ("LOG", "00000", "duration: 1.000 ms  bind <unnamed>: SELECT $1", ""),
        ("LOG", "00000", "duration: 5.000 ms  execute <unnamed>: SELECT $1", ""),
        ("LOG", "00000", "statement: SELECT \"a\n\nb\",\n{\"x\": 1}", ""),
        ("LOG", "00000", "temporary file: path \"x\", size 10", ""),
        ("LOG", "00000", "duration: 3.000 ms", ""),
        ("ERROR", "22012", "division\nby \"zero\"", "SELECT 1,\n\t\"2\"\n/0"),
        ("LOG", "00000", "duration: 1.000 ms  statement: SELECT '\n2024-01-02 LOG:  x\n'", ""),
    ]
}

/// Cuts a log wherever a reader sees a border, and compares with reading it whole.
fn check(reader: &dyn LogReader, log: &str) {
    let log = log.as_bytes();
    let whole = read_blocks(reader, &[log]);
    let mut borders: Vec<usize> = (0..=log.len())
        .filter_map(|end| reader.last_start(&log[..end], BorderState::default()))
        .collect();
    borders.dedup();
    assert!(borders.len() >= messages().len() - 1, "{borders:?}");
    for border in &borders {
        let (before, behind) = log.split_at(*border);
        assert_eq!(read_blocks(reader, &[before, behind]), whole, "at {border}");
        let state = reader.state_behind(before, BorderState::default());
        assert_eq!(state, BorderState::default(), "at {border}");
        let last = reader.last_start(behind, state).map(|at| at + border);
        assert_eq!(last, borders.last().filter(|last| *last > border).copied());
    }
    let mut at = 0;
    let records: Vec<&[u8]> = borders
        .iter()
        .chain([&log.len()])
        .map(|end| &log[std::mem::replace(&mut at, *end)..*end])
        .collect();
    assert_eq!(read_blocks(reader, &records), whole);
}

#[test]
fn cuts_change_nothing() {
    let messages = messages();
    let text: String = messages.iter().map(as_text).collect();
    check(&text_log("%m [%p] %e %q%u@%d "), &text);
    check(&text_log("%m [%p] %e %q%u@%d "), &text.replace('\n', "\r\n"));
    let csv: String = messages.iter().map(as_csv).collect();
    check(&PostgresCsv, &csv);
    let json: String = messages.iter().map(as_json).collect();
    check(&PostgresJson, &json);
}

#[test]
fn lines_of_syslog_are_one_message() {
    let log: String = (1..=9)
        .map(|index| {
            let head = "Jan  2 03:04:05 db1 postgres[77]:";
            format!(
                "{head} [{index}-1] LOG:  duration: {index}.0 ms  statement: SELECT {index}\n\
                 {head} [{index}-2] #011FROM t\n"
            )
        })
        .collect();
    let reader = text_log("syslog ");
    check(&reader, &log);
    let kept = read_blocks(&reader, &[log.as_bytes()]);
    assert_eq!((kept.records.len(), kept.unread.len()), (9, 0));
    assert_eq!((&*kept.records[0].text, kept.records[0].session), ("SELECT 1\nFROM t", 77));
    assert_eq!(kept.records[0].end_us, None);
}

#[test]
fn formats_are_found_by_their_first_lines() {
    let text: String = messages().iter().map(as_text).collect();
    let csv: String = messages().iter().map(as_csv).collect();
    let json: String = messages().iter().map(as_json).collect();
    let plain = text.replace(" 00000 ", " ").replace(" 22012 ", " ");
    for (log, expected) in [
        (&plain, [true, false, false]),
        (&csv, [false, true, false]),
        (&json, [false, false, true]),
        (&"select 1;\n{}\n".to_owned(), [false; 3]),
    ] {
        let head = log.as_bytes();
        let found = [
            PostgresText::looks_like(head),
            PostgresCsv::looks_like(head),
            PostgresJson::looks_like(head),
        ];
        assert_eq!(found, expected, "{log}");
    }
}

#[test]
fn zones_without_an_offset_are_local() {
    let local = |zone: &str| {
        let line = |text: String| text.replace(" UTC", zone);
        let message = messages()[0];
        let text = line(as_text(&message));
        [
            text_log("%m [%p] %e %q%u@%d ").is_local_time(text.as_bytes()),
            PostgresCsv::is_local_time(line(as_csv(&message)).as_bytes()),
            PostgresJson::is_local_time(line(as_json(&message)).as_bytes()),
        ]
    };
    assert_eq!(local(" UTC"), [false; 3]);
    assert_eq!(local(" +03"), [false; 3]);
    assert_eq!(local(" CET"), [true; 3]);
}

#[test]
fn lines_of_another_process_do_not_go_on_with_a_message() {
    let log = "Jan  2 03:04:05 db1 postgres[77]: [1-1] LOG:  duration: 1 ms  statement: SELECT 1\n\
               Jan  2 03:04:05 db1 postgres[78]: [1-2] #011FROM t\n";
    let kept = read_blocks(&text_log("syslog "), &[log.as_bytes()]);
    assert_eq!(kept.records[0].text, "SELECT 1");
    assert_eq!(kept.unread.len(), 1);
}
