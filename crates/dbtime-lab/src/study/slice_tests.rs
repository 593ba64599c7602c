//! Whole studies whose blocks are made in slices, with a maker of runs whose values are known.

use super::tests::{KnownRuns, plan};
use super::*;
use dbtime_model::study::StopRule;
use std::collections::BTreeSet;

/// Makes the same runs on targets that have to be held.
#[derive(Default)]
struct HeldRuns {
    known: KnownRuns,
    held: BTreeSet<u32>,
    /// How often targets were to be held.
    holds: u32,
    /// The configuration whose target could not be made ready the first time.
    refused: Option<u32>,
    /// Whether records are gone once they are made.
    loses: bool,
}

impl TrialMaker for HeldRuns {
    fn make(&mut self, trial: &StudyTrial, seed: u64, out: &Path) -> TrialResult {
        if !self.held.contains(&trial.cell) {
            return TrialResult::Failed("its target is not held".to_owned());
        }
        let made = self.known.make(trial, seed, out);
        if self.loses {
            std::fs::remove_dir_all(out).expect("it was made");
        }
        made
    }

    fn hold(&mut self, cells: &[u32], _: u64) -> HoldResult {
        assert!(self.held.is_empty(), "those of the block before were not released");
        self.holds += 1;
        if let Some(cell) = self.refused.take() {
            return HoldResult::Failed { cell, reason: "no server".to_owned() };
        }
        self.held = cells.iter().copied().collect();
        HoldResult::Held
    }

    fn release(&mut self) {
        self.held.clear();
    }
}

/// A study of so many blocks, of four slices each.
fn study(place: &Path, blocks: u32) -> RunSet {
    let mut plan = plan(blocks, StopRule::Fixed);
    plan.design.slices = 4;
    RunSet::create(place, &plan, "").expect("new")
}

fn run(runner: &mut RunSet, maker: &mut HeldRuns) -> Option<String> {
    runner.run(maker, &|_| {}, &RunStop::default()).expect("it can be written")
}

/// The runs of each attempt of a block.
fn attempts(runner: &RunSet) -> Vec<(u32, u32, usize)> {
    let attempts = runner.history().attempts();
    attempts.iter().map(|one| (one.block, one.attempt, one.runs.len())).collect()
}

#[test]
fn slices_go_in_rounds_of_which_every_other_one_is_reversed_on_targets_held_for_the_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let (mut runner, mut maker) = (study(&place, 2), HeldRuns::default());
    let reason = run(&mut runner, &mut maker);
    assert_eq!(reason.as_deref(), Some("all 2 blocks are complete"));
    assert_eq!((maker.holds, maker.held.len()), (2, 0));
    assert_eq!(attempts(&runner), [(1, 1, 8), (2, 1, 8)]);
    let runs = &runner.history().runs;
    let cells: Vec<u32> = runs.iter().map(|run| run.trial.cell).collect();
    for rounds in cells.chunks(4) {
        assert_eq!([rounds[0], rounds[1]], [rounds[3], rounds[2]], "{cells:?}");
        assert_ne!(rounds[0], rounds[1]);
    }
    let slices = runs.iter().map(|run| (run.trial.slice, run.trial.slices));
    assert!(slices.take(8).eq([1, 1, 2, 2, 3, 3, 4, 4].map(|slice| (slice, 4))));
    assert!(runs[4].trial.folder.ends_with("-s3"), "{}", runs[4].trial.folder);
    let read = RecordedStudy::read(&place).expect("a study");
    let table = study_table(&read);
    assert!(table.starts_with("run,block,attempt,session,cell,role,folder,slice,"), "{table}");
    assert_eq!((read.plan.most_runs(), table.lines().count()), (Some(16), 17));
}

