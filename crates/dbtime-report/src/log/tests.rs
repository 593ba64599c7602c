//! The report of a typed digest: its answer on one screen, all details, hostile texts.

use super::*;
use crate::terminal::{PageStyle, SCREEN_LINES};
use dbtime_model::log_digest::{
    ClassGrouping, ClassGroups, ClassKind, ClassOverlap, ClassSample, DigestInput, DigestTimeline,
    DigestTimes, FigureSummary, FineHistogram, GroupDifference, InputKind, NamedCount, NamedValues,
    SessionRepeats, TimeMeaning, TimelineBin, UnreadLines, UnreadReason,
};

/// 2026-11-30 10:00:00 UTC. Unit: microseconds.
const BEGIN_US: i64 = 1_796_032_800_000_000;

fn times(total_us: f64, count: u64) -> DigestTimes {
    let mean_us = total_us / count as f64;
    DigestTimes {
        total_us,
        mean_us,
        min_us: mean_us / 10.0,
        p50_us: mean_us / 2.0,
        p90_us: mean_us * 2.0,
        p95_us: mean_us * 3.0,
        p99_us: mean_us * 4.0,
        p999_us: mean_us * 5.0,
        max_us: mean_us * 6.0,
        squares_us2: 2.0 * mean_us * mean_us * count as f64,
        histogram: FineHistogram::default(),
        percona: None,
    }
}

fn figure(total: f64, logged: u64) -> FigureSummary {
    let p50 = total / logged as f64;
    FigureSummary { logged, total, min: 0.0, max: total, p50, p95: p50, percona: None }
}

fn class(text: &str, total_us: f64, count: u64) -> DigestClass {
    DigestClass {
        id: format!("{:032X}", text.len()),
        text: text.to_owned(),
        count,
        logged: count,
        times: Some(times(total_us, count)),
        first_us: Some(BEGIN_US),
        last_us: Some(BEGIN_US + 60_000_000),
        ..DigestClass::default()
    }
}

/// All that a class can have.
fn whole_class() -> DigestClass {
    let named = |name: &str, count| NamedCount { name: name.to_owned(), count };
    let beside = || ClassOverlap {
        id: "B".to_owned(),
        text: "UPDATE stock SET n = n - ? WHERE id = ?".to_owned(),
        count: 3,
        time_us: 2.5e6,
        is_by_time_alone: false,
    };
    DigestClass {
        percona_id: Some("A198F8E935CF3B8EA2DFEBE0F4E9C251".to_owned()),
        errors: Some(4),
        error_codes: vec![named("1213", 4)],
        parts_us: [("lock", 20e6), ("other", 10e6)].map(|(at, us)| (at.to_owned(), us)).into(),
        figures: [
            ("rows_examined", figure(9000.0, 30)),
            ("rows_sent", figure(30.0, 30)),
            ("lock_time", figure(20e6, 30)),
            ("full_scan", figure(15.0, 30)),
        ]
        .map(|(at, summary)| (at.to_owned(), summary))
        .into(),
        worst: Some(Box::new(ClassSample {
            text: "SELECT c FROM t1 WHERE id = ?".to_owned(),
            end_us: Some(BEGIN_US + 30_000_000),
            duration_us: Some(6e6),
            input: 0,
            offset: 4711,
            figures: NamedValues::default(),
        })),
        users: vec![named("shop", 30)],
        databases: vec![named("orders", 30)],
        hosts: vec![named("10.0.0.7", 30)],
        processes: vec![named("4711", 30)],
        groups: Some(Box::new(ClassGroups {
            lower_count: 20,
            lower_us: 1e3,
            higher_count: 10,
            higher_us: 3e6,
            difference: Some(GroupDifference {
                figure: "rows_examined".to_owned(),
                lower: 12.0,
                higher: 90_112.0,
            }),
        })),
        overlaps: vec![beside()],
        repeats: Some(Box::new(SessionRepeats { rows: 2, count: 25, longest: 14, identical: 3 })),
        statements: vec![beside()],
        ..class("SELECT c FROM t1 WHERE id = ?", 30e6, 30)
    }
}

fn input() -> DigestInput {
    DigestInput {
        path: "slow.log".to_owned(),
        kind: InputKind::Slow,
        format: String::new(),
        because: "by its first lines".to_owned(),
        time_meaning: TimeMeaning::End,
        is_local_time: false,
        bytes: 123_456,
        from: 0,
        records: 150,
        unread: vec![UnreadLines { why: UnreadReason::Form, count: 2, first_offset: 99 }],
        is_misread: false,
        doubts: Vec::new(),
        notes: Vec::new(),
    }
}

