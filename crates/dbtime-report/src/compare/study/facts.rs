//! The answer of a study in lines, and what all that follows is without.

use super::cell_comparison::UNSTABLE_LEVEL;
use super::{
    CellComparison, PLACE, SessionChanges, StudyComparison, drift, resolution, session_changes,
};
use crate::compare::groups::GroupOutcome;
use crate::document::DocumentFact;
use crate::format::{clean, counted, fit};
use crate::sweep_story;

/// The name of the verdicts on several configurations.
pub(in crate::compare) const VERDICTS: &str = "verdicts";

/// As many of them as a short text has room for, but for those that decide.
const SHORT_VERDICTS: usize = 6;

/// So many errors of what is left out are shown, each in so many columns.
const MOST_ERRORS: usize = 3;
const ERROR_COLUMNS: usize = 200;

/// Which verdicts on several configurations are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compare) enum ShownVerdicts {
    /// All, beside the tables.
    All,
    /// Those that are worse, or where none is those that are undecided, and few others.
    Deciding,
    /// Few; of those that are undecided the names.
    Few,
}

impl ShownVerdicts {
    /// How many of these are shown at least, those that decide first.
    fn least(self, several: &[CellComparison]) -> usize {
        let count = |outcome: GroupOutcome| {
            several.iter().filter(|one| one.verdict.outcome() == outcome).count()
        };
        let deciding = match (self, count(GroupOutcome::Worse)) {
            (Self::All, _) => several.len(),
            (Self::Deciding, 0) => count(GroupOutcome::Undecided),
            (_, worse) => worse,
        };
        deciding.max(SHORT_VERDICTS).min(several.len())
    }
}

impl StudyComparison {
    /// Callouts on what all else is without.
    pub(in crate::compare) fn callouts(&self) -> impl Iterator<Item = String> {
        let changed = [&self.plan_changed, &self.runs_changed, &self.lost];
        changed.into_iter().flatten().cloned().chain(self.left_out_text())
    }

    /// The answer in lines; with how to read the tables, beside which all verdicts are shown.
    pub(in crate::compare) fn facts(&self, shown: ShownVerdicts) -> Vec<DocumentFact> {
        let (fact, verdict) = (DocumentFact::new, DocumentFact::verdict);
        let mut facts = Vec::new();
        if let Some(found) = &self.found {
            let (answer, more) = sweep_story::found(found);
            facts.push(verdict("answer", answer));
            facts.extend(more.into_iter().map(|(name, text)| fact(name, text)));
        }
        facts.extend(self.question.as_ref().map(|text| fact("question", clean(text))));
        let effects = self.factors.text().filter(|_| self.is_stable());
        facts.extend(effects.map(|text| fact("effects", text)));
        facts.extend(self.gate_facts());
        match &self.comparisons[..] {
            // Of a screening no single configuration is of interest.
            [_, ..] if self.factors.is_screening => {}
            [] if self.found.is_some() => {}
            [] => {
                let why = self.lacks_verdicts().unwrap_or_default();
                facts.push(verdict("verdict", why.to_owned()));
            }
            [one] => {
                let text = one.verdict.to_string();
                // Names may be long, and figures stand behind them.
                facts.push(DocumentFact { short_lines: usize::MAX, ..verdict("verdict", text) });
                let on = &self.primary;
                let unit = one.comparison.slices_text();
                let unit = unit.unwrap_or_else(|| "the runs of a pair are of one block".to_owned());
                facts.push(fact("", format!("on {on}; {unit}")));
                // What was set up differently names them in a short text too.
                if shown == ShownVerdicts::All || !one.comparison.settings.is_empty() {
                    facts.extend(Self::sides(one).map(|text| fact("", text)));
                }
                facts.extend(one.sessions.iter().flat_map(SessionChanges::facts));
                facts.extend(one.comparison.further_facts());
                let resolved = resolution::of_pairs(&one.comparison);
                facts.extend(resolved.map(|text| fact("resolves", text)));
            }
            several => {
                facts.extend(verdict_facts(several, shown.least(several)));
                facts.extend(session_changes::unlike_text(several).map(|it| fact("sessions", it)));
            }
        }
        facts.extend(self.capacity.facts());
        let control = self.control.as_ref();
        facts.extend(control.map(|one| fact("A/A control", self.control_text(one))));
        let drift = self.drift_pct.and_then(drift::drift_text);
        facts.extend(drift.map(|text| fact("drift", text)));
        facts.push(fact("runs", self.runs_text(shown)));
        // It ends with a command.
        facts.push(DocumentFact { short_lines: usize::MAX, ..fact("study", self.state.clone()) });
        facts
    }

