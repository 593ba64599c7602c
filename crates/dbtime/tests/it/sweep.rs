//! `--sweep`: a run for each combination, a record each, one table or JSON lines.

use crate::sandbox::{Ran, Sandbox, count, counts_add_up, names, number};
use dbtime_model::WireProtocol;
use dbtime_model::record::CheckOutcome;
use dbtime_model::study::RecordedStudy;
use dbtime_null_server::{ListenAddress, NullServer, NullServerOptions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const LINE: &str = "run values1 --target 'null:?service=1ms' --transactions 40";

#[test]
fn every_combination_is_run_and_recorded() {
    let sandbox = Sandbox::new();
    let line = format!("{LINE} --sweep 'workers=4,2; rate=500/s connections=1,3' --out s --json");
    let ran = sandbox.run(&line).fine();
    let documents: Vec<Value> = ran.out.lines().map(document).collect();
    assert_eq!(documents.len(), 4, "{ran:?}");
    documents.iter().for_each(counts_add_up);
    let workers = documents.iter().map(|json| json["load"]["workers"].as_u64());
    assert!(workers.eq([Some(4), Some(2), None, None]));
    assert_eq!(count(&documents[3], "/load/connections"), 3);
    assert_eq!(documents[2]["load"]["rate"], "500/s");
    assert_eq!(sandbox.left(), ["s"]);
    assert_eq!(names(&sandbox.path("s")), with_lists(&["001", "002", "003", "004"]));
    for (index, printed) in documents.iter().enumerate() {
        let folder = sandbox.path("s").join(format!("{:03}", index + 1));
        let recorded = fs::read_to_string(folder.join("run.json")).expect("a record");
        assert_eq!(serde_json::from_str::<Value>(&recorded).expect("JSON"), *printed);
        assert!(folder.join("report.html").exists());
        dbtime_model::record::read_run(&folder).expect("a whole record");
        // Each is a run of its own, to be repeated alone.
        let command = printed["command"].as_str().expect("a text");
        assert!(!command.contains("sweep") && !command.contains("--out"), "{command}");
    }
}

#[test]
fn one_table_shows_all() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&format!("{LINE} --sweep workers=4,2,1 --out s")).fine();
    let ran = ran.prints(&["Threads", "Records: s\n"]);
    let numbers =
        |line: &str| line.split_whitespace().filter(|w| ["4", "2", "1"].contains(w)).count();
    assert!(ran.out.lines().filter(|line| numbers(line) > 0).count() >= 3, "{ran:?}");
    sandbox.run(&format!("{LINE} --sweep workers=1,2 --out s")).refused(2, &["s exists already"]);
}

#[test]
fn repetitions_go_in_rounds_and_stand_together() {
    let sandbox = Sandbox::new();
    let line = format!("{LINE} --sweep workers=4,2 --repeat 2");
    let ran = sandbox.run(&format!("{line} --out s --json")).fine();
    let workers: Vec<u64> =
        ran.out.lines().map(|line| count(&document(line), "/load/workers")).collect();
    assert_eq!(workers, [4, 2, 4, 2]);
    assert_eq!(names(&sandbox.path("s")), with_lists(&["001", "002", "003", "004"]));
    assert!(ran.out.lines().all(|line| !line.contains("--repeat")), "{ran:?}");
    let ran = sandbox.run(&format!("{line} --no-record")).fine();
    let column = |line: &str| line.split_whitespace().nth(3).map(str::to_owned);
    let table: Vec<String> =
        ran.out.lines().filter(|line| line.contains("closed loop")).filter_map(column).collect();
    assert_eq!(table, ["4", "4", "2", "2"], "{ran:?}");
    let once = sandbox.run(&format!("{LINE} --repeat 3 --json --no-record")).fine();
    assert_eq!(once.out.lines().count(), 3, "{once:?}");
    sandbox.run(&format!("{LINE} --repeat 2 --out one --quiet")).fine();
    sandbox.run("study report one").fine().prints(&["of one configuration alone there is none"]);
}

