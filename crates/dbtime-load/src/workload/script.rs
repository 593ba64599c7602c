//! What an operation does, as read from its file: the draws and statements in order.

use crate::keys::KeySpec;
use crate::think::ThinkTime;
use dbtime_model::StatementId;

/// A named generator of the workload; its position in [`WorkloadScripts::keys`] is its slot.
#[derive(Clone, Debug)]
pub(crate) struct ScriptKey {
    pub(crate) name: String,
    pub(crate) spec: KeySpec,
    /// Drawn anew for each execution of a statement that uses it, not once per transaction.
    pub(crate) per_statement: bool,
}

/// The keys and operations of a workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkloadScripts {
    pub(crate) keys: Vec<ScriptKey>,
    pub(crate) operations: Vec<ScriptDocument>,
}

/// One operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptDocument {
    /// Keys drawn when the transaction starts, each after those it reads.
    pub(crate) start: Vec<u16>,
    pub(crate) steps: Vec<ScriptStep>,
}

/// One entry of an operation: a statement, executed once or more.
#[derive(Clone, Debug)]
pub(crate) struct ScriptStep {
    pub(crate) statement: StatementId,
    /// Keys drawn before each execution, each after those it reads.
    pub(crate) draws: Vec<u16>,
    /// The keys of its placeholders.
    pub(crate) parameters: Vec<u16>,
    pub(crate) repeat: u32,
    /// A pause before each execution.
    pub(crate) pause: Option<ThinkTime>,
}

impl ScriptStep {
    /// A statement without parameters.
    pub(crate) fn plain(statement: StatementId) -> Self {
        let draws = Vec::new();
        let parameters = Vec::new();
        Self { statement, draws, parameters, repeat: 1, pause: None }
    }
}

impl WorkloadScripts {
    /// How often each key is drawn in a transaction: the most over all operations, so that numbers
    /// of draws never meet, whichever operation a transaction is.
    pub(crate) fn draws_per_transaction(&self) -> Vec<u64> {
        let mut most = vec![1u64; self.keys.len()];
        for script in &self.operations {
            let mut here = vec![0u64; self.keys.len()];
            script.start.iter().for_each(|&key| here[key as usize] += 1);
            for step in &script.steps {
                step.draws.iter().for_each(|&key| here[key as usize] += u64::from(step.repeat));
            }
            most.iter_mut().zip(here).for_each(|(most, here)| *most = here.max(*most));
        }
        most
    }
}