    /// What all that follows is without: the configurations that could not run, the first of them
    /// with their errors; `None`: none.
    pub(super) fn left_out_text(&self) -> Option<String> {
        let shown = self.left_out.iter().enumerate().map(|(at, one)| {
            let reason = match at < MOST_ERRORS {
                true => format!(" ({})", fit(&clean(&one.reason), ERROR_COLUMNS)),
                false => String::new(),
            };
            clean(&one.cell) + &reason
        });
        let list = shown.collect::<Vec<_>>().join(", ");
        let place = self.folder.as_deref().unwrap_or(PLACE);
        let remedy = format!("dbtime study resume {place} --retry-left-out tries again");
        (!list.is_empty()).then(|| format!("LEFT OUT: {list}; {remedy}"))
    }

    /// What the control shows, and which verdicts stand where the baseline differs from itself.
    fn control_text(&self, control: &CellComparison) -> String {
        let stands = |one: &&CellComparison| one.outweighs(control);
        let standing = self.comparisons.iter().filter(stands).count();
        match (control.is_different(), self.is_unstable, standing > 0) {
            (true, false, _) => format!(
                "{}; not at {} %, so that the verdicts stand",
                control.verdict,
                100.0 * UNSTABLE_LEVEL
            ),
            (true, true, true) => {
                format!("{}; a change many times as large stands", control.verdict)
            }
            _ => control.verdict.to_string(),
        }
    }

    /// Which side is which, where their names do not say it.
    fn sides(one: &CellComparison) -> Option<String> {
        let [a, b] = [clean(&one.baseline), clean(&one.cell)];
        (a != "A" || b != "B").then(|| format!("below, A is {a} and B is {b}"))
    }

    pub(super) fn runs_text(&self, shown: ShownVerdicts) -> String {
        let out = self.runs.iter().filter(|run| run.excluded.is_some()).count();
        let counted_runs = counted((self.runs.len() - out) as u64, "run");
        let mut text =
            format!("{counted_runs} in {} count", counted(self.complete_blocks, "block"));
        // As the page of a sweep calls them, where they count for the metric of the verdicts.
        let in_part = self.runs.iter().filter(|run| run.excluded.is_none() && run.is_invalid);
        match in_part.count() {
            0 => {}
            1 => text += " (1 is NOT VALID for other figures)",
            several => text += &format!(" ({several} are NOT VALID for other figures)"),
        }
        if out > 0 {
            let place = match shown {
                ShownVerdicts::All => "the table of runs has why",
                _ => "--details has why",
            };
            let verb = if out == 1 { "does" } else { "do" };
            text += &format!(", {out} {verb} not: {place}");
        }
        if self.further_sessions > 0 {
            text += &format!(
                "; {} sessions, and no block is of two of them",
                self.further_sessions + 1
            );
        }
        text
    }
}

/// The verdicts on several configurations. Where there are more than are shown, those that decide
/// come first, and the rest is counted, with the names of those that are undecided.
fn verdict_facts(several: &[CellComparison], most: usize) -> Vec<DocumentFact> {
    let mut shown: Vec<&CellComparison> = several.iter().collect();
    if shown.len() > most {
        shown.sort_by_key(|one| match one.verdict.outcome() {
            GroupOutcome::Worse => 0,
            GroupOutcome::Undecided => 1,
            GroupOutcome::Good => 2,
        });
    }
    let left_out = shown.split_off(most);
    let fact = |(at, one): (usize, &CellComparison)| {
        let further = one.comparison.where_it_went.iter().chain(&one.comparison.exclusion_bias);
        let further: String = further.map(|text| format!("; {text}")).collect();
        let text = one.comparison.qualified(one.verdict.to_string()) + &further;
        if at == 0 { DocumentFact::verdict(VERDICTS, text) } else { DocumentFact::new("", text) }
    };
    let mut facts: Vec<DocumentFact> = shown.into_iter().enumerate().map(fact).collect();
    if !left_out.is_empty() {
        let further = counted(left_out.len() as u64, "further verdict");
        let undecided =
            left_out.iter().filter(|one| one.verdict.outcome() == GroupOutcome::Undecided);
        let names: Vec<String> = undecided.map(|one| clean(&one.cell)).collect();
        let undecided = match names.len() {
            0 => "none of them worse or undecided".to_owned(),
            undecided => format!("none of them worse, {undecided} undecided"),
        };
        let text = format!("{further}, {undecided}: --details prints all");
        facts.push(DocumentFact::new("", text));
        if !names.is_empty() {
            let text = format!("undecided too: {}", names.join(", "));
            // Any of them may be worse.
            facts.push(DocumentFact { short_lines: usize::MAX, ..DocumentFact::new("", text) });
        }
    }
    facts
}
