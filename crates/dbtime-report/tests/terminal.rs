//! The terminal report of every hand-made run: golden, never wider than the terminal, and the
//! facts that must not be missing.

mod fixtures;

use dbtime_model::record::{AutoRate, Run, ServerInfo};
use dbtime_report::{SweepRow, TerminalOptions, compare, terminal};
use unicode_width::UnicodeWidthStr;

fn plain(run: &Run) -> String {
    terminal::run_report(run, &TerminalOptions::default())
}

fn assert_fits(name: &str, text: &str) {
    for line in text.lines() {
        assert!(line.width() <= terminal::COLUMNS, "{name}: {} columns: {line}", line.width());
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
            assert_fits(&format!("{name} | {other}"), &compare::side_by_side(&run, &b));
        }
    }
}

#[test]
fn threads_of_the_server_are_shown_on_request() {
    let with = TerminalOptions { threads: true, ..TerminalOptions::default() };
    let shown = terminal::run_report(&fixtures::closed(), &with);
    let line = shown.lines().find(|line| line.contains("one_connection")).expect("a row");
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
            &TerminalOptions { color: true, ..TerminalOptions::default() },
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
    let top: Vec<_> = text.lines().take(10).collect();
    let top = top.join("\n");
    for wanted in
        ["atm", "sqlite", "8,226/s", "p50 1.00 ms", "p99 5.43 ms", "is sync (blocked in fsync)"]
    {
        assert!(top.contains(wanted), "no {wanted} in\n{top}");
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
fn unmeasured_parts_are_named_and_never_zero() {
    let text = plain(&fixtures::open());
    assert!(text.contains("not measured: wire, server_queue, net, sleep"));
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
    assert!(text.contains("FAILED (2 of 4 limits)"));
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
    for wanted in ["round trips   – per", "client CPU    – per", "server CPU    – per"] {
        assert!(text.contains(wanted), "no `{wanted}` in {text}");
    }
    let compared = compare::side_by_side(&run, &fixtures::closed());
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
    let wanted = ["Layer", "Time (sec)", "# of Recs", "# of Ops", "Time per op (nsec)", "Relative"];
    assert_eq!(columns, wanted);
}

#[test]
fn the_sweep_table_is_the_classic_one_and_more() {
    let row = |arrivals: &str, rate: Option<f64>, workers: u32, latency_s: f64, tps: f64| {
        let mut record = fixtures::open().record;
        record.load.arrivals = arrivals.to_owned();
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
    insta::assert_snapshot!("sweep", terminal::sweep_table(&rows));
    assert_fits("plain sweep", &terminal::sweep_table(&rows));
    let mut varied = rows.clone().map(|row| row.with_factor("synchronous", "normal"));
    varied[3] = varied[3].clone().with_factor("cache", "64 MB");
    (varied[1].valid, varied[1].lost) = (false, 3);
    insta::assert_snapshot!("sweep-factors", terminal::sweep_table(&varied));
    assert_fits("sweep", &terminal::sweep_table(&varied));
    let extreme: Vec<_> =
        fixtures::all().iter().map(|(_, run)| SweepRow::from_record(&run.record)).collect();
    assert_fits("sweep of all", &terminal::sweep_table(&extreme));
    assert_fits("no sweep", &terminal::sweep_table(&[]));
}

#[test]
fn the_sweep_table_of_a_server_is_that_of_the_schedulers_and_more() {
    let row = |connections: u32, tps: f64, usr: f64, sys: f64, mean_ms: f64, p95_ms: f64| {
        let mut record = fixtures::open().record;
        let auto = AutoRate { flat_out_tps: 2400.0, measured_s: 3.0, share_pct: 50.0, servers: 64 };
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
    insta::assert_snapshot!("sweep-server", terminal::sweep_table(&rows));
    let mut varied = rows.map(|row| row.with_factor("scale", "10"));
    for (index, row) in varied.iter_mut().enumerate() {
        let pool = if index < 2 { "one-thread-per-connection" } else { "pool-of-threads" };
        *row = row.clone().with_factor("server-set", &format!("thread_handling={pool}"));
    }
    (varied[1].valid, varied[1].lost, varied[2].server) = (false, 3, None);
    varied[3].arrivals = "closed loop".to_owned();
    insta::assert_snapshot!("sweep-server-factors", terminal::sweep_table(&varied));
    assert_fits("sweep of a server", &terminal::sweep_table(&varied));
}

#[test]
fn two_runs_carry_no_verdict() {
    let text = compare::side_by_side(&fixtures::open(), &fixtures::closed());
    insta::assert_snapshot!("compare", text);
    assert!(text.contains("No verdict"));
    let same = compare::side_by_side(&fixtures::open(), &fixtures::open());
    assert!(same.contains("recorded as the same"), "{same}");
}
