//! pgbench scripts as a [`Script`]: made from settings, it makes a program for each client.

use super::command::CommandKind;
use super::plan::{PgbenchPlan, lock};
use super::program::PgbenchProgram;
use super::settings::PgbenchSettings;
use super::statistics::PgbenchStatistics;
use dbtime_load::script::{
    EndCondition, PreparationScript, ProgramFactory, Script, ScriptProgram, ScriptVisit,
};
use dbtime_load::statement::Statement;
use dbtime_model::StatementId;
use std::sync::Arc;

/// The scripts of a run, ready to be run.
#[derive(Debug)]
pub struct PgbenchScript(Arc<PgbenchPlan>);

impl PgbenchScript {
    /// Makes a run ready. Scripts are operations, numbered in their order.
    ///
    /// # Errors
    /// Settings that do not go together, a bad variable name, a statement with too many parameters.
    pub fn new(settings: PgbenchSettings) -> Result<Self, String> {
        PgbenchPlan::new(settings).map(Arc::new).map(Self)
    }

    /// The settings; there are no more threads than clients in them.
    pub fn settings(&self) -> &PgbenchSettings {
        &self.0.settings
    }

    /// What became of the clients that are gone, that is of all of them once the run is over.
    pub fn statistics(&self) -> PgbenchStatistics {
        lock(&self.0.done).clone()
    }

    /// What a command is booked under, where it is SQL or ends a pipeline.
    pub fn statement(&self, script: usize, command: usize) -> Option<StatementId> {
        let kind = &self.0.settings.scripts.scripts.get(script)?.commands.get(command)?.kind;
        let is_booked = matches!(kind, CommandKind::Sql(_) | CommandKind::EndPipeline);
        is_booked.then(|| self.0.commands[script][command].statement)
    }

    /// Why clients were aborted, in the order in which they were. The others go on without them.
    pub fn aborted(&self) -> Vec<String> {
        lock(&self.0.aborted).clone()
    }
}

impl Script for PgbenchScript {
    fn factory_for_thread(&self, _thread: u32) -> Result<Box<dyn ProgramFactory>, String> {
        Ok(Box::new(PgbenchProgramFactory(Arc::clone(&self.0))))
    }

    fn statements(&self) -> Vec<Statement> {
        self.0.registry.statements()
    }

    fn preparation(&self) -> Option<PreparationScript> {
        let script = Arc::clone(self.0.settings.preparation.as_ref()?);
        Some(PreparationScript { script, clients: 1 })
    }

    fn stop_reason(&self) -> Option<String> {
        lock(&self.0.stop_reason).clone()
    }

    fn inside(&self) -> Vec<ScriptVisit> {
        self.0.awaited.visits()
    }

    fn awaited_program(&self, client: u32) -> Option<String> {
        self.0.awaited.command_of(client)
    }

    fn heed(&self, condition: EndCondition) {
        *lock(&self.0.end_condition) = condition;
    }

    fn protocol(&self) -> Option<&'static str> {
        self.0.settings.mode.protocol()
    }

    fn connects(&self) -> bool {
        self.0.settings.reconnects
    }
}

struct PgbenchProgramFactory(Arc<PgbenchPlan>);

impl ProgramFactory for PgbenchProgramFactory {
    fn program(&mut self, client: u32) -> Result<Box<dyn ScriptProgram>, String> {
        let clients = self.0.settings.clients;
        match PgbenchProgram::new(Arc::clone(&self.0), client) {
            Some(program) => Ok(Box::new(program)),
            None => Err(format!("there is no client {client}, only {clients} of them")),
        }
    }
}
