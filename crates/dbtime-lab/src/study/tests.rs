//! Whole studies with a maker of runs whose values are known.

use super::*;
use dbtime_machine::now as instant;
use dbtime_model::record::{JoinedRecording, RunRecord, TraceInfo, file, read_run_record};
use dbtime_model::spec::RunSpec;
use dbtime_model::study::{
    BlockDesign, CellRole, GateLimits, NoiseRule, PilotRuns, RunOrder, STUDY_SCHEMA, StopRule,
    StudyData,
};
use std::collections::BTreeSet;
use std::fs;

pub(super) const GATE: GateLimits = GateLimits {
    steal_pct: 1.0,
    foreign_cpu_pct: 2.0,
    wait_s: 0.0,
    repeats: 5,
    steady: true,
    noise: NoiseRule::Stop,
};

pub(super) fn plan(blocks: u32, stop: StopRule) -> StudyPlan {
    let cell = |name: &str, role| StudyCell {
        name: name.to_owned(),
        role,
        baseline: 0,
        factors: Vec::new(),
        levels: Vec::new(),
        command: "dbtime run".to_owned(),
        spec: Some(RunSpec::default()),
    };
    StudyPlan {
        schema: STUDY_SCHEMA,
        dbtime: "0".to_owned(),
        name: "test".to_owned(),
        question: None,
        directory: String::new(),
        primary: "throughput".to_owned(),
        program: None,
        margin_pct: 1.0,
        design: BlockDesign { blocks, seed: 7, stop, slices: 1 },
        gate: GATE,
        cells: vec![cell("a", CellRole::Baseline), cell("b/ä", CellRole::Candidate)],
        pilot: None,
        data: StudyData::Snapshot,
        order: RunOrder::Blocks,
        surroundings: Default::default(),
    }
}

/// Makes records whose throughput is that of the configuration, times what the seed adds.
#[derive(Default)]
pub(super) struct KnownRuns {
    pub(super) made: u64,
    /// The numbers of the calls that make a run beside a loud neighbour.
    pub(super) loud: Vec<u64>,
    /// The numbers of the calls that make a run with a flaw of its own.
    pub(super) flawed: Vec<u64>,
    /// The configuration that cannot be run.
    pub(super) failing: Option<usize>,
    /// The configuration that cannot even be started.
    pub(super) unstartable: Option<u32>,
    /// How often configurations were started.
    pub(super) starts: u64,
    /// After so many calls the study is to end: in the midst of a run, with or without a record.
    pub(super) interrupted_at: Option<u64>,
    /// After so many calls there are no more.
    pub(super) last: Option<u64>,
}

impl KnownRuns {
    /// Each beside a loud neighbour.
    pub(super) fn always_loud() -> Self {
        Self { loud: (1..1000).collect(), ..Self::default() }
    }
}

impl TrialMaker for KnownRuns {
    fn start(&mut self, cell: u32, _: u64) -> StartResult {
        self.starts += 1;
        match self.unstartable == Some(cell) {
            true => StartResult::Failed("unknown setting".to_owned()),
            false => StartResult::Works,
        }
    }

    fn make(&mut self, trial: &StudyTrial, seed: u64, out: &Path) -> TrialResult {
        let cell = trial.cell as usize;
        self.made += 1;
        if self.failing == Some(cell) {
            return TrialResult::Failed("no server".to_owned());
        }
        let mut record = RunRecord {
            schema: dbtime_model::record::SCHEMA,
            throughput_tps: (100.0 + cell as f64) * (1.0 + (seed % 100) as f64 / 1e4),
            ..RunRecord::default()
        };
        record.validity.valid = !self.flawed.contains(&self.made);
        if self.loud.contains(&self.made) {
            record.environment.steal_pct = 5.0;
        }
        fs::create_dir_all(out).expect("a folder");
        let json = serde_json::to_string(&record).expect("JSON");
        fs::write(out.join(file::RUN), json).expect("written");
        match self.interrupted_at == Some(self.made) {
            true => TrialResult::Interrupted,
            false => TrialResult::Recorded(TrialRecord::Run(Box::new(record))),
        }
    }

