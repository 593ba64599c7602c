//! The change of a configuration by session: what another day, or another start of the machine,
//! makes of it. A study of one session has none.

use super::{CellComparison, StudyComparison};
use crate::compare::groups::{geometric_mean, signed};
use crate::compare::tables::{TextTable, figure, wrapped};
use crate::document::DocumentFact;
use crate::format::{clean, counted, if_any};
use dbtime_model::study::{BlockAttempt, RecordedStudy, RunOrder};
use dbtime_stats::{ConfidenceInterval, VerdictRule, session_effect};
use serde::Serialize;
use std::collections::BTreeMap;

/// So many sessions have their changes in a line.
const MOST_LISTED: usize = 6;

/// One session's change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionChange {
    /// Its number.
    pub session: u32,
    /// How many pairs of runs it has.
    pub pairs: u64,
    /// The change with its interval; `null`: it has one pair. Unit: percent.
    pub change_pct: Option<[f64; 3]>,
}

/// A change with the session as a level: the intervals are of 95 %, or of the level of the look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionChanges {
    /// Each session that has pairs, at least two.
    pub each: Vec<SessionChange>,
    /// The mean change in these sessions; `null`: each has one pair. Unit: percent.
    pub within_pct: Option<[f64; 3]>,
    /// What is to be expected of another session, of which the unit is the session. Unit: percent.
    pub over_pct: [f64; 3],
    /// Whether the sessions differ by more than their pairs do, at 5 %.
    pub is_unlike: bool,
}

impl SessionChanges {
    /// A configuration against another one; `None`: there is one session, or the metric has values
    /// without a ratio.
    pub(super) fn of(
        study: &RecordedStudy,
        [baseline, cell]: [usize; 2],
        rule: VerdictRule,
    ) -> Option<Self> {
        if study.plan.order != RunOrder::Blocks {
            return None;
        }
        let mut sessions: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        for block in study.history.complete_blocks(study.plan.cells.len()) {
            let session = block.runs.first().map_or(0, |run| run.trial.session);
            let has = |cell: usize| block.runs.iter().any(|run| run.trial.cell as usize == cell);
            // It is complete without what was left out.
            if ![baseline, cell].into_iter().all(has) {
                continue;
            }
            let pair = (value(study, &block, baseline)?, value(study, &block, cell)?);
            sessions.entry(session).or_default().push(pair);
        }
        let (numbers, pairs): (Vec<u32>, Vec<_>) = sessions.into_iter().unzip();
        let effect = session_effect(&pairs, rule.level, rule.comparisons)?;
        let each = numbers.into_iter().zip(&pairs).zip(&effect.each);
        let each = each.map(|((session, pairs), change)| SessionChange {
            session,
            pairs: pairs.len() as u64,
            change_pct: change.map(percents),
        });
        Some(Self {
            each: each.collect(),
            within_pct: effect.within.map(percents),
            over_pct: percents(effect.over),
            is_unlike: effect.is_unlike,
        })
    }

    /// The answer in lines.
    pub(super) fn facts(&self) -> Vec<DocumentFact> {
        let sessions = counted(self.each.len() as u64, "session");
        let within = self.within_pct.map(|pct| format!("{} within them, ", with_interval(pct)));
        let unlike = if self.is_unlike { "; they differ by more than chance" } else { "" };
        let text = format!(
            "{sessions}: {}{} to be expected of another one{unlike}",
            within.unwrap_or_default(),
            with_interval(self.over_pct)
        );
        let mut facts = vec![DocumentFact::new("sessions", text)];
        if self.each.len() <= MOST_LISTED {
            let one = |one: &SessionChange| {
                Some(format!("{}: {}", one.session, with_interval(one.change_pct?)))
            };
            let each: Vec<String> = self.each.iter().filter_map(one).collect();
            facts.extend((!each.is_empty()).then(|| DocumentFact::new("", each.join("; "))));
        }
        facts
    }
}

/// How many configurations change otherwise in one session than in another; `None`: none is known
/// to.
pub(super) fn unlike_text(several: &[CellComparison]) -> Option<String> {
    let is_unlike = |one: &&CellComparison| one.sessions.as_ref().is_some_and(|it| it.is_unlike);
    let unlike: Vec<String> =
        several.iter().filter(is_unlike).map(|one| clean(&one.cell)).collect();
    let text = format!("they differ by more than chance in the changes of {}", unlike.join(", "));
    (!unlike.is_empty()).then_some(text)
}

/// The changes of all configurations by session; without rows where there is one session.
pub(super) fn table(study: &StudyComparison) -> TextTable {
    let rows = study.comparisons.iter().flat_map(rows_of);
    TextTable {
        title: "Changes by session",
        headings: vec![
            wrapped("Configuration"),
            figure("Session"),
            figure("Pairs"),
            figure("Change"),
            figure("from"),
            figure("to"),
        ],
        rows: rows.collect(),
        note: "another: what is to be expected of a further session, by t with the session as the \
               unit"
            .to_owned(),
    }
}

