//! `--find-rate`: the highest rate that meets a limit, by runs whose rate is chosen as they go.

use super::folder::SweepPlace;
use super::{SweepCourse, begun, factors, planned};
use crate::cli::RunArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::planned_run::{PlannedRun, RunControls};
use crate::{interrupt, screen};
use dbtime_lab::rate_search::{RateProbe, RateStep, next_rate};
use dbtime_load::arrivals::Rate;
use dbtime_model::record::{CheckOutcome, FoundRate, RunRecord, ValidityGrade, WarningKind};

/// Of the flat-out rate: where the search begins.
const FIRST_SHARE: f64 = 0.5;

/// How many runs there are at most that a search may take: a bracket, its halves, and some rates
/// that were not confirmed.
const MOST_RUNS: usize = 100;

/// Runs at one rate of which nobody knows whether they met the limit.
const MOST_UNKNOWN: usize = 3;

/// Why a search has no answer that was ended.
const ENDED: &str = "the search was ended";

/// Searches.
pub(super) fn run(
    args: &RunArgs,
    arguments: &[String],
    limit: &str,
) -> Result<ProcessExit, CommandFailure> {
    let of = |rate: &str| {
        let combination = vec![("rate".to_owned(), rate.to_owned())];
        let mut arguments = factors::arguments(arguments, &combination);
        arguments.push(format!("--limit={limit}"));
        PlannedRun::of_arguments(&arguments, combination)
    };
    let mut reference = [of(&format!("auto:{}%", 100.0 * FIRST_SHARE))?];
    reference[0].factors.clear();
    let sweep = begun(args, arguments, &reference[0], vec!["rate".to_owned()], 0)?;
    let audience = ProgressAudience::of(args.quiet);
    let stop = interrupt::install();
    planned::hold_rate(&mut reference, audience, &stop)?;
    let flat_out = reference[0].spec.load.flat_out.clone();
    let flat_out_tps = flat_out.map_or(0.0, |found| found.flat_out_tps);
    if stop.is_set() || flat_out_tps <= 0.0 {
        return Err(CommandFailure::environment("the rate flat out could not be measured"));
    }
    let live = LiveProgress::of_search(audience);
    let search = RateSearch {
        sweep,
        limit,
        flat_out_tps,
        probes: Vec::new(),
        unjudged: Vec::new(),
        controls: RunControls { live: &live, stop: &stop },
    };
    let ended = search.go(args, of);
    drop(live);
    ended
}

/// A search under way.
struct RateSearch<'a> {
    sweep: SweepCourse,
    limit: &'a str,
    flat_out_tps: f64,
    probes: Vec<RateProbe>,
    /// Rates of which nobody knows whether they meet the limit.
    unjudged: Vec<UnjudgedRate>,
    controls: RunControls<'a>,
}

/// A rate at which no run counted.
struct UnjudgedRate {
    rate_tps: f64,
    /// Why the last of them did not.
    why: String,
}

impl UnjudgedRate {
    /// What a search has come to that depends on it.
    fn text(&self) -> String {
        let Self { rate_tps, why } = self;
        format!(
            "nothing was found on this machine now: of {MOST_UNKNOWN} runs at {rate_tps}/s none \
             counts ({why})"
        )
    }
}

/// What a run says of its rate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RateFinding {
    /// It was carried, and all limits were met.
    Met,
    /// It was not, or one was missed.
    Missed,
    /// Nobody knows, for this.
    Unknown(String),
}

