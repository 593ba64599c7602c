//! `dbtime doctor` on this machine: its report, its exit codes, and what it leaves.

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn findings(json: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(json).expect("one JSON document");
    assert_eq!(report["schema"], 1);
    report["findings"].as_array().expect("findings").clone()
}

#[test]
fn this_machine_is_examined_and_nothing_is_left() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("doctor --data . --for study --json").fine();
    let findings = findings(&ran.out);
    assert!(findings.len() > 30, "{findings:?}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/doctor.md");
    let page = std::fs::read_to_string(page).expect("a page");
    for finding in &findings {
        let id = finding["id"].as_str().expect("a name");
        assert!(page.contains(&format!("`{id}`")), "docs/doctor.md does not name {id}");
        let has_text = |field: &str| finding[field].as_str().is_some_and(|text| !text.is_empty());
        assert!(has_text("source") && has_text("because") && has_text("expected"), "{finding}");
        let costs_nothing = matches!(finding["grade"].as_str(), Some("good" | "unknown"));
        assert_eq!(has_text("costs"), !costs_nothing, "{finding}");
    }
    let sync = findings.iter().find(|finding| finding["id"] == "sync").expect("a check");
    assert_ne!(sync["grade"], "unknown", "{sync}");
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

#[test]
fn the_report_begins_with_what_can_be_told_apart_and_details_have_all() {
    let sandbox = Sandbox::new();
    let short = sandbox.run("doctor").fine();
    let beginnings = ["Bad here: ", "Nothing "];
    assert!(beginnings.iter().any(|begin| short.out.starts_with(begin)), "{short:?}");
    let short = short.prints(&["not measured: --noise"]);
    let details = sandbox.run("doctor --details").fine();
    assert!(details.out.lines().count() > short.out.lines().count(), "{details:?}");
    sandbox.run("doctor --markdown").fine().prints(&["governor"]);
    let script = sandbox.run("doctor --fix-script").fine();
    assert!(script.out.starts_with("#!/bin/sh\n"), "{script:?}");
    let read = Command::new("sh").args(["-n", "-c", &script.out]).output().expect("a shell");
    assert!(read.status.success(), "{read:?}: {script:?}");
}

#[test]
fn what_is_planned_is_tried_and_the_folder_of_temporary_files_is_looked_at() {
    let sandbox = Sandbox::new();
    let all = findings(&sandbox.run("doctor --rate 400/s --time 60s --json").fine().out);
    let find = |id: &str| all.iter().find(|finding| finding["id"] == id).expect("a check").clone();
    let rate = find("driver_rate")["value"].as_str().map(str::to_owned).expect("tried");
    assert!(rate.ends_with(" of 400 a second"), "{rate}");
    for id in ["file_system", "sync"] {
        assert_ne!(find(id)["grade"], "unknown", "{id}");
    }
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

#[test]
fn strict_fails_where_something_is_bad() {
    let sandbox = Sandbox::new();
    // More than any machine has ports.
    let line = "doctor --connections 100000 --json";
    let ports = |json: &str| {
        let all = findings(json);
        all.iter().find(|finding| finding["id"] == "ports").expect("a check")["grade"].clone()
    };
    assert_eq!(ports(&sandbox.run(line).fine().out), "bad");
    sandbox.run(&format!("{line} --strict")).exits(1);
}

#[test]
fn what_cannot_be_examined_is_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    sandbox.run("doctor --data absent").refused(3, &["absent is no folder"]);
    sandbox.run("doctor --for fun").refused(2, &["production"]);
    sandbox.run("doctor --rate fast").refused(2, &["fast"]);
    let refused = sandbox.run("doctor --target mysql://u:hush@127.0.0.1:1/d").refused(3, &[]);
    assert!(!refused.err.contains("hush"), "{refused:?}");
}