fn rows_of(one: &CellComparison) -> Vec<Vec<String>> {
    let Some(sessions) = &one.sessions else { return Vec::new() };
    let row = |session: String, pairs: u64, change: Option<[f64; 3]>| {
        let pct = |at: usize| if_any(change, |pct: [f64; 3]| signed(pct[at] / 100.0) + " %");
        vec![clean(&one.cell), session, pairs.to_string(), pct(0), pct(1), pct(2)]
    };
    let pairs: u64 = sessions.each.iter().map(|one| one.pairs).sum();
    let each = sessions.each.iter();
    let each = each.map(|one| row(one.session.to_string(), one.pairs, one.change_pct));
    let within = row("all".to_owned(), pairs, sessions.within_pct);
    let over = row("another".to_owned(), pairs, Some(sessions.over_pct));
    each.chain([within, over]).collect()
}

/// The value of the primary metric of a configuration in a block; `None`: it has none.
fn value(study: &RecordedStudy, block: &BlockAttempt<'_>, cell: usize) -> Option<f64> {
    let of_cell = block.runs.iter().filter(|run| run.trial.cell as usize == cell);
    let values = of_cell.map(|run| {
        let at = study.history.runs.iter().position(|known| known.trial.run == run.trial.run)?;
        study.records.get(at)?.as_ref()?.value(&study.plan.primary)
    });
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| geometric_mean(&values))
}

fn percents(interval: ConfidenceInterval) -> [f64; 3] {
    [interval.estimate, interval.low, interval.high].map(|share| 100.0 * share)
}

fn with_interval(pct: [f64; 3]) -> String {
    let [change, low, high] = pct.map(|pct| signed(pct / 100.0));
    format!("{change} % ({low} .. {high})")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use dbtime_model::record::RunRecord;

    /// Six blocks in two sessions: the second one is faster by 2 %, and in each the second
    /// configuration by 5 % and, in the second session, by `more` besides.
    fn recorded(sessions: u32, more: f64) -> RecordedStudy {
        let mut study = sample::study_of(6, &["A=1", "A=2"], |cell, block| {
            let session = if block > 3 { 1.0 } else { 0.0 };
            let noise = 1.0 + 0.001 * f64::from(block % 3);
            let change = if cell == "A=2" { (1.05 + more * session) * noise } else { 1.0 };
            let throughput_tps = 1000.0 * (1.0 + 0.02 * session) * change;
            RunRecord { throughput_tps, ..RunRecord::default() }
        });
        for run in &mut study.history.runs {
            run.trial.session = 1 + u32::from(run.trial.block > 3).min(sessions - 1);
        }
        study
    }

    fn compared(sessions: u32, more: f64) -> StudyComparison {
        StudyComparison::of(&recorded(sessions, more))
    }

    fn pairs(compared: &StudyComparison) -> Vec<(u32, u64)> {
        let sessions = compared.comparisons[0].sessions.as_ref().expect("two sessions");
        sessions.each.iter().map(|one| (one.session, one.pairs)).collect()
    }

    #[test]
    fn a_change_is_known_by_session_and_over_them() {
        let compared = compared(2, 0.0);
        let sessions = compared.comparisons[0].sessions.as_ref().expect("two sessions");
        assert_eq!(pairs(&compared), [(1, 3), (2, 3)]);
        let within = sessions.within_pct.expect("three pairs each");
        assert!((within[0] - 5.1).abs() < 0.01 && !sessions.is_unlike, "{sessions:?}");
        assert!(sessions.over_pct[1] < within[1] && sessions.over_pct[2] > within[2]);
        let facts = sessions.facts();
        assert!(facts[0].text.starts_with("2 sessions: +5.1 % ("), "{facts:?}");
        assert!(facts[1].text.starts_with("1: +5.1 % ("), "{facts:?}");
        assert_eq!(table(&compared).rows.len(), 4);
    }

    #[test]
    fn sessions_that_differ_say_so() {
        let compared = compared(2, 0.05);
        let sessions = compared.comparisons[0].sessions.as_ref().expect("two sessions");
        assert!(sessions.is_unlike, "{sessions:?}");
        assert!(sessions.facts()[0].text.ends_with("; they differ by more than chance"));
    }

    #[test]
    fn blocks_without_what_was_left_out_hide_no_session() {
        let mut study = recorded(2, 0.0);
        study.history.runs.pop();
        study.records.pop();
        study.history.left_out.insert(1, "no server".to_owned());
        assert_eq!(study.history.complete_blocks(2).len(), 6);
        assert_eq!(pairs(&StudyComparison::of(&study)), [(1, 3), (2, 2)]);
    }

    #[test]
    fn one_session_is_no_level() {
        let compared = compared(1, 0.0);
        assert_eq!(compared.comparisons[0].sessions, None);
        assert!(table(&compared).rows.is_empty());
    }
}
