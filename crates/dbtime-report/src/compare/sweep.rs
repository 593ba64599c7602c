//! Two sweeps: their combinations side by side, most changed first, and the runs of each.

use super::SCHEMA;
use super::figures::FigurePair;
use super::run::RunComparison;
use crate::format::{clean, counted};
use crate::sweep_story::missing_records;
use dbtime_model::record::{FactorValue, RunFigure, combination_text};
use dbtime_model::spec::FlagSetting;
use dbtime_model::study::{MadeRun, RecordedStudy};
use serde::Serialize;
use std::collections::BTreeMap;

/// A combination of factors that both sweeps have run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedCombination {
    /// Its factors, in the order of their names.
    pub factors: Vec<FactorValue>,
    /// How many times it was run in either sweep.
    pub repetitions: [usize; 2],
    /// Throughput, mean response, 99th percentile: means over the repetitions.
    pub figures: Vec<FigurePair>,
    /// The runs: of several repetitions that with the middle throughput.
    pub runs: RunComparison,
}

impl ComparedCombination {
    /// The factors as they are shown.
    pub(super) fn name(&self) -> String {
        combination_text(&self.factors)
    }

    fn change(&self) -> f64 {
        self.figures.iter().map(FigurePair::change_of_ratio).fold(0.0, f64::max)
    }
}

/// Two sweeps side by side, as `dbtime compare --json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepComparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `sweep_comparison`.
    pub kind: &'static str,
    /// Always `null`: single runs carry none.
    pub verdict: Option<String>,
    /// Where the first sweep is.
    pub a: String,
    /// Where the second is.
    pub b: String,
    /// Where the runs that stand side by side did not do the same: each sentence once, the first
    /// six of them. Empty where they did.
    pub unlike: Vec<String>,
    /// Which runs of a sweep are not there any more, a sentence for each sweep that misses some.
    pub lost: Vec<String>,
    /// What both have run, most changed first.
    pub combinations: Vec<ComparedCombination>,
    /// Combinations that only the first has: `rate=500/s workers=4`, or `as given` where nothing
    /// was swept.
    pub only_a: Vec<String>,
    /// Combinations that only the second has, likewise.
    pub only_b: Vec<String>,
}

impl SweepComparison {
    /// Two sweeps with their places.
    pub fn of([(place_a, a), (place_b, b)]: [(&str, &RecordedStudy); 2]) -> Self {
        let [runs_a, runs_b] = [a, b].map(whole_runs);
        let [in_a, in_b] = [combinations(&runs_a), combinations(&runs_b)];
        let in_both = in_a.iter().filter_map(|(key, runs)| Some([runs, in_b.get(key)?]));
        let places = [place_a, place_b];
        let mut both: Vec<_> = in_both.filter_map(|sides| compared(places, sides)).collect();
        both.sort_by(|x, y| y.change().total_cmp(&x.change()));
        let only = |these: &SweepCombinations<'_>, others: &SweepCombinations<'_>| {
            let alone = these.iter().filter(|(key, _)| !others.contains_key(*key));
            alone.map(|(_, runs)| combination_text(&factors(runs))).collect()
        };
        let mut unlike: Vec<String> = Vec::new();
        for sentence in both.iter().flat_map(|combination| &combination.runs.unlike) {
            if !unlike.contains(sentence) && unlike.len() < MAX_UNLIKE {
                unlike.push(sentence.clone());
            }
        }
        let lost = |(place, sweep): (&str, &RecordedStudy)| {
            missing_records(sweep).map(|missing| format!("{}: {missing}", clean(place)))
        };
        Self {
            schema: SCHEMA,
            kind: "sweep_comparison",
            verdict: None,
            a: place_a.to_owned(),
            b: place_b.to_owned(),
            unlike,
            lost: [(place_a, a), (place_b, b)].into_iter().filter_map(lost).collect(),
            combinations: both,
            only_a: only(&in_a, &in_b),
            only_b: only(&in_b, &in_a),
        }
    }

