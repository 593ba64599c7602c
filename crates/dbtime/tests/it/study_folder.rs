//! Studies as folders: handed on, verified, and those that are shipped.

use crate::running::Running;
use crate::sandbox::{Sandbox, names};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Signal;
use std::fs;
use std::io::{PipeReader, PipeWriter, Write};

const STUDY: &str = r#"
run = "values1 --target null:?service=20ms --time 1s --warmup 0s"
[design]
blocks = 3
[gate]
wait = "0s"
steal = "99%"
foreign-cpu = "1000%"
repeats = 99
[factors]
connections = [1, 2]
"#;

#[test]
fn a_packed_study_is_verified_and_a_changed_figure_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("two.toml", STUDY);
    sandbox.run("study run two.toml --out two --quiet").fine();
    let by_journal = "are checked by their SHA-256 in the journal";
    let verified = sandbox.run("study verify two").fine();
    verified.prints(&["not packed", by_journal, "all", "figures follow"]);
    sandbox.run("study pack two").fine().prints(&["Packed: two.tar.gz"]);
    sandbox.run("study pack two").refused(2, &["two.tar.gz exists already"]);
    let verified = sandbox.run("study verify two.tar.gz").fine();
    // A block may have been repeated.
    let follow = "runs follow from their series, histograms and parts";
    verified.prints(&["all files are as they were packed", follow, "runs.csv follows"]);
    // Files that were swapped between two runs are found in each.
    let runs = names(&sandbox.path("two/runs"));
    let series = [0, 1].map(|at| sandbox.path("two/runs").join(&runs[at]).join("series.csv"));
    let texts = series.each_ref().map(|path| fs::read_to_string(path).expect("a series"));
    for (path, text) in series.iter().zip([&texts[1], &texts[0]]) {
        fs::write(path, text).expect("written");
    }
    let swapped = sandbox.run("study verify two");
    swapped.exits(1);
    let told = [0, 1].map(|at| format!("{}: series.csv has changed since the run", runs[at]));
    swapped.prints(&[told[0].as_str(), told[1].as_str()]);
    for (path, text) in series.iter().zip(&texts) {
        fs::write(path, text).expect("written");
    }
    let verified = sandbox.run("study verify two").fine();
    let closer = "mean, maximum and percentiles closer than the histogram's powers of two (the";
    verified.prints(&["rest      not verified: CPU, memory, queue", closer]);
    // A figure that somebody made larger is found in the run, in the table and in the analysis.
    let run = sandbox.path("two/runs").join(&names(&sandbox.path("two/runs"))[0]).join("run.json");
    let record = fs::read_to_string(&run).expect("a record");
    let at = record.find("\"throughput_tps\": ").expect("a figure") + "\"throughput_tps\": ".len();
    let forged = format!("{}9{}", &record[..at], &record[at..]);
    fs::write(&run, forged).expect("written");
    let found = sandbox.run("study verify two");
    found.exits(1);
    found.prints(&[
        "differs from the packed file",
        "throughput_tps is 9",
        "WRONG",
        "runs.csv differs from the records",
    ]);
    fs::write(sandbox.path("text.tar.gz"), "no archive").expect("written");
    sandbox.run("study verify text.tar.gz").refused(3, &["text.tar.gz cannot be read as a packed"]);
    sandbox.run("study verify nowhere").refused(3, &["holds no study"]);
}

/// A study of a program that takes no time, and comes to the same each time.
const PROGRAM: &str = r#"
command = "echo result: $RESULT tps"
primary = "speed"
[metric.speed]
regex = ': ([0-9.,]+) tps'
unit = "tps"
better = "higher"
[design]
blocks = 3
[gate]
wait = "0s"
steal = "99%"
foreign-cpu = "1000%"
[factors.result]
more = "RESULT=1200"
less = "RESULT=1100"
"#;

/// A packed study, `two.tar.gz`.
fn packed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("two.toml", PROGRAM);
    sandbox.run("study run two.toml --out two --quiet").fine();
    sandbox.run("study pack two").fine();
    sandbox
}

/// As a kill leaves a study behind its last run.
#[test]
fn what_is_not_written_yet_is_not_wrong() {
    let sandbox = packed();
    fs::remove_file(sandbox.path("two/manifest.json")).expect("it was packed");
    let journal = sandbox.path("two/journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    let killed = text.split_inclusive('\n').filter(|line| !line.contains("\"finished\""));
    fs::write(&journal, killed.collect::<String>()).expect("written");
    let told = ["runs.csv is not written yet", "analysis.json is not written yet"];
    let table = fs::read_to_string(sandbox.path("two/runs.csv")).expect("a table");
    let head = table.split_inclusive('\n').take(2).collect::<String>();
    sandbox.write("two/runs.csv", &head);
    let verified = sandbox.run("study verify two").fine().prints(&told);
    assert!(!verified.out.contains("WRONG"), "{verified:?}");
    for file in ["runs.csv", "analysis.json"] {
        fs::remove_file(sandbox.path("two").join(file)).expect("it was there");
    }
    sandbox.run("study verify two").fine().prints(&told);
    // Another table of as many runs is not that of these.
    sandbox.write("two/runs.csv", &table.replacen(",more", ",most", 1));
    sandbox.run("study verify two").with(1, &["runs.csv differs from the records"]);
}