    fn factors(&self) -> Vec<FactorValue> {
        let rate = |last| FactorValue { name: "rate".to_owned(), value: format!("{last}/s") };
        self.last.map(rate).into_iter().collect()
    }

    fn found(&self) -> Option<FoundRate> {
        let found = FoundRate { unknown: Some("found".to_owned()), ..FoundRate::default() };
        (self.last == Some(self.made)).then_some(found)
    }
}

/// Two runs that took so long.
pub(super) fn known_pilot(seconds_a_run: f64) -> PilotRuns {
    PilotRuns { values: vec![100.0, 101.0], seconds_a_run, chosen: None }
}

/// The same with a third configuration.
pub(super) fn three_cells(mut plan: StudyPlan) -> StudyPlan {
    plan.cells.push(StudyCell { name: "c".to_owned(), ..plan.cells[1].clone() });
    plan
}

pub(super) fn more_repeats(repeats: u32) -> ResumeChoices {
    ResumeChoices { repeats: Some(repeats), ..ResumeChoices::default() }
}

pub(super) fn retry() -> ResumeChoices {
    ResumeChoices { retries_left_out: true, ..ResumeChoices::default() }
}

pub(super) fn run(runner: &mut RunSet, maker: &mut KnownRuns) -> Option<String> {
    runner.run(maker, &|_| {}, &RunStop::default()).expect("it can be written")
}

/// What is left of a study counts, and the block of what was lost is made again.
#[test]
fn a_run_that_was_deleted_or_damaged_is_made_again_with_its_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("s");
    let plan = StudyPlan { gate: GateLimits { repeats: 0, ..GATE }, ..plan(4, StopRule::Fixed) };
    let mut runner = RunSet::create(&place, &plan, "source").expect("new");
    run(&mut runner, &mut KnownRuns::default());
    let runs: Vec<String> =
        runner.history().runs.iter().map(|run| run.trial.folder.clone()).collect();
    drop(runner);
    fs::remove_dir_all(place.join(&runs[1])).expect("it was there");
    fs::write(place.join(&runs[6]).join(file::RUN), "{").expect("written");
    let study = RecordedStudy::read(&place).expect("the others are whole");
    assert_eq!(study.history.complete_blocks(2).len(), 2);
    let lost = study.lost_text().expect("two are lost");
    assert!(lost.starts_with("2 runs lost: runs/0002"), "{lost}");
    assert!(lost.contains("its record is of no use") && !lost.contains("/s/"), "{lost}");
    let mut runner = RunSet::open(&place, false).expect("it goes on");
    assert_eq!(runner.history().lost_runs(2, RunOrder::Blocks).len(), 2);
    let reason = run(&mut runner, &mut KnownRuns::default());
    assert_eq!(reason.as_deref(), Some("all 4 blocks are complete"));
    assert_whole(&runner, &place, 4);
    drop(runner);
    let study = RecordedStudy::read(&place).expect("whole");
    assert_eq!((study.lost_text(), study.history.runs.len()), (None, 12));
    let problems = verify_runs(&place, &study).problems;
    assert!(!problems.iter().any(|problem| problem.contains(&runs[6])), "{problems:?}");
}

/// What a newer dbtime reads is not lost.
#[test]
fn a_record_that_is_there_and_cannot_be_read_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("s");
    let mut runner = RunSet::create(&place, &plan(2, StopRule::Fixed), "source").expect("new");
    run(&mut runner, &mut KnownRuns::default());
    let record = place.join(&runner.history().runs[1].trial.folder).join(file::RUN);
    drop(runner);
    fs::write(&record, "{\"schema\": 4711}").expect("written");
    let journal = fs::read(place.join(study_file::JOURNAL)).expect("a journal");
    for refused in [
        RunSet::open(&place, false).expect_err("of a newer dbtime").to_string(),
        RecordedStudy::read(&place).expect_err("of a newer dbtime").to_string(),
    ] {
        assert!(refused.contains("schema 4711") && refused.contains("use a newer"), "{refused}");
        assert!(refused.contains(&record.display().to_string()), "{refused}");
    }
    assert_eq!(fs::read(place.join(study_file::JOURNAL)).expect("a journal"), journal);
}

