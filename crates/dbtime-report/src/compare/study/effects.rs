//! What each factor of a study does, over all levels of the others.
//!
//! Each block has a run of every configuration, and so a value of every effect: the ratio of the
//! geometric means of two groups of its runs. The effect is that of the blocks, as a change between
//! two configurations is that of pairs.

use super::cell_comparison::LEVEL;
use super::factors::WrittenLevels;
use crate::compare::groups::{geometric_mean, signed};
use crate::compare::tables::{TextTable, figure, name, wrapped};
use crate::format::{clean, counted};
use dbtime_model::record::FactorValue;
use dbtime_model::study::{CellRole, RecordedStudy, TrialRecord};
use dbtime_stats::LogRatio;
use serde::Serialize;
use std::collections::HashMap;

/// By how much a change of a factor's level changes the primary metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorEffect {
    /// What changes, in words: `sync: full → off`; of an interaction both factors.
    pub change: String,
    /// By how much, with the interval that holds for all effects of its kind together. Unit:
    /// percent.
    pub change_pct: [f64; 3],
    /// Of an interaction: how far the change of one factor depends on the level of the other.
    pub is_interaction: bool,
}

/// What the factors do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FactorEffects {
    /// Each level of each factor against the first one, over all levels of the others.
    pub effects: Vec<FactorEffect>,
    /// Whether few of the combinations were run, so that interactions are in the effects of other
    /// factors.
    pub is_screening: bool,
    /// How many blocks they are of.
    pub blocks: u64,
}

impl FactorEffect {
    /// Whether it is one as far as is known.
    fn is_clear(&self) -> bool {
        let [_, low, high] = self.change_pct;
        low > 0.0 || high < 0.0
    }

    fn text(&self) -> String {
        let [change, low, high] = self.change_pct.map(|pct| signed(pct / 100.0));
        format!("{} {change} % ({low} .. {high})", self.change)
    }
}

impl FactorEffects {
    /// Those of a study; nothing of one factor, of a list, or of fewer than two blocks.
    pub(super) fn of(study: &RecordedStudy) -> Self {
        let design = CrossedRuns::of(study);
        if design.factors.len() < 2 || design.blocks.len() < 2 {
            return Self::default();
        }
        let is_screening = !design.is_full();
        let mut effects = with_intervals(&design.main_effects(), false);
        if !is_screening {
            effects.extend(with_intervals(&design.interactions(), true));
        }
        Self { effects, is_screening, blocks: design.blocks.len() as u64 }
    }

    /// What was found, in a line; `None`: nothing was to be found.
    pub(super) fn text(&self) -> Option<String> {
        let main: Vec<&FactorEffect> =
            self.effects.iter().filter(|effect| !effect.is_interaction).collect();
        if main.is_empty() {
            return None;
        }
        let mut clear: Vec<_> = main.iter().filter(|effect| effect.is_clear()).collect();
        let size = |effect: &FactorEffect| (1.0 + effect.change_pct[0] / 100.0).ln().abs();
        clear.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let texts: Vec<String> = clear.iter().map(|effect| effect.text()).collect();
        let left = main.len() - clear.len();
        let rest = match (left, clear.is_empty()) {
            (0, _) => String::new(),
            (left, true) => {
                format!("none of {} is known to matter", counted(left as u64, "change"))
            }
            (left, false) => format!("; of {} more none is known", left),
        };
        Some(texts.join("; ") + &rest)
    }

    pub(super) fn table(&self) -> TextTable {
        let row = |effect: &FactorEffect| {
            let [change, low, high] = effect.change_pct.map(|pct| signed(pct / 100.0) + " %");
            let kind = if effect.is_interaction { "interaction" } else { "effect" };
            vec![effect.change.clone(), kind.to_owned(), change, low, high]
        };
        let confounded = match self.is_screening {
            true => {
                "; few combinations were run: an interaction of two factors is in the effects \
                     of others, so confirm what matters in a study of its own"
            }
            false => "",
        };
        TextTable {
            title: "Effects of the factors",
            headings: vec![
                wrapped("Change of level"),
                name(""),
                figure("Change"),
                figure("from"),
                figure("to"),
            ],
            rows: self.effects.iter().map(row).collect(),
            note: format!(
                "over all levels of the other factors, by {}; the 95 % intervals of all effects \
                 hold together (Šidák), and so do those of the interactions{confounded}",
                counted(self.blocks, "block")
            ),
        }
    }
}

