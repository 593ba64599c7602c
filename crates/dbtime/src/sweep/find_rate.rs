//! `--find-rate`: the highest rate that meets a limit, by runs whose rate is chosen as they go.

use super::rate_trials::{self, FIRST_SHARE, RateFinding, RateSearch};
use super::{
    SweepControls, SweepCourse, begun, find_flat_out, left_by_interrupt, rounds, surroundings,
};
use crate::cli::{RunArgs, StudyShownArgs};
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::spec::BaseRun;
use crate::{interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::LabError;
use dbtime_lab::study::{PlannedRun, RunSet, TrialMaker, TrialResult, plan_search};
use dbtime_model::record::{
    CheckDoubt, CheckOutcome, FactorValue, RunRecord, ValidityGrade, WarningKind,
};
use dbtime_model::spec::FlagSetting;
use dbtime_model::study::{
    FoundRate, RecordedStudy, StudyPlan, StudyRun, StudyTrial, TrialOutcome, TrialRecord,
};
use std::ops::ControlFlow;
use std::path::Path;

/// The flag in which the runs of a search differ.
const RATE: &str = "rate";

/// Why a search cannot go on of which a run was deleted.
const MISSING: &str = "is missing or damaged, and the rates of later runs follow from it: restore \
                       it from a copy, or start a new search";

/// Why one cannot that another dbtime has begun, whose rates are others.
const OTHER_RATE: &str = "was made at another rate than this version of dbtime would choose: \
                          continue with the version that began the search, or start a new one";

/// Searches.
pub(super) fn run(
    args: &RunArgs,
    arguments: &[String],
    limit: &str,
) -> Result<ProcessExit, CommandFailure> {
    let base = BaseRun::of(args)?.and(FlagSetting::new("limit", limit))?;
    let share = format!("auto:{}%", 100.0 * FIRST_SHARE);
    let mut reference = [base.with_settings(&[FlagSetting::new(RATE, share)])?];
    reference[0].factors.clear();
    let sweep = begun(args, &reference[0])?;
    let audience = ProgressAudience::of(args.quiet);
    if audience == ProgressAudience::Terminal {
        screen::note(&rate_trials::plan());
    }
    let stop = interrupt::install_with(left_by_interrupt(sweep.folder.is_some()));
    find_flat_out(&mut reference, audience, &stop)?;
    let [mut reference] = reference;
    // Each run has a rate of its own.
    reference.command = base.command(&[]);
    let plan = plan_search(&reference, surroundings(args, arguments), sweep.place());
    let (limit, flat_out_tps) = sought(&plan)?;
    if stop.is_set() {
        return Err(LabError::Interrupted("while the flat-out rate was measured").into());
    }
    if flat_out_tps <= 0.0 {
        return Err(CommandFailure::environment("the flat-out rate could not be measured"));
    }
    let runs = sweep.run_set(plan, &stop)?;
    let search = RateSearch::new(&limit, flat_out_tps);
    go(SearchBegun { sweep, reference, search }, runs, &stop)
}

/// Goes on with a search.
///
/// Errors: its journal or its records are damaged, or a run is gone that the next follows from.
pub(crate) fn resume(runs: RunSet, shown: &StudyShownArgs) -> Result<ProcessExit, CommandFailure> {
    let folder = runs.folder().to_owned();
    let (limit, flat_out_tps) = sought(runs.plan())?;
    let Some(mut reference) = rounds::planned(&runs)?.into_iter().next() else {
        return Err(without_limit());
    };
    if let Some(kept) = &runs.plan().surroundings.snapshots {
        let seed = reference.spec.seed;
        reference = reference.with_snapshots(kept.into(), seed);
    }
    let study = RecordedStudy::read(&folder).map_err(CommandFailure::environment)?;
    let mut search = RateSearch::new(&limit, flat_out_tps);
    // One that is over has its answer in the journal.
    if study.history.finished.is_none() {
        let replayed = replay(&mut search, &reference, &study);
        replayed.map_err(|(run, why)| {
            let place = folder.join(&run.trial.folder);
            CommandFailure::environment(format!("{} {why}", place.display()))
        })?;
    }
    let (records, manner) = (study.records, rounds::manner(runs.plan(), shown));
    let sweep = SweepCourse { records, ..SweepCourse::new(Some(folder), manner) };
    let stop = interrupt::install_with(left_by_interrupt(true));
    go(SearchBegun { sweep, reference, search }, runs, &stop)
}

/// The limit that a search seeks to meet, and the flat-out rate.
fn sought(plan: &StudyPlan) -> Result<(String, f64), CommandFailure> {
    let (limit, flat_out_tps) = plan.sought().ok_or_else(without_limit)?;
    Ok((limit.to_owned(), flat_out_tps))
}

fn without_limit() -> CommandFailure {
    CommandFailure::environment("the search's plan has no limit: restore the plan from a copy")
}

/// Takes the runs that were made before, as if they had just been; what was cut off is made anew.
///
/// Errors: the run of which the rates behind it do not follow, and why.
fn replay<'a>(
    search: &mut RateSearch<'_>,
    reference: &PlannedRun,
    study: &'a RecordedStudy,
) -> Result<(), (&'a StudyRun, &'static str)> {
    for (run, record) in study.history.runs.iter().zip(&study.records) {
        let ControlFlow::Continue((rate_tps, confirms)) = search.next() else { break };
        let finding = match (run.outcome, record.as_ref().and_then(TrialRecord::run)) {
            (None, _) => continue,
            _ if run.trial.factors != reference.at_rate(rate_tps).factors => {
                return Err((run, OTHER_RATE));
            }
            (Some(TrialOutcome::Failed), _) => None,
            (Some(_), Some(record)) => Some(finding(record, confirms)),
            (Some(_), None) => return Err((run, MISSING)),
        };
        search.take(finding);
    }
    Ok(())
}

