//! A statement under the planner's switches: each way of execution that it did not choose, measured
//! beside its choice.

mod candidates;
mod switches;

use super::form_text::FormText;
use super::keys::QueryKeys;
use super::pairs::{PairPlan, measure_pairs};
use super::plans::{PlanDepth, plan_of};
use super::progress::QueryProgress;
use super::rows_check::{RowsPlan, check_rows};
use super::session::{QuerySession, SessionForm};
use candidates::PlanCandidate;
use dbtime_engines::drive::plan::RunStop;
use dbtime_load::program::SqlValue;
use dbtime_machine::now;
use dbtime_model::Nanos;
use dbtime_model::query::{
    FormVerdict, PlanNode, PlanTournament, RowsOutcome, StatementPlan, TournamentEntry,
};
use dbtime_model::units::counted;

/// Ways that are measured, at most; plans are looked at for all switches.
const MOST_ENTRIES: usize = 8;

/// Keys for which each way's rows are compared with those of the choice.
const ROW_KEYS: u64 = 20;

/// Keys of a confirmation begin here: none of them was drawn before.
const OTHER_KEYS: u64 = 1 << 32;

/// An estimate that is off by less changes no plan worth speaking of.
const LARGE_ERROR: f64 = 10.0;

/// Why ways of one statement return different rows.
const OPEN_ROWS: &str = "the statement leaves open which rows it returns, as a LIMIT over equal \
     values does: they differ between plans";

/// That rows differ between the ways; `None`: they do not.
pub(super) fn open_rows(tournament: &PlanTournament) -> Option<&'static str> {
    let differs = |entry: &TournamentEntry| entry.rows.is_same() == Some(false);
    tournament.entries.iter().any(differs).then_some(OPEN_ROWS)
}

/// What a tournament is held with.
pub(super) struct TournamentScene<'t> {
    pub(super) keys: &'t QueryKeys,
    pub(super) seed: u64,
    /// How long each way is measured.
    pub(super) time: Nanos,
    pub(super) margin: f64,
    pub(super) is_raw: bool,
    pub(super) stop: &'t RunStop,
    pub(super) progress: &'t dyn Fn(QueryProgress),
}

/// Tries the planner's switches on a form whose plan is `choice`.
pub(super) fn hold(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    choice: &StatementPlan,
    scene: &TournamentScene<'_>,
) -> PlanTournament {
    let mut tournament = PlanTournament::default();
    let ways = other_ways(session, form, choice, scene, &mut tournament.left_out);
    let mut entries = Vec::new();
    for (place, (way, plan)) in ways.iter().enumerate() {
        if scene.stop.has_come(now()) || session.connection.is_given_up() {
            tournament.left_out.push(format!("{}: there was no time for it", way.switch));
            continue;
        }
        let step = "measuring other plans".to_owned();
        (scene.progress)(QueryProgress { step, done: place as u64, of: ways.len() as u64 });
        entries.push(entry(session, form, way, plan, scene));
    }
    let choice_us = choice_mean(&entries);
    entries.sort_by(|(one, _), (other, _)| time_of(one).total_cmp(&time_of(other)));
    let best = entries.iter().position(|(entry, verdict)| is_winner(entry, *verdict));
    if let Some(best) = best {
        confirm(session, form, &ways, &mut entries[best].0, scene);
    }
    let is_confirmed = |at: &usize| {
        entries[*at].0.confirmation.is_some_and(|confirmation| confirmation.high < 1.0)
    };
    tournament.best = best.filter(is_confirmed).map(|at| at + 1);
    // What is off in a plan that no other one beats has misled nothing.
    tournament.misled_by = tournament.best.and_then(|_| misled_by(&choice.root));
    let first = TournamentEntry {
        plan: Some(choice.clone()),
        mean_us: choice_us.unwrap_or_default(),
        rows: RowsOutcome::Identical,
        ..TournamentEntry::default()
    };
    tournament.entries =
        std::iter::once(first).chain(entries.into_iter().map(|(entry, _)| entry)).collect();
    tournament
}

/// The ways with plans of their own, each under the first switch that leads to it.
fn other_ways(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    choice: &StatementPlan,
    scene: &TournamentScene<'_>,
    left_out: &mut Vec<String>,
) -> Vec<(PlanCandidate, StatementPlan)> {
    let key = scene.keys.draw(0);
    // The choice's shape by the same kind of plan: one of an execution has steps that an estimate
    // does not name.
    let own = plan_of(session, form, &key, PlanDepth::Estimated, scene.is_raw);
    let mut shapes = vec![own.map_or_else(|_| choice.shape.clone(), |plan| plan.shape)];
    let mut ways = Vec::new();
    let mut alike = 0;
    for way in candidates::of(session, &form.text, choice) {
        match plan_under(session, &way.form, &key, scene.is_raw) {
            Ok(plan) if shapes.contains(&plan.shape) => alike += 1,
            Ok(_) if ways.len() >= MOST_ENTRIES => {
                left_out.push(format!("{}: {MOST_ENTRIES} others are measured", way.switch));
            }
            Ok(plan) => {
                shapes.push(plan.shape.clone());
                ways.push((way, plan));
            }
            Err(why) => left_out.push(format!("{}: {why}", way.switch)),
        }
    }
    if alike > 0 {
        left_out.push(format!("{} led to no other plan", counted(alike, "switch")));
    }
    ways
}

/// The plan of a form, under its switch.
fn plan_under(
    session: &mut QuerySession<'_>,
    form: &FormText,
    key: &[SqlValue],
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let prepared = session.prepare(form).map_err(|failure| failure.message.clone())?;
    let plan = plan_of(session, &prepared, key, PlanDepth::Estimated, is_raw);
    session.forget(prepared);
    plan
}

