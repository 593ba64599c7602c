//! Each form of message, in each of the three formats.

use super::*;

fn log(message: &str) -> ShortMessage<'_> {
    ("LOG", "00000", message, "")
}

#[test]
fn statements_have_text_duration_and_instants() {
    let kept = read_messages(&[log("duration: 1.234 ms  statement: SELECT 'a\"b'\n  FROM t1")]);
    let [record] = &kept.records[..] else { panic!("{kept:?}") };
    assert_eq!(record.text, "SELECT 'a\"b'\n  FROM t1");
    assert_eq!(record.class, "SELECT 'a\"b'\n  FROM t?");
    assert_eq!(record.duration_us, Some(1234));
    assert_eq!((record.start_us, record.end_us), (Some(TIME_US - 1234), Some(TIME_US)));
    assert_eq!((record.session, &*record.names), (77, "ann  shop"));
    assert_eq!((&*record.query_id, &*record.error), ("", ""));
}

#[test]
fn csv_and_json_know_session_host_and_query() {
    for (reader, line) in [
        (&PostgresCsv as &dyn LogReader, as_csv(&log("duration: 1.0 ms  statement: SELECT 1"))),
        (&PostgresJson as &dyn LogReader, as_json(&log("duration: 1.0 ms  statement: SELECT 1"))),
    ] {
        let line = line.replace(",0\n", ",-42\n").replace("\"query_id\":0", "\"query_id\":-42");
        let kept = read_blocks(reader, &[line.as_bytes()]);
        let [record] = &kept.records[..] else { panic!("{kept:?}") };
        assert_eq!((record.session, &*record.names), (0x6593_e0c5_0000_004d, "ann 10.0.0.1 shop"));
        assert_eq!(record.query_id, "-42");
    }
}

#[test]
fn older_csv_has_fewer_columns() {
    let line = as_csv(&log("duration: 1.0 ms  statement: SELECT 1"));
    for cut in [",\"client backend\",,0", ",,0"] {
        let kept = read_blocks(&PostgresCsv, &[line.replace(cut, "").as_bytes()]);
        assert_eq!(kept.durations(), [("SELECT ?", Some(1000))], "{cut}");
    }
    let kept = read_blocks(&PostgresCsv, &[&b"1,2,3\n"[..]]);
    assert_eq!(kept.unread, [(UnreadReason::Form, 0)]);
}

#[test]
fn steps_of_a_statement_are_one_record() {
    let kept = read_messages(&[
        log("duration: 2.000 ms  parse S_1: SELECT $1"),
        log("duration: 1.000 ms  bind S_1: SELECT $1"),
        ("DETAIL", "00000", "parameters: $1 = 'secret'", ""),
        log("duration: 5.000 ms  execute S_1: SELECT $1"),
        log("duration: 1.000 ms  bind S_1: SELECT $1"),
        log("duration: 4.000 ms  execute S_1/C_1: SELECT $1"),
        log("duration: 3.000 ms  execute fetch from S_1/C_1: SELECT $1"),
        log("duration: 9.000 ms  parse <unnamed>: SELECT $1"),
    ]);
    let durations: Vec<_> = kept.records.iter().map(|record| record.duration_us).collect();
    assert_eq!(durations, [Some(8000), Some(5000), Some(3000), Some(9000)]);
    assert_eq!(
        kept.records[0].figures,
        [(LogFigure::ParseTime, 2_000_000), (LogFigure::BindTime, 1_000_000)]
    );
    assert_eq!(kept.records[0].start_us, Some(TIME_US - 8000));
    assert!(!format!("{kept:?}").contains("secret"));
}

#[test]
fn a_statement_that_is_logged_twice_counts_once() {
    let kept = read_messages(&[
        log("statement: SELECT 1"),
        log("duration: 5.000 ms"),
        log("execute <unnamed>: SELECT 22"),
        log("duration: 6.000 ms  execute <unnamed>: SELECT 22"),
        log("statement: BEGIN"),
        log("statement: SELECT 1"),
        log("duration: 7.000 ms  statement: SELECT 1"),
    ]);
    let all = [
        ("SELECT ?", Some(5000)),
        ("SELECT ??", Some(6000)),
        ("BEGIN", None),
        ("SELECT ?", Some(7000)),
    ];
    assert_eq!(kept.durations(), all);
    assert_eq!(kept.records[2].start_us, Some(TIME_US));
}

