//! Digests of records whose sums are known.

use super::{DigestBuilder, DigestOptions, DigestSums};
use crate::logs::{JoinedRecord, RecordSink};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{
    ClassGrouping, ClassKind, DigestClass, InputKind, LogFigure, UnreadLines, UnreadReason,
};

const SELECT: &str = "SELECT a FROM t WHERE id = ?";
const UPDATE: &str = "UPDATE t SET a = ? WHERE id = ?";

/// A statement that ended at a millisecond, and took so many microseconds.
fn statement(class: &'static str, end_ms: i64, us: u64) -> JoinedRecord<'static> {
    JoinedRecord {
        offset: end_ms.unsigned_abs() * 100,
        class,
        text: class.as_bytes(),
        end_us: Some(end_ms * 1000),
        duration: Some(Nanos::from_micros(us)),
        user: b"app",
        database: b"shop",
        ..JoinedRecord::default()
    }
}

fn digest(options: DigestOptions, records: &[JoinedRecord<'_>]) -> DigestSums {
    let mut builder = DigestBuilder::new(options);
    builder.begin_input(0, InputKind::Slow);
    records.iter().for_each(|record| builder.take(record));
    builder.finish()
}

fn json(sums: &DigestSums) -> String {
    let all = (&sums.total, &sums.classes, &sums.others, &sums.timeline, &sums.events);
    serde_json::to_string(&all).expect("JSON")
}

fn class<'a>(sums: &'a DigestSums, text: &str) -> &'a DigestClass {
    sums.classes.iter().find(|class| class.text == text).expect("the class")
}

fn total_us(class: &DigestClass) -> f64 {
    class.times.as_ref().expect("durations").total_us
}

/// Records of four classes, in 50 sessions, with all that a record may have.
fn many() -> Vec<JoinedRecord<'static>> {
    const FIGURES: &[(LogFigure, u64)] = &[(LogFigure::LockTime, 700), (LogFigure::RowsSent, 3)];
    const UNKNOWN: &[(&[u8], &[u8])] = &[(b"Spilled", b"1.5")];
    let record = |at: i64| {
        let class: &'static str = match at % 5 {
            0 | 1 => SELECT,
            2 => UPDATE,
            3 => "COMMIT",
            _ => "BEGIN",
        };
        JoinedRecord {
            session: (at % 50).unsigned_abs(),
            figures: FIGURES,
            unknown: UNKNOWN,
            query_id: b"-42",
            error: if at % 7 == 0 { b"1205" } else { b"" },
            weight: 3,
            ..statement(class, at, (at * 7919 % 5000).unsigned_abs())
        }
    };
    (0..5000).map(record).collect()
}

#[test]
fn records_are_summed_up_by_class_with_the_most_time_first() {
    let records =
        [statement(SELECT, 10, 2000), statement(UPDATE, 20, 9000), statement(SELECT, 30, 4000)];
    let sums = digest(DigestOptions::default(), &records);
    let order: Vec<&str> = sums.classes.iter().map(|class| class.text.as_str()).collect();
    assert_eq!(order, [UPDATE, SELECT]);
    assert_eq!([total_us(&sums.classes[0]), total_us(&sums.classes[1])], [9000.0, 6000.0]);
    assert_eq!((sums.total.count, sums.total.id.as_str()), (3, ""));
    assert_eq!((sums.first_us, sums.last_us), (Some(8000), Some(30_000)));
    assert_eq!(sums.classes[0].id, dbtime_sql::statement_id(UPDATE.as_bytes()));
    assert!(sums.classes.iter().all(|class| class.percona_id.is_some()));
    assert!(sums.total.worst.is_none() && sums.total.random.is_none());
    assert_eq!(sums.classes[0].worst.as_ref().map(|sample| sample.text.as_str()), Some(""));
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let records = many();
    let sums = digest(DigestOptions::default(), &records);
    assert_eq!(json(&sums), json(&digest(DigestOptions::default(), &records)));
    assert_eq!(sums.total.count, 15_000);
    let (of_classes, total): (f64, f64) =
        (sums.classes.iter().map(total_us).sum(), total_us(&sums.total));
    assert!((of_classes - total).abs() < 1e-3 * total);
    let parts: f64 = sums.total.parts_us.values().sum();
    assert!((parts - total).abs() < 1e-6 * total, "{:?}", sums.total.parts_us);
    assert_eq!(sums.total.figures["spilled"].total, 22_500.0);
}