/// One way beside the choice.
fn entry(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    way: &PlanCandidate,
    plan: &StatementPlan,
    scene: &TournamentScene<'_>,
) -> (TournamentEntry, FormVerdict) {
    let mut entry = TournamentEntry {
        switch: way.switch.clone(),
        plan: Some(plan.clone()),
        ..TournamentEntry::default()
    };
    let prepared = match session.prepare(&way.form) {
        Ok(prepared) => prepared,
        Err(failure) => {
            entry.failure = Some(failure.message.clone());
            return (entry, FormVerdict::Undecided);
        }
    };
    let samples = measure_pairs(session, [form, &prepared], &scene.pair_plan(0));
    let comparison = samples.comparison(scene.margin);
    let (own, other) = (samples.side(0), samples.side(1));
    entry.mean_us = other.times().map_or(0.0, |times| times.mean_us);
    entry.failure = other.failure.or(own.failure);
    let verdict = comparison.as_ref().map_or(FormVerdict::Undecided, |found| found.verdict);
    entry.pairs = comparison.as_ref().map_or(0, |found| found.pairs);
    entry.ratio = comparison.map(|found| found.ratio);
    let quiet = |_| {};
    let plan = RowsPlan::new(scene.keys, ROW_KEYS, scene.stop, &quiet);
    let rows = check_rows(session, [form, &prepared], &plan);
    entry.rows = rows.outcome;
    session.forget(prepared);
    (entry, verdict)
}

/// The best way once more, with keys that no other has seen.
fn confirm(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    ways: &[(PlanCandidate, StatementPlan)],
    best: &mut TournamentEntry,
    scene: &TournamentScene<'_>,
) {
    let Some((way, _)) = ways.iter().find(|(way, _)| way.switch == best.switch) else { return };
    let Ok(prepared) = session.prepare(&way.form) else { return };
    let samples = measure_pairs(session, [form, &prepared], &scene.pair_plan(OTHER_KEYS));
    best.confirmation = samples.comparison(scene.margin).map(|found| found.ratio);
    session.forget(prepared);
}

impl TournamentScene<'_> {
    fn pair_plan(&self, first_key: u64) -> PairPlan<'_> {
        PairPlan {
            keys: self.keys,
            first_key,
            seed: self.seed,
            time: self.time,
            fewest: 7,
            most: 5_000,
            stop: self.stop,
            progress: self.progress,
        }
    }
}

/// Whether a way is shown to be faster and did not fail. Its rows may differ from those of the
/// choice: both are rows of one and the same statement, whose order leaves open which of them its
/// LIMIT takes.
fn is_winner(entry: &TournamentEntry, verdict: FormVerdict) -> bool {
    verdict == FormVerdict::Faster && entry.failure.is_none()
}

/// What entries are ordered by: those without a ratio come last.
fn time_of(entry: &TournamentEntry) -> f64 {
    entry.ratio.map_or(f64::INFINITY, |ratio| ratio.ratio)
}

/// The mean of the choice, as the pairs of the entries have it.
fn choice_mean(entries: &[(TournamentEntry, FormVerdict)]) -> Option<f64> {
    let of = |entry: &TournamentEntry| {
        let ratio = entry.ratio?.ratio;
        (ratio > 0.0 && entry.mean_us > 0.0).then_some(entry.mean_us / ratio)
    };
    let means: Vec<f64> = entries.iter().filter_map(|(entry, _)| of(entry)).collect();
    (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
}

/// The estimate that is off most, in a sentence.
fn misled_by(root: &PlanNode) -> Option<String> {
    let off = |error: f64| if error >= 1.0 { error } else { 1.0 / error };
    let steps = root.steps();
    let with_error = steps.iter().filter_map(|step| Some((step, step.estimate_error()?)));
    let (step, error) = with_error.max_by(|one, other| off(one.1).total_cmp(&off(other.1)))?;
    if off(error) < LARGE_ERROR {
        return None;
    }
    let relation = step.relation.as_deref().map_or(String::new(), |name| format!(" of {name}"));
    let (expected, found) = (step.estimated_rows?, step.actual_rows?);
    Some(format!(
        "{}{relation}: the planner expected {expected:.0} rows and there were {found:.0}, {:.0} \
         times as {}",
        step.label,
        off(error),
        if error >= 1.0 { "many" } else { "few" }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_or_is_not_faster_wins_nothing() {
        let wins = |verdict, failure: Option<&str>| {
            let failure = failure.map(str::to_owned);
            is_winner(&TournamentEntry { failure, ..TournamentEntry::default() }, verdict)
        };
        assert!(wins(FormVerdict::Faster, None) && !wins(FormVerdict::Undecided, None));
        assert!(!wins(FormVerdict::Faster, Some("out of memory")));
    }

    #[test]
    fn the_estimate_that_is_off_most_is_named() {
        let step = |relation: &str, estimated, actual| PlanNode {
            label: "Seq Scan".to_owned(),
            relation: Some(relation.to_owned()),
            estimated_rows: Some(estimated),
            actual_rows: Some(actual),
            loops: Some(1.0),
            ..PlanNode::default()
        };
        let root = PlanNode {
            children: vec![step("a", 10.0, 150.0), step("b", 5_000.0, 2.0)],
            ..step("c", 1.0, 1.0)
        };
        let sentence = misled_by(&root).expect("one is off");
        assert!(
            sentence.starts_with("Seq Scan of b: the planner expected 5000 rows"),
            "{sentence}"
        );
        assert!(sentence.ends_with("2500 times as few"), "{sentence}");
        assert_eq!(misled_by(&step("a", 10.0, 50.0)), None);
    }
}
