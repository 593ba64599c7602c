//! The sentences on a sweep, for the terminal and the page alike.

use crate::format::{clean, count, counted};
use crate::story;
use dbtime_model::record::{
    CheckOutcome, FailedRun, Sweep, SweepRecord, SweepRun, combination_text,
};

/// What was swept against what: `atm on sqlite 3.50.4, 12 runs over workers, scale`.
pub(crate) fn headline(sweep: &Sweep) -> String {
    let record = &sweep.record;
    let first = sweep.runs.first();
    let what = first.map_or("a sweep".to_owned(), |(_, run)| story::headline(run));
    let runs = counted(record.runs.len() as u64, "run");
    match record.factors.is_empty() {
        true => format!("{what}, {runs}"),
        false => format!("{what}, {runs} over {}", clean(&record.factors.join(", "))),
    }
}

/// The values of its factors.
pub(crate) fn combination(run: &SweepRun) -> String {
    clean(&combination_text(&run.factors))
}

/// What did not end well of a run.
pub(crate) fn lost(run: &SweepRun) -> u64 {
    let counts = run.counts;
    let lost = [counts.failed, counts.dropped, counts.unfinished];
    lost.into_iter().fold(0, u64::saturating_add)
}

/// Which runs missed a limit, and which limit: a sentence each.
pub(crate) fn missed(runs: &[SweepRun]) -> Vec<String> {
    let is_missed = |run: &&SweepRun| run.limits.is_some_and(|how| how != CheckOutcome::Passed);
    let sentence = |run: &SweepRun| {
        let how = run.limits.map_or("", crate::facts::verdict);
        let limits = clean(&run.missed.join("; "));
        format!("{how}: run {} ({}) missed {limits}", clean(&run.folder), combination(run))
    };
    runs.iter().filter(is_missed).map(sentence).collect()
}

/// Which runs could not be made, and why: a sentence each.
pub(crate) fn failed(sweep: &SweepRecord) -> Vec<String> {
    let sentence = |run: &FailedRun| {
        let combination = clean(&combination_text(&run.factors));
        format!("FAILED: run {:03} ({combination}): {}", run.number, clean(&run.reason))
    };
    sweep.failed.iter().map(sentence).collect()
}

/// How many runs were made of a sweep that was ended.
pub(crate) fn ended_early(record: &SweepRecord) -> Option<String> {
    let (made, planned) = (count(record.runs.len() as u64), count(record.planned));
    (!record.complete).then(|| format!("ended early: {made} of {planned} planned runs were made"))
}

/// What there is less of than was planned.
pub(crate) fn incomplete(sweep: &Sweep) -> Vec<String> {
    let mut sentences: Vec<String> = ended_early(&sweep.record).into_iter().collect();
    if !sweep.missing.is_empty() {
        let missing = clean(&sweep.missing.join(", "));
        sentences.push(format!("records that are not there any more: {missing}"));
    }
    sentences
}
