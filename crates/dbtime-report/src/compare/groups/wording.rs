//! Verdicts in words: all of their sentences are here.

use super::verdict::{
    CellVerdict, ComparedRuns, InvalidGroups, OddChange, UnitDifference, UnmeasuredMetric, Verdict,
    VerdictDifference,
};
use crate::compare::figures::FigurePair;
use crate::format::{count, counted, seconds, signed_us};
use dbtime_stats::{ChangeBasis, ConfidenceInterval};
use std::fmt;

/// Parts that make less than this share of all changes are not named in the line.
const LEAST_SHARE: f64 = 0.05;

/// At most so many parts are named in it.
const MOST_PARTS: usize = 4;

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Different(found) => {
                let subject = subject(&found.names, found.words, found.is_better);
                write!(f, "{subject}: {}", found.figures())
            }
            Self::Small { difference, margin } => {
                let VerdictDifference { names, words, is_better, .. } = difference;
                let subject = subject(names, *words, *is_better);
                let less = share(*margin);
                write!(f, "Real but small: {subject} by less than {less}: {}", difference.figures())
            }
            Self::Same { change, runs, margin } => {
                write!(f, "Same within {}: {}, {runs}", share(*margin), interval(change))
            }
            Self::Undecided { change, runs, margin, more, run_s, odd } => {
                let settling = settling(*runs, *margin, *more, *run_s);
                let odd = odd.as_ref().map_or_else(String::new, |odd| format!("; {odd}"));
                write!(f, "Undecided: {}, {runs}{odd}; {settling}", interval(change))
            }
            Self::Equal(runs) => write!(f, "Equal (0 in all runs), {runs}"),
            Self::InUnit(found) => write!(f, "{found}"),
            Self::OneOfSeveral { metrics, alone } => {
                write!(f, "Undecided: one of {metrics} further metrics; alone: {alone}")
            }
            Self::TooFew { names, runs } => f.write_str(&too_few(names, *runs)),
            Self::Unstable { control, withdrawn } => {
                write!(f, "Unstable: A/A control differs: {control}; no verdict on {withdrawn}")
            }
            Self::Invalid(reason) => write!(f, "Invalid: {reason}"),
        }
    }
}

impl fmt::Display for CellVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cell, verdict } = self;
        match verdict.names_subject() {
            true => write!(f, "{verdict}"),
            false => write!(f, "{cell}: {verdict}"),
        }
    }
}

/// `B faster than A`.
fn subject([a, b]: &[String; 2], words: [&'static str; 2], is_better: bool) -> String {
    format!("{b} {} than {a}", words[usize::from(!is_better)])
}

impl VerdictDifference {
    /// By how much, of how many runs, and whether means and medians do not agree.
    fn figures(&self) -> String {
        let (by, others) = match self.basis {
            ChangeBasis::Means => ("", "medians"),
            ChangeBasis::Medians => (" by medians", "means"),
        };
        let figures = format!("{}{by}, {}", interval(&self.change), self.runs);
        match &self.other {
            Some(other) => format!("{figures}; not so by {others}: {}", interval(other)),
            None => figures,
        }
    }
}

impl fmt::Display for UnitDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match self.is_shown() {
            true => subject(&self.names, self.words, self.is_better),
            false => "Undecided".to_owned(),
        };
        let ConfidenceInterval { estimate, low, high, level } = self.difference;
        let [estimate, low, high] = [estimate, low, high].map(|value| self.unit.signed(value));
        let (level, runs) = (share(level), self.runs);
        write!(f, "{found}: {estimate} ({level} CI {low} .. {high}), {runs}, not all above 0")
    }
}

impl fmt::Display for OddChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, without, median } = self;
        write!(f, "without {place}, which alone is far off, {}", interval(without))?;
        match median {
            Some(median) => write!(f, "; by medians of all {}", interval(median)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ComparedRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pairs(pairs) => f.write_str(&counted(*pairs as u64, "pair")),
            Self::Unpaired([a, b]) if a == b => write!(f, "{a} runs a side, unpaired"),
            Self::Unpaired([a, b]) => write!(f, "{a} and {b} runs, unpaired"),
            Self::Values([a, b]) if a == b => write!(f, "{a} values a side, unpaired"),
            Self::Values([a, b]) => write!(f, "{a} and {b} values, unpaired"),
        }
    }
}

impl fmt::Display for InvalidGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValidRun(names) => {
                let names = names.join(" and no run of ");
                write!(f, "no run of {names} is valid; find the cause, fix it and run again")
            }
            Self::NoWholeBlock(names) => {
                let names = names.join(" and no run of ");
                write!(
                    f,
                    "no run of {names} counts, for each of its blocks has a run that does not, or \
                     was not finished; the table of runs has why"
                )
            }
            Self::Unmeasured(metric) => write!(f, "{metric}"),
        }
    }
}

