//! Advice that was tried: what rules propose is executed beside the statement, its rows are
//! compared, and what it gains is measured. Nothing else is advice.

mod hypothetical_index;
mod index_trial;
mod write_price;

use super::advice::{
    AdviceProposal, AdviceScene, ProposedTrial, TableFacts, proposals, table_facts,
};
use super::copy::tables_of;
use super::form_text::{FormText, PlanSwitch};
use super::keys::QueryKeys;
use super::pairs::{PairPlan, measure_pairs};
use super::progress::QueryProgress;
use super::request::{FormSource, QueryRequest};
use super::rows_check::{RowsPlan, check_rows};
use super::session::{QuerySession, SessionForm};
use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::now;
use dbtime_model::Nanos;
use dbtime_model::query::{
    AdviceTrial, EvidenceLevel, FormComparison, FormVerdict, QueryAdvice, QueryRecord, RowsCheck,
};
use dbtime_model::units::counted;
use hypothetical_index::{HYPOPG, imagine_index};
use index_trial::try_index;

/// Proposals that are tried, at most: those about most of the plan.
const MOST_TRIALS: usize = 12;

/// Untried proposals that a note names, at most.
const MOST_BELIEVED: usize = 3;

/// Keys for which a trial's rows are compared, with those at the edges.
const ROW_KEYS: u64 = 50;

/// What trials are made with.
pub(super) struct TrialScene<'t> {
    pub(super) request: &'t QueryRequest,
    pub(super) keys: &'t QueryKeys,
    /// Whether the place is a copy, where indexes may be built.
    pub(super) is_copy: bool,
    pub(super) stop: &'t RunStop,
    pub(super) progress: &'t dyn Fn(QueryProgress),
}

/// What trying a proposal has come to.
pub(super) enum TriedProposal {
    /// It is faster, with the same rows.
    Gain(AdviceTrial),
    /// It is no advice: it is not faster, its rows differ, or it failed.
    NoGain,
    /// It cannot be tried here, and the planner would go by it: this is evidence.
    Believed(String),
    /// It cannot be tried here.
    Untried,
}

/// What makes the form faster, largest gain first. Notes say what could not be tried.
pub(super) fn advice(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    record: &mut QueryRecord,
    scene: &TrialScene<'_>,
) -> Vec<QueryAdvice> {
    let proposed = proposed(session, form, record, scene);
    let (mut tried, mut untried, mut useless) = (Vec::new(), Vec::new(), Vec::new());
    let count = proposed.len().min(MOST_TRIALS);
    for (place, mut proposal) in proposed.into_iter().enumerate() {
        let is_over = scene.stop.has_come(now()) || session.connection.is_given_up();
        let result = match place >= MOST_TRIALS || is_over || !scene.request.advises {
            true => TriedProposal::Untried,
            false => {
                let step = format!("trying {}", proposal.advice.rule);
                (scene.progress)(QueryProgress { step, done: place as u64, of: count as u64 });
                try_out(session, form, &proposal, scene)
            }
        };
        match result {
            TriedProposal::Gain(trial) => tried.push(QueryAdvice {
                level: EvidenceLevel::Verified,
                trial: Some(trial),
                ..proposal.advice
            }),
            TriedProposal::NoGain => useless.push(proposal.advice.rule),
            TriedProposal::Believed(evidence) => {
                proposal.advice.evidence.push(evidence);
                untried.push(proposal);
            }
            TriedProposal::Untried => untried.push(proposal),
        }
    }
    tried.sort_by(|one, other| ratio_of(one).total_cmp(&ratio_of(other)));
    record.notes.extend(useless_note(useless));
    record.notes.extend(untried_note(&untried, scene));
    if scene.request.lint {
        tried.extend(untried.into_iter().map(|proposal| proposal.advice));
    }
    tried
}

/// What the rules propose.
fn proposed(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    record: &QueryRecord,
    scene: &TrialScene<'_>,
) -> Vec<AdviceProposal> {
    let measured = record.forms.first();
    let plan = measured.and_then(|form| form.plan.as_ref());
    let names = plan.map(|plan| tables_of(session, &form.text, plan)).unwrap_or_default();
    // A table that cannot be looked at has no advice.
    let tables: Vec<TableFacts> =
        names.iter().filter_map(|name| table_facts(session, name).ok()).collect();
    let advice_scene = AdviceScene {
        form: &form.text,
        plan,
        counters: measured.map_or(&[], |form| &form.counters),
        product: session.product,
        version: session.version,
        tables: &tables,
        is_copy: scene.is_copy,
        is_raw: scene.request.is_raw,
    };
    proposals(&advice_scene)
}

fn try_out(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    proposal: &AdviceProposal,
    scene: &TrialScene<'_>,
) -> TriedProposal {
    match &proposal.trial {
        ProposedTrial::Rewrite(sql) => try_rewrite(session, form, sql, scene),
        ProposedTrial::Setting(switch) => try_setting(session, form, switch, scene),
        ProposedTrial::Index { table, sql, drop_sql, .. } if scene.is_copy => {
            let (build, undo) = ([sql.clone()], [drop_sql.clone()]);
            try_index(session, form, Some(table), [&build, &undo], scene)
        }
        ProposedTrial::Statements { run, undo } if scene.is_copy => {
            try_index(session, form, None, [run, undo], scene)
        }
        ProposedTrial::Index { sql, .. } => imagine_index(session, form, sql, scene),
        ProposedTrial::Statements { .. } | ProposedTrial::None => TriedProposal::Untried,
    }
}

