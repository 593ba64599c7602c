//! A process under test that goes on while the test does something else.

use crate::sandbox::{PATIENCE, Ran};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::Read;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// What dbtime says when it has heard of the first Ctrl-C.
pub(crate) const HAS_HEARD: &str = "once more ends dbtime at once";

/// A process that has been started.
pub(crate) struct Running {
    line: String,
    /// `None` once its end is waited for.
    child: Option<Child>,
    /// What of its stderr has been read so far.
    said: Vec<u8>,
}

impl Drop for Running {
    /// Also where a test fails.
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Running {
    /// Starts a command, whose stdout and stderr are pipes; `line` is what it is called.
    pub(crate) fn start(line: &str, mut command: Command) -> Self {
        let child = command.spawn().expect("dbtime starts");
        Self { line: line.to_owned(), child: Some(child), said: Vec::new() }
    }

    fn child(&self) -> &Child {
        self.child.as_ref().expect("nobody has waited for its end")
    }

    fn child_mut(&mut self) -> &mut Child {
        self.child.as_mut().expect("nobody has waited for its end")
    }

    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Interrupts it, and once more when it has heard of that, which has to end it.
    pub(crate) fn interrupt_twice(self) -> Ran {
        self.signal_twice(Signal::INT)
    }

    /// The same with any signal that ends a process.
    pub(crate) fn signal_twice(mut self, signal: Signal) -> Ran {
        self.signal(signal);
        self.hear(HAS_HEARD);
        ends_by_one_more(self.child_mut(), signal);
        self.end()
    }

    /// Reads what it says on stderr until a text has come.
    pub(crate) fn hear(&mut self, text: &str) {
        let (begun, mut bytes) = (Instant::now(), [0; 4096]);
        let stderr = self.child.as_mut().and_then(|child| child.stderr.as_mut()).expect("a pipe");
        while !String::from_utf8_lossy(&self.said).contains(text) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let left = Timespec::try_from(left).expect("a short time");
            let mut wait = [PollFd::new(&*stderr, PollFlags::IN)];
            let has_come = poll(&mut wait, Some(&left)).expect("a pipe") > 0;
            let length = if has_come { stderr.read(&mut bytes).expect("a pipe") } else { 0 };
            let said = || String::from_utf8_lossy(&self.said);
            assert!(length > 0, "no {text:?} of `dbtime {}`: {}", self.line, said());
            self.said.extend_from_slice(&bytes[..length]);
        }
    }

    /// Waits until it would end early, and not at once, when interrupted (SigCgt in proc(5)).
    pub(crate) fn wait_until_it_catches_interrupts(&self) {
        let status = format!("/proc/{}/status", self.pid());
        let begun = Instant::now();
        let catches = || {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            mask.is_some_and(|mask| mask & (1 << (2 - 1)) != 0)
        };
        while !catches() {
            assert!(begun.elapsed() < PATIENCE, "{} catches nothing", self.line);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child().id()
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).expect("the process is there");
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child_mut().try_wait().expect("it is ours").is_some()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ran {
        let child = self.child.take().expect("nobody has waited for its end");
        let mut output = child.wait_with_output().expect("it ends");
        let rest = std::mem::replace(&mut output.stderr, std::mem::take(&mut self.said));
        output.stderr.extend(rest);
        Ran::new(&self.line, &output)
    }
}

/// Sends a signal once more to a process that has heard of a first one, and waits for its end; its
/// exit code. What comes within half a second of the first is taken for the same, and does nothing.
pub(crate) fn ends_by_one_more(child: &mut Child, signal: Signal) -> Option<i32> {
    std::thread::sleep(Duration::from_millis(700));
    kill_process(Pid::from_child(child), signal).expect("it is there");
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status.code();
        }
        assert!(begun.elapsed() < PATIENCE, "a second {signal:?} does not end it");
        std::thread::sleep(Duration::from_millis(20));
    }
}
