//! Whole studies on a machine that is loud, or with runs that have a flaw of their own.

use super::tests::{GATE, KnownRuns, assert_whole, more_repeats, plan, run};
use super::*;
use dbtime_model::study::{GateLimits, NoiseRule, StopRule};
use std::fs;

/// Whatever noise there is: it repeats blocks, and ends nothing.
#[test]
fn unlucky_runs_are_repeated_as_often_as_the_plan_says_and_no_study_is_given_up_for_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("unlucky");
    let mut runner = RunSet::create(&place, &plan(3, StopRule::Fixed), "").expect("new");
    let mut maker = KnownRuns { loud: vec![1, 2, 3, 4], ..KnownRuns::default() };
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert_eq!(reason, "all 3 blocks are complete");
    assert_whole(&runner, &place, 3);
    drop(runner);
    let place = folder.path().join("loud");
    let mut runner = RunSet::create(&place, &plan(3, StopRule::Fixed), "").expect("new");
    let mut maker = KnownRuns::always_loud();
    let reason = run(&mut runner, &mut maker).expect("it stops");
    assert_eq!(
        reason,
        "stopped by noise: 6 blocks had a run that does not count, and the limit (repeats) was 5; \
         most often (6 of 6 runs): the hypervisor took 5.0 % of all CPUs, more than 1 %"
    );
    let noise = runner.history().noise.clone().expect("it is in the journal");
    assert_eq!((noise.reason, noise.repeats), (reason, 9));
    assert_eq!((runner.history().finished.clone(), maker.made), (None, 6));
    drop(runner);
    // It stops again where nothing has changed, and says so once.
    let stops = |journal: &str| journal.matches("noise_stopped").count();
    let mut runner = RunSet::open(&place, false).expect("it can be read");
    assert!(run(&mut runner, &mut maker).is_some_and(|why| why.starts_with("stopped by noise")));
    assert_eq!(maker.made, 6);
    drop(runner);
    let journal = fs::read_to_string(place.join(study_file::JOURNAL)).expect("a journal");
    assert_eq!(stops(&journal), 1);
    let mut runner = RunSet::resume(&place, more_repeats(9)).expect("it goes on");
    let reason = run(&mut runner, &mut KnownRuns::default()).expect("it ends");
    assert_eq!(reason, "all 3 blocks are complete");
    assert_whole(&runner, &place, 3);
}

/// Where it counts, noise of the machine costs no block, however few may be repeated.
#[test]
fn no_block_is_repeated_for_noise_that_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    for repeats in [0, 9] {
        let place = folder.path().join(repeats.to_string());
        let gate = GateLimits { repeats, noise: NoiseRule::Count, ..GATE };
        let plan = StudyPlan { gate, ..plan(3, StopRule::Fixed) };
        let mut runner = RunSet::create(&place, &plan, "").expect("new");
        let mut maker = KnownRuns::always_loud();
        let reason = run(&mut runner, &mut maker).expect("it ends");
        assert_eq!((reason.as_str(), maker.made), ("all 3 blocks are complete", 6));
        assert_whole(&runner, &place, 3);
    }
}

/// Flaws of its own cost a run its block there too, as often as that may be repeated.
#[test]
fn a_run_with_a_flaw_costs_its_block_where_noise_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let gate = GateLimits { noise: NoiseRule::Count, ..GATE };
    let plan = StudyPlan { gate, ..plan(3, StopRule::Fixed) };
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let mut maker = KnownRuns { flawed: vec![1, 3], ..KnownRuns::always_loud() };
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert_eq!((reason.as_str(), maker.made), ("all 3 blocks are complete", 9));
    assert_whole(&runner, &place, 3);
}

/// As many blocks may be repeated then as its stop has named.
#[test]
fn blocks_are_added_to_what_noise_has_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, &plan(3, StopRule::Fixed), "").expect("new");
    let stopped = run(&mut runner, &mut KnownRuns::always_loud()).expect("it stops");
    assert!(stopped.starts_with("stopped by noise"), "{stopped}");
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("it can be read");
    runner.extend(2).expect("it goes on");
    let reason = run(&mut runner, &mut KnownRuns::default()).expect("it ends");
    assert_eq!(reason, "all 2 blocks are complete");
    assert_whole(&runner, &place, 2);
}
