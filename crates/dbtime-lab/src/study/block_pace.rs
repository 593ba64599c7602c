//! How long the blocks of a study take, by those before, and what of them there is time for.
//!
//! ```text
//!   block = targets * (start + rounds * slice)      slices on targets that live for the block
//!         = targets * (rest + window)               whole runs, which prepare themselves
//! ```
//!
//! Blocks have the rounds and windows of the plan, but for the last ones, which are made longer or
//! shorter so that they end on time. All runs of a block are alike.

use super::time_limit::StudyTime;
use dbtime_model::study::MOST_SLICES;
use dbtime_model::units::counted;

/// A block may end so much later, a share of the limit: how long it takes is an estimate.
const LATE_SHARE: f64 = 0.05;

/// Runs whose mean is what the next one takes, at least.
pub(super) const LATEST: usize = 6;

/// Blocks whose starts are what the next one takes.
const LATEST_STARTS: usize = 3;

/// A shorter wait for a quiet machine is none, and nothing ends within a shorter time.
const LEAST_WAIT_S: f64 = 1.0;

/// The shortest block, as a share of a usual one.
const LEAST_SHARE: f64 = 0.5;

/// A block is usual where behind it such a share of another one fits, else the last, and longer:
/// more than the shortest, since how long blocks take is an estimate.
const NEXT_SHARE: f64 = 0.75;

/// What a run takes: its slices share one start. Of a whole run both are one length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunCost {
    /// Until the target is ready, and after the last slice until it has ended. Unit: seconds.
    pub start_s: f64,
    /// Each slice, with its warm-up. Unit: seconds.
    pub slice_s: f64,
}

/// What of a block can be longer or shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BlockForm {
    /// So many rounds of slices, as the plan has it.
    Rounds(u32),
    /// This measured window of each run. Unit: seconds.
    Window(f64),
    /// Nothing.
    Fixed,
}

/// What becomes of time that the blocks of the plan leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpareTime {
    /// Nothing.
    Left,
    /// More blocks, and longer ones.
    Filled,
}

/// How a block is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockShape {
    /// In how many rounds of slices; 1: as a whole.
    pub(super) rounds: u32,
    /// The measured window of its runs; 0: as in the plan. Unit: milliseconds.
    pub(super) window_ms: u32,
}

/// The time of a study, and what its blocks take of it.
#[derive(Clone, Debug)]
pub(super) struct BlockPace {
    pub(super) time: StudyTime,
    pub(super) spare: SpareTime,
    form: BlockForm,
    /// What a run takes before any was made.
    expected: RunCost,
    /// How long the starts of each block took, for each of its targets. Unit: seconds.
    starts_s: Vec<f64>,
    /// How long the runs took, each slice one, in windows of the plan. Unit: seconds.
    runs_s: Vec<f64>,
    /// How many of them are looked at.
    latest: usize,
    /// When the present step began. Unit: seconds of the study's time.
    step_s: f64,
}

/// When a run was ready to be made, and what for. Unit: seconds of the study's time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunReadiness {
    /// How long a quiet machine was waited for.
    pub(super) waited_s: f64,
    /// When everything was ready.
    pub(super) ready_s: f64,
    /// How many targets were started before it; 0: none was.
    pub(super) started: usize,
}

impl BlockPace {
    /// Of blocks of so many runs, each slice one.
    pub(super) fn new(time: StudyTime, form: BlockForm, cost: RunCost, block_runs: usize) -> Self {
        let spare = SpareTime::Left;
        let expected = match form {
            BlockForm::Rounds(_) => cost,
            BlockForm::Window(_) | BlockForm::Fixed => {
                RunCost { start_s: 0.0, slice_s: cost.start_s + cost.slice_s }
            }
        };
        let (latest, step_s) = (block_runs.max(LATEST), time.spent_s());
        let (starts_s, runs_s) = (Vec::new(), Vec::new());
        Self { time, spare, form, expected, starts_s, runs_s, latest, step_s }
    }

    /// The same where more blocks, and longer ones, take what time is left.
    pub(super) fn filled(self) -> Self {
        Self { spare: SpareTime::Filled, ..self }
    }

    /// The next step begins with the release of what was held for others.
    pub(super) fn begin_step(&mut self) {
        self.step_s = self.time.spent_s();
    }

