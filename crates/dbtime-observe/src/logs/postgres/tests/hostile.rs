//! Logs that are cut, mixed up or made to mislead.

use super::*;

const PREFIX: &str = "%m [%p] %q%u@%d ";

fn readers() -> [Box<dyn LogReader>; 4] {
    [
        Box::new(text_log(PREFIX)),
        Box::new(text_log("syslog %q%a@%d ")),
        Box::new(PostgresCsv),
        Box::new(PostgresJson),
    ]
}

#[test]
fn any_end_and_any_byte_is_survived() {
    let message = ("ERROR", "22012", "a\n\"b\" \u{e4}\u{1f600}", "SELECT '\\u00e4'");
    let logs = [as_text(&message), as_csv(&message), as_json(&message)];
    for reader in readers() {
        for log in &logs {
            for at in 0..log.len() {
                let _ = read_blocks(&*reader, &[&log.as_bytes()[..at]]);
                let _ = read_blocks(&*reader, &[&log.as_bytes()[at..]]);
                for byte in [0, b'"', b'\\', b'\n', b'\t', b'[', b':', b'{', 0xff] {
                    let mut bytes = log.as_bytes().to_vec();
                    bytes[at] = byte;
                    let _ = read_blocks(&*reader, &[&bytes[..]]);
                    let _ = reader.last_start(&bytes, crate::logs::BorderState::default());
                }
            }
        }
    }
}

#[test]
fn quotes_that_do_not_end_are_cut_short() {
    let good = as_csv(&("LOG", "00000", "duration: 1.0 ms  statement: SELECT 1", ""));
    let torn = good.replace("SELECT 1\"", "SELECT 1");
    let kept = read_blocks(&PostgresCsv, &[format!("{good}{torn}").as_bytes()]);
    assert_eq!(kept.records.len(), 1);
    assert_eq!(kept.unread.len(), 1);
    assert_eq!(kept.unread[0].1, good.len() as u64);
    let kept = read_blocks(&PostgresCsv, &[&good.as_bytes()[..good.len() - 30]]);
    assert_eq!(kept.unread, [(UnreadReason::Incomplete, 0)]);
}

#[test]
fn a_torn_record_hides_no_other() {
    let good = as_csv(&("LOG", "00000", "duration: 1.0 ms  statement: SELECT 1\n,\"x\"", ""));
    let torn = good.replace("SELECT 1\n,\"\"x\"\"\"", "SELECT 1\n");
    let log = format!("{good}{torn}{good}{good}");
    let whole = read_blocks(&PostgresCsv, &[log.as_bytes()]);
    assert_eq!(whole.records.len(), 3);
    assert_eq!(whole.unread, [(UnreadReason::Form, good.len() as u64)]);
    let state = crate::logs::BorderState::default();
    for end in 0..=log.len() {
        let Some(border) = PostgresCsv.last_start(&log.as_bytes()[..end], state) else { continue };
        let (before, behind) = log.as_bytes().split_at(border);
        assert_eq!(read_blocks(&PostgresCsv, &[before, behind]), whole, "at {border}");
        let last = PostgresCsv.last_start(behind, PostgresCsv.state_behind(before, state));
        let all = PostgresCsv.last_start(log.as_bytes(), state).filter(|all| *all > border);
        assert_eq!(last.map(|at| at + border), all, "behind {border}");
    }
}

#[test]
fn a_record_that_cannot_be_read_hides_no_other() {
    let good = as_csv(&("LOG", "00000", "duration: 1.0 ms  statement: SELECT 1", ""));
    let bad = good.replace("\"psql\"", "\"ps\"ql");
    let kept = read_blocks(&PostgresCsv, &[format!("{bad}{good}\n{good}").as_bytes()]);
    assert_eq!(kept.durations(), [("SELECT ?", Some(1000)); 2]);
    assert_eq!(kept.unread, [(UnreadReason::Form, 0)]);
    let good = as_json(&("LOG", "00000", "duration: 1.0 ms  statement: SELECT 1", ""));
    let kept = read_blocks(&PostgresJson, &[format!("{{\"a\":1}}\n[]\n{good}{{").as_bytes()]);
    assert_eq!(kept.durations(), [("SELECT ?", Some(1000))]);
    let why: Vec<_> = kept.unread.iter().map(|(why, _)| *why).collect();
    assert_eq!(why, [UnreadReason::Form, UnreadReason::Form, UnreadReason::Incomplete]);
}

#[test]
fn odd_objects_are_read_too() {
    let line = as_json(&("LOG", "00000", "duration: 1.0 ms  statement: SELECT 1", ""));
    for odd in [
        line.replace("{\"", "{ \"pod\": {\"name\": [1]}, \""),
        line.replace("\":", "\" : "),
        line.replace("SELECT", "\\u0053ELECT"),
        line.replace("\"message\"", "\"messag\\u0065\""),
    ] {
        let kept = read_blocks(&PostgresJson, &[odd.as_bytes()]);
        assert_eq!(kept.durations(), [("SELECT ?", Some(1000))], "{odd}");
    }
}