#[test]
fn a_study_without_its_journal_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("s");
    let mut runner = RunSet::create(&place, &plan(2, StopRule::Fixed), "source").expect("new");
    run(&mut runner, &mut KnownRuns::default());
    drop(runner);
    fs::remove_file(place.join(study_file::JOURNAL)).expect("it was there");
    let refused = RunSet::open(&place, false).expect_err("it is gone").to_string();
    assert!(refused.contains("journal.jsonl, which is gone or empty"), "{refused}");
    assert!(!place.join(study_file::JOURNAL).exists());
}

/// A join writes the record anew.
#[test]
fn files_that_were_changed_by_a_join_are_told_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("s");
    let mut runner = RunSet::create(&place, &plan(2, StopRule::Fixed), "source").expect("new");
    run(&mut runner, &mut KnownRuns::default());
    let there = place.join(&runner.history().runs[0].trial.folder);
    drop(runner);
    let mut record = read_run_record(&there).expect("whole");
    let recording = Some(JoinedRecording::default());
    record.trace = Some(TraceInfo { recording, ..TraceInfo::default() });
    let json = serde_json::to_string(&record).expect("JSON");
    fs::write(there.join(file::RUN), json).expect("written");
    fs::write(there.join("notes.txt"), "mine").expect("written");
    let study = RecordedStudy::read(&place).expect("whole");
    let problems = verify_runs(&place, &study).problems.join("\n");
    for told in [
        "run.json has changed since the run",
        "notes.txt was added after the run",
        "`dbtime join` has joined it with a recording since",
    ] {
        assert!(problems.contains(told), "{told}: {problems}");
    }
}

/// Every block once, every run of it there.
pub(super) fn assert_whole(runner: &RunSet, folder: &Path, blocks: u32) {
    let (history, cells) = (runner.history(), runner.plan().cells.len());
    let complete = history.complete_blocks(cells);
    let numbers: Vec<u32> = complete.iter().map(|block| block.block).collect();
    let once: BTreeSet<u32> = numbers.iter().copied().collect();
    assert_eq!(once, (1..=blocks).collect::<BTreeSet<_>>());
    assert_eq!(numbers.len(), once.len(), "a block counts twice");
    let exclusions = history.exclusions(runner.plan());
    for block in complete {
        let of: BTreeSet<u32> = block.runs.iter().map(|run| run.trial.cell).collect();
        assert_eq!(of.len(), cells);
        for run in block.runs {
            assert!(folder.join(&run.trial.folder).join(file::RUN).is_file());
            let at = history.runs.iter().position(|known| known == run).expect("one of them");
            assert_eq!(exclusions[at], None);
        }
    }
    let folders: BTreeSet<&str> = history.runs.iter().map(|run| &*run.trial.folder).collect();
    assert_eq!(folders.len(), history.runs.len(), "two runs have one folder");
}

#[test]
fn a_study_runs_every_configuration_once_a_block_in_an_order_that_follows_from_its_seed() {
    let orders = [1, 2].map(|_| {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("made/study");
        let mut runner = RunSet::create(&place, &plan(8, StopRule::Fixed), "source").expect("new");
        let reason = run(&mut runner, &mut KnownRuns::default());
        assert_eq!(reason.as_deref(), Some("all 8 blocks are complete"));
        assert_whole(&runner, &place, 8);
        assert_eq!(fs::read_to_string(place.join(study_file::SOURCE)).expect("kept"), "source");
        let runs = &runner.history().runs;
        assert!(runs[0].trial.folder.starts_with("runs/0001-b01-"), "{:?}", runs[0]);
        runs.iter().map(|run| run.trial.cell).collect::<Vec<_>>()
    });
    assert_eq!(orders[0], orders[1]);
    let firsts = orders[0].chunks(2).filter(|block| block[0] == 0).count();
    assert!((1..8).contains(&firsts), "all blocks have one order: {orders:?}");
}

