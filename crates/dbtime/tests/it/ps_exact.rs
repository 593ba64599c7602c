//! `dbtime ps --exact` beside children with known behaviour.

use crate::ps::{during, row};
use crate::sandbox::{Sandbox, number};
use crate::worker::Worker;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;
use std::process::Command;

/// Lives that are shorter than any look, and not a number that looks come in.
const SHORT_LIVES: usize = 23;

/// Whether the kernel permits eBPF here.
fn is_permitted(sandbox: &Sandbox) -> bool {
    let ran = sandbox.run("ps 20ms --exact --json");
    let is_refused = ran.err.contains("CAP_BPF");
    assert!(!is_refused || std::env::var_os("CI").is_none(), "eBPF has to be permitted: {ran:?}");
    if is_refused {
        // The test harness would hide what is printed.
        let note = b"NOT TESTED: no eBPF here\n";
        std::io::Write::write_all(&mut std::io::stderr(), note).expect("somebody listens");
    }
    !is_refused
}

/// All threads' time and idle time make up that of all CPUs.
fn adds_up(json: &Value) {
    let whole = |name: &str| number(json, &format!("/whole/{name}"));
    let share = (whole("cpu_us") + whole("idle_us")) / whole("wall_us");
    assert!((0.99..1.01).contains(&share), "{:#}", json["whole"]);
    assert_eq!(whole("lost"), 0.0, "{:#}", json["whole"]);
}

#[test]
fn what_was_burned_is_measured_and_no_life_is_too_short() {
    let sandbox = Sandbox::new();
    if !is_permitted(&sandbox) {
        return;
    }
    let mut burner = Worker::start("burn 600");
    let mut burned = 0;
    let ran = during(&sandbox, "ps 1h --exact --json", || {
        burned = burner.work();
        for _ in 0..SHORT_LIVES {
            Command::new("true").status().expect("there is one");
        }
        // It is read while it is a shell.
        Command::new("sh").args(["-c", "sleep 0.5; exec true"]).status().expect("there is one");
    });
    let json = ran.json();
    adds_up(&json);
    let burner = row(&json, burner.pid());
    let (cpu, burned) = (number(burner, "/cpu_us"), burned as f64 / 1e3);
    // Either clock has a piece of a switch that the other has not; the thread's has no interrupts.
    let switches = number(burner, "/scheduled/switches/involuntary") + 1.0;
    let (least, most) = (burned - 10.0 * switches, burned + 30.0 * switches + 10_000.0);
    assert!(cpu >= least && cpu < most, "{burned} µs burned: {burner:#}");
    let rows = json["processes"].as_array().expect("rows");
    let own = std::process::id();
    let lives: Vec<&Value> = rows
        .iter()
        .filter(|row| row["name"] == "true" && row["presence"] == "came_and_went")
        .collect();
    assert!(lives.len() > SHORT_LIVES, "{}: {json:#}", lives.len());
    for life in lives {
        let (cpu, wall) = (number(life, "/cpu_us"), number(life, "/wall_us"));
        // When it began is known to the nanosecond, by another clock.
        assert!(cpu > 50.0 && wall > 0.0 && life["pid"] != own, "{life:#}");
        assert!(!life["user"].as_str().expect("a name").is_empty(), "{life:#}");
    }
}

#[test]
fn who_shares_a_cpu_is_pre_empted() {
    let sandbox = Sandbox::new();
    if !is_permitted(&sandbox) {
        return;
    }
    let usual = sched_getaffinity(None).expect("it has some");
    let first = (0..CpuSet::MAX_CPU).find(|cpu| usual.is_set(*cpu)).expect("a CPU");
    let mut one = CpuSet::new();
    one.set(first);
    // Children have it from whoever starts them.
    sched_setaffinity(None, &one).expect("allowed");
    // So much that they want it together, also where this test is late to tell the other.
    let mut burners = [Worker::start("burn 1500"), Worker::start("burn 1500")];
    sched_setaffinity(None, &usual).expect("as before");
    let pids = [burners[0].pid(), burners[1].pid()];
    let line = format!("ps 1h --exact --json {} {}", pids[0], pids[1]);
    let ran = during(&sandbox, &line, || {
        burners[0].begin();
        burners[1].work();
        burners[0].heard();
    });
    let json = ran.json();
    adds_up(&json);
    for pid in pids {
        let of = |name: &str| number(row(&json, pid), name);
        let waited = of("/scheduled/woken_us") + of("/scheduled/preempted_us");
        assert!((waited - of("/run_delay_us")).abs() < 1.0, "{json:#}");
        // Both wanted the CPU: each waited while the other had it.
        assert!(of("/scheduled/preempted_us") > 100_000.0, "{json:#}");
        assert!(of("/switches/involuntary") >= 3.0, "{json:#}");
    }
}

#[test]
fn it_takes_rights_and_says_where_the_rest_went() {
    let sandbox = Sandbox::new();
    if !is_permitted(&sandbox) {
        return;
    }
    let worker = Worker::start("nap 0");
    let ran = sandbox.run(&format!("ps 100ms {} --exact -t --all", worker.pid())).fine();
    ran.prints(&["%WOKEN", "%PREEMPTED", "%RUNQ", "from switch to switch", "unexplained"]);
    if rustix::process::geteuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-bpf,-perfmon,-sys_admin", "--inh-caps=-all"]);
        command.arg(env!("CARGO_BIN_EXE_dbtime")).args(["ps", "1", "--exact"]);
        let output = command.output().expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains("takes CAP_BPF and CAP_PERFMON, which"), "{told}");
    }
}