/// A change in words, and its two values in each block.
type BlockContrast = (String, Vec<(f64, f64)>);

fn with_intervals(contrasts: &[BlockContrast], is_interaction: bool) -> Vec<FactorEffect> {
    let effect = |(change, pairs): &BlockContrast| {
        let interval = LogRatio::paired(pairs)?.interval_among(LEVEL, contrasts.len());
        let change_pct =
            [interval.estimate, interval.low, interval.high].map(|share| 100.0 * share);
        Some(FactorEffect { change: change.clone(), change_pct, is_interaction })
    };
    contrasts.iter().filter_map(effect).collect()
}

/// The runs of crossed factors that count.
struct CrossedRuns {
    /// The factors with their levels, each the first one first.
    factors: Vec<(String, Vec<String>)>,
    /// The level of each factor by configuration.
    cells: Vec<Vec<usize>>,
    /// The logarithm of the primary metric by block and configuration.
    blocks: Vec<Vec<f64>>,
}

impl CrossedRuns {
    fn of(study: &RecordedStudy) -> Self {
        let plan = &study.plan;
        let crossed: Vec<usize> =
            (0..plan.cells.len()).filter(|at| plan.cells[*at].role != CellRole::Control).collect();
        let mut written = WrittenLevels::default();
        let mut as_written = |levels: &[FactorValue]| -> Vec<FactorValue> {
            let first = |level: &FactorValue| {
                let value = written.first(&level.name, &level.value);
                FactorValue { name: level.name.clone(), value }
            };
            levels.iter().map(first).collect()
        };
        let given: Vec<Vec<FactorValue>> =
            crossed.iter().map(|at| as_written(&plan.cells[*at].levels)).collect();
        let factors = factors(given.iter().map(Vec::as_slice));
        let level = |(name, levels): &(String, Vec<String>), of: &[FactorValue]| {
            let value = of.iter().find(|value| value.name == *name)?;
            levels.iter().position(|level| *level == value.value)
        };
        let levels = |of: &Vec<FactorValue>| -> Option<Vec<usize>> {
            factors.iter().map(|factor| level(factor, of)).collect()
        };
        let Some(cells) = given.iter().map(levels).collect::<Option<Vec<_>>>() else {
            return Self { factors: Vec::new(), cells: Vec::new(), blocks: Vec::new() };
        };
        let blocks = values(study).into_iter().filter_map(|block| {
            let logs: Vec<f64> = crossed.iter().map(|at| block[*at].ln()).collect();
            logs.iter().all(|log| log.is_finite()).then_some(logs)
        });
        Self { blocks: blocks.collect(), factors, cells }
    }

    /// Whether every combination of levels was run.
    fn is_full(&self) -> bool {
        self.factors.iter().map(|(_, levels)| levels.len()).product::<usize>() == self.cells.len()
    }

    fn main_effects(&self) -> Vec<BlockContrast> {
        let mut contrasts = Vec::new();
        for (factor, (name, levels)) in self.factors.iter().enumerate() {
            for (to, level) in levels.iter().enumerate().skip(1) {
                let pairs = self.blocks.iter().map(|block| {
                    let mean = |level| self.mean(block, |cell| cell[factor] == level);
                    (mean(0).exp(), mean(to).exp())
                });
                let change = clean(&format!("{name}: {} → {level}", levels[0]));
                contrasts.push((change, pairs.collect()));
            }
        }
        contrasts
    }

