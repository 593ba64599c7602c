//! Whole studies with configurations that cannot be started, or whose runs fail.

use super::tests::{GATE, KnownRuns, assert_whole, known_pilot, plan, retry, run, three_cells};
use super::*;
use dbtime_model::study::{GateLimits, ProgramRules, StopRule};
use std::collections::BTreeSet;
use std::fs;

/// Once for all of its blocks, before the first.
#[test]
fn a_configuration_that_cannot_start_is_left_out_by_name_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let plan = three_cells(plan(3, StopRule::Looks { looks: 3 }));
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let mut maker = KnownRuns { unstartable: Some(1), ..KnownRuns::default() };
    // What is left out is not waited for.
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert_eq!(reason, "all differ at look 2 of 3, 2 blocks");
    assert_eq!((maker.starts, maker.made), (3, 4));
    let history = runner.history();
    assert!(history.left_out_cells(&plan).eq([("b/ä", "unknown setting")]));
    let blocks = history.complete_blocks(3);
    assert!(blocks.iter().all(|block| block.runs.len() == 2 && block.attempt == 1), "{blocks:?}");
    assert!(history.exclusions(&plan).iter().all(Option::is_none));
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("it is known");
    assert!(run(&mut runner, &mut maker).is_some());
    assert_eq!((maker.starts, maker.made), (3, 4));
    drop(runner);
    // It starts by now: all blocks are made with it.
    maker.unstartable = None;
    let mut runner = RunSet::resume(&place, retry()).expect("it is tried again");
    assert!(run(&mut runner, &mut maker).is_some());
    assert_eq!((maker.starts, runner.history().left_out.len()), (4, 0));
    assert!(runner.history().complete_blocks(3).len() >= 2);
}

#[test]
fn a_study_without_a_baseline_or_a_candidate_ends_with_its_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, cell, starts) in [("baseline", 0, 1), ("candidate", 1, 2)] {
        let place = folder.path().join(name);
        let plan = plan(3, StopRule::Fixed);
        let mut runner = RunSet::create(&place, &plan, "").expect("new");
        let mut maker = KnownRuns { unstartable: Some(cell), ..KnownRuns::default() };
        let reason = run(&mut runner, &mut maker).expect("it ends");
        let of = &plan.cells[cell as usize].name;
        let told = format!("nothing is left to compare: {of} is left out: unknown setting");
        assert!(reason.starts_with(&told) && reason.contains("--retry-left-out"), "{reason}");
        assert_eq!((maker.starts, maker.made), (starts, 0));
        assert_eq!(runner.history().nothing_left(&plan, "DIR"), Some(reason));
        drop(runner);
        maker.unstartable = None;
        let mut runner = RunSet::resume(&place, retry()).expect("it is tried again");
        let reason = run(&mut runner, &mut maker).expect("it ends");
        assert_eq!(reason, "all 3 blocks are complete");
        assert_whole(&runner, &place, 3);
    }
}

/// One that always fails is given up after three runs, and its blocks are complete without it. None
/// of that is noise, which is not allowed here at all.
#[test]
fn a_configuration_whose_runs_fail_is_left_out_and_costs_no_other_its_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let gate = GateLimits { repeats: 0, ..GATE };
    let plan = three_cells(StudyPlan { gate, ..plan(6, StopRule::Fixed) });
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let mut maker = KnownRuns { failing: Some(1), ..KnownRuns::default() };
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert_eq!(reason, "all 6 blocks are complete");
    let history = runner.history();
    let left_out = [("b/ä", "its last 3 runs failed: no server")];
    assert!(history.left_out_cells(&plan).eq(left_out), "{history:?}");
    let failed = history.runs.iter().filter(|run| run.outcome == Some(TrialOutcome::Failed));
    assert_eq!(failed.count(), 3);
    let blocks = history.complete_blocks(3);
    let numbers: BTreeSet<u32> = blocks.iter().map(|block| block.block).collect();
    assert_eq!((numbers.len(), blocks.len()), (6, 6), "each block once");
    assert!(blocks.iter().all(|block| block.runs.len() == 2), "{blocks:?}");
    drop(runner);
    maker.failing = None;
    let mut runner = RunSet::resume(&place, retry()).expect("it is tried again");
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert_eq!(reason, "all 6 blocks are complete");
    assert_whole(&runner, &place, 6);
    drop(runner);
    let runner = RunSet::resume(&place, retry()).expect("it can be read");
    assert!(runner.history().finished.is_some(), "there is nothing to try");
}

