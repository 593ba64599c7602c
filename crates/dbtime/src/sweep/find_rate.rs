//! `--find-rate`: the highest rate that meets a limit, by runs whose rate is chosen as they go.

use super::rate_trials::{self, FIRST_SHARE, RateFinding, RateSearch, UnknownCause, UnknownReason};
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
    Check, CheckDoubt, CheckMetric, CheckOutcome, FactorValue, PrimaryMetric, RunRecord, Warning,
    WarningKind,
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

/// The headroom of a run that met its limits and did not carry its rate: clearly none, and no more
/// than that, because a short window of a rate that is carried may end with a queue, too.
const NOT_CARRIED: f64 = 0.5;

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
        let ControlFlow::Continue(rate_tps) = search.next() else { break };
        let finding = match (run.outcome, record.as_ref().and_then(TrialRecord::run)) {
            (None, _) => continue,
            _ if run.trial.factors != reference.at_rate(rate_tps).factors => {
                return Err((run, OTHER_RATE));
            }
            (Some(TrialOutcome::Failed), _) => None,
            (Some(_), Some(record)) => Some(finding(record)),
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
        let ControlFlow::Continue(rate_tps) = search.next() else {
            return TrialResult::Interrupted;
        };
        // With one seed the fresh runs would be the same arrivals again.
        let seed = reference.spec.seed.wrapping_add(trial.run);
        let run = reference.at_rate(rate_tps).with_seed(seed);
        let result = sweep.make(&run, trial, None, self.controls);
        match &result {
            TrialResult::Recorded(record) => {
                search.take(record.run().map(finding));
            }
            TrialResult::Failed(_) => search.take(None),
            TrialResult::Interrupted => {}
        }
        result
    }

    fn factors(&self) -> Vec<FactorValue> {
        let SearchBegun { reference, search, .. } = &self.begun;
        match search.next() {
            ControlFlow::Continue(rate_tps) => reference.at_rate(rate_tps).factors,
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

/// What disturbed a run, so that the figures of its limits are not those of the target alone;
/// `None`: nothing. What the load itself brings about, such as transactions that never end, is no
/// disturbance.
fn disturbance(record: &RunRecord) -> Option<String> {
    use WarningKind::{ForeignCpu, Standstill, Steal, Throttled};
    let is_of_others =
        |warning: &&Warning| matches!(warning.kind, ForeignCpu | Steal | Throttled | Standstill);
    let others = record.validity.warnings.iter().find(is_of_others);
    let mut deciding = record.checks().map(|(_, check)| check).filter(|check| check.decides());
    let flaw = deciding.find_map(|check| match metric_of(check) {
        Some(metric) => record.discount_for(metric),
        None => record.discount(),
    });
    flaw.or_else(|| others.map(|warning| warning.text.clone()))
}

/// The metric that a limit is on, as far as verdicts are on it; `None`: it is on another.
fn metric_of(check: &Check) -> Option<PrimaryMetric> {
    match check.metric {
        CheckMetric::Mean => PrimaryMetric::named("mean"),
        CheckMetric::Max => PrimaryMetric::named("max"),
        CheckMetric::Percentile(percentile) => PrimaryMetric::named(&format!("p{percentile}")),
        _ => None,
    }
}

/// The limit over what was measured: 1 at the limit, more where it is met, nothing left where it is
/// missed that has no limit of that kind.
fn headroom(check: &Check) -> f64 {
    match check.metric {
        CheckMetric::Percentile(_) | CheckMetric::Mean | CheckMetric::Max | CheckMetric::Errors => {
            // What the driver added is not the target's.
            let measured = check.without_lag.unwrap_or(check.measured);
            match measured > 0.0 {
                true => check.required / measured,
                // Nothing that was measured is no proof.
                false if check.is_missed() => 0.0,
                false => f64::INFINITY,
            }
        }
        _ if check.is_missed() => 0.0,
        _ => f64::INFINITY,
    }
}

/// What a run says of its rate. A figure of one that was disturbed is not used, nor whether it is
/// near the limit: only that not even the disturbance made it miss it, or meet it.
fn finding(record: &RunRecord) -> RateFinding {
    let validity = &record.validity;
    let is_short = validity.warnings.iter().any(|w| w.kind == WarningKind::RateMissed);
    let is_wrong = validity.culprit().is_some_and(|why| why.kind != WarningKind::ClientLimited);
    let (disturbance, outcome) = (disturbance(record), record.limits_outcome());
    let by_some = record.doubt().and_then(not_met_by_all);
    let is_failed = outcome == Some(CheckOutcome::Failed);
    match disturbance {
        _ if is_wrong || record.window.ended_early => unknown(record, is_wrong),
        None if by_some.is_some() && !is_short => unknown(record, false),
        // What was not carried, however long that would have taken, is no doubt about the rate.
        None if is_short && !is_failed => RateFinding::Counted(NOT_CARRIED),
        None => {
            let limits = record.checks().map(|(_, check)| check).filter(|check| check.decides());
            RateFinding::Counted(limits.map(headroom).fold(f64::INFINITY, f64::min))
        }
        Some(_) if outcome == Some(CheckOutcome::Undecided) => unknown(record, false),
        // A driver that is late, and a machine that is busy, make no response shorter.
        Some(why) if is_failed || !is_short => RateFinding::Disturbed { met: !is_failed, why },
        Some(_) => unknown(record, false),
    }
}

/// A run of which it is not known whether it met the limit, because its figures are wrong or not.
fn unknown(record: &RunRecord, is_wrong: bool) -> RateFinding {
    if is_empty(record) {
        let text = "no transaction was due in the window".to_owned();
        return RateFinding::Unknown(UnknownReason { text, cause: UnknownCause::EmptyWindow });
    }
    // What makes the figures wrong may be none of the limit's own metric.
    let wrong = || record.discount().filter(|_| is_wrong);
    let why = disturbance(record).or_else(wrong);
    let by_some = record.doubt().and_then(not_met_by_all);
    let is_busy = why.is_some() && !is_wrong && !record.window.ended_early;
    let cause = if is_busy { UnknownCause::BusyMachine } else { UnknownCause::Other };
    let text = why.or_else(|| by_some.map(str::to_owned));
    let text = text.unwrap_or_else(|| "the driver itself was late".to_owned());
    RateFinding::Unknown(UnknownReason { text, cause })
}

/// Whether the window was too short for the rate: nothing was asked of the target in it.
fn is_empty(record: &RunRecord) -> bool {
    let counts = &record.counts;
    counts.offered == 0 && !counts.has_responses() && !record.window.ended_early
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{CheckOrigin, CountsInfo, Validity};

    /// A run with such a limit of 10 ms, such a response, and such warnings.
    fn run(outcome: CheckOutcome, measured: f64, kinds: &[WarningKind]) -> RunRecord {
        let limit = Check {
            origin: CheckOrigin::Given,
            metric: CheckMetric::Percentile(99.0),
            required: 10_000.0,
            measured,
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
            counts: CountsInfo { offered: 100, completed: 100, ..CountsInfo::default() },
            limits: vec![limit],
            validity: Validity::from_warnings(kinds.iter().map(warning).collect()),
            ..RunRecord::default()
        }
    }

    fn disturbed(met: bool, why: &str) -> RateFinding {
        RateFinding::Disturbed { met, why: why.to_owned() }
    }

    fn not_known(text: &str, cause: UnknownCause) -> RateFinding {
        RateFinding::Unknown(UnknownReason { text: text.to_owned(), cause })
    }

    #[test]
    fn only_runs_that_were_not_disturbed_count() {
        use CheckOutcome::{Failed, Passed, Undecided};
        use WarningKind::{BudgetError, ClientLimited, ForeignCpu, RateMissed};
        let met = |kinds: &[_]| finding(&run(Passed, 8_000.0, kinds));
        let missed = |kinds: &[_]| finding(&run(Failed, 20_000.0, kinds));
        let undecided = |kinds: &[_]| finding(&run(Undecided, 12_500.0, kinds));
        assert_eq!(met(&[]), RateFinding::Counted(1.25));
        assert_eq!(missed(&[]), RateFinding::Counted(0.5));
        assert_eq!(undecided(&[]), RateFinding::Counted(0.8), "the fit takes what is near");
        assert_eq!(met(&[ForeignCpu]), disturbed(true, "why"));
        assert_eq!(met(&[ClientLimited]), disturbed(true, "not counted for p99: why"));
        assert_eq!(missed(&[ForeignCpu]), disturbed(false, "why"));
        assert_eq!(undecided(&[ForeignCpu]), not_known("why", UnknownCause::BusyMachine));
        assert_eq!(met(&[RateMissed]), RateFinding::Counted(NOT_CARRIED), "it was not carried");
        assert_eq!(met(&[RateMissed, ForeignCpu]), not_known("why", UnknownCause::BusyMachine));
        let is_wrong = not_known("why", UnknownCause::Other);
        assert_eq!(missed(&[BudgetError]), is_wrong, "its figures may be wrong");
    }

    #[test]
    fn a_window_without_a_transaction_is_too_short_and_no_fault_of_the_machine() {
        let mut empty = run(CheckOutcome::Failed, 0.0, &[WarningKind::MostlyFailed]);
        empty.counts = CountsInfo::default();
        let cause = UnknownCause::EmptyWindow;
        assert_eq!(finding(&empty), not_known("no transaction was due in the window", cause));
        empty.counts.unfinished = 1;
        assert_eq!(finding(&empty), not_known("why", UnknownCause::Other), "it hangs");
    }

    #[test]
    fn a_limit_that_some_alone_met_is_not_known_to_be_met() {
        for doubt in [CheckDoubt::Unserved, CheckDoubt::Unfinished] {
            let mut served = run(CheckOutcome::Undecided, 8_000.0, &[]);
            served.limits[0].doubt = Some(doubt);
            let why = not_met_by_all(doubt).expect("it is met by some");
            assert_eq!(finding(&served), not_known(why, UnknownCause::Other));
            let mut overloaded = run(CheckOutcome::Undecided, 8_000.0, &[WarningKind::RateMissed]);
            overloaded.limits[0].doubt = Some(doubt);
            let not_carried = RateFinding::Counted(NOT_CARRIED);
            assert_eq!(finding(&overloaded), not_carried, "however long that would take");
        }
    }

    #[test]
    fn the_least_headroom_of_several_limits_counts_without_the_drivers_lag() {
        let mut late = run(CheckOutcome::Passed, 9_000.0, &[]);
        late.limits[0].without_lag = Some(8_000.0);
        assert_eq!(finding(&late), RateFinding::Counted(1.25));
        let errors = Check { metric: CheckMetric::Errors, ..late.limits[0].clone() };
        let none = Check { measured: 0.0, without_lag: None, ..errors.clone() };
        late.limits.push(none);
        assert_eq!(finding(&late), RateFinding::Counted(1.25), "without errors there is no end");
        late.limits.push(Check { measured: 20_000.0, without_lag: None, ..errors });
        assert_eq!(finding(&late), RateFinding::Counted(0.5));
    }
}