#[test]
fn a_line_that_is_torn_is_cut_short_and_one_with_more_behind_it_has_another_form() {
    let line = as_json(&("LOG", "00000", "duration: 1.0 ms  statement: SELECT 1", ""));
    let torn = format!("{}\n{line}{} {{}}\n", &line[..40], line.trim_end());
    let kept = read_blocks(&PostgresJson, &[torn.as_bytes()]);
    assert_eq!(kept.durations(), [("SELECT ?", Some(1000))]);
    let why: Vec<_> = kept.unread.iter().map(|(why, _)| *why).collect();
    assert_eq!(why, [UnreadReason::Incomplete, UnreadReason::Form]);
}

#[test]
fn characters_beyond_ascii_are_unescaped() {
    let line = as_json(&("LOG", "00000", "statement: SELECT X", ""));
    let line = line.replace('X', "\\u00e4\\ud83d\\ude00\\ud83d \\/");
    let kept = read_blocks(&PostgresJson, &[line.as_bytes()]);
    assert_eq!(kept.records[0].text, "SELECT \u{e4}\u{1f600}\u{fffd} /");
}

#[test]
fn a_prefix_within_a_statement_begins_no_message() {
    let inner = format!("SELECT '\n{TIME} [1] a@b LOG:  duration: 9.0 ms  statement: SELECT 2'");
    let message = format!("duration: 1.0 ms  statement: {inner}");
    let kept = read_messages(&[("LOG", "00000", &*message, "")]);
    assert_eq!((kept.records.len(), &*kept.records[0].text), (1, &*inner));
}

#[test]
fn lines_of_something_else_are_counted_where_they_are() {
    let good = format!("{TIME} [7] a@b LOG:  duration: 1.0 ms  statement: SELECT 1\n");
    let log = format!("\tno beginning\nrubbish\0\n\tmore of it\n{good}rubbish\n{good}\n");
    let kept = read_blocks(&text_log(PREFIX), &[log.as_bytes()]);
    assert_eq!(kept.durations(), [("SELECT ?", Some(1000)); 2]);
    let last = (14 + 9 + 12 + good.len()) as u64;
    let form = |at| (UnreadReason::Form, at);
    assert_eq!(kept.unread, [form(0), form(14), form(last)]);
    let foreign = good.replace("LOG:", "LOGI:");
    let kept = read_blocks(&text_log(PREFIX), &[foreign.as_bytes()]);
    assert_eq!((kept.records.len(), kept.unread), (0, vec![form(0)]));
}

#[test]
fn a_message_without_its_end_is_neither_read_nor_lost() {
    let good = format!("{TIME} [7] a@b LOG:  duration: 1.0 ms  statement: SELECT 1\n");
    for length in 1..good.len() {
        let log = format!("{good}{}", &good[..length]);
        let kept = read_blocks(&text_log(PREFIX), &[log.as_bytes()]);
        assert_eq!(kept.durations(), [("SELECT ?", Some(1000))], "{log}");
        assert_eq!(kept.unread, [(UnreadReason::Incomplete, good.len() as u64)], "{log}");
    }
}

#[test]
fn a_time_that_is_none_is_counted_once() {
    let message = ("ERROR", "22012", "no", "SELECT 1");
    let log = as_csv(&message).replace(TIME, "yesterday");
    let kept = read_blocks(&PostgresCsv, &[log.as_bytes()]);
    assert_eq!(kept.unread, [(UnreadReason::Time, 0)]);
    assert_eq!((kept.records.len(), kept.records[0].end_us), (1, None));
}

#[test]
fn quotes_that_stay_open_end_where_a_record_certainly_begins() {
    let torn = "x,\"torn\n";
    let certain = "2021-10-12 01:13:38.136 UTC [\",\"shop\",12,\"me\"\"\n";
    let behind = format!("{certain}y\n");
    let log = format!("{torn}{behind}");
    let whole = read_blocks(&PostgresCsv, &[log.as_bytes()]);
    let form = |at: usize| (UnreadReason::Form, at as u64);
    let last = form(torn.len() + certain.len());
    assert_eq!(whole.unread, [(UnreadReason::Incomplete, 0), form(torn.len()), last]);
    assert_eq!(read_blocks(&PostgresCsv, &[torn.as_bytes(), behind.as_bytes()]), whole);
    // Nor does it matter whether quotes behind that close those that stay open.
    let closed = format!("{torn}{behind}z\",\n");
    let whole = read_blocks(&PostgresCsv, &[closed.as_bytes()]);
    assert_eq!(whole.unread[..2], [(UnreadReason::Incomplete, 0), form(torn.len())]);
}
