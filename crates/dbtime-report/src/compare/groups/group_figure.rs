//! A metric of both groups, with the verdict on it.

use super::unit_values::{UnitValues, arithmetic_mean};
use super::verdict_basis::VerdictBasis;
use super::{
    FoundStates, GroupFigure, GroupGate, GroupMetric, PlacedRun, PlacedSides, Verdict, counted_for,
    geometric_mean,
};
use crate::compare::figures::FigurePair;
use dbtime_stats::{ConfidenceInterval, RunValues, SIGNIFICANCE, VerdictRule};

/// A metric that all runs have.
pub(super) fn figure(
    metric: &GroupMetric,
    sides: &PlacedSides<'_>,
    rule: VerdictRule,
    names: [&str; 2],
) -> Option<GroupFigure> {
    let value = |run: &PlacedRun<'_>| metric.finite(run.record);
    let has_ratio = sides.iter().flatten().all(|run| value(run).is_some_and(|value| value > 0.0));
    let mean: fn(&[f64]) -> f64 = if has_ratio { geometric_mean } else { arithmetic_mean };
    let units = UnitValues::of(sides, &value, mean)?;
    let (a, b) = (units.a.clone(), units.b.clone());
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let values = match units.is_paired {
        true => RunValues::Paired(units.pairs()),
        false => RunValues::Unpaired(a.clone(), b.clone()),
    };
    let run_s =
        [sides[0].first(), sides[1].first()].into_iter().flatten().map(|run| run.record.load_s());
    // A unit takes as many runs as it has slices.
    let run_s = run_s.sum::<f64>() * (sides[0].len() as f64 / a.len() as f64);
    let basis = VerdictBasis {
        metric,
        rule,
        names,
        values: &values,
        sides: &units.runs,
        run_s,
        most_values: None,
    };
    Some(match a.iter().chain(&b).all(|value| *value > 0.0) {
        true => figure_of_ratio(&basis, [a, b]),
        false => figure_in_unit(&basis, [a, b]),
    })
}

/// A metric that all runs have above zero.
fn figure_of_ratio(basis: &VerdictBasis<'_>, [a, b]: [Vec<f64>; 2]) -> GroupFigure {
    let VerdictBasis { metric, rule, values, .. } = basis;
    let found = rule.finding(values);
    let ratio = values.ratio();
    let check = found.as_ref().and_then(|found| found.check);
    let bound = found.as_ref().map(|found| found.verdict.basis());
    let by_medians = found.as_ref().and_then(|found| found.verdict.median_change());
    let percent = |interval: ConfidenceInterval| {
        [interval.estimate, interval.low, interval.high].map(|share| 100.0 * share)
    };
    let states = found.as_ref().and_then(|found| found.states.as_ref());
    GroupFigure {
        name: metric.name.clone(),
        means: FigurePair::new(&metric.name, metric.unit, [&a, &b].map(|all| geometric_mean(all))),
        verdict: basis.verdict(found.as_ref()),
        states: states.map(|states| FoundStates::of(states, basis)),
        change_pct: by_medians.or(ratio.map(|ratio| rule.change(&ratio))).map(percent),
        p: match check.filter(|_| by_medians.is_some()) {
            Some(check) => Some(rule.shown_p(&check)),
            None => ratio.map(|ratio| ratio.p_value()),
        },
        median_change_pct: check.map(|check| percent(check.median)),
        sign_flip_p: check.and_then(|check| check.sign_flip_p),
        higher_pct: values.superiority().map(|share| 100.0 * share),
        gate: GroupGate::of(metric, *rule, basis.names[1], bound.map(|bound| (*values, bound))),
        a,
        b,
    }
}

/// A metric that is not above zero in all runs, and so has no ratio.
fn figure_in_unit(basis: &VerdictBasis<'_>, [a, b]: [Vec<f64>; 2]) -> GroupFigure {
    let VerdictBasis { metric, rule, values, .. } = basis;
    let mean = |all: &Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
    let found = rule.difference(values);
    let verdict = basis.verdict_in_unit(found.map(|(difference, _)| difference));
    GroupFigure {
        name: metric.name.clone(),
        means: FigurePair::new(&metric.name, metric.unit, [&a, &b].map(mean)),
        gate: GroupGate::in_unit(metric, *rule, basis.names[1], &verdict),
        verdict,
        states: None,
        change_pct: None,
        p: found.map(|(_, p)| p),
        median_change_pct: None,
        sign_flip_p: None,
        higher_pct: values.superiority().map(|share| 100.0 * share),
        a,
        b,
    }
}

/// All metrics, the primary one first; none where not all runs have that. Each is of the runs that
/// count for it.
pub(super) fn figures(
    metrics: &[GroupMetric],
    sides: &PlacedSides<'_>,
    rule: VerdictRule,
    names: [&str; 2],
) -> Vec<GroupFigure> {
    let of = |metric: &GroupMetric| match metric.of_run() {
        Some(of_run) => figure(metric, &counted_for(of_run, sides), rule, names),
        None => figure(metric, sides, rule, names),
    };
    let mut all = metrics.iter().map(of);
    let Some(primary) = all.next().flatten() else { return Vec::new() };
    let mut figures: Vec<GroupFigure> = [primary].into_iter().chain(all.flatten()).collect();
    adjust(&mut figures);
    figures
}

/// Metrics behind the primary one differ only if they still do among so many.
pub(super) fn adjust(figures: &mut [GroupFigure]) {
    let Some((_, further)) = figures.split_first_mut() else { return };
    let metrics = further.len();
    let known: Vec<f64> = further.iter().filter_map(|figure| figure.p).collect();
    let mut adjusted = dbtime_stats::holm(&known).into_iter();
    for figure in further {
        let Some(p) = figure.p.as_mut().and_then(|p| Some((p, adjusted.next()?))) else { continue };
        let was = std::mem::replace(p.0, p.1);
        if p.1 >= SIGNIFICANCE {
            figure.gate.adjust();
        }
        if was < SIGNIFICANCE && p.1 >= SIGNIFICANCE && figure.verdict.is_difference() {
            let alone = Box::new(figure.verdict.clone());
            figure.verdict = Verdict::OneOfSeveral { metrics, alone };
        }
    }
}
