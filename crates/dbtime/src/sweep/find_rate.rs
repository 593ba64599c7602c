//! `--find-rate`: the highest rate that meets a limit, by runs whose rate is chosen as they go.

use super::folder::SweepPlace;
use super::rate_trials::{self, FIRST_SHARE, MOST_UNKNOWN, RateFinding, RateTrials};
use super::{SweepControls, SweepCourse, begun, find_flat_out};
use crate::cli::RunArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::spec::BaseRun;
use crate::{interrupt, screen};
use dbtime_lab::study::PlannedRun;
use dbtime_load::arrivals::Rate;
use dbtime_model::record::{
    CheckDoubt, CheckOutcome, FoundRate, RunRecord, ValidityGrade, WarningKind,
};
use dbtime_model::spec::FlagSetting;
use std::ops::ControlFlow;

/// Why a search has no answer that was ended.
const ENDED: &str = "the search was ended";

/// Searches.
pub(super) fn run(
    args: &RunArgs,
    arguments: &[String],
    limit: &str,
) -> Result<ProcessExit, CommandFailure> {
    let base = BaseRun::of(args)?.and(FlagSetting::new("limit", limit))?;
    let of = |rate: &str| base.with_settings(&[FlagSetting::new("rate", rate)]);
    let mut reference = [of(&format!("auto:{}%", 100.0 * FIRST_SHARE))?];
    reference[0].factors.clear();
    let sweep = begun(args, arguments, &reference[0], vec!["rate".to_owned()], 0)?;
    let audience = ProgressAudience::of(args.quiet);
    if audience == ProgressAudience::Terminal {
        screen::note(&rate_trials::plan());
    }
    let stop = interrupt::install();
    find_flat_out(&mut reference, audience, &stop)?;
    let flat_out = reference[0].spec.load.flat_out.clone();
    let flat_out_tps = flat_out.map_or(0.0, |found| found.flat_out_tps);
    if stop.is_set() || flat_out_tps <= 0.0 {
        return Err(CommandFailure::environment("the rate flat out could not be measured"));
    }
    let live = LiveProgress::of_search(audience);
    let search = RateSearch {
        sweep,
        trials: RateTrials::new(limit, flat_out_tps),
        controls: SweepControls { live: &live, stop: &stop },
    };
    let ended = search.go(args, of);
    drop(live);
    ended
}

/// A search under way.
struct RateSearch<'a> {
    sweep: SweepCourse,
    trials: RateTrials<'a>,
    controls: SweepControls<'a>,
}

impl RateSearch<'_> {
    fn go(
        mut self,
        args: &RunArgs,
        of: impl Fn(&str) -> Result<PlannedRun, CommandFailure>,
    ) -> Result<ProcessExit, CommandFailure> {
        let found = loop {
            let (rate_tps, confirms) = match self.trials.next() {
                ControlFlow::Continue(next) => next,
                ControlFlow::Break(found) => break found,
            };
            let before = self.sweep.next_number();
            let finding = self.probe(args, &of, rate_tps, confirms)?;
            if self.controls.stop.is_set() || self.sweep.trouble.is_some() {
                break self.trials.unknown(ENDED.to_owned());
            }
            self.trials.add(rate_tps, confirms, finding, self.sweep.next_number() - before);
        };
        self.sweep.exit = match (found.rate_tps, &found.unknown) {
            (Some(_), _) => ProcessExit::Fine,
            (None, Some(_)) => ProcessExit::Undecided,
            (None, None) => ProcessExit::Failed,
        };
        self.sweep.found(args, found, self.controls.stop)
    }

    /// Whether a rate meets all limits.
    fn probe(
        &mut self,
        args: &RunArgs,
        of: &impl Fn(&str) -> Result<PlannedRun, CommandFailure>,
        rate_tps: f64,
        confirms: bool,
    ) -> Result<RateFinding, CommandFailure> {
        let run = of(&Rate::Constant(rate_tps).to_string())?;
        let mut last = "it was not made".to_owned();
        for _ in 0..MOST_UNKNOWN {
            let place = self.place(rate_tps);
            // With one seed the fresh runs would be the same arrivals again.
            let run = run.with_seed(run.spec.seed + place.number as u64);
            let made = self.sweep.make(args, &run, place, self.controls);
            if self.controls.stop.is_set() || self.sweep.trouble.is_some() {
                break;
            }
            match made.map(|run| finding(&run.record, confirms)) {
                Some(RateFinding::Unknown(why)) => last = why,
                Some(known) => return Ok(known),
                None => {}
            }
        }
        Ok(RateFinding::Unknown(last))
    }

    /// Where the next run stands: runs of one rate are repetitions.
    fn place(&self, rate_tps: f64) -> SweepPlace {
        let mut rates: Vec<f64> = Vec::new();
        for probe in &self.trials.probes {
            if !rates.contains(&probe.rate_tps) {
                rates.push(probe.rate_tps);
            }
        }
        let combination = rates.iter().position(|rate| *rate == rate_tps).unwrap_or(rates.len());
        let round = self.trials.probes.iter().filter(|probe| probe.rate_tps == rate_tps).count();
        SweepPlace { number: self.sweep.next_number(), round, combination }
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

/// Prints the answer.
pub(super) fn show(found: &FoundRate) {
    screen::result(&dbtime_report::terminal::found_rate(found, screen::style()));
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
