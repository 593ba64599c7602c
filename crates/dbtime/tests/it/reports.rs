//! `report` and `compare`: from records of this version, of older and newer ones, and damaged ones.

use crate::sandbox::{Sandbox, names};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A sandbox with records of two runs on SQLite, `a` and `b`, and what the first one printed.
fn recorded() -> (Sandbox, String) {
    let sandbox = Sandbox::loaded();
    let line =
        "run small.toml --target sqlite:t.db --transactions 300 --budget-every 1 --limit 'p90<=1h'";
    let printed = sandbox.run(&format!("{line} --out a")).fine().out;
    sandbox.run(&format!("{line} --workers 2 --out b")).fine();
    (sandbox, printed)
}

#[test]
fn the_text_of_a_record_is_what_the_run_printed() {
    let (sandbox, printed) = recorded();
    let text = sandbox.run("report a --text").fine().out;
    assert_eq!(printed, format!("{text}\nRecord: a\nReport: a/report.html\n"));
    // As much as a screen has.
    assert!(printed.lines().count() <= 45, "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    let long = sandbox.run("report a --text --histogram").fine().out;
    assert!(long.contains("\nResponse histogram\n") && !text.contains("\nResponse histogram\n"));
}

#[test]
fn details_are_all_that_there_is() {
    let (sandbox, short) = recorded();
    let of_record = sandbox.run("report a --text --details").fine().out;
    for heading in ["Operations", "Latency", "Statements", "Cost and machine", "Repeat it"] {
        let line = format!("\n{heading}\n");
        assert!(of_record.contains(&line) && !short.contains(&line), "{heading}: {of_record}");
    }
    let line = "run small.toml --target sqlite:t.db --transactions 300 --no-record";
    let of_run = sandbox.run(&format!("{line} --details")).fine().prints(&["\nRepeat it\n"]).out;
    assert!(!of_run.contains("--details prints the rest"), "{of_run}");
    sandbox.run(line).fine().prints(&["--details prints the rest"]);
}

#[test]
fn a_run_and_its_record_are_markdown_too() {
    let (sandbox, _) = recorded();
    let short = sandbox.run("report a --markdown").fine().out;
    assert!(short.starts_with("## small") && short.contains("\n- response: **p50 "), "{short}");
    let table = "\n### Where the time goes\n\n| part | mean";
    assert!(short.contains(table) && !short.contains("### Operations"), "{short}");
    let whole = sandbox.run("report a --markdown --details --histogram").fine().out;
    for heading in ["Operations", "Response histogram", "Repeat it"] {
        assert!(whole.contains(&format!("\n### {heading}\n")), "{heading}: {whole}");
    }
    let line =
        "run small.toml --target sqlite:t.db --transactions 300 --budget-every 1 --no-record";
    let line = format!("{line} --markdown");
    sandbox.run(&format!("{line} r.md")).fine().prints(&["Where the time goes"]);
    let of_run = fs::read_to_string(sandbox.path("r.md")).expect("a file");
    assert!(of_run.starts_with("## small") && of_run.contains(table), "{of_run}");
    // What cannot be written is refused before the load.
    sandbox.run(&format!("{line} none/r.md")).refused(3, &["cannot write", "none/r.md"]);
    sandbox.run(&format!("{line} r.md --repeat 2")).refused(2, &["--markdown", "--repeat"]);
    sandbox.run("report a --markdown --text").refused(2, &["--markdown", "--text"]);
    sandbox.run("report a --markdown --html x.html").refused(2, &["--markdown", "--html"]);
}

#[test]
fn the_html_is_one_file_that_needs_no_network() {
    let (sandbox, _) = recorded();
    let of_run = fs::read_to_string(sandbox.path("a/report.html")).expect("written by run");
    sandbox.run("report a --html own.html").fine().prints(&["Report: own.html\n"]);
    let html = fs::read_to_string(sandbox.path("own.html")).expect("written by report");
    assert_eq!(html, of_run);
    assert!(html.starts_with("<!DOCTYPE html>") || html.starts_with("<!doctype html>"));
    for loads in
        ["src=\"http", "href=\"http", "src='http", "href='http", "url(http", "@import", "src=\"//"]
    {
        assert!(!html.contains(loads), "{loads}");
    }
    assert!(html.contains("small") && html.contains("<svg"));
    fs::remove_file(sandbox.path("a/report.html")).expect("removed");
    sandbox.run("report a").fine().prints(&["Report: a/report.html\n"]);
    assert!(sandbox.path("a/report.html").exists());
    sandbox.run("report a --html no/own.html").refused(3, &["cannot write no/own.html"]);
    fs::hard_link(sandbox.path("a/run.json"), sandbox.path("page")).expect("a second name");
    for line in ["report a --html page", "compare a --markdown page -- b", "explain a --html page"]
    {
        sandbox.run(line).refused(2, &["page is a file that this command reads"]);
    }
    fs::remove_file(sandbox.path("page")).expect("removed");
    // A file that was to be written has the reason, and nothing of before.
    for flag in ["--markdown own.md", "--primary p99", "--margin 1%"] {
        sandbox.run(&format!("compare a b {flag}")).refused(2, &["two groups of runs"]);
    }
    // Nor is one file to hold two, or what a record holds.
    let line = "compare --markdown new --junit ./new a -- b";
    sandbox.run(line).refused(2, &["./new and new are one file"]);
    sandbox.run("counters --target sqlite:t.db --save a/run.json").refused(2, &["of a record"]);
    let line = "compare --junit new --markdown a/series.csv a -- b";
    sandbox.run(line).refused(2, &["a/series.csv is a file"]);
    sandbox.run("report a --html tmp").refused(3, &["cannot write tmp"]);
    let own = fs::read_to_string(sandbox.path("own.md")).expect("what was to be written");
    assert!(own.contains("two groups of runs"), "{own}");
    assert_eq!(sandbox.left(), ["a", "b", "own.html", "own.md", "small.toml", "t.db"]);
}

#[test]
fn a_link_in_a_record_is_replaced_and_one_that_was_named_is_followed() {
    let (sandbox, _) = recorded();
    let theirs = sandbox.path("theirs");
    fs::write(&theirs, "theirs").expect("written");
    let page = sandbox.path("a/report.html");
    let link = |at: &Path| {
        fs::remove_file(at).unwrap_or_default();
        std::os::unix::fs::symlink(&theirs, at).expect("a link");
    };
    link(&page);
    sandbox.run("report a").fine().prints(&["Report: a/report.html\n"]);
    assert!(page.symlink_metadata().expect("a page").is_file());
    assert_eq!(fs::read_to_string(&theirs).expect("a text"), "theirs");
    let named = sandbox.path("named.html");
    link(&named);
    sandbox.run("report a --html named.html").fine();
    assert!(named.symlink_metadata().expect("a link").is_symlink());
    assert!(fs::read_to_string(&theirs).expect("a page").contains("<svg"));
    // Of a folder nothing half-written stays.
    fs::remove_file(&page).expect("removed");
    fs::create_dir(&page).expect("a folder");
    sandbox.run("report a").refused(3, &["cannot write a/report.html"]);
    let left = names(&sandbox.path("a"));
    assert!(!left.iter().any(|name| name.contains("partial")), "{left:?}");
}

#[test]
fn a_pipe_in_a_record_is_not_waited_for() {
    let (sandbox, _) = recorded();
    let series = sandbox.path("a/series.csv");
    fs::remove_file(&series).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(&series).status().expect("coreutils");
    assert!(made.success());
    sandbox.run("report a").refused(3, &["series.csv", "no regular file"]);
}

#[test]
fn two_runs_are_shown_side_by_side_without_a_verdict() {
    let (sandbox, _) = recorded();
    let whole = sandbox.run("compare a b --details").fine();
    let whole = whole.prints(&["small", "cpu", "p99", "No verdict", "\nStatements, "]);
    let short = sandbox.run("compare a b").fine();
    let short = short.prints(&["small", "p99", "  verdict       No verdict: ", "\nDiffers\n"]);
    assert!(short.out.lines().count() <= 45, "{short:?}");
    assert!(short.out.lines().all(|line| line.chars().count() <= 100), "{short:?}");
    for (ran, has_rest) in [(whole, true), (short, false)] {
        assert_eq!(ran.out.contains("\nStatements, "), has_rest, "{ran:?}");
        assert_eq!(ran.out.contains("--details prints the rest"), !has_rest, "{ran:?}");
    }
    sandbox.run("compare a none").refused(3, &["none holds no run", "no such folder"]);
    // A page of before is not taken for the result of what failed.
    for line in ["compare a none", "report none"] {
        sandbox.write("page.html", "of before");
        sandbox.run(&format!("{line} --html page.html")).exits(3);
        let page = fs::read_to_string(sandbox.path("page.html")).expect("a page");
        let why = "dbtime ended without a result: none holds no run";
        assert!(page.contains(why) && !page.contains("of before"), "{page}");
    }
    sandbox.run("usage --html page.html -- ./absent").exits(127);
    let page = fs::read_to_string(sandbox.path("page.html")).expect("a page");
    assert!(page.contains("ended without a result: exit code 127"), "{page}");
}

#[test]
fn names_of_files_drive_no_terminal() {
    let sandbox = Sandbox::new();
    let run = |words: &[&str]| {
        sandbox.run_words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    };
    let line = ["run", "values1", "--target", "null", "--transactions", "500", "--out"];
    let ran = run(&[&line[..], &["r\u{1b}[2J"]].concat()).fine();
    let ran = ran.prints(&["\nRecord: r\u{fffd}[2J\nReport: r\u{fffd}[2J/report.html\n"]);
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
    let ran = run(&["report", "r\u{1b}[2J", "--html", "p\u{1b}[1m"]).fine();
    assert_eq!(ran.out, "Report: p\u{fffd}[1m\n");
    let ran = run(&["explain", "none\u{1b}[1m"]).refused(3, &["none\u{fffd}[1m holds no run"]);
    assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
}

/// Opening it would wait for a reader.
#[test]
fn a_pipe_without_a_reader_is_refused_before_anything_is_read() {
    let (sandbox, _) = recorded();
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("pipe")).status();
    assert!(made.expect("coreutils").success());
    let told = ["pipe is a pipe, a socket or a disk: name a file"];
    for flag in ["--html", "--markdown", "--junit"] {
        sandbox.run(&format!("compare {flag} pipe a -- b")).refused(3, &told);
    }
    let line = "run values1 --target null --time 1h --no-record --junit pipe";
    sandbox.run(line).refused(3, &told);
    sandbox.run("report a --html pipe").refused(3, &told);
    sandbox.run("explain a --html pipe").refused(3, &told);
    sandbox.run("counters --target sqlite:t.db --save pipe").refused(3, &told);
    sandbox.run("usage --out pipe -- true").refused(3, &told);
    // What a shell has opened has a reader.
    let line = "compare --markdown /dev/stdout a -- b";
    sandbox.run(line).fine().prints(&["## "]);
    // Nor is a file behind it written over by what is printed next.
    sandbox.run("compare --markdown m.md a -- b").fine();
    let out = fs::File::create(sandbox.path("out")).expect("a file");
    assert!(sandbox.command(line).stdout(out).status().expect("it starts").success());
    let [markdown, all] =
        ["m.md", "out"].map(|name| fs::read_to_string(sandbox.path(name)).expect("a file"));
    assert!(all.strip_prefix(&markdown).is_some_and(|rest| !rest.is_empty()), "{all}");
}