    /// How far the change of one factor depends on the level of another.
    fn interactions(&self) -> Vec<BlockContrast> {
        let mut contrasts = Vec::new();
        for (one, (one_name, one_levels)) in self.factors.iter().enumerate() {
            for (other, (other_name, other_levels)) in self.factors.iter().enumerate().skip(one + 1)
            {
                for (a, a_level) in one_levels.iter().enumerate().skip(1) {
                    for (b, b_level) in other_levels.iter().enumerate().skip(1) {
                        let change = |block: &Vec<f64>, at: usize| {
                            let of = |level: usize| {
                                self.mean(block, |cell| cell[one] == level && cell[other] == at)
                            };
                            (of(a) - of(0)).exp()
                        };
                        let pairs = self.blocks.iter().map(|it| (change(it, 0), change(it, b)));
                        let first = format!("{one_name}: {} → {a_level}", one_levels[0]);
                        let second = format!("{other_name}: {} → {b_level}", other_levels[0]);
                        contrasts.push((clean(&format!("{first}, {second}")), pairs.collect()));
                    }
                }
            }
        }
        contrasts
    }

    /// The mean logarithm of a block's runs of some configurations.
    fn mean(&self, block: &[f64], is_of: impl Fn(&[usize]) -> bool) -> f64 {
        let of = self.cells.iter().zip(block).filter(|(cell, _)| is_of(cell));
        let logs: Vec<f64> = of.map(|(_, log)| *log).collect();
        logs.iter().sum::<f64>() / logs.len() as f64
    }
}

/// The factors in the order of the plan, with their levels in that of the configurations.
fn factors<'a>(cells: impl Iterator<Item = &'a [FactorValue]>) -> Vec<(String, Vec<String>)> {
    let mut factors: Vec<(String, Vec<String>)> = Vec::new();
    for level in cells.flatten() {
        let known = factors.iter().position(|(name, _)| *name == level.name);
        let at = known.unwrap_or_else(|| {
            factors.push((level.name.clone(), Vec::new()));
            factors.len() - 1
        });
        if !factors[at].1.contains(&level.value) {
            factors[at].1.push(level.value.clone());
        }
    }
    factors
}

