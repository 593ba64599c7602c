//! The steps that stand side by side, put into each other.

use super::SqliteFigures;
use super::detail::StepRole;
use dbtime_model::query::{PlanNode, PlanOperation};

/// A query is grouped, freed of duplicates and sorted; more would be no plan of SQLite's.
const MOST_WRAPPERS: usize = 4;

/// Steps of one level, by what they are for the others.
#[derive(Debug, Default)]
pub(super) struct PlanLevel {
    /// What reads rows, the outermost loop first.
    loops: Vec<PlanNode>,
    /// What makes rows that one of the loops reads.
    producers: Vec<PlanNode>,
    /// What is computed for the loops beside them.
    beside: Vec<PlanNode>,
    /// What is done with the rows, in this order.
    wrappers: Vec<PlanNode>,
    notes: Vec<String>,
}

impl PlanLevel {
    /// Adds a step with what is below it.
    pub(super) fn add(
        &mut self,
        role: StepRole,
        node: PlanNode,
        below: Vec<PlanNode>,
        figures: Option<SqliteFigures>,
    ) {
        let figures = figures.unwrap_or_default();
        let mut node = PlanNode { children: below, ..node };
        let inner = time_of(&node.children);
        node.time_us = match role {
            StepRole::Loop | StepRole::Wrapper => added(figures.time_us, inner),
            // Its instructions are those of what is below it, too.
            _ => figures.time_us.into_iter().chain(inner).reduce(f64::max),
        };
        if role == StepRole::Loop {
            node.estimated_rows = figures.estimated_rows.or(node.estimated_rows);
        }
        if figures.loops > 0 {
            node.loops = Some(figures.loops as f64);
            let is_counted = role == StepRole::Loop || figures.rows > 0;
            node.actual_rows = is_counted.then(|| figures.rows as f64 / figures.loops as f64);
        }
        match role {
            StepRole::Loop => self.loops.push(node),
            StepRole::Producer => self.producers.push(node),
            StepRole::Wrapper if self.wrappers.len() < MOST_WRAPPERS => self.wrappers.push(node),
            StepRole::Wrapper | StepRole::Beside => self.beside.push(node),
            StepRole::Remark => self.notes.push(node.label),
            // It has no meaning but to hold another step.
            StepRole::Bracket => self.beside.append(&mut node.children),
        }
    }

    /// All of them in each other: mostly one, of which the others are parts.
    pub(super) fn joined(mut self) -> Vec<PlanNode> {
        for producer in std::mem::take(&mut self.producers) {
            self.produce(producer);
        }
        let mut steps = match self.loops.len() {
            0 | 1 => self.loops,
            _ => vec![PlanNode {
                operation: PlanOperation::NestedLoop,
                label: "nested loops".to_owned(),
                time_us: time_of(&self.loops),
                children: self.loops,
                ..PlanNode::default()
            }],
        };
        match steps.first_mut() {
            Some(step) => {
                step.time_us = added(step.time_us, time_of(&self.beside));
                step.children.append(&mut self.beside);
            }
            None => steps = self.beside,
        }
        for wrapper in self.wrappers {
            let time_us = added(wrapper.time_us, time_of(&steps));
            steps = vec![PlanNode { time_us, children: steps, ..wrapper }];
        }
        if let Some(step) = steps.first_mut() {
            step.notes.append(&mut self.notes);
        }
        steps
    }

    /// Puts what makes rows below what reads them.
    fn produce(&mut self, producer: PlanNode) {
        let mut loops = self.loops.iter_mut();
        let Some(reader) = loops.find(|one| one.relation == producer.relation) else {
            self.beside.push(producer);
            return;
        };
        if reader.operation == PlanOperation::TableScan {
            reader.operation = producer.operation;
        }
        reader.time_us = added(reader.time_us, producer.time_us);
        reader.children.push(producer);
    }
}

/// What steps took together; `None`: that of none is known. Unit: microseconds.
pub(super) fn time_of(steps: &[PlanNode]) -> Option<f64> {
    steps.iter().filter_map(|step| step.time_us).reduce(|sum, one| sum + one)
}

/// The sum of what is known.
fn added(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(|sum, one| sum + one)
}
