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
use dbtime_model::record::{CheckOutcome, FoundRate, RunRecord, WarningKind};

/// Of the flat-out rate: where the search begins.
const FIRST_SHARE: f64 = 0.5;

/// How many runs there are at most that a search may take: a bracket, its halves, and some rates
/// that were not confirmed.
const MOST_RUNS: usize = 100;

/// Runs at one rate of which nobody knows whether they met the limit.
const MOST_UNKNOWN: usize = 3;

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
    unjudged: Vec<f64>,
    controls: RunControls<'a>,
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
            let met = self.probe(args, &of, rate_tps)?;
            if self.controls.stop.is_set() || self.sweep.trouble.is_some() {
                break self.unknown("the search was ended".to_owned());
            }
            if self.probes.len() >= MOST_RUNS {
                break self.unknown(format!("{MOST_RUNS} runs did not settle it"));
            }
            // What nobody knows to meet the limit is not the answer.
            self.unjudged.extend(met.is_none().then_some(rate_tps));
            self.probes.push(RateProbe { rate_tps, met: met == Some(true), confirms });
        };
        self.sweep.exit = match (found.rate_tps, &found.unknown) {
            (Some(_), _) => ProcessExit::Fine,
            (None, Some(_)) => ProcessExit::Undecided,
            (None, None) => ProcessExit::Failed,
        };
        self.sweep.found(args, found)
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
                FoundRate {
                    rate_tps: Some(rate_tps),
                    above_tps: Some(above_tps),
                    is_above_unjudged: self.unjudged.contains(&above_tps),
                    confirmed: self.probes.iter().filter(confirming).count() as u64,
                    ..found
                }
            }
            RateStep::Nowhere(rate) if self.unjudged.is_empty() => {
                FoundRate { above_tps: Some(rate), ..found }
            }
            RateStep::Everywhere(rate) => self.unknown(format!("even {rate}/s meets it")),
            _ => self.unknown(
                "runs could not tell, for the driver itself was late: see their reports".to_owned(),
            ),
        }
    }

    fn unknown(&self, why: String) -> FoundRate {
        FoundRate {
            limit: self.limit.to_owned(),
            flat_out_tps: self.flat_out_tps,
            unknown: Some(why),
            ..FoundRate::default()
        }
    }

    /// Whether a rate meets all limits; `None`: nobody knows.
    fn probe(
        &mut self,
        args: &RunArgs,
        of: &impl Fn(&str) -> Result<PlannedRun, CommandFailure>,
        rate_tps: f64,
    ) -> Result<Option<bool>, CommandFailure> {
        let run = of(&Rate::Constant(rate_tps).to_string())?;
        for _ in 0..MOST_UNKNOWN {
            let place = self.place(rate_tps);
            // With one seed the fresh runs would be the same arrivals again.
            let run = run.with_seed(args.seed + place.number as u64);
            let made = self.sweep.make(args, &run, place, self.controls);
            if self.controls.stop.is_set() || self.sweep.trouble.is_some() {
                return Ok(None);
            }
            if let Some(met) = made.as_deref().and_then(|run| meets(&run.record)) {
                return Ok(Some(met));
            }
        }
        Ok(None)
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

/// Whether a run carried its rate and met all limits; `None`: the driver may have made it miss
/// them, or its figures may be wrong.
fn meets(record: &RunRecord) -> Option<bool> {
    let is_short = record.validity.warnings.iter().any(|w| w.kind == WarningKind::RateMissed);
    let is_wrong =
        record.validity.culprit().is_some_and(|why| why.kind != WarningKind::ClientLimited);
    match record.limits_outcome() {
        _ if is_wrong => None,
        Some(CheckOutcome::Undecided) => None,
        Some(CheckOutcome::Failed) => Some(false),
        // A driver that is late makes no response shorter.
        Some(CheckOutcome::Passed) | None if !is_short => Some(true),
        Some(CheckOutcome::Passed) | None => (!record.validity.client_limited).then_some(false),
    }
}

/// Prints the answer.
pub(super) fn show(found: &FoundRate) {
    screen::result(&dbtime_report::terminal::found_rate(found, screen::style()));
}
