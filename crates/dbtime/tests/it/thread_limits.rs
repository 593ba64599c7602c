//! Where the system starts no more threads a run ends with the cause, and is no bug.

use crate::sandbox::{Ran, Sandbox};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// A user that has no other processes: what they are counts too.
const USER: &str = "54321";

/// More threads than a run of one client takes.
const ENOUGH: u32 = 8;

#[test]
fn a_thread_that_is_refused_is_the_systems_affair() {
    let sandbox = Sandbox::new();
    sandbox.open_to_all();
    let program = sandbox.path("tmp").join("dbtime");
    fs::copy(env!("CARGO_BIN_EXE_dbtime"), &program).expect("copied where anybody may read");
    if fs::metadata("/proc/self").expect("of this process").uid() != 0 {
        // Of an ordinary user's processes it is not known how many there are.
        return not_tested();
    }
    for target in ["null", "sqlite"] {
        let line = format!("run values1 --target {target} --transactions 10 --no-record --quiet");
        let with = |threads: u32| {
            let mut command = Command::new("prlimit");
            command.arg(format!("--nproc={threads}"));
            let groups = format!("--regid={USER}");
            command.args(["setpriv", "--reuid", USER, &groups, "--clear-groups"]).arg(&program);
            sandbox.settle(command.args(line.split(' ')));
            Ran::new(&line, &command.output().expect("prlimit starts"))
        };
        let codes: Vec<Option<i32>> = (1..=ENOUGH)
            .map(|threads| {
                let ran = with(threads);
                assert!([Some(0), Some(3)].contains(&ran.code), "{threads}: {ran:?}");
                assert!(!ran.err.contains("bug"), "{threads}: {ran:?}");
                ran.code
            })
            .collect();
        assert_eq!((codes[0], codes[codes.len() - 1]), (Some(3), Some(0)), "{codes:?}");
    }
}

fn not_tested() {
    use std::io::Write;
    let note = b"NOT TESTED: only root can run as a user without processes\n";
    std::io::stderr().write_all(note).expect("somebody listens");
}