/// Three runs each of two groups, of which the second takes a fifth longer: the sleep is most of
/// it. Whether they have verdicts on throughput and mean, and what the comparison printed.
fn groups_differ(sandbox: &Sandbox, runs: &str) -> (bool, String) {
    for (name, service) in [("a", "50ms"), ("b", "60ms")] {
        for at in 1..=3 {
            let folder = format!("{name}{at}");
            let _ = fs::remove_dir_all(sandbox.path(&folder));
            let load = "--connections 4 --warmup 0s --time 500ms --quiet";
            let line = format!("run values1 --target null:?service={service} {load}");
            sandbox.run(&format!("{line} --out {folder}")).fine();
        }
    }
    let json = sandbox.run(&format!("compare --json --primary mean {runs}")).json();
    let ran = sandbox.run(&format!("compare {runs}"));
    let have_verdicts = json["outcome"] == "worse" && ran.out.contains("B slower than A: −");
    (have_verdicts, ran.out)
}

#[test]
fn two_groups_of_runs_have_a_verdict_and_a_gate() {
    let sandbox = Sandbox::new();
    let runs = "a1 a2 a3 -- b1 b2 b3";
    // A machine that stands still in one of the runs leaves none.
    let mut seen = Vec::new();
    let have_verdicts = (0..6).map(|_| groups_differ(&sandbox, runs)).any(|(differ, printed)| {
        seen.push(printed);
        differ
    });
    assert!(have_verdicts, "no verdict, in six tries: {seen:#?}");
    let ran = sandbox.run(&format!("compare {runs}")).fine();
    let ran = ran.prints(&["Two groups of runs", "B slower than A: −", "3 runs a side, unpaired"]);
    assert!(ran.out.lines().count() <= 45 && !ran.out.contains("\nThe runs, by"), "{ran:?}");
    sandbox.run(&format!("compare --details {runs}")).fine().prints(&["\nThe runs, by their"]);
    let fails = "gate          fails: with 95 % confidence the change is below −";
    sandbox.run(&format!("compare --gate {runs}")).with(1, &[fails]);
    let passes = "gate          passes: with 95 % confidence the change is above ";
    let faster = sandbox.run("compare --gate b1 b2 b3 -- a1 a2 a3").fine();
    faster.prints(&["B faster than A", passes]);
    sandbox.run("compare --gate a1 a2 -- b1 b2").with(4, &["`dbtime study ab` does so"]);
    let json = sandbox.run(&format!("compare --json --primary mean {runs}")).fine().json();
    assert_eq!(json["kind"], "group_comparison", "{json}");
    assert_eq!(json["metrics"][0]["name"], "response mean", "{json}");
    assert_eq!(json["outcome"], "worse", "{json}");
    sandbox.run(&format!("compare --html g.html {runs}")).fine().prints(&["Report: g.html"]);
    // Each file that cannot be written is named.
    let ran = sandbox.run(&format!("compare --markdown /dev/full --junit /dev/full {runs}"));
    ran.exits(3);
    assert_eq!(ran.err.matches("cannot write /dev/full").count(), 2, "{ran:?}");
    let page = fs::read_to_string(sandbox.path("g.html")).expect("written");
    for run in ["a1", "b3"] {
        assert!(page.contains(&format!("<a href=\"{run}/report.html\">20")), "{run}: {page}");
    }
    assert!(page.contains("B slower than A"), "{page}");
    for (side, runs) in [("released", ["a1", "a2", "a3"]), ("new", ["b1", "b2", "b3"])] {
        for run in runs {
            let from = sandbox.path(run).join("run.json");
            let folder = sandbox.path(side).join(run);
            fs::create_dir_all(&folder).expect("a folder");
            fs::copy(from, folder.join("run.json")).expect("a copy");
        }
    }
    let ran = sandbox.run("compare --gate --markdown v.md --junit v.xml released -- new");
    ran.exits(1);
    let markdown = fs::read_to_string(sandbox.path("v.md")).expect("a file");
    let verdict = "- verdict: **B slower than A: ";
    assert!(markdown.contains(verdict) && markdown.contains("\n| --- | --: |"), "{markdown}");
    let junit = fs::read_to_string(sandbox.path("v.xml")).expect("a file");
    assert!(junit.contains("<failure message=\"B slower than A: "), "{junit}");
    let figures = junit.matches("<testcase ").count();
    assert!(junit.contains(&format!("tests=\"{figures}\"")) && figures > 2, "{junit}");
    sandbox.run("compare --junit v.xml a1 b1").refused(2, &["need two groups of runs"]);
    fs::write(sandbox.path("new/b2/run.json"), "{").expect("a file");
    sandbox.run("compare released -- new").refused(3, &["new/b2"]);
    sandbox.run("compare a1 a2 a1 -- b1 b2 b3").refused(2, &["a1 and a1 are the same run"]);
    let unmeasured = "Invalid: server CPU per transaction was not measured in any run of A";
    sandbox.run("compare --primary server-cpu a1 -- b1").fine().prints(&[unmeasured]);
    for (primary, name) in [("p95", "response p95"), ("p75", "response p75 (interpolated)")] {
        let line = format!("compare --json --primary {primary} {runs}");
        let json = sandbox.run(&line).fine().json();
        assert_eq!(json["metrics"][0]["name"], name, "{json}");
    }
    let refused = sandbox.run("compare --primary p100 a1 -- b1");
    refused.refused(2, &["above 0 and below 100", "`max`"]);
    sandbox.run("compare --primary thruput a1 -- b1").refused(2, &["did you mean `throughput`?"]);
    sandbox.run("compare a1 none -- b1").refused(3, &["none holds no run"]);
    sandbox.run(&format!("compare --margin 0% {runs}")).refused(2, &["above 0"]);
}