fn digest() -> LogDigest {
    let classes = vec![
        whole_class(),
        class("UPDATE stock SET n = n - ? WHERE id = ?", 8e6, 40),
        class("INSERT INTO log VALUES (?+)", 1.5e6, 50),
        class("SELECT ?", 0.5e6, 30),
    ];
    let bin = |step: i64| TimelineBin {
        start_us: BEGIN_US + step * 4_000_000,
        count: 10,
        errors: Some(u64::from(step == 3)),
        busy_us: 1e6 * step as f64,
        max_us: 1e6,
    };
    LogDigest {
        schema: 1,
        dbtime: "0.1.0".to_owned(),
        command: "dbtime log slow.log".to_owned(),
        inputs: vec![input()],
        grouping: ClassGrouping::Fingerprint,
        basis: "each statement's duration as the server logged it".to_owned(),
        assumed_weight: 1.0,
        first_us: Some(BEGIN_US),
        last_us: Some(BEGIN_US + 60_000_000),
        total: DigestClass { errors: Some(4), id: String::new(), ..class("", 40e6, 150) },
        classes,
        others: None,
        other_classes: 0,
        timeline: DigestTimeline { step_s: 4, bins: (1..15).map(bin).collect() },
        events: vec![NamedCount { name: "deadlock".to_owned(), count: 2 }],
        notes: Vec::new(),
    }
}

fn options() -> LogReportOptions {
    LogReportOptions {
        order: ClassOrder::Total,
        limit: 3,
        show_bad: false,
        details: false,
        is_raw: false,
    }
}

fn text(digest: &LogDigest, options: LogReportOptions) -> String {
    let text = log_document(digest, options).text(PageStyle::default());
    let widest = text.lines().map(crate::format::width).max().unwrap_or(0);
    assert!(widest <= 100, "{widest}: {text}");
    text
}