/// Another form beside the statement.
fn try_rewrite(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    sql: &str,
    scene: &TrialScene<'_>,
) -> TriedProposal {
    let mut sources = scene.request.forms.clone();
    sources.push(FormSource { source: "a rewrite".to_owned(), sql: sql.to_owned() });
    let rules = session.place.lexical_rules();
    let texts = FormText::parse_all(&sources, session.product, &rules);
    // A rewrite that the server or dbtime cannot read is none.
    let Some(text) = texts.ok().and_then(|mut texts| texts.pop()) else {
        return TriedProposal::NoGain;
    };
    beside(session, form, &text, scene)
}

/// The same statement with something set for it.
fn try_setting(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    switch: &PlanSwitch,
    scene: &TrialScene<'_>,
) -> TriedProposal {
    let text = FormText { switch: Some(switch.clone()), ..form.text.clone() };
    beside(session, form, &text, scene)
}

/// Measures a form beside the statement, and compares their rows.
fn beside(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    text: &FormText,
    scene: &TrialScene<'_>,
) -> TriedProposal {
    let Ok(prepared) = session.prepare(text) else { return TriedProposal::NoGain };
    let plan = RowsPlan::new(scene.keys, ROW_KEYS, scene.stop, scene.progress);
    let rows = check_rows(session, [form, &prepared], &plan);
    let comparison = match rows.outcome.is_same() {
        Some(true) if rows.refusal.is_none() => {
            let samples = measure_pairs(session, [form, &prepared], &scene.pair_plan());
            samples.comparison(scene.request.margin)
        }
        _ => None,
    };
    session.forget(prepared);
    gain(session, comparison, Some(&rows))
}

/// What a comparison with the same rows comes to. A gain within the margin is none.
fn gain(
    session: &QuerySession<'_>,
    comparison: Option<FormComparison>,
    rows: Option<&RowsCheck>,
) -> TriedProposal {
    let Some(found) = comparison.filter(is_gain) else { return TriedProposal::NoGain };
    let place = match session.place.copy_of() {
        Some(original) => format!("on a copy of {original}"),
        None => "on the target".to_owned(),
    };
    TriedProposal::Gain(AdviceTrial {
        place,
        ratio: found.ratio,
        pairs: found.pairs,
        rows: rows.map(|rows| rows.outcome).unwrap_or_default(),
        rows_keys: rows.map_or(0, |rows| rows.keys),
        ..AdviceTrial::default()
    })
}

/// Whether the form is shown to be faster, and by the smallest change of interest at least.
fn is_gain(found: &FormComparison) -> bool {
    found.verdict == FormVerdict::Faster && found.ratio.ratio <= 1.0 - found.margin
}

impl TrialScene<'_> {
    fn pair_plan(&self) -> PairPlan<'_> {
        PairPlan {
            keys: self.keys,
            first_key: 0,
            seed: self.request.seed,
            time: Nanos(self.request.budget.0 / 4),
            fewest: 20,
            most: 5_000,
            stop: self.stop,
            progress: self.progress,
        }
    }
}

/// The statement's time with advice by that without.
fn ratio_of(advice: &QueryAdvice) -> f64 {
    advice.trial.as_ref().map_or(f64::INFINITY, |trial| trial.ratio.ratio)
}

/// That proposals were tried and are no advice: of which rules.
fn useless_note(mut rules: Vec<String>) -> Option<String> {
    let tried = counted(rules.len() as u64, "proposal");
    rules.sort();
    rules.dedup();
    let note = || format!("{tried} showed no gain with the same rows: {}", rules.join(", "));
    (!rules.is_empty()).then(note)
}

/// That there are proposals which were not tried.
fn untried_note(untried: &[AdviceProposal], scene: &TrialScene<'_>) -> Option<String> {
    let needs_copy = |proposal: &&AdviceProposal| {
        matches!(proposal.trial, ProposedTrial::Index { .. } | ProposedTrial::Statements { .. })
    };
    let waiting = untried.iter().filter(needs_copy).count();
    let has_use = waiting > 0 && !scene.is_copy && scene.request.advises;
    let list = if scene.request.lint { "" } else { "; --lint lists them untried" };
    has_use.then(|| {
        format!(
            "{} can be tried only on a copy: --on-copy makes one, and measures gain and \
             cost{list}{}",
            match waiting {
                1 => "1 proposal, such as an index,".to_owned(),
                _ => format!("{waiting} proposals, such as indexes,"),
            },
            believed(untried)
        )
    })
}

/// The first proposals of which the planner tells what it would make.
fn believed(untried: &[AdviceProposal]) -> String {
    let line = |proposal: &AdviceProposal| {
        let QueryAdvice { evidence, proposal, .. } = &proposal.advice;
        let line = evidence.iter().find(|line| line.starts_with(HYPOPG))?;
        Some(format!("; {} ({line})", proposal.first()?))
    };
    untried.iter().filter_map(line).take(MOST_BELIEVED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::query::RatioInterval;

    #[test]
    fn what_was_tried_in_vain_is_named_once() {
        let note = |rules: &[&str]| useless_note(rules.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(note(&[]), None);
        let one = "1 proposal showed no gain with the same rows: union-all";
        assert_eq!(note(&["union-all"]).as_deref(), Some(one));
        let three = "3 proposals showed no gain with the same rows: missing-index, union-all";
        let rules = ["union-all", "missing-index", "union-all"];
        assert_eq!(note(&rules).as_deref(), Some(three));
    }

    #[test]
    fn a_gain_within_the_margin_is_none() {
        let of = |ratio, verdict| FormComparison {
            ratio: RatioInterval { ratio, low: ratio - 0.01, high: ratio + 0.005, level: 0.95 },
            verdict,
            margin: 0.02,
            ..FormComparison::default()
        };
        assert!(is_gain(&of(0.9, FormVerdict::Faster)));
        assert!(!is_gain(&of(0.99, FormVerdict::Faster)));
        assert!(!is_gain(&of(0.9, FormVerdict::Undecided)));
    }
}
