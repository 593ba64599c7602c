//! Whether two forms return the same rows for the same keys.
//!
//! Both see one state of the data, and no result is kept: what differs is found by executing
//! again. What is found holds for the keys that were tried; it proves no equivalence.

use super::key_finding::KeyFinding;
use super::key_rows::KeyComparer;
use super::keys::QueryKeys;
use super::progress::QueryProgress;
use super::session::{QuerySession, SessionForm};
use dbtime_engines::drive::plan::RunStop;
use dbtime_load::program::SqlValue;
use dbtime_model::query::{RowsCheck, RowsOutcome};
use dbtime_sql::StatementOutline;

/// How many notes are kept: messages may differ from key to key.
const MAX_NOTES: usize = 8;

/// What holds of forms that write.
const NO_SNAPSHOT: &str = "there is no snapshot, because each execution is rolled back: what other \
     sessions change meanwhile may make rows differ";
/// Why keys are missing that there was no failure of.
const ENDED: &str = "the command was ended before all keys were compared";

/// With which keys rows are compared.
pub(crate) struct RowsPlan<'p> {
    /// Those that were drawn, then those at the edges.
    pub(crate) keys: Vec<Vec<SqlValue>>,
    /// How many of the last are at the edges.
    pub(crate) edges: usize,
    /// What ends it early.
    pub(crate) stop: &'p RunStop,
    pub(crate) progress: &'p dyn Fn(QueryProgress),
}

impl<'p> RowsPlan<'p> {
    /// With the first keys that are drawn, so many, and those at the edges. Without parameters
    /// there is one key, and every execution returns the same.
    pub(crate) fn new(
        keys: &QueryKeys,
        most: u64,
        stop: &'p RunStop,
        progress: &'p dyn Fn(QueryProgress),
    ) -> Self {
        let drawn = if keys.parameters().is_empty() { 1 } else { most };
        let edges = keys.edges();
        let count = edges.len();
        let keys = (0..drawn).map(|index| keys.draw(index)).chain(edges).collect();
        Self { keys, edges: count, stop, progress }
    }
}

/// Compares the rows of A and B for each key of the plan. Ends early, with what was compared, once
/// the stop is set.
pub(crate) fn check_rows(
    session: &mut QuerySession<'_>,
    forms: [&SessionForm; 2],
    plan: &RowsPlan<'_>,
) -> RowsCheck {
    let rules = &session.place.lexical_rules();
    let outlines = forms.map(|form| StatementOutline::of(&form.text.native, rules));
    let names = forms.map(|form| form.text.name.as_str());
    let mut check = RowsCheck { notes: notes(names, &outlines), ..RowsCheck::default() };
    check.refusal = refusal(session.commits, forms, &outlines);
    if check.refusal.is_some() {
        return check;
    }
    let mut comparer = KeyComparer::new(session, forms, &outlines[0], rules);
    match comparer.open() {
        Ok(view) => check.snapshot = view,
        Err(failure) => {
            let message = comparer.message(&failure);
            check.refusal = Some(no_snapshot(&message, plan.stop));
            return check;
        }
    }
    compare_keys(&mut comparer, plan, &mut check);
    check.notes.extend(comparer.renamed());
    comparer.close();
    if check.snapshot.is_empty() {
        check.notes.push(NO_SNAPSHOT.to_owned());
    }
    check
}

/// Why there is no snapshot: the database says `message`, or was not waited for any more.
fn no_snapshot(message: &str, stop: &RunStop) -> String {
    match stop.is_set() {
        true => ENDED.to_owned(),
        false => format!("no state of the data can be held: {message}"),
    }
}

/// Compares the rows for each key, and adds what is found.
fn compare_keys(comparer: &mut KeyComparer<'_, '_>, plan: &RowsPlan<'_>, check: &mut RowsCheck) {
    let RowsPlan { keys, edges, stop, progress } = plan;
    let first_edge = keys.len().saturating_sub(*edges);
    let mut worst: Option<RowsOutcome> = None;
    for (index, key) in keys.iter().enumerate() {
        if stop.is_set() {
            check.refusal.get_or_insert_with(|| ENDED.to_owned());
        }
        if stop.is_set() || comparer.is_lost() {
            break;
        }
        let (done, of) = (index as u64, keys.len() as u64);
        progress(QueryProgress { step: "comparing rows".to_owned(), done, of });
        let finding = comparer.compare(key);
        // What was given up when everything was to end says nothing of the forms.
        if stop.is_set() && finding.refusal.is_some() {
            check.refusal.get_or_insert_with(|| ENDED.to_owned());
            break;
        }
        worst = worst.max(finding.outcome);
        add(check, finding, index >= first_edge);
    }
    check.outcome = worst.unwrap_or_default();
}

/// Adds what was found for a key.
fn add(check: &mut RowsCheck, finding: KeyFinding, is_edge: bool) {
    let has_room = check.notes.len() < MAX_NOTES;
    let note = finding.note.filter(|note| has_room && !check.notes.contains(note));
    check.notes.extend(note);
    check.refusal = check.refusal.take().or(finding.refusal);
    let Some(outcome) = finding.outcome.filter(|outcome| *outcome != RowsOutcome::Unchecked) else {
        return;
    };
    check.keys += 1;
    check.edge_keys += u64::from(is_edge);
    check.empty_keys += u64::from(finding.rows == 0);
    check.rows += finding.rows;
    if outcome.is_same() == Some(false) {
        check.differing_keys += 1;
        check.difference = check.difference.take().or(finding.difference);
    }
}

/// Why the rows of these forms cannot be compared at all.
fn refusal(
    commits: bool,
    forms: [&SessionForm; 2],
    outlines: &[StatementOutline; 2],
) -> Option<String> {
    let of_form = |(form, outline): (&SessionForm, &StatementOutline)| {
        let name = &form.text.name;
        if !outline.unstable.is_empty() {
            let unstable = outline.unstable.join(", ");
            return Some(format!("{name} has what differs at each execution: {unstable}"));
        }
        if let Some(reason) = &outline.irrevocable {
            return Some(format!("{name} cannot be executed time and again: {reason}"));
        }
        (commits && form.text.writes).then(|| {
            format!("{name} writes, and would find what it has written; leave out --commit")
        })
    };
    forms.into_iter().zip(outlines).find_map(of_form)
}

/// What should be known of the forms, whatever their rows are.
fn notes(names: [&str; 2], outlines: &[StatementOutline; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, outline) in names.into_iter().zip(outlines) {
        if outline.not_in_subquery {
            notes.push(format!(
                "{name} has NOT IN of a subquery, which is true of no row once that returns a \
                 NULL: forms without it are the same only where its column is NOT NULL"
            ));
        }
        if outline.locks {
            notes.push(format!(
                "{name} locks rows until all keys are compared, and MySQL reads locked rows as \
                 they are by then, outside of the snapshot"
            ));
        }
        if outline.has_limit && outline.order_by.is_none() {
            notes.push(format!(
                "{name} has LIMIT without ORDER BY: which rows it returns is not determined"
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
