//! However a run is ended, and whenever: when dbtime is gone, so are its servers and its folders.

use crate::running::Running;
use crate::sandbox::Sandbox;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
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
        // The first may end it in time, and a second one ends it by itself.
        let mut codes = signals.iter().map(|signal| Some(128 + signal.as_raw()));
        assert!(codes.any(|code| code == ran.code), "{when}");
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

/// A program in the place of MariaDB's and PostgreSQL's. As a server it never answers, and notes
/// that it is told to end, which it does not; it has no other process.
const DEAF_SERVER: &str = "#!/bin/sh
case \"$0 $*\" in
*/mariadbd*--version) echo 'mariadbd  Ver 10.11.6-MariaDB for Linux'; exit ;;
*/postgres*--version) echo 'postgres (PostgreSQL) 15.4'; exit ;;
*/initdb*) exit ;;
esac
trap ': >HERE/told' HUP INT QUIT TERM
: >HERE/begun
exec 3<>HERE/pipe
while :; do read -r line <&3; done
";

/// A server that is just starting may lose a signal, and others take none.
#[test]
fn of_a_server_that_is_deaf_while_it_starts() {
    let sandbox = Sandbox::new();
    sandbox.open_to_all();
    for folder in ["opt/bin", "opt/share/english", "opt/data/mysql"] {
        fs::create_dir_all(sandbox.path(folder)).expect("a folder");
    }
    sandbox.write("opt/share/english/errmsg.sys", "");
    let script = DEAF_SERVER.replace("HERE", &sandbox.path("").display().to_string());
    for name in ["mariadbd", "postgres", "initdb"] {
        let name = format!("opt/bin/{name}");
        sandbox.write(&name, &script);
        let program = fs::Permissions::from_mode(0o755);
        fs::set_permissions(sandbox.path(&name), program).expect("ours");
    }
    let made = Command::new("mkfifo").args(["-m", "666"]).arg(sandbox.path("pipe")).status();
    assert!(made.expect("mkfifo starts").success());
    for target in ["mariadb", "postgres"] {
        let line = format!("run atm --target {target}:opt --out a/r");
        let mut command = sandbox.command(&line);
        // There is nothing to be kept of what this makes.
        command.env_remove("DBTIME_NEW_DATA");
        let run = Running::start(&line, command);
        sandbox.wait_for(&["begun"]);
        run.interrupt();
        let ran = run.end();
        ran.exits(130);
        let ran = ran.stderr_has(&["interrupted while the server was starting"]);
        fs::remove_file(sandbox.path("begun")).expect("it began");
        assert_eq!(sandbox.left(), ["opt", "pipe"], "killed without a word: {ran:?}");
        assert!(sandbox.residents().is_empty(), "{:?}", sandbox.residents());
    }
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
        let ran = run.end();
        ran.exits(130);
        assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
    }
}
