//! `compare` of files of other tools, and of runs of external programs.

use crate::sandbox::Sandbox;
use crate::stdout::{goes_unread, tells_of_a_full_disk};
use serde_json::json;
use std::fs;

/// Output of `go test -bench`: each name with ten values about this mean.
fn go(means: &[(&str, f64)]) -> String {
    let line = |(name, mean): &(&str, f64), at: u32| {
        let value = mean * (1.0 + 0.001 * f64::from(at * 7 % 5));
        format!("Benchmark{name}-8 100 {value} ns/op\n")
    };
    (0..10).flat_map(|at| means.iter().map(move |one| line(one, at))).collect()
}

/// A sandbox with `old.txt`, a `slow.txt` in which one of two names is slower, and a `fast.txt`.
fn files() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("old.txt", &go(&[("Copy", 100.0), ("Find", 50.0)]));
    sandbox.write("slow.txt", &go(&[("Copy", 110.0), ("Find", 50.0)]));
    sandbox.write("fast.txt", &go(&[("Copy", 80.0), ("Find", 50.0)]));
    sandbox
}

#[test]
fn files_have_a_verdict_on_each_name_and_a_gate_on_all() {
    let sandbox = files();
    let verdict = "1 of 2 worse, 0 better, 1 the same, 0 undecided";
    let ran = sandbox.run("compare old.txt slow.txt").fine();
    let ran = ran.prints(&[verdict, "Copy-8", "+10.0 %", "slower", "Find-8", "2 names"]);
    assert!(ran.out.lines().count() <= 45 && !ran.out.contains("\nVerdicts"), "{ran:?}");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{ran:?}");
    let all = sandbox.run("compare old.txt slow.txt --details").fine();
    all.prints(&["Verdicts", "B slower than A: +10.0 %", "10 runs a side, unpaired"]);
    let gated = sandbox.run("compare --gate old.txt slow.txt");
    gated.exits(1);
    gated.prints(&["fails: worse by 1 % or more is shown in 1 of 2"]);
    sandbox.run("compare --gate old.txt fast.txt").exits(0);
    // A difference that only may be of the margin.
    sandbox.run("compare --gate --margin 10% old.txt slow.txt").exits(4);
    sandbox.run("compare --gate --margin 20% old.txt slow.txt").exits(0);
    sandbox.write("again.txt", &go(&[("Copy", 100.0), ("Find", 50.0)]));
    sandbox.run("compare --gate old.txt again.txt -- slow.txt").exits(1);
    let json = sandbox.run("compare --json old.txt slow.txt").fine().json();
    assert_eq!((&json["kind"], &json["outcome"]), (&json!("foreign_comparison"), &json!("worse")));
    assert_eq!(json["rows"][0]["name"], "Copy-8", "{json}");
    assert_eq!(json["rows"][0]["a"].as_array().map(Vec::len), Some(10), "{json}");
}

#[test]
fn what_is_written_of_files_is_what_is_written_of_runs() {
    let sandbox = files();
    let line = "compare --gate --markdown v.md --junit v.xml --html v.html old.txt slow.txt";
    sandbox.run(line).exits(1);
    let read = |name: &str| fs::read_to_string(sandbox.path(name)).expect("written");
    assert!(read("v.md").contains("1 of 2 worse"), "{}", read("v.md"));
    assert!(read("v.html").contains("<svg"), "{}", read("v.html"));
    let junit = read("v.xml");
    assert!(junit.contains("tests=\"2\" failures=\"1\" skipped=\"0\" errors=\"0\""), "{junit}");
    tells_of_a_full_disk(&sandbox, "compare old.txt slow.txt");
    goes_unread(&sandbox, "compare old.txt slow.txt");
}

#[test]
fn a_result_of_before_stands_nowhere_after_an_error() {
    let sandbox = files();
    fs::create_dir(sandbox.path("folder")).expect("a folder");
    for (places, code, told) in [
        ("old.txt none.txt", 3, "none.txt: no such file"),
        ("old.txt folder", 2, "compare files with files, and runs with runs"),
        ("old.txt /dev/null", 2, "/dev/null is neither a file nor a folder"),
        ("old.txt -- slow.txt old.txt", 2, "are the same file"),
        ("--primary p99 old.txt slow.txt", 2, "--primary names a figure of runs"),
    ] {
        ["v.xml", "v.md"].iter().for_each(|name| sandbox.write(name, "passed"));
        let line = format!("compare --junit v.xml --markdown v.md {places}");
        sandbox.run(&line).refused(code, &[told]);
        for name in ["v.xml", "v.md"] {
            let text = fs::read_to_string(sandbox.path(name)).expect("written");
            assert!(text.contains("ended without a result") && !text.contains("passed"), "{text}");
        }
    }
    // The second file may have been meant to be read.
    sandbox.run("compare --junit old.txt slow.txt").refused(2, &["name two files"]);
    let text = fs::read_to_string(sandbox.path("old.txt")).expect("it is there");
    assert!(text.starts_with("BenchmarkCopy-8"), "{text}");
}

#[test]
fn standard_output_takes_one_document_beside_json() {
    let sandbox = files();
    for flag in ["--html", "--markdown", "--junit"] {
        let line = format!("compare --json {flag} /dev/stdout old.txt slow.txt");
        sandbox.run(&line).refused(2, &["/dev/stdout takes the JSON document of --json"]);
    }
    sandbox.run("compare --json --html v.html old.txt slow.txt").fine().json();
}