    /// What the table does not show.
    pub(super) fn note(&self) -> String {
        let mut notes = Vec::new();
        if self.combinations.is_empty() {
            notes.push("no combination is in both sweeps".to_owned());
        }
        for (name, only) in [("A", &self.only_a), ("B", &self.only_b)] {
            if !only.is_empty() {
                notes.push(format!("only in {name}: {}", clean(&only.join("; "))));
            }
        }
        let most = self.combinations.iter().flat_map(|c| c.repetitions).max().unwrap_or(0);
        if most > 1 {
            let runs = counted(most as u64, "repetition");
            notes.push(format!("figures are means over up to {runs}"));
        }
        notes.join(". ")
    }
}

/// The figures of a combination, by their keys.
const COMPARED: [&str; 3] = ["throughput", "mean", "p99"];

/// Sentences on what differs; combinations differ from each other anyway.
const MAX_UNLIKE: usize = 6;

/// The runs that have come to their end.
fn whole_runs(sweep: &RecordedStudy) -> Vec<MadeRun<'_>> {
    let cut_off = sweep.cut_off_run().map(|run| run.trial.run);
    let mut runs = sweep.made_runs();
    runs.retain(|run| Some(run.trial.run) != cut_off);
    runs
}

/// The runs of one combination, by their throughput.
type RunRepetitions<'a> = Vec<&'a MadeRun<'a>>;

/// The runs of a sweep by what their factors mean, in the order of their names: each sweep may have
/// its own notation.
type SweepCombinations<'a> = BTreeMap<Vec<(String, String)>, RunRepetitions<'a>>;

fn combinations<'a>(made: &'a [MadeRun<'a>]) -> SweepCombinations<'a> {
    let mut all = SweepCombinations::new();
    for run in made {
        let meaning = |factor: &FactorValue| {
            let setting = FlagSetting::new(&factor.name, &factor.value);
            (factor.name.clone(), setting.meaning())
        };
        let mut key: Vec<_> = run.factors.iter().map(meaning).collect();
        key.sort();
        all.entry(key).or_default().push(run);
    }
    for runs in all.values_mut() {
        runs.sort_by(|x, y| x.record.throughput_tps.total_cmp(&y.record.throughput_tps));
    }
    all
}

/// The factors of runs of one combination, in the order of their names.
fn factors(runs: &[&MadeRun<'_>]) -> Vec<FactorValue> {
    let mut factors = runs.first().map_or(Vec::new(), |run| run.factors.clone());
    factors.sort();
    factors
}

fn compared(places: [&str; 2], [a, b]: [&RunRepetitions<'_>; 2]) -> Option<ComparedCombination> {
    let figures = COMPARED.into_iter().map(RunFigure::listed).map(|figure| {
        let mean = |side: &RunRepetitions<'_>| -> Option<f64> {
            let sum: Option<f64> = side.iter().map(|run| figure.value(run.record)).sum();
            Some(sum? / side.len() as f64)
        };
        FigurePair::new(figure.key, figure.unit.into(), [mean(a), mean(b)])
    });
    let [run_a, run_b] = [a.get(a.len() / 2)?, b.get(b.len() / 2)?];
    let place = |place: &str, run: &MadeRun<'_>| format!("{place}/{}", run.trial.folder);
    let [place_a, place_b] = [place(places[0], run_a), place(places[1], run_b)];
    Some(ComparedCombination {
        factors: factors(a),
        repetitions: [a.len(), b.len()],
        figures: figures.collect(),
        runs: RunComparison::of([(&place_a, run_a.record), (&place_b, run_b.record)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::RunRecord;
    use dbtime_model::study::StudyTrial;

    /// A run of one rate.
    fn made<'a>(rate: &str, trial: &'a StudyTrial, record: &'a RunRecord) -> MadeRun<'a> {
        let factor = FactorValue { name: "rate".to_owned(), value: rate.to_owned() };
        MadeRun { trial, factors: vec![factor], combination: 0, record }
    }

    #[test]
    fn a_combination_is_one_in_each_notation() {
        let (trial, record) = (StudyTrial::default(), RunRecord::default());
        let [a, b] = ["100", "100.0/s"].map(|rate| [made(rate, &trial, &record)]);
        let [in_a, in_b] = [combinations(&a), combinations(&b)];
        assert!(in_a.keys().eq(in_b.keys()), "{in_a:?} {in_b:?}");
        let runs = in_a.values().next().zip(in_b.values().next()).expect("both");
        let compared = compared(["a", "b"], [runs.0, runs.1]).expect("runs");
        assert_eq!(compared.name(), "rate=100");
    }
}
