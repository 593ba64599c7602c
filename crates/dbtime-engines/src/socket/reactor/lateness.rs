//! How late a shard looks at its sockets because its thread had no CPU.
//!
//! A shard that waits is woken when the first answer has come, and runs when it gets a CPU. What
//! lies between is the driver's lateness and not the server's time: the run delay of the wait tells
//! how long it was. A thread that was stopped has no run delay, but is away for longer than it may.
//!
//! ```text
//!   woken ── works ── waits ───────── answer ── run delay ── woken ── reads
//!           └─ work ─┘                         └── wait ───┘
//! ```

use crate::drive::shard::{AnswerDelay, Completion};
use dbtime_machine::schedstat::Schedstat;
use dbtime_machine::switch_flag::SwitchFlag;
use dbtime_model::{MonoNanos, Nanos};

/// So short a wait or stretch of work hides no lateness worth a reading of the run delay, which
/// costs 1 to 2 µs: where driver and server share a CPU, the server takes it at every statement.
const MIN_READ_STRETCH: Nanos = Nanos::from_micros(200);

/// No more than this goes unread: what is unread is taken off what is read next, and would hide a
/// long delay behind many short stretches that had none.
const MAX_UNREAD: Nanos = Nanos::from_millis(1);

/// A wait that finds something ready does not last so long.
const MIN_BLOCKED_WAIT: Nanos = Nanos::from_micros(20);

/// A wait that lasts so much longer than it may was stopped: timers are late by less.
const MIN_STOPPED_OVERRUN: Nanos = Nanos::from_millis(1);

/// A shard does not work longer between two waits.
const MAX_WORK: Nanos = Nanos::from_millis(20);

/// The lateness of one shard's thread.
pub(super) struct ReadLateness {
    flag: Option<SwitchFlag>,
    schedstat: Option<Schedstat>,
    /// The run delay that was read last.
    run_delay: u64,
    /// What of it was added since without being read, at most.
    unread: Nanos,
    /// When the last wait ended, and the one before.
    woken_at: MonoNanos,
    worked_from: MonoNanos,
    /// Without a CPU between the last two waits.
    work: Nanos,
    /// Without a CPU at the end of the last wait, and whether it was stopped.
    wait: Nanos,
    was_stopped: bool,
}

impl ReadLateness {
    /// Of the calling thread.
    pub(super) fn new() -> Self {
        let schedstat = Schedstat::open();
        let run_delay = schedstat.as_ref().and_then(Schedstat::run_delay).unwrap_or(0);
        Self {
            flag: SwitchFlag::new(),
            schedstat,
            run_delay,
            unread: Nanos::ZERO,
            woken_at: MonoNanos(u64::MAX),
            worked_from: MonoNanos(0),
            work: Nanos::ZERO,
            wait: Nanos::ZERO,
            was_stopped: false,
        }
    }

    /// Whether the thread lost the CPU since the last wait.
    #[inline]
    pub(super) fn lost_cpu(&self) -> bool {
        self.flag.as_ref().is_some_and(SwitchFlag::is_cleared)
    }

    /// A wait begins.
    #[inline]
    pub(super) fn waits(&mut self, present: MonoNanos) {
        self.work = Nanos::ZERO;
        if self.lost_cpu() {
            let worked = present - self.woken_at;
            if worked < MIN_READ_STRETCH {
                return self.leave_unread(worked);
            }
            self.work = self.added();
            if worked > self.work + MAX_WORK {
                self.work = worked;
            }
        }
    }

    /// It began at `begun`, could last so long, and ended at `woken`.
    #[inline]
    pub(super) fn woken(&mut self, begun: MonoNanos, timeout: Nanos, woken: MonoNanos) {
        let took = woken - begun;
        if took >= MIN_BLOCKED_WAIT {
            // What is ready now came while it waited, and not before.
            self.work = Nanos::ZERO;
        }
        (self.wait, self.was_stopped) = (Nanos::ZERO, false);
        if took >= MIN_READ_STRETCH {
            self.wait = self.added().min(took);
            let over = took - timeout;
            self.was_stopped = over > self.wait + MIN_STOPPED_OVERRUN;
            if self.was_stopped {
                self.wait = over;
            }
        } else {
            self.leave_unread(took);
        }
        (self.worked_from, self.woken_at) = (self.woken_at, woken);
        if let Some(flag) = &self.flag {
            flag.raise();
        }
    }

    /// The run delay of so short a stretch is not worth reading.
    #[inline]
    fn leave_unread(&mut self, length: Nanos) {
        self.unread += length;
        if self.unread >= MAX_UNREAD {
            self.added();
        }
    }

