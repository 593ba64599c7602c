//! An index, or another change of a copy: the statement with the same keys without it, with it, and
//! without it again, because both cannot be had at once.

use super::{TrialScene, TriedProposal, gain};
use crate::query::copy::{IndexCost, build_index};
use crate::query::pairs::measure_form;
use crate::query::samples::{FormSamples, PairSamples};
use crate::query::session::{QuerySession, SessionForm};
use dbtime_engines::server::StatementAnswer;
use dbtime_model::query::{AdviceTrial, FormVerdict, RowsOutcome};

/// Tries a change of the copy, and takes it back.
pub(super) fn try_index(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    table: Option<&String>,
    [build, undo]: [&[String]; 2],
    scene: &TrialScene<'_>,
) -> TriedProposal {
    let plan = scene.pair_plan();
    let before = measure_form(session, form, &plan);
    let built = changed(session, table, build);
    let with = match built.is_ok() {
        true => again(session, form, scene),
        false => None,
    };
    for sql in undo {
        if !session.connection.is_given_up() {
            // What was not built cannot be undone.
            let _ = session.connection.run_text(sql, &mut ());
        }
    }
    let (Ok(cost), Some(with)) = (built, with) else { return TriedProposal::NoGain };
    let Some(after) = again(session, form, scene) else { return TriedProposal::NoGain };
    let margin = scene.request.margin;
    // What is faster than before must be faster than behind it, too: else the machine was.
    let is_real = PairSamples::by_key(after, with.clone())
        .comparison(margin)
        .is_some_and(|found| found.verdict == FormVerdict::Faster);
    let comparison = PairSamples::by_key(before, with).comparison(margin).filter(|_| is_real);
    match gain(session, comparison, None) {
        TriedProposal::Gain(trial) => TriedProposal::Gain(AdviceTrial {
            // An index changes no rows.
            rows: RowsOutcome::Identical,
            bytes: cost.as_ref().and_then(|cost| cost.bytes),
            build_s: cost.map(|cost| cost.build_s),
            ..trial
        }),
        other => other,
    }
}

/// Makes the change; of an index, what it costs.
fn changed(
    session: &mut QuerySession<'_>,
    table: Option<&String>,
    build: &[String],
) -> StatementAnswer<Option<IndexCost>> {
    let mut cost = None;
    for sql in build {
        match table {
            Some(table) => cost = Some(build_index(session, table, sql)?),
            None => {
                session.connection.run_text(sql, &mut ())?;
            }
        }
    }
    Ok(cost)
}

/// The form, prepared anew: its plan is another one.
fn again(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    scene: &TrialScene<'_>,
) -> Option<FormSamples> {
    let prepared = session.prepare(&form.text).ok()?;
    let samples = measure_form(session, &prepared, &scene.pair_plan());
    session.forget(prepared);
    Some(samples)
}
