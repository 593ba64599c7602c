//! Throughput over clients, with the law of it.

use super::capacity::captioned;
use super::factors::{self, FactorSeries};
use super::indexed_runs::IndexedRuns;
use crate::charts::{ScalingPoint, scaling_curve};
use crate::compare::groups::signed;
use crate::compare::tables::{TextTable, figure, wrapped};
use crate::format::{NONE, clean, if_any, rate};
use dbtime_model::record::RunRecord;
use dbtime_model::units::three_digits;
use dbtime_stats::{ConfidenceInterval, ScalabilityFit, ScalabilityLevel};
use serde::Serialize;

/// Factors whose levels are numbers of clients, in lower case: those of dbtime, and what other
/// programs call them.
pub(super) const CLIENTS: [&str; 4] = ["connections", "workers", "clients", "threads"];

/// A parameter of the law: estimate, and the ends of its 95 % interval. Unit and shape: as it is
/// said where it is used; an end is `null` where it is infinite.
pub type LawParameter = [Option<f64>; 3];

/// A run of a series; of slices their block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScalabilityRun {
    /// Clients.
    pub n: f64,
    /// Transactions completed a second.
    pub throughput_tps: f64,
}

/// A level of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScalabilityStep {
    /// Clients.
    pub n: f64,
    /// How many runs count.
    pub runs: u64,
    /// Geometric mean of their throughputs, transactions a second.
    pub throughput_tps: f64,
    /// The same by the law.
    pub fitted_tps: f64,
    /// The 95 % interval of that; `null`: a level has one run.
    pub band_tps: Option<[f64; 2]>,
    /// By how much the runs are above the law. Unit: percent of it.
    pub residual_pct: f64,
    /// Whether they are further from it than 5 % and the noise of runs; `null` as above.
    pub is_misfit: Option<bool>,
}

/// The law of a series: X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedScalability {
    /// λ, transactions a second of one client.
    pub lambda_tps: LawParameter,
    /// σ, the share that is done one after the other.
    pub sigma: LawParameter,
    /// κ, what each pair of clients costs.
    pub kappa: LawParameter,
    /// Clients at the peak of the law, whether or not it was measured.
    pub law_peak_n: LawParameter,
    /// The same where a measured level lies beyond it; else `null`.
    pub peak_n: Option<f64>,
    /// The law at that peak, transactions a second.
    pub peak_tps: Option<f64>,
    /// What the 2,000 resamples of the intervals follow from.
    pub seed: u64,
    /// The levels beside the law.
    pub steps: Vec<ScalabilityStep>,
}

/// Throughput over clients, of one combination of the other factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScalabilitySeries {
    /// What the number of clients is: `connections`, `workers`.
    pub factor: String,
    /// The other factors; empty: there are none.
    pub others: String,
    /// What it comes to, in a sentence.
    pub answer: String,
    /// The parameters in words; empty without a fit.
    pub parameters: String,
    /// The runs that count.
    pub runs: Vec<ScalabilityRun>,
    /// `null`: fewer than four levels.
    pub fitted: Option<FittedScalability>,
    /// As it was fitted.
    #[serde(skip)]
    fit: Option<ScalabilityFit>,
}

/// All series of a study. An open loop has none: its throughput is the rate that it is offered.
pub(super) fn series(runs: &IndexedRuns<'_>) -> Vec<ScalabilitySeries> {
    let all = factors::series(&runs.study.plan, &CLIENTS);
    all.into_iter().filter_map(|series| one(runs, series)).collect()
}

fn one(indexed: &IndexedRuns<'_>, series: FactorSeries) -> Option<ScalabilitySeries> {
    let mut runs = Vec::new();
    for (n, cell) in &series.cells {
        let has_rate = |run: &RunRecord| run.load.rate_tps.is_some();
        if indexed.counted(*cell).any(|record| record.run().is_some_and(has_rate)) {
            return None;
        }
        for value in indexed.block_values(*cell, "throughput")? {
            let throughput_tps = Some(value).filter(|tps| *tps > 0.0)?;
            runs.push(ScalabilityRun { n: *n, throughput_tps });
        }
    }
    let last = runs.last()?.n;
    let seed = indexed.study.plan.design.seed;
    let points: Vec<(f64, f64)> = runs.iter().map(|run| (run.n, run.throughput_tps)).collect();
    let fit = ScalabilityFit::of(&points, seed);
    let factor = clean(&series.factor);
    let answer = fit.as_ref().map_or_else(
        || format!("fewer than four levels of {factor} have runs: no law is fitted"),
        |fit| answer(fit, &factor, last),
    );
    let named = |text: String| match series.others.as_str() {
        "" => text,
        others => format!("{}: {text}", clean(others)),
    };
    Some(ScalabilitySeries {
        answer: named(answer),
        parameters: fit.as_ref().map_or_else(String::new, |fit| named(parameters(fit))),
        fitted: fit.as_ref().map(|fit| fitted(fit, seed)),
        factor: series.factor,
        others: series.others,
        runs,
        fit,
    })
}

impl ScalabilitySeries {
    /// The runs with the law.
    pub(super) fn chart(&self, place: usize) -> Option<String> {
        let point =
            |run: &ScalabilityRun| ScalingPoint { n: run.n, throughput: run.throughput_tps };
        let points: Vec<ScalingPoint> = self.runs.iter().map(point).collect();
        let svg = scaling_curve(&points, self.fit.as_ref(), place, &clean(&self.factor))?;
        Some(captioned(&self.others, &svg))
    }
}

