//! Statements that a file ends within go on in the next file, or in the next digest.

use super::*;
use dbtime_model::log_digest::DigestClass;

fn line(at_s: u64, pid: u64, message: &str) -> String {
    format!("2026-11-30 10:00:{at_s:02}.000 UTC [{pid}] {message}\n")
}

/// A text whose duration comes later, a step before the last one, and an error.
fn first_part() -> String {
    [
        line(0, 7, "LOG:  statement: SELECT 1 FROM a"),
        line(1, 7, "LOG:  duration: 100.000 ms"),
        line(2, 7, "LOG:  statement: SELECT 2 FROM b"),
        line(3, 8, "LOG:  duration: 0.500 ms  parse <unnamed>: SELECT 3 FROM c"),
        line(4, 9, "ERROR:  deadlock detected"),
    ]
    .concat()
}

/// What goes on with them, from a second on.
fn second_part(from_s: u64) -> String {
    [
        line(from_s, 7, "LOG:  duration: 1000.000 ms"),
        line(from_s + 1, 8, "LOG:  duration: 50.000 ms  execute <unnamed>: SELECT 3 FROM c"),
        line(from_s + 2, 9, "STATEMENT:  UPDATE d SET x = 1"),
    ]
    .concat()
}

/// Text, count, failures and total of each class.
fn shown(digest: &LogDigest) -> Vec<(&str, u64, Option<u64>, Option<f64>)> {
    let total = |class: &DigestClass| class.times.as_ref().map(|times| times.total_us);
    let classes = digest.classes.iter();
    classes.map(|class| (&*class.text, class.count, class.errors, total(class))).collect()
}

const WHOLE: [(&str, u64, Option<u64>, Option<f64>); 4] = [
    ("SELECT ? FROM b", 1, Some(0), Some(1_000_000.0)),
    ("SELECT ? FROM a", 1, Some(0), Some(100_000.0)),
    ("SELECT ? FROM c", 1, Some(0), Some(50_500.0)),
    ("UPDATE d SET x = ?", 1, Some(1), None),
];

fn unread(digest: &LogDigest) -> u64 {
    digest.inputs.iter().flat_map(|input| &input.unread).map(|lines| lines.count).sum()
}

#[test]
fn statements_go_on_in_the_file_that_follows() {
    let folder = LogFolder::new();
    let first = folder.write("a.log", first_part().as_bytes());
    let second = folder.write("b.log", second_part(5).as_bytes());
    for inputs in [[&*first, &*second], [&*second, &*first]] {
        let digest = digest(&plan_of(&inputs));
        assert_eq!((shown(&digest), unread(&digest)), (WHOLE.to_vec(), 0));
    }
    // One of the same time is of another server.
    folder.write("b.log", second_part(1).as_bytes());
    let apart = digest(&plan_of(&[&first, &second]));
    assert_eq!((apart.total.count, unread(&apart)), (4, 1), "{apart:?}");
}

#[test]
fn statements_go_on_in_the_digest_that_follows() {
    for is_rotated in [false, true] {
        let folder = LogFolder::new();
        let log = folder.write("pg.log", first_part().as_bytes());
        let plan = LogPlan { state: Some(folder.path("state")), ..plan_of(&[&log]) };
        for _ in 0..2 {
            let first = digest(&plan);
            let notes = first.inputs[0].notes.join(" ");
            assert!(notes.contains("goes on there: 2 statements"), "{notes}");
            assert_eq!(unread(&first), 0);
            if first.total.count > 0 {
                assert_eq!(shown(&first), WHOLE[1..2].to_vec());
            }
        }
        if is_rotated {
            fs::rename(&log, folder.path("pg.log.1")).expect("rotated");
            folder.write("pg.log", second_part(5).as_bytes());
        } else {
            folder.write("pg.log", (first_part() + &second_part(5)).as_bytes());
        }
        let second = digest(&plan);
        assert_eq!((shown(&second).len(), unread(&second)), (3, 0), "{second:?}");
        let whole = WHOLE.iter().filter(|class| shown(&second).contains(class)).count();
        assert_eq!(whole, 3, "{is_rotated} {:?}", shown(&second));
        assert!(second.events.is_empty(), "they were counted before: {:?}", second.events);
        assert_eq!(digest(&plan).total.count, 0);
    }
}

#[test]
fn a_log_that_was_rotated_without_more_hands_on_what_it_has_open() {
    let folder = LogFolder::new();
    let log = folder.write("pg.log", first_part().as_bytes());
    let plan = LogPlan { state: Some(folder.path("state")), ..plan_of(&[&log]) };
    assert_eq!(digest(&plan).total.count, 1);
    fs::rename(&log, folder.path("pg.log.1")).expect("rotated");
    let text = line(9, 99, "LOG:  duration: 2.000 ms  statement: SELECT 5 FROM e");
    folder.write("pg.log", text.as_bytes());
    // What was carried to the new file cannot be found in it again.
    assert_eq!(digest(&plan).total.count, 3);
    assert_eq!(digest(&plan).total.count, 0);
}

#[test]
fn a_log_that_was_begun_anew_a_moment_ago_is_no_error() {
    let folder = LogFolder::new();
    let log = folder.write("pg.log", first_part().as_bytes());
    let plan = LogPlan { state: Some(folder.path("state")), ..plan_of(&[&log]) };
    assert_eq!(digest(&plan).total.count, 1);
    fs::copy(&log, folder.path("pg.log.1")).expect("copied");
    // It was truncated in the middle of a line.
    folder.write("pg.log", b"ent: SELECT 7\n");
    let begun = digest(&plan);
    assert_eq!((begun.total.count, unread(&begun)), (2, 1), "{begun:?}");
    assert!(begun.inputs[1].because.contains("the file before"), "{begun:?}");
    let text = line(9, 99, "LOG:  duration: 2.000 ms  statement: SELECT 5 FROM e");
    folder.write("pg.log", format!("ent: SELECT 7\n{text}").as_bytes());
    assert_eq!(digest(&plan).total.count, 1);
    fs::remove_file(folder.path("pg.log.1")).expect("removed");
    folder.write("pg.log", b"2026-11-30 10:0");
    assert_eq!(digest(&plan).total.count, 0);
    folder.write("pg.log", text.as_bytes());
    assert_eq!(digest(&plan).total.count, 1);
}

#[test]
fn threads_have_room_in_a_limited_address_space() {
    let limit = 400_000 << 10;
    assert_eq!([8, 2, 1].map(|threads| threads_within(threads, Some(limit))), [1; 3]);
    assert_eq!([8, 2].map(|threads| threads_within(threads, Some(1 << 30))), [8, 2]);
    assert_eq!(threads_within(8, Some(600 << 20)), 4);
    assert_eq!([threads_within(8, None), threads_within(8, Some(0))], [8, 1]);
}