    /// The run delay since it was read last, less what may have been added unread.
    #[cold]
    fn added(&mut self) -> Nanos {
        let Some(run_delay) = self.schedstat.as_ref().and_then(Schedstat::run_delay) else {
            return Nanos::ZERO;
        };
        let added =
            Nanos(run_delay.saturating_sub(std::mem::replace(&mut self.run_delay, run_delay)));
        added - std::mem::take(&mut self.unread)
    }

    /// How long the socket at `position` of `count` that were ready had been it. They come in the
    /// order in which they got ready, the first of them when the thread should have run. A thread
    /// that was stopped took longer than any answer: all of them had been there.
    #[inline]
    pub(super) fn of(&self, position: usize, count: usize) -> AnswerDelay {
        let wait = if self.was_stopped || self.wait == Nanos::ZERO {
            self.wait
        } else {
            Nanos(self.wait.0 / count as u64 * (count - position) as u64)
        };
        AnswerDelay { wait, work: self.work, worked_from: self.worked_from }
    }
}

/// Answers that were read together on a connection have waited for the driver for one stretch,
/// which the first of them has whole. Where more are awaited behind them, it held nothing up: the
/// server was at the next statement, and the transaction goes on with the last answer.
#[inline]
pub(super) fn book_once(completions: &mut [Completion], is_more_awaited: bool) {
    let others = completions.iter_mut().skip(usize::from(!is_more_awaited));
    others.for_each(|completion| completion.late = AnswerDelay::default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::shard::{CompletionKind, StatementResult};

    /// The delays of two answers that were read together.
    fn delays_of_two(is_more_awaited: bool) -> [Nanos; 2] {
        let mut completions = [1000, 1200].map(|at| Completion {
            connection: 0,
            at: MonoNanos(at),
            late: AnswerDelay::of_wait(Nanos(500)),
            kind: CompletionKind::Answered(StatementResult::at_once()),
        });
        book_once(&mut completions, is_more_awaited);
        completions.map(|completion| completion.late.between(MonoNanos(0), completion.at))
    }

    #[test]
    fn answers_that_were_read_together_waited_once() {
        assert_eq!(delays_of_two(false), [Nanos(500), Nanos::ZERO]);
    }

    #[test]
    fn no_answer_waited_while_the_server_was_at_the_next_statement() {
        assert_eq!(delays_of_two(true), [Nanos::ZERO; 2]);
    }

    #[test]
    fn the_first_of_what_was_ready_has_waited_longest() {
        let mut lateness = ReadLateness::new();
        lateness.wait = Nanos(900);
        assert_eq!([0, 1, 2].map(|position| lateness.of(position, 3).wait.0), [900, 600, 300]);
        lateness.was_stopped = true;
        assert_eq!([0, 1, 2].map(|position| lateness.of(position, 3).wait.0), [900; 3]);
    }

    #[test]
    fn a_thread_that_is_away_for_longer_than_it_may_was_stopped() {
        let mut lateness = ReadLateness::new();
        let (begun, timeout) = (MonoNanos(1_000_000_000), Nanos::from_millis(2));
        lateness.waits(begun);
        let woken = begun + Nanos::from_millis(302);
        lateness.woken(begun, timeout, woken);
        assert!(lateness.was_stopped);
        assert_eq!(lateness.of(1, 2).wait, Nanos::from_millis(300));
        lateness.woken(woken, timeout, woken + Nanos::from_micros(50));
        assert_eq!(lateness.of(0, 1).wait, Nanos::ZERO);
        assert_eq!(lateness.unread, Nanos::from_micros(50));
    }

    #[test]
    fn many_short_stretches_hide_no_long_delay() {
        let mut lateness = ReadLateness::new();
        let short = Nanos::from_micros(150);
        for position in 0..100 {
            let begun = MonoNanos(1_000_000_000 + position * 1_000_000);
            lateness.woken(begun, Nanos::from_millis(10), begun + short);
            assert!(lateness.unread < MAX_UNREAD, "{:?}", lateness.unread);
        }
    }

    #[test]
    fn what_was_sent_after_the_driver_was_away_did_not_wait_for_it() {
        let delay = AnswerDelay { wait: Nanos(10), work: Nanos(500), worked_from: MonoNanos(1000) };
        assert_eq!(delay.between(MonoNanos(900), MonoNanos(9000)), Nanos(510));
        assert_eq!(delay.between(MonoNanos(1100), MonoNanos(9000)), Nanos(10));
        assert_eq!(delay.between(MonoNanos(990), MonoNanos(1190)), Nanos(200));
    }
}
