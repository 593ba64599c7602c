//! Reports of digests that were typed by hand.

use super::*;
use dbtime_model::log_digest::{
    ClassGrouping, ClassKind, ClassSample, DigestInput, DigestTimeline, FigureSummary,
    FineHistogram, InputKind, NamedCount, PerconaStatistics, SCHEMA, TimeMeaning,
};

/// Durations of 3 s in all, mean 1 s, of which two took 500 ms and one 2 s.
fn times() -> DigestTimes {
    let mut histogram = FineHistogram::default();
    histogram.add(500_000_000, 2);
    histogram.add(2_000_000_000, 1);
    DigestTimes {
        total_us: 3e6,
        mean_us: 1e6,
        min_us: 5e5,
        p50_us: 5e5,
        p90_us: 2e6,
        p95_us: 2e6,
        p99_us: 2e6,
        p999_us: 2e6,
        max_us: 2e6,
        squares_us2: 4.5e12,
        histogram,
        percona: Some(PerconaStatistics { median: 4.9e5, p95: 1.96e6, stddev: 7e5 }),
    }
}

fn class() -> DigestClass {
    let rows = FigureSummary {
        logged: 3,
        total: 30_000.0,
        min: 0.0,
        max: 30_000.0,
        p50: 0.0,
        p95: 30_000.0,
        percona: None,
    };
    let scans = FigureSummary { total: 1.0, max: 1.0, ..rows.clone() };
    let named = |name: &str, count| NamedCount { name: name.into(), count };
    DigestClass {
        id: "0EE92DF8B341A2AAAF1606D0AA96CBCD".into(),
        text: "select c from t where id=?".into(),
        count: 3,
        logged: 3,
        times: Some(times()),
        figures: [("rows_examined", rows), ("full_scan", scans)].into(),
        first_us: Some(1_600_000_000_000_000),
        last_us: Some(1_600_000_006_000_000),
        databases: vec![named("test", 2), named("other", 1)],
        users: vec![named("root\u{1b}[2J", 3)],
        ..DigestClass::default()
    }
}

fn digest(classes: Vec<DigestClass>) -> LogDigest {
    let input = DigestInput {
        path: "slow.log".into(),
        kind: InputKind::Slow,
        format: String::new(),
        because: "by its first lines".into(),
        time_meaning: TimeMeaning::End,
        is_local_time: false,
        bytes: 1000,
        from: 0,
        records: 3,
        unread: Vec::new(),
        is_misread: false,
        doubts: Vec::new(),
        notes: Vec::new(),
    };
    LogDigest {
        schema: SCHEMA,
        dbtime: "0.1.0".into(),
        command: "dbtime log slow.log".into(),
        inputs: vec![input],
        grouping: ClassGrouping::Percona,
        basis: "each statement's duration as the server logged it".into(),
        assumed_weight: 1.0,
        first_us: Some(1_600_000_000_000_000),
        last_us: Some(1_600_000_006_000_000),
        total: DigestClass { kind: ClassKind::Mixed, text: String::new(), ..class() },
        classes,
        others: None,
        other_classes: 0,
        timeline: DigestTimeline::default(),
        events: Vec::new(),
        notes: Vec::new(),
    }
}

/// Whether a report has these pieces, in this order.
fn has_lines(report: &str, lines: &[&str]) {
    let found = lines.iter().try_fold(report, |rest, line| {
        let at = rest.find(line)?;
        Some(&rest[at + line.len()..])
    });
    assert!(found.is_some(), "{report}");
}

#[test]
fn header_profile_and_section_have_the_figures_of_percona() {
    let report = percona_report(&digest(vec![class()]), 10);
    has_lines(
        &report,
        &[
            "# Files: slow.log\n# Overall: 3 total, 1 unique, 0.50 QPS, 0.50x concurrency\n",
            "# Time range: 2020-09-13T12:26:40 to 2020-09-13T12:26:46\n",
            "# Attribute          total     min     max     avg     95%  stddev  median\n",
            "# Exec time          3.00s   500ms   2.00s   1.00s   1.96s   700ms   490ms\n",
            "# Rows examine      29.30k       0  29.30k   9.77k  29.30k       –       0\n",
            "# Profile\n# Rank Query ID",
            "#    1 0x0EE92DF8B341A2AAAF1606D0AA96CBCD       3.0000 100.0%       3    1.0000  0.49 \
             SELECT t\n",
            "# Query 1: 0.50 QPS, 0.50x concurrency, ID 0x0EE92DF8B341A2AAAF1606D0AA96CBCD\n",
            "# Scores: V/M = 0.49\n",
            "# Count        100       3\n# Exec time    100   3.00s   500ms",
            "# Full scan     33% yes,  67% no\n",
            "# Databases    test (2/67%), other (1/33%)\n# Users        root\u{fffd}[2J\n",
        ],
    );
    assert!(report.ends_with("\nselect c from t where id=?\n"), "{report}");
}

#[test]
fn durations_are_bars_by_powers_of_ten() {
    let report = percona_report(&digest(vec![class()]), 10);
    let bars = format!("# 100ms  {}\n#    1s  {}\n#  10s+\n", "#".repeat(64), "#".repeat(32));
    has_lines(&report, &["# Query_time distribution\n#   1us\n#  10us\n", &bars]);
}

#[test]
fn classes_beyond_the_limit_are_one_line() {
    let mut digest = digest(vec![class(), class(), class()]);
    digest.others = Some(class());
    digest.other_classes = 7;
    digest.total.times = Some(DigestTimes { total_us: 12e6, ..times() });
    let report = percona_report(&digest, 1);
    has_lines(&report, &["# MISC 0xMISC", " 9.0000  75.0%       9    1.0000     – <9 ITEMS>\n"]);
    assert!(report.contains("# Query 1:") && !report.contains("# Query 2:"), "{report}");
}

#[test]
fn a_sample_with_text_takes_the_place_of_the_class() {
    let worst = ClassSample {
        text: "select c from t where id=7".into(),
        end_us: None,
        duration_us: None,
        input: 0,
        offset: 4096,
        figures: Default::default(),
    };
    let class = DigestClass { worst: Some(Box::new(worst)), ..class() };
    let report = percona_report(&digest(vec![class]), 10);
    has_lines(&report, &["CBCD at byte 4096\n", "\nselect c from t where id=7\n"]);
}

#[test]
fn a_log_without_durations_is_named_so() {
    let plain = || DigestClass { times: None, figures: Default::default(), ..class() };
    let mut digest = digest(vec![plain()]);
    digest.total = plain();
    let report = percona_report(&digest, 10);
    has_lines(&report, &["# The log has no durations", " –       3         –     – SELECT t\n"]);
    assert!(!report.contains("distribution") && !report.contains("Exec time"), "{report}");
}

#[test]
fn what_makes_figures_doubtful_is_named() {
    let mut digest = digest(vec![class()]);
    digest.inputs[0].doubts = vec!["Behind byte 9 it is damaged.\u{1b}".to_owned()];
    digest.notes = vec!["Left out: 3 records.".to_owned()];
    let report = percona_report(&digest, 10);
    let lines = "# Warning: slow.log: Behind byte 9 it is damaged.\u{fffd}\n# Note: Left out: 3 \
                 records.\n";
    has_lines(&report, &["# Time range: ", lines, "# Attribute "]);
}

#[test]
fn weights_are_named() {
    let mut digest = digest(vec![class()]);
    digest.total.count = 30;
    assert!(percona_report(&digest, 0).contains("estimated from 3 that were logged"));
    digest.assumed_weight = 10.0;
    assert!(percona_report(&digest, 0).contains("a record stands for 10, as was given"));
}