/// Where it is highest, and whether that can be said.
fn answer(fit: &ScalabilityFit, factor: &str, last: f64) -> String {
    let misfits: Vec<&ScalabilityLevel> = fit.misfits().collect();
    if !misfits.is_empty() {
        let level = |level: &&ScalabilityLevel| {
            let side = if level.residual < 0.0 { "below" } else { "above" };
            format!("{} ({:.0} % {side})", rate(level.n), 100.0 * level.residual.abs())
        };
        let levels = misfits.iter().map(level).collect::<Vec<_>>().join(", ");
        return format!("does not follow the law of contention and crosstalk: {factor} {levels}");
    }
    match fit.peak {
        None => format!("no peak up to {} {factor}", rate(last)),
        Some(peak) => {
            let interval = fit.intervals.map(|all| all.peak);
            let interval = if_any(interval, |peak| ends(&peak, |n| rate(n.round())));
            let interval = interval.replace(NONE, " (one run of a level: no interval)");
            let tps = rate(fit.law.throughput(peak));
            format!("highest at {} {factor}{interval}, {tps}/s", rate(peak.round()))
        }
    }
}

fn ends(interval: &ConfidenceInterval, shown: impl Fn(f64) -> String) -> String {
    let end = |end: f64| if end.is_finite() { shown(end) } else { "no peak".to_owned() };
    format!(" (95 % CI {} .. {})", end(interval.low), end(interval.high))
}

/// λ, σ and κ in words.
fn parameters(fit: &ScalabilityFit) -> String {
    let of = |interval: fn(&dbtime_stats::ScalabilityIntervals) -> ConfidenceInterval,
              shown: fn(f64) -> String| {
        fit.intervals.map_or(String::new(), |all| ends(&interval(&all), shown))
    };
    let law = &fit.law;
    let percent = |share: f64| format!("{} %", three_digits(100.0 * share));
    format!(
        "One client alone would do {}/s{}; {} of the work is done one after the other{}: contention \
         σ; each further pair of clients costs {} of a transaction{}: crosstalk κ",
        rate(law.lambda),
        of(|all| all.lambda, rate),
        percent(law.sigma),
        of(|all| all.sigma, |share| format!("{} %", three_digits(100.0 * share))),
        percent(law.kappa),
        of(|all| all.kappa, |share| format!("{} %", three_digits(100.0 * share))),
    )
}

fn fitted(fit: &ScalabilityFit, seed: u64) -> FittedScalability {
    let parameter =
        |value: f64, of: fn(&dbtime_stats::ScalabilityIntervals) -> ConfidenceInterval| {
            let finite = |value: f64| value.is_finite().then_some(value);
            let interval = fit.intervals.as_ref().map(of);
            let [low, high] = interval.map_or([None; 2], |all| [finite(all.low), finite(all.high)]);
            [finite(value), low, high]
        };
    let step = |level: &ScalabilityLevel| ScalabilityStep {
        n: level.n,
        runs: level.runs as u64,
        throughput_tps: level.mean,
        fitted_tps: level.fitted,
        band_tps: fit.curve.iter().find(|place| place.n == level.n).and_then(|place| place.band),
        residual_pct: 100.0 * level.residual,
        is_misfit: level.is_misfit,
    };
    FittedScalability {
        lambda_tps: parameter(fit.law.lambda, |all| all.lambda),
        sigma: parameter(fit.law.sigma, |all| all.sigma),
        kappa: parameter(fit.law.kappa, |all| all.kappa),
        law_peak_n: parameter(fit.law.peak(), |all| all.peak),
        peak_n: fit.peak,
        peak_tps: fit.peak.map(|peak| fit.law.throughput(peak)),
        seed,
        steps: fit.levels.iter().map(step).collect(),
    }
}

/// The levels beside the law, with its parameters below.
pub(super) fn table(all: &[ScalabilitySeries]) -> TextTable {
    let row = |series: &ScalabilitySeries, step: &ScalabilityStep| {
        let end = |at: usize| if_any(step.band_tps, |band: [f64; 2]| rate(band[at]));
        let misfit = if step.is_misfit == Some(true) { "misfit" } else { "" };
        vec![
            clean(&series.others),
            rate(step.n),
            step.runs.to_string(),
            rate(step.throughput_tps),
            rate(step.fitted_tps),
            end(0),
            end(1),
            signed(step.residual_pct / 100.0) + " %",
            misfit.to_owned(),
        ]
    };
    let rows = all.iter().flat_map(|series| {
        let steps = series.fitted.iter().flat_map(|fitted| &fitted.steps);
        steps.map(move |step| row(series, step))
    });
    let words = all.iter().map(|series| series.parameters.as_str());
    let words = words.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(". ");
    TextTable {
        title: "Scalability",
        headings: vec![
            wrapped(""),
            figure("Clients"),
            figure("Runs"),
            figure("tps"),
            figure("By the law"),
            figure("from"),
            figure("to"),
            figure("Off by"),
            wrapped(""),
        ],
        rows: rows.collect(),
        note: format!(
            "X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), Gunther's universal scalability law, fitted to \
             the logarithms of the runs. {words}"
        ),
    }
}