    /// A run has ended that was ready then, in a block of this shape.
    pub(super) fn took(&mut self, ready: RunReadiness, shape: BlockShape) {
        let RunReadiness { waited_s, ready_s, started } = ready;
        let length_s = self.time.spent_s() - ready_s;
        // A look at the machine is part of each start, and a wait is of none.
        let before_s = (ready_s - self.step_s - (waited_s - LEAST_WAIT_S).max(0.0)).max(0.0);
        match started {
            0 => self.runs_s.push((before_s + length_s - self.longer_s(shape)).max(0.0)),
            targets => {
                self.starts_s.push(before_s / targets as f64);
                self.runs_s.push(length_s);
            }
        }
    }

    /// By how much a run of this shape is longer than one of the plan. Unit: seconds.
    fn longer_s(&self, shape: BlockShape) -> f64 {
        match (self.form, shape.window_ms) {
            (BlockForm::Window(window_s), length @ 1..) => f64::from(length) / 1e3 - window_s,
            _ => 0.0,
        }
    }

    /// What a run takes, by the latest.
    fn cost(&self) -> RunCost {
        let RunCost { start_s, slice_s } = self.expected;
        RunCost {
            start_s: mean_of_latest(&self.starts_s, LATEST_STARTS).unwrap_or(start_s),
            slice_s: mean_of_latest(&self.runs_s, self.latest).unwrap_or(slice_s),
        }
    }

    /// How the next block of so many targets is made; `None`: none ends in time.
    pub(super) fn next_shape(&self, targets: usize) -> Option<BlockShape> {
        self.shape_within(&self.lengths(targets), self.remaining_s())
    }

    /// How many further blocks of so many targets end in time, `most` where there are more.
    pub(super) fn further_blocks(&self, targets: usize, most: u32) -> u32 {
        let (lengths, mut left_s) = (self.lengths(targets), self.remaining_s());
        let mut blocks = 0;
        while let Some(shape) = self.shape_within(&lengths, left_s).filter(|_| blocks < most) {
            left_s -= lengths.at(self.share(shape));
            blocks += 1;
        }
        blocks
    }

    /// How long a usual block of so many targets takes. Unit: seconds.
    pub(super) fn block_s(&self, targets: usize) -> f64 {
        self.lengths(targets).at(1.0)
    }

    /// How long so many runs of a block take that was begun. Unit: seconds.
    pub(super) fn rest_s(&self, runs: usize) -> f64 {
        runs as f64 * self.cost().slice_s
    }

    /// Whether so many runs of a block that was begun end before they would be ended.
    pub(super) fn can_end(&self, runs: usize) -> bool {
        self.time.spent_s() + self.rest_s(runs) <= self.time.end_s()
    }

    /// How long a quiet machine is waited for, at most as long as the gate says: half of what is
    /// left beside so many seconds of runs, for others may have to wait, too.
    pub(super) fn wait_s(&self, gate_s: f64, runs_s: f64) -> f64 {
        let wait_s = gate_s.min((self.time.left_s() - runs_s) / 2.0);
        if wait_s < LEAST_WAIT_S { 0.0 } else { wait_s }
    }

    /// Why there are no more runs after so many complete blocks where what comes next, which takes
    /// so many seconds, does not fit into the time, in words.
    pub(super) fn end_text(&self, blocks: u64, next_s: f64) -> String {
        let limit_s = self.time.limit_s();
        if blocks > 0 {
            let complete = counted(blocks, "complete block");
            return format!("its time of {limit_s:.0} s was up after {complete}");
        }
        let left_s = self.time.left_s();
        let why = match left_s < LEAST_WAIT_S {
            true => format!("its time of {limit_s:.0} s was up before a block was complete"),
            false => format!(
                "no block is complete, and what one needs takes about {next_s:.0} s, while \
                 {left_s:.0} s are left of its time of {limit_s:.0} s"
            ),
        };
        format!(
            "{why}: raise --for, shorten the runs with --time and --warmup, or add blocks with \
             `dbtime study resume DIR --blocks 3`"
        )
    }

    /// What is left, below zero behind the limit. Unit: seconds.
    fn remaining_s(&self) -> f64 {
        self.time.limit_s() - self.time.spent_s()
    }

    fn lengths(&self, targets: usize) -> BlockLengths {
        let (RunCost { start_s, slice_s }, targets) = (self.cost(), targets as f64);
        match self.form {
            BlockForm::Rounds(rounds) => BlockLengths {
                fixed_s: targets * start_s,
                varying_s: targets * f64::from(rounds) * slice_s,
                least: f64::from(fewest_rounds(rounds)) / f64::from(rounds),
                most: f64::from(MOST_SLICES) / f64::from(rounds),
            },
            BlockForm::Window(window_s) => BlockLengths {
                fixed_s: targets * (slice_s - window_s).max(0.0),
                varying_s: targets * window_s,
                least: LEAST_SHARE,
                most: f64::INFINITY,
            },
            BlockForm::Fixed => {
                BlockLengths { fixed_s: targets * slice_s, varying_s: 0.0, least: 1.0, most: 1.0 }
            }
        }
    }