#[test]
fn what_is_no_record_is_refused() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).expect("a folder");
    sandbox.write("file", "");
    for line in ["report empty", "report empty --text", "report none", "report file --text"] {
        sandbox.run(line).refused(3, &["holds no run", "run.json"]);
    }
    assert_eq!(sandbox.left(), ["empty", "file"]);
}

#[test]
fn what_is_near_a_record_or_damaged_is_told() {
    let (sandbox, _) = recorded();
    sandbox.run("report .").refused(3, &[". holds records: `dbtime runs .` lists them"]);
    sandbox.run("report a/series.csv").refused(3, &["is a file of a record", "folder, a"]);
    let damaged = |name: &str, cause: &str| {
        let told = [cause, "damaged or incomplete", "repeat the run"];
        let err = sandbox.run("report a --text").refused(3, &told).err;
        assert!(err.contains(&format!("a/{name}")) && !err.contains(" at line "), "{err}");
    };
    let whole = fs::read_to_string(sandbox.path("a/run.json")).expect("a record");
    // Whole lines: a cut within a number or a character is another fault.
    let half: Vec<&str> = whole.lines().take(whole.lines().count() / 2).collect();
    sandbox.write("a/run.json", &half.join("\n"));
    damaged("run.json", "EOF while parsing");
    let within_number = whole.find(": 0.").expect("a decimal number") + 4;
    sandbox.write("a/run.json", &whole[..within_number]);
    damaged("run.json", "invalid number");
    let within_character = whole.find('≤').expect("the limit") + 1;
    fs::write(sandbox.path("a/run.json"), &whole.as_bytes()[..within_character]).expect("written");
    damaged("run.json", "text that is no UTF-8");
    sandbox.write("a/run.json", "[]");
    damaged("run.json", "line 1: no JSON object");
    sandbox.write("a/run.json", &whole);
    fs::remove_file(sandbox.path("a/series.csv")).expect("it was there");
    damaged("series.csv", "is missing");
}

