//! What a join adds to the record of a run.

use super::both_files::JoinedFiles;
use super::recorded_sides::RecordedSides;
use crate::judge::judge;
use crate::kept_transactions;
use crate::observers::RunJoinEnd;
use crate::run_trace::{TracedTables, unmatched, without_parts};
use crate::server_layers::server_layers;
use crate::summary::{buckets, budget_us};
use dbtime_model::driven_file::DrivenNames;
use dbtime_model::record::{
    BudgetLockHolder, BudgetMethod, CountsInfo, JoinedRecording, Run, RunRecord, TraceInfo,
    Warning, WarningKind, file,
};
use dbtime_model::traced_file::RecordingEnd;
use dbtime_model::units::{count, noun_for};
use dbtime_model::{Budget, MonoNanos, Nanos, Recorder};

/// Puts the parts that were traced in the place of the driver's alone, as in the record of a run
/// that was traced itself. `gap`: where the recording does not cover the run.
pub(super) fn apply(
    run: &mut Run,
    joined: JoinedFiles,
    sides: &RecordedSides,
    gap: Option<String>,
    recording: JoinedRecording,
) {
    let JoinedFiles { end, recorded, warning } = joined;
    let RunJoinEnd { recorder, tables, counts, client_runq_us, warnings } = end;
    let names = &sides.end.names;
    let record = &mut run.record;
    if let Some(traced) = recorder {
        let (operations, count) = (names.operations.len(), names.statements.len());
        let mut parts: Recorder<u64> = Recorder::new(traced.window(), operations, count, 0);
        parts.replace_parts(traced);
        budgets(record, &parts, names);
        let start = MonoNanos(sides.driven.start_ns);
        run.transactions = kept_transactions::transactions(&parts, start, names);
    }
    let tables = if recorded.lacks_parts { TracedTables::default() } else { tables };
    let TracedTables { lock_holders, lock_chains, cpu_holders, file_waits, .. } = tables;
    record.lock_holders = lock_holders;
    (record.lock_chains, record.cpu_holders) = (lock_chains, cpu_holders);
    record.file_waits = file_waits;
    // What a device of another host has served is not known.
    record.layers = server_layers(record, run.counters.as_ref(), None);
    let end = recorded.end.as_ref();
    record.trace = Some(TraceInfo {
        join: counts,
        client_runq_us,
        ledger: end.map(|end| end.ledger),
        cost: end.and_then(|end| end.cost),
        stacks: None,
        length: end.map_or(Nanos::ZERO, |end| end.length),
        lock_names: lock_names(&record.lock_holders),
        notes: notes(recorded.file_end, gap.as_deref(), &recording),
        before: None,
        recording: Some(recording),
    });
    let is_kept = |kind| !is_of_parts(kind);
    let kept = std::mem::take(&mut record.validity.warnings).into_iter();
    let kept = kept.filter(|warning| is_kept(warning.kind));
    let unsplit = recorded.lacks_parts.then(|| {
        without_parts(
            "the recording has no parts: its kernel did not report those of responses".to_owned(),
        )
    });
    let incomplete = unmatched(&counts).map(|found| with_gap(found, gap));
    let lacking = lacking(sides.end.window_transactions, &record.counts);
    record.validity.warnings = kept
        .chain(unsplit)
        .chain(incomplete)
        .chain(lacking)
        .chain(warnings)
        .chain(warning)
        .collect();
    record.validity = judge(record);
}

/// Whether names of locks were measured: they were where a lock has one. A recording does not say
/// so itself, and of one without such a lock it is not known.
fn lock_names(holders: &[BudgetLockHolder]) -> Option<bool> {
    holders.iter().any(|holder| holder.lock.is_some()).then_some(true)
}