#[test]
fn durations_alone_are_steps_of_what_was_begun() {
    let kept = read_messages(&[
        log("duration: 0.500 ms"),
        log("duration: 200.000 ms  parse a: SELECT 1"),
        log("duration: 1.000 ms"),
        log("duration: 2.000 ms"),
        log("duration: 4.000 ms"),
    ]);
    assert_eq!(kept.durations(), [("SELECT ?", Some(203_000))]);
    assert_eq!(kept.unread.len(), 2);
    assert!(kept.unread.iter().all(|(why, _)| *why == UnreadReason::NoStatement));
}

#[test]
fn statements_are_read_in_other_languages() {
    let kept = read_messages(&[
        log("Dauer: 1.000 ms  Parsen a: SELECT $1"),
        log("Dauer: 2.000 ms  Binden a: SELECT $1"),
        log("Dauer: 5.000 ms  Ausführen a: SELECT $1"),
        log("durée : 3.000 ms, instruction : SELECT 1"),
        log("оператор: SELECT 2"),
        log("продолжительность: 4.000 мс"),
        log("期間: 1.000 ミリ秒  何か: SELECT 3"),
    ]);
    let durations: Vec<_> = kept.records.iter().map(|record| record.duration_us).collect();
    assert_eq!(durations, [8000, 3000, 4000].map(Some));
    let why: Vec<_> = kept.unread.iter().map(|(why, _)| *why).collect();
    assert_eq!(why, [UnreadReason::Form]);
}

#[test]
fn durations_alone_before_a_statement_are_its_steps() {
    let run = [
        log("duration: 2.000 ms"),
        log("duration: 1.000 ms"),
        log("execute <unnamed>: SELECT $1"),
        log("duration: 5.000 ms"),
    ];
    let more = [log("duration: 9.000 ms"), log("duration: 9.000 ms")];
    let kept = read_messages(&[&run[..], &run[1..], &more[..], &run[1..]].concat());
    let durations: Vec<_> = kept.records.iter().map(|record| record.duration_us).collect();
    assert_eq!(durations, [8000, 6000, 6000].map(Some));
    let steps = [(LogFigure::ParseTime, 2_000_000), (LogFigure::BindTime, 1_000_000)];
    assert_eq!(kept.records[0].figures, steps);
    assert_eq!(kept.unread.len(), 2, "of the steps of three, the last is surely its bind");
    let other = [&run[..2], &[log("duration: 3.000 ms  statement: SELECT 1")]].concat();
    let kept = read_messages(&other);
    assert_eq!((kept.durations(), kept.unread.len()), (vec![("SELECT ?", Some(3000))], 2));
}

#[test]
fn the_id_of_a_statement_is_that_of_any_of_its_messages() {
    let messages = [
        "statement: SELECT 1",
        "duration: 5.000 ms",
        "duration: 1.000 ms  bind a: BEGIN",
        "duration: 1.000 ms  execute a: BEGIN",
    ];
    let with_id = |(message, id): (&&str, i32)| {
        as_csv(&log(message)).replace("\"client backend\",,0", &format!("\"b\",,{id}"))
    };
    let lines: String = messages.iter().zip([0, -42, 7, 0]).map(with_id).collect();
    let kept = read_blocks(&PostgresCsv, &[lines.as_bytes()]);
    let ids: Vec<_> = kept.records.iter().map(|record| &*record.query_id).collect();
    assert_eq!(ids, ["-42", "7"]);
}

#[test]
fn a_plan_is_no_second_statement() {
    let plan = "duration: 4.000 ms  plan:\nQuery Text: SELECT 1\nResult  (cost=0.00..0.01 rows=1)";
    let json = "duration: 3.000 ms  plan:\n{\n  \"Query Text\": \"SELECT 2\",\n  \"Plan\": {}\n}";
    let kept = read_messages(&[
        log(plan),
        log("duration: 5.000 ms  statement: SELECT 1"),
        log("statement: SELECT 1"),
        log(plan),
        log("duration: 6.000 ms"),
        log(json),
        log(plan),
        log("statement: SELECT f()"),
        log("duration: 8.000 ms"),
    ]);
    let all = [5000, 6000, 3000, 4000, 8000].map(Some);
    let durations: Vec<_> = kept.records.iter().map(|record| record.duration_us).collect();
    assert_eq!(durations, all);
    assert_eq!(kept.events, ["plan"; 4]);
}

