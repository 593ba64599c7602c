//! Threads over time, drawn: a row for each, a letter for each microsecond.
//!
//! ```text
//!   A  000ppp000llww111     on CPU 0, pre-empted, on it again, asleep for a lock, woken, on CPU 1
//!   B  ...000..........     not there, on CPU 0, gone
//! ```
//!
//! The player makes of it what the kernel would: switches, wake-ups, and what the scheduler notes
//! down about threads meanwhile.

use dbtime_kernel_tests::{CPUS, TaskFacts};
use std::fmt;

/// A letter's length. Unit: nanoseconds.
pub(crate) const UNIT: u64 = 1000;

/// When the first letter begins. Unit: nanoseconds.
pub(crate) const BEGIN: u64 = 1_000_000;

/// By how much the scheduler's own clock is ahead. Unit: nanoseconds.
const CLOCK_AHEAD: u64 = 777;

/// What threads had of CPUs before they were seen. Unit: nanoseconds.
const EARLIER_CLOCK: u64 = 3_600_000_000_000;

/// What a thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// `.`: it is not there yet, or no longer.
    Absent,
    /// `0` to `7`: it has that CPU.
    On(u32),
    /// `p`: it could run, and another has its CPU.
    Preempted,
    /// `w`: it was woken, and has no CPU yet.
    Woken,
    /// `t`: as `p`, but its control group has used up its share.
    Throttled,
    /// `l`, `r`, `f`, `s`, `n`, `z`, `o`: asleep for a lock, a read of a file, a write to one,
    /// until that is on disk, for the client, because it wants to, for something else.
    Asleep(char),
    /// `T`: stopped by a signal.
    Stopped,
    /// `F`: stopped as its control group is frozen.
    Frozen,
}

impl ThreadState {
    fn of(letter: char) -> Self {
        match letter {
            '.' => Self::Absent,
            'p' => Self::Preempted,
            'w' => Self::Woken,
            't' => Self::Throttled,
            'T' => Self::Stopped,
            'F' => Self::Frozen,
            'l' | 'r' | 'f' | 's' | 'n' | 'z' | 'o' => Self::Asleep(letter),
            _ => Self::On(letter.to_digit(CPUS).expect("a CPU")),
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Absent => '.',
            Self::On(cpu) => char::from_digit(cpu, 10).unwrap_or('?'),
            Self::Preempted => 'p',
            Self::Woken => 'w',
            Self::Throttled => 't',
            Self::Asleep(cause) => cause,
            Self::Stopped => 'T',
            Self::Frozen => 'F',
        }
    }

    pub(crate) fn cpu(self) -> Option<u32> {
        match self {
            Self::On(cpu) => Some(cpu),
            _ => None,
        }
    }

    /// Whether it goes on only once it is woken.
    fn is_asleep(self) -> bool {
        matches!(self, Self::Absent | Self::Asleep(_) | Self::Stopped | Self::Frozen)
    }

    /// Whether it waits for a CPU.
    fn is_queued(self) -> bool {
        matches!(self, Self::Preempted | Self::Woken | Self::Throttled)
    }

    /// For what a thread leaves its CPU that is at this next: `prev_state` of the kernel.
    pub(crate) fn left_for(self) -> u32 {
        const INTERRUPTIBLE: u32 = 1;
        const UNINTERRUPTIBLE: u32 = 2;
        const STOPPED: u32 = 4;
        const DEAD: u32 = 0x80;
        match self {
            Self::Absent => DEAD,
            Self::On(_) | Self::Preempted | Self::Woken | Self::Throttled => 0,
            Self::Asleep('r' | 'f' | 's') => UNINTERRUPTIBLE,
            Self::Asleep(_) | Self::Frozen => INTERRUPTIBLE,
            Self::Stopped => STOPPED,
        }
    }

    /// The system call that it is in, and its first argument: a file, or a socket.
    fn call(self) -> (i32, u64) {
        match self {
            Self::Asleep('l') => (calls::FUTEX, 0x1000),
            Self::Asleep('r') => (calls::READ, FILE.into()),
            Self::Asleep('f') => (calls::WRITE, FILE.into()),
            Self::Asleep('s') => (calls::FSYNC, FILE.into()),
            Self::Asleep('n') => (calls::READ, SOCKET.into()),
            Self::Asleep('z') => (calls::NANOSLEEP, 0),
            Self::Asleep('o') => (calls::SCHED_YIELD, 0),
            // While it runs it may let locks go.
            _ => (calls::FUTEX, 0x1000),
        }
    }
}

/// A file, and a socket, that threads have open.
pub(crate) const FILE: u32 = 3;
/// See [`FILE`].
pub(crate) const SOCKET: u32 = 4;

