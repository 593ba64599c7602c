//! The statement under the planner's switches: whether the planner's choice is the best, and which
//! estimate misled it.

use super::ratio_text::{ends, interval_text, ratio, times};
use super::rows::outcome_words;
use crate::document::{ReportDocument, RestOfRows, RowLimit};
use crate::format::{NONE, counted, fit, if_any, one_line, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::query::{PlanTournament, TournamentEntry};

/// What stands for the switch of the planner's own choice.
const CHOICE: &str = "optimiser's choice";

/// Columns of what a server says of a failure.
const FAILURE_COLUMNS: usize = 40;

/// The answer, and a table of so many ways; `all` adds what was left out.
pub(super) fn tournament(
    tried: &PlanTournament,
    all: bool,
    most: usize,
    document: &mut ReportDocument,
) {
    document.heading("Other plans");
    document.paragraph(&verdict(tried), TextRole::Bold);
    if let Some(estimate) = &tried.misled_by {
        document.paragraph(&format!("Misled by: {}", one_line(estimate)), TextRole::Plain);
    }
    let further = tried.entries.len().saturating_sub(most) as u64;
    let rest = RestOfRows::Text(counted(further, "further plan"));
    document.limited_table(&table(tried), (!all).then(|| RowLimit::new(most, rest)));
    if all {
        for left_out in &tried.left_out {
            document.fact("left out", &one_line(left_out), TextRole::Dim);
        }
    }
}

/// What the tournament says of the planner's choice.
fn verdict(tried: &PlanTournament) -> String {
    let others = tried.entries.len().saturating_sub(1) as u64;
    if others == 0 {
        return "No switch or hint leads to another plan".to_owned();
    }
    let others = counted(others, "other plan");
    let best = tried.best.and_then(|best| tried.entries.get(best));
    let Some((best, shown)) = best.and_then(|best| Some((best, best.ratio?))) else {
        let none = match tried.entries.len() {
            2 => "The one other plan is not".to_owned(),
            _ => format!("None of {others} is"),
        };
        let again = unconfirmed(tried).unwrap_or_default();
        return format!("{none} shown to be faster than the {CHOICE}{again}");
    };
    let again = best.confirmation.map(|again| {
        format!("; measured again: {} of its time ({})", ratio(again.ratio), interval_text(again))
    });
    format!(
        "The {CHOICE} is {} times slower than the best of {others}: {} takes {} of its time ({}){}",
        times(shown.ratio),
        one_line(&best.switch),
        ratio(shown.ratio),
        interval_text(shown),
        again.unwrap_or_default()
    )
}

/// The plan that was faster at first, and not when it was measured again.
fn unconfirmed(tried: &PlanTournament) -> Option<String> {
    let found = |entry: &TournamentEntry| Some((one_line(&entry.switch), entry.confirmation?));
    let (switch, again) = tried.entries.iter().find_map(found)?;
    let (times, interval) = (ratio(again.ratio), interval_text(again));
    Some(format!(
        "; {switch} was at first, and took {times} of its time when measured again ({interval})"
    ))
}

fn table(tried: &PlanTournament) -> ReportTable {
    let mut table = ReportTable::new(vec![
        TextColumn::label("Switch"),
        TextColumn::figure("Ratio to\nchoice"),
        TextColumn::figure("Interval"),
        TextColumn::figure("Mean"),
        TextColumn::text("Rows"),
        TextColumn::text("Plan shape").optional(),
    ]);
    for (at, entry) in tried.entries.iter().enumerate() {
        let ink = if tried.best == Some(at) { TextRole::Bold } else { TextRole::Plain };
        let cells = entry_cells(entry).map(|text| TextCell::new(text, ink));
        table.row(cells.into());
    }
    table
}

fn entry_cells(entry: &TournamentEntry) -> [String; 6] {
    let switch = match entry.switch.is_empty() {
        true => CHOICE.to_owned(),
        false => one_line(&entry.switch),
    };
    let shape = entry.plan.as_ref().map_or_else(String::new, |plan| one_line(&plan.shape));
    let is_choice = entry.switch.is_empty();
    let rows = match &entry.failure {
        Some(why) => fit(&one_line(why), FAILURE_COLUMNS),
        None if is_choice => String::new(),
        None => outcome_words(entry.rows).to_owned(),
    };
    // Each way was measured at a time of its own, beside the choice: by their means two of them
    // cannot be compared. Without another way there is nothing that the choice was measured beside.
    let is_shown = is_choice && entry.mean_us > 0.0;
    let mean = if is_shown { us(entry.mean_us) } else { NONE.to_owned() };
    let [by, interval] = [if_any(entry.ratio, |of| ratio(of.ratio)), if_any(entry.ratio, ends)];
    [switch, by, interval, mean, rows, shape]
}
