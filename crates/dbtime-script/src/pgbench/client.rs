//! A client's way through its script: which command is next, and what it makes of the answer.

use super::command::{CommandKind, ResultStorage, SqlCommand};
use super::dialect::QueryMode;
use super::notice::PgbenchNotice;
use super::parameter::parameter;
use super::plan::PgbenchPlan;
use super::program::NextStep;
use super::random::PgbenchRandom;
use super::statistics::{FailureKind, PgbenchStatistics};
use super::variables::ClientVariables;
use dbtime_load::connection_op::PipelineEntry;
use dbtime_load::program::SqlValue as Parameter;
use dbtime_machine::now;
use dbtime_model::{ErrorClass, MonoNanos, Nanos, Outcome, Sample};

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientWait {
    /// Nothing: the next command.
    Nothing,
    /// The connection that is made before the load.
    Open,
    Connect,
    Disconnect,
    /// A command is prepared; then it is executed.
    Prepare,
    /// The commands of a pipeline are prepared; this one was last.
    PreparePipeline(usize),
    /// The answer to a command.
    Answer,
    /// The answer to a pipeline.
    Pipeline,
    /// The answer to ROLLBACK.
    Rollback,
    /// The end of `\sleep`.
    Pause,
}

/// Commands without a request after which the engine gets a turn.
const MAX_COMMANDS_AT_ONCE: u32 = 1000;

/// One client.
pub(super) struct PgbenchClient {
    pub(super) id: u32,
    pub(super) variables: ClientVariables,
    pub(super) prng: PgbenchRandom,
    /// As it was when the transaction began.
    prng_at_start: PgbenchRandom,
    pub(super) script: usize,
    pub(super) command: usize,
    pub(super) awaits: ClientWait,
    /// The text of a simple query.
    pub(super) sql: String,
    /// The parameters of a query.
    pub(super) parameters: Vec<Parameter>,
    /// By handle.
    pub(super) prepared: Vec<bool>,
    /// The pipeline that is being filled.
    pub(super) piped: Vec<PipelineEntry>,
    pub(super) in_pipeline: bool,
    pub(super) in_block: bool,
    is_connected: bool,
    /// With `-C`, from when it was connected to when it was done with its commands.
    connected: (MonoNanos, MonoNanos),
    /// Attempts so far, the present one included.
    pub(super) tries: u32,
    pub(super) due: MonoNanos,
    /// When the command began, where commands are timed.
    command_began: MonoNanos,
    /// Why the transaction has failed.
    pub(super) failure: Option<FailureKind>,
    /// The class of that failure.
    pub(super) class: ErrorClass,
    at_once: u32,
    pub(super) statistics: PgbenchStatistics,
}

impl PgbenchClient {
    pub(super) fn new(
        plan: &PgbenchPlan,
        id: u32,
        variables: ClientVariables,
        prng: PgbenchRandom,
    ) -> Self {
        Self {
            id,
            variables,
            prng_at_start: prng.clone(),
            prng,
            script: 0,
            command: 0,
            awaits: ClientWait::Nothing,
            sql: String::new(),
            parameters: Vec::new(),
            prepared: vec![false; plan.handles as usize],
            piped: Vec::new(),
            in_pipeline: false,
            in_block: false,
            is_connected: false,
            connected: (MonoNanos(0), MonoNanos(0)),
            tries: 0,
            due: MonoNanos(0),
            command_began: MonoNanos(0),
            failure: None,
            class: ErrorClass::Other,
            at_once: 0,
            statistics: plan.statistics(),
        }
    }

    /// Sets it to the beginning of a transaction.
    pub(super) fn start(&mut self, script: usize, due: MonoNanos) {
        self.prng_at_start = self.prng.clone();
        (self.script, self.due, self.tries, self.failure) = (script, due, 1, None);
        self.rewind();
    }

    /// Sets it to the first command.
    fn rewind(&mut self) {
        (self.command, self.in_pipeline, self.awaits) = (0, false, ClientWait::Nothing);
        self.piped.clear();
    }