#[test]
fn cut_off_anywhere_a_study_goes_on_and_no_block_is_lost_or_counted_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, &plan(3, StopRule::Fixed), "").expect("new");
    run(&mut runner, &mut KnownRuns { loud: vec![3], ..KnownRuns::default() });
    drop(runner);
    cut_anywhere(&place, 4, |runner| {
        run(runner, &mut KnownRuns::default()).expect("it ends");
        assert_whole(runner, &place, 3);
    });
}

/// Wherever the journal is torn: what was left out, and that no more may be repeated, is in it or
/// found again.
#[test]
fn cut_off_anywhere_a_study_knows_what_it_goes_on_without() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let gate = GateLimits { repeats: 1, ..GATE };
    let plan = three_cells(StudyPlan { gate, ..plan(2, StopRule::Fixed) });
    let mut loud = KnownRuns { failing: Some(2), ..KnownRuns::always_loud() };
    let mut runner = RunSet::create(&place, &plan, "").expect("new");
    let stopped = run(&mut runner, &mut loud).expect("it stops");
    assert!(stopped.starts_with("stopped by "), "{stopped}");
    drop(runner);
    let quiet = || KnownRuns { failing: Some(2), ..KnownRuns::default() };
    let mut runner = RunSet::resume(&place, more_repeats(9)).expect("it goes on");
    let ended = run(&mut runner, &mut quiet()).expect("it ends");
    assert_eq!(ended, "all 2 blocks are complete");
    drop(runner);
    cut_anywhere(&place, 5, |runner| {
        let reason = run(runner, &mut quiet()).expect("it ends");
        if runner.history().noise.is_some() {
            // That more blocks may be repeated was cut off.
            assert!(reason.starts_with("stopped by "), "{reason}");
            return;
        }
        assert_eq!(reason, "all 2 blocks are complete");
        assert_eq!(runner.history().complete_blocks(3).len(), 2);
        assert!(runner.history().left_out.keys().eq([&2]));
    });
}

/// Cuts the journal at any byte around the ends of its lines, and at some between, and goes on with
/// what is left of the study. `first_run`: the line of the first run, from 1.
fn cut_anywhere(place: &Path, first_run: usize, goes_on: impl Fn(&mut RunSet)) {
    let journal = fs::read(place.join(study_file::JOURNAL)).expect("a journal");
    let is_end = |at: &usize| journal[*at] == b'\n';
    let ends: Vec<usize> = (0..journal.len()).filter(is_end).collect();
    // Where a power cut may leave it: at any byte; here all around the ends of lines, and some.
    let near =
        |cut: &usize| ends.iter().any(|end| end.abs_diff(*cut) <= 1) || cut.is_multiple_of(37);
    for cut in (0..=journal.len()).filter(near) {
        fs::write(place.join(study_file::JOURNAL), &journal[..cut]).expect("written");
        if ends.iter().filter(|end| **end < cut).count() < first_run {
            // A run is on the disk after its line: the journal is not cut but lost.
            let lost = RunSet::open(place, false).expect_err("it knows of no run").to_string();
            assert!(lost.contains("journal.jsonl, which is gone or empty"), "{lost}");
            continue;
        }
        goes_on(&mut RunSet::open(place, false).expect("forgiven"));
    }
}

#[test]
fn a_block_of_which_a_run_does_not_count_is_repeated_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, &plan(3, StopRule::Fixed), "").expect("new");
    let mut maker = KnownRuns { loud: vec![1, 4], ..KnownRuns::default() };
    run(&mut runner, &mut maker).expect("it ends");
    assert_whole(&runner, &place, 3);
    let history = runner.history();
    let blocks: Vec<(u32, u32)> =
        history.attempts().iter().map(|one| (one.block, one.attempt)).collect();
    // The first run of block 1 is loud, and the first of block 3.
    assert_eq!(blocks, [(1, 1), (2, 1), (3, 1), (1, 2), (3, 2)]);
    assert_eq!(maker.made, 8);
    let exclusions = history.exclusions(runner.plan());
    let why = |at: usize| exclusions[at].clone();
    assert_eq!(why(0).as_deref(), Some("the hypervisor took 5.0 % of all CPUs, more than 1 %"));
    assert_eq!(why(1), None);
}