/// A search of which some runs may have been made.
struct SearchBegun<'a> {
    sweep: SweepCourse,
    reference: PlannedRun,
    search: RateSearch<'a>,
}

/// Makes the runs that are missing, and shows what was found.
fn go(
    begun: SearchBegun<'_>,
    mut runs: RunSet,
    stop: &RunStop,
) -> Result<ProcessExit, CommandFailure> {
    let live = LiveProgress::of_search(ProgressAudience::of(begun.sweep.manner.quiet));
    let mut trials = SearchTrials { begun, controls: SweepControls { live: &live, stop } };
    let ended = runs.run(&mut trials, &|_| {}, stop);
    let SearchBegun { mut sweep, .. } = trials.begun;
    drop(live);
    sweep.trouble = sweep.trouble.or(ended.err().map(CommandFailure::from));
    sweep.finish(&runs, stop)
}

/// How a search ends that has found this.
pub(crate) fn exit(found: &FoundRate) -> ProcessExit {
    match (found.rate_tps, &found.unknown) {
        (Some(_), _) => ProcessExit::Fine,
        (None, Some(_)) => ProcessExit::Undecided,
        (None, None) => ProcessExit::Failed,
    }
}

/// The runs of a search as they are made.
struct SearchTrials<'a, 'b> {
    begun: SearchBegun<'a>,
    controls: SweepControls<'b>,
}

impl TrialMaker for SearchTrials<'_, '_> {
    fn make(&mut self, trial: &StudyTrial, _: u64, _: &Path) -> TrialResult {
        let SearchBegun { sweep, reference, search } = &mut self.begun;
        let ControlFlow::Continue((rate_tps, confirms)) = search.next() else {
            return TrialResult::Interrupted;
        };
        // With one seed the fresh runs would be the same arrivals again.
        let run = reference.at_rate(rate_tps).with_seed(reference.spec.seed + trial.run);
        let result = sweep.make(&run, trial, None, self.controls);
        match &result {
            TrialResult::Recorded(record) => {
                search.take(record.run().map(|record| finding(record, confirms)));
            }
            TrialResult::Failed(_) => search.take(None),
            TrialResult::Interrupted => {}
        }
        result
    }

    fn factors(&self) -> Vec<FactorValue> {
        let SearchBegun { reference, search, .. } = &self.begun;
        match search.next() {
            ControlFlow::Continue((rate_tps, _)) => reference.at_rate(rate_tps).factors,
            ControlFlow::Break(_) => Vec::new(),
        }
    }

    fn found(&self) -> Option<FoundRate> {
        self.begun.search.next().break_value()
    }
}

/// Why a limit that is met is not met by all.
fn not_met_by_all(doubt: CheckDoubt) -> Option<&'static str> {
    match doubt {
        CheckDoubt::Unserved => Some("some clients had no answer in the window"),
        CheckDoubt::Unfinished => Some("transactions of the window never ended"),
        CheckDoubt::Lateness | CheckDoubt::Noise | CheckDoubt::EndedEarly => None,
    }
}