#[test]
fn files_that_cannot_be_compared_are_refused_with_their_line() {
    let sandbox = files();
    sandbox.write("cut.txt", "goos: linux\nBenchmarkCopy-8 100\n");
    sandbox.write("prose.txt", "nothing of the kind\n");
    sandbox.write("other.txt", &go(&[("Sort", 1.0), ("Walk", 1.0)]));
    fs::create_dir(sandbox.path("folder")).expect("a folder");
    let refused = |line: &str, code: i32, told: &str| {
        sandbox.run(&format!("compare {line}")).refused(code, &[told]);
    };
    refused("old.txt cut.txt", 3, "cut.txt: line 2: BenchmarkCopy-8 has no value");
    refused("old.txt prose.txt", 3, "prose.txt: it is none of the files that can be compared");
    refused("old.txt other.txt", 3, "no name is on both sides with one unit");
    refused("old.txt none.txt", 3, "none.txt: no such file");
    refused("old.txt folder", 2, "compare files with files, and runs with runs");
    refused("old.txt", 2, "name two files");
    refused("old.txt slow.txt fast.txt", 2, "name two files");
    refused("old.txt ./old.txt -- slow.txt", 2, "old.txt and ./old.txt are the same file");
    refused("old.txt old.txt", 2, "old.txt and old.txt are the same file");
    refused("old.txt -- slow.txt old.txt", 2, "are the same file");
    refused("/dev/null old.txt", 2, "/dev/null is neither a file nor a folder: save");
    refused("/dev/null /dev/null", 2, "is neither a file nor a folder");
    refused("--primary p99 old.txt slow.txt", 2, "--primary names a figure of runs");
    fs::write(sandbox.path("bytes.txt"), b"\xff\xfe\x00").expect("written");
    refused("old.txt bytes.txt", 3, "cannot read bytes.txt");
    refused("--markdown old.txt old.txt slow.txt", 2, "old.txt is a file that this command reads");
}

#[test]
fn every_format_is_known_by_what_is_in_it() {
    let sandbox = Sandbox::new();
    let times = |scale: f64| [1.0, 1.001, 1.002, 1.003].map(|time| time * scale);
    for (name, scale) in [("a", 1.0), ("b", 1.1)] {
        let times = times(scale);
        let result = json!({"results": [{"command": format!("tool-{name}"), "times": times}]});
        sandbox.write(&format!("hyperfine.{name}"), &result.to_string());
        let run = |time: &f64| json!({"name": "BM", "run_type": "iteration", "real_time": time});
        let runs: Vec<_> = times.iter().map(run).collect();
        sandbox.write(&format!("google.{name}"), &json!({"benchmarks": runs}).to_string());
        let rows = times.map(|time| format!("x,{time}\n")).concat();
        sandbox.write(&format!("csv.{name}"), &format!("name,ms\n{rows}"));
        let cases = times.map(|time| format!("<testcase name=\"x\" time=\"{time}\"/>")).concat();
        sandbox.write(&format!("junit.{name}"), &format!("<testsuite>{cases}</testsuite>"));
    }
    for format in ["hyperfine", "google", "csv", "junit"] {
        let ran = sandbox.run(&format!("compare --gate {format}.a {format}.b"));
        ran.exits(1);
        ran.prints(&["B slower than A: +10.0 %"]);
    }
}

/// Runs of an external program as a study leaves them, without the study.
#[test]
fn runs_of_an_external_program_are_compared_by_what_it_printed() {
    let sandbox = Sandbox::new();
    for (side, tps) in [("base", 1000.0), ("new", 900.0)] {
        for at in 0..5 {
            let value = tps + f64::from(at);
            let minute = 2 * at + i32::from(side == "new");
            let wall = 30.0 + 0.1 * f64::from(minute % 3);
            let record = json!({
                "schema": 1, "dbtime": "0", "command": "tool", "seed": at,
                "variables": [{"name": "CODEC", "value": format!("codec-{side}")}],
                "started_at": format!("2026-11-30T10:{minute:02}:00Z"),
                "ended_at": format!("2026-11-30T10:{minute:02}:30Z"),
                "wall_s": 30.0, "steal_pct": 0.0, "values": {"tps": value, "wall": wall},
            });
            let folder = sandbox.path(&format!("{side}/{at}"));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("program.json"), record.to_string()).expect("written");
        }
    }
    let ran = sandbox.run("compare --gate base -- new");
    ran.exits(1);
    ran.prints(&["B worse than A: −10.0 %", "on tps", "5 pairs"]);
    sandbox.run("compare base/0/program.json base/1 base/2 -- new").fine().prints(&["on tps"]);
    sandbox.run("compare base base/0 -- new").refused(2, &["are the same run"]);
    let by_wall = sandbox.run("compare --primary wall base -- new").fine();
    let set_up = "CODEC: A codec-base, B codec-new";
    by_wall.prints(&["on wall, s", set_up, "tool with CODEC=codec-base", "CODEC=codec-new"]);
    sandbox.run("compare --primary p99 base -- new").refused(2, &["known: tps, wall"]);
    let alone = "base/0 is a run of an external program, and such runs are compared in groups";
    sandbox.run("compare base/0 new/0").refused(2, &[alone]);
}
