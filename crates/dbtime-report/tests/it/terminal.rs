//! The terminal report of every hand-made run: golden, never wider than the terminal, and the
//! facts that must not be missing.

use crate::fixtures;
use dbtime_model::record::{
    AutoRate, CountsInfo, FactorValue, LatencySet, Run, ServerInfo, Validity, Warning, WarningKind,
};
use dbtime_model::spec::RunSpec;
use dbtime_model::study::{FoundRate, RecordedStudy, RunOrder, TrialOutcome};
use dbtime_report::compare::{self, RunComparison, StudyComparison, SweepComparison};
use dbtime_report::terminal::{Charset, PageStyle};
use dbtime_report::{SweepRow, TerminalOptions, html, terminal};
use unicode_width::UnicodeWidthStr;

fn plain(run: &Run) -> String {
    terminal::run_report(run, &TerminalOptions::default())
}

/// Two runs side by side as text of a hundred columns.
fn side_by_side(a: &Run, b: &Run) -> String {
    let compared = RunComparison::of([("a", &a.record), ("b", &b.record)]);
    compare::runs_document(&compared).text(PageStyle::default())
}

fn assert_fits(name: &str, text: &str) {
    fits_in(name, text, terminal::COLUMNS);
}

/// No line is wider, but for those of a command, whose words are never broken.
pub(crate) fn fits_in(name: &str, text: &str, columns: usize) {
    let text_of_report = text.split("\nRepeat it\n").next().expect("a first part");
    for line in text_of_report.lines() {
        assert!(line.width() <= columns, "{name}: {} columns: {line}", line.width());
        assert_eq!(line, line.trim_end(), "{name}: blanks at the end of a line");
    }
    assert!(
        text.ends_with('\n') && !text.contains("NaN") && !text.contains("inf"),
        "{name}:\n{text}"
    );
}

#[test]
fn reports_are_golden() {
    for (name, run) in fixtures::all() {
        let options = TerminalOptions { histogram: true, ..TerminalOptions::default() };
        insta::assert_snapshot!(format!("run-{name}"), terminal::run_report(&run, &options));
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, run) in fixtures::all() {
        let options =
            TerminalOptions { histogram: true, threads: true, ..TerminalOptions::default() };
        assert_fits(name, &terminal::run_report(&run, &options));
        for (other, b) in fixtures::all() {
            assert_fits(&format!("{name} | {other}"), &side_by_side(&run, &b));
        }
    }
}

#[test]
fn beside_another_tools_report_the_throughput_says_what_it_is_over() {
    let other_basis = Some("tps: over the run, to its last answer");
    let with = TerminalOptions { other_basis, ..TerminalOptions::default() };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut run = fixtures::closed();
    run.record.window.measure_s = 4.0;
    let span = ", over the window of 4 s; tps: over the run, to its last answer";
    assert!(words(&terminal::run_report(&run, &with)).contains(span));
    assert!(!words(&plain(&run)).contains("over the window of"));
}

#[test]
fn threads_of_the_server_are_shown_on_request() {
    let with = TerminalOptions { threads: true, ..TerminalOptions::default() };
    let shown = terminal::run_report(&fixtures::closed(), &with);
    let line = shown.lines().find(|line| line.trim_start().starts_with("one_connection"));
    let line = line.expect("a row");
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words, ["one_connection", "16", "380", "µs", "159", "%"]);
    assert!(!shown.contains('\u{1b}'), "a thread's name came through as it is");
    let heading = "by name of thread";
    assert!(shown.contains(heading) && !plain(&fixtures::closed()).contains(heading));
    // A run whose server could not be seen by its threads.
    assert!(!terminal::run_report(&fixtures::open(), &with).contains(heading));
}

