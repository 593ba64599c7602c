//! A limit on the time of a study: no run is begun that cannot end within it, and one that goes on
//! beyond it is ended.

use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::now;
use dbtime_model::units::counted;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A block may end so much later, a share of the limit: how long it takes is an estimate.
const LATE_SHARE: f64 = 0.04;

/// A run that goes on is ended so much later.
const END_SHARE: f64 = 0.08;

/// Runs whose mean is what the next one takes, at least.
pub(super) const LATEST: usize = 6;

/// A shorter wait for a quiet machine is none, and nothing ends within a shorter time.
const LEAST_WAIT_S: f64 = 1.0;

/// How long a study may take, from an instant on.
#[derive(Clone, Copy, Debug)]
pub struct StudyTime {
    begun: Instant,
    limit_s: f64,
}

impl StudyTime {
    /// So many seconds from now on.
    pub fn from_now(limit_s: f64) -> Self {
        Self { begun: Instant::now(), limit_s }
    }

    /// How much is left; zero behind the limit. Unit: seconds.
    pub fn left_s(&self) -> f64 {
        (self.limit_s - self.spent_s()).max(0.0)
    }

    /// Whether what goes on is ended for it.
    pub fn is_over(&self) -> bool {
        self.spent_s() >= self.end_s()
    }

    /// Does some work, and has `stop` end it where it goes on well beyond the limit.
    pub fn within<T>(&self, stop: &RunStop, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let left = Duration::from_secs_f64((self.end_s() - self.spent_s()).max(0.0));
            scope.spawn(move || {
                if is_done.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                    stop.at(now());
                }
            });
            let worked = work();
            drop(done);
            worked
        })
    }

    fn spent_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn end_s(&self) -> f64 {
        self.limit_s * (1.0 + END_SHARE)
    }
}

/// The time of a study, and what its runs take of it.
#[derive(Clone, Debug)]
pub(super) struct RunPace {
    pub(super) time: StudyTime,
    /// How long a run takes before any was made. Unit: seconds.
    expected_s: f64,
    /// How long those took that were made.
    lengths_s: Vec<f64>,
    /// How many of them are looked at: of slices a whole block, of which the first prepare all.
    latest: usize,
    /// How many have to be made before they say what the next one takes.
    fewest: usize,
}

impl RunPace {
    /// `block_runs`: how many runs prepare once for all of them; one of those alone is no measure.
    pub(super) fn new(time: StudyTime, expected_s: f64, block_runs: usize) -> Self {
        let latest = block_runs.max(LATEST);
        Self { time, expected_s, lengths_s: Vec::new(), latest, fewest: block_runs.max(1) }
    }

    /// A run took so long.
    pub(super) fn took(&mut self, length_s: f64) {
        self.lengths_s.push(length_s);
    }

    /// Whether so many runs can end in time.
    pub(super) fn has_room(&self, runs: usize) -> bool {
        let most_s = self.time.limit_s * (1.0 + LATE_SHARE);
        self.time.spent_s() + runs as f64 * self.run_s() <= most_s
    }

    /// How long a quiet machine is waited for, at most as long as the gate says: half of what so
    /// many runs leave, for others may have to wait, too.
    pub(super) fn wait_s(&self, gate_s: f64, runs: usize) -> f64 {
        let spare_s = self.time.left_s() - runs as f64 * self.run_s();
        let wait_s = gate_s.min(spare_s / 2.0);
        if wait_s < LEAST_WAIT_S { 0.0 } else { wait_s }
    }

    /// Why there are no more runs after so many complete blocks where so many more do not fit into
    /// the time, in words.
    pub(super) fn end_text(&self, blocks: u64, runs: usize) -> String {
        let limit_s = self.time.limit_s;
        if blocks > 0 {
            let complete = counted(blocks, "complete block");
            return format!("its time of {limit_s:.0} s was up after {complete}");
        }
        let left_s = self.time.left_s();
        let why = match left_s < LEAST_WAIT_S {
            true => format!("its time of {limit_s:.0} s was up before a block was complete"),
            false => format!(
                "no block is complete, and what one needs takes about {:.0} s, while {left_s:.0} s \
                 are left of its time of {limit_s:.0} s",
                runs as f64 * self.run_s()
            ),
        };
        format!(
            "{why}: raise --for, shorten the runs with --time and --warmup, or add blocks with \
             `dbtime study resume DIR --blocks 3`"
        )
    }

    fn run_s(&self) -> f64 {
        let latest = &self.lengths_s[self.lengths_s.len().saturating_sub(self.latest)..];
        match latest.len() {
            few if few < self.fewest => self.expected_s,
            runs => latest.iter().sum::<f64>() / runs as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_end_in_time_has_no_room_and_waits_come_out_of_what_is_spare() {
        let mut pace = RunPace::new(StudyTime::from_now(1000.0), 90.0, 1);
        assert_eq!([11, 12].map(|runs| pace.has_room(runs)), [true, false]);
        assert!((pace.wait_s(120.0, 10) - 50.0).abs() < 1.0);
        assert_eq!([(20.0, 10), (120.0, 12)].map(|(s, runs)| pace.wait_s(s, runs)), [20.0, 0.0]);
        (0..9).for_each(|_| pace.took(10.0));
        assert!(pace.has_room(100) && !pace.has_room(110));
        assert_eq!(pace.wait_s(120.0, 0), 120.0);
        assert_eq!(pace.end_text(1, 3), "its time of 1000 s was up after 1 complete block");
        let told = "no block is complete, and what one needs takes about 30 s, while 1000 s are \
                    left of its time of 1000 s: raise --for";
        assert!(pace.end_text(0, 3).starts_with(told), "{}", pace.end_text(0, 3));
        let over = RunPace::new(StudyTime::from_now(0.0), 90.0, 1).end_text(0, 3);
        assert!(over.contains(" was up before a block was complete: raise --for"), "{over}");
    }

    #[test]
    fn work_that_goes_on_beyond_the_limit_is_told_to_end() {
        let stop = RunStop::default();
        let time = StudyTime::from_now(0.02);
        let work = || {
            while !stop.is_set() {
                std::thread::sleep(Duration::from_millis(1));
            }
            7
        };
        assert_eq!(time.within(&stop, work), 7);
        assert!(time.is_over() && time.left_s() == 0.0);
        let (stop, time) = (RunStop::default(), StudyTime::from_now(3600.0));
        assert!(!time.within(&stop, || stop.is_set()) && !time.is_over());
    }
}
