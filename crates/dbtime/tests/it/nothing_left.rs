//! However a run is ended, and whenever: when dbtime is gone, so are its servers and its folders.

use crate::sandbox::Sandbox;
use rustix::process::Signal;
use std::time::Duration;

/// Between two signals that are two: what comes sooner is taken for the same one.
const GAP: Duration = Duration::from_millis(600);

/// Which signals, and how long after the data folder of a server is begun: while it is made, while
/// the server starts, and while it is filled.
const ENDS: [(&[Signal], u64); 8] = [
    (&[Signal::INT], 0),
    (&[Signal::INT], 2500),
    (&[Signal::INT, Signal::INT], 0),
    (&[Signal::INT, Signal::INT], 300),
    (&[Signal::INT, Signal::INT], 2500),
    (&[Signal::INT, Signal::INT, Signal::INT], 1500),
    (&[Signal::TERM, Signal::TERM], 1500),
    (&[Signal::HUP, Signal::HUP], 700),
];

fn nothing_is_left_of(target: &str) {
    for (signals, pause_ms) in ENDS {
        let sandbox = Sandbox::new();
        sandbox.open_to_all();
        let line = format!("run atm --target {target} --scale 10 --time 1m --out a/r");
        let run = sandbox.start(&line);
        sandbox.wait_for(&["tmp", "dbtime-", "data"]);
        std::thread::sleep(Duration::from_millis(pause_ms));
        for (index, signal) in signals.iter().enumerate() {
            if index > 0 {
                std::thread::sleep(GAP);
            }
            run.signal(*signal);
        }
        let ran = run.end();
        // At once: nobody is to be waited for who cleans up behind dbtime.
        let (left, residents) = (sandbox.left(), sandbox.residents());
        let when = format!("{signals:?} after {pause_ms} ms: {ran:?}");
        assert!(left.is_empty(), "{left:?} after {when}");
        assert!(residents.is_empty(), "{residents:?} after {when}");
        ran.exits(3);
    }
}

#[test]
fn of_mariadb() {
    nothing_is_left_of("mariadb");
}

#[test]
fn of_postgres() {
    nothing_is_left_of("postgres");
}

#[test]
fn of_a_temporary_database() {
    for pause_ms in [0, 50, 200] {
        let sandbox = Sandbox::new();
        let run = sandbox.start("run atm --scale 30 --time 1s --out a/r");
        sandbox.wait_for(&["tmp", "dbtime-", "atm.db.loading"]);
        std::thread::sleep(Duration::from_millis(pause_ms));
        run.interrupt();
        std::thread::sleep(GAP);
        run.interrupt();
        run.end().exits(3);
        assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
    }
}