fn has(text: &str, parts: &[&str]) {
    let unbroken = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(unbroken.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn the_answer_comes_first_and_fits_on_a_screen() {
    let text = text(&digest(), options());
    let answer = "4 classes of 150 statements that took 40.0 s; three classes took 99 % of the \
                  time\n";
    assert!(text.starts_with(answer), "{text}");
    assert!(text.lines().count() <= SCREEN_LINES, "{text}");
    has(
        &text,
        &[
            "slow.log (MySQL slow log): 150 records, 121 KiB",
            "10:00:00 to 2026-11-30 10:01:00 UTC, 60.0 s; 0.667 running on average",
            "150 statements (2.50/s), 4 failed (2.7 %); mean 267 ms",
            "2 deadlocks",
            "2 lines could not be read; --show-bad lists them",
            "1. SELECT c FROM t1 WHERE id = ?",
            "1 further class with 30 statements: ",
            "of the time; --limit N shows more",
        ],
    );
    assert!(!text.contains("4. SELECT"), "{text}");
}

#[test]
fn what_makes_figures_wrong_comes_before_them() {
    let mut digest = digest();
    let doubt = "Behind byte 9, once unpacked, it is damaged or cut short (corrupt): the rest.";
    digest.inputs[0].doubts = vec![doubt.to_owned()];
    digest.notes = vec!["Outside of the time: 1,205 records.".to_owned()];
    let text = text(&digest, options());
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
    assert!(at("slow.log: Behind byte 9") < at("slow.log (MySQL slow log): 150 records"), "{text}");
    assert!(text.contains("Outside of the time") && !text.contains("slow.log: Outside"), "{text}");
    digest.inputs[0].is_misread = true;
    let document = log_document(&digest, options());
    for form in [document.html(), document.markdown()] {
        assert!(form.contains("not one line has the form of this format"), "{form}");
    }
}

#[test]
fn details_have_all_that_a_class_has() {
    let text = text(&digest(), LogReportOptions { details: true, show_bad: true, ..options() });
    has(
        &text,
        &[
            "slow.log (MySQL slow log, by its first lines): 150 records, 121 KiB",
            "slow.log at byte 99: 2 lines not of this format",
            "A198F8E935CF3B8EA2DFEBE0F4E9C251 (Percona)",
            "30 statements, 4 failed (13 %): 1213 (4)",
            "mean 1.00 s, min 100 ms, p50 500 ms, p90 2.00 s, p95 3.00 s, p99 4.00 s",
            "20 around 1.00 ms and 10 around 3.00 s; what differs most, faster first: rows_exam",
            "25 in 2 streaks (ten or more in a row by one session), the longest 14; 3 identical",
            "slow.log at byte 4711, 6.00 s, ended 2026-11-30 10:00:30: SELECT c FROM t1",
            "shop (30)",
            "orders (30)",
            "10.0.0.7 (30)",
            "4711 (30)",
            "20.0 s  67 %",
            "What ran beside its slowest ones",
        ],
    );
}

#[test]
fn a_log_without_durations_goes_by_counts() {
    let bare = |class: DigestClass| DigestClass { times: None, ..class };
    let whole = digest();
    let mut digest = LogDigest {
        total: bare(whole.total.clone()),
        classes: whole.classes.iter().cloned().map(bare).collect(),
        first_us: None,
        last_us: None,
        ..whole
    };
    digest.classes[0].figures.insert("bytes_sent".to_owned(), figure(1536.0, 30));
    for order in [ClassOrder::Count, ClassOrder::Total, ClassOrder::P99] {
        let text = text(&digest, LogReportOptions { order, ..options() });
        assert!(text.starts_with("4 classes of 150 statements; three classes have "), "{text}");
        has(&text, &["the log has no times", "1. INSERT INTO log", "Classes by count", "1.50 KiB"]);
        assert!(!text.contains("p99"), "{text}");
    }
}

#[test]
fn failures_are_named_by_their_codes_on_the_first_screen() {
    let named = |name: &str, count| NamedCount { name: name.to_owned(), count };
    let mut digest = digest();
    digest.total.error_codes = vec![named("404", 3), named("500", 1)];
    has(&text(&digest, options()), &["4 failed (2.7 %): 404 (3), 500 (1); mean 267 ms"]);
}

#[test]
fn what_time_alone_links_with_a_request_is_called_so() {
    let all = LogReportOptions { details: true, ..options() };
    let mut digest = digest();
    has(&text(&digest, all), &["Statements of its slowest ones, by their session"]);
    digest.classes[0].statements[0].is_by_time_alone = true;
    has(&text(&digest, all), &["Statements at the time of its slowest ones, of any session"]);
}

#[test]
fn a_sample_without_a_text_is_a_place_alone() {
    let mut digest = digest();
    let worst = digest.classes[0].worst.as_mut().expect("a sample");
    worst.text.clear();
    let text = text(&digest, LogReportOptions { details: true, ..options() });
    assert!(text.contains("ended 2026-11-30 10:00:30\n"), "{text}");
}

#[test]
fn where_waits_for_row_locks_are_is_named() {
    let mut digest = digest();
    let all = LogReportOptions { details: true, ..options() };
    digest.total.figures.insert("lock_time".to_owned(), figure(20e6, 30));
    has(&text(&digest, all), &["the part lock is Lock_time of the log"]);
    digest.total.figures.insert("innodb_rec_lock_wait".to_owned(), figure(5e6, 30));
    assert!(!text(&digest, all).contains("Lock_time"));
}

#[test]
fn samples_of_a_log_are_called_estimates() {
    let sampled = LogDigest { assumed_weight: 10.0, ..digest() };
    has(&text(&sampled, options()), &["each record stands for 10, by --sample-rate"]);
    let whole = digest();
    let total = DigestClass { logged: 15, ..whole.total.clone() };
    let by_server = LogDigest { total, ..whole };
    has(&text(&by_server, options()), &["sampled by the server: 15 records stand for 150"]);
}

#[test]
fn a_page_has_charts_and_no_foreign_markup() {
    let mut hostile = digest();
    for class in &mut hostile.classes {
        class.text = "<script>alert(1)</script>\u{1b}[2J\u{202e}".to_owned();
    }
    hostile.inputs[0].path = "<b>\u{7}.log".to_owned();
    hostile.inputs[0].notes = vec!["<i>note</i>".to_owned()];
    hostile.classes[0].users = vec![NamedCount { name: "<u>\n".to_owned(), count: u64::MAX }];
    let all = LogReportOptions { details: true, show_bad: true, ..options() };
    let document = log_document(&hostile, all);
    let page = document.html();
    assert!(page.contains("Running at once") && page.contains("Ended per second"), "{page}");
    for tag in ["<script>alert", "<b>", "<i>note", "<u>"] {
        assert!(!page.contains(tag), "{tag} in {page}");
    }
    for form in [page, document.markdown(), document.text(PageStyle::default())] {
        assert!(!form.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{form}");
    }
}

#[test]
fn logs_of_postgresql_are_not_added_up_without_a_note() {
    let mut digest = digest();
    let format = "%m ".to_owned();
    let of = |kind| DigestInput { kind, format: format.clone(), unread: Vec::new(), ..input() };
    digest.inputs = vec![of(InputKind::Postgres), of(InputKind::PostgresCsv)];
    let seen = text(&digest, options());
    has(&seen, &["files in 2 formats of PostgreSQL's log: a server", "has neither %p nor %c: "]);
    digest.inputs.pop();
    assert!(!text(&digest, options()).contains("formats of PostgreSQL"));
    digest.assumed_weight = 4.0;
    digest.classes[0].figures.insert("bind_time".to_owned(), figure(10.0, 5));
    let all = LogReportOptions { details: true, ..options() };
    has(&text(&digest, all), &["steps one by one: more", "the estimate of their number is too"]);
}

#[test]
fn figures_that_are_none_do_not_spoil_a_report() {
    for odd in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
        let mut digest = digest();
        digest.total.times = Some(times(odd, 1));
        digest.classes[0].times = Some(times(odd, 0));
        digest.classes[0].parts_us.insert("lock".to_owned(), odd);
        digest.classes[0].figures.insert("rows_sent".to_owned(), figure(odd, 0));
        digest.timeline.bins[0].busy_us = odd;
        digest.first_us = Some(i64::MAX);
        digest.last_us = Some(i64::MIN);
        let all = LogReportOptions { details: true, ..options() };
        let document = log_document(&digest, all);
        let _ = document.text(PageStyle::default());
        assert!(!document.html().contains("NaN"), "{odd}");
    }
}

#[test]
fn a_digest_without_records_has_the_reason_and_no_tables() {
    let left_out = LogDigest { total: DigestClass::default(), classes: Vec::new(), ..digest() };
    let of_records = text(&left_out, options());
    assert!(of_records.starts_with("None of "), "{of_records}");
    has(&of_records, &["is in the time of --since and --until"]);
    let mut empty = left_out.clone();
    for input in &mut empty.inputs {
        (input.records, input.bytes, input.from) = (0, 0, 0);
        input.unread.clear();
    }
    let of_nothing = text(&empty, options());
    assert!(of_nothing.starts_with("No record was read\n"), "{of_nothing}");
    has(&of_nothing, &[": nothing to read"]);
    for absent in ["Classes", "no times", "MySQL", "--details"] {
        assert!(!of_nothing.contains(absent), "{absent}: {of_nothing}");
    }
}

#[test]
fn two_digests_are_compared_by_what_an_hour_takes() {
    let a = digest();
    let mut b = digest();
    b.classes.truncate(3);
    b.classes[1] = class("UPDATE stock SET n = n - ? WHERE id = ?", 80e6, 40);
    b.classes.push(DigestClass { kind: ClassKind::Command, ..class("Quit", 1e6, 5) });
    b.total.times = Some(times(112e6, 125));
    let compared = DigestComparison::of([("old.json", &a), ("new.json", &b)]);
    let text = digests_document(&compared).text(PageStyle::default());
    let answer = "From 2400 s to 6720 s of time per hour (+180 %); 5 classes, ";
    assert!(text.starts_with(answer), "{text}");
    has(
        &text,
        &[
            "old.json: 150 records in 4 classes, 40.0 s, over 60.0 s",
            "1. UPDATE stock",
            "+4320 s",
            "new",
            "gone",
            "Intervals (95 %) take the records of a class as independent",
        ],
    );
    let first = &compared.classes[0];
    assert!(first.is_mean_changed(), "{first:?}");
    assert!((first.mean_factor.expect("known") - 10.0).abs() < 1e-9, "{first:?}");
    let [low, high] = first.count_factor_interval.expect("known");
    assert!(low < 1.0 && high > 1.0, "as many as before: {first:?}");
    let same = DigestComparison::of([("a", &a), ("a", &a)]);
    assert!(same.classes.iter().all(|class| class.change == 0.0 && !class.is_mean_changed()));
}