/// Of an earlier version: none of it says what was started, and three unlucky runs were the end.
#[test]
fn a_journal_of_before_goes_on_without_starts_and_behind_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, &plan(3, StopRule::Fixed), "").expect("new");
    let mut maker = KnownRuns { interrupted_at: Some(4), ..KnownRuns::default() };
    assert_eq!(run(&mut runner, &mut maker), None);
    drop(runner);
    let path = place.join(study_file::JOURNAL);
    let journal = fs::read_to_string(&path).expect("a journal");
    let before: Vec<&str> = journal.lines().filter(|line| !line.contains("cell_started")).collect();
    let end = r#"{"event":"finished","reason":"a: none of 3 runs counts","at":""}"#;
    fs::write(&path, format!("{}\n{end}\n", before.join("\n"))).expect("written");
    maker.starts = 0;
    let mut runner = RunSet::open(&place, false).expect("it can be read");
    assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("a: none of 3 runs counts"));
    drop(runner);
    let mut runner = RunSet::resume(&place, more_repeats(9)).expect("it goes on");
    assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("all 3 blocks are complete"));
    assert_whole(&runner, &place, 3);
    assert_eq!(maker.starts, 0, "runs that were made show that all work");
}

#[test]
fn a_sweep_is_not_taken_up_with_what_is_of_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("sweep");
    fs::create_dir(&place).expect("a folder");
    let plan = StudyPlan { order: RunOrder::Rounds, ..plan(1, StopRule::Fixed) };
    drop(RunSet::begin(&place, &plan).expect("new"));
    for (choices, flag) in [(retry(), "--retry-left-out"), (more_repeats(3), "--repeats")] {
        let refused = RunSet::resume(&place, choices).expect_err("refused");
        assert!(refused.is_usage() && refused.to_string().starts_with(flag), "{refused}");
    }
}

/// Else a block that cannot end in time is begun where a study is taken up.
#[test]
fn how_long_a_run_takes_is_known_by_those_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let plan = plan(2, StopRule::Fixed);
    let pilot = Some(known_pilot(600.0));
    let unpiloted = RunSet::unrecorded(plan.clone());
    assert_eq!(unpiloted.known_run_s(), 0.0);
    let mut runner = RunSet::create(&place, &StudyPlan { pilot, ..plan }, "").expect("new");
    assert_eq!(runner.known_run_s(), 600.0);
    run(&mut runner, &mut KnownRuns::default());
    assert!((0.0..60.0).contains(&runner.known_run_s()), "{}", runner.known_run_s());
}

#[test]
fn a_study_ends_with_its_time_and_goes_on_with_blocks_that_are_added() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, &plan(9, StopRule::Fixed), "").expect("new");
    // Two runs of a block take longer than there is time.
    runner.limit(StudyTime::from_now(1000.0), 600.0);
    let mut maker = KnownRuns::default();
    let reason = run(&mut runner, &mut maker).expect("it ends");
    assert!(reason.starts_with("no block is complete, and what one needs takes"), "{reason}");
    assert!(reason.contains(" about 1200 s, while 1000 s are left of its time"), "{reason}");
    assert_eq!((maker.starts, maker.made), (2, 0), "whether both work is known all the same");
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("it was finished");
    for (more, all) in [(4, 4), (2, 6)] {
        runner.extend(more).expect("it goes on");
        let reason = run(&mut runner, &mut maker).expect("it ends");
        assert_eq!(reason, format!("all {all} blocks are complete"));
        assert_whole(&runner, &place, all);
    }
    assert_eq!(runner.history().sessions.len(), 1);
    drop(runner);
    let study = RecordedStudy::read(&place).expect("whole");
    assert_eq!(study.history.extended, Some(6));
    let rounds = StudyPlan { order: RunOrder::Rounds, ..plan(2, StopRule::Fixed) };
    let refused = RunSet::unrecorded(rounds).extend(1).expect_err("a sweep").to_string();
    assert!(refused.contains("no blocks to add"), "{refused}");
}