/// The record of the oldest schema, changed, as a folder `r`.
fn changed(change: impl FnOnce(&mut Value)) -> Sandbox {
    let sandbox = Sandbox::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/v1");
    fs::create_dir(sandbox.path("r")).expect("a folder");
    for file in ["run.json", "series.csv"] {
        fs::copy(fixture.join(file), sandbox.path("r").join(file)).expect("copied");
    }
    let text = fs::read_to_string(sandbox.path("r/run.json")).expect("a record");
    let mut record = serde_json::from_str(&text).expect("JSON");
    change(&mut record);
    if record != serde_json::from_str::<Value>(&text).expect("JSON") {
        sandbox.write("r/run.json", &serde_json::to_string_pretty(&record).expect("JSON"));
    }
    sandbox
}

#[test]
fn a_record_of_schema_1_is_read_for_ever() {
    let sandbox = changed(|_| {});
    let text = sandbox.run("report r --text --details").fine();
    let text = text.prints(&["atm on sqlite 3.46.0", "500/s", "14,990", "withdraw", "1.20 ms"]);
    // Nothing was kept of what this record does not say.
    assert!(!text.out.contains("NaN"), "{text:?}");
    sandbox.run("report r").fine();
    let html = fs::read_to_string(sandbox.path("r/report.html")).expect("a report");
    assert!(html.contains("withdraw") && !html.contains("NaN"));
    sandbox.run("compare r r").fine().prints(&["atm", "A and B are the same record"]);
}

