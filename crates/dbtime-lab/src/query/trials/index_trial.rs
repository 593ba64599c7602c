//! An index, or another change of a copy: the statement with the same keys without it, with it, and
//! without it again, because both cannot be had at once.

use super::write_price::WriteScript;
use super::{TrialScene, TriedProposal, gain};
use crate::query::copy::{IndexCost, build_index};
use crate::query::pairs::measure_form;
use crate::query::samples::{FormSamples, PairSamples};
use crate::query::session::{QuerySession, SessionForm};
use dbtime_engines::server::StatementAnswer;
use dbtime_model::query::{AdviceTrial, FormComparison, RatioInterval, RowsOutcome};

/// What is measured with a change, and without it.
struct ChangeSamples {
    form: FormSamples,
    writes: Option<FormSamples>,
}

/// Tries a change of the copy, and takes it back. With a `table` it is an index of that.
pub(super) fn try_index(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    table: Option<&String>,
    [build, undo]: [&[String]; 2],
    scene: &TrialScene<'_>,
) -> TriedProposal {
    let writes = table.and_then(|table| WriteScript::of(session, table));
    let Some(before) = samples(session, form, writes.as_ref(), scene) else {
        return TriedProposal::NoGain;
    };
    let built = changed(session, table, build);
    let with = match built.is_ok() {
        true => samples(session, form, writes.as_ref(), scene),
        false => None,
    };
    for sql in undo {
        if !session.connection.is_given_up() {
            // What was not built cannot be undone.
            let _ = session.connection.run_text(sql, &mut ());
        }
    }
    let (Ok(cost), Some(with)) = (built, with) else { return TriedProposal::NoGain };
    let Some(after) = samples(session, form, writes.as_ref(), scene) else {
        return TriedProposal::NoGain;
    };
    let margin = scene.request.margin;
    let write_ratio = write_ratio(&after, &with, margin);
    let comparison = least_gain([before.form, after.form], &with.form, margin);
    match gain(session, comparison, None) {
        TriedProposal::Gain(trial) => TriedProposal::Gain(AdviceTrial {
            // An index changes no rows.
            rows: RowsOutcome::Identical,
            bytes: cost.as_ref().and_then(|cost| cost.bytes),
            build_s: cost.map(|cost| cost.build_s),
            write_ratio,
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

/// The form, prepared anew because its plan is another one, and writes into the table.
fn samples(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    writes: Option<&WriteScript>,
    scene: &TrialScene<'_>,
) -> Option<ChangeSamples> {
    let prepared = session.prepare(&form.text).ok()?;
    let form = measure_form(session, &prepared, &scene.pair_plan());
    session.forget(prepared);
    let writes = writes.map(|script| script.measure(session));
    Some(ChangeSamples { form, writes })
}

/// Of the comparisons with the measurements before and behind, the one with the smaller gain: what
/// the machine, or statistics that were made meanwhile, did by themselves is in one of them alone.
fn least_gain(
    without: [FormSamples; 2],
    with: &FormSamples,
    margin: f64,
) -> Option<FormComparison> {
    let [before, after] =
        without.map(|side| PairSamples::by_key(side, with.clone()).comparison(margin));
    let (before, after) = (before?, after?);
    Some(if before.ratio.ratio > after.ratio.ratio { before } else { after })
}

/// What writes take with the index by what they take without.
fn write_ratio(
    without: &ChangeSamples,
    with: &ChangeSamples,
    margin: f64,
) -> Option<RatioInterval> {
    let sides = (without.writes.clone()?, with.writes.clone()?);
    let comparison = PairSamples::by_key(sides.0, sides.1).comparison(margin);
    comparison.map(|found| found.ratio)
}
