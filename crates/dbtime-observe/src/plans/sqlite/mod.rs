//! SQLite's plans: the rows of `EXPLAIN QUERY PLAN`, of 3.8 to 3.54, with what was counted for
//! them.
//!
//! SQLite lists the tables of a join side by side, the outermost loop first, and behind them what
//! is done with their rows: here a join has its loops below it, and a sort what it sorts.
//!
//! Source: SQLite's manual, "EXPLAIN QUERY PLAN" and "Prepared Statement Scan Status";
//! `sqlite3WhereAddExplainText` in `wherecode.c`.

mod access;
mod detail;
mod level;

use super::{PlanError, StepCount};
use dbtime_model::query::{PlanNode, StatementPlan};
use level::PlanLevel;
use std::collections::{BTreeMap, BTreeSet};

/// A step of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SqliteStep {
    /// Its number.
    pub id: i64,
    /// The number of the step that it belongs to; 0: none.
    pub parent: i64,
    /// What it does: `SEARCH t USING INDEX i (a=?)`.
    pub detail: String,
    /// What it did; `None`: it was not executed.
    pub figures: Option<SqliteFigures>,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SqliteFigures {
    /// How often it was begun; 0 also where that is not counted.
    pub loops: u64,
    /// Rows that it returned, over all loops; 0 also where that is not counted.
    pub rows: u64,
    /// Rows that the planner expected of a loop.
    pub estimated_rows: Option<f64>,
    /// What it took; of what reads tables without what is below it. Unit: microseconds.
    pub time_us: Option<f64>,
}

/// Reads the steps of a plan, in the order in which SQLite gives them. Where the plan came from is
/// left empty.
///
/// # Errors
/// When there are more steps than plans have, or they lie in each other without end.
pub fn sqlite_steps(steps: &[SqliteStep], is_raw: bool) -> Result<StatementPlan, PlanError> {
    let ids: BTreeSet<i64> = steps.iter().map(|step| step.id).collect();
    let mut by_parent: BTreeMap<i64, Vec<&SqliteStep>> = BTreeMap::new();
    for step in steps {
        let parent = if ids.contains(&step.parent) { step.parent } else { 0 };
        by_parent.entry(parent).or_default().push(step);
    }
    let mut reader = StepReader { by_parent: &by_parent, is_raw, count: StepCount::default() };
    let mut top = reader.below(0, 0)?;
    let root = match (top.len(), steps.is_empty()) {
        (1, _) => top.remove(0),
        (0, true) => PlanNode { label: "no table is read".to_owned(), ..PlanNode::default() },
        (0, false) => return Err(PlanError("its steps have no first one".to_owned())),
        _ => PlanNode {
            label: "several steps".to_owned(),
            time_us: level::time_of(&top),
            children: top,
            ..PlanNode::default()
        },
    };
    let verbatim = is_raw.then(|| {
        steps.iter().map(|step| format!("{}|{}|{}\n", step.id, step.parent, step.detail)).collect()
    });
    Ok(StatementPlan { root, verbatim, ..StatementPlan::default() }.with_shape())
}

struct StepReader<'s> {
    by_parent: &'s BTreeMap<i64, Vec<&'s SqliteStep>>,
    is_raw: bool,
    count: StepCount,
}

impl StepReader<'_> {
    /// What is below a step.
    fn below(&mut self, parent: i64, depth: usize) -> Result<Vec<PlanNode>, PlanError> {
        let mut level = PlanLevel::default();
        let by_parent = self.by_parent;
        for step in by_parent.get(&parent).into_iter().flatten() {
            self.count.add(depth)?;
            let below = self.below(step.id, depth + 1)?;
            let (role, node) = detail::read(&step.detail, self.is_raw);
            level.add(role, node, below, step.figures);
        }
        Ok(level.joined())
    }
}

#[cfg(test)]
mod tests;
