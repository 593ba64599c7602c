//! How small a change a study can show.

use crate::compare::groups::{GroupComparison, Verdict, signed};
use crate::format::counted;
use dbtime_stats::{ConfidenceInterval, LogRatio, detectable_range};

/// A change that is found in 80 % of cases, with how little is known of it: `changes of about 3.1 %
/// (2.0 to 9.4 %)`.
pub fn resolution_text(found: &ConfidenceInterval) -> String {
    let shown = [found.estimate, found.low, found.high].map(|share| {
        // It has no sign.
        signed(share).trim_start_matches('+').to_owned()
    });
    let [change, low, high] = shown;
    format!("changes of about {change} % ({low} to {high} %)")
}

/// What the pairs of a comparison resolve that shows no difference, by their own scatter; `None`:
/// there are too few, or they do differ.
pub(super) fn of_pairs(compared: &GroupComparison) -> Option<String> {
    if !matches!(compared.verdict, Verdict::Undecided { .. } | Verdict::Same { .. }) {
        return None;
    }
    let figure = compared.metrics.first().filter(|_| compared.paired)?;
    let pairs: Vec<(f64, f64)> = figure.a.iter().copied().zip(figure.b.iter().copied()).collect();
    let count = pairs.len();
    let found = detectable_range(LogRatio::paired(&pairs)?.deviation(count), count, count)?;
    let by = counted(count as u64, "pair");
    Some(format!("{}, by the scatter of {by} (in 80 % of cases)", resolution_text(&found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_without_a_sign_and_with_its_range() {
        let found = ConfidenceInterval { estimate: 0.031, low: 0.0204, high: 0.094, level: 0.8 };
        assert_eq!(resolution_text(&found), "changes of about 3.1 % (2.0 to 9.4 %)");
    }
}
