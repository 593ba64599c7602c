//! `report` and `compare`: from records of this version, of older and newer ones, and damaged ones.

use crate::sandbox::Sandbox;
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
    let long = sandbox.run("report a --text --histogram").fine().out;
    assert!(long.len() > text.len());
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
    sandbox.run("report a --html tmp").refused(3, &["cannot write tmp"]);
    assert_eq!(sandbox.left(), ["a", "b", "own.html", "small.toml", "t.db"]);
}

#[test]
fn two_runs_are_shown_side_by_side_without_a_verdict() {
    let (sandbox, _) = recorded();
    let ran = sandbox.run("compare a b").fine();
    let ran = ran.prints(&["small", "cpu", "p99"]);
    let lower = ran.out.to_lowercase();
    assert!(lower.contains("no verdict") || lower.contains("not a verdict"), "{ran:?}");
    sandbox.run("compare a none").refused(3, &["none holds no run"]);
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
    let text = sandbox.run("report r --text").fine();
    let text = text.prints(&["atm on sqlite 3.46.0", "500/s", "14,990", "withdraw", "1.20 ms"]);
    // Nothing was kept of what this record does not say.
    assert!(!text.out.contains("NaN"), "{text:?}");
    sandbox.run("report r").fine();
    let html = fs::read_to_string(sandbox.path("r/report.html")).expect("a report");
    assert!(html.contains("withdraw") && !html.contains("NaN"));
    sandbox.run("compare r r").fine().prints(&["atm"]);
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
    sandbox.run("report r").refused(3, &["r/series.csv", "No such file"]);
    assert!(!sandbox.path("r/report.html").exists());
}
