//! Groups of rows that wait to be written, and the pauses in between.

use super::execution_row::ExecutionRow;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A pause is so many times as long as the work before it.
const PAUSE_FACTOR: u32 = 9;

/// No pause is longer, however long the work before it was held up.
const MAX_PAUSE: Duration = Duration::from_millis(20);

/// Groups that wait to be written.
///
/// Writing one takes tens of milliseconds of a CPU. At a stretch they hold up whatever shares that
/// CPU, for a scheduler lets a thread that runs finish its slice of some milliseconds: a server's
/// thread with a lock on a row, and behind it all that wait for the lock. So the work is done in
/// short pieces while there is time: until the next group has come, or no more will come.
pub(super) struct WaitingGroups<'a> {
    groups: &'a Receiver<Vec<ExecutionRow>>,
    next: Option<Vec<ExecutionRow>>,
    is_over: bool,
    worked_since: Instant,
}

impl<'a> WaitingGroups<'a> {
    pub(super) fn new(groups: &'a Receiver<Vec<ExecutionRow>>) -> Self {
        Self { groups, next: None, is_over: false, worked_since: Instant::now() }
    }

    /// The next group, as soon as there is one.
    pub(super) fn next_group(&mut self) -> Option<Vec<ExecutionRow>> {
        let next = self.next.take().or_else(|| self.groups.recv().ok());
        self.worked_since = Instant::now();
        next
    }

    /// Leaves the CPU to others after a piece of work, if nothing else is to be done.
    pub(super) fn pause(&mut self) {
        if self.next.is_some() || self.is_over {
            return;
        }
        let length = (self.worked_since.elapsed() * PAUSE_FACTOR).min(MAX_PAUSE);
        match self.groups.recv_timeout(length) {
            Ok(group) => self.next = Some(group),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.is_over = true,
        }
        self.worked_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    /// How long a pause takes after work of this length.
    fn pause_after(groups: &mut WaitingGroups<'_>, work: Duration) -> Duration {
        groups.worked_since = Instant::now().checked_sub(work).expect("the machine has been up");
        let begin = Instant::now();
        groups.pause();
        begin.elapsed()
    }

    #[test]
    fn a_pause_follows_from_the_work_before_it() {
        let (_sender, receiver) = sync_channel(1);
        let mut groups = WaitingGroups::new(&receiver);
        assert!(pause_after(&mut groups, Duration::from_millis(1)) >= Duration::from_millis(9));
        // 90 s would be.
        let held_up = pause_after(&mut groups, Duration::from_secs(10));
        assert!(held_up >= MAX_PAUSE && held_up < Duration::from_secs(60), "{held_up:?}");
    }

    #[test]
    fn a_group_that_waits_ends_the_pauses_and_comes_next() {
        let (sender, receiver) = sync_channel(1);
        let mut groups = WaitingGroups::new(&receiver);
        sender.send(Vec::with_capacity(7)).expect("room");
        groups.pause();
        // The place in the channel is free again; nothing is lost, and the order stays.
        sender.send(Vec::new()).expect("room");
        groups.pause();
        assert_eq!(groups.next_group().map(|group| group.capacity()), Some(7));
        assert_eq!(groups.next_group().map(|group| group.capacity()), Some(0));
    }

    #[test]
    fn nothing_is_waited_for_once_no_more_groups_come() {
        let (sender, receiver) = sync_channel::<Vec<ExecutionRow>>(1);
        let mut groups = WaitingGroups::new(&receiver);
        drop(sender);
        groups.pause();
        assert!(groups.is_over);
        assert!(groups.next_group().is_none());
    }
}
