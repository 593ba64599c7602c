//! `scripts/fuzz.sh` with a cargo that builds nothing: what that is told, and what becomes of
//! targets that fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const SCRIPT: &str = include_str!("../../../scripts/fuzz.sh");

/// Notes what it is told, and puts a script where each target is looked for.
const CARGO: &str = r#"#!/bin/sh
echo "$RUSTFLAGS $*" >told
while [ $# -gt 0 ]; do
    case $1 in
    --target) folder=$CARGO_TARGET_DIR/$2/release ;;
    --bin) mkdir -p "$folder" && cp fuzzer "$folder/$2" ;;
    esac
    shift
done
"#;

/// One that has found what is wrong, and others that have not.
const FUZZER: &str = r#"#!/bin/sh
case $0 in
*/bad_text)
    echo "artifact_prefix='x'; Test unit written to ${5#*=}crash-1" >&2
    exit 77
    ;;
esac
echo 'Done 70 runs in 3 second(s)' >&2
echo 'stat::number_of_executed_units: 70' >&2
"#;

/// A workspace with two targets.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let within = |path: &str| folder.path().join(path);
    for path in ["scripts", "fuzz/fuzz_targets"] {
        fs::create_dir_all(within(path)).expect("a folder");
    }
    fs::write(within("scripts/fuzz.sh"), SCRIPT).expect("a file");
    for target in ["bad_text", "good_text"] {
        fs::write(within(&format!("fuzz/fuzz_targets/{target}.rs")), "").expect("a file");
    }
    let rustc = "#!/bin/sh\necho 'host: somewhere-linux'\n";
    for (name, text) in [("cargo", CARGO), ("rustc", rustc), ("fuzzer", FUZZER)] {
        fs::write(within(name), text).expect("a file");
        fs::set_permissions(within(name), fs::Permissions::from_mode(0o755)).expect("ours");
    }
    folder
}

fn fuzz(workspace: &Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .arg(workspace.join("scripts/fuzz.sh"))
        .args(arguments)
        .env("CARGO", workspace.join("cargo"))
        .env("RUSTC", workspace.join("rustc"))
        .env("CXX", "c++")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("LOCKED")
        .output()
        .expect("a shell")
}

#[test]
fn a_target_that_fails_is_named_with_its_input_and_how_to_run_it_again() {
    let folder = workspace();
    let all = fuzz(folder.path(), &["90"]);
    let texts = [&all.stdout, &all.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let [table, said] = [&*texts[0], &*texts[1]];
    assert_eq!(all.status.code(), Some(1), "{table}{said}");
    assert!(said.starts_with("fuzz: targets: 2, of 90 s each: 3 minutes in all;"), "{said}");
    let clean = table.lines().next_back().expect("the last one's row");
    let clean: Vec<_> = clean.split_whitespace().collect();
    assert_eq!(clean, ["good_text", "clean", "3", "s", "70", "inputs"]);
    assert!(table.contains("bad_text                 FAILED"), "{table}");
    let again = "fuzz: error: bad_text fails on fuzz/artifacts/bad_text/crash-1; again: \
                 target/fuzz/somewhere-linux/release/bad_text fuzz/artifacts/bad_text/crash-1";
    assert_eq!(said.lines().next_back(), Some(again), "{said}");
    let told = fs::read_to_string(folder.path().join("told")).expect("cargo was called");
    for part in [
        "-Cpasses=sancov-module",
        "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
        "--target somewhere-linux --bin bad_text --bin good_text",
    ] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn targets_are_those_that_are_named_and_there() {
    let folder = workspace();
    assert_eq!(fuzz(folder.path(), &["5", "good_text"]).status.code(), Some(0));
    let told = fs::read_to_string(folder.path().join("told")).expect("cargo was called");
    assert!(!told.contains("bad_text"), "{told}");
    // Files that are there, but are not directly in the folder of targets.
    for path in ["fuzz/src/lib.rs", "fuzz/fuzz_targets/in/good_text.rs"] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "").expect("a file");
    }
    let paths = [&["5", "../src/lib"][..], &["5", "in/good_text"], &["5", "./good_text"]];
    for wrong in [&["5", "no_text"][..], &["good_text"]].into_iter().chain(paths) {
        let refused = fuzz(folder.path(), wrong);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with("fuzz: error: ") && said.contains(wrong[wrong.len() - 1]),
            "{said}"
        );
    }
}
