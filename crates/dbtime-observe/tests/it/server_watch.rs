//! Servers of many processes whose CPU time is known: children that burn a stated amount of their
//! own CPU clock, end, and are waited for or not.
//!
//! The children are this very test, started again with `DBTIME_BURN_MS`.

#![allow(clippy::print_stdout)]

use dbtime_machine::clock;
use dbtime_model::Nanos;
use dbtime_model::process::ServerSample;
use dbtime_observe::process::{ServerWatch, by_thread_name};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// What a child does: it burns CPU time until its own clock shows so much, says so, and ends or
/// stays. Does nothing where it is run as a test.
#[test]
fn burner() {
    let Ok(ms) = std::env::var("DBTIME_BURN_MS") else { return };
    let until = Nanos::from_millis(ms.parse().expect("milliseconds"));
    let mut x = 1u64;
    while clock::process_cpu() < until {
        (0..1000).for_each(|_| x = std::hint::black_box(x.wrapping_mul(31)));
    }
    println!("burned");
    if std::env::var_os("DBTIME_BURN_STAY").is_some() {
        std::thread::sleep(Duration::from_secs(600));
    }
}

/// A shell that starts what it is told, line by line, and waits for it. Whatever it leaves in the
/// background is to be in its `$P`.
struct Shell {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start() -> Self {
        let mut command = Command::new("sh");
        command.env("TEST", std::env::current_exe().expect("this test"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("piped"));
        let mut shell = Self { child, input, output: BufReader::new(output) };
        // Those in the background end with it, also where a test fails.
        shell.tell("trap 'kill $P' EXIT");
        shell
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("open"), "{line}").expect("it reads");
    }

    /// Waits until it has said this so often.
    fn hear(&mut self, wanted: &str, times: usize) {
        for _ in 0..times {
            let mut line = String::new();
            while !line.trim().ends_with(wanted) {
                line.clear();
                assert!(self.output.read_line(&mut line).expect("text") > 0, "it ended");
            }
        }
    }