#[test]
fn bounded_classes_lose_no_record() {
    let options = DigestOptions { max_classes: 2, ..DigestOptions::default() };
    let (all, bounded) = (digest(DigestOptions::default(), &many()), digest(options, &many()));
    assert!(bounded.classes.len() <= 2 && bounded.other_classes >= 2);
    let others = bounded.others.as_ref().map_or(0, |class| class.logged);
    let apart: u64 = bounded.classes.iter().map(|class| class.logged).sum();
    assert_eq!((others + apart, bounded.total.count), (5000, all.total.count));
    assert_eq!(bounded.total.figures, all.total.figures);
    assert_eq!(bounded.timeline, all.timeline);
}

#[test]
fn users_and_sessions_are_classes_where_they_make_them() {
    let named = |user| JoinedRecord { user, ..statement(SELECT, 1, 5) };
    let records = [named(b"root"), named(b"app"), named(b"app"), named(b"")];
    let options = DigestOptions { grouping: ClassGrouping::User, ..DigestOptions::default() };
    let sums = digest(options, &records);
    assert_eq!((class(&sums, "app").count, class(&sums, "root").count), (2, 1));
    assert_eq!(class(&sums, "(user unknown)").count, 1);
    assert!(sums.classes.iter().all(|class| class.percona_id.is_none()));
    let of = |process, session| JoinedRecord { process, session, ..statement(SELECT, 1, 5) };
    let records = [of(4711, 9), of(4711, 8), of(0, 9), of(0, 0)];
    let options = DigestOptions { grouping: ClassGrouping::Session, ..DigestOptions::default() };
    let sums = digest(options, &records);
    let counts = ["process 4711", "session 9", ""].map(|name| class(&sums, name).count);
    assert_eq!(counts, [2, 1, 1]);
}

#[test]
fn percona_classes_have_its_ids_and_statistics() {
    let options = DigestOptions { grouping: ClassGrouping::Percona, ..DigestOptions::default() };
    let text = b"SELECT c FROM t1 WHERE id=42 AND s='x'";
    let record = JoinedRecord {
        text,
        figures: &[(LogFigure::RowsSent, 4)],
        ..statement("select c from t? where id=? and s=?", 1, 2_000_000)
    };
    let sums = digest(options, &[record]);
    let found = &sums.classes[0];
    assert_eq!(found.id, "A198F8E935CF3B8EA2DFEBE0F4E9C251");
    assert_eq!(found.percona_id.as_ref(), Some(&found.id));
    for class in [found, &sums.total] {
        let times = class.times.as_ref().and_then(|times| times.percona).expect("statistics");
        assert!((times.median - 2e6).abs() < 1.0, "{times:?}");
        let rows = class.figures["rows_sent"].percona.expect("statistics");
        assert!((rows.p95 - 4.0).abs() < 1e-9, "{rows:?}");
    }
}

#[test]
fn users_are_accounts_where_that_was_asked_for() {
    let records = [JoinedRecord { account: b"app_role", ..statement(SELECT, 1, 5) }];
    let user = |names_accounts| {
        let options = DigestOptions { names_accounts, ..DigestOptions::default() };
        digest(options, &records).classes[0].users[0].name.clone()
    };
    assert_eq!([user(false), user(true)], ["app", "app_role"]);
}