/// What a run says of its rate. One that is to confirm it counts as a run of a comparison does.
fn finding(record: &RunRecord, confirms: bool) -> RateFinding {
    let validity = &record.validity;
    let is_short = validity.warnings.iter().any(|w| w.kind == WarningKind::RateMissed);
    let is_wrong = validity.culprit().is_some_and(|why| why.kind != WarningKind::ClientLimited);
    let is_overloaded = is_short && validity.grade() == ValidityGrade::Sound;
    let by_some = record.doubt().and_then(not_met_by_all);
    let unknown = || {
        let noise = validity.noise().map(|warning| warning.text.clone());
        let why = record.discount().or(noise).or_else(|| by_some.map(str::to_owned));
        RateFinding::Unknown(why.unwrap_or_else(|| "the driver itself was late".to_owned()))
    };
    match record.limits_outcome() {
        _ if is_wrong || record.window.ended_early => unknown(),
        // What was not carried, however long that would have taken, is no doubt about the rate.
        Some(CheckOutcome::Undecided) if is_overloaded && by_some.is_some() => RateFinding::Missed,
        Some(CheckOutcome::Undecided) => unknown(),
        Some(CheckOutcome::Failed) => RateFinding::Missed,
        Some(CheckOutcome::Passed) | None if confirms && record.discount().is_some() => unknown(),
        // A driver that is late, and a machine that is busy, make no response shorter.
        Some(CheckOutcome::Passed) | None if !is_short => RateFinding::Met,
        Some(CheckOutcome::Passed) | None if is_overloaded => RateFinding::Missed,
        Some(CheckOutcome::Passed) | None => unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{Check, CheckOrigin, Validity, Warning};

    /// A run with such a limit and such warnings.
    fn run(outcome: CheckOutcome, kinds: &[WarningKind]) -> RunRecord {
        let limit = Check {
            origin: CheckOrigin::Given,
            passed: outcome == CheckOutcome::Passed,
            undecided: outcome == CheckOutcome::Undecided,
            ..Check::default()
        };
        let warning = |kind: &WarningKind| Warning {
            kind: *kind,
            text: "why".to_owned(),
            ..Warning::default()
        };
        RunRecord {
            limits: vec![limit],
            validity: Validity::from_warnings(kinds.iter().map(warning).collect()),
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_rate_is_confirmed_by_runs_that_count_alone() {
        use CheckOutcome::{Failed, Passed, Undecided};
        use WarningKind::{BudgetError, ClientLimited, ForeignCpu, RateMissed};
        let probed = |outcome, kinds: &[_]| finding(&run(outcome, kinds), false);
        let confirmed = |outcome, kinds: &[_]| finding(&run(outcome, kinds), true);
        assert_eq!(probed(Passed, &[]), RateFinding::Met);
        assert_eq!(probed(Passed, &[ClientLimited]), RateFinding::Met, "in a search for a bracket");
        let late = RateFinding::Unknown("client-limited: why".to_owned());
        assert_eq!(confirmed(Passed, &[ClientLimited]), late);
        assert_eq!(confirmed(Passed, &[ForeignCpu]), RateFinding::Met, "met is met");
        let noisy = RateFinding::Unknown("why".to_owned());
        assert_eq!(probed(Undecided, &[ForeignCpu]), noisy);
        assert_eq!(probed(Passed, &[RateMissed]), RateFinding::Missed, "it was not carried");
        assert_eq!(probed(Passed, &[RateMissed, ForeignCpu]), noisy);
        assert_eq!(probed(Failed, &[]), RateFinding::Missed);
        assert_eq!(probed(Failed, &[BudgetError]), noisy, "its figures may be wrong");
        for doubt in [CheckDoubt::Unserved, CheckDoubt::Unfinished] {
            let mut served = run(Undecided, &[]);
            served.limits[0].doubt = Some(doubt);
            let why = not_met_by_all(doubt).expect("it is met by some");
            assert_eq!(finding(&served, false), RateFinding::Unknown(why.to_owned()));
            let mut overloaded = run(Undecided, &[RateMissed]);
            overloaded.limits[0].doubt = Some(doubt);
            assert_eq!(finding(&overloaded, false), RateFinding::Missed, "it was not carried");
        }
    }
}
