//! The short report of every hand-made run: what it has room for, and what must not be missing.

use crate::fixtures;
use crate::terminal::fits_in;
use dbtime_model::record::{BudgetUs, Run, Validity, Warning, WarningKind};
use dbtime_report::terminal::{
    COLUMNS, Charset, PageStyle, SHORT_LINES, TerminalOptions, run_report,
};

fn short_in(run: &Run, style: PageStyle) -> String {
    run_report(run, &TerminalOptions { style, short: true, ..TerminalOptions::default() })
}

fn short(run: &Run) -> String {
    short_in(run, PageStyle::default())
}

/// The words of a line, whatever stands between them.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A run with more of everything than there is room for, with warnings of these kinds.
fn crowded(kinds: &[WarningKind]) -> Run {
    let mut run = fixtures::hostile();
    let long = "a sentence that is far too long for the room that it has".repeat(9);
    let warning =
        |kind: &WarningKind| Warning { kind: *kind, text: long.clone(), remedy: long.clone() };
    run.record.validity = Validity::from_warnings(kinds.iter().map(warning).collect());
    let part = Some(100.0);
    run.record.budget_us = Some(BudgetUs {
        queue: part,
        lag: part,
        client: part,
        cpu: part,
        lock: part,
        io_read: part,
        io_write: part,
        sync: part,
        unexplained: part,
        total: 900.0,
        ..BudgetUs::default()
    });
    run
}

fn all() -> Vec<(&'static str, Run)> {
    use WarningKind::{ClientLimited, Errors, ForeignCpu, Mix, Stall, Timer};
    let mut runs = fixtures::all();
    runs.push(("crowded", crowded(&[Errors, Mix, Timer, Errors, Mix])));
    runs.push(("crowded and still", crowded(&[Stall, Errors, Mix, Timer, Errors])));
    runs.push(("crowded and noisy", crowded(&[Stall, ForeignCpu, Errors, Mix, Timer])));
    runs.push(("crowded and invalid", crowded(&[Stall, ClientLimited, Errors, Mix, Timer])));
    runs
}

#[test]
fn a_short_report_fits_on_a_screen() {
    for (name, run) in all() {
        let text = short(&run);
        let lines = text.lines().count();
        assert!(lines <= SHORT_LINES, "{name}: {lines} lines\n{text}");
        fits_in(name, &text, COLUMNS);
    }
}

#[test]
fn it_follows_the_terminal_and_its_signs() {
    for (name, run) in all() {
        for columns in [72, 120] {
            fits_in(name, &short_in(&run, PageStyle::default().within(columns)), columns);
        }
        let ascii = PageStyle { charset: Charset::Ascii, ..PageStyle::default() };
        let text = short_in(&run, ascii);
        assert!(text.is_ascii(), "{name}: {text}");
        fits_in(name, &text, COLUMNS);
    }
}

#[test]
fn it_has_the_answer_its_largest_parts_and_what_to_try() {
    let text = short(&fixtures::open());
    let lines: Vec<String> = text.lines().map(words).collect();
    let mut at = 0;
    for expected in [
        "atm at scale 10 on sqlite 3.50.4",
        "load open loop: 8,226/s (auto:50%), steady arrivals, 64 connections, 4 workers, jitter",
        "throughput 8,226/s of 8,226/s offered; 3 of 246,780 failed",
        "response p50 1.00 ms, p99 5.43 ms, max 25.1 ms",
        "errors 5 (SQLITE_BUSY): 214 times and 1 other code, retried ones included",
        "valid no sign that these figures are wrong",
        "limits PASSED: 3 limits met",
        "! warning other processes used 23 %",
        "→ stop them",
        "Where the time goes",
        "part mean slowest 1.1 %",
        "sync 614 µs 60 % ██████ 1.61 ms 17 % blocked in fsync",
        "lock 127 µs 12 %",
        "the rest 78.8 µs 7.7 %",
        "total 1.02 ms 9.55 ms",
        "What to look at or to try next",
        "log sync → use a log device with faster syncs",
        "server cpu → look at the plan of balance: read",
        "lock waits → shorten withdraw: commit",
        "--details prints the rest",
    ] {
        let found = lines[at..].iter().position(|line| line.starts_with(expected));
        at += found.unwrap_or_else(|| panic!("no `{expected}` below line {at} of\n{text}"));
    }
    assert_eq!(at + 1, lines.len(), "{text}");
    let advice = text.split("to try next\n").nth(1).expect("advice");
    assert_eq!(advice.matches('→').count(), 3, "{advice}");
}