    /// How the next block is made where so many seconds are left; `None`: none ends in time.
    fn shape_within(&self, lengths: &BlockLengths, left_s: f64) -> Option<BlockShape> {
        let (least_s, late_s) = (lengths.at(lengths.least), LATE_SHARE * self.time.limit_s());
        let (share, late_s) = match self.spare {
            SpareTime::Left => (1.0, late_s),
            // The end is nearer to its time with a block than without it.
            SpareTime::Filled => (lengths.filling(left_s), late_s.min(least_s / 2.0)),
        };
        let most_s = left_s + late_s;
        if least_s > most_s {
            return None;
        }
        Some(match self.form {
            BlockForm::Rounds(rounds) => {
                let nearest = (share * f64::from(rounds)).round() as u32;
                let in_time = (lengths.share(most_s) * f64::from(rounds)).floor() as u32;
                let rounds = nearest.min(in_time).max(fewest_rounds(rounds));
                BlockShape { rounds, window_ms: 0 }
            }
            BlockForm::Window(window_s) => {
                let length_ms = |share: f64| (share * window_s * 1e3).round() as u32;
                let is_usual = length_ms(share) == length_ms(1.0);
                BlockShape { rounds: 1, window_ms: if is_usual { 0 } else { length_ms(share) } }
            }
            BlockForm::Fixed => BlockShape { rounds: 1, window_ms: 0 },
        })
    }

    /// How large a block of this shape is, as a share of a usual one.
    fn share(&self, shape: BlockShape) -> f64 {
        match (self.form, shape.window_ms) {
            (BlockForm::Rounds(rounds), _) => f64::from(shape.rounds) / f64::from(rounds),
            (BlockForm::Window(window_s), length @ 1..) => f64::from(length) / 1e3 / window_s,
            _ => 1.0,
        }
    }
}

/// How long a block takes: linear in how large it is, as a share of a usual one.
#[derive(Clone, Copy, Debug)]
struct BlockLengths {
    /// What its size has no part in. Unit: seconds.
    fixed_s: f64,
    /// What is added to that by a usual one. Unit: seconds.
    varying_s: f64,
    /// The smallest there may be.
    least: f64,
    /// The largest.
    most: f64,
}

impl BlockLengths {
    /// The time of a block of this size. Unit: seconds.
    fn at(&self, share: f64) -> f64 {
        self.fixed_s + share * self.varying_s
    }

    /// How large a block is that takes so long.
    fn share(&self, length_s: f64) -> f64 {
        (length_s - self.fixed_s) / self.varying_s
    }

    /// How large the next block is, so that the last one ends with the time.
    fn filling(&self, left_s: f64) -> f64 {
        let next_s = self.at(NEXT_SHARE.max(self.least));
        if self.varying_s <= 0.0 || left_s - self.at(1.0) >= next_s {
            return 1.0;
        }
        let (one, two) = (self.share(left_s), self.share(left_s / 2.0));
        // One that cannot be long enough leaves time, which two smaller ones have.
        let share = if one > self.most && two >= self.least { two } else { one };
        share.clamp(self.least, self.most)
    }
}

/// The fewest rounds of a block that usually has so many.
fn fewest_rounds(rounds: u32) -> u32 {
    (LEAST_SHARE * f64::from(rounds)).ceil() as u32
}