#[test]
fn texts_of_percona_classes_have_no_literals() {
    let shown = |kind, grouping, text: &'static str| {
        let rules = match grouping {
            ClassGrouping::PerconaOld => dbtime_sql::PerconaRules::Old,
            _ => dbtime_sql::PerconaRules::Current,
        };
        let mut name = Vec::new();
        dbtime_sql::percona_fingerprint(text.as_bytes(), rules, &mut name);
        let class = std::str::from_utf8(&name).expect("a text");
        let record = JoinedRecord { class, text: text.as_bytes(), ..statement("", 1, 5) };
        let mut builder =
            DigestBuilder::new(DigestOptions { grouping, ..DigestOptions::default() });
        builder.begin_input(0, kind);
        builder.take(&record);
        let class = builder.finish().classes.remove(0);
        assert_eq!(Some(&class.id), class.percona_id.as_ref());
        class.text
    };
    for grouping in [ClassGrouping::Percona, ClassGrouping::PerconaOld] {
        let of = |text| shown(InputKind::Slow, grouping, text);
        assert_eq!(of(r"SELECT 'a''b', 'c\\', 'hush' FROM T5"), "select ?, ?, ? from t?");
        assert_eq!(of(r#"select '\\', "hush's", 'hush"'"#), "select ?, ?, ?");
        assert_eq!(of("insert into t1 (a) values ('hush')"), "insert into t? (a) values (...)");
        let dollars = "select $$it's hush$$, 'x'";
        assert_eq!(shown(InputKind::Postgres, grouping, dollars), "select ?, ?");
    }
}

#[test]
fn commands_have_the_ids_of_percona() {
    let quit = JoinedRecord { kind: ClassKind::Command, ..statement("Quit", 1, 5) };
    let of = |grouping| {
        let options = DigestOptions { grouping, ..DigestOptions::default() };
        let class = digest(options, std::slice::from_ref(&quit)).classes.remove(0);
        (class.text, class.id, class.percona_id)
    };
    let id = "EDBC971AEC392917AA353644DE4C4CB4".to_owned();
    let percona = ("administrator command: Quit".to_owned(), id.clone(), Some(id.clone()));
    assert_eq!(of(ClassGrouping::Percona), percona);
    assert_eq!(of(ClassGrouping::PerconaOld), percona);
    let own = ("Quit".to_owned(), dbtime_sql::statement_id(b"Quit"), Some(id));
    assert_eq!(of(ClassGrouping::Fingerprint), own);
}

#[test]
fn a_text_that_may_be_cut_has_no_id_of_percona() {
    let id = |length: usize| {
        let text = format!("SELECT {}", "a".repeat(length - 7));
        let record = JoinedRecord { text: text.as_bytes(), ..statement(SELECT, 1, 5) };
        digest(DigestOptions::default(), &[record]).classes[0].percona_id.is_some()
    };
    assert_eq!([100, 4092, 4093, 4096, 4097].map(id), [true, true, false, false, true]);
}

#[test]
fn records_outside_of_the_time_are_left_out_and_counted() {
    let timeless = JoinedRecord { end_us: None, ..statement(SELECT, 0, 5) };
    let records = [
        statement(SELECT, 9, 5),
        statement(SELECT, 10, 5),
        statement(SELECT, 19, 5),
        statement(SELECT, 20, 5),
        timeless,
    ];
    let (since_us, until_us) = (Some(10_000), Some(20_000));
    let options = DigestOptions { since_us, until_us, ..DigestOptions::default() };
    let sums = digest(options, &records);
    assert_eq!((sums.total.count, sums.left_out, sums.records.as_slice()), (2, 3, &[5][..]));
}

#[test]
fn a_sample_of_a_log_stands_for_all_of_it() {
    let options = DigestOptions { assumed_weight: 10.0, ..DigestOptions::default() };
    let sums = digest(options, &[statement(SELECT, 10, 2000), statement(SELECT, 20, 4000)]);
    let times = sums.total.times.as_ref().expect("durations");
    assert_eq!((sums.total.count, sums.total.logged), (20, 2));
    assert_eq!((times.total_us, times.mean_us, times.max_us), (60_000.0, 3000.0, 4000.0));
    assert_eq!(sums.timeline.bins.iter().map(|bin| bin.count).sum::<u64>(), 20);
}

#[test]
fn what_ran_beside_the_slowest_is_named() {
    let mut records: Vec<JoinedRecord<'_>> = (0..100).map(|at| statement(SELECT, at, 5)).collect();
    records.push(statement(UPDATE, 900, 400_000));
    records.push(statement(SELECT, 1000, 500_000));
    let sums = digest(DigestOptions::default(), &records);
    let overlaps = &class(&sums, SELECT).overlaps;
    assert_eq!((overlaps.len(), overlaps[0].text.as_str()), (1, UPDATE));
    assert_eq!((overlaps[0].count, overlaps[0].time_us), (1, 400_000.0));
    assert!(class(&sums, UPDATE).overlaps.is_empty());
}

#[test]
fn whole_seconds_show_nothing_beside_short_records() {
    let beside = |slow_us: u64, other_us: u64| {
        let at = |at: i64| statement(SELECT, at * 1000, 5);
        let mut records: Vec<JoinedRecord<'_>> = (1..100).map(at).collect();
        records.push(statement(UPDATE, 200_000, other_us));
        records.push(statement(SELECT, 200_000, slow_us));
        let sums = digest(DigestOptions::default(), &records);
        (class(&sums, SELECT).overlaps.len(), sums.time_notes[0].len())
    };
    assert_eq!(beside(400_000, 400_000), (0, 1));
    assert_eq!(beside(2_400_000, 400_000), (0, 0));
    assert_eq!(beside(2_400_000, 2_400_000), (1, 0));
}

#[test]
fn what_a_session_repeats_is_counted() {
    let select = |at| JoinedRecord { session: 5, ..statement(SELECT, at, 5) };
    let records: Vec<JoinedRecord<'_>> = (0..30).map(select).collect();
    let sums = digest(DigestOptions::default(), &records);
    let repeats = class(&sums, SELECT).repeats.as_ref().expect("repeats");
    assert_eq!((repeats.rows, repeats.count, repeats.longest, repeats.identical), (1, 30, 30, 29));
}

#[test]
fn requests_are_joined_with_statements() {
    let kind = ClassKind::Request;
    let request = JoinedRecord { kind, session: 9, ..statement("GET /cart", 100, 90_000) };
    let options = DigestOptions { joins_requests: true, ..DigestOptions::default() };
    let mut builder = DigestBuilder::new(options);
    builder.begin_input(0, InputKind::Slow);
    builder.take(&statement(SELECT, 50, 20_000));
    builder.begin_input(1, InputKind::Access);
    builder.take(&request);
    let sums = builder.finish();
    let statements = &class(&sums, "GET /cart").statements;
    assert_eq!((statements.len(), statements[0].text.as_str()), (1, SELECT));
    assert!(statements[0].is_by_time_alone && statements[0].time_us == 20_000.0);
    assert_eq!((sums.records.as_slice(), sums.total.kind), (&[1, 1][..], ClassKind::Mixed));
}

#[test]
fn events_and_what_cannot_be_read_are_counted_by_file() {
    let mut builder = DigestBuilder::new(DigestOptions::default());
    builder.begin_input(0, InputKind::Postgres);
    for name in ["checkpoint", "deadlock", "checkpoint"] {
        builder.count_event(name, None);
    }
    builder.begin_input(1, InputKind::Postgres);
    builder.count_unread(UnreadReason::Time, 70);
    builder.count_unread(UnreadReason::Form, 90);
    builder.count_unread(UnreadReason::Time, 60);
    let sums = builder.finish();
    let events: Vec<(&str, u64)> =
        sums.events.iter().map(|event| (event.name.as_str(), event.count)).collect();
    assert_eq!(events, [("checkpoint", 2), ("deadlock", 1)]);
    let time = UnreadLines { why: UnreadReason::Time, count: 2, first_offset: 60 };
    let form = UnreadLines { why: UnreadReason::Form, count: 1, first_offset: 90 };
    assert_eq!(sums.unread, [vec![], vec![time, form]]);
}

#[test]
fn events_are_of_the_time_and_none_is_lost() {
    let (since_us, until_us) = (Some(10), Some(20));
    let options = DigestOptions { since_us, until_us, ..DigestOptions::default() };
    let mut builder = DigestBuilder::new(options);
    for at_us in [None, Some(9), Some(10), Some(19), Some(20)] {
        builder.count_event("checkpoint", at_us);
    }
    assert_eq!(builder.finish().events.first().map(|event| event.count), Some(2));
    let mut many = DigestBuilder::new(DigestOptions::default());
    for code in 0..1000 {
        many.count_event(&format!("error {code}"), None);
    }
    let events = many.finish().events;
    assert_eq!(events.iter().map(|event| event.count).sum::<u64>(), 1000);
    assert_eq!((events[0].name.as_str(), events[0].count), ("event of another kind", 744));
}

#[test]
fn a_file_whose_durations_are_coarse_is_named() {
    let sums = digest(DigestOptions::default(), &[0, 3000].map(|us| statement(SELECT, 1, us)));
    let note = &sums.time_notes[0];
    assert!(note.len() == 1 && note[0].starts_with("All durations are whole milliseconds"));
    let sums = digest(DigestOptions::default(), &[0, 3001].map(|us| statement(SELECT, 1, us)));
    assert_eq!(sums.time_notes, [Vec::<String>::new()]);
}