#[test]
fn colour_changes_nothing_but_colour() {
    for (name, run) in fixtures::all() {
        let colored = terminal::run_report(
            &run,
            &TerminalOptions {
                style: PageStyle { color: true, ..PageStyle::default() },
                ..TerminalOptions::default()
            },
        );
        let mut stripped = String::new();
        let mut rest = colored.as_str();
        while let Some(at) = rest.find('\u{1b}') {
            stripped.push_str(&rest[..at]);
            let end = rest[at..].find('m').expect("every escape ends in m");
            rest = &rest[at + end + 1..];
        }
        stripped.push_str(rest);
        assert_eq!(stripped, plain(&run), "{name}");
        assert!(!plain(&run).contains('\u{1b}'), "{name}: an escape of the record came through");
    }
}

#[test]
fn the_answer_comes_first() {
    let text = plain(&fixtures::open());
    let top: Vec<_> = text.lines().take(14).collect();
    let top = top.join("\n");
    for expected in [
        "atm",
        "sqlite",
        "8,226/s",
        "p50 1.00 ms",
        "p99 5.43 ms",
        "slowest",
        // The mean and the slowest, each with its share; then what it is.
        "sync       614 µs   60 %  1.61 ms   17 %  blocked in fsync",
        "lock       127 µs   12 %  6.36 ms   67 %  waiting for a lock",
    ] {
        assert!(top.contains(expected), "no {expected} in\n{top}");
    }
}

#[test]
fn invalid_runs_say_so_at_the_top() {
    let text = plain(&fixtures::client_limited());
    let at = text.find("NOT VALID").expect("said at all");
    assert!(at < text.find("Where the time goes\n").expect("a budget"));
    assert!(text[at..].contains("client-limited"));
    assert!(!plain(&fixtures::open()).contains("NOT VALID"));
}

#[test]
fn that_no_part_was_measured_is_told_once() {
    for (name, run) in fixtures::all() {
        let text = plain(&run);
        let is_measured = run.record.budget_us.is_some();
        assert_eq!(text.contains("\nWhere the time goes\n"), is_measured, "{name}: {text}");
        let times = text.matches("not measured (run without --no-budget").count();
        assert_eq!(times, usize::from(!is_measured), "{name}: {text}");
    }
}

#[test]
fn unmeasured_parts_are_named_and_never_zero() {
    let text = plain(&fixtures::open());
    assert!(text.contains("not measured: wire, server_queue, throttled, stopped, net, sleep"));
    assert!(!text.contains("\n  wire "), "{text}");
    assert!(text.contains("\n  unexplained "));
    assert!(text.contains("parts measured on 1 of 16 transactions (15,423 of 246,780"));
}

#[test]
fn a_closed_loop_says_what_it_measures_from() {
    let text = plain(&fixtures::closed());
    assert!(text.contains("closed loop: measured from the instant the client was ready"));
    assert!(text.contains("server_and_wire"));
    assert!(text.contains("unexplained") && text.contains("−1.50 µs"));
}

#[test]
fn limits_show_required_beside_measured() {
    let text = plain(&fixtures::failed_limits());
    assert!(text.contains("FAILED (2 of 3 limits)"));
    let row = |name: &str| {
        text.lines().find(|line| line.trim_start().starts_with(name) && line.contains("ED"))
    };
    assert!(row("withdraw").expect("a row").contains("1.00 ms  FAILED"));
    assert!(row("balance").expect("a row").contains("PASSED"));
    assert!(text.contains("<= 0.1 %") && text.contains("2.5 %"));
}

