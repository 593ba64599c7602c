//! Signals that are to wait.

use nix::sys::signal::{SigSet, Signal};

/// What ends a program at the terminal, by its terminal or by its system, and all else that ends a
/// run of dbtime early: `timeout` sends what it was told to the whole process group.
const ENDING: [Signal; 12] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGSTKFLT,
    Signal::SIGVTALRM,
    Signal::SIGPROF,
    Signal::SIGIO,
    Signal::SIGPWR,
];

/// Keeps signals that would end this process waiting as long as this is there: until somebody is
/// there to hear them.
#[derive(Debug)]
pub struct HeldSignals(SigSet);

impl HeldSignals {
    /// Holds them, for the thread that calls this and those that it makes.
    pub fn hold() -> Self {
        let signals: SigSet = ENDING.into_iter().collect();
        // Where they cannot be held they end the process, which is what they are for.
        let _ = signals.thread_block();
        Self(signals)
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        let _ = self.0.thread_unblock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_wait_as_long_as_they_are_held() {
        let is_held = || {
            let mask = SigSet::thread_get_mask().expect("it has one");
            ENDING.iter().filter(|signal| mask.contains(**signal)).count()
        };
        let held = HeldSignals::hold();
        assert_eq!(is_held(), ENDING.len());
        drop(held);
        assert_eq!(is_held(), 0);
    }
}
