//! A process that is waited for and stands still, though no signal has stopped it: held by a
//! debugger, or frozen with its control group. Nothing that may be sent to it makes it go on.
//!
//! Whoever waits may have no right to open files any more: what says so is open from the start.

use super::waited_child::WaitedChild;
use crate::process::named_lines;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// One that was not switched to a CPU or from it for so long stands still. What waits for its own
/// helper looks after it every second ([`WAKE_INTERVAL`](super::waited_child::WAKE_INTERVAL)).
const PATIENCE: Duration = Duration::from_secs(2);

/// What is read of a file in `/proc`. Unit: bytes.
const MAX_FILE_BYTES: usize = 4096;

/// Looks after a process that owes an answer, or its end.
#[derive(Debug)]
pub struct StandstillLook {
    /// `None`: it may not be read, and nothing is said.
    status: Option<File>,
    groups: Option<File>,
    /// How often it had been switched, and since when it has not been any more.
    seen: Option<(u64, Instant)>,
    is_noted: bool,
}

impl StandstillLook {
    /// Opens what there is to know of it.
    pub fn of(child: WaitedChild) -> Self {
        let open = |name| File::open(format!("/proc/{}/{name}", child.process())).ok();
        Self { status: open("status"), groups: open("cgroup"), seen: None, is_noted: false }
    }

    /// Looks while it is waited for: that it stands still, and for what reason as far as that is
    /// known, once for each wait.
    pub fn look(&mut self) -> Option<String> {
        self.look_after(PATIENCE)
    }

    /// What it was waited for has come.
    pub fn clear(&mut self) {
        (self.seen, self.is_noted) = (None, false);
    }

    fn look_after(&mut self, patience: Duration) -> Option<String> {
        let standing = ProcessStanding::of(&text(self.status.as_ref())?);
        let Some(standing) = standing.filter(ProcessStanding::may_stand_still) else {
            self.seen = None;
            return None;
        };
        let known = self.seen.filter(|(switches, _)| *switches == standing.switches);
        let (_, since) = *self.seen.insert(known.unwrap_or((standing.switches, Instant::now())));
        if known.is_none() || self.is_noted || since.elapsed() < patience {
            return None;
        }
        self.is_noted = true;
        let groups = text(self.groups.as_ref()).unwrap_or_default();
        Some(format!("has stood still for {} s: {}", patience.as_secs(), standing.cause(&groups)))
    }
}

/// What the kernel says of a process, or of its first thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProcessStanding {
    state: char,
    /// Who traces it; 0: nobody.
    tracer: u32,
    /// How often it was switched to a CPU and from it.
    switches: u64,
}

impl ProcessStanding {
    /// By its `/proc/PID/status`: proc(5); `None`: not all of that is there.
    fn of(status: &str) -> Option<Self> {
        let value = |name: &str| Some(named_lines(status).find(|(known, _)| *known == name)?.1);
        let switches = |name: &str| value(name)?.parse::<u64>().ok();
        Some(Self {
            state: value("State")?.chars().next()?,
            tracer: value("TracerPid")?.parse().ok()?,
            switches: switches("voluntary_ctxt_switches")?
                .saturating_add(switches("nonvoluntary_ctxt_switches")?),
        })
    }

    /// It does not run, and has not ended; one that a signal has stopped is made to go on.
    fn may_stand_still(&self) -> bool {
        matches!(self.state, 't' | 'S' | 'D')
    }

    /// Why it stands still; `groups` is its `/proc/PID/cgroup`.
    fn cause(&self, groups: &str) -> String {
        if self.state == 't' && self.tracer != 0 {
            return format!("process {} holds it, as debuggers do", self.tracer);
        }
        match freezable(groups).as_slice() {
            [] => "it may be frozen with its control group".to_owned(),
            groups => format!(
                "it may be frozen with its control group {}, or with one above that",
                groups.join(" or ")
            ),
        }
    }
}

/// The groups of a process that can be frozen, of either version: cgroups(7).
fn freezable(groups: &str) -> Vec<&str> {
    let group = |line| {
        let mut fields = str::splitn(line, 3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let freezes = controllers.is_empty() || controllers.split(',').any(|one| one == "freezer");
        (freezes && path != "/").then_some(path)
    };
    groups.lines().filter_map(group).collect()
}

/// What stands in a file of `/proc` at this moment.
fn text(file: Option<&File>) -> Option<String> {
    let mut bytes = [0; MAX_FILE_BYTES];
    let length = file?.read_at(&mut bytes, 0).ok()?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn status(state: &str, tracer: u32) -> String {
        format!(
            "Name:\tx\nState:\t{state}\nTracerPid:\t{tracer}\nvoluntary_ctxt_switches:\t40\n\
             nonvoluntary_ctxt_switches:\t2\n"
        )
    }

    #[test]
    fn who_holds_it_is_known_by_the_kernels_words() {
        let of = |state, tracer| ProcessStanding::of(&status(state, tracer)).expect("all is there");
        let held = of("t (tracing stop)", 77);
        assert_eq!(held, ProcessStanding { state: 't', tracer: 77, switches: 42 });
        assert_eq!(held.cause(""), "process 77 holds it, as debuggers do");
        let groups = "3:cpu,cpuacct:/\n2:freezer:/a\n0::/b:c\n";
        // One that is traced may be frozen all the same.
        let cause = of("D (disk sleep)", 77).cause(groups);
        assert!(cause.contains("control group /a or /b:c, or with one above"), "{cause}");
        let cause = of("S (sleeping)", 0).cause("0::/\n");
        assert_eq!(cause, "it may be frozen with its control group");
        let stands = ["R (running)", "T (stopped)", "Z (zombie)", "S (sleeping)"];
        let stands = stands.map(|state| of(state, 0).may_stand_still());
        assert_eq!(stands, [false, false, false, true]);
        assert_eq!(ProcessStanding::of("State:\tS (sleeping)\n"), None);
    }

    #[test]
    fn one_that_stands_still_is_noted_once_for_each_wait() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("it starts");
        let mut look = StandstillLook::of(WaitedChild::of(&child));
        let told = |look: &mut StandstillLook| {
            // It may be starting still.
            while look.look_after(Duration::ZERO).is_none() {
                std::thread::yield_now();
            }
            look.look_after(Duration::ZERO)
        };
        assert_eq!(told(&mut look), None, "once");
        look.clear();
        assert_eq!(told(&mut look), None, "and once again");
        child.kill().expect("it is there");
        child.wait().expect("it ends");
        look.clear();
        assert_eq!([(); 2].map(|()| look.look_after(Duration::ZERO)), [None, None], "it has ended");
    }
}
