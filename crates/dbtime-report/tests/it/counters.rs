//! The report of two samples of counters: golden, never wider than the terminal, and safe whatever
//! a database calls its counters.

use dbtime_model::Product;
use dbtime_model::counters::{
    CounterDelta, CounterKind, CounterNote, CounterReport, CounterSource, CounterValue,
    IntervalSource,
};
use dbtime_report::reports::{CounterOptions, counter_document};
use dbtime_report::terminal::{self, PageStyle};
use unicode_width::UnicodeWidthStr;

fn delta(group: &str, name: &str, kind: CounterKind, before: &str, after: &str) -> CounterDelta {
    let [before, after] = [before, after].map(CounterValue::parse);
    let difference = after.minus(&before);
    let rate = |of: f64| {
        let counts = kind == CounterKind::Counter;
        difference.as_ref().filter(|_| counts)?.as_f64().map(|difference| difference / of)
    };
    let (per_second, per_transaction) = (rate(10.002), rate(100.0));
    let (group, name) = (group.to_owned(), name.to_owned());
    let (before, after) = (Some(before), Some(after));
    let note = None;
    CounterDelta { group, name, kind, before, after, difference, per_second, per_transaction, note }
}

fn noted(note: CounterNote) -> CounterDelta {
    let mut delta = delta("Server", &format!("{note:?}"), CounterKind::Counter, "500", "700");
    if note != CounterNote::Wrapped {
        (delta.per_second, delta.per_transaction) = (None, None);
    }
    match note {
        CounterNote::Reset => delta.difference.clone_from(&delta.after),
        CounterNote::Wrapped => {}
        CounterNote::Appeared => (delta.before, delta.difference) = (None, None),
        CounterNote::Gone => (delta.after, delta.difference) = (None, None),
    }
    CounterDelta { note: Some(note), ..delta }
}

fn report() -> CounterReport {
    use CounterKind::{Counter, Gauge, Text};
    CounterReport {
        schema: 1,
        dbtime: "0.1.0".to_owned(),
        source: CounterSource {
            product: Product::Mariadb,
            version: Some("10.11.19-MariaDB".to_owned()),
            url: Some("mysql://bench@127.0.0.1:13377".to_owned()),
        },
        from: Some("2026-11-20T10:00:00.123456Z".to_owned()),
        to: Some("2026-11-20T10:00:10.125456Z".to_owned()),
        interval_s: Some(10.002),
        interval_from: Some(IntervalSource::Clock),
        transactions: Some(100),
        transactions_from: Some("Com_commit".to_owned()),
        notes: Vec::new(),
        left_out: 498,
        counters: vec![
            delta("Com", "Com_commit", Counter, "0", "100"),
            delta("Com", "Com_select", Counter, "2", "503"),
            delta("Handler", "Handler_read_rnd_next", Counter, "581", "417751"),
            delta("Innodb", "Innodb_lsn_current", Counter, "0", "18446744073709551615"),
            delta("Server", "Query_time", Counter, "0.064348", "1.218317"),
            delta("Server", "Threads_running", Gauge, "9", "1"),
            delta("Server", "Innodb_mem_total", Gauge, "0.25", "1000000.5"),
            delta(
                "Server",
                "Max_used_connections_time",
                Text,
                "2026-11-20 10:00",
                "2026-11-20 11:00",
            ),
        ],
    }
}

fn with_notes() -> CounterReport {
    let notes =
        [CounterNote::Reset, CounterNote::Wrapped, CounterNote::Appeared, CounterNote::Gone];
    CounterReport {
        source: CounterSource { product: Product::Postgres, version: None, url: None },
        from: None,
        to: None,
        interval_s: None,
        interval_from: None,
        transactions: None,
        transactions_from: None,
        notes: vec!["the server was restarted between the samples, ".repeat(4), "and so on".into()],
        left_out: 1,
        counters: notes.into_iter().map(noted).collect(),
        ..report()
    }
}

fn hostile() -> CounterReport {
    let bad = "\u{1b}[2J</script>\u{202e}\n".repeat(12);
    let mut report = report();
    report.source.version = Some(bad.clone());
    report.source.url = Some(bad.clone());
    (report.from, report.transactions_from) = (Some(bad.clone()), Some(bad.clone()));
    report.notes = vec![bad.clone()];
    for delta in &mut report.counters {
        (delta.group, delta.name) = (bad.clone(), bad.clone());
        (delta.per_second, delta.per_transaction) = (Some(1e300), Some(1e-300));
        if delta.kind == CounterKind::Text {
            delta.after = Some(CounterValue::Text(bad.clone()));
        }
    }
    report
}

fn text(report: &CounterReport, per_transaction: bool) -> String {
    counter_document(report, CounterOptions { per_transaction }).text(PageStyle::default())
}

#[test]
fn reports_are_golden() {
    insta::assert_snapshot!("per-transaction", text(&report(), true));
    insta::assert_snapshot!("without-transactions", text(&report(), false));
    insta::assert_snapshot!("notes", text(&with_notes(), true));
    let idle = CounterReport { counters: Vec::new(), left_out: 563, ..report() };
    insta::assert_snapshot!("idle", text(&idle, false));
}

#[test]
fn no_text_of_a_database_leaves_its_line() {
    for report in [report(), with_notes(), hostile()] {
        for per_transaction in [false, true] {
            let text = text(&report, per_transaction);
            for line in text.lines() {
                assert!(line.width() <= terminal::COLUMNS, "{} columns: {line}", line.width());
                assert_eq!(line, line.trim_end());
            }
            assert!(text.ends_with('\n') && !text.contains(|c: char| c.is_control() && c != '\n'));
        }
    }
}

#[test]
fn colour_is_only_where_it_is_wanted() {
    let style = PageStyle { color: true, ..PageStyle::default() };
    let document = counter_document(&report(), CounterOptions { per_transaction: true });
    assert!(document.text(style).contains("\u{1b}[1mCounters"));
    assert!(!text(&report(), true).contains('\u{1b}'));
}

#[test]
fn the_page_and_markdown_have_every_counter_and_no_markup_of_a_database() {
    let document = counter_document(&report(), CounterOptions { per_transaction: true });
    let (page, markdown) = (document.html(), document.markdown());
    for name in ["Com_select", "Threads_running", "Max_used_connections_time"] {
        assert!(page.contains(name), "{page}");
        assert!(markdown.contains(&format!("| {} |", name.replace('_', "\\_"))), "{markdown}");
    }
    assert!(markdown.contains("\n### Gauges\n") && page.contains("<h2>Gauges</h2>"));
    assert!(!page.contains("<script"));
    let hostile = counter_document(&hostile(), CounterOptions::default());
    assert!(!hostile.html().contains("</script>") && !hostile.markdown().contains('<'));
}