/// What is left out has no pairs, and hides nothing of the others.
#[test]
fn what_the_blocks_resolve_is_renewed_from_the_third_on() {
    let plan = plan(5, StopRule::Fixed);
    resolves_thrice(&plan, KnownRuns { loud: vec![3], ..KnownRuns::default() });
    let unstartable = Some(1);
    resolves_thrice(&three_cells(plan), KnownRuns { unstartable, ..KnownRuns::default() });
}

/// Makes a study of five blocks.
fn resolves_thrice(plan: &StudyPlan, mut maker: KnownRuns) {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, plan, "").expect("new");
    let found = std::cell::RefCell::new(Vec::new());
    let progress = |event: StudyProgress<'_>| {
        if let StudyProgress::Resolves(range) = event {
            found.borrow_mut().push(range.estimate);
        }
    };
    runner.run(&mut maker, &progress, &RunStop::default()).expect("it can be written");
    assert_eq!(runner.history().complete_blocks(plan.cells.len()).len(), 5);
    let found = found.into_inner();
    assert_eq!(found.len(), 3, "after three, four and five blocks");
    assert!(found.iter().all(|change| change.abs() < 1e-6), "{found:?}");
}

#[test]
fn an_interrupted_run_is_begun_anew_with_its_whole_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, &plan(2, StopRule::Fixed), "").expect("new");
    let mut maker = KnownRuns { interrupted_at: Some(2), ..KnownRuns::default() };
    assert_eq!(run(&mut runner, &mut maker), None);
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("it goes on");
    assert!(run(&mut runner, &mut maker).is_some());
    assert_whole(&runner, &place, 2);
    let history = runner.history();
    let exclusions = history.exclusions(runner.plan());
    let why = |at: usize| exclusions[at].clone();
    assert_eq!(why(0).as_deref(), Some("another run of its block does not count"));
    assert_eq!(why(1).as_deref(), Some("the study was interrupted during it"));
    assert_eq!(history.runs.len(), 6);
}

#[test]
fn a_stop_rule_ends_it_as_soon_as_enough_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, stop, blocks, reason) in [
        (
            "precision",
            StopRule::Precision { half_width_pct: 0.5, max_blocks: 20 },
            4,
            "known to ±0.00 % after 4 blocks",
        ),
        ("looks", StopRule::Looks { looks: 2 }, 2, "all differ at look 1 of 2, 2 blocks"),
    ] {
        let place = folder.path().join(name);
        let mut runner = RunSet::create(&place, &plan(4, stop), "").expect("new");
        let found = run(&mut runner, &mut KnownRuns::default()).expect("it ends");
        assert_eq!(found, reason);
        assert_whole(&runner, &place, blocks);
    }
}

#[test]
fn a_study_of_one_block_has_one() {
    let of = schedule::all_complete;
    assert_eq!([of(1), of(6)], ["its one block is complete", "all 6 blocks are complete"]);
}

#[test]
fn a_wish_to_end_is_obeyed_before_the_next_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let mut runner = RunSet::create(&place, &plan(2, StopRule::Fixed), "").expect("new");
    let stop = RunStop::default();
    stop.at(instant());
    let mut maker = KnownRuns::default();
    assert_eq!(runner.run(&mut maker, &|_| {}, &stop).expect("nothing to write"), None);
    assert_eq!(maker.made, 0);
    let again = RunSet::create(&place, &plan(2, StopRule::Fixed), "").expect_err("there");
    assert!(matches!(again, LabError::OutExists(_)), "{again}");
}