#[cfg(target_arch = "x86_64")]
pub(crate) mod calls {
    //! Numbers of system calls.
    pub(crate) const READ: i32 = 0;
    pub(crate) const WRITE: i32 = 1;
    pub(crate) const SCHED_YIELD: i32 = 24;
    pub(crate) const NANOSLEEP: i32 = 35;
    pub(crate) const FSYNC: i32 = 74;
    pub(crate) const FUTEX: i32 = 202;
}
#[cfg(not(target_arch = "x86_64"))]
pub(crate) mod calls {
    //! Numbers of system calls.
    pub(crate) const READ: i32 = 63;
    pub(crate) const WRITE: i32 = 64;
    pub(crate) const SCHED_YIELD: i32 = 124;
    pub(crate) const NANOSLEEP: i32 = 101;
    pub(crate) const FSYNC: i32 = 82;
    pub(crate) const FUTEX: i32 = 98;
}

/// What the kernel tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchedulerEvent {
    /// A thread is woken.
    Wakes(usize),
    /// A CPU goes from one thread to another; `None`: nobody. What the first is at next.
    Switches { cpu: u32, from: Option<usize>, to: Option<usize>, next: ThreadState },
}

/// A moment at which something happens.
#[derive(Clone, Debug)]
pub(crate) struct TimelineEvent {
    /// Unit: nanoseconds.
    pub(crate) at: u64,
    pub(crate) what: SchedulerEvent,
    /// What can be found out about each thread then.
    pub(crate) facts: Vec<TaskFacts>,
    /// How long the queue of each CPU was throttled. Unit: nanoseconds.
    pub(crate) throttled: [u64; CPUS as usize],
}

/// Rows of threads, by their names.
#[derive(Clone)]
pub(crate) struct ThreadTimeline {
    pub(crate) names: Vec<String>,
    /// Shape: as many letters in each row.
    pub(crate) rows: Vec<Vec<ThreadState>>,
}

impl fmt::Debug for ThreadTimeline {
    /// As it is drawn.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, row) in self.names.iter().zip(&self.rows) {
            let letters: String = row.iter().map(|state| state.letter()).collect();
            write!(f, "\n{name} {letters}")?;
        }
        Ok(())
    }
}

impl ThreadTimeline {
    /// Rows of threads A, B and so on.
    pub(crate) fn new(rows: Vec<Vec<ThreadState>>) -> Self {
        let names = ('A'..).take(rows.len()).map(String::from).collect();
        let timeline = Self { names, rows };
        timeline.check();
        timeline
    }

    /// Reads rows of `name letters`.
    pub(crate) fn of(drawn: &str) -> Self {
        let rows = drawn.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
        let (names, rows): (Vec<_>, Vec<_>) = rows
            .map(|(name, row)| (name.to_owned(), row.trim().chars().map(ThreadState::of).collect()))
            .unzip();
        let timeline = Self { names, rows };
        timeline.check();
        timeline
    }

    /// No CPU has two threads, and nobody is woken who did not sleep, or pre-empted who did.
    fn check(&self) {
        let length = self.length();
        for (before, now) in self.rows.iter().flat_map(|row| row.iter().zip(&row[1..])) {
            let is_odd = match now {
                ThreadState::Woken => before.cpu().is_some() || *before == ThreadState::Preempted,
                ThreadState::Preempted => before.is_asleep() || *before == ThreadState::Woken,
                ThreadState::On(cpu) => before.cpu().is_some_and(|before| before != *cpu),
                _ => before.is_queued() && now.is_asleep(),
            };
            assert!(!is_odd, "{before:?} before {now:?}: {self:?}");
        }
        assert!(self.rows.iter().all(|row| row.len() == length), "rows of one length: {self:?}");
        for at in 0..length {
            let mut cpus: Vec<u32> = self.rows.iter().filter_map(|row| row[at].cpu()).collect();
            cpus.sort_unstable();
            cpus.dedup();
            let running = self.rows.iter().filter(|row| row[at].cpu().is_some()).count();
            assert_eq!(cpus.len(), running, "a CPU has one thread at {at}: {self:?}");
        }
    }

    /// Unit: letters.
    pub(crate) fn length(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// When it ends. Unit: nanoseconds.
    pub(crate) fn end(&self) -> u64 {
        BEGIN + UNIT * self.length() as u64
    }

    /// Letters of a thread for which this holds. Unit: nanoseconds.
    pub(crate) fn time(&self, thread: usize, holds: impl Fn(ThreadState) -> bool) -> u64 {
        UNIT * self.rows[thread].iter().filter(|state| holds(**state)).count() as u64
    }

    /// What happens, in its order: wake-ups go before switches of the same moment.
    pub(crate) fn events(&self) -> Vec<TimelineEvent> {
        self.played().events
    }

    fn played(&self) -> TimelinePlayer<'_> {
        let mut player = TimelinePlayer::new(self);
        (1..self.length()).for_each(|at| player.step(at));
        player
    }

