//! `--sweep`: a run for each combination, a record each, one table or JSON lines.

use crate::sandbox::{Sandbox, count, counts_add_up, names, number};
use dbtime_engines::null_server::{Listen, NullServer, NullServerOptions, Wire};
use serde_json::Value;

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
fn repetitions_go_in_rounds_and_stand_together() {
    let sandbox = Sandbox::new();
    let line = format!("{LINE} --sweep workers=4,2 --repeat 2");
    let ran = sandbox.run(&format!("{line} --out s --json")).fine();
    let workers: Vec<u64> =
        ran.out.lines().map(|line| count(&document(line), "/load/workers")).collect();
    assert_eq!(workers, [4, 2, 4, 2]);
    assert_eq!(names(&sandbox.path("s")), ["001", "002", "003", "004"]);
    assert!(ran.out.lines().all(|line| !line.contains("--repeat")), "{ran:?}");
    let ran = sandbox.run(&format!("{line} --no-record")).fine();
    let column = |line: &str| line.split_whitespace().nth(3).map(str::to_owned);
    let table: Vec<String> =
        ran.out.lines().filter(|line| line.contains("closed loop")).filter_map(column).collect();
    assert_eq!(table, ["4", "4", "2", "2"], "{ran:?}");
    let once = sandbox.run(&format!("{LINE} --repeat 3 --json --no-record")).fine();
    assert_eq!(once.out.lines().count(), 3, "{once:?}");
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
        assert_eq!(json["load"]["auto"]["servers"], 3, "no crowd");
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
    let listen = vec![(Wire::MySql, Listen::Port(0))];
    let server = NullServer::start(&NullServerOptions { listen, ..Default::default() });
    let server = server.expect("a port is free");
    let target = server.target(Wire::MySql).expect("it speaks MySQL");
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