#[test]
fn a_record_with_fields_of_a_later_program_is_read() {
    let text = changed(|_| {}).run("report r --text").fine().out;
    let sandbox = changed(|record| {
        record["novelty"] = json!({"deep": [1, 2, {"x": null}]});
        record["counts"]["paused"] = json!(3);
        record["budget_us"]["gpu"] = json!(12.5);
        record["operations"][0]["colour"] = json!("red");
        let warning = json!({"kind": "moon_phase", "text": "full moon", "remedy": "wait"});
        record["validity"]["warnings"] = json!([warning]);
    });
    let later = sandbox.run("report r --text").fine();
    let later = later.prints(&["full moon"]);
    assert_eq!(later.out.lines().next(), text.lines().next());
}

#[test]
fn a_record_of_a_newer_schema_is_refused_by_name() {
    let sandbox = changed(|record| {
        *record = json!({"schema": 2, "counts": "in another form"});
    });
    for line in ["report r", "report r --text", "compare r r"] {
        sandbox.run(line).refused(3, &["r/run.json", "schema 2", "up to 1", "newer dbtime"]);
    }
    assert!(!sandbox.path("r/report.html").exists());
}

#[test]
fn a_damaged_record_is_told_with_file_and_line() {
    let sandbox = changed(|_| {});
    let whole = fs::read_to_string(sandbox.path("r/run.json")).expect("a record");
    let told = |text: &str, told: &[&str]| {
        sandbox.write("r/run.json", text);
        sandbox.run("report r --text").refused(3, told);
    };
    let lines = whole.lines().count();
    told(&whole[..whole.len() / 2], &["r/run.json, line ", "EOF"]);
    told("", &["r/run.json, line "]);
    told("[]", &["r/run.json, line 1"]);
    let line = whole.lines().position(|line| line.contains("\"offered\"")).expect("counts") + 1;
    let text = whole.replace("\"offered\": 15000", "\"offered\": \"many\"");
    told(&text, &[&format!("r/run.json, line {line}: "), "many"]);
    told(&whole.replace("\"schema\": 1", "\"schema\": \"one\""), &["r/run.json, line "]);
    assert!(lines > line);
    sandbox.write("r/run.json", &whole);
    let series = fs::read_to_string(sandbox.path("r/series.csv")).expect("a series");
    sandbox.write("r/series.csv", &series.replacen("1,measure", "one,measure", 1));
    sandbox.run("report r").refused(3, &["r/series.csv, line 3: "]);
    sandbox.write("r/series.csv", &format!("{series}1,2,3\n"));
    sandbox.run("report r").refused(3, &["r/series.csv, line "]);
    fs::write(sandbox.path("r/series.csv"), [0xff, 0xfe, 0]).expect("written");
    sandbox.run("report r").refused(3, &["r/series.csv"]);
    fs::remove_file(sandbox.path("r/series.csv")).expect("removed");
    sandbox.run("report r").refused(3, &["r/series.csv", "is missing"]);
    assert!(!sandbox.path("r/report.html").exists());
}