/// Not even where fewer blocks may be repeated than it takes runs to give it up.
#[test]
fn a_configuration_whose_runs_fail_stops_no_study_of_few_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let gate = GateLimits { repeats: 0, ..GATE };
    for blocks in [1_u32, 2] {
        let place = folder.path().join(blocks.to_string());
        let plan = three_cells(StudyPlan { gate, ..plan(blocks, StopRule::Fixed) });
        let mut runner = RunSet::create(&place, &plan, "").expect("new");
        let mut maker = KnownRuns { failing: Some(1), ..KnownRuns::default() };
        let reason = run(&mut runner, &mut maker).expect("it ends");
        assert_eq!(reason, schedule::all_complete(blocks.into()));
        let history = runner.history();
        assert!(history.left_out.keys().eq([&1]) && history.noise.is_none(), "{history:?}");
    }
}

/// Its blocks take less time.
#[test]
fn what_is_left_out_takes_no_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let plan = three_cells(plan(3, StopRule::Fixed));
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let (unstartable, interrupted_at) = (Some(1), Some(1));
    let mut maker = KnownRuns { unstartable, interrupted_at, ..KnownRuns::default() };
    assert_eq!(run(&mut runner, &mut maker), None);
    // Two runs of a block fit, and three would not.
    runner.limit(StudyTime::from_now(1000.0), 500.0);
    let reason = run(&mut runner, &mut maker);
    assert_eq!(reason.as_deref(), Some("all 3 blocks are complete"));
}

/// Else the time of starts and of loading data is spent twice.
#[test]
fn what_was_started_before_a_study_is_not_started_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let pilot = Some(known_pilot(1.0));
    let plan = StudyPlan { pilot, ..plan(2, StopRule::Fixed) };
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let before = PilotFolder::temporary().expect("a folder");
    runner.take_over(&before).expect("it can be written");
    let mut maker = KnownRuns::default();
    run(&mut runner, &mut maker).expect("it ends");
    assert_eq!(maker.starts, 0);
    assert_whole(&runner, &place, 2);
}

/// Else a study that was interrupted loads its data once more.
#[test]
fn data_that_were_loaded_before_a_study_are_in_its_folder_until_it_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let before = PilotFolder::temporary().expect("a folder");
    let was = before.path().to_owned();
    fs::write(was.join("rows"), "data").expect("written");
    let mut runner = RunSet::create(&place, &plan(2, StopRule::Fixed), "").expect("new");
    runner.take_over(&before).expect("it can be written");
    let mut maker = KnownRuns { interrupted_at: Some(2), ..KnownRuns::default() };
    assert_eq!(run(&mut runner, &mut maker), None);
    drop((runner, before));
    let kept = place.join(study_file::SNAPSHOTS);
    let mut runner = RunSet::open(&place, false).expect("a study");
    assert_eq!((was.exists(), kept.join("rows").is_file()), (false, true));
    assert_eq!(fs::read_dir(&kept).expect("a folder").count(), 1, "and no mark");
    assert_eq!((runner.snapshots(), runner.loads_again()), (kept.clone(), false));
    run(&mut runner, &mut KnownRuns::default()).expect("it ends");
    assert_eq!((kept.exists(), runner.loads_again()), (false, false));
    runner.extend(1).expect("more blocks");
    assert!(runner.loads_again());
}

/// A program has no run that is shorter than its runs.
#[test]
fn a_program_that_fails_at_once_is_left_out_by_its_first_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut plan = three_cells(plan(2, StopRule::Fixed));
    let (prepare, conclude, metrics) = (None, None, Vec::new());
    plan.program = Some(ProgramRules { prepare, conclude, timeout_s: 60.0, metrics });
    plan.cells.iter_mut().for_each(|cell| cell.spec = None);
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let mut maker = KnownRuns { failing: Some(2), ..KnownRuns::default() };
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert_eq!(reason, "all 2 blocks are complete");
    assert_eq!((maker.starts, maker.made), (0, 5));
    let left_out = [("c", "its first run failed: no server")];
    assert!(runner.history().left_out_cells(&plan).eq(left_out));
}

/// Its first run in a block is not the first then.
#[test]
fn a_program_that_a_pilot_has_run_is_not_left_out_for_one_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut plan = three_cells(plan(2, StopRule::Fixed));
    let (prepare, conclude, metrics) = (None, None, Vec::new());
    plan.program = Some(ProgramRules { prepare, conclude, timeout_s: 60.0, metrics });
    plan.pilot = Some(known_pilot(1.0));
    plan.cells.iter_mut().for_each(|cell| cell.spec = None);
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let mut maker = KnownRuns { failing: Some(0), ..KnownRuns::default() };
    let reason = run(&mut runner, &mut maker).expect("it ends");
    let told = "nothing is left to compare: a is left out: its last 3 runs failed: no server";
    assert!(reason.starts_with(told), "{reason}");
}
