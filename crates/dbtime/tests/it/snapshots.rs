//! Data that were loaded once are restored for other runs.

use crate::disk_full::{left, on_a_disk_of};
use crate::sandbox::{Sandbox, names};
use crate::small_workloads::write_small;
use serde_json::Value;
use std::fs;

const PRODUCTS: [&str; 3] = ["mariadb", "postgres", "sqlite"];

/// Whether the data of a run were restored.
fn is_restored(record: &Value) -> bool {
    record["target"]["is_restored"].as_bool().expect("a record has it")
}

/// A run is of the same rows whether they are loaded or restored: of few statements each finds
/// what its seed says.
#[test]
fn what_one_run_loads_others_restore() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let workload = write_small(&sandbox, "tpcb");
        let line = |more: &str| {
            format!(
                "run {workload} --target {product} --transactions 20 --data-seed 5 --no-record \
                 --json {more}"
            )
        };
        let loaded = sandbox.run(&line("--snapshots kept/all")).fine().json();
        let restored = sandbox.run(&line("--snapshots kept/all --seed 9")).fine().json();
        assert!(!is_restored(&loaded) && is_restored(&restored), "{product}");
        for record in [&loaded, &restored] {
            assert_eq!(record["counts"]["completed"], 20, "{product}");
            assert_eq!(record["counts"]["failed"], 0, "{product}");
        }
        assert_eq!(loaded["workload"]["rows"], restored["workload"]["rows"]);
        // Other rows have a snapshot of their own.
        let other = line("--snapshots kept/all").replace("--data-seed 5", "--data-seed 6");
        assert!(!is_restored(&sandbox.run(&other).fine().json()), "{product}");
        assert_eq!(names(&sandbox.path("kept/all")).len(), 2, "{product}");
        assert_eq!(sandbox.left(), ["kept", "tpcb.toml"]);
    }
}

#[test]
fn a_damaged_snapshot_is_refused_by_name() {
    let sandbox = Sandbox::new();
    let line = "run tpcb --target sqlite --transactions 5 --no-record --quiet --snapshots kept";
    sandbox.run(line).fine();
    let data = sandbox.path("kept").join(&names(&sandbox.path("kept"))[0]).join("data");
    fs::write(&data, "").expect("written");
    sandbox
        .run(line)
        .refused(3, &["cannot be restored: it has no whole data of tpcb", "remove them"]);
    fs::remove_file(&data).expect("removed");
    sandbox.run(line).refused(3, &["cannot be restored: No such file", "remove them"]);
}

#[test]
fn of_a_database_that_is_there_no_snapshot_is_made() {
    let sandbox = Sandbox::new();
    for target in ["sqlite:t.db", "null", "mysql://root@127.0.0.1:1/d"] {
        let line = format!("run tpcb --target {target} --transactions 5 --snapshots kept");
        sandbox.run(&line).refused(2, &["--snapshots is for data that the run loads"]);
    }
    assert_eq!(sandbox.left(), Vec::<String>::new());
    sandbox.run("run --sweep snapshots=a,b").refused(2, &["`snapshots=a,b` cannot be swept"]);
    sandbox.write("file", "");
    let line = "run tpcb --target sqlite --transactions 5 --no-record --snapshots file";
    sandbox.run(line).refused(3, &["--snapshots file: File exists", "name a folder"]);
}

#[test]
fn there_is_no_room_for_it() {
    let sandbox = Sandbox::new();
    let script =
        "dbtime run tpcb --target sqlite --transactions 5 --no-record --snapshots disk/kept";
    let Some(ran) = on_a_disk_of("4m", &sandbox, script) else { return };
    ran.exits(3);
    let ran = ran.stderr_has(&["cannot keep a snapshot of the data in disk/kept", "make room"]);
    assert!(left(&ran).is_empty(), "{ran:?}");
}

/// A study restores the data of each server for its runs, which then have the same rows, and keeps
/// none of it; one that was killed goes on with what there is.
#[test]
fn the_runs_of_a_study_start_from_the_same_data() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "sizes.toml",
        "run = \"tpcb --target sqlite --transactions 200\"\n[design]\nblocks = 2\ncontrol = false\n\
         [gate]\nsteal = \"99%\"\nforeign-cpu = \"1000%\"\nwait = \"0s\"\nsteady = false\n\
         [factors.cache]\nsmall = \"target=sqlite?cache_size=10\"\n\
         large = \"target=sqlite?cache_size=1000\"\n",
    );
    sandbox.run("study plan sizes.toml").fine().prints(&["data restored from a snapshot"]);
    let running = sandbox.start("study run sizes.toml --out s --quiet");
    let kept = sandbox.path("s/snapshots");
    // Whatever it is called there.
    sandbox.wait_for(&["s", "snapshots", ""]);
    running.kill();
    sandbox.run("study pack s --out half.tar.gz").fine();
    // Beside other tests the driver may be late: that run's block is made again.
    let resumed = sandbox.run("study resume s --quiet --repeats 100").fine();
    assert!(!kept.exists(), "{resumed:?}");
    let runs = sandbox.path("s/runs");
    let records: Vec<Value> = names(&runs)
        .iter()
        .filter_map(|run| fs::read_to_string(runs.join(run).join("run.json")).ok())
        .map(|text| serde_json::from_str(&text).expect("a record"))
        .collect();
    let restored = records.iter().filter(|record| is_restored(record)).count();
    assert!(records.len() >= 4 && restored + 2 >= records.len(), "{restored} {}", records.len());
    assert!(records.iter().all(|record| record["spec"]["workload"]["data_seed"] == 1));

    let text = fs::read_to_string(sandbox.path("sizes.toml")).expect("there");
    sandbox.write("sizes.toml", &text.replace("[design]", "[design]\ndata = \"load\""));
    sandbox.run("study plan sizes.toml").fine().prints(&["with freshly loaded data"]);
    sandbox.write("sizes.toml", &text.replace("[design]", "[design]\ndata = \"copy\""));
    sandbox.run("study plan sizes.toml").refused(2, &["data = \"copy\": write snapshot or load"]);
}