#[test]
fn a_record_is_also_named_by_its_file() {
    let (sandbox, _) = recorded();
    let text = sandbox.run("report a --text").fine().out;
    assert_eq!(sandbox.run("report a/run.json --text").fine().out, text);
    fs::remove_file(sandbox.path("a/report.html")).expect("it was there");
    sandbox.run("report a/run.json").fine().prints(&["Report: a/report.html\n"]);
    sandbox.run("compare a/run.json b --details").fine().prints(&["LOADS", "Statements"]);
}

#[test]
fn records_are_listed_newest_first() {
    let (sandbox, _) = recorded();
    sandbox.run("runs").fine().prints(&["no records in dbtime-runs"]);
    sandbox.run("runs none").refused(3, &["none is no folder"]);
    sandbox.run("runs a/run.json").fine().prints(&["small", " a\n"]);
    fs::create_dir_all(sandbox.path("broken/x")).expect("a folder");
    sandbox.write("broken/run.json", "{");
    let list = sandbox.run("runs . --json").fine().json();
    let records = list["records"].as_array().expect("a list");
    let folders: Vec<&str> = records.iter().filter_map(|line| line["folder"].as_str()).collect();
    assert_eq!(folders, ["./b", "./a", "./broken"]);
    assert_eq!(records[0]["workload"], "small");
    assert!(records[0]["throughput_tps"].as_f64().is_some_and(|tps| tps > 0.0));
    assert!(records[2]["problem"].as_str().is_some_and(|why| why.contains("run.json")));
    let text = sandbox.run("runs .").fine();
    let text = text.prints(&["small", "sqlite", "closed", "p99", "! ./broken/run.json"]);
    let at = |name: &str| text.out.find(name).expect("a line");
    assert!(at("./b\n") < at("./a\n"), "{text:?}");
}