#[test]
fn a_piece_of_advice_is_named_once_before_all_of_its_steps() {
    let mut run = fixtures::closed();
    let lag = Some(900.0);
    run.record.budget_us = Some(BudgetUs { lag, total: 900.0, ..BudgetUs::default() });
    (run.record.client.busy, run.record.client.throttled_s) = (0.9, Some(20.0));
    let text = words(&short(&run));
    assert_eq!(text.matches("driver delay").count(), 1, "{text}");
    for step in ["driver delay → raise the CPU limit of the control group", "→ use more --shards"]
    {
        assert!(text.contains(step), "{step}: {text}");
    }
}

#[test]
fn what_it_leaves_out_is_in_the_whole_report() {
    let run = fixtures::open();
    let (short, whole) = (short(&run), run_report(&run, &TerminalOptions::default()));
    for heading in ["Operations", "Latency", "Statements", "Layers", "Cost and machine"] {
        let line = format!("\n{heading}\n");
        assert!(whole.contains(&line) && !short.contains(&line), "{heading}");
    }
    assert!(!whole.contains("--details"), "{whole}");
}

#[test]
fn troubles_beyond_its_room_are_counted() {
    use WarningKind::{ClientLimited, Errors, Mix, Stall, Timer};
    for (kinds, at_top, below, counted) in [
        (&[Errors, Mix, Timer, Errors][..], &[] as &[&str], 2, "2 further warnings"),
        (&[Stall, Errors, Mix][..], &["STOOD STILL"][..], 1, "1 further warning"),
        (
            &[Stall, ClientLimited, Errors][..],
            &["STOOD STILL", "NOT VALID"][..],
            0,
            "1 further warning",
        ),
    ] {
        let text = short(&crowded(kinds));
        assert!(at_top.iter().all(|name| text.contains(name)), "{text}");
        assert_eq!(text.matches("! warning").count(), below + 1, "{text}");
        assert!(text.contains(&format!("! warning     {counted}\n")), "{text}");
    }
    let few = short(&fixtures::client_limited());
    assert!(few.contains("NOT VALID") && !few.contains("further warning"), "{few}");
}

#[test]
fn a_missing_trace_is_always_told() {
    use WarningKind::{ClientLimited, Errors, FewSamples, Mix, Stall, Untraced};
    for kinds in [&[FewSamples, Errors, Mix][..], &[Stall, ClientLimited, Errors][..]] {
        let mut run = crowded(kinds);
        let mut warnings = run.record.validity.warnings.clone();
        warnings.push(Warning {
            kind: Untraced,
            text: "not traced: no right to".to_owned(),
            ..Warning::default()
        });
        run.record.validity = Validity::from_warnings(warnings);
        let text = short(&run);
        let first = text.lines().find(|line| line.starts_with("  ! warning"));
        assert!(first.is_some_and(|line| line.contains("not traced: no right to")), "{text}");
    }
}

#[test]
fn the_most_frequent_error_is_told() {
    let mut run = fixtures::open();
    run.record.errors = [("57P03".to_owned(), 195), ("closed".to_owned(), 1)].into();
    let message = "the database system is in recovery mode (the server is starting, stopping or \
                   recovering)";
    run.record.error_messages = [("57P03".to_owned(), message.to_owned())].into();
    run.record.counts.retries = 0;
    let line = "  errors        57P03: 195 times and 1 other code: the database system is";
    let text = short(&run);
    assert!(text.lines().any(|one| one.starts_with(line) && one.ends_with('…')), "{text}");
    assert!(!short(&fixtures::nothing_completed()).contains("\n  errors "));
}

#[test]
fn limits_that_are_not_met_are_named() {
    let text = words(&short(&fixtures::failed_limits()));
    let limits = "limits FAILED: 2 of 3 limits missed; withdraw: p90 1.65 ms, required <= 1ms; \
                  withdraw: errors 2.5 %, required <= 0.1 % ! warning";
    assert!(text.contains(limits), "{text}");
    let text = words(&short(&fixtures::stalled()));
    let limits = "limits UNDECIDED: 2 of 3 limits missed, and met without the driver's own \
                  lateness; withdraw: p90 ";
    assert!(text.contains(limits) && text.contains(" without lag), required "), "{text}");
}

#[test]
fn what_was_asked_for_is_there() {
    let run = fixtures::closed();
    let asked = TerminalOptions {
        short: true,
        histogram: true,
        threads: true,
        ..TerminalOptions::default()
    };
    let text = run_report(&run, &asked);
    for heading in ["Response histogram", "What the server used, by name of thread"] {
        assert!(text.contains(heading) && !short(&run).contains(heading), "{heading}: {text}");
    }
}