/// The sentence on a server that used so much CPU in ten seconds.
fn server_sentence(cpu_s: f64, cpus: u32, connections: u32, workers: Option<u32>) -> String {
    let mut run = fixtures::closed();
    (run.record.load.connections, run.record.load.workers) = (connections, workers);
    let server = run.record.server.as_mut().expect("a server");
    (server.cpu_s, server.wall_s, server.cpus, server.run_delay_s) = (cpu_s, 10.0, cpus, None);
    let text = plain(&run);
    let from = text.find("  server        used").expect("a sentence");
    let sentence = text[from..].split("\n  server CPU").next().expect("a first part");
    sentence.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_server_is_judged_by_the_cpus_that_its_connections_can_keep_busy() {
    for (cpu_s, cpus, connections, workers, ending) in [
        (
            9.7,
            2,
            1,
            None,
            "on 2 CPUs (97 % of the 1 CPU that 1 connection can keep busy): CPU-bound",
        ),
        (
            6.0,
            2,
            1,
            None,
            "(60 % of the 1 CPU that 1 connection can keep busy): busy, not CPU-bound",
        ),
        (1.0, 2, 1, None, "(10 % of the 1 CPU that 1 connection can keep busy): not CPU-bound"),
        (28.0, 8, 3, None, "(93 % of the 3 CPUs that 3 connections can keep busy): CPU-bound"),
        // Many clients that take turns on few connections.
        (19.0, 4, 64, Some(2), "(95 % of the 2 CPUs that 2 connections can keep busy): CPU-bound"),
        (9.7, 2, 2, None, "on 2 CPUs (48 %): not CPU-bound"),
        (9.7, 1, 1, None, "on 1 CPU (97 %): CPU-bound"),
        // One statement on several workers.
        (19.0, 4, 1, None, "on 4 CPUs (48 %): not CPU-bound"),
        (9.7, 2, 0, None, "on 2 CPUs (48 %): not CPU-bound"),
    ] {
        let found = server_sentence(cpu_s, cpus, connections, workers);
        assert!(found.ends_with(ending), "{found}");
    }
}

#[test]
fn what_nothing_was_completed_for_costs_nothing_each() {
    let mut run = fixtures::closed();
    run.record.client.cpu_us_per_tx = None;
    run.record.round_trips_per_tx = None;
    run.record.server.as_mut().expect("a server").cpu_us_per_tx = None;
    let text = plain(&run);
    for expected in ["round trips   – per", "client CPU    – per", "server CPU    – per"] {
        assert!(text.contains(expected), "no `{expected}` in {text}");
    }
    let compared = side_by_side(&run, &fixtures::closed());
    let row = |name| compared.lines().find(|line| line.contains(name)).expect("a row");
    for name in ["client CPU per", "server CPU per", "round trips per"] {
        assert_eq!(row(name).matches('–').count(), 3, "{}", row(name));
    }
}

#[test]
fn counts_state_their_identity() {
    let text = plain(&fixtures::open());
    assert!(
        text.contains("offered 246,780 = completed 246,765 + failed 3 + dropped 0 + unfinished 12")
    );
    assert!(plain(&fixtures::huge()).contains("the counts do not add up"));
}

#[test]
fn the_layer_table_has_the_columns_of_the_talk() {
    let text = plain(&fixtures::open());
    let heading =
        text.lines().find(|line| line.trim_start().starts_with("Layer ")).expect("a table");
    let columns: Vec<_> = heading.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
    let expected =
        ["Layer", "Time (sec)", "# of Recs", "# of Ops", "Time per op (nsec)", "Relative"];
    assert_eq!(columns, expected);
}

#[test]
fn what_never_ended_has_no_service_queue_or_lag() {
    let mut run = fixtures::open();
    let counts = &mut run.record.counts;
    (counts.completed, counts.failed, counts.unfinished) = (0, 0, counts.offered);
    let latencies = &mut run.record.latency_us;
    let LatencySet { response, without_lag, connect, .. } = *latencies;
    *latencies = LatencySet { response, without_lag, connect, ..LatencySet::default() };
    let text = plain(&run);
    let row = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("no {name}: {text}"))
    };
    for name in ["service   sent until", "queue     due until", "lag       ready until"] {
        assert_eq!(row(name).matches('–').count(), 7, "{text}");
    }
    assert!(!row("response  what a client waits").contains('–'), "{text}");
    assert!(text.contains("service, queue and lag: none, as no transaction ended"), "{text}");
}

#[test]
fn what_a_record_lacks_is_unknown_and_no_zero() {
    let mut run = fixtures::open();
    run.record.latency_us = LatencySet::default();
    assert!(plain(&run).contains("p50 –, p99 –, max –"), "{}", plain(&run));
    let mut run = fixtures::open();
    run.record.counts = CountsInfo::default();
    let text = plain(&run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("; the record has no counts"), "{text}");
    assert!(!text.contains("0/s: no transaction completed"), "{text}");
}

