//! `dbtime run --trace --stacks`: where the server's threads were.

use super::run_waits::part_s;
use super::*;
use crate::sandbox::names;
use crate::small_workloads::write_small;
use dbtime_model::record::{FoldedStack, Run, read_run};
use std::collections::BTreeMap;

/// The parts that are waiting, but for waits for a CPU.
const WAITING: [&str; 7] = ["lock", "io_read", "io_write", "sync", "net", "sleep", "other"];

/// A run with stacks, and its record as JSON; `None` without eBPF.
fn with_stacks(sandbox: &Sandbox, line: &str) -> Option<(Run, Value)> {
    let ran = sandbox.run(&format!("run {line} --trace --stacks --json --out r"));
    let record: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    if record["trace"].is_null() {
        not_tested(&record["validity"].to_string());
        return None;
    }
    Some((read_run(&sandbox.path("r")).expect("a record"), record))
}

/// What stacks come to by the name of a frame.
fn by_frame(stacks: &[FoldedStack], place: usize) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for stack in stacks {
        *sums.entry(&*stack.frames[place]).or_default() += stack.weight;
    }
    sums
}

#[test]
fn stacks_come_to_what_the_parts_are() {
    for product in [Product::Mariadb, Product::Postgres] {
        let sandbox = Sandbox::on_disk();
        let workload = write_small(&sandbox, "tpcb");
        let load = "--connections 2 --time 3s --warmup 200ms";
        let line = format!("{workload} --target {} {load}", product.name());
        let Some((run, record)) = with_stacks(&sandbox, &line) else { return };
        let info = &record["trace"]["stacks"];
        assert_eq!(info["lost"], 0, "{info}");
        let off_cpu = run.stacks.off_cpu.expect("stacks were traced");
        let parts = by_frame(&off_cpu, 2);
        let mut waited_s = 0.0;
        for part in WAITING {
            let of_stacks = parts.get(part).map_or(0.0, |us| *us as f64 / 1e6);
            let all = part_s(&record, part);
            // Each line of the file is rounded to a microsecond.
            let rounding = off_cpu.len() as f64 * 1e-6;
            assert!(
                (of_stacks - all).abs() <= 0.01 * all + rounding,
                "{part}: {of_stacks} of {all}"
            );
            waited_s += all;
        }
        let sum = info["off_cpu"]["time_s"].as_f64().expect("a sum");
        assert!((sum - waited_s).abs() <= 0.01 * waited_s, "{sum} of {waited_s}");
        syncs_by_commit(&off_cpu);
        is_sampled(&run.stacks.on_cpu, &record);
        let text = sandbox.run("report --text --details r").fine().out;
        assert!(text.contains("Where the server's threads were"), "{text}");
        let page = std::fs::read_to_string(sandbox.path("r/report.html")).expect("a page");
        assert!(page.contains("id=\"stacks-off-cpu-title\""), "a flame graph is missing");
    }
}

/// The transactions' commits sync, and say so by the names of the kernel and of the program.
///
/// Other statements sync too, now and then: an insert that extends its file, for as long as the
/// disk likes.
fn syncs_by_commit(off_cpu: &[FoldedStack]) {
    let syncs: Vec<_> = off_cpu.iter().filter(|stack| stack.frames[2] == "sync").collect();
    let commits: Vec<_> =
        syncs.iter().filter(|stack| stack.frames[..2] == ["tpcb", "commit"]).collect();
    let commit_us: u64 = commits.iter().map(|stack| stack.weight).sum();
    let named_us = |functions: &[&str]| -> u64 {
        let is_named = |frame: &String| functions.iter().any(|name| frame.contains(name));
        let has = |stack: &&&&FoldedStack| stack.frames[3..].iter().any(is_named);
        commits.iter().filter(has).map(|stack| stack.weight).sum()
    };
    // Where files lie in memory there is nothing to sync.
    if is_in_guest() && commit_us < 1_000 {
        return;
    }
    assert!(commit_us > 1_000, "{off_cpu:?}");
    assert!(named_us(&["sync_file", "do_fsync", "fdatasync"]) * 10 > commit_us * 9, "{syncs:#?}");
    assert!(named_us(&["ommit"]) * 10 > commit_us * 9, "{syncs:#?}");
}

/// Samples come to about what a CPU was had for, where this kernel samples. A slow disk leaves few
/// of them, and how many few are is chance.
fn is_sampled(on_cpu: &Option<Vec<FoldedStack>>, record: &Value) {
    let info = &record["trace"]["stacks"];
    let Some(on_cpu) = on_cpu else {
        assert!(info["sampling"].is_null() && info["on_cpu"].is_null(), "{info}");
        let notes = record["trace"]["notes"].to_string();
        return assert!(notes.contains("stacks on a CPU"), "{notes}");
    };
    let sampled_s = info["on_cpu"]["time_s"].as_f64().expect("a sum");
    let cpu_s = part_s(record, "cpu");
    // Four standard deviations of a Poisson count, and one sample.
    let per_s = info["samples_per_s"].as_f64().expect("a rate");
    let room_s = (4.0 * (cpu_s * per_s).sqrt() + 1.0) / per_s;
    let about = 0.5 * cpu_s - room_s..2.0 * cpu_s + room_s;
    assert!(about.contains(&sampled_s), "{sampled_s} of {cpu_s}");
    let samples: u64 = on_cpu.iter().map(|stack| stack.weight).sum();
    assert_eq!(info["on_cpu"]["count"], samples, "{info}");
    assert_eq!(by_frame(on_cpu, 0).keys().collect::<Vec<_>>(), [&"tpcb"]);
}

#[test]
fn without_stacks_there_are_none() {
    let sandbox = Sandbox::new();
    let line = "run --query 'SELECT 1' --target postgres --transactions 50 --trace --json --out r";
    let record: Value = serde_json::from_str(&sandbox.run(line).out).expect("a record");
    if record["trace"].is_null() {
        return not_tested(&record["validity"].to_string());
    }
    assert!(record["trace"]["stacks"].is_null(), "{}", record["trace"]);
    let files = names(&sandbox.path("r"));
    assert!(files.iter().all(|name| !name.contains("stacks")), "{files:?}");
}

#[test]
fn stacks_without_the_tracer_are_refused() {
    let sandbox = Sandbox::new();
    let line = "values1 --target null --transactions 1 --no-record";
    sandbox.run(&format!("run {line} --stacks")).refused(2, &["--trace"]);
    let printed = sandbox.run(&format!("run {line} --print-spec")).fine().out;
    let spec = printed.replace("\"stacks\": false", "\"stacks\": true");
    assert_ne!(spec, printed);
    sandbox.write("s.json", &spec);
    sandbox.run("run --spec s.json --no-record").refused(2, &["add `--trace`"]);
}
