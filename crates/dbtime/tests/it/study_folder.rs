//! Studies as folders: handed on, verified, and those that are shipped.

use crate::sandbox::{Sandbox, names};
use std::fs;

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
    sandbox.run("study verify two").fine().prints(&["not packed", "all", "figures follow"]);
    sandbox.run("study pack two").fine().prints(&["Packed: two.tar.gz"]);
    sandbox.run("study pack two").refused(2, &["two.tar.gz exists already"]);
    let verified = sandbox.run("study verify two.tar.gz").fine();
    // A block may have been repeated.
    let follow = "runs follow from their series, histograms and parts";
    verified.prints(&["all files are as they were packed", follow, "runs.csv follows"]);
    // A figure that somebody made larger is found in the run, in the table and in the analysis.
    let run = sandbox.path("two/runs").join(&names(&sandbox.path("two/runs"))[0]).join("run.json");
    let record = fs::read_to_string(&run).expect("a record");
    let at = record.find("\"throughput_tps\": ").expect("a figure") + "\"throughput_tps\": ".len();
    let forged = format!("{}9{}", &record[..at], &record[at..]);
    fs::write(&run, forged).expect("written");
    let found = sandbox.run("study verify two");
    found.exits(1);
    found.prints(&[
        "is another than was packed",
        "throughput_tps is 9",
        "WRONG",
        "runs.csv is not",
    ]);
    fs::write(sandbox.path("text.tar.gz"), "no archive").expect("written");
    sandbox.run("study verify text.tar.gz").refused(3, &["text.tar.gz cannot be read as a packed"]);
    sandbox.run("study verify nowhere").refused(3, &["holds no study"]);
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