    /// A line that burns so many milliseconds in a process of its own.
    fn burn(ms: u64) -> String {
        format!("DBTIME_BURN_MS={ms} \"$TEST\" --exact server_watch::burner --nocapture")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// What was spent is what was burned, less two ticks where only ticks tell, and little more:
/// starting and ending cost a few milliseconds of the same clock.
fn assert_burned(a: &ServerSample, b: &ServerSample, burned: Nanos, extra: Nanos) {
    let used = b.since(a);
    let cpu = used.resources.cpu;
    assert!(cpu + ms(20) >= burned && cpu <= burned + extra, "{cpu} of {burned}: {used:#?}");
}

#[test]
fn children_that_live_are_counted_to_the_nanosecond() {
    let mut shell = Shell::start();
    let mut watch = ServerWatch::new(shell.pid()).expect("the shell");
    let a = watch.sample().expect("it lives");
    assert_eq!(a.processes.len(), 1);
    for burned in [120, 60] {
        shell.tell(&format!("DBTIME_BURN_STAY=1 {} & P=\"$P $!\"", Shell::burn(burned)));
    }
    shell.hear("burned", 2);
    let b = watch.sample().expect("it lives");
    assert_burned(&a, &b, ms(180), ms(55));
    let used = b.since(&a);
    assert_eq!((used.processes, used.came, used.went), (3, 2, 0));
    let each = b.each_since(&a);
    let mut cpu: Vec<Nanos> = each.iter().map(|process| process.resources.cpu).collect();
    cpu.sort();
    // None of the one is the other's: what is above is their starts and their last words.
    let (short, long) = (ms(60)..ms(120), ms(120)..ms(180));
    assert!(short.contains(&cpu[1]) && long.contains(&cpu[2]), "{cpu:?}");
    shell.tell("kill $P; wait; P=");
}

#[test]
fn children_that_ended_count_with_their_parent() {
    let mut shell = Shell::start();
    let mut watch = ServerWatch::new(shell.pid()).expect("the shell");
    let a = watch.sample().expect("it lives");
    let glanced = watch.glance().expect("it lives");
    shell.tell(&format!("{} & {} & wait; echo done", Shell::burn(200), Shell::burn(300)));
    // One is seen in between, or not: it must not matter.
    std::thread::sleep(Duration::from_millis(50));
    let seen = watch.glance().expect("it lives");
    assert!(seen.processes >= 1);
    shell.hear("done", 1);
    let b = watch.sample().expect("it lives");
    assert_eq!(b.processes.len(), 1, "{:?}", b.processes);
    assert_burned(&a, &b, ms(500), ms(100));
    let used = b.since(&a);
    assert!(used.split.user.expect("ticks fell") > ms(300), "{used:?}");
    let glance = watch.glance().expect("it lives").cpu_since(&glanced);
    assert!(glance >= ms(480) && glance <= ms(600), "{glance}");
}

#[test]
fn many_short_children_are_not_lost_between_samples() {
    let mut shell = Shell::start();
    let mut watch = ServerWatch::new(shell.pid()).expect("the shell");
    let a = watch.sample().expect("it lives");
    shell.tell(&format!("for i in 1 2 3 4 5 6 7 8 9 10; do {}; done; echo done", Shell::burn(30)));
    shell.hear("done", 1);
    let b = watch.sample().expect("it lives");
    assert_burned(&a, &b, ms(300), ms(150));
    assert_eq!(b.since(&a).came, 0);
}

#[test]
fn reads_and_writes_of_children_pass_to_their_parent() {
    let mut shell = Shell::start();
    let mut watch = ServerWatch::new(shell.pid()).expect("the shell");
    let a = watch.sample().expect("it lives");
    shell.tell("head -c 1000000 /dev/zero >/dev/null; echo done");
    shell.hear("done", 1);
    let b = watch.sample().expect("it lives");
    let io = b.since(&a).resources.io.expect("own children");
    assert!(io.written_chars >= 1_000_000 && io.read_chars >= 1_000_000, "{io:?}");
}

#[test]
fn sleepers_spend_nothing() {
    let mut shell = Shell::start();
    shell.tell("sleep 600 & P=$!; sleep 600 & P=\"$P $!\"; echo ready");
    shell.hear("ready", 1);
    let mut watch = ServerWatch::new(shell.pid()).expect("the shell");
    let mut over_a_while = || {
        let a = watch.sample().expect("it lives");
        std::thread::sleep(Duration::from_millis(200));
        (a, watch.sample().expect("it lives"))
    };
    // They spend something as long as they start.
    let sleepers = |sample: &ServerSample| {
        sample.processes.iter().filter(|process| process.name == "sleep").count()
    };
    let begun = Instant::now();
    let (mut a, mut b) = over_a_while();
    while sleepers(&a) < 2 || b.since(&a).resources.cpu >= ms(5) {
        assert!(begun.elapsed() < Duration::from_secs(100), "no sleepers: {:#?}", b.since(&a));
        (a, b) = over_a_while();
    }
    let used = b.since(&a);
    assert_eq!((used.processes, used.threads, used.came, used.went), (3, 3, 0, 0));
    assert!(used.memory.expect("known").rss_bytes > 0);
    let names = by_thread_name(&a, &b);
    let sleepers = names.iter().find(|threads| threads.name == "sleep").expect("by name");
    assert_eq!(sleepers.threads, 2);
    shell.tell("kill $P; wait; P=");
}

#[test]
fn a_server_that_ended_is_absent() {
    let shell = Shell::start();
    let mut watch = ServerWatch::new(shell.pid()).expect("the shell");
    drop(shell);
    assert!(watch.sample().is_err() && watch.glance().is_err());
    assert!(ServerWatch::new(watch.root().pid).is_err());
}