/// The values of the primary metric, by complete block and configuration, of slices the mean; NaN:
/// it has none.
fn values(study: &RecordedStudy) -> Vec<Vec<f64>> {
    let cells = study.plan.cells.len();
    let runs = study.history.runs.iter().zip(&study.records);
    let records: HashMap<u64, &TrialRecord> =
        runs.filter_map(|(run, record)| Some((run.trial.run, record.as_ref()?))).collect();
    let blocks = study.history.complete_blocks(cells);
    let of_block = |block: &dbtime_model::study::BlockAttempt<'_>| {
        let mut values = vec![Vec::new(); cells];
        for run in &block.runs {
            let record = records.get(&run.trial.run);
            let value = record.and_then(|record| record.value(&study.plan.primary));
            values[run.trial.cell as usize].push(value.unwrap_or(f64::NAN));
        }
        values.iter().map(|of_cell| geometric_mean(of_cell)).collect()
    };
    blocks.iter().map(of_block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::study::{
        BlockDesign, GateLimits, JournalEvent, ProgramRecord, RunOrder, STUDY_SCHEMA, StopRule,
        StudyCell, StudyData, StudyHistory, StudyPlan, StudySession, StudyTrial, TrialOutcome,
    };

    fn cell(levels: &[(&str, &str)], role: CellRole) -> StudyCell {
        let level = |(name, value): &(&str, &str)| FactorValue {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        StudyCell {
            name: String::new(),
            role,
            baseline: 0,
            factors: Vec::new(),
            levels: levels.iter().map(level).collect(),
            command: String::new(),
            spec: None,
        }
    }

    fn plan(cells: Vec<StudyCell>) -> StudyPlan {
        StudyPlan {
            schema: STUDY_SCHEMA,
            dbtime: String::new(),
            name: String::new(),
            question: None,
            directory: String::new(),
            primary: "tps".to_owned(),
            margin_pct: 1.0,
            design: BlockDesign { blocks: 4, seed: 1, stop: StopRule::Fixed, slices: 1 },
            gate: GateLimits {
                steal_pct: 1.0,
                foreign_cpu_pct: 1.0,
                wait_s: 0.0,
                repeats: 0,
                steady: true,
                noise: Default::default(),
            },
            program: None,
            cells,
            pilot: None,
            data: StudyData::Snapshot,
            order: RunOrder::Blocks,
            surroundings: Default::default(),
        }
    }

    /// Four blocks in which these configurations have these values, but for little.
    fn study(cells: Vec<StudyCell>, values: &[f64]) -> RecordedStudy {
        let mut events = vec![JournalEvent::SessionBegun(StudySession::default())];
        let mut records = Vec::new();
        for block in 1..=4u32 {
            for (cell, value) in values.iter().enumerate() {
                let run = records.len() as u64 + 1;
                let trial = StudyTrial {
                    run,
                    block,
                    attempt: 1,
                    cell: cell as u32,
                    ..StudyTrial::default()
                };
                events.push(JournalEvent::RunBegun(trial));
                let (outcome, reason, at) = (TrialOutcome::Valid, None, String::new());
                let files = Default::default();
                events.push(JournalEvent::RunEnded { run, outcome, reason, files, at });
                // What a block adds is in no effect, and what a run adds is in all of them.
                let noise = 1.0 + 0.1 * f64::from(block) + 0.001 * ((run * 7) % 5) as f64;
                let mut record = ProgramRecord::default();
                record.values.insert("tps".to_owned(), value * noise);
                records.push(Some(TrialRecord::Program(Box::new(record))));
            }
        }
        let history = StudyHistory::replay(&events).expect("no contradiction");
        RecordedStudy { plan: plan(cells), history, records }
    }

    #[test]
    fn effects_and_interactions_are_those_that_were_put_in() {
        use CellRole::{Baseline, Candidate, Control};
        let cells = vec![
            cell(&[("sync", "full"), ("n", "1")], Baseline),
            cell(&[("sync", "full"), ("n", "1")], Control),
            cell(&[("sync", "full"), ("n", "8")], Candidate),
            cell(&[("sync", "off"), ("n", "1")], Candidate),
            cell(&[("sync", "off"), ("n", "8")], Candidate),
        ];
        let effects = FactorEffects::of(&study(cells, &[100.0, 900.0, 300.0, 120.0, 450.0]));
        assert!(!effects.is_screening);
        let found: Vec<(&str, f64)> = effects
            .effects
            .iter()
            .map(|one| (one.change.as_str(), one.change_pct[0].round()))
            .collect();
        // sync: 1.2 with one client and 1.5 with eight; n: 3 and 3.75.
        let expected =
            [("sync: full → off", 34.0), ("n: 1 → 8", 235.0), ("sync: full → off, n: 1 → 8", 25.0)];
        assert_eq!(found, expected);
        assert!(effects.effects.iter().all(FactorEffect::is_clear), "{effects:?}");
        let text = effects.text().expect("effects");
        assert!(text.starts_with("n: 1 → 8 +23"), "{text}");
    }

    #[test]
    fn a_screening_finds_which_of_many_factors_matter() {
        let names = ["a", "b", "c", "d", "e"];
        let rows = dbtime_stats::screening_design(names.len()).expect("a design");
        let level = |second: bool| if second { "1" } else { "0" };
        let cells = rows.iter().map(|row| {
            let levels: Vec<_> =
                names.iter().zip(row).map(|(name, is)| (*name, level(*is))).collect();
            cell(&levels, CellRole::Candidate)
        });
        let value = |row: &Vec<bool>| {
            100.0 * if row[1] { 1.5 } else { 1.0 } * if row[3] { 0.8 } else { 1.0 }
        };
        let values: Vec<f64> = rows.iter().map(value).collect();
        let effects = FactorEffects::of(&study(cells.collect(), &values));
        assert!(effects.is_screening);
        let text = effects.text().expect("effects");
        assert!(text.starts_with("b: 0 → 1 +50"), "{text}");
        assert!(
            text.contains("; d: 0 → 1 −2") && text.ends_with("; of 3 more none is known"),
            "{text}"
        );
        assert!(effects.table().note.contains("few combinations"));
    }

    #[test]
    fn one_factor_has_no_effects_but_its_changes() {
        let cells = vec![
            cell(&[("sync", "full")], CellRole::Baseline),
            cell(&[("sync", "off")], CellRole::Candidate),
        ];
        let effects = FactorEffects::of(&study(cells, &[100.0, 200.0]));
        assert_eq!((effects.text(), effects.effects.len()), (None, 0));
    }
}
