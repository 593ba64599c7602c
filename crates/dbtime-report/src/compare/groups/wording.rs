//! Verdicts in words.

use super::PlacedSides;
use super::metrics::GroupMetric;
use crate::compare::figures::FigurePair;
use crate::format::{counted, seconds, signed_us};
use dbtime_stats::{
    ConfidenceInterval, GroupSplit, GroupVerdict, RobustCheck, RunValues, VerdictRule,
};

/// Parts that make less than this share of all changes are not named in the line.
const LEAST_SHARE: f64 = 0.05;

/// At most so many parts are named in it.
const MOST_PARTS: usize = 4;

/// Everything that a verdict's words are made of.
pub(super) struct VerdictWords<'a> {
    pub(super) metric: &'a GroupMetric,
    pub(super) rule: VerdictRule,
    pub(super) names: [&'a str; 2],
    pub(super) values: &'a RunValues,
    /// How long the load of one run of each side takes. Unit: seconds.
    pub(super) run_s: f64,
}

impl VerdictWords<'_> {
    /// The verdict, with a word where the check that assumes no distribution does not agree.
    pub(super) fn text(
        &self,
        verdict: Option<&GroupVerdict>,
        check: Option<&RobustCheck>,
    ) -> String {
        let Some(verdict) = verdict else {
            return too_few(self.values.sides().map(|side| side.len()), self.names);
        };
        let doubt = match (verdict, check) {
            (GroupVerdict::Different(_) | GroupVerdict::Small(_), Some(check))
                if !check.differs() =>
            {
                format!("; not so by medians: {}", interval(&check.median))
            }
            _ => String::new(),
        };
        self.verdict(verdict) + &doubt
    }

    fn verdict(&self, verdict: &GroupVerdict) -> String {
        let (runs, margin) = (self.runs(), share(self.rule.margin));
        let [a, b] = self.names;
        match verdict {
            GroupVerdict::Different(change) => {
                format!("{b} {} than {a}: {}, {runs}", self.word(change), interval(change))
            }
            GroupVerdict::Small(change) => format!(
                "Real but small: {b} {} than {a} by less than {margin}: {}, {runs}",
                self.word(change),
                interval(change)
            ),
            GroupVerdict::Same(change) => {
                format!("Same within {margin}: {}, {runs}", interval(change))
            }
            GroupVerdict::Undecided { change, more } => {
                let settle = more.map_or_else(
                    || format!("no number of runs settles {margin}"),
                    |more| self.settling(more as u64),
                );
                format!("Undecided: {}, {runs}; {settle}", interval(change))
            }
            GroupVerdict::TwoStates { a: of_a, b: of_b } => {
                let sides = self.values.sides().map(|side| side.len());
                let each = [(a, of_a, sides[0]), (b, of_b, sides[1])];
                let shown = each.into_iter().filter_map(|(name, split, count)| {
                    Some(format!("{name} {}", self.states(split.as_ref()?, count)))
                });
                let shown = shown.collect::<Vec<_>>().join(", ");
                format!("Two states: {shown}; means not compared")
            }
        }
    }

    /// What it takes to find a change of the margin.
    fn settling(&self, more: u64) -> String {
        let what = match self.values {
            RunValues::Paired(_) => format!("about {}", counted(more, "more pair")),
            RunValues::Unpaired(..) => format!("about {} a side", counted(more, "more run")),
        };
        let all_s = self.run_s * more as f64;
        let load = match all_s / 60.0 {
            minutes if minutes < 2.0 => seconds(all_s),
            minutes if minutes < 120.0 => format!("{minutes:.0} min"),
            minutes => format!("{:.0} h", minutes / 60.0),
        };
        format!("to settle {} run {what} ({load} of load)", share(self.rule.margin))
    }

    /// Whether B is better or worse, by its sign.
    fn word(&self, change: &ConfidenceInterval) -> &'static str {
        let is_better = (change.estimate > 0.0) == self.metric.is_higher_better;
        self.metric.words[usize::from(!is_better)]
    }

    fn states(&self, split: &GroupSplit, count: usize) -> String {
        let shown = |value: f64| self.metric.unit.shown(value);
        format!(
            "{} ({} of {count}) / {} ({} of {count})",
            shown(split.lower_center),
            split.lower,
            shown(split.higher_center),
            split.higher
        )
    }

    fn runs(&self) -> String {
        match (self.values, self.values.sides().map(|side| side.len())) {
            (RunValues::Paired(_), [pairs, _]) => counted(pairs as u64, "pair"),
            (RunValues::Unpaired(..), [a, b]) if a == b => format!("{a} runs a side, unpaired"),
            (RunValues::Unpaired(..), [a, b]) => format!("{a} and {b} runs, unpaired"),
        }
    }
}

/// `+3.2 % (95 % CI +1.9 .. +4.5)`.
fn interval(interval: &ConfidenceInterval) -> String {
    let [estimate, low, high] = [interval.estimate, interval.low, interval.high].map(signed);
    format!("{estimate} % ({} CI {low} .. {high})", share(interval.level))
}

/// A share in percent with its sign, to a tenth, or to two digits that say something.
pub(in crate::compare) fn signed(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = if percent.abs() < 0.1 && percent != 0.0 { 2 } else { 1 };
    let shown = format!("{:.digits$}", percent.abs());
    let is_nothing = shown.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    match (is_nothing, percent < 0.0) {
        (true, _) => "0.0".to_owned(),
        (false, true) => format!("−{shown}"),
        (false, false) => format!("+{shown}"),
    }
}

/// A share in percent: `1 %`, `0.5 %`.
fn share(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

/// Why there is no verdict.
fn too_few([a, b]: [usize; 2], [name_a, name_b]: [&str; 2]) -> String {
    format!(
        "No verdict: {} of {name_a} and {} of {name_b}; from three valid runs a side on there is one, and ten \
         are better",
        counted(a as u64, "valid run"),
        counted(b as u64, "valid run")
    )
}

/// Why there is not even a figure.
pub(super) fn no_figure(metric: &GroupMetric, sides: &PlacedSides<'_>) -> String {
    match sides.each_ref().map(Vec::len) {
        [0, _] | [_, 0] => {
            "Invalid: no run of one side is valid; see why, mend it and run again".to_owned()
        }
        _ => format!("Invalid: not all runs have a {} above zero", metric.name),
    }
}

/// A metric that differs alone, but not among so many.
pub(super) fn one_of_several(metrics: usize, text: &str) -> String {
    format!("Undecided: one of {metrics} further metrics; alone: {text}")
}

/// `−410 µs per transaction: lock −380 µs, cpu −60.0 µs, the rest +30.0 µs`.
pub(super) fn where_it_went(parts: &[FigurePair]) -> Option<String> {
    let (total, parts) = parts.split_last()?;
    let all: f64 = parts.iter().map(FigurePair::change).sum();
    let named: Vec<&FigurePair> =
        parts.iter().filter(|part| part.change() >= LEAST_SHARE * all).take(MOST_PARTS).collect();
    let difference = |pair: &FigurePair| pair.difference.unwrap_or(0.0);
    let rest = difference(total) - named.iter().map(|part| difference(part)).sum::<f64>();
    let mut shown: Vec<String> =
        named.iter().map(|part| format!("{} {}", part.name, signed_us(difference(part)))).collect();
    if named.len() < parts.len() {
        shown.push(format!("the rest {}", signed_us(rest)));
    }
    let total = signed_us(difference(total));
    Some(format!("{total} per transaction: {}", shown.join(", ")))
}