#[test]
fn the_sweep_table_is_the_classic_one_and_more() {
    let row = |arrivals: &str, rate: Option<f64>, workers: u32, latency_s: f64, tps: f64| {
        let mut record = fixtures::open().record;
        record.load.arrivals = arrivals.to_owned().into();
        record.load.rate_tps = rate;
        record.load.workers = Some(workers);
        record.counts.completed = 80;
        (record.counts.failed, record.counts.unfinished) = (0, 0);
        record.latency_us.response.mean = latency_s * 1e6;
        record.latency_us.queue.mean = (latency_s - 1.9).max(0.0) * 1e6;
        record.latency_us.service.mean = 1.9e6;
        record.throughput_tps = tps;
        SweepRow::from_record(&record)
    };
    let rows = [
        row("at-once", None, 40, 32.15, 1.70).with_factor("workers", "40"),
        row("at-once", None, 4, 22.0, 1.89).with_factor("workers", "4"),
        row("steady", Some(10.0), 4, 18.51, 1.88),
        row("steady", Some(2.0), 4, 0.9, 1.97),
    ];
    insta::assert_snapshot!("sweep", terminal::sweep_table(&rows, PageStyle::default()));
    assert_fits("plain sweep", &terminal::sweep_table(&rows, PageStyle::default()));
    let mut varied = rows.clone().map(|row| row.with_factor("synchronous", "normal"));
    varied[3] = varied[3].clone().with_factor("cache", "64 MB");
    (varied[1].valid, varied[1].lost) = (false, 3);
    insta::assert_snapshot!("sweep-factors", terminal::sweep_table(&varied, PageStyle::default()));
    assert_fits("sweep", &terminal::sweep_table(&varied, PageStyle::default()));
    let targets = ["off&journal_mode=wal", "full&journal_mode=delete"].map(|settings| {
        rows[2].clone().with_factor("target", &format!("sqlite:?synchronous={settings}"))
    });
    let text = terminal::sweep_table(&targets, PageStyle::default());
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("sqlite:?")).collect();
    assert!(rows.len() == 2 && rows[0] != rows[1], "the rows are alike: {text}");
    let extreme: Vec<_> =
        fixtures::all().iter().map(|(_, run)| SweepRow::from_record(&run.record)).collect();
    assert_fits("sweep of all", &terminal::sweep_table(&extreme, PageStyle::default()));
    assert_fits("no sweep", &terminal::sweep_table(&[], PageStyle::default()));
}

#[test]
fn the_sweep_table_of_a_server_is_that_of_the_schedulers_and_more() {
    let row = |connections: u32, tps: f64, usr: f64, sys: f64, mean_ms: f64, p95_ms: f64| {
        let mut record = fixtures::open().record;
        let auto =
            AutoRate { flat_out_tps: 2400.0, measured_s: 3.0, share_pct: 50.0, concurrency: 64 };
        record.load.auto = Some(auto);
        record.load.rate_tps = Some(1200.0);
        (record.load.connections, record.load.workers) = (connections, None);
        (record.counts.failed, record.counts.unfinished) = (0, 0);
        record.throughput_tps = tps;
        let server = ServerInfo { usr_pct: usr, sys_pct: sys, ..ServerInfo::default() };
        record.server = Some(server);
        record.latency_us.response.mean = mean_ms * 1e3;
        record.latency_us.response.p95 = p95_ms * 1e3;
        record.client.cpu_us_per_tx = Some(8.25);
        SweepRow::from_record(&record).with_factor("connections", &connections.to_string())
    };
    let rows = [
        row(1, 1200.0, 20.5, 8.125, 0.61, 1.25),
        row(64, 1200.4, 22.43, 9.88, 0.97, 2.5),
        row(2048, 962.22, 25.23, 14.93, 1943.78, 2368.78),
        row(2048, 1197.0, 30.59, 11.2, 317.98, 435.19),
    ];
    insta::assert_snapshot!("sweep-server", terminal::sweep_table(&rows, PageStyle::default()));
    let mut varied = rows.map(|row| row.with_factor("scale", "10"));
    for (index, row) in varied.iter_mut().enumerate() {
        let pool = if index < 2 { "one-thread-per-connection" } else { "pool-of-threads" };
        *row = row.clone().with_factor("server-set", &format!("thread_handling={pool}"));
    }
    (varied[1].valid, varied[1].lost, varied[2].server) = (false, 3, None);
    varied[3].arrivals = "closed loop".to_owned();
    insta::assert_snapshot!(
        "sweep-server-factors",
        terminal::sweep_table(&varied, PageStyle::default())
    );
    assert_fits("sweep of a server", &terminal::sweep_table(&varied, PageStyle::default()));
}

