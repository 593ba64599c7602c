//! Whole studies that fill a time, on a clock which nothing but their runs moves.

use super::tests::{KnownRuns, plan};
use super::*;
use dbtime_model::spec::FlagSetting;
use dbtime_model::study::StopRule;
use dbtime_model::{MonoNanos, Nanos};
use std::cell::Cell;
use std::collections::BTreeSet;

/// How long the studies may take. Unit: seconds.
const LIMIT_S: f64 = 300.0;

/// What a run takes by the pilot: a block of five slices of two sides takes 35 s, one of whole runs
/// 29 s.
const SLICED: RunCost = RunCost { start_s: 2.0, slice_s: 3.1 };
const WHOLE: RunCost = RunCost { start_s: 1.5, slice_s: 13.0 };

/// A target takes so long to end, and a whole run to warm up. Unit: seconds.
const END_S: f64 = 0.5;
const WARMUP_S: f64 = 3.0;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

fn simulated() -> MonoNanos {
    MonoNanos(NOW.get())
}

fn pass(length_s: f64) {
    NOW.set(NOW.get() + Nanos::from_secs_f64(length_s).0);
}

/// Makes runs that take their time on that clock.
struct TimedRuns {
    known: KnownRuns,
    cost: RunCost,
    held: usize,
}

impl TimedRuns {
    /// So many times what the pilot has found, of starts and of slices.
    fn slower(of: RunCost, starts: f64, slices: f64) -> Self {
        let cost = RunCost { start_s: starts * of.start_s, slice_s: slices * of.slice_s };
        Self { known: KnownRuns::default(), cost, held: 0 }
    }
}

impl TrialMaker for TimedRuns {
    fn make(&mut self, trial: &StudyTrial, seed: u64, out: &Path) -> TrialResult {
        pass(match (trial.slice, trial.window_ms) {
            (0, 0) => self.cost.start_s + self.cost.slice_s,
            (0, window_ms) => self.cost.start_s + WARMUP_S + f64::from(window_ms) / 1e3,
            _ => self.cost.slice_s,
        });
        self.known.make(trial, seed, out)
    }

    fn hold(&mut self, cells: &[u32], _: u64) -> HoldResult {
        self.held = cells.len();
        pass(self.held as f64 * self.cost.start_s);
        HoldResult::Held
    }

    fn release(&mut self) {
        pass(std::mem::take(&mut self.held) as f64 * END_S);
    }
}

/// A study of so many blocks, of five slices each.
fn sliced(place: &Path, blocks: u32) -> RunSet {
    let mut plan = plan(blocks, StopRule::Fixed);
    plan.design.slices = 5;
    RunSet::create(place, &plan, "").expect("new")
}

/// The same of whole runs with a window of ten seconds.
fn whole(place: &Path, blocks: u32) -> RunSet {
    let mut plan = plan(blocks, StopRule::Fixed);
    for spec in plan.cells.iter_mut().filter_map(|cell| cell.spec.as_mut()) {
        *spec = spec.with(&[FlagSetting::new("time", "10s")]).expect("a run");
    }
    RunSet::create(place, &plan, "").expect("new")
}

/// Has a study fill its time, and returns which share of that it took.
fn filled(runner: &mut RunSet, maker: &mut TimedRuns, cost: RunCost) -> f64 {
    let begun = NOW.get();
    runner.fill(StudyTime::by(simulated, LIMIT_S), cost);
    runner.run(maker, &|_| {}, &RunStop::default()).expect("it can be written").expect("it ends");
    Nanos(NOW.get() - begun).as_secs() / LIMIT_S
}

/// Every block of the last number that was known is complete, and its runs are alike.
fn assert_complete(runner: &RunSet) {
    let (history, cells) = (runner.history(), runner.plan().cells.len());
    let complete = history.complete_blocks(cells);
    assert_eq!(complete.len(), history.most_blocks(runner.plan()) as usize, "{history:?}");
    for block in &complete {
        let shapes = block.runs.iter().map(|run| (run.trial.slices, run.trial.window_ms));
        assert_eq!(shapes.collect::<BTreeSet<_>>().len(), 1, "{block:?}");
    }
}

/// How many times as long as by the pilot starts take, and slices.
const SPEEDS: [(f64, f64); 6] =
    [(1.0, 1.0), (0.3, 1.0), (4.0, 1.0), (10.0, 1.0), (1.0, 1.6), (1.0, 0.6)];

