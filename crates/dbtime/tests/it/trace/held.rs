//! Processes that stand still whatever signal they get, until they are let go or killed.

use super::rights::{folder, status};
use super::stopped::{ControlGroup, FREEZERS};
use super::*;

/// A control group that can be frozen, the file that does that, and what is written for it and to
/// let go.
pub(super) type GroupFreezer = (ControlGroup, &'static str, [&'static str; 2]);

/// One, where there is any.
pub(super) fn freezer() -> Option<GroupFreezer> {
    let made = |(mount, file, words): &(&str, &'static str, [&'static str; 2])| {
        ControlGroup::new(mount, file).map(|group| (group, *file, *words))
    };
    FREEZERS.iter().find_map(made)
}

/// PTRACE_SEIZE and PTRACE_INTERRUPT of ptrace(2), by the perl that every Debian has: the process
/// waits until its tracer has ended.
const TRACER: &str = "my ($call, $process) = map { $_ + 0 } @ARGV;
syscall($call, $_, $process, 0, 0) == 0 or die \"ptrace: $!\" for 0x4206, 0x4207;
sleep 600;";

/// The number of that call.
const PTRACE: &str = if cfg!(target_arch = "x86_64") { "101" } else { "117" };

/// What holds a process.
pub(super) enum ProcessHold {
    Frozen(GroupFreezer),
    Traced(Child),
}

impl ProcessHold {
    /// Holds a process, frozen with this group or by a tracer of its own.
    pub(super) fn begin(process: u32, freezer: Option<GroupFreezer>) -> Self {
        if let Some(freezer) = freezer {
            let (group, file, [freeze, _]) = &freezer;
            group.write("cgroup.procs", &process.to_string());
            group.write(file, freeze);
            return Self::Frozen(freezer);
        }
        let mut perl = Command::new("perl");
        perl.args(["-e", TRACER, PTRACE, process.to_string().as_str()]);
        let mut tracer = perl.stdin(Stdio::null()).spawn().expect("perl is installed");
        let begun = Instant::now();
        while status(&folder(process), "State") != "t" {
            assert_eq!(tracer.try_wait().expect("it is ours"), None, "it may not be traced");
            assert!(begun.elapsed() < PATIENCE, "process {process} goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self::Traced(tracer)
    }

    /// What is known of it from outside.
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Frozen(_) => "it may be frozen with its control group".to_owned(),
            Self::Traced(tracer) => format!("process {} holds it", tracer.id()),
        }
    }

    /// Lets the process go on.
    pub(super) fn end(&mut self) {
        match self {
            Self::Frozen((group, file, [_, thaw])) => group.write(file, thaw),
            Self::Traced(tracer) => {
                tracer.kill().expect("it is there");
                tracer.wait().expect("it ends");
            }
        }
    }
}

impl Drop for ProcessHold {
    /// Also where a test fails; a control group lets go itself.
    fn drop(&mut self) {
        if let Self::Traced(tracer) = self {
            let _ = tracer.kill();
            let _ = tracer.wait();
        }
    }
}