impl RateSearch<'_> {
    fn go(
        mut self,
        args: &RunArgs,
        of: impl Fn(&str) -> Result<PlannedRun, CommandFailure>,
    ) -> Result<ProcessExit, CommandFailure> {
        let found = loop {
            let step = next_rate(self.flat_out_tps * FIRST_SHARE, &self.probes);
            let (rate_tps, confirms) = match step {
                RateStep::Probe(rate) => (rate, false),
                RateStep::Confirm(rate) => (rate, true),
                _ => break self.found(step),
            };
            let finding = self.probe(args, &of, rate_tps, confirms)?;
            if self.controls.stop.is_set() || self.sweep.trouble.is_some() {
                break self.unknown(ENDED.to_owned());
            }
            if self.probes.len() >= MOST_RUNS {
                break self.unknown(format!("{MOST_RUNS} runs did not settle it"));
            }
            self.probes.push(RateProbe { rate_tps, met: finding == RateFinding::Met, confirms });
            // What nobody knows to meet the limit is not the answer.
            if let RateFinding::Unknown(why) = finding {
                self.unjudged.push(UnjudgedRate { rate_tps, why });
            }
        };
        self.sweep.exit = match (found.rate_tps, &found.unknown) {
            (Some(_), _) => ProcessExit::Fine,
            (None, Some(_)) => ProcessExit::Undecided,
            (None, None) => ProcessExit::Failed,
        };
        self.sweep.found(args, found, self.controls.stop)
    }

    /// What the last step comes to.
    fn found(&self, step: RateStep) -> FoundRate {
        let found = FoundRate {
            limit: self.limit.to_owned(),
            flat_out_tps: self.flat_out_tps,
            ..FoundRate::default()
        };
        match step {
            RateStep::Found { rate_tps, above_tps } => {
                let confirming = |probe: &&RateProbe| probe.confirms && probe.rate_tps == rate_tps;
                match self.unjudged(above_tps) {
                    // A higher one may meet it.
                    Some(above) => self.unknown(format!("{}; {rate_tps}/s meets it", above.text())),
                    None => FoundRate {
                        rate_tps: Some(rate_tps),
                        above_tps: Some(above_tps),
                        confirmed: self.probes.iter().filter(confirming).count() as u64,
                        ..found
                    },
                }
            }
            RateStep::Nowhere(rate) => match self.unjudged(rate) {
                Some(lowest) => self.unknown(lowest.text()),
                None => FoundRate { above_tps: Some(rate), ..found },
            },
            RateStep::Everywhere(rate) => self.unknown(format!("even {rate}/s meets it")),
            // With these it would go on.
            RateStep::Probe(_) | RateStep::Confirm(_) => self.unknown(ENDED.to_owned()),
        }
    }

    fn unjudged(&self, rate_tps: f64) -> Option<&UnjudgedRate> {
        self.unjudged.iter().find(|unjudged| unjudged.rate_tps == rate_tps)
    }

    fn unknown(&self, why: String) -> FoundRate {
        FoundRate {
            limit: self.limit.to_owned(),
            flat_out_tps: self.flat_out_tps,
            unknown: Some(why),
            ..FoundRate::default()
        }
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
            let run = run.with_seed(args.seed + place.number as u64);
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
        for probe in &self.probes {
            if !rates.contains(&probe.rate_tps) {
                rates.push(probe.rate_tps);
            }
        }
        let combination = rates.iter().position(|rate| *rate == rate_tps).unwrap_or(rates.len());
        let round = self.probes.iter().filter(|probe| probe.rate_tps == rate_tps).count();
        SweepPlace { number: self.sweep.next_number(), round, combination }
    }
}

/// What a run says of its rate. One that is to confirm it counts as a run of a comparison does.
fn finding(record: &RunRecord, confirms: bool) -> RateFinding {
    let validity = &record.validity;
    let is_short = validity.warnings.iter().any(|w| w.kind == WarningKind::RateMissed);
    let is_wrong = validity.culprit().is_some_and(|why| why.kind != WarningKind::ClientLimited);
    let unknown = || {
        let noise = validity.noise().map(|warning| warning.text.clone());
        let why = record.discount().or(noise);
        RateFinding::Unknown(why.unwrap_or_else(|| "the driver itself was late".to_owned()))
    };
    match record.limits_outcome() {
        _ if is_wrong || record.window.ended_early => unknown(),
        Some(CheckOutcome::Undecided) => unknown(),
        Some(CheckOutcome::Failed) => RateFinding::Missed,
        Some(CheckOutcome::Passed) | None if confirms && record.discount().is_some() => unknown(),
        // A driver that is late, and a machine that is busy, make no response shorter.
        Some(CheckOutcome::Passed) | None if !is_short => RateFinding::Met,
        Some(CheckOutcome::Passed) | None if validity.grade() == ValidityGrade::Sound => {
            RateFinding::Missed
        }
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
    }
}
