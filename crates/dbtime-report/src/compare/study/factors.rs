//! What the configurations of a study differ in, and which of them form a series over it.

use crate::charts::sort_values;
use dbtime_model::record::FactorValue;
use dbtime_model::spec::FlagSetting;
use dbtime_model::study::{CellRole, StudyCell, StudyPlan};
use dbtime_model::units::parse_rate;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer levels are no series.
const FEWEST_LEVELS: usize = 3;

/// Something that differs between the configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StudyFactor {
    pub(super) name: String,
    /// Its values; numbers, rates and durations in their order.
    pub(super) levels: Vec<String>,
    /// The place of its level, by the configurations of the plan.
    pub(super) of: Vec<usize>,
}

/// Levels by factor and meaning, as each was written first: `4` and `04` are one.
#[derive(Debug, Default)]
pub(super) struct WrittenLevels(BTreeMap<(String, String), String>);

impl WrittenLevels {
    /// A level as it was written first.
    pub(super) fn first(&mut self, factor: &str, level: &str) -> String {
        let key = (factor.to_owned(), FlagSetting::new(factor, level).meaning());
        self.0.entry(key).or_insert_with(|| level.to_owned()).clone()
    }
}

/// Configurations that differ in one factor, a number or a rate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FactorSeries {
    pub(super) factor: String,
    /// What they have in common of the other factors, in words.
    pub(super) others: String,
    /// How much it is, and the configuration in the plan; in its order.
    pub(super) cells: Vec<(f64, usize)>,
}

/// The factors of a study, what always changes together as one.
pub(super) fn factors(plan: &StudyPlan) -> Vec<StudyFactor> {
    let cells: Vec<Vec<(String, String)>> = plan.cells.iter().map(settings).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in cells.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut factors: Vec<StudyFactor> = Vec::new();
    for factor in names.into_iter().filter_map(|name| factor(name, &cells)) {
        if !factors.iter().any(|known| changes_with(known, &factor)) {
            factors.push(factor);
        }
    }
    factors
}

/// The series over the factors of these names, one of each combination of the others.
pub(super) fn series(plan: &StudyPlan, names: &[&str]) -> Vec<FactorSeries> {
    let factors = factors(plan);
    let is_named = |factor: &StudyFactor| names.contains(&factor.name.to_lowercase().as_str());
    let mut all: Vec<FactorSeries> = Vec::new();
    for factor in factors.iter().filter(|factor| is_named(factor)) {
        let cells = plan.cells.iter().enumerate();
        for (cell, _) in cells.filter(|(_, cell)| cell.role != CellRole::Control) {
            let Some(amount) = amount(&factor.levels[factor.of[cell]]) else { continue };
            let others = factors.iter().filter(|other| other.name != factor.name);
            let text = |other: &StudyFactor| format!("{}={}", other.name, level_text(other, cell));
            let others = others.map(text).collect::<Vec<_>>().join(" ");
            let is_one =
                |known: &&mut FactorSeries| known.others == others && known.factor == factor.name;
            match all.iter_mut().find(is_one) {
                Some(known) => known.cells.push((amount, cell)),
                None => all.push(FactorSeries {
                    factor: factor.name.clone(),
                    others,
                    cells: vec![(amount, cell)],
                }),
            }
        }
    }
    all.iter_mut().for_each(|series| series.cells.sort_by(|a, b| a.0.total_cmp(&b.0)));
    all.retain(|series| series.cells.chunk_by(|a, b| a.0 == b.0).count() >= FEWEST_LEVELS);
    all
}

/// The level of a configuration in words.
pub(super) fn level_text(factor: &StudyFactor, cell: usize) -> &str {
    let level = &factor.levels[factor.of[cell]];
    if level.is_empty() { "as given" } else { level }
}

/// What makes a configuration this one: its levels of the plan's factors, or its flags, a server's
/// setting by its own name.
fn settings(cell: &StudyCell) -> Vec<(String, String)> {
    if !cell.levels.is_empty() {
        let level = |level: &FactorValue| (level.name.clone(), level.value.clone());
        return cell.levels.iter().map(level).collect();
    }
    let setting = |factor: &FactorValue| match factor.value.split_once('=') {
        Some((name, value)) if factor.name == "server-set" => (name.to_owned(), value.to_owned()),
        _ => (factor.name.clone(), factor.value.clone()),
    };
    cell.factors.iter().map(setting).collect()
}

/// `None`: it is the same everywhere.
fn factor(name: &str, cells: &[Vec<(String, String)>]) -> Option<StudyFactor> {
    let value = |cell: &Vec<(String, String)>| {
        let of_name = cell.iter().filter(|(known, _)| known == name);
        of_name.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut written = WrittenLevels::default();
    let values: Vec<String> = cells.iter().map(|cell| written.first(name, &value(cell))).collect();
    let mut levels: Vec<String> = Vec::new();
    for value in &values {
        if !levels.contains(value) {
            levels.push(value.clone());
        }
    }
    if levels.len() < 2 {
        return None;
    }
    sort_values(&mut levels);
    let place = |value: &String| levels.iter().position(|level| level == value);
    let of = values.iter().map(place).collect::<Option<_>>()?;
    Some(StudyFactor { name: name.to_owned(), levels, of })
}

/// Whether one has another level wherever the other has.
fn changes_with(one: &StudyFactor, other: &StudyFactor) -> bool {
    let pairs: BTreeSet<(usize, usize)> =
        one.of.iter().copied().zip(other.of.iter().copied()).collect();
    pairs.len() == one.levels.len() && pairs.len() == other.levels.len()
}

fn amount(level: &str) -> Option<f64> {
    level.parse().ok().or_else(|| parse_rate(level).ok()).filter(|amount: &f64| *amount > 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn names(factors: &[StudyFactor]) -> Vec<&str> {
        factors.iter().map(|factor| factor.name.as_str()).collect()
    }

    #[test]
    fn what_changes_together_is_one_factor_and_what_does_not_is_none() {
        let plan = sample::plan(&[
            "connections=16 server-set=sync=1 server-set=log=a trace",
            "connections=2 server-set=sync=0 server-set=log=b trace",
            "connections=16 server-set=sync=0 server-set=log=b trace",
        ]);
        let factors = factors(&plan);
        assert_eq!(names(&factors), ["connections", "sync"]);
        assert_eq!(factors[0].levels, ["2", "16"]);
        assert_eq!(factors[0].of, [1, 0, 1]);
    }

    #[test]
    fn a_level_is_one_in_each_notation() {
        let cells = ["connections=16 sync=on", "connections=016 sync=off", "connections=4 sync=on"];
        let factors = factors(&sample::plan(&cells));
        assert_eq!(names(&factors), ["connections", "sync"]);
        assert_eq!(factors[0].levels, ["4", "16"]);
        assert_eq!(factors[0].of, [1, 1, 0]);
    }

    #[test]
    fn a_series_is_of_one_level_of_the_others() {
        let texts: Vec<String> = [("on", [16, 4, 8]), ("off", [4, 8, 8])]
            .iter()
            .flat_map(|(sync, all)| all.map(|n| format!("connections={n} sync={sync}")))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = series(&sample::plan(&texts), &["connections"]);
        // That of `off` has two levels.
        let [only] = &found[..] else { panic!("{found:?}") };
        assert_eq!(only.others, "sync=on");
        assert_eq!(only.cells, [(4.0, 1), (8.0, 2), (16.0, 0)]);
        assert_eq!(series(&sample::plan(&texts), &["rate"]), []);
    }
}
