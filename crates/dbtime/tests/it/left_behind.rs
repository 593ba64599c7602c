//! What a run that was killed has left is removed by the next one, and nothing else is.

use crate::sandbox::{PATIENCE, Sandbox, names};
use dbtime_model::record::read_run;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::{Duration, Instant};

/// A run that takes no time, in the same places.
const NEXT: &str = "run atm --transactions 10 --no-record";

#[test]
fn a_temporary_database_goes_with_the_next_run() {
    let sandbox = Sandbox::new();
    let run = sandbox.start("run atm --scale 30 --no-record --time 1s");
    sandbox.wait_for(&["tmp", "dbtime-", "atm.db.loading"]);
    run.kill();
    assert_eq!(run.end().code, None);
    assert_eq!(names(&sandbox.path("tmp")).len(), 1);
    sandbox.run(NEXT).fine();
    assert!(sandbox.left().is_empty(), "{:?}", names(&sandbox.path("tmp")));
}

#[test]
fn half_a_record_goes_with_the_next_record_beside_it() {
    let sandbox = Sandbox::new();
    let run = sandbox.start("run values1 --target null --warmup 0s --time 1m --out a/r");
    sandbox.wait_for(&["a", ".r.partial-", "latency.hlog"]);
    run.kill();
    assert_eq!(run.end().code, None);
    sandbox.run("run values1 --target null --transactions 10 --out b").fine();
    assert_eq!(names(&sandbox.path("a")).len(), 1, "it is in another place");
    sandbox.run("run values1 --target null --transactions 10 --out a/other").fine();
    assert_eq!(names(&sandbox.path("a")), ["other"]);
    assert_eq!(names(&sandbox.path("a/other")).first().expect("files"), "latency.hlog");
}

#[test]
fn a_server_that_is_still_being_ended_keeps_its_folder() {
    for target in ["mariadb", "postgres"] {
        let sandbox = Sandbox::new();
        sandbox.open_to_all();
        let run = sandbox.start(&format!("run atm --target {target} --scale 10 --no-record"));
        sandbox.wait_for(&["tmp", "dbtime-", "server.log"]);
        std::thread::sleep(Duration::from_millis(2500));
        // What ends the server is slow today.
        let residents = sandbox.residents();
        let slow = residents.iter().find(|(_, line)| line.contains("dbtime-watchdog"));
        let slow = Pid::from_raw(slow.expect("a watchdog").0).expect("a number");
        kill_process(slow, Signal::STOP).expect("it is there");
        run.kill();
        assert_eq!(run.end().code, None);
        let before = names(&sandbox.path("tmp"));
        sandbox.run(NEXT).fine();
        assert_eq!(names(&sandbox.path("tmp")), before);
        kill_process(slow, Signal::CONT).expect("it is there");
        let begun = Instant::now();
        while !sandbox.left().is_empty() || !sandbox.residents().is_empty() {
            let (left, residents) = (sandbox.left(), sandbox.residents());
            assert!(begun.elapsed() < PATIENCE, "{left:?}, {residents:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn what_is_in_use_stays() {
    let sandbox = Sandbox::new();
    // It goes on for as long as the other takes.
    let line = "run values1 --target sqlite --warmup 0s --time 10m --budget-every 1 --out a/r";
    let run = sandbox.start(line);
    sandbox.wait_for(&["a", ".r.partial-", "latency.hlog"]);
    let before = (names(&sandbox.path("tmp")), names(&sandbox.path("a")));
    assert_eq!((before.0.len(), before.1.len()), (1, 1));
    sandbox.run("run atm --transactions 10 --out a/other").fine();
    assert_eq!(names(&sandbox.path("tmp")), before.0);
    assert!(names(&sandbox.path("a")).contains(&before.1[0]));
    run.interrupt();
    run.end().exits(130);
    read_run(&sandbox.path("a/r")).expect("a whole record");
    assert_eq!(names(&sandbox.path("a")), ["other", "r"]);
}

#[test]
fn what_is_not_marked_as_dbtimes_own_stays() {
    let sandbox = Sandbox::new();
    let run = sandbox.start("run atm --scale 30 --no-record --time 1s");
    sandbox.wait_for(&["tmp", "dbtime-", "atm.db.loading"]);
    run.kill();
    run.end();
    let tmp = sandbox.path("tmp");
    let killed = tmp.join(&names(&tmp)[0]);
    let mark = fs::read_to_string(killed.join(".dbtime")).expect("a mark");
    // Without a mark, with somebody else's, and a copy of what was left.
    for (name, text) in [
        ("dbtime-bare00", None),
        ("dbtime-theirs", Some("a file of another program\n")),
        ("dbtime-copied", Some(&*mark)),
    ] {
        fs::create_dir(tmp.join(name)).expect("free");
        fs::write(tmp.join(name).join("data"), "precious").expect("written");
        if let Some(text) = text {
            fs::write(tmp.join(name).join(".dbtime"), text).expect("written");
        }
    }
    // A name that is none of dbtime's, with its mark.
    let renamed = tmp.join("mine");
    fs::rename(&killed, &renamed).expect("renamed");
    sandbox.run(NEXT).fine();
    assert_eq!(names(&tmp), ["dbtime-bare00", "dbtime-copied", "dbtime-theirs", "mine"]);
    assert!(renamed.join("atm.db.loading").exists());
    fs::rename(&renamed, &killed).expect("renamed");
    sandbox.run(NEXT).fine();
    assert_eq!(names(&tmp), ["dbtime-bare00", "dbtime-copied", "dbtime-theirs"]);
}