#[test]
fn two_runs_carry_no_verdict() {
    let text = side_by_side(&fixtures::open(), &fixtures::closed());
    insta::assert_snapshot!("compare", text);
    assert!(text.contains("No verdict"));
    let same = side_by_side(&fixtures::open(), &fixtures::open());
    assert!(same.contains("nothing that is recorded of target"), "{same}");
}

/// A sweep whose combinations have long names that begin alike.
fn sweep_of_connections() -> RecordedStudy {
    let run = |connections: u64| {
        let (name, value) = ("connections".to_owned(), connections.to_string());
        (vec![FactorValue { name, value }], fixtures::open().record)
    };
    fixtures::sweep::sweep(1, [1024, 1048].map(run).into())
}

/// The sentences below the table.
fn sentences(study: &RecordedStudy) -> String {
    terminal::sweep_text(study, PageStyle::default())
}

#[test]
fn a_sweep_names_what_there_is_less_of_than_was_planned() {
    let mut sweep = sweep_of_connections();
    assert!(!sentences(&sweep).contains("ended early"), "all were made");
    (sweep.history.runs[0].outcome, sweep.records[0]) = (Some(TrialOutcome::Invalid), None);
    let gone = "missing records: 001";
    assert!(sentences(&sweep).contains(gone), "{}", sentences(&sweep));
    (sweep.history.runs[0].outcome, sweep.history.runs[0].reason) =
        (Some(TrialOutcome::Failed), Some("no server".to_owned()));
    let failed = "FAILED: run 001 (connections=1024): no server";
    assert!(sentences(&sweep).contains(failed), "{}", sentences(&sweep));
    sweep.history.runs[0].outcome = None;
    let early = "ended early: 1 of 2 planned runs were made";
    assert!(sentences(&sweep).contains(early), "{}", sentences(&sweep));
}

/// The same as a search that has found this.
fn search(found: Option<FoundRate>) -> RecordedStudy {
    let mut search = sweep_of_connections();
    search.plan.order = RunOrder::Search;
    for run in &mut search.history.runs {
        let cell = &search.plan.cells[run.trial.cell as usize];
        run.trial.factors.clone_from(&cell.factors);
        (run.trial.cell, run.trial.block) = (0, run.trial.run as u32);
    }
    search.plan.cells.truncate(1);
    search.plan.cells[0].factors.clear();
    let limits = vec!["p99<=5ms".parse().expect("a limit")];
    search.plan.cells[0].spec = Some(RunSpec { limits, ..RunSpec::default() });
    search.history.finished = found.as_ref().map(FoundRate::reason);
    search.history.found = found;
    search
}