#[test]
fn a_share_of_the_flat_out_rate_is_found_once_for_all() {
    let sandbox = Sandbox::new();
    let line = format!("{LINE} --rate auto:10% --sweep connections=100,3,1 --no-record --json");
    let ran = sandbox.run(&line).fine();
    let all: Vec<Value> = ran.out.lines().map(document).collect();
    assert_eq!(all.len(), 3, "{ran:?}");
    for json in &all {
        assert_eq!(json["load"]["auto"], all[0]["load"]["auto"]);
        assert_eq!(json["load"]["auto"]["concurrency"], 3, "no crowd");
        assert_eq!(json["load"]["rate"], "auto:10%");
        let rate = number(json, "/load/rate_tps");
        assert!((rate - number(json, "/load/auto/flat_out_tps") / 10.0).abs() < 1e-9 * rate);
        // Repeated alone it has the same rate.
        let command = json["command"].as_str().expect("a text");
        assert!(command.ends_with(&format!(" --rate={rate}/s")), "{command}");
    }
    // Where shares are swept each finds its own.
    let line = format!("{LINE} --sweep rate=auto:10% --no-record --json");
    let json = sandbox.run(&line).fine().json();
    assert!(json["command"].as_str().expect("a text").ends_with(" --rate=auto:10%"), "{json}");
}

#[test]
fn the_table_of_a_server_says_what_it_spent() {
    let listen = vec![(WireProtocol::Mysql, ListenAddress::Port(0))];
    let server = NullServer::start(&NullServerOptions { listen, ..Default::default() });
    let server = server.expect("a port is free");
    let target = server.target(WireProtocol::Mysql).expect("it speaks MySQL");
    let line = format!("run values1 --target {target} --warmup 0s --time 300ms --no-record");
    let ran = Sandbox::new().run(&format!("{line} --rate 200/s --sweep connections=1,20")).fine();
    let ran = ran.prints(&["%usr", "%sys", "%cpu", "avg", "95 %", "offered: 200/s\n"]);
    let rows = ran.out.lines().filter(|line| line.ends_with('s') && line.contains('.'));
    let connections = rows.filter_map(|line| line.split_whitespace().next());
    assert!(connections.eq(["1", "20"]), "{ran:?}");
}

fn document(line: &str) -> Value {
    serde_json::from_str(line).expect("a document a line")
}

#[test]
fn the_worst_exit_code_counts_and_all_are_run() {
    let sandbox = Sandbox::new();
    let line = format!("{LINE} --sweep 'limit=p90<=500us,p90<=1h' --no-record --json");
    let ran = sandbox.run(&line).with(1, &[]);
    assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
    assert!(sandbox.left().is_empty());
}

#[test]
fn a_sweep_that_fails_keeps_what_it_has() {
    let sandbox = Sandbox::loaded();
    let line = "run small.toml --target sqlite:t.db --transactions 20 --sweep scale=1,2 --out s";
    let ran = sandbox.run(line);
    ran.exits(3);
    ran.stderr_has(&["loaded at scale 1, not 2"]);
    assert_eq!(names(&sandbox.path("s")), with_lists(&["001"]));
    dbtime_model::record::read_run(&sandbox.path("s/001")).expect("a whole record");
}

#[test]
fn a_sweep_of_which_every_run_has_failed_says_so_in_its_table() {
    let sandbox = Sandbox::loaded();
    let line = "run small.toml --target sqlite:t.db --transactions 20 --sweep scale=2,3 --out s";
    sandbox.run(line).exits(3);
    assert_eq!(names(&sandbox.path("s")), with_lists(&[]));
    let table = fs::read_to_string(sandbox.path("s/runs.csv")).expect("a table");
    assert_eq!(table.matches("loaded at scale 1").count(), 2, "{table}");
    sandbox.run("study verify s").fine();
}

/// A sweep or a search as it is recorded.
fn recorded(folder: &Path) -> RecordedStudy {
    RecordedStudy::read(folder).expect("a sweep")
}

