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

use super::client::Client;
use super::notice::Notice;
use super::observer::Seen;
use super::plan::{Plan, lock};
use super::statistics::FailureKind;
use dbtime_load::failure::Failure;
use dbtime_load::program::{Event, Phase, Program, Step, Ticket};
use dbtime_load::request::Request;
use dbtime_load::results::Results;
use dbtime_model::{ErrorClass, Nanos, OperationId, Outcome, Sample};
use std::sync::Arc;

/// What a client wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
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
    plan: Arc<Plan>,
    client: Client,
    /// Transactions that have ended.
    ended: u64,
}

impl PgbenchProgram {
    /// `None`: there is no such client.
    pub(super) fn new(plan: Arc<Plan>, client: u32) -> Option<Self> {
        let (variables, prng) = plan.client(client)?;
        let client = Client::new(&plan, client, variables, prng);
        Some(Self { plan, client, ended: 0 })
    }

    /// Tells of what goes out to the database.
    #[cold]
    fn trace(&self, next: Next) {
        let Self { client, plan, .. } = self;
        let ready = |command: usize| &plan.commands[client.script][command];
        let what = match next {
            Next::Query => format!("sending {}", client.sql),
            Next::QueryWith => format!("sending {}", ready(client.command).sql),
            Next::Prepare(command) => format!("preparing P_{}", ready(command).handle),
            Next::Execute => format!("sending P_{}", ready(client.command).handle),
            _ => return,
        };
        let text = format!("client {} {what}", client.id);
        plan.settings.listener.say(Notice::Info(text));
    }

    #[inline]
    fn step(&self, next: Next) -> Step<'_> {
        let (client, plan) = (&self.client, &*self.plan);
        if plan.settings.traces {
            self.trace(next);
        }
        let ready = || &plan.commands[client.script][client.command];
        let (request, is_booked) = match next {
            Next::Connect => (Request::Connect, false),
            Next::Disconnect => (Request::Disconnect, false),
            Next::Rollback => (Request::Query("ROLLBACK"), false),
            Next::Query => (Request::Query(&client.sql), true),
            Next::QueryWith => {
                let sql = ready().sql.as_str();
                (Request::QueryWith { sql, parameters: &client.parameters }, true)
            }
            Next::Prepare(command) => {
                let ready = &plan.commands[client.script][command];
                (Request::Prepare { handle: ready.handle, sql: &ready.sql }, false)
            }
            Next::Execute => {
                let (handle, keeps_rows) = (ready().handle, client.keeps_rows(plan));
                let parameters = &client.parameters;
                (Request::Execute { handle, parameters, keeps_rows }, true)
            }
            Next::Pipeline => (Request::Pipeline(&client.piped), true),
            Next::Sleep(length) => return Step::Sleep(length),
            Next::Done => return Step::Done,
            Next::Failed(class) => return Step::Failed(class),
            Next::Abort(failed) => return Step::Quit { failed, all: false },
            Next::EndAll(class) => return Step::Quit { failed: Some(class), all: true },
        };
        let statement = is_booked.then(|| ready().statement);
        Step::Ask { request, statement, connection: 0 }
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

impl Program for PgbenchProgram {
    fn operation(&mut self, _ticket: &Ticket) -> OperationId {
        OperationId(self.plan.choose(self.client.id) as u16)
    }

    fn start(&mut self, ticket: &Ticket) {
        let script = usize::from(ticket.operation.0);
        if self.plan.settings.traces {
            let name = &self.plan.settings.scripts.scripts[script].name;
            let text = format!("client {} executing script \"{name}\"", self.client.id);
            self.plan.settings.listener.say(Notice::Info(text));
        }
        self.client.start(script, ticket.due);
    }

    fn resume(&mut self, event: Event<'_>) -> Step<'_> {
        let (client, plan) = (&mut self.client, &*self.plan);
        let next = match event {
            Event::Started => client.begin(plan),
            Event::Resumed => client.resumed(plan),
            Event::Answered { .. } => client.advance(plan),
        };
        self.step(next)
    }

    fn replied(&mut self, reply: Result<&mut Results, &Failure>) -> Step<'_> {
        let (client, plan) = (&mut self.client, &*self.plan);
        let next = match reply {
            Ok(results) => client.answered(plan, results),
            Err(failure) => client.failed(plan, failure),
        };
        self.step(next)
    }

    fn begin(&mut self, phase: Phase) -> Option<Step<'_>> {
        match phase {
            Phase::Open if !self.plan.settings.reconnects => {
                let next = self.client.open();
                Some(self.step(next))
            }
            Phase::Open => None,
            Phase::Close => {
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
            let (client, number) = (client.id, *ended);
            let seen = Seen { client, number, script: index, sample, failure, tries };
            plan.settings.observer.see(&seen);
        }
    }
}

#[cfg(test)]
mod tests;
