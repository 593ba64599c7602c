//! What a run is told: its scripts, and how to run them.

use super::builtin::BuiltinScript;
use super::command::{CommandKind, ParsedScript};
use super::dialect::{QueryMode, placeholder};
use super::loading::LoadingScript;
use super::names::NameTable;
use super::notice::NoticeListener;
use super::observer::TransactionObserver;
use super::reader;
use dbtime_model::{Nanos, SqlDialect};
use std::sync::Arc;

/// Most scripts of a run.
pub(super) const MAX_SCRIPTS: usize = 128;

/// The scripts of a run, in the order of the command line.
#[derive(Clone, Debug, Default)]
pub struct PgbenchScripts {
    pub(super) names: NameTable,
    pub(super) scripts: Vec<ParsedScript>,
    weights: Vec<u32>,
}

impl PgbenchScripts {
    /// Adds a script; `source` is what messages and reports call it.
    ///
    /// # Errors
    /// What is wrong with the script, with its line; or there are too many.
    pub fn add(&mut self, source: &str, text: &str, weight: u32) -> Result<(), String> {
        let script = reader::parse(source, text, &mut self.names);
        let script = script.map_err(|complaint| complaint.to_string())?;
        if self.scripts.len() >= MAX_SCRIPTS {
            return Err(format!("at most {MAX_SCRIPTS} SQL scripts are allowed"));
        }
        self.scripts.push(script);
        self.weights.push(weight);
        Ok(())
    }

    /// Adds a built-in script, as a dialect has it.
    ///
    /// # Errors
    /// There are too many scripts.
    pub fn add_builtin(
        &mut self,
        script: BuiltinScript,
        weight: u32,
        dialect: SqlDialect,
    ) -> Result<(), String> {
        self.add(script.description, &script.text(dialect), weight)
    }

    /// Whether all statements can be sent in a mode.
    ///
    /// # Errors
    /// The first that has too many parameters for it.
    pub fn check(&self, mode: QueryMode, dialect: SqlDialect) -> Result<(), String> {
        let commands = self.scripts.iter().flat_map(|script| &script.commands);
        let statements = commands.filter_map(|command| match &command.kind {
            CommandKind::Sql(sql) if mode != QueryMode::Simple => Some(sql),
            _ => None,
        });
        for sql in statements {
            sql.template.with(placeholder(dialect)).map_err(|complaint| complaint.to_string())?;
        }
        Ok(())
    }

    /// The scripts and their weights.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ParsedScript, u32)> {
        self.scripts.iter().zip(self.weights.iter().copied())
    }

    /// The weights of all scripts together.
    pub(crate) fn total_weight(&self) -> u64 {
        self.weights.iter().map(|weight| u64::from(*weight)).sum()
    }

    /// The script that a number in `0..total_weight()` falls on.
    pub(super) fn at_weight(&self, mut weight: u64) -> usize {
        for (index, own) in self.weights.iter().enumerate() {
            match weight.checked_sub(u64::from(*own)) {
                Some(rest) => weight = rest,
                None => return index,
            }
        }
        self.weights.len().saturating_sub(1)
    }
}

/// How scripts are run. The defaults are those of pgbench.
#[derive(Clone, Debug)]
pub struct PgbenchSettings {
    /// What is run.
    pub scripts: PgbenchScripts,
    /// How statements get to the database.
    pub mode: QueryMode,
    /// The database.
    pub dialect: SqlDialect,
    /// The target without its password, or the name of its database: what messages may name. Empty
    /// where nothing is known.
    pub target: String,
    /// Clients, that is connections.
    pub clients: u32,
    /// pgbench's threads, among which clients are dealt: each of them chooses scripts by its own
    /// random numbers. They need not be the threads of the engine.
    pub threads: u32,
    /// What all random numbers follow from.
    pub seed: u64,
    /// The variable `scale`.
    pub scale: i64,
    /// Variables that are set from the beginning (`-D`).
    pub variables: Vec<(String, String)>,
    /// Tries of a transaction, the first included; 0: as many as the latency limit or the end of
    /// the run allows.
    pub max_tries: u32,
    /// A transaction that is late by more than this is not tried again.
    pub latency_limit: Option<Nanos>,
    /// Whether scripts may run programs of this machine.
    pub allow_shell: bool,
    /// Whether each transaction makes its own connection (`-C`).
    pub reconnects: bool,
    /// Whether transactions come at a rate (`-R`), so that latencies begin when they are due.
    pub is_paced: bool,
    /// Whether the times of commands are added up (`-r`).
    pub times_commands: bool,
    /// Whether errors that are tried again are told (`--verbose-errors`).
    pub verbose_errors: bool,
    /// Whether every command is told (`--debug`).
    pub traces: bool,
    /// Who is told of errors and of `debug()`.
    pub listener: NoticeListener,
    /// Who sees transactions end.
    pub observer: TransactionObserver,
    /// What makes and fills the tables on a target that has none.
    pub preparation: Option<Arc<LoadingScript>>,
}

impl Default for PgbenchSettings {
    fn default() -> Self {
        Self {
            scripts: PgbenchScripts::default(),
            mode: QueryMode::Simple,
            dialect: SqlDialect::Postgres,
            target: String::new(),
            clients: 1,
            threads: 1,
            seed: 0,
            scale: 1,
            variables: Vec::new(),
            max_tries: 1,
            latency_limit: None,
            allow_shell: false,
            reconnects: false,
            is_paced: false,
            times_commands: false,
            verbose_errors: false,
            traces: false,
            listener: NoticeListener::default(),
            observer: TransactionObserver::default(),
            preparation: None,
        }
    }
}

impl PgbenchSettings {
    /// What does not go together.
    ///
    /// # Errors
    /// In pgbench's words where it has some.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.scripts.scripts.is_empty() {
            return Err("no script is given, use -f or -b".to_owned());
        }
        if self.scripts.total_weight() == 0 {
            return Err("total script weight must not be zero".to_owned());
        }
        if self.clients == 0 || self.threads == 0 {
            return Err("there must be at least one client and one thread".to_owned());
        }
        if self.mode == QueryMode::Extended && self.dialect != SqlDialect::Postgres {
            let remedy = "use -M simple or -M prepared";
            return Err(format!("query mode \"extended\" is PostgreSQL's own: {remedy}"));
        }
        Ok(())
    }
}