#[test]
fn plans_of_what_a_statement_ran_are_parts_of_it() {
    let plan = |text| format!("duration: 1.000 ms  plan:\nQuery Text: {text}\nResult  (cost=0.0)");
    let (one, inner) = (plan("SELECT 1; SELECT 2"), plan("SELECT count(*) FROM t"));
    let kept = read_messages(&[
        log("duration: 1.000 ms  statement: BEGIN"),
        log(&one),
        log(&one),
        log("duration: 5.000 ms  statement: SELECT 1; SELECT 2"),
        log(&inner),
        log(&inner),
        log("duration: 6.000 ms  statement: SELECT f()"),
    ]);
    let durations: Vec<_> = kept.records.iter().map(|record| record.duration_us).collect();
    assert_eq!(durations, [1000, 5000, 6000].map(Some));
}

#[test]
fn the_plan_of_a_portal_that_was_closed_late_is_no_second_statement() {
    let plan = "duration: 4.000 ms  plan:\nQuery Text: SELECT $1\nResult  (cost=0.00..0.01 rows=1)";
    let run = [
        log("duration: 1.000 ms  bind <unnamed>: SELECT $1"),
        log("duration: 5.000 ms  execute <unnamed>: SELECT $1"),
        log(plan),
    ];
    let kept = read_messages(&[&run[..], &run[..], &[log(plan)]].concat());
    let durations: Vec<_> = kept.records.iter().map(|record| record.duration_us).collect();
    assert_eq!(durations, [6000, 6000, 4000].map(Some), "the last one is of another statement");
}

#[test]
fn a_file_ends_no_plan() {
    let kept = read_messages(&[
        log("duration: 4.000 ms  plan:\nQuery Text: SELECT 1\nSort  (cost=0.00..0.01 rows=1)"),
        ("LOG", "00000", "temporary file: path \"x\", size 10", "SELECT 1"),
        log("duration: 5.000 ms  plan:\nQuery Text: SELECT 2\nResult  (cost=0.00..0.01 rows=1)"),
    ]);
    assert_eq!(kept.durations(), [("SELECT ?", Some(4000)), ("SELECT ?", Some(5000))]);
    assert_eq!(kept.records[0].figures, [(LogFigure::TmpBytes, 10)]);
}

#[test]
fn a_plan_is_read_in_each_form() {
    let yaml = "duration: 1.000 ms  plan:\nQuery Text: \"SELECT 'a\\\"b'\"\nPlan: \n  Node Type: 7";
    let xml = "duration: 2.000 ms  plan:\n<explain>\n  <Query-Text>SELECT 1 &lt; 2</Query-Text>";
    let kept = read_messages(&[log(yaml), log(xml), log("duration: 3.000 ms  plan:\nodd")]);
    let all = [("SELECT 'a\"b'", Some(1000)), ("SELECT ? < ?", Some(2000))];
    assert_eq!(kept.durations(), all);
    let why: Vec<_> = kept.unread.iter().map(|(why, _)| *why).collect();
    assert_eq!(why, [UnreadReason::Form], "its time is in no figure");
}

#[test]
fn failed_statements_count_once() {
    let kept = read_messages(&[
        log("statement: SELECT 1/0"),
        ("ERROR", "22012", "division by zero", "SELECT 1/0"),
        ("ERROR", "40P01", "deadlock detected", "UPDATE t SET a = 1"),
        ("FATAL", "28P01", "password authentication failed for user \"ann\"", ""),
        log("duration: 1.000 ms  statement: SELECT 1"),
    ]);
    let errors: Vec<_> = kept.records.iter().map(|r| (&*r.error, r.duration_us)).collect();
    assert_eq!(errors, [("22012", None), ("40P01", None), ("", Some(1000))]);
    assert_eq!(kept.records[0].start_us, Some(TIME_US));
    assert_eq!(kept.events, ["deadlock", "error 28P01"]);
    assert!(kept.unread.is_empty());
}