#[test]
fn a_search_says_what_it_has_found() {
    let text = sentences(&search(None));
    assert!(text.contains("not known, for the search was ended"), "{text}");
    assert!(text.contains("the search was ended early, after 2 runs"), "{text}");
    let found = FoundRate {
        limit: "p99<=5ms".to_owned(),
        rate_tps: Some(500.0),
        low_tps: Some(490.0),
        high_tps: Some(511.0),
        at_least_tps: None,
        above_tps: Some(525.0),
        confirmed: 8,
        flat_out_tps: 1000.0,
        unknown: None,
    };
    let older = FoundRate { low_tps: None, high_tps: None, ..found.clone() };
    let text = sentences(&search(Some(older)));
    assert!(text.contains("by 8 fresh runs; none missed it"), "{text}");
    let search = search(Some(found));
    let text = sentences(&search);
    assert!(text.contains("highest rate with p99<=5ms: 500/s"), "{text}");
    let interval = "by 8 fresh runs below and above it; 95 % CI 490 .. 511/s";
    assert!(text.contains(interval), "{text}");
    assert!(text.contains("a run at 525/s missed it") && !text.contains("ended early"), "{text}");
    assert!(text.contains("it is 50 % of that") && !text.contains("disturbed"), "{text}");
    // As a study it has the same answer, and no verdict.
    let document = compare::study_document(&StudyComparison::of(&search));
    let text = document.text(PageStyle::default());
    assert!(text.contains("highest rate with p99<=5ms: 500/s"), "{text}");
    assert!(!text.contains("No verdict") && text.contains("connections=1048"), "{text}");
}

#[test]
fn a_search_on_a_busy_machine_says_what_is_known_at_least() {
    let why = "this machine was too busy to tell: 6 runs near the rate do not count (steal)";
    let found = FoundRate {
        limit: "p99<=5ms".to_owned(),
        at_least_tps: Some(420.0),
        flat_out_tps: 1000.0,
        unknown: Some(why.to_owned()),
        ..FoundRate::default()
    };
    let text = sentences(&search(Some(found)));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = format!("highest rate with p99<=5ms: at least 420/s; {why}");
    assert!(text.contains(&answer) && !text.contains("confirmed"), "{text}");
}

#[test]
fn a_rate_above_flat_out_says_what_is_wrong_with_that() {
    let found = FoundRate {
        limit: "p99<=5ms".to_owned(),
        rate_tps: Some(1130.0),
        confirmed: 5,
        flat_out_tps: 1000.0,
        ..FoundRate::default()
    };
    let text = sentences(&search(Some(found)));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "it is 113 % of that: the flat-out run was disturbed or too short";
    assert!(text.contains(why), "{text}");
}

/// Everything that a report can show, in this style.
fn full(style: PageStyle) -> TerminalOptions {
    TerminalOptions { style, histogram: true, threads: true, ..TerminalOptions::default() }
}

#[test]
fn reports_follow_the_terminal_from_72_columns_on() {
    for columns in [72, 80, 120] {
        let style = PageStyle::default().within(columns);
        let options = full(style);
        for (name, run) in fixtures::all() {
            fits_in(
                &format!("{name} in {columns}"),
                &terminal::run_report(&run, &options),
                columns,
            );
            let compared =
                RunComparison::of([("a", &run.record), ("b", &fixtures::closed().record)]);
            fits_in(
                &format!("{name}, closed in {columns}"),
                &compare::runs_document(&compared).text(style),
                columns,
            );
        }
        let sweep = sweep_of_connections();
        let compared = SweepComparison::of([("a", &sweep), ("b", &sweep)]);
        let text = compare::sweeps_document(&compared).text(style);
        fits_in(&format!("sweeps in {columns}"), &text, columns);
        assert!(text.contains("connections=1024") && text.contains("connections=1048"), "{text}");
        let rows: Vec<_> =
            fixtures::all().iter().map(|(_, run)| SweepRow::from_record(&run.record)).collect();
        fits_in("sweep", &terminal::sweep_table(&rows, style), columns);
    }
    assert_eq!(PageStyle::default().within(10).columns, 72);
    assert_eq!(PageStyle::default().within(500).columns, 120);
}

#[test]
fn no_figure_is_cut_in_72_columns() {
    let style = PageStyle::default().within(72);
    let options = full(style);
    for (name, run) in [("open", fixtures::open()), ("closed", fixtures::closed())] {
        let text = terminal::run_report(&run, &options);
        let is_cut = |word: &str| {
            word.ends_with('…') && word.starts_with(|c: char| c.is_ascii_digit() || c == '−')
        };
        let cut: Vec<&str> =
            text.lines().filter(|line| line.split_whitespace().any(is_cut)).collect();
        assert!(cut.is_empty(), "{name}: {cut:#?}");
        assert!(!text.contains("█…"), "{name}: a bar was cut in {text}");
    }
}

