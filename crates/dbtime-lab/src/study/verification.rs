//! Whether the runs of a study are as they were left, and their figures follow from their files.

use super::contradictions::contradictions;
use super::figure_tolerance::FigureTolerance;
use super::program::recomputed;
use super::run_digests::changed_since;
use dbtime_model::record::{file, read_run};
use dbtime_model::study::{
    ProgramMetric, ProgramRecord, RecordedStudy, StudyRun, TrialOutcome, TrialRecord, UsageFigure,
    study_file,
};
use dbtime_model::units::counted;
use std::collections::BTreeSet;
use std::path::Path;

/// What follows from no file: it is taken as the record has it.
const TAKEN: &str = "CPU, memory, queue, lag and service times, errors by their codes, counters, \
                     and what a tracer saw";

/// The same of runs of an external program.
const TAKEN_OF_PROGRAMS: &str = "what the hypervisor and other processes took beside the runs";

/// Why files of a run are others that was joined.
const JOINED: &str = "`dbtime join` has joined it with a recording since, and written its record \
                      anew: restore it from a copy, and join a copy";

/// How many runs that do not count are named.
const MOST_NAMED: usize = 5;

/// What was looked at, and what is wrong, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsVerified {
    /// How many runs, those that do not count too.
    pub runs: usize,
    /// Whether they are those of an external program.
    pub are_of_program: bool,
    /// How many have the digests of their files in the journal, by which these were checked.
    pub digested: usize,
    /// The folders of those that do not count.
    pub uncounted: Vec<String>,
    /// What contradicts what.
    pub problems: Vec<String>,
    /// What could not be recomputed.
    pub taken: Vec<String>,
}

/// Recomputes the figures of all runs that have left a record from their series, histograms, parts
/// and kept transactions, and looks whether their files are as the runs have left them.
pub fn verify_runs(folder: &Path, study: &RecordedStudy) -> RunsVerified {
    let rules = study.plan.program.as_ref();
    let taken = if rules.is_some() { TAKEN_OF_PROGRAMS } else { TAKEN };
    let mut verified = RunsVerified {
        taken: vec![taken.to_owned()],
        are_of_program: rules.is_some(),
        ..RunsVerified::default()
    };
    let lost = study.history.lost_runs(study.plan.cells.len(), study.plan.order);
    let lost: BTreeSet<u64> = lost.iter().map(|run| run.trial.run).collect();
    let (mut undigested, mut tolerance) = (0u64, FigureTolerance::default());
    // Of a run whose block was made again nothing is wanted any more.
    let is_replaced = |run: &StudyRun| {
        let number = &run.trial.run;
        !lost.contains(number) && !study.history.files.contains_key(number)
    };
    for run in &study.history.runs {
        let is_expected = match run.outcome {
            Some(TrialOutcome::Failed) => continue,
            Some(TrialOutcome::Lost) if is_replaced(run) => continue,
            outcome => outcome.is_some(),
        };
        let place = &run.trial.folder;
        let there = folder.join(place);
        if !is_there(&there) {
            verified.problems.extend(is_expected.then(|| format!("{place} is not there")));
            continue;
        }
        let record = TrialRecord::of_trial(&there);
        match study.history.files.get(&run.trial.run) {
            Some(left) => {
                verified.digested += 1;
                let mut changed = changed_since(&there, left);
                let is_joined = !changed.is_empty() && record.as_ref().is_ok_and(was_joined);
                changed.extend(is_joined.then(|| JOINED.to_owned()));
                verified.add(place, changed);
            }
            None if run.outcome == Some(TrialOutcome::Lost) => {}
            None => undigested += u64::from(is_expected),
        }
        match record {
            Ok(TrialRecord::Run(_)) => verified.look_at(run, &there, &mut tolerance),
            Ok(TrialRecord::Program(record)) => {
                let metrics = rules.map(|rules| rules.metrics.as_slice()).unwrap_or_default();
                verified.add_run(run);
                verified.add(place, program_contradictions(&record, metrics, &there));
            }
            Err(error) => verified.add(place, vec![error.to_string()]),
        }
    }
    verified.taken.extend(tolerance.texts());
    verified.summarize(undigested);
    verified
}

/// Whether a run was joined with a recording after its end.
fn was_joined(record: &TrialRecord) -> bool {
    let trace = record.run().and_then(|run| run.trace.as_ref());
    trace.is_some_and(|trace| trace.recording.is_some())
}

fn is_there(run: &Path) -> bool {
    [file::RUN, study_file::PROGRAM].iter().any(|name| run.join(name).is_file())
}

/// The figures of an external program's record that do not follow from the other files of its run.
fn program_contradictions(
    record: &ProgramRecord,
    metrics: &[ProgramMetric],
    folder: &Path,
) -> Vec<String> {
    let found = match recomputed(record, metrics, folder) {
        Ok(found) => found,
        // The folder is named before it.
        Err(why) => return vec![why.replace(&format!("{}/", folder.display()), "")],
    };
    let usage = |(name, _, figure)| (name, record.usage(figure), found.usage(figure));
    let value = |of: &ProgramRecord, name: &str| of.values.get(name).copied();
    let names: BTreeSet<&String> = record.values.keys().chain(found.values.keys()).collect();
    let values = names.into_iter();
    let values = values.map(|name| (name.as_str(), value(record, name), value(&found, name)));
    let delays = ("run_delay_s", record.run_delay_s, found.run_delay_s);
    let all = values.chain(UsageFigure::NAMED.map(usage)).chain([delays]);
    let other = all.filter(|(_, recorded, recomputed)| recorded != recomputed);
    other.map(|(name, recorded, recomputed)| contradiction(name, recorded, recomputed)).collect()
}

fn contradiction(name: &str, recorded: Option<f64>, recomputed: Option<f64>) -> String {
    let [recorded, recomputed] =
        [recorded, recomputed].map(|value| value.map_or("none".to_owned(), |it| it.to_string()));
    format!(
        "{name} is {recorded}, but {} and {} give {recomputed}",
        study_file::PROGRAM_OUTPUT,
        study_file::PROGRAM_USAGE
    )
}

impl RunsVerified {
    fn add(&mut self, place: &str, problems: Vec<String>) {
        self.problems.extend(problems.into_iter().map(|problem| format!("{place}: {problem}")));
    }

    fn add_run(&mut self, run: &StudyRun) {
        self.runs += 1;
        if !run.counts() {
            self.uncounted.push(run.trial.folder.clone());
        }
    }

    /// Looks at a run of dbtime in its folder.
    fn look_at(&mut self, run: &StudyRun, there: &Path, tolerance: &mut FigureTolerance) {
        self.add_run(run);
        let place = &run.trial.folder;
        let problems = match read_run(there) {
            Ok(run) => {
                tolerance.add(place, &run);
                contradictions(&run)
            }
            // The folder is named before it.
            Err(error) => vec![error.to_string().replace(&format!("{}/", there.display()), "")],
        };
        self.add(place, problems);
    }

    /// Says what was not recomputed, and names few runs where there are many.
    fn summarize(&mut self, undigested: u64) {
        if undigested > 0 {
            let runs = counted(undigested, "run");
            self.taken.push(format!("that the files of {runs} of an earlier dbtime are theirs"));
        }
        let more = self.uncounted.len().saturating_sub(MOST_NAMED);
        self.uncounted.truncate(MOST_NAMED);
        if more > 0 {
            self.uncounted.push(format!("and {more} more"));
        }
    }
}
