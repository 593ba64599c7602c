//! Operations at work: scripts bound to a scale and a seed, and the program that runs them.

use super::script::{ScriptDocument, WorkloadScripts};
use crate::keys::BoundKey;
use crate::keys::bound::{KeyBinding, assign};
use crate::program::{Program, ProgramEvent, ProgramStep, SqlValue, Ticket};
use crate::random::{RandomSource, RandomStream};
use crate::think::{ThinkTime, draw_pause};
use dbtime_model::StatementId;
use std::sync::Arc;

/// A workload bound to a scale and a seed. Programs made from one plan share it.
#[derive(Clone, Debug)]
pub struct WorkloadPlan(Arc<SharedPlan>);

#[derive(Debug)]
struct SharedPlan {
    seed: u64,
    /// The generators of the keys, by slot.
    bounds: Box<[BoundKey]>,
    /// Placeholders of the operation that has most of them.
    parameters: usize,
    operations: Box<[PlannedOperation]>,
}

#[derive(Debug)]
struct PlannedOperation {
    start: Box<[KeyDraw]>,
    steps: Box<[PlanStep]>,
}

#[derive(Debug)]
struct PlanStep {
    statement: StatementId,
    repeat: u32,
    pause: Option<ThinkTime>,
    draws: Box<[KeyDraw]>,
    /// The slots of the placeholders.
    sources: Box<[u16]>,
    /// Where its parameters stand in the program's buffer.
    first: usize,
}

/// One draw of a key; its number over the run is
/// `transaction · per_transaction + first + execution`.
#[derive(Debug)]
struct KeyDraw {
    slot: usize,
    per_transaction: u64,
    first: u64,
}

impl SharedPlan {
    #[inline]
    fn draw(
        &self,
        draw: &KeyDraw,
        transaction: u64,
        execution: u32,
        random: &mut RandomSource,
        slots: &mut [SqlValue],
    ) {
        let earlier = draw.first.wrapping_add(u64::from(execution));
        let n = transaction.wrapping_mul(draw.per_transaction).wrapping_add(earlier);
        self.bounds[draw.slot].draw(n, random, slots, draw.slot);
    }
}

impl WorkloadPlan {
    pub(super) fn new(scripts: &WorkloadScripts, rows: &[u64], scale: u64, seed: u64) -> Self {
        let binding = KeyBinding { rows, scale, seed };
        let per_transaction = scripts.draws_per_transaction();
        let bind = |(slot, key): (usize, &super::script::ScriptKey)| {
            BoundKey::new(&key.spec, &binding, slot as u64)
        };
        let bounds: Box<[BoundKey]> = scripts.keys.iter().enumerate().map(bind).collect();
        let plan = |script: &ScriptDocument| {
            let mut counts = vec![0u64; bounds.len()];
            let mut draw = |key: u16, repeat: u32| {
                let slot = key as usize;
                let first = counts[slot];
                counts[slot] += u64::from(repeat);
                KeyDraw { slot, per_transaction: per_transaction[slot], first }
            };
            let start = script.start.iter().map(|&key| draw(key, 1)).collect();
            let mut first = 0;
            let step = |step: &super::script::ScriptStep| {
                let draws = step.draws.iter().map(|&key| draw(key, step.repeat)).collect();
                let sources: Box<[u16]> = step.parameters.as_slice().into();
                first += sources.len();
                PlanStep {
                    statement: step.statement,
                    repeat: step.repeat,
                    pause: step.pause,
                    draws,
                    first: first - sources.len(),
                    sources,
                }
            };
            PlannedOperation { start, steps: script.steps.iter().map(step).collect() }
        };
        let operations: Box<[PlannedOperation]> = scripts.operations.iter().map(plan).collect();
        let placeholders = |op: &PlannedOperation| op.steps.iter().map(|s| s.sources.len()).sum();
        let parameters = operations.iter().map(placeholders).max().unwrap_or(0);
        Self(Arc::new(SharedPlan { seed, bounds, parameters, operations }))
    }

    /// A program; every connection needs one of its own.
    pub fn program(&self) -> Box<dyn Program> {
        Box::new(PlanProgram {
            plan: Arc::clone(&self.0),
            random: RandomSource::new(self.0.seed, RandomStream::Parameters, 0),
            index: 0,
            operation: 0,
            step: 0,
            execution: 0,
            paused: false,
            slots: vec![SqlValue::Null; self.0.bounds.len()],
            parameters: vec![SqlValue::Null; self.0.parameters],
        })
    }
}

/// One transaction's way through its operation. Nothing is allocated once the texts have grown.
struct PlanProgram {
    plan: Arc<SharedPlan>,
    random: RandomSource,
    /// Number of the transaction.
    index: u64,
    operation: usize,
    /// The step to come, and which execution of it.
    step: usize,
    execution: u32,
    /// Whether the pause before the step to come is over.
    paused: bool,
    slots: Vec<SqlValue>,
    parameters: Vec<SqlValue>,
}

impl Program for PlanProgram {
    fn start(&mut self, ticket: &Ticket) {
        self.index = ticket.index;
        self.operation = ticket.operation.0 as usize;
        (self.step, self.execution, self.paused) = (0, 0, false);
        self.random = RandomSource::new(self.plan.seed, RandomStream::Parameters, ticket.index);
        if let Some(operation) = self.plan.operations.get(self.operation) {
            for draw in &operation.start {
                self.plan.draw(draw, self.index, 0, &mut self.random, &mut self.slots);
            }
        }
    }

    #[inline]
    fn resume(&mut self, _event: ProgramEvent<'_>) -> ProgramStep<'_> {
        let steps = self.plan.operations.get(self.operation).map_or(&[][..], |op| &op.steps);
        let Some(step) = steps.get(self.step) else { return ProgramStep::Done };
        if let Some(pause) = step.pause.filter(|_| !self.paused) {
            self.paused = true;
            return ProgramStep::Sleep(draw_pause(pause, self.random.bits()));
        }
        for draw in &step.draws {
            let execution = self.execution;
            self.plan.draw(draw, self.index, execution, &mut self.random, &mut self.slots);
        }
        let parameters = &mut self.parameters[step.first..step.first + step.sources.len()];
        for (parameter, slot) in parameters.iter_mut().zip(&step.sources) {
            assign(parameter, &self.slots[*slot as usize]);
        }
        self.paused = false;
        self.execution += 1;
        if self.execution >= step.repeat {
            (self.step, self.execution) = (self.step + 1, 0);
        }
        ProgramStep::Execute { statement: step.statement, parameters, needs_row: false }
    }
}