/// What stands in the folder of a sweep beside its runs.
fn with_lists(runs: &[&str]) -> Vec<String> {
    let lists = ["journal.jsonl", "plan.json", "report.html", "runs.csv"];
    let all = runs.iter().chain(&lists);
    all.map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_sweep_is_recorded_as_a_whole() {
    let sandbox = Sandbox::new();
    // Half of what the service takes is missed however late the driver is.
    let line = format!("{LINE} --sweep 'limit=p90<=500us,p90<=1h' --repeat 2 --out s");
    let ran = sandbox.run(&line).with(1, &["Report: s/report.html\n"]);
    // The run that missed is named, with the limit it missed.
    let failed = "FAILED: run 001 (limit=p90<=500us) missed ";
    assert!(ran.out.contains(failed) && ran.out.contains("run 003"), "{ran:?}");
    assert!(!ran.out.contains("run 002") && !ran.out.contains("run 004"), "{ran:?}");
    let sweep = recorded(&sandbox.path("s"));
    assert!(sweep.history.finished.is_some() && sweep.missing_runs().next().is_none());
    let runs = sweep.made_runs();
    let outcomes = runs.iter().map(|run| run.record.limits_outcome());
    let (failed, passed) = (Some(CheckOutcome::Failed), Some(CheckOutcome::Passed));
    assert!(outcomes.eq([failed, passed, failed, passed]));
    let places = runs.iter().map(|run| (run.trial.block, run.combination));
    assert!(places.eq([(1, 0), (1, 1), (2, 0), (2, 1)]));
    let table = fs::read_to_string(sandbox.path("s/runs.csv")).expect("a table");
    assert_eq!(table.lines().count(), 5, "{table}");
    let page = fs::read_to_string(sandbox.path("s/report.html")).expect("a page");
    assert!(page.contains("<svg") && page.contains("FAILED: run 001"), "{page}");
    assert!(page.contains("the runs of a pair are of one block"), "it has the verdict: {page}");
    // The same from what was recorded.
    fs::remove_file(sandbox.path("s/report.html")).expect("it was there");
    sandbox.run("report s").fine().prints(&["Report: s/report.html\n"]);
    assert_eq!(fs::read_to_string(sandbox.path("s/report.html")).expect("a page"), page);
    let text = sandbox.run("report s/plan.json --text").fine().out;
    assert!(ran.out.starts_with(&text), "{text}");
    sandbox.run("report s --markdown").refused(2, &["this is a sweep", "use --text"]);
}

#[test]
fn sweeps_and_comparisons_take_no_more_than_the_record_of_a_run() {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("{LINE} --sweep workers=1,2 --out s --json")).fine();
    let mut command = sandbox.command("report series.csv");
    let refused = command.current_dir(sandbox.path("s/001")).output().expect("dbtime starts");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("series.csv is a file of a record: name its folder, .\n"), "{told}");
    for file in ["s/001/series.csv", "s/002/transactions.csv"] {
        fs::remove_file(sandbox.path(file)).expect("it was there");
    }
    sandbox.write("s/002/series.csv", "second\nnone");
    sandbox.run("report s").fine().prints(&["Report: s/report.html\n"]);
    sandbox.run("report s --text").fine();
    sandbox.run("compare s s").fine().prints(&["Two sweeps", "workers=1"]);
    sandbox.run("compare s/001 s/002").fine().prints(&["No verdict"]);
    sandbox.run("compare s s/001").refused(2, &["s is a sweep and s/001 is a run"]);
    // A report of such a run needs all of it.
    sandbox.run("report s/001").refused(3, &["series.csv is missing"]);
}

#[test]
fn a_sweep_that_was_ended_shows_what_there_is() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=1ms' --time 20s --warmup 0s --out s \
        --workers 1 --sweep connections=1,2,3";
    let running = sandbox.start(line);
    running.wait_until_it_catches_interrupts();
    sandbox.wait_for(&["s", ".001.partial", "latency.hlog"]);
    // The load begins, also where the driver gets no CPU for a second.
    std::thread::sleep(std::time::Duration::from_secs(2));
    running.interrupt();
    let ran = running.end();
    ran.exits(130);
    ran.prints(&[
        "ended early: 0 of 3 planned runs were made",
        "run 001 (connections=1) was cut off: its figures cover only a part",
        "Remaining runs: dbtime study resume s\n",
    ]);
    sandbox.run("runs .").fine().prints(&["0 of 3 runs"]);
    let sweep = recorded(&sandbox.path("s"));
    assert!(sweep.history.finished.is_none() && sweep.made_runs().len() == 1, "{sweep:?}");
    sandbox.run("study verify s").fine().prints(&["3 of 3 runs remain to be made"]);
    let text = sandbox.run("report s --text").fine();
    text.prints(&["ended early: 0 of 3 planned runs were made", "run 001 (connections=1)"]);
}