#[test]
fn errors_without_a_code_have_their_severity() {
    let log = format!("{TIME} ERROR:  no\n{TIME} STATEMENT:  SELECT 1\n");
    let kept = read_blocks(&text_log("%m "), &[log.as_bytes()]);
    assert_eq!(kept.records[0].error, "ERROR");
    let verbose = log.replace("ERROR:  no", "ERROR:  42P01: no");
    let kept = read_blocks(&text_log("%m "), &[verbose.as_bytes()]);
    assert_eq!(kept.records[0].error, "42P01");
}

#[test]
fn waits_and_files_belong_to_the_next_record_of_the_session() {
    let wait = "process 77 still waiting for ShareLock on transaction 9 after 1000.100 ms";
    let kept = read_messages(&[
        ("LOG", "00000", wait, "UPDATE t"),
        ("LOG", "00000", "process 77 acquired ShareLock on transaction 9 after 1500.250 ms", "U"),
        log("temporary file: path \"base/pgsql_tmp/pgsql_tmp77.0\", size 4096"),
        log("temporary file: path \"base/pgsql_tmp/pgsql_tmp77.1\", size 100"),
        log("duration: 1600.000 ms  statement: UPDATE t"),
        log("duration: 1.000 ms  statement: SELECT 1"),
    ]);
    let figures = [(LogFigure::LockTime, 1_500_250_000), (LogFigure::TmpBytes, 4196)];
    assert_eq!(kept.records.len(), 2);
    assert_eq!(kept.records[0].figures, figures);
    assert!(kept.records[1].figures.is_empty());
    assert_eq!(kept.events, ["lock wait", "temporary file", "temporary file"]);
}

#[test]
fn the_place_in_a_statement_hides_no_wait_and_no_deadlock() {
    let at = |message: &str| format!("{message} at character 15");
    let waits = at("process 77 still waiting for AccessShareLock on relation 1 after 200.089 ms");
    let ends = at("process 77 acquired AccessShareLock on relation 1 after 311.717 ms");
    let dead = at("process 77 detected deadlock while waiting for ShareLock on … after 201.5 ms");
    let kept = read_messages(&[
        log(&waits),
        log(&ends),
        log("duration: 312.000 ms  statement: SELECT * FROM t"),
        log(&dead),
        ("ERROR", "40P01", "deadlock detected at character 15", "SELECT * FROM u"),
    ]);
    let figures: Vec<_> = kept.records.iter().map(|record| record.figures.clone()).collect();
    let lock = |ns| vec![(LogFigure::LockTime, ns)];
    assert_eq!(figures, [lock(311_717_000), lock(201_500_000)]);
    assert_eq!(kept.events, ["lock wait", "lock wait", "deadlock"]);
    assert!(kept.unread.is_empty());
}

#[test]
fn the_server_itself_is_counted_by_name() {
    let kept = read_messages(&[
        log("checkpoint starting: time"),
        log("checkpoint complete: wrote 3 buffers (0.0%)"),
        log("automatic vacuum of table \"shop.public.t\": index scans: 0"),
        log("automatic aggressive vacuum to prevent wraparound of table \"shop.public.t\""),
        log("automatic analyze of table \"shop.public.t\""),
        ("WARNING", "01000", "something else", ""),
    ]);
    assert_eq!(kept.events, ["checkpoint", "autovacuum", "autovacuum", "autoanalyze"]);
    assert_eq!((kept.records.len(), kept.unread.len()), (0, 0));
}

#[test]
fn numbers_that_are_none_are_counted() {
    let kept = read_messages(&[
        log("duration: 1,234 ms  statement: SELECT 1"),
        log("duration: soon"),
        log("temporary file: path \"x\", size many"),
    ]);
    assert_eq!(kept.durations(), [("SELECT ?", None)]);
    let why: Vec<_> = kept.unread.iter().map(|(why, _)| *why).collect();
    assert_eq!(why, [UnreadReason::Number, UnreadReason::Form, UnreadReason::Number]);
}