#[test]
fn a_slice_that_does_not_count_costs_its_round_and_too_many_of_them_the_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let one_loud = KnownRuns { loud: vec![3], ..KnownRuns::default() };
    let mut runner = study(&folder.path().join("one"), 1);
    run(&mut runner, &mut HeldRuns { known: one_loud, ..HeldRuns::default() }).expect("it ends");
    assert_eq!(attempts(&runner), [(1, 1, 8)]);
    assert_eq!(runner.history().complete_blocks(2)[0].runs.len(), 6);
    let exclusions = runner.history().exclusions(runner.plan());
    let other = exclusions[3].as_deref();
    assert_eq!(other, Some("another slice of its round does not count"));
    assert_eq!(exclusions.iter().flatten().count(), 2, "{exclusions:?}");

    let three_loud = KnownRuns { loud: vec![1, 3, 5], ..KnownRuns::default() };
    let mut runner = study(&folder.path().join("three"), 1);
    let mut maker = HeldRuns { known: three_loud, ..HeldRuns::default() };
    run(&mut runner, &mut maker).expect("it ends");
    assert_eq!((attempts(&runner), maker.holds), (vec![(1, 1, 5), (1, 2, 8)], 2));
}

#[test]
fn a_target_that_cannot_be_made_ready_breaks_the_block_and_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut runner = study(&folder.path().join("study"), 1);
    let mut maker = HeldRuns { refused: Some(1), ..HeldRuns::default() };
    run(&mut runner, &mut maker).expect("it ends");
    assert_eq!((attempts(&runner), maker.holds), (vec![(1, 1, 1), (1, 2, 8)], 2));
    let failed = &runner.history().runs[0];
    assert_eq!((failed.trial.cell, failed.outcome), (1, Some(TrialOutcome::Failed)));
    assert_eq!(failed.reason.as_deref(), Some("no server"));
}

#[test]
fn a_block_for_which_there_is_little_time_has_fewer_slices_but_half_of_them_at_least() {
    let folder = tempfile::tempdir().expect("a folder");
    // A run of four slices takes 600 s: eight do not fit into the time, and six do.
    let mut runner = study(&folder.path().join("fewer"), 1);
    runner.limit(StudyTime::from_now(1000.0), 600.0);
    let mut maker = HeldRuns::default();
    assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("its one block is complete"));
    assert_eq!((attempts(&runner), maker.holds), (vec![(1, 1, 6)], 1));
    assert!(runner.history().runs.iter().all(|run| run.trial.slices == 3));
    assert_eq!(runner.history().complete_blocks(2)[0].runs.len(), 6);

    let mut runner = study(&folder.path().join("none"), 1);
    runner.limit(StudyTime::from_now(1000.0), 1200.0);
    let mut maker = HeldRuns::default();
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert!(reason.starts_with("no block is complete") && maker.holds == 0, "{reason}");
}

/// The targets of the process before are gone.
#[test]
fn a_block_that_was_interrupted_in_a_slice_is_begun_anew_as_a_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = study(&place, 1);
    let known = KnownRuns { interrupted_at: Some(5), ..KnownRuns::default() };
    let mut maker = HeldRuns { known, ..HeldRuns::default() };
    assert_eq!((run(&mut runner, &mut maker), maker.held.len()), (None, 0));
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("a study");
    let mut maker = HeldRuns::default();
    run(&mut runner, &mut maker).expect("it ends");
    assert_eq!((attempts(&runner), maker.holds), (vec![(1, 1, 5), (1, 2, 8)], 1));
    let exclusions = runner.history().exclusions(runner.plan());
    assert!(exclusions[..5].iter().all(Option::is_some), "{exclusions:?}");
    assert!(exclusions[5..].iter().all(Option::is_none), "{exclusions:?}");
}

/// As where a disk is full.
#[test]
fn no_target_outlives_runs_whose_records_cannot_be_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut runner = study(&folder.path().join("study"), 1);
    let mut maker = HeldRuns { loses: true, ..HeldRuns::default() };
    runner.run(&mut maker, &|_| {}, &RunStop::default()).expect_err("no record is left");
    assert_eq!((maker.holds, maker.held.len()), (1, 0));
}

/// Else a plan of a stranger would be a loop without an end.
#[test]
fn a_plan_of_too_many_slices_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    drop(study(&place, 1));
    let path = place.join(study_file::PLAN);
    let text = std::fs::read_to_string(&path).expect("a plan");
    let changed = text.replace("\"slices\": 4", "\"slices\": 4000000000");
    std::fs::write(&path, changed).expect("written");
    let error = RunSet::open(&place, false).expect_err("too many").to_string();
    assert!(error.contains("its runs have 4000000000 slices, more than 16"), "{error}");
}