#[test]
fn without_utf8_everything_is_ascii_and_stands_where_it_stood() {
    let utf8 = PageStyle::default();
    let ascii = PageStyle { charset: Charset::Ascii, ..utf8 };
    for (name, run) in fixtures::all() {
        let report = |style| terminal::run_report(&run, &full(style));
        let text = report(ascii);
        assert!(text.is_ascii(), "{name}: {text}");
        fits_in(name, &text, terminal::COLUMNS);
        let compared = RunComparison::of([("a", &run.record), ("b", &fixtures::closed().record)]);
        assert!(compare::runs_document(&compared).text(ascii).is_ascii(), "{name}");
    }
    let open = terminal::run_report(
        &fixtures::open(),
        &TerminalOptions { style: ascii, histogram: true, ..TerminalOptions::default() },
    );
    assert!(open.contains(" us") && open.contains("####"), "{open}");
}

#[test]
fn a_missed_mix_is_no_missed_limit() {
    use dbtime_model::record::{Check, CheckMetric, CheckOrigin};
    let mut run = fixtures::open();
    run.record.operations.iter_mut().for_each(|operation| operation.limits.clear());
    let met = Check {
        metric: CheckMetric::Percentile(90.0),
        origin: CheckOrigin::Workload,
        passed: true,
        ..Check::default()
    };
    let missed = Check { metric: CheckMetric::Percentile(99.0), passed: false, ..met.clone() };
    let mix = Check { metric: CheckMetric::Share, origin: CheckOrigin::Dbtime, ..missed.clone() };
    let said = |checks: [&Check; 3], long: &str, short: &str| {
        let mut run = run.clone();
        run.record.operations[0].limits = checks.map(Check::clone).into();
        let text = plain(&run).split_whitespace().collect::<Vec<_>>().join(" ");
        let page = html::report(&run);
        assert!(text.contains(long) && text.contains(short), "{long}, {short} in {text}");
        assert!(page.contains(long), "{long}");
    };
    said(
        [&met, &met, &mix],
        "FAILED: 1 check on mix and think times missed",
        "FAILED (1 check on mix and think times)",
    );
    said(
        [&met, &missed, &mix],
        "FAILED: 1 of 2 limits missed (2 of the workload), 1 check on mix and think times missed",
        "FAILED (1 of 2 limits, 1 check on mix and think times)",
    );
    said(
        [&met, &missed, &missed],
        "FAILED: 2 of 3 limits missed (3 of the workload)",
        "FAILED (2 of 3 limits)",
    );
    let open = Check { undecided: true, ..missed };
    said(
        [&met, &met, &open],
        "UNDECIDED: 1 of 3 limits missed (3 of the workload), and met without",
        "UNDECIDED (1 of 3 limits)",
    );
}

#[test]
fn a_limit_is_undecided_for_what_the_report_says() {
    use dbtime_model::record::{Check, CheckDoubt, CheckMetric, CheckOrigin, SpanInfo};
    let mut run = fixtures::open();
    run.record.operations.iter_mut().for_each(|operation| operation.limits.clear());
    let open = |doubt| Check {
        metric: CheckMetric::Percentile(90.0),
        origin: CheckOrigin::Given,
        undecided: true,
        doubt: Some(doubt),
        ..Check::default()
    };
    run.record.operations[0].limits = vec![open(CheckDoubt::EndedEarly)];
    let said = |run: &Run| plain(run).split_whitespace().collect::<Vec<_>>().join(" ");
    let early =
        "UNDECIDED: 1 of 1 limits open (1 of the command line), because the run ended early";
    assert!(said(&run).contains(early), "{}", said(&run));
    assert!(html::report(&run).contains("1 of 1 limits open"));
    run.record.operations[0].limits = vec![open(CheckDoubt::Unfinished)];
    let unfinished = "(1 of the command line), because transactions of the window never ended";
    assert!(said(&run).contains(unfinished), "{}", said(&run));
    assert!(!said(&run).contains("had no connection"), "{}", said(&run));
    run.record.operations[0].limits = vec![open(CheckDoubt::EndedEarly), open(CheckDoubt::Noise)];
    let noise = "1 of 2 limits missed (2 of the command line), perhaps because of other act";
    assert!(said(&run).contains(noise), "{}", said(&run));
    run.record.client.standstills = vec![SpanInfo { from_s: 1.0, until_s: 1.2 }];
    let stopped = "other activity on the machine, or a driver that stood still";
    assert!(said(&run).contains(stopped), "{}", said(&run));
}

