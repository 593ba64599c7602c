//! A run made ready: what all its clients share.

use super::awaited::AwaitedPrograms;
use super::block::BlockEffect;
use super::command::{CommandKind, ParsedScript, SqlCommand};
use super::dialect::{QueryMode, placeholder};
use super::names::{NameSlot, NameTable};
use super::random::PgbenchRandom;
use super::seeds::{self, ClientSeeds};
use super::settings::PgbenchSettings;
use super::statistics::PgbenchStatistics;
use super::value::ScriptValue;
use super::variables::ClientVariables;
use crate::statement_registry::StatementRegistry;
use dbtime_load::script::EndCondition;
use dbtime_model::{OperationId, SqlDialect, StatementId};
use dbtime_sql::{LexicalRules, fingerprint};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all clients share.
#[derive(Debug)]
pub(super) struct PgbenchPlan {
    pub(super) settings: PgbenchSettings,
    pub(super) registry: StatementRegistry,
    /// By script, by command.
    pub(super) commands: Vec<Vec<ReadyPlan>>,
    /// Prepared statements that there can be; their handles count from 0.
    pub(super) handles: u32,
    /// Random functions, by client.
    clients: Vec<PgbenchRandom>,
    /// The variables that every client begins with.
    variables: ClientVariables,
    client_id: Option<NameSlot>,
    /// The thread of each client.
    dealt: Vec<u32>,
    /// Which script is next, by thread.
    choose: Vec<Mutex<PgbenchRandom>>,
    /// What became of the clients that are gone.
    pub(super) done: Mutex<PgbenchStatistics>,
    /// Why the run could not begin.
    pub(super) stop_reason: Mutex<Option<String>>,
    /// Why clients were aborted.
    pub(super) aborted: Mutex<Vec<String>>,
    /// Whether scripts are to end, and start no more programs.
    pub(super) end_condition: Mutex<EndCondition>,
    /// Programs that clients wait for.
    pub(super) awaited: AwaitedPrograms,
}

/// What a command is made ready with.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadyPlan {
    /// What it is booked under, where it is SQL or ends a pipeline.
    pub(super) statement: StatementId,
    /// Its number among prepared statements.
    pub(super) handle: u32,
    /// The text with placeholders, unless the mode is simple.
    pub(super) sql: String,
    pub(super) effect: BlockEffect,
}

impl PgbenchPlan {
    pub(super) fn new(mut settings: PgbenchSettings) -> Result<Self, String> {
        settings.check()?;
        settings.threads = settings.threads.min(settings.clients);
        let mut plan = Self {
            registry: StatementRegistry::default(),
            commands: Vec::new(),
            handles: 0,
            clients: Vec::new(),
            variables: ClientVariables::new(Arc::default()),
            client_id: None,
            dealt: seeds::deal_clients(settings.clients, settings.threads),
            choose: Vec::new(),
            done: Mutex::default(),
            stop_reason: Mutex::default(),
            aborted: Mutex::default(),
            end_condition: Mutex::default(),
            awaited: AwaitedPrograms::default(),
            settings,
        };
        let scripts = std::mem::take(&mut plan.settings.scripts.scripts);
        for (index, script) in scripts.iter().enumerate() {
            let ready = plan.ready(OperationId(index as u16), script)?;
            plan.commands.push(ready);
        }
        plan.settings.scripts.scripts = scripts;
        *lock(&plan.done) = plan.statistics();
        plan.seed()?;
        Ok(plan)
    }

    /// Numbers the statements of a script.
    fn ready(
        &mut self,
        operation: OperationId,
        script: &ParsedScript,
    ) -> Result<Vec<ReadyPlan>, String> {
        let mut pipeline = String::new();
        let mut commands = Vec::with_capacity(script.commands.len());
        for command in &script.commands {
            commands.push(match &command.kind {
                CommandKind::Sql(sql) => {
                    let shape = self.shape(sql);
                    pipeline.push_str(&shape);
                    pipeline.push('\n');
                    self.ready_sql(operation, sql, &shape)?
                }
                CommandKind::EndPipeline => {
                    let text = format!("\\startpipeline\n{pipeline}\\endpipeline");
                    let statement = self.registry.number(operation, &text);
                    ReadyPlan { statement, ..ReadyPlan::default() }
                }
                CommandKind::StartPipeline => {
                    pipeline.clear();
                    ReadyPlan::default()
                }
                _ => ReadyPlan::default(),
            });
        }
        Ok(commands)
    }

