//! `--sweep`: a run for each combination, a record each, one table or JSON lines.

use crate::sandbox::{Sandbox, count, counts_add_up, names};
use serde_json::Value;

const LINE: &str = "run values1 --target 'null:?service=1ms' --transactions 40";

#[test]
fn every_combination_is_run_and_recorded() {
    let sandbox = Sandbox::new();
    let line = format!("{LINE} --sweep 'workers=4,2; rate=500/s connections=1,3' --out s --json");
    let ran = sandbox.run(&line).fine();
    let documents: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("a document a line"))
        .collect();
    assert_eq!(documents.len(), 4, "{ran:?}");
    documents.iter().for_each(counts_add_up);
    let workers = documents.iter().map(|json| json["load"]["workers"].as_u64());
    assert!(workers.eq([Some(4), Some(2), None, None]));
    assert_eq!(count(&documents[3], "/load/connections"), 3);
    assert_eq!(documents[2]["load"]["rate"], "500/s");
    assert_eq!(sandbox.left(), ["s"]);
    assert_eq!(names(&sandbox.path("s")), ["001", "002", "003", "004"]);
    for (index, printed) in documents.iter().enumerate() {
        let folder = sandbox.path("s").join(format!("{:03}", index + 1));
        let recorded = std::fs::read_to_string(folder.join("run.json")).expect("a record");
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
fn the_worst_exit_code_counts_and_all_are_run() {
    let sandbox = Sandbox::new();
    let line = format!("{LINE} --sweep 'limit=p90<=1ms,p90<=1h' --no-record --json");
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
    ran.tells(&["loaded at scale 1, not 2"]);
    assert_eq!(names(&sandbox.path("s")), ["001"]);
    dbtime_model::record::read_run(&sandbox.path("s/001")).expect("a whole record");
}