/// The others are shown all the same.
#[test]
fn a_run_that_was_deleted_is_named() {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("{LINE} --sweep workers=1,2 --out s --quiet")).fine();
    sandbox.run("study verify s").fine().prints(&["runs.csv follows from the records"]);
    for (flag, why) in [("--for 1min", "limits a study in"), ("--blocks 2", "no blocks to add")] {
        sandbox.run(&format!("study resume s {flag}")).refused(2, &[why]);
    }
    fs::remove_dir_all(sandbox.path("s/001")).expect("it was there");
    let gone = "missing records: 001";
    sandbox.run("report s --text").fine().prints(&[gone, "closed loop"]);
    sandbox.run("report s").fine();
    let page = fs::read_to_string(sandbox.path("s/report.html")).expect("a page");
    assert!(page.contains(gone), "{page}");
    sandbox.run("study report s --json").fine().prints(&["its record is not there any more"]);
    let compared = sandbox.run("compare s s").fine();
    compared.prints(&["workers=2", "s: missing records: 001; dbtime study resume DIR makes them"]);
    sandbox.run("runs .").fine().prints(&["1 of 2 runs"]);
    let told = ["WRONG runs", "001 is not there", "runs.csv, for runs are lost"];
    sandbox.run("study verify s").with(1, &told);
    // It is made again, under another name.
    let resumed = sandbox.run("study resume s --quiet");
    resumed.exits(0);
    let resumed = resumed.stderr_has(&["001: its record is not there any more; it is made again"]);
    assert!(sandbox.path("s/003/run.json").is_file() && !resumed.out.contains(gone), "{resumed:?}");
    sandbox.run("study verify s").fine().prints(&["runs.csv follows from the records"]);
    assert!(!sandbox.run("report s --text").fine().out.contains(gone));
}

/// What an older dbtime has left is neither read wrongly nor taken for nothing.
#[test]
fn a_sweep_without_a_plan_is_refused_by_its_version() {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("{LINE} --out s/001 --quiet")).fine();
    sandbox.write("s/sweep.json", "{}");
    let told = "s is a sweep of dbtime 0.0, which no later version reads: report it with version";
    for line in ["report s", "report s/sweep.json", "study report s", "study verify s", "explain s"]
    {
        sandbox.run(line).refused(3, &[told]);
    }
    sandbox.run("compare s s").refused(3, &[told]);
    sandbox.run("runs .").fine().prints(&["is a sweep of dbtime 0.0"]);
    sandbox.run("report s/001 --text").fine();
}

/// What was under way is made again; nothing is lost or made twice.
#[test]
fn a_sweep_that_was_killed_is_resumed() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=20ms' --transactions 20 --repeat 3 \
        --sweep 'limit=p90<=1ms,p90<=1h connections=1,2' --warmup 0s --out s --quiet";
    let running = sandbox.start(line);
    sandbox.wait_for(&["s", "003"]);
    running.kill();
    sandbox.run("runs .").fine().prints(&["of 12 runs"]);
    let verified = sandbox.run("study verify s").fine();
    verified.prints(&["of 12 runs remain to be made: dbtime study resume DIR continues"]);
    // The limits that the runs before missed are missed still.
    let ran = sandbox
        .run("study resume s --quiet")
        .with(1, &["Verdicts: dbtime study report s\n", "FAILED: run 001"]);
    let sweep = recorded(&sandbox.path("s"));
    assert!(sweep.history.finished.is_some() && sweep.missing_runs().next().is_none(), "{ran:?}");
    let runs = sweep.made_runs();
    let places = runs.iter().map(|run| (run.trial.block, run.combination));
    assert!(places.eq((1..=3).flat_map(|round| (0..4).map(move |cell| (round, cell)))));
    let text = sandbox.run("report s --text").fine().out;
    assert!(ran.out.starts_with(&text), "{ran:?} {text}");
    // There is nothing left to make, and the table is the same.
    let again = sandbox.run("study resume s --quiet").with(1, &[]);
    assert_eq!(again.out, ran.out);
    let gated = sandbox.run("study resume s --quiet --gate");
    gated.refused(2, &["of a sweep or a search `dbtime study report --gate` exits"]);
    sandbox.run("study verify s").fine().prints(&["runs.csv follows from the records"]);
    sandbox.run("study report s").fine().prints(&["12 runs in 3 blocks count", "connections=2"]);
}