/// A sweep: each run once, in the order of the plan, whatever comes of it and wherever it is cut.
#[test]
fn rounds_have_every_run_once_whatever_comes_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("sweep");
    fs::create_dir(&place).expect("a folder");
    let plan = StudyPlan { order: RunOrder::Rounds, ..plan(3, StopRule::Fixed) };
    let mut runner = RunSet::begin(&place, &plan).expect("new");
    let mut maker = KnownRuns {
        failing: Some(1),
        loud: vec![1],
        interrupted_at: Some(3),
        ..KnownRuns::default()
    };
    assert_eq!(run(&mut runner, &mut maker), None);
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("it goes on");
    assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("all runs were made"));
    let runs = &runner.history().runs;
    let ended = runs.iter().filter(|run| run.outcome.is_some());
    let places = ended.map(|run| (run.trial.block, run.trial.cell));
    assert!(places.eq((1..=3).flat_map(|block| [(block, 0), (block, 1)])), "{runs:?}");
    let folders = runs.iter().map(|run| run.trial.folder.as_str());
    assert!(folders.eq(["001", "002", "003", "004", "005", "006", "007"]), "{runs:?}");
    assert_eq!(maker.made, 7);
    drop(runner);
    // One that was deleted is made again, alone and once.
    fs::remove_dir_all(place.join("001")).expect("it was there");
    for _ in 0..2 {
        let mut runner = RunSet::open(&place, false).expect("it goes on");
        assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("all runs were made"));
        let last = &runner.history().runs.last().expect("runs").trial;
        assert_eq!((last.block, last.cell, last.folder.as_str()), (1, 0, "008"));
    }
    assert_eq!(maker.made, 8);
    let study = RecordedStudy::read(&place).expect("whole");
    assert_eq!((study.missing_runs().count(), study.ended_runs()), (0, 6));
    let problems = verify_runs(&place, &study).problems;
    assert!(!problems.iter().any(|problem| problem.contains("not there")), "{problems:?}");
}

/// A search: its maker decides when there are no more, and what was cut off is made again.
#[test]
fn a_search_goes_on_until_its_runs_have_decided_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("search");
    fs::create_dir(&place).expect("a folder");
    let plan = StudyPlan { order: RunOrder::Search, ..plan(1, StopRule::Fixed) };
    let mut runner = RunSet::begin(&place, &plan).expect("new");
    let mut maker = KnownRuns { last: Some(4), interrupted_at: Some(2), ..KnownRuns::default() };
    assert_eq!(run(&mut runner, &mut maker), None);
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("it goes on");
    assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("found"));
    let runs = &runner.history().runs;
    let ended = runs.iter().filter(|run| run.outcome.is_some()).map(|run| run.trial.block);
    assert!(ended.eq([1, 3, 4]), "{runs:?}");
    assert!(runs.iter().all(|run| run.trial.factors[0].value == "4/s"), "{runs:?}");
    drop(runner);
    let mut runner = RunSet::open(&place, false).expect("it can be read");
    assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("found"));
    assert_eq!(maker.made, 4);
    let found = runner.history().found.as_ref().expect("it is in the journal");
    assert_eq!(found.unknown.as_deref(), Some("found"));
    // A deleted run of a sweep or a search is missed, and hides no other.
    fs::remove_dir_all(place.join("001")).expect("it was there");
    let study = RecordedStudy::read(&place).expect("it can be read");
    assert!(study.missing_runs().map(|run| run.trial.run).eq([1]));
    assert!(study.made_runs().iter().map(|made| made.trial.run).eq([3, 4]));
    let table = study_table(&study);
    let rate = table.lines().nth(1).and_then(|line| line.split(',').nth(7));
    assert_eq!((table.split(',').nth(7), rate), (Some("rate"), Some("4/s")), "{table}");
}

#[test]
fn unrecorded_runs_have_a_history_and_leave_nothing() {
    let mut plan = StudyPlan { order: RunOrder::Rounds, ..plan(2, StopRule::Fixed) };
    plan.cells.truncate(1);
    let mut runner = RunSet::unrecorded(plan);
    let mut maker = KnownRuns { failing: Some(0), ..KnownRuns::default() };
    assert_eq!(run(&mut runner, &mut maker).as_deref(), Some("all runs were made"));
    let runs = &runner.history().runs;
    assert!(runs.iter().map(|run| &*run.trial.folder).eq(["001", "002"]), "{runs:?}");
    assert!(!Path::new(study_file::JOURNAL).exists());
}
