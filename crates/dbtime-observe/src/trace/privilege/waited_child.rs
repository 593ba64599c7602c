//! A process that this one has started and waits for. One that somebody has stopped would be waited
//! for in vain, and is made to go on; where whoever waits for it is gone, the kernel does that.
//!
//! To go on does no harm to one that was not stopped, or is no more: nobody has to be sure.

use rustix::io;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, set_parent_process_death_signal, waitid,
};
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

/// Something is waited for so long before a look whether the one that owes it is stopped.
pub const WAKE_INTERVAL: Duration = Duration::from_secs(1);

/// How often it is looked whether one has ended.
const END_INTERVAL: Duration = Duration::from_millis(5);

/// What makes a stopped process go on.
pub(super) const WAKING: Signal = Signal::CONT;

/// A process that this one has started and waits for.
#[derive(Clone, Copy, Debug)]
pub struct WaitedChild(Pid);

impl WaitedChild {
    /// As it was started.
    pub fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// Its number.
    pub fn process(self) -> u32 {
        self.0.as_raw_pid().cast_unsigned()
    }

    /// Makes it go on where somebody has stopped it; whether that was so.
    pub fn wake(self) -> bool {
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let found = waitid(WaitId::Pid(self.0), look);
        matches!(found, Ok(Some(_))) && kill_process(self.0, WAKING).is_ok()
    }
}

/// Waits until a process has ended that is about to, stopped or not, and does something meanwhile,
/// again and again.
///
/// # Errors
/// It was waited for before.
pub fn wait_for_end(child: &mut Child, mut meanwhile: impl FnMut()) -> std::io::Result<ExitStatus> {
    let waited = WaitedChild::of(child);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        waited.wake();
        meanwhile();
        thread::sleep(END_INTERVAL);
    }
}

/// Has the kernel make this process go on when the one that has started it ends: stopped, it would
/// stay, with all that is attached. What else there is to do then it sees by its messages.
///
/// # Errors
/// The kernel has no such signals.
pub fn go_on_without_parent() -> io::Result<()> {
    set_parent_process_death_signal(Some(WAKING))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A process that is stopped.
    fn stopped() -> Child {
        let mut child = Command::new("sleep").arg("600").spawn().expect("it starts");
        let pid = Pid::from_child(&child);
        kill_process(pid, Signal::STOP).expect("it is there");
        let stops = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), stops).expect("it is ours").expect("it stops");
        assert_eq!(child.try_wait().expect("it is ours"), None);
        child
    }

    #[test]
    fn what_is_stopped_goes_on_and_what_runs_is_left_alone() {
        let mut child = stopped();
        let waited = WaitedChild::of(&child);
        assert!(waited.wake());
        let goes_on = WaitIdOptions::CONTINUED;
        waitid(WaitId::Pid(Pid::from_child(&child)), goes_on).expect("it is ours").expect("awake");
        assert!(!waited.wake());
        child.kill().expect("it is there");
        child.wait().expect("it ends");
        assert!(!waited.wake(), "it has ended");
    }

    #[test]
    fn one_that_is_to_end_and_is_stopped_is_not_waited_for_in_vain() {
        let mut child = stopped();
        kill_process(Pid::from_child(&child), Signal::TERM).expect("it is there");
        let status = wait_for_end(&mut child, || ()).expect("it is ours");
        assert!(!status.success());
        assert_eq!(wait_for_end(&mut child, || ()).expect("it is known"), status);
    }
}