fn budgets(record: &mut RunRecord, parts: &Recorder<u64>, names: &DrivenNames) {
    let mut all = Budget::default();
    for (summary, recorded) in record.operations.iter_mut().zip(&parts.operations) {
        let total = recorded.cells.total();
        all.merge(&total);
        (summary.budget_us, summary.budget_error) = budget_us(&total);
        summary.budget_buckets = buckets(recorded);
    }
    // The record has those that were executed, in the order of all.
    let mut executed = record.statements.iter_mut().peekable();
    for (name, recorded) in names.statements.iter().zip(&parts.statements) {
        let operation = names.operations.get(usize::from(name.operation));
        let summary =
            executed.next_if(|one| one.name == name.name && Some(&one.operation) == operation);
        if let Some(summary) = summary {
            (summary.budget_us, summary.budget_error) = budget_us(&recorded.budget);
        }
    }
    (record.budget_us, record.budget_error) = budget_us(&all);
    let mean_all = record.budgeted_mean_us();
    if let Some(info) = &mut record.budget {
        let mean = all.response_ns as f64 / 1e3 / all.count.max(1) as f64;
        let known = mean_all.filter(|all_us| all.count > 0 && *all_us > 0.0);
        info.sampled = all.count;
        info.method = BudgetMethod::Traced;
        info.mean_off_pct = known.map(|all_us| 100.0 * (mean / all_us - 1.0));
        info.cost = None;
        info.partly_measured = all.partly_measured().iter().collect();
        info.twice_us = (all.count > 0).then(|| all.mean_twice_us());
    }
}

fn notes(
    file_end: Option<RecordingEnd>,
    gap: Option<&str>,
    recording: &JoinedRecording,
) -> Vec<String> {
    let mut notes = Vec::new();
    match file_end {
        Some(end) if end.is_early() => {
            let gap = gap.map_or(String::new(), |gap| format!(" ({gap})"));
            notes.push(format!("the recording was cut short{gap}: its loss is unknown"));
        }
        Some(RecordingEnd::Continued(bytes)) => {
            let noun = noun_for(bytes, "byte");
            notes.push(format!("{bytes} {noun} after the end of the recording, not read"));
        }
        _ => {}
    }
    if !recording.is_same_clock {
        let text = "the server's instants are mapped from another clock, to ±";
        let uncertainty = Nanos((recording.uncertainty_us * 1e3) as u64);
        notes.push(format!("{text}{uncertainty}"));
    }
    notes
}

/// Statements without a request, and why the recording has none of some.
fn with_gap(found: Warning, gap: Option<String>) -> Warning {
    let Some(gap) = gap else { return found };
    Warning {
        text: format!("{}: of the recording, {gap}", found.text),
        remedy: "begin the recording before the run, and end it after it".to_owned(),
        ..found
    }
}

/// The driver's file has fewer transactions of the window than ended in it: it is not whole, or
/// another run's.
fn lacking(has: u64, counts: &CountsInfo) -> Option<Warning> {
    let ended = counts.completed + counts.failed;
    (has < ended).then(|| Warning {
        kind: WarningKind::StatementsLost,
        text: format!(
            "{} has {} of the {} transactions of the window: the others are in no part",
            file::DRIVEN,
            count(has),
            count(ended)
        ),
        remedy: "it is damaged, or another run's: restore it from a copy, or repeat the run"
            .to_owned(),
    })
}

/// Whether a warning is of parts, or of any kind that is judged anew: all but those of the run's
/// surroundings, which the record does not have.
fn is_of_parts(kind: WarningKind) -> bool {
    !matches!(kind, WarningKind::Ports | WarningKind::Target | WarningKind::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_locks_were_measured_where_a_lock_has_one() {
        let of = |lock: Option<&str>| BudgetLockHolder {
            lock: lock.map(str::to_owned),
            ..BudgetLockHolder::default()
        };
        assert_eq!(lock_names(&[of(None), of(Some("row lock"))]), Some(true));
        assert_eq!((lock_names(&[of(None)]), lock_names(&[])), (None, None));
    }
}