/// The mean of so many values at the end, or of all; `None`: there is none.
fn mean_of_latest(values: &[f64], latest: usize) -> Option<f64> {
    let latest = &values[values.len().saturating_sub(latest)..];
    (!latest.is_empty()).then(|| latest.iter().sum::<f64>() / latest.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::MonoNanos;

    /// Of a study that has 300 s, of which none have passed yet.
    fn pace(form: BlockForm, cost: RunCost) -> BlockPace {
        BlockPace::new(StudyTime::by(|| MonoNanos(0), 300.0), form, cost, 10)
    }

    /// The rounds of each block of two targets as long as there is time, and how many whole seconds
    /// are left of that.
    fn rounds(pace: &BlockPace, mut left_s: f64) -> (Vec<u32>, f64) {
        let (lengths, mut rounds) = (pace.lengths(2), Vec::new());
        while let Some(shape) = pace.shape_within(&lengths, left_s) {
            rounds.push(shape.rounds);
            left_s -= lengths.at(pace.share(shape));
        }
        (rounds, left_s.round())
    }

    const SLICED: RunCost = RunCost { start_s: 2.0, slice_s: 3.0 };

    /// A block of five rounds takes 34 s.
    #[test]
    fn the_last_block_is_longer_or_shorter_so_that_it_ends_on_time() {
        let pace = pace(BlockForm::Rounds(5), SLICED).filled();
        assert_eq!(rounds(&pace, 102.0), (vec![5, 5, 5], 0.0));
        assert_eq!(rounds(&pace, 90.0), (vec![5, 9], -2.0));
        assert_eq!(rounds(&pace, 60.0), (vec![9], 2.0));
        assert_eq!(rounds(&pace, 63.0), (vec![5, 4], 1.0));
        assert_eq!(rounds(&pace, 28.0), (vec![4], 0.0));
        assert_eq!(rounds(&pace, 10.0), (vec![], 10.0), "not even half of one");
        assert_eq!((pace.further_blocks(2, 99), pace.further_blocks(2, 3)), (9, 3));
    }

    /// There are no more than sixteen slices.
    #[test]
    fn two_smaller_blocks_take_the_place_of_one_that_cannot_be_long_enough() {
        let pace = pace(BlockForm::Rounds(12), SLICED).filled();
        let (rounds, left_s) = rounds(&pace, 125.0);
        assert_eq!(rounds.len(), 2, "{rounds:?}");
        assert!(rounds.iter().all(|rounds| (6..12).contains(rounds)), "{rounds:?}");
        assert!(left_s.abs() <= 3.0, "{left_s}");
    }

    #[test]
    fn windows_are_longer_where_runs_are_whole_and_what_has_none_is_as_it_is() {
        let cost = RunCost { start_s: 1.0, slice_s: 13.0 };
        let windows = pace(BlockForm::Window(10.0), cost).filled();
        let shape = |left_s: f64| windows.shape_within(&windows.lengths(2), left_s);
        let window_ms = |left_s: f64| shape(left_s).map(|shape| shape.window_ms);
        assert_eq!([28.0, 38.0, 100.0].map(window_ms), [Some(0), Some(15_000), Some(0)]);
        assert_eq!([20.0, 18.0, 8.0].map(window_ms), [Some(6_000), Some(5_000), None]);
        let fixed = pace(BlockForm::Fixed, cost).filled();
        let usual = Some(BlockShape { rounds: 1, window_ms: 0 });
        let lengths = fixed.lengths(2);
        let shapes = [40.0, 14.0, 12.0].map(|left_s| fixed.shape_within(&lengths, left_s));
        assert_eq!(shapes, [usual, usual, None], "28 s, of which half fit");
    }

    /// Where the plan has the number of blocks, time is a limit alone.
    #[test]
    fn a_block_has_fewer_rounds_for_want_of_time_and_never_more() {
        let pace = pace(BlockForm::Rounds(4), RunCost { start_s: 0.0, slice_s: 30.0 });
        let of = |left_s: f64| {
            let shape = pace.shape_within(&pace.lengths(2), left_s);
            shape.map(|shape| shape.rounds)
        };
        assert_eq!([400.0, 230.0, 170.0, 100.0].map(of), [Some(4), Some(4), Some(3), None]);
    }

    #[test]
    fn waits_come_out_of_what_is_spare_and_an_end_has_its_reason() {
        let mut pace = pace(BlockForm::Fixed, RunCost { start_s: 0.0, slice_s: 9.0 });
        assert_eq!((pace.wait_s(120.0, 100.0), pace.wait_s(20.0, 100.0)), (100.0, 20.0));
        assert_eq!(pace.wait_s(120.0, 300.0), 0.0);
        assert_eq!((pace.can_end(35), pace.can_end(37)), (true, false));
        assert_eq!(pace.end_text(1, 3.0), "its time of 300 s was up after 1 complete block");
        let told = "no block is complete, and what one needs takes about 30 s, while 300 s are \
                    left of its time of 300 s: raise --for";
        assert!(pace.end_text(0, 30.0).starts_with(told), "{}", pace.end_text(0, 30.0));
        let over = BlockPace { time: StudyTime::by(|| MonoNanos(0), 0.0), ..pace.clone() };
        let over = over.end_text(0, 3.0);
        assert!(over.contains(" was up before a block was complete: raise --for"), "{over}");
        // A look at the machine is part of a start, and a wait is not.
        let ready = RunReadiness { waited_s: 41.0, ready_s: 42.0, started: 2 };
        pace.took(ready, BlockShape { rounds: 1, window_ms: 0 });
        assert_eq!(pace.starts_s, [1.0], "two seconds, of two targets");
    }
}