/// Whatever the figures are that stand there now.
#[test]
fn no_gate_goes_by_runs_whose_files_have_changed() {
    let sandbox = packed();
    let run = names(&sandbox.path("two/runs"))[0].clone();
    let record = sandbox.path("two/runs").join(&run).join("program.json");
    let text = fs::read_to_string(&record).expect("a record");
    fs::write(&record, text + "\n").expect("written");
    let told = format!("CHANGED RUNS: runs/{run} (program.json has changed since the run)");
    let told = [told.as_str(), "dbtime study verify two looks at all"];
    sandbox.run("study report two").fine().prints(&told);
    let gated = sandbox.run("study report two --gate --junit two.xml");
    gated.exits(4);
    gated.prints(&["undecided: files of runs have changed since", told[0]]);
    let junit = fs::read_to_string(sandbox.path("two.xml")).expect("a file");
    assert!(junit.contains("gate undecided: files of runs") && junit.contains(told[0]), "{junit}");
    let json = sandbox.run("study report two --json").fine().json();
    assert_eq!(json["comparisons"][0]["comparison"]["gate"]["outcome"], "undecided");
    assert!(json["runs_changed"].as_str().is_some_and(|text| text.starts_with(told[0])));
}

/// Packs a folder of the sandbox with tar(1), and further paths behind it.
fn tar(sandbox: &Sandbox, archive: &str, words: &str) {
    let mut command = std::process::Command::new("tar");
    command.args(["-P", "-czf", archive]).args(words.split(' ')).current_dir(sandbox.path(""));
    assert!(command.status().expect("tar").success(), "tar {words}");
}

#[test]
fn an_archive_has_what_was_packed_and_nothing_else() {
    let sandbox = packed();
    let verify = |archive: &str| sandbox.run(&format!("study verify {archive}"));
    // As anybody may pack it again, folders and all.
    tar(&sandbox, "again.tar.gz", "two");
    verify("again.tar.gz").fine().prints(&["all files are as they were packed"]);
    std::os::unix::fs::symlink("/etc/passwd", sandbox.path("two/link")).expect("a link");
    fs::write(sandbox.path("note"), "theirs").expect("written");
    let transform = "--transform=s,^note,two/../../note,";
    tar(&sandbox, "odd.tar.gz", &format!("--hard-dereference two {transform} note two/plan.json"));
    let found = verify("odd.tar.gz");
    found.exits(1);
    let found = found.prints(&[
        "Archive odd.tar.gz",
        "WRONG files",
        "two/link is a link, and was not packed",
        "two/../../note was added",
        "two/plan.json is there twice",
    ]);
    assert!(!found.out.contains("as they were packed"), "{found:?}");
    // Of an archive nothing is left, nor of what leads out of it.
    assert!(names(&sandbox.path("tmp")).is_empty(), "{:?}", names(&sandbox.path("tmp")));
    let all = ["again.tar.gz", "note", "odd.tar.gz", "two", "two.tar.gz", "two.toml"];
    assert_eq!(sandbox.left(), all);
    // Unpacked by somebody, the link is named too.
    let found = sandbox.run("study verify two");
    found.exits(1);
    found.prints(&["link is not a file: not packed"]);
}

#[test]
fn a_bomb_is_not_unpacked() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("bomb")).expect("a folder");
    sandbox.write(
        "bomb/manifest.json",
        r#"{ "schema": 1, "dbtime": "1", "packed_at": "",
             "files": [{ "path": "zeros", "bytes": 70000000, "sha256": "" }] }"#,
    );
    let zeros = fs::File::create(sandbox.path("bomb/zeros")).expect("a file");
    zeros.set_len(70_000_000).expect("a hole");
    tar(&sandbox, "bomb.tar.gz", "bomb");
    sandbox.run("study verify bomb.tar.gz").refused(3, &["more than 200 times the archive's size"]);
    assert!(names(&sandbox.path("tmp")).is_empty());
}

/// A pipe for what a process prints, so full that it blocks there.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let flags = fcntl_getfl(&writer).expect("flags");
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("flags");
    for some in [4096, 1] {
        while let Ok(written) = writer.write(&vec![b'.'; some]) {
            assert!(written > 0);
        }
    }
    fcntl_setfl(&writer, flags).expect("flags");
    (reader, writer)
}

#[test]
fn an_unpacked_study_goes_with_a_signal_and_after_a_kill_with_the_next() {
    let sandbox = packed();
    let tmp = sandbox.path("tmp");
    for signal in [Signal::TERM, Signal::INT, Signal::KILL] {
        // It is there until all has been printed, which is never.
        let (_reader, writer) = full_pipe();
        let mut command = sandbox.command("study verify two.tar.gz");
        command.stdout(writer);
        let verify = Running::start("study verify two.tar.gz", command);
        sandbox.wait_for(&["tmp", "dbtime-", "two", "plan.json"]);
        verify.signal(signal);
        let code = verify.end().code;
        match signal == Signal::KILL {
            false => assert_eq!((code, names(&tmp).len()), (Some(128 + signal.as_raw()), 0)),
            true => assert_eq!((code, names(&tmp).len()), (None, 1)),
        }
    }
    sandbox.run("study verify two.tar.gz").fine();
    assert!(names(&tmp).is_empty(), "{:?}", names(&tmp));
}

/// Whatever server they are of: what is wrong with a file is seen when it is planned.
#[test]
fn every_shipped_study_can_be_planned_and_is_listed() {
    let sandbox = Sandbox::new();
    let studies = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let list = fs::read_to_string(studies.join("README.md")).expect("a list");
    let mut planned = 0;
    for folder in fs::read_dir(&studies).expect("studies").flatten().map(|entry| entry.path()) {
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(list.contains(&format!("]({name}/README.md)")), "{name} is not in the list");
        let about = fs::read_to_string(folder.join("README.md")).expect("what it is about");
        for file in names(&folder).iter().filter(|file| file.ends_with(".toml")) {
            assert!(about.contains(file.as_str()), "{name}/README.md does not say what {file} is");
            let path = folder.join(file);
            sandbox.run(&format!("study plan {}", path.display())).fine().prints(&["runs"]);
            planned += 1;
        }
    }
    assert!(planned > 12, "{planned}");
}