#[test]
fn two_sweeps_are_compared_by_their_combinations() {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("{LINE} --sweep workers=1,2 --out a --json")).fine();
    sandbox.run(&format!("{LINE} --sweep workers=2,4 --out b --json")).fine();
    let ran = sandbox.run("compare a b").fine();
    ran.prints(&["Two sweeps", "No verdict", "workers=2", "only in A: workers=1", "only in B"]);
    let json = sandbox.run("compare a b --json").fine().json();
    assert_eq!(json["combinations"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["combinations"][0]["runs"]["a"]["place"], "a/002");
    assert_eq!(json["verdict"], Value::Null);
    sandbox.run("compare a b --html c.html").fine().prints(&["Report: c.html\n"]);
    sandbox.run("compare a b/001").refused(2, &["a is a sweep and b/001 is a run", "a/001"]);
    let unknown = sandbox.run("run --sweep factor=1,2");
    unknown.refused(2, &["`factor` cannot be swept", "has no flag --factor"]);
    sandbox.run("compare a nowhere").refused(3, &["nowhere holds no run"]);
    let list = sandbox.run("runs . --json").fine().json();
    let records = list["records"].as_array().expect("a list");
    assert_eq!(
        records.iter().map(|r| r["folder"].as_str()).collect::<Vec<_>>(),
        [Some("./b"), Some("./a")]
    );
    assert_eq!(records[0]["runs"], 2);
    // Both figures are those of one run.
    let sweep = recorded(&sandbox.path("b"));
    let runs = sweep.made_runs();
    let best = runs.iter().map(|run| run.record);
    let best = best.max_by(|x, y| x.throughput_tps.total_cmp(&y.throughput_tps));
    let best = best.expect("two runs");
    assert_eq!(records[0]["throughput_tps"].as_f64(), Some(best.throughput_tps));
    assert_eq!(records[0]["p99_us"].as_f64(), Some(best.latency_us.response.p99));
}

/// A constant service of 5 ms by two connections: 400/s at most, and below no queue.
#[test]
fn the_highest_rate_that_meets_a_limit_is_found_and_confirmed() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=5ms' --connections 2 --time 500ms --warmup 0s";
    let ran = sandbox.run(&format!("{line} --find-rate 'p90<=15ms' --out f --json --quiet"));
    let documents: Vec<Value> = ran.out.lines().map(document).collect();
    let found = &documents.last().expect("an answer")["found"];
    let search = recorded(&sandbox.path("f"));
    let made = search.made_runs().len();
    assert!(search.history.found.is_some() && made + 1 == documents.len(), "{search:?}");
    let table = fs::read_to_string(sandbox.path("f/runs.csv")).expect("a table");
    assert!(table.lines().next().is_some_and(|head| head.contains(",rate,")), "{table}");
    sandbox.run("study verify f").fine();
    // Beside work of others runs do not count: then the search has no answer, says why, and has
    // not gone on for long.
    if let Some(why) = found["unknown"].as_str() {
        ran.exits(4);
        let reasons = ["none of 3 runs at", "do not count", "did not settle it", "--time"];
        assert!(reasons.iter().any(|reason| why.contains(reason)), "{found}");
        assert!(found["rate_tps"].is_null() && made <= 110, "{found}");
        return;
    }
    ran.exits(0);
    let rate = found["rate_tps"].as_f64().expect("a rate");
    // Where responses are longer for what else the machine does, less meets the limit than could be
    // carried.
    assert!(rate > 0.0 && rate < 450.0, "{found}");
    let ends = ["low_tps", "high_tps"].map(|end| found[end].as_f64().expect("an interval"));
    assert!(ends[0] <= rate && rate <= ends[1] && ends[1] < 1.3 * ends[0], "{found}");
    assert!(found["confirmed"].as_u64().is_some_and(|fresh| fresh >= 8), "{found}");
    let runs = documents.iter().filter(|document| document["load"].is_object());
    let seeds: BTreeSet<_> = runs.map(|run| count(run, "/load/seed")).collect();
    assert_eq!(seeds.len(), made, "each run has a seed of its own");
    let shown = sandbox.run("report f --text").fine();
    let answer = ["highest rate with p90<=15ms", "below and above it; 95 % CI"];
    shown.prints(&answer);
    sandbox.run("study report f --gate").fine().prints(&answer);
    let json = sandbox.run("study report f --json").fine().json();
    assert_eq!(json["found"], *found);
    sandbox.run("compare f f").fine().prints(&["Two sweeps", "rate="]);
}