    /// What reports call a statement: its text without literals, with `:name` for its variables.
    fn shape(&self, sql: &SqlCommand) -> String {
        let mut shape = String::new();
        fingerprint(&sql.text, &LexicalRules::unknown(self.settings.dialect), &mut shape);
        shape
    }

    fn ready_sql(
        &mut self,
        operation: OperationId,
        sql: &SqlCommand,
        shape: &str,
    ) -> Result<ReadyPlan, String> {
        let statement = self.registry.number(operation, shape);
        let effect = BlockEffect::of(&sql.text);
        let handle = self.handles;
        self.handles += 1;
        if self.settings.mode == QueryMode::Simple {
            return Ok(ReadyPlan { statement, handle, sql: String::new(), effect });
        }
        let with = sql.template.with(placeholder(self.settings.dialect));
        let mut text = with.map_err(|complaint| complaint.to_string())?;
        if self.settings.dialect != SqlDialect::Postgres {
            // A prepared statement is one statement, and some servers take no semicolon behind it.
            text.truncate(text.trim_end().trim_end_matches(';').len());
        }
        Ok(ReadyPlan { statement, handle, sql: text, effect })
    }

    /// Draws what clients and threads begin with, and sets the variables.
    fn seed(&mut self) -> Result<(), String> {
        let settings = &self.settings;
        let mut names: NameTable = settings.scripts.names.clone();
        let is_set = |name: &str| settings.variables.iter().any(|(set, _)| set == name);
        let clients = settings.clients;
        let threads = settings.threads;
        let seeds = ClientSeeds::new(settings.seed, clients, threads, is_set("default_seed"));
        let computed = [
            ("scale", settings.scale),
            ("default_seed", seeds.default_seed),
            ("random_seed", settings.seed as i64),
        ];
        let computed = computed.map(|(name, value)| (name, names.slot(name), value));
        let client_id = names.slot("client_id");
        let texts: Vec<_> =
            settings.variables.iter().map(|(name, text)| (names.slot(name), text)).collect();
        let mut variables = ClientVariables::new(Arc::new(names));
        for (slot, text) in texts {
            variables.set_text("option", slot, text)?;
        }
        for (name, slot, value) in computed {
            if !is_set(name) {
                variables.set("startup", slot, ScriptValue::Int(value))?;
            }
        }
        self.client_id = (!is_set("client_id")).then_some(client_id);
        self.variables = variables;
        self.clients = seeds.clients;
        self.choose = seeds.threads.into_iter().map(|thread| Mutex::new(thread.choose)).collect();
        Ok(())
    }

    /// The script of a client's next transaction.
    pub(super) fn choose(&self, client: u32) -> usize {
        let scripts = &self.settings.scripts;
        if scripts.scripts.len() == 1 {
            return 0;
        }
        let thread = self.dealt[client as usize];
        let drawn = lock(&self.choose[thread as usize]).up_to(scripts.total_weight() - 1);
        scripts.at_weight(drawn)
    }

    /// The variables and random numbers that a client begins with.
    pub(super) fn client(&self, client: u32) -> Option<(ClientVariables, PgbenchRandom)> {
        let prng = self.clients.get(client as usize)?.clone();
        let mut variables = self.variables.clone();
        if let Some(slot) = self.client_id {
            let set = variables.set("startup", slot, ScriptValue::Int(i64::from(client)));
            set.expect("the name is a good one");
        }
        Some((variables, prng))
    }

    /// Statistics of these scripts, in which nothing has happened.
    pub(super) fn statistics(&self) -> PgbenchStatistics {
        PgbenchStatistics::new(self.commands.iter().map(Vec::len))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