    /// The transaction begins again. Variables keep what they hold.
    pub(super) fn begin_again(&mut self, plan: &PgbenchPlan) -> NextStep {
        self.prng = self.prng_at_start.clone();
        self.tries += 1;
        self.failure = None;
        self.rewind();
        self.advance(plan)
    }

    /// Makes the connection before the load.
    pub(super) fn open(&mut self) -> NextStep {
        self.perform(ClientWait::Open, NextStep::Connect)
    }

    /// The first step of a transaction.
    pub(super) fn begin(&mut self, plan: &PgbenchPlan) -> NextStep {
        if plan.settings.reconnects && !self.is_connected {
            return self.perform(ClientWait::Connect, NextStep::Connect);
        }
        self.advance(plan)
    }

    /// A transaction as the original times it: without making and closing its connection.
    pub(super) fn without_connecting(&self, plan: &PgbenchPlan, sample: &Sample) -> Sample {
        let (begun, done) = self.connected;
        let due = if plan.settings.is_paced { sample.due } else { begun };
        match plan.settings.reconnects && sample.outcome == Outcome::Completed {
            true => Sample { due, sent: begun, done, late: Nanos::ZERO, ..*sample },
            false => *sample,
        }
    }

    /// There is a new connection, on which nothing is prepared.
    pub(super) fn connected(&mut self, plan: &PgbenchPlan) -> NextStep {
        self.is_connected = true;
        self.connected.0 = now();
        self.prepared.fill(false);
        self.advance(plan)
    }

    /// The connection is closed, and with it ends the transaction.
    pub(super) fn disconnected(&mut self) -> NextStep {
        self.is_connected = false;
        self.end()
    }

    /// The pause is over.
    pub(super) fn resumed(&mut self, plan: &PgbenchPlan) -> NextStep {
        if self.awaits == ClientWait::Pause {
            self.complete(plan);
        }
        self.advance(plan)
    }

    pub(super) fn perform(&mut self, awaits: ClientWait, next: NextStep) -> NextStep {
        (self.awaits, self.at_once) = (awaits, 0);
        next
    }

    /// Runs commands up to the next one that has to wait.
    pub(super) fn advance(&mut self, plan: &PgbenchPlan) -> NextStep {
        self.awaits = ClientWait::Nothing;
        let commands = &plan.settings.scripts.scripts[self.script].commands;
        while let Some(command) = commands.get(self.command) {
            self.at_once += 1;
            if self.at_once > MAX_COMMANDS_AT_ONCE {
                self.at_once = 0;
                return NextStep::Sleep(Nanos::ZERO);
            }
            if plan.settings.times_commands {
                self.command_began = now();
            }
            let next = match &command.kind {
                CommandKind::Sql(sql) => self.sql(plan, sql),
                kind => {
                    self.trace(plan, &command.first_line);
                    self.meta(plan, kind)
                }
            };
            if let Some(next) = next {
                return next;
            }
        }
        self.finish(plan)
    }

    /// Tells of a backslash command, where that is wanted: without its expression.
    fn trace(&self, plan: &PgbenchPlan, line: &str) {
        if plan.settings.traces {
            let words = match line.split_whitespace().next() {
                Some("\\set") => 2,
                Some("\\if" | "\\elif") => 1,
                _ => usize::MAX,
            };
            let words: Vec<_> = line.split_whitespace().take(words).collect();
            let text = format!("client {} executing {}", self.id, words.join(" "));
            plan.settings.listener.call(PgbenchNotice::Info(text));
        }
    }

    /// The command is done: the next one's turn.
    pub(super) fn complete(&mut self, plan: &PgbenchPlan) {
        self.complete_and_go(plan, self.command + 1);
    }

    pub(super) fn complete_and_go(&mut self, plan: &PgbenchPlan, command: usize) {
        if plan.settings.times_commands {
            let time = (now() - self.command_began).as_secs();
            self.statistics.scripts[self.script].commands[self.command].time.add(time);
        }
        self.command = command;
    }