#[test]
fn a_noisy_run_is_not_called_valid() {
    let mut run = fixtures::open();
    run.record.validity = Validity::from_warnings(vec![Warning {
        kind: WarningKind::ForeignCpu,
        text: "other processes used 88 % of the machine's CPU during the window".to_owned(),
        remedy: "stop them".to_owned(),
    }]);
    let text = plain(&run);
    assert!(text.contains("NOISY") && text.contains("used 88 %"), "{text}");
    assert!(!text.contains("no sign that") && !text.contains("! warning"), "{text}");
    let page = html::report(&run);
    assert!(page.contains("NOISY") && page.contains(">noisy<"), "{page}");
}

#[test]
fn limits_that_nobody_set_are_not_counted() {
    use dbtime_model::record::{Check, CheckMetric, CheckOrigin};
    let mut run = fixtures::open();
    run.record.operations.iter_mut().for_each(|operation| operation.limits.clear());
    let own = Check {
        metric: CheckMetric::Share,
        origin: CheckOrigin::Dbtime,
        passed: true,
        ..Check::default()
    };
    run.record.operations[0].limits = vec![own.clone()];
    let text = plain(&run);
    assert!(text.contains("none set") && text.contains("as required"), "{text}");
    assert!(!text.contains("1 limit met"), "{text}");
    let given =
        Check { metric: CheckMetric::Percentile(99.0), origin: CheckOrigin::Given, ..own.clone() };
    let of_workload = Check { origin: CheckOrigin::Workload, ..given.clone() };
    run.record.operations[0].limits.extend([given, of_workload]);
    let text = plain(&run);
    let expected = "PASSED: 2 limits met (1 of the workload, 1 of the command line)";
    assert!(text.contains(expected), "{text}");
    run.record.operations[0].limits = vec![Check { passed: false, ..own }];
    assert!(plain(&run).contains("FAILED: 1 check on mix and think times missed"));
}

#[test]
fn nothing_is_divided_by_no_operation() {
    let mut run = fixtures::open();
    // Records of before have zeros there, those of today nothing.
    for quotient in [Some(0.0), None] {
        let layer = &mut run.record.layers[1];
        (layer.operations, layer.time_per_op_ns, layer.relative) = (Some(0), quotient, quotient);
        let name = layer.name.clone();
        let text = plain(&run);
        let line = text.lines().find(|line| line.contains(&name)).expect("a row");
        assert_eq!(line.matches('–').count(), 2, "{line}");
    }
    assert!(html::report(&run).contains('–'));
}

#[test]
fn clients_that_think_are_not_flat_out() {
    use dbtime_model::record::ThinkSummary;
    let mut run = fixtures::closed();
    (run.record.load.think, run.record.load.think_us) = (None, None);
    run.record.operations.iter_mut().for_each(|operation| operation.think = None);
    if let Some(budget) = run.record.budget_us.as_mut() {
        budget.think = None;
    }
    assert!(plain(&run).contains("flat out"));
    let think = ThinkSummary { count: 5, requested_us: 10.0, taken_us: 11.0 };
    run.record.operations[0].think = Some(think);
    assert!(plain(&run).contains("in a closed loop with the workload's think times"));
    assert!(!plain(&run).contains("flat out") && !html::report(&run).contains("flat out"));
}