#[test]
fn the_command_of_a_report_runs_when_it_is_pasted() {
    let (sandbox, _) = recorded();
    let printed = sandbox.run("report a --text --details").fine().out;
    let command = printed.split("\nRepeat it\n").nth(1).expect("a command");
    let command = command.split("\n\n").next().expect("an end");
    let program = Path::new(env!("CARGO_BIN_EXE_dbtime"));
    let folder = program.parent().expect("a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let elsewhere = sandbox.path("tmp");
    let ran = std::process::Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{folder}:{path}"))
        .current_dir(elsewhere)
        .output()
        .expect("a shell");
    assert!(ran.status.success(), "{command}: {ran:?}");
    let again = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(again.contains("small on sqlite") && again.contains("Record: dbtime-runs/"), "{again}");
}

#[test]
fn reports_follow_the_terminal_and_its_signs() {
    let (sandbox, _) = recorded();
    let shown = |variable: &str, value: &str| {
        let mut command = sandbox.command("report a --text --details");
        let output = command.env(variable, value).output().expect("dbtime starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let widest = |text: &str| {
        let of_report = text.split("\nRepeat it\n").next().unwrap_or("").to_owned();
        of_report.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    };
    assert!(widest(&shown("COLUMNS", "72")) <= 72);
    assert!(widest(&shown("COLUMNS", "20")) <= 72);
    assert!(widest(&shown("COLUMNS", "500")) > 100);
    let plain = shown("LC_ALL", "C");
    assert!(plain.is_ascii() && plain.contains(" us"), "{plain}");
    assert!(shown("LC_ALL", "de_DE.UTF-8").contains(" µs"));
}
