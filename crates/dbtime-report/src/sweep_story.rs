//! The sentences on a sweep or a search, for the terminal and the page alike.

use crate::format::{clean, count, counted, percent, rate};
use crate::story;
use dbtime_model::record::{CheckOutcome, combination_text};
use dbtime_model::study::{FoundRate, MadeRun, RecordedStudy, RunOrder, StudyRun};

/// Up to this share of the flat-out rate a rate is the same.
const SAME_SHARE: f64 = 1.005;

/// A sweep or a search with the runs that it has made.
pub(crate) struct SweepStory<'a> {
    /// As it was read.
    pub(crate) study: &'a RecordedStudy,
    /// In the order of time.
    pub(crate) runs: Vec<MadeRun<'a>>,
}

impl<'a> SweepStory<'a> {
    pub(crate) fn of(study: &'a RecordedStudy) -> Self {
        Self { study, runs: study.made_runs() }
    }

    /// What was swept against what: `atm on sqlite 3.50.4, 12 runs over workers, scale`.
    pub(crate) fn headline(&self) -> String {
        let first = self.runs.first();
        let what = first.map_or("a sweep".to_owned(), |run| story::headline(run.record));
        let runs = counted(self.runs.len() as u64, "run");
        let mut factors: Vec<&str> = Vec::new();
        for factor in self.runs.iter().flat_map(|run| &run.factors) {
            if !factors.contains(&factor.name.as_str()) {
                factors.push(&factor.name);
            }
        }
        match factors.is_empty() {
            true => format!("{what}, {runs}"),
            false => format!("{what}, {runs} over {}", clean(&factors.join(", "))),
        }
    }

    /// Which runs could not be made, and why: a sentence each.
    fn failed(&self) -> impl Iterator<Item = String> {
        let sentence = move |run: &StudyRun| {
            let combination = clean(&combination_text(&self.study.factors(run)));
            let reason = clean(run.reason.as_deref().unwrap_or_default());
            format!("FAILED: run {:03} ({combination}): {reason}", run.trial.run)
        };
        self.study.failed_runs().map(sentence)
    }

    /// Which runs met not every limit, and which they missed: a sentence each. A search is made of
    /// such runs.
    fn missed(&self) -> impl Iterator<Item = String> {
        let is_sweep = self.study.plan.order != RunOrder::Search;
        self.runs.iter().filter(move |_| is_sweep).filter_map(missed)
    }

    /// What went wrong: runs that could not be made, and limits that were missed.
    pub(crate) fn troubles(&self) -> Vec<String> {
        self.failed().chain(self.missed()).collect()
    }

    /// How many runs were made of a sweep that was ended. Of a search nobody knows before how many
    /// it takes.
    fn ended_early(&self) -> Option<String> {
        if self.study.history.finished.is_some() {
            return None;
        }
        let cut_off = u64::from(self.study.cut_off_run().is_some());
        let made = (self.runs.len() as u64).saturating_sub(cut_off);
        match self.study.plan.most_runs() {
            None => Some(format!("the search was ended early, after {}", counted(made, "run"))),
            Some(planned) if self.study.ended_runs() < planned => {
                let (made, planned) = (count(made), count(planned));
                Some(format!("ended early: {made} of {planned} planned runs were made"))
            }
            Some(_) => None,
        }
    }

    /// What there is less of than was planned.
    pub(crate) fn incomplete(&self) -> Vec<String> {
        let mut sentences: Vec<String> = self.ended_early().into_iter().collect();
        if let Some(run) = self.study.cut_off_run() {
            let combination = clean(&combination_text(&self.study.factors(run)));
            let number = run.trial.run;
            sentences.push(format!(
                "run {number:03} ({combination}) was cut off: its figures cover only a part, and \
                 it does not count"
            ));
        }
        sentences.extend(missing_records(self.study));
        sentences
    }
}

/// The runs whose records are not there any more; `None`: all are.
pub(crate) fn missing_records(study: &RecordedStudy) -> Option<String> {
    let missing: Vec<&str> = study.missing_runs().map(|run| run.trial.folder.as_str()).collect();
    let remedy = match study.plan.order {
        RunOrder::Search => "",
        RunOrder::Blocks | RunOrder::Rounds => "; dbtime study resume DIR makes them again",
    };
    let text = || format!("missing records: {}{remedy}", clean(&missing.join(", ")));
    (!missing.is_empty()).then(text)
}

/// How a run came out that met not every limit.
fn missed(run: &MadeRun<'_>) -> Option<String> {
    let outcome = run.record.limits_outcome().filter(|how| *how != CheckOutcome::Passed)?;
    let missed = run.record.checks().filter(|(_, check)| check.decides() && check.is_missed());
    let missed: Vec<String> =
        missed.map(|(of, check)| format!("{of}: {} {}", check.metric, check.text)).collect();
    let what = match missed.is_empty() {
        // What was met so far is open in these.
        true => "was ended early, or did not serve all clients".to_owned(),
        false => format!("missed {}", clean(&missed.join("; "))),
    };
    let (how, name) = (crate::facts::verdict(outcome), combination(run));
    Some(format!("{how}: run {} ({name}) {what}", clean(&run.trial.folder)))
}

/// The values of its factors.
pub(crate) fn combination(run: &MadeRun<'_>) -> String {
    clean(&run.name())
}

/// What a rate that was found stands on.
fn confirmed(found: &FoundRate) -> String {
    let runs = counted(found.confirmed, "fresh run");
    match found.low_tps.zip(found.high_tps) {
        Some((low, high)) => {
            let interval = format!("{} .. {}/s", rate(low), rate(high));
            format!("by {runs} below and above it; 95 % CI {interval}")
        }
        // Of a search of before all were at the rate itself.
        None => format!("by {runs}; none missed it"),
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
            facts.push(("confirmed", confirmed(found)));
            format!("highest rate with {limit}: {}", tps(highest))
        }
        (None, Some(why), _) => {
            let known = found.at_least_tps.map(|least| format!("at least {};", tps(least)));
            let known = known.unwrap_or_else(|| "not known, for".to_owned());
            format!("highest rate with {limit}: {known} {}", clean(why))
        }
        (None, None, Some(lowest)) => {
            format!("no rate has {limit}: even a run at {} missed it", tps(lowest))
        }
        (None, None, None) => format!("highest rate with {limit}: not known"),
    };
    if let (Some(above), Some(_)) = (found.above_tps, found.rate_tps) {
        facts.push(("above it", format!("a run at {} missed it", tps(above))));
    }
    let of_it = found.rate_tps.map_or(String::new(), |rate| {
        let why = match rate > SAME_SHARE * found.flat_out_tps {
            true => ": the flat-out run was disturbed or too short",
            false => "",
        };
        format!("; it is {} of that{why}", share(rate))
    });
    let flat_out = tps(found.flat_out_tps);
    facts.push(("flat out", format!("{flat_out} are carried, whatever the response{of_it}")));
    (answer, facts)
}