    /// What can be found out about threads as it begins.
    pub(crate) fn first_facts(&self) -> Vec<TaskFacts> {
        TimelinePlayer::new(self).facts
    }

    /// The same as it ends.
    pub(crate) fn last_facts(&self) -> Vec<TaskFacts> {
        self.played().facts
    }

    /// Whose a CPU is.
    pub(crate) fn owner(&self, cpu: u32, at: usize) -> Option<usize> {
        self.rows.iter().position(|row| row[at].cpu() == Some(cpu))
    }
}

/// Keeps what the kernel knows about threads.
struct TimelinePlayer<'a> {
    timeline: &'a ThreadTimeline,
    facts: Vec<TaskFacts>,
    /// Since when each has its CPU, as far as its clock was not brought up to date.
    on: Vec<u64>,
    throttled: [u64; CPUS as usize],
    events: Vec<TimelineEvent>,
}

impl<'a> TimelinePlayer<'a> {
    fn new(timeline: &'a ThreadTimeline) -> Self {
        let facts = |(index, row): (usize, &Vec<ThreadState>)| TaskFacts {
            cpu_clock: if row[0] == ThreadState::Absent { 0 } else { EARLIER_CLOCK },
            start: BEGIN + index as u64,
            last_arrival: BEGIN - UNIT + CLOCK_AHEAD,
            last_queued: if row[0].is_queued() { BEGIN - UNIT + CLOCK_AHEAD } else { 0 },
            is_on_cpu: row[0].cpu().is_some().into(),
            call: row[0].call().0,
            arguments: [row[0].call().1, 0, 0, 0],
            ..TaskFacts::default()
        };
        Self {
            timeline,
            facts: timeline.rows.iter().enumerate().map(facts).collect(),
            on: vec![BEGIN; timeline.rows.len()],
            throttled: [0; CPUS as usize],
            events: Vec::new(),
        }
    }

    /// From one letter to the next.
    fn step(&mut self, at: usize) {
        let time = BEGIN + UNIT * at as u64;
        let states: Vec<_> = self.timeline.rows.iter().map(|row| (row[at - 1], row[at])).collect();
        for (thread, (before, now)) in states.into_iter().enumerate() {
            if before == ThreadState::Throttled {
                self.throttled[self.facts[thread].queue as usize] += UNIT;
            }
            if before.is_asleep() && !now.is_asleep() {
                self.happens(time, SchedulerEvent::Wakes(thread));
                self.facts[thread].last_queued = time + CLOCK_AHEAD;
            }
        }
        for cpu in 0..CPUS {
            let (from, to) = (self.timeline.owner(cpu, at - 1), self.timeline.owner(cpu, at));
            if from != to {
                self.switch(time, cpu, (from, to), at);
            }
        }
    }

    fn switch(
        &mut self,
        time: u64,
        cpu: u32,
        (from, to): (Option<usize>, Option<usize>),
        at: usize,
    ) {
        let next = from.map_or(ThreadState::Absent, |from| self.timeline.rows[from][at]);
        if let Some(from) = from {
            let facts = &mut self.facts[from];
            facts.cpu_clock += time - self.on[from];
            (facts.utime, facts.queue) = (facts.cpu_clock, cpu);
            (facts.call, facts.arguments[0]) = next.call();
            facts.is_frozen = (next == ThreadState::Frozen).into();
        }
        if let Some(to) = to {
            self.facts[to].queue = cpu;
        }
        self.happens(time, SchedulerEvent::Switches { cpu, from, to, next });
        // The scheduler notes down what it does behind what it tells.
        if let Some(from) = from {
            let facts = &mut self.facts[from];
            facts.is_on_cpu = 0;
            if next.is_queued() || next.cpu().is_some() {
                facts.last_queued = time + CLOCK_AHEAD;
            }
        }
        if let Some(to) = to {
            let facts = &mut self.facts[to];
            facts.run_delay += time + CLOCK_AHEAD - facts.last_queued;
            (facts.last_queued, facts.last_arrival) = (0, time + CLOCK_AHEAD);
            (facts.is_on_cpu, facts.is_frozen) = (1, 0);
            self.on[to] = time;
        }
    }

    fn happens(&mut self, at: u64, what: SchedulerEvent) {
        let (facts, throttled) = (self.facts.clone(), self.throttled);
        self.events.push(TimelineEvent { at, what, facts, throttled });
    }
}