impl fmt::Display for UnmeasuredMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, names, lacking, runs, source } = self;
        let sides = names.iter().zip(lacking).zip(runs).filter(|((_, lacking), _)| **lacking > 0);
        let side = |((name, lacking), runs): ((&String, &usize), &usize)| match lacking == runs {
            true => format!("any run of {name}"),
            false => format!("{lacking} of {} of {name}", counted(*runs as u64, "run")),
        };
        let sides = sides.map(side).collect::<Vec<_>>().join(" and ");
        write!(f, "{metric} was not measured in {sides}; {source}")
    }
}

/// More pairs than this are no advice.
const MOST_NAMED: usize = 1000;

/// What it takes to find a change of the margin.
fn settling(runs: ComparedRuns, margin: f64, more: Option<usize>, run_s: f64) -> String {
    let margin = share(margin);
    let Some(more) = more else {
        let what = match runs {
            ComparedRuns::Values(_) => "values that a name can have",
            ComparedRuns::Pairs(_) => "pairs",
            ComparedRuns::Unpaired(_) => "runs",
        };
        return format!("no number of {what} settles {margin}");
    };
    let what = match runs {
        ComparedRuns::Pairs(_) => Some("pairs"),
        ComparedRuns::Unpaired(_) => Some("runs a side"),
        ComparedRuns::Values(_) => None,
    };
    if let Some(what) = what.filter(|_| more > MOST_NAMED) {
        return format!("to settle {margin} takes more than {} {what}", count(MOST_NAMED as u64));
    }
    let all_s = run_s * more as f64;
    let more = more as u64;
    let what = match runs {
        ComparedRuns::Pairs(_) => format!("about {}", counted(more, "more pair")),
        ComparedRuns::Unpaired(_) => format!("about {} a side", counted(more, "more run")),
        ComparedRuns::Values(_) => format!("about {} a side", counted(more, "more value")),
    };
    let load = match all_s / 60.0 {
        // How long a run takes is not known of files of other tools.
        0.0 => return format!("to settle {margin} measure {what}"),
        minutes if minutes < 2.0 => seconds(all_s),
        minutes if minutes < 120.0 => format!("{minutes:.0} min"),
        minutes => format!("{:.0} h", minutes / 60.0),
    };
    format!("to settle {margin} run {what} ({load} of load)")
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
pub(super) fn share(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

/// Why there is no verdict.
fn too_few([name_a, name_b]: &[String; 2], runs: [usize; 2]) -> String {
    let [a, b] = runs.map(|runs| counted(runs as u64, "valid run"));
    let few = match runs {
        [1, 1] => format!("single runs of {name_a} and {name_b}"),
        _ => format!("{a} of {name_a} and {b} of {name_b}"),
    };
    format!("No verdict: {few}; from three valid runs a side on there is one, and ten are better")
}

/// `−410 µs per transaction: lock −380 µs, cpu −60.0 µs, the rest +30.0 µs`. `is_partial`: the
/// verdict is on more than the response.
pub(super) fn where_it_went(parts: &[FigurePair], is_partial: bool) -> Option<String> {
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
    let of = if is_partial { " of the response, without the thinking" } else { "" };
    Some(format!("{total} per transaction{of}: {}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::verdict_sample::verdicts;
    use super::*;

    #[test]
    fn each_verdict_has_its_sentence_and_comes_to_something() {
        for (verdict, outcome, sentence) in verdicts("B") {
            assert_eq!(verdict.to_string(), sentence);
            assert_eq!(verdict.outcome(), outcome, "{sentence}");
            let json = serde_json::to_value(&verdict).expect("JSON");
            assert_eq!(json, sentence, "a text in JSON");
        }
    }

    /// Names that occur in the words of verdicts, and a word of them.
    #[test]
    fn every_verdict_on_a_configuration_names_it() {
        for cell in ["4", "r", "run", "pairs", "CI", "Undecided", "Same within 1 %", "than 1"] {
            for (verdict, _, sentence) in verdicts(cell) {
                let names_it = match &verdict {
                    Verdict::InUnit(found) => found.is_shown(),
                    _ => matches!(
                        verdict,
                        Verdict::Different(_) | Verdict::Small { .. } | Verdict::Unstable { .. }
                    ),
                };
                let prefix = if names_it { String::new() } else { format!("{cell}: ") };
                let verdict = CellVerdict { cell: cell.to_owned(), verdict };
                assert_eq!(verdict.to_string(), prefix + &sentence);
            }
        }
    }
}