/// What it found before counts, and what was under way is made again.
#[test]
fn a_search_that_was_killed_is_resumed() {
    let sandbox = Sandbox::new();
    // A response is never shorter than the service: every rate misses it, on any machine.
    let line = "run values1 --target 'null:?service=1ms' --connections 2 --time 300ms \
        --warmup 0s --find-rate 'p50<=20us' --out f --quiet";
    let running = sandbox.start(line);
    sandbox.wait_for(&["f", "002"]);
    running.kill();
    assert_eq!(running.end().code, None);
    sandbox.run("study report f").fine().prints(&["not known, for the search was ended"]);
    sandbox.run("study verify f").fine().prints(&["the search stopped after "]);
    // The rates behind a run follow from it.
    fs::rename(sandbox.path("f/001"), sandbox.path("kept")).expect("it was there");
    sandbox.run("study resume f --quiet").refused(3, &["f/001 is missing"]);
    fs::rename(sandbox.path("kept"), sandbox.path("f/001")).expect("it was moved");
    // From another folder, too.
    fs::create_dir(sandbox.path("else")).expect("a folder");
    let resume = || {
        let line = "study resume ../f --quiet";
        let mut command = sandbox.command(line);
        let output = command.current_dir(sandbox.path("else")).output().expect("dbtime starts");
        Ran::new(line, &output)
    };
    let ran = resume().prints(&["no rate has p50<=20us"]);
    ran.exits(1);
    let search = recorded(&sandbox.path("f"));
    let runs = search.made_runs();
    assert!(search.history.found.is_some() && runs[0].trial.folder == "001", "{search:?}");
    let folders: BTreeSet<&str> = runs.iter().map(|run| run.trial.folder.as_str()).collect();
    let rates: BTreeSet<&str> = runs.iter().map(|run| &*run.factors[0].value).collect();
    assert!(folders.len() == runs.len() && rates.len() > 2, "{search:?}");
    let table = fs::read_to_string(sandbox.path("f/runs.csv")).expect("a table");
    assert!(rates.iter().all(|rate| table.contains(&format!(",{rate},"))), "{table}");
    // There is nothing left to make, and the answer is the same.
    let again = resume();
    again.exits(1);
    assert_eq!(again.out, ran.out);
    sandbox.run("study verify f").fine().prints(&["runs.csv follows from the records"]);
}

#[test]
fn a_limit_that_no_rate_meets_has_none() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=1ms' --connections 2 --time 1s --warmup 0s";
    // A response is never shorter than the service, which is fifty times as long as the limit: no
    // machine that shares its CPUs is to blame for that.
    let none = sandbox.run(&format!("{line} --find-rate 'p50<=20us' --no-record --quiet"));
    none.exits(1);
    none.prints(&["no rate has p50<=20us"]);
    // At a 64th of the rates that this target carries, windows of a second are without a
    // transaction.
    let slow = "run --query 'SELECT 1' --target 'null:?service=10ms' --connections 1 \
        --warmup 200ms --time 1s --find-rate 'avg<=5ms' --no-record --quiet";
    let none = sandbox.run(slow);
    none.exits(1);
    none.prints(&["no rate has avg<=5ms: even a run at "]);
    sandbox
        .run(&format!("{line} --rate 5/s --find-rate 'p99<=1ms'"))
        .refused(2, &["--find-rate", "--rate"]);
    sandbox
        .run(&format!("{line} --find-rate 'throughput>=1/s'"))
        .refused(2, &["a limit that a higher rate misses"]);
}
