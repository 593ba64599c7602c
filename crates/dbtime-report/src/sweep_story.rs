//! The sentences on a sweep, for the terminal and the page alike.

use crate::format::{clean, count, counted, percent, rate};
use crate::story;
use dbtime_model::record::{
    CheckOutcome, FailedRun, FoundRate, Sweep, SweepRecord, SweepRun, combination_text,
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

/// What a search for a rate found: the answer, and how sure it is.
pub(crate) fn found(found: &FoundRate) -> (String, Vec<(&'static str, String)>) {
    let limit = clean(&found.limit);
    let tps = |tps: f64| format!("{}/s", rate(tps));
    let share = |tps: f64| percent(100.0 * tps / found.flat_out_tps.max(f64::MIN_POSITIVE));
    let mut facts = Vec::new();
    let answer = match (found.rate_tps, &found.unknown, found.above_tps) {
        (Some(highest), ..) => {
            facts.push(("confirmed", format!("by {} of {0} fresh runs", found.confirmed)));
            format!("highest rate with {limit}: {}", tps(highest))
        }
        (None, Some(why), _) => {
            format!("highest rate with {limit}: not known, for {}", clean(why))
        }
        (None, None, Some(lowest)) => format!("no rate has {limit}: {} misses it", tps(lowest)),
        (None, None, None) => format!("highest rate with {limit}: not known"),
    };
    if let (Some(above), Some(_)) = (found.above_tps, found.rate_tps) {
        let how = match found.is_above_unjudged {
            true => "could not be judged, for the driver itself was late",
            false => "misses it",
        };
        facts.push(("above it", format!("{} {how}", tps(above))));
    }
    let of_it =
        found.rate_tps.map_or(String::new(), |rate| format!("; it is {} of that", share(rate)));
    let flat_out = tps(found.flat_out_tps);
    facts.push(("flat out", format!("{flat_out} are carried, whatever the response{of_it}")));
    (answer, facts)
}

/// The values of its factors.
pub(crate) fn combination(run: &SweepRun) -> String {
    clean(&combination_text(&run.factors))
}

/// Which runs met not every limit, and which they missed: a sentence each. A search is made of such
/// runs.
pub(crate) fn missed(sweep: &SweepRecord) -> Vec<String> {
    if sweep.found.is_some() {
        return Vec::new();
    }
    let is_missed = |run: &&SweepRun| run.limits.is_some_and(|how| how != CheckOutcome::Passed);
    let sentence = |run: &SweepRun| {
        let how = run.limits.map_or("", crate::facts::verdict);
        let what = match run.missed.is_empty() {
            // What was met so far is open in these.
            true => "was ended early, or did not serve all clients".to_owned(),
            false => format!("missed {}", clean(&run.missed.join("; "))),
        };
        format!("{how}: run {} ({}) {what}", clean(&run.folder), combination(run))
    };
    sweep.runs.iter().filter(is_missed).map(sentence).collect()
}

/// Which runs could not be made, and why: a sentence each.
pub(crate) fn failed(sweep: &SweepRecord) -> Vec<String> {
    let sentence = |run: &FailedRun| {
        let combination = clean(&combination_text(&run.factors));
        format!("FAILED: run {:03} ({combination}): {}", run.number, clean(&run.reason))
    };
    sweep.failed.iter().map(sentence).collect()
}

/// How many runs were made of a sweep that was ended. Of a search nobody knows before how many it
/// takes.
pub(crate) fn ended_early(record: &SweepRecord) -> Option<String> {
    let (made, planned) = (count(record.runs.len() as u64), count(record.planned));
    (!record.complete).then(|| match record.planned {
        0 => format!(
            "the search was ended early, after {}",
            counted(record.runs.len() as u64, "run")
        ),
        _ => format!("ended early: {made} of {planned} planned runs were made"),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_search_nobody_knows_how_many_runs_it_takes() {
        let record = SweepRecord { runs: vec![SweepRun::default()], ..SweepRecord::default() };
        let text = ended_early(&record).expect("it was ended");
        assert_eq!(text, "the search was ended early, after 1 run");
        let text = ended_early(&SweepRecord { planned: 3, ..record }).expect("it was ended");
        assert_eq!(text, "ended early: 1 of 3 planned runs were made");
    }
}
