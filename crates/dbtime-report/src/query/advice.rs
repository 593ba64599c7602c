//! What would make a statement faster: first what was tried, with what that has shown, then, under
//! a heading of its own, what was not.

use super::ratio_text::{interval_text, ratio};
use super::rows::outcome_words;
use crate::document::ReportDocument;
use crate::format::{bytes, counted, one_line, seconds};
use crate::terminal::TextRole;
use dbtime_model::query::{AdviceTrial, QueryAdvice, RowsOutcome};

/// Lines of SQL that is to be executed: half of it would be of no use.
const PROPOSAL_LINES: usize = 8;

/// How much of each piece of advice is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct AdviceView {
    /// Whether its evidence and what may be wrong with it are shown.
    pub(super) reasons: bool,
    /// So many pieces under each heading.
    pub(super) most: usize,
}

/// All advice, in its order.
pub(super) fn advice(all: &[QueryAdvice], view: AdviceView, document: &mut ReportDocument) {
    let (tried, untried): (Vec<&QueryAdvice>, Vec<_>) =
        all.iter().partition(|advice| advice.trial.is_some());
    for (title, some) in
        [("Advice", tried), ("Untried: nothing shows that any of this helps", untried)]
    {
        if some.is_empty() {
            continue;
        }
        document.heading(title);
        some.iter().take(view.most).for_each(|advice| piece(advice, view, document));
        let further = some.len().saturating_sub(view.most) as u64;
        if further > 0 {
            let text = counted(further, "further suggestion");
            document.paragraph(&text, TextRole::Dim);
        }
    }
}

fn piece(advice: &QueryAdvice, view: AdviceView, document: &mut ReportDocument) {
    let found = format!("{} ({})", one_line(&advice.finding), one_line(&advice.rule));
    document.fact("found", &found, TextRole::Bold);
    for sql in &advice.proposal {
        document.fact_within(PROPOSAL_LINES, "do", &one_line(sql), TextRole::Plain);
    }
    let mut more = |name: &str, text: &str, role: TextRole| {
        document.fact(name, &one_line(text), role);
    };
    if let Some(trial) = &advice.trial {
        let is_other = trial.rows.is_same() == Some(false);
        let role = if is_other { TextRole::Bad } else { TextRole::Good };
        more("tried", &trial_text(trial), role);
    }
    if view.reasons {
        advice.evidence.iter().for_each(|shown| more("because", shown, TextRole::Dim));
        advice.caveats.iter().for_each(|caveat| more("caveat", caveat, TextRole::Warn));
    }
}

/// What trying it has shown.
fn trial_text(trial: &AdviceTrial) -> String {
    let mut text = format!(
        "{}: {} of the time ({})",
        one_line(&trial.place),
        ratio(trial.ratio.ratio),
        interval_text(trial.ratio)
    );
    text += &match trial.rows {
        RowsOutcome::Unchecked => format!(", {}", outcome_words(trial.rows)),
        // An index has no rows of its own.
        RowsOutcome::Identical if trial.rows_keys == 0 => ", which changes no rows".to_owned(),
        rows => format!(", {} for {}", outcome_words(rows), counted(trial.rows_keys, "key")),
    };
    let prices = [
        trial.bytes.map(|size| format!("size {}", bytes(size))),
        trial.build_s.map(|build_s| format!("built in {}", seconds(build_s))),
        trial.write_ratio.map(|of| {
            let interval = interval_text(of);
            format!("inserts take {} times as long ({interval})", ratio(of.ratio))
        }),
    ];
    let prices: Vec<String> = prices.into_iter().flatten().collect();
    match prices.is_empty() {
        true => text,
        false => format!("{text}; {}", prices.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::query::RatioInterval;

    #[test]
    fn rows_that_were_not_compared_have_no_keys() {
        let ratio = RatioInterval { ratio: 0.5, low: 0.4, high: 0.6, level: 0.95 };
        let trial = AdviceTrial {
            place: "on a copy".to_owned(),
            ratio,
            rows: RowsOutcome::Identical,
            ..AdviceTrial::default()
        };
        let text = "on a copy: 0.50 of the time (95 % CI 0.40 .. 0.60), which changes no rows";
        assert_eq!(trial_text(&trial), text);
    }
}