    /// The end of the script.
    fn finish(&mut self, plan: &PgbenchPlan) -> NextStep {
        if self.in_pipeline {
            let message =
                format!("client {} aborted: end of script reached with pipeline open", self.id);
            return self.abort(plan, message, Some(ErrorClass::Other));
        }
        if self.in_block {
            let message = format!(
                "client {} aborted: end of script reached without completing the last transaction",
                self.id
            );
            return self.abort(plan, message, None);
        }
        self.leave(plan)
    }

    /// The transaction is over, one way or the other.
    pub(super) fn leave(&mut self, plan: &PgbenchPlan) -> NextStep {
        if plan.settings.reconnects {
            self.connected.1 = now();
            return self.perform(ClientWait::Disconnect, NextStep::Disconnect);
        }
        self.end()
    }

    fn end(&mut self) -> NextStep {
        self.awaits = ClientWait::Nothing;
        if self.failure.is_some() { NextStep::Failed(self.class) } else { NextStep::Done }
    }

    /// Sends SQL, or puts it into the pipeline.
    fn sql(&mut self, plan: &PgbenchPlan, sql: &SqlCommand) -> Option<NextStep> {
        if self.in_pipeline {
            return self.pipe(plan, sql);
        }
        Some(match plan.settings.mode {
            QueryMode::Simple => {
                self.sql.clear();
                sql.template.fill(&self.variables, &mut self.sql);
                self.perform(ClientWait::Answer, NextStep::Query)
            }
            QueryMode::Extended => {
                self.fill_parameters(plan, sql);
                self.perform(ClientWait::Answer, NextStep::QueryWith)
            }
            QueryMode::Prepared if self.is_prepared(plan, self.command) => self.execute(plan, sql),
            QueryMode::Prepared => {
                self.perform(ClientWait::Prepare, NextStep::Prepare(self.command))
            }
        })
    }

    /// Executes the command that is prepared.
    pub(super) fn execute(&mut self, plan: &PgbenchPlan, sql: &SqlCommand) -> NextStep {
        self.fill_parameters(plan, sql);
        self.perform(ClientWait::Answer, NextStep::Execute)
    }

    pub(super) fn is_prepared(&self, plan: &PgbenchPlan, command: usize) -> bool {
        self.prepared[plan.commands[self.script][command].handle as usize]
    }

    fn fill_parameters(&mut self, plan: &PgbenchPlan, sql: &SqlCommand) {
        let variables = &self.variables;
        let dialect = plan.settings.dialect;
        self.parameters.clear();
        self.parameters
            .extend(sql.template.slots().map(|slot| parameter(variables.shown(slot), dialect)));
    }

    fn pipe(&mut self, plan: &PgbenchPlan, sql: &SqlCommand) -> Option<NextStep> {
        let name = match sql.keep {
            ResultStorage::Nothing => {
                self.fill_parameters(plan, sql);
                let parameters = std::mem::take(&mut self.parameters);
                let ready = &plan.commands[self.script][self.command];
                self.piped.push(match plan.settings.mode {
                    QueryMode::Prepared => {
                        PipelineEntry::Execute { handle: ready.handle, parameters }
                    }
                    _ => PipelineEntry::QueryWith { sql: ready.sql.clone(), parameters },
                });
                self.complete(plan);
                return None;
            }
            ResultStorage::One(_) => "gset",
            ResultStorage::Every(_) => "aset",
        };
        Some(self.abort_in(plan, name, &format!("\\{name} is not allowed in pipeline mode")))
    }

    /// Whether the answer's rows are needed.
    pub(super) fn keeps_rows(&self, plan: &PgbenchPlan) -> bool {
        let command = &plan.settings.scripts.scripts[self.script].commands[self.command];
        matches!(&command.kind, CommandKind::Sql(sql) if sql.keep != ResultStorage::Nothing)
    }
}
