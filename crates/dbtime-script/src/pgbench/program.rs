//! One client: its scripts command by command, as an engine resumes it.
//!
//! ```text
//!   start ─► [connect] ─► command ─► command ─► … ─► [disconnect] ─► done
//!                            │  ▲
//!              can be retried│  │random numbers as at the start
//!                            ▼  │
//!                        [rollback] ──► tries used up: failed
//! ```
//! Any other error aborts the client.

use super::client::PgbenchClient;
use super::notice::PgbenchNotice;
use super::observer::ObservedTransaction;
use super::plan::{PgbenchPlan, lock};
use super::statistics::FailureKind;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::Ticket;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{ProgramPhase, ScriptEvent, ScriptProgram, ScriptProgramStep};
use dbtime_model::{ErrorClass, Nanos, OperationId, Outcome, Sample};
use dbtime_sql::without_passwords;
use std::sync::Arc;

/// What a client wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NextStep {
    /// Make the connection.
    Connect,
    /// Close it.
    Disconnect,
    /// Execute the text that was filled in.
    Query,
    /// Execute the text of the command with its parameters.
    QueryWith,
    /// Prepare a command of the script.
    Prepare(usize),
    /// Execute the prepared command.
    Execute,
    /// Execute what the pipeline holds.
    Pipeline,
    /// Undo the transaction.
    Rollback,
    /// Pause.
    Sleep(Nanos),
    /// The transaction is complete.
    Done,
    /// It has failed for good.
    Failed(ErrorClass),
    /// The client is aborted.
    Abort(Option<ErrorClass>),
    /// The run cannot begin.
    EndAll(ErrorClass),
}

/// The program of a client.
pub(super) struct PgbenchProgram {
    plan: Arc<PgbenchPlan>,
    client: PgbenchClient,
    /// Transactions that have ended.
    ended: u64,
}

impl PgbenchProgram {
    /// `None`: there is no such client.
    pub(super) fn new(plan: Arc<PgbenchPlan>, client: u32) -> Option<Self> {
        let (variables, prng) = plan.client(client)?;
        let client = PgbenchClient::new(&plan, client, variables, prng);
        Some(Self { plan, client, ended: 0 })
    }

    /// Tells of what goes out to the database.
    #[cold]
    fn trace(&self, next: NextStep) {
        let Self { client, plan, .. } = self;
        let ready = |command: usize| &plan.commands[client.script][command];
        let what = match next {
            NextStep::Query => format!("sending {}", without_passwords(&client.sql)),
            NextStep::QueryWith => {
                format!("sending {}", without_passwords(&ready(client.command).sql))
            }
            NextStep::Prepare(command) => format!("preparing P_{}", ready(command).handle),
            NextStep::Execute => format!("sending P_{}", ready(client.command).handle),
            _ => return,
        };
        let text = format!("client {} {what}", client.id);
        plan.settings.listener.call(PgbenchNotice::Info(text));
    }

    #[inline]
    fn step(&self, next: NextStep) -> ScriptProgramStep<'_> {
        let client = &self.client;
        let plan = &*self.plan;
        if plan.settings.traces {
            self.trace(next);
        }
        let ready = || &plan.commands[client.script][client.command];
        let (op, is_booked) = match next {
            NextStep::Connect => (ConnectionOp::Connect, false),
            NextStep::Disconnect => (ConnectionOp::Disconnect, false),
            NextStep::Rollback => (ConnectionOp::Query("ROLLBACK"), false),
            NextStep::Query => (ConnectionOp::Query(&client.sql), true),
            NextStep::QueryWith => {
                let sql = ready().sql.as_str();
                (ConnectionOp::QueryWith { sql, parameters: &client.parameters }, true)
            }
            NextStep::Prepare(command) => {
                let ready = &plan.commands[client.script][command];
                (ConnectionOp::Prepare { handle: ready.handle, sql: &ready.sql }, false)
            }
            NextStep::Execute => {
                let handle = ready().handle;
                let keeps_rows = client.keeps_rows(plan);
                let parameters = &client.parameters;
                (ConnectionOp::Execute { handle, parameters, keeps_rows }, true)
            }
            NextStep::Pipeline => (ConnectionOp::Pipeline(&client.piped), true),
            NextStep::Sleep(length) => return ScriptProgramStep::Sleep(length),
            NextStep::Done => return ScriptProgramStep::Done,
            NextStep::Failed(class) => return ScriptProgramStep::Failed(class),
            NextStep::Abort(failed) => return ScriptProgramStep::Quit { failed, all: false },
            NextStep::EndAll(class) => {
                return ScriptProgramStep::Quit { failed: Some(class), all: true };
            }
        };
        let statement = is_booked.then(|| ready().statement);
        ScriptProgramStep::Perform { op, statement, connection: 0 }
    }

    /// Hands over what was added up.
    fn hand_over(&mut self) {
        lock(&self.plan.done).merge(&self.client.statistics);
        self.client.statistics.clear();
    }
}

impl Drop for PgbenchProgram {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl ScriptProgram for PgbenchProgram {
    fn operation(&mut self, _ticket: &Ticket) -> OperationId {
        OperationId(self.plan.choose(self.client.id) as u16)
    }

    fn start(&mut self, ticket: &Ticket) {
        let script = usize::from(ticket.operation.0);
        if self.plan.settings.traces {
            let name = &self.plan.settings.scripts.scripts[script].name;
            let text = format!("client {} executing script \"{name}\"", self.client.id);
            self.plan.settings.listener.call(PgbenchNotice::Info(text));
        }
        self.client.start(script, ticket.due);
    }

    fn resume(&mut self, event: ScriptEvent) -> ScriptProgramStep<'_> {
        let client = &mut self.client;
        let plan = &*self.plan;
        let next = match event {
            ScriptEvent::Started => client.begin(plan),
            ScriptEvent::Resumed => client.resumed(plan),
        };
        self.step(next)
    }

    fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptProgramStep<'_> {
        let client = &mut self.client;
        let plan = &*self.plan;
        let next = match reply {
            Ok(results) => client.answered(plan, results),
            Err(failure) => client.failed(plan, failure),
        };
        self.step(next)
    }

    fn begin(&mut self, phase: ProgramPhase) -> Option<ScriptProgramStep<'_>> {
        match phase {
            ProgramPhase::Open if !self.plan.settings.reconnects => {
                let next = self.client.open();
                Some(self.step(next))
            }
            ProgramPhase::Open => None,
            ProgramPhase::Close => {
                self.hand_over();
                None
            }
        }
    }

    fn retries(&self) -> u32 {
        self.client.tries.saturating_sub(1)
    }

    fn ended(&mut self, sample: &Sample) {
        let Self { plan, client, ended } = self;
        let sample = &client.without_connecting(plan, sample);
        let is_dropped = sample.outcome == Outcome::Dropped;
        // One that was never begun belongs to what came before it only by its place.
        let tries = if is_dropped { 1 } else { client.tries };
        let failure = client.failure.filter(|_| !is_dropped).unwrap_or(FailureKind::Other);
        let index = usize::from(sample.operation.0);
        let limit = plan.settings.latency_limit.map(Nanos::as_micros);
        let Some(script) = client.statistics.scripts.get_mut(index) else { return };
        script.transactions.add(sample, failure, tries, limit);
        if sample.outcome != Outcome::Unfinished {
            *ended += 1;
            let client = client.id;
            let number = *ended;
            let seen =
                ObservedTransaction { client, number, script: index, sample, failure, tries };
            plan.settings.observer.see(&seen);
        }
    }
}

#[cfg(test)]
mod tests;