#[test]
fn a_study_of_slices_ends_with_its_time_whatever_the_pilot_has_found() {
    let folder = tempfile::tempdir().expect("a folder");
    for (at, (starts, slices)) in SPEEDS.into_iter().enumerate() {
        let mut runner = sliced(&folder.path().join(at.to_string()), 6);
        let mut maker = TimedRuns::slower(SLICED, starts, slices);
        let share = filled(&mut runner, &mut maker, SLICED);
        assert!((share - 1.0).abs() <= 0.05, "{starts}, {slices}: {share}");
        assert_complete(&runner);
        let mut rounds = runner.history().runs.iter().map(|run| run.trial.slices);
        assert!(rounds.all(|rounds| (3..=16).contains(&rounds)), "{starts}, {slices}");
    }
}

#[test]
fn a_study_of_whole_runs_ends_with_its_time_by_longer_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    for (at, starts) in [1.0, 0.2, 5.0, 15.0].into_iter().enumerate() {
        let mut runner = whole(&folder.path().join(at.to_string()), 6);
        let mut maker = TimedRuns::slower(WHOLE, starts, 1.0);
        let share = filled(&mut runner, &mut maker, WHOLE);
        assert!((share - 1.0).abs() <= 0.05, "{starts}: {share}");
        assert_complete(&runner);
        let windows = runner.history().runs.iter().map(|run| run.trial.window_ms);
        let of_last = windows.clone().next_back().expect("runs");
        assert!(of_last == 0 || of_last >= 5_000, "{starts}: {of_last}");
        assert!(windows.take(4).all(|window_ms| window_ms == 0), "{starts}");
    }
}

/// What was broken off is made again in the same time.
#[test]
fn blocks_that_are_repeated_take_no_more_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let loud = [vec![1, 3, 5], vec![31, 33, 35], vec![1, 3, 5, 16, 18, 20]];
    for (at, loud) in loud.into_iter().enumerate() {
        let mut runner = sliced(&folder.path().join(format!("sliced{at}")), 8);
        let mut maker = TimedRuns::slower(SLICED, 1.5, 1.0);
        maker.known.loud.clone_from(&loud);
        let share = filled(&mut runner, &mut maker, SLICED);
        assert!((share - 1.0).abs() <= 0.1, "{loud:?}: {share}");
        let attempts = runner.history().attempts().len();
        let complete = runner.history().complete_blocks(2).len();
        assert_eq!(attempts - complete, loud.len() / 3, "{loud:?}");
    }
    for loud in [1, 8, 16] {
        let mut runner = whole(&folder.path().join(format!("whole{loud}")), 10);
        let mut maker = TimedRuns::slower(WHOLE, 2.0, 1.0);
        maker.known.loud = vec![loud];
        let share = filled(&mut runner, &mut maker, WHOLE);
        assert!((share - 1.0).abs() <= 0.1, "{loud}: {share}");
    }
}

/// What is written down is what a study goes on by.
#[test]
fn a_study_that_was_interrupted_goes_on_with_the_blocks_that_were_renewed() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = sliced(&place, 3);
    let mut maker = TimedRuns::slower(SLICED, 0.5, 0.5);
    maker.known.interrupted_at = Some(25);
    runner.fill(StudyTime::by(simulated, LIMIT_S), SLICED);
    let ended = runner.run(&mut maker, &|_| {}, &RunStop::default()).expect("it can be written");
    assert_eq!(ended, None);
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("a study");
    let blocks = runner.history().renewed.expect("there is time for more");
    assert!(blocks > 10, "{blocks}");
    let reason = runner.run(&mut maker, &|_| {}, &RunStop::default()).expect("it can be written");
    assert_eq!(reason, Some(schedule::all_complete(blocks.into())));
    assert_complete(&runner);
    assert_eq!(runner.history().extended, None, "no result has led to it");
}

/// Their bounds hold for the planned number of blocks.
#[test]
fn planned_looks_are_as_many_as_were_planned() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut plan = plan(2, StopRule::Looks { looks: 1 });
    plan.design.slices = 5;
    let mut runner = RunSet::create(&folder.path().join("study"), &plan, "").expect("new");
    let mut maker = TimedRuns::slower(SLICED, 1.0, 1.0);
    let share = filled(&mut runner, &mut maker, SLICED);
    assert!(share < 0.5, "{share}");
    let history = runner.history();
    assert_eq!((history.renewed, history.complete_blocks(2).len()), (None, 2));
}
