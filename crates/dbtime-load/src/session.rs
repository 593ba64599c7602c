//! One connection's transaction under way: a program with its retries and pauses.
//!
//! States: idle → running ⇄ pausing (think inside the transaction, backoff before a retry) →
//! rolling back (after a failure inside BEGIN … COMMIT) → running again or ended.

use crate::program::{Event, Program, Step, Ticket, Value};
use crate::random::{Stream, draw};
use crate::statement::{Statement, StatementKind};
use crate::think::Think;
use dbtime_model::{ErrorClass, Nanos, OperationId, Outcome, Part, StatementId};
use std::sync::Arc;

/// Which failures are tried again, how often, and after which pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// Classes of failure that are tried again.
    pub on: Vec<ErrorClass>,
    /// Attempts in all, the first included.
    pub max_tries: u32,
    /// The pause before the second attempt; it doubles with each further one.
    pub backoff: Option<Think>,
}

impl Default for Retry {
    /// No retries.
    fn default() -> Self {
        Self { on: Vec::new(), max_tries: 1, backoff: None }
    }
}

/// What the engine is to do for the session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action<'a> {
    /// Execute a statement and come back with [`Session::answered`] or [`Session::failed`].
    Execute {
        /// Which one.
        statement: StatementId,
        /// Its parameters.
        parameters: &'a [Value],
        /// Whether the first row is wanted.
        wants_row: bool,
    },
    /// Pause and come back with [`Session::resumed`].
    Pause {
        /// [`Part::Think`] or [`Part::Backoff`].
        part: Part,
        /// How long.
        length: Nanos,
    },
    /// The transaction has ended.
    End(Outcome),
}

/// What all sessions of a run share.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The statements of the workload, by [`StatementId`].
    pub statements: Vec<Statement>,
    /// The ROLLBACK of each operation, by [`OperationId`]; `None` where it has no transaction.
    pub rollback: Vec<Option<StatementId>>,
    /// Retries, by [`OperationId`].
    pub retry: Vec<Retry>,
    /// Seed of the run.
    pub seed: u64,
}

impl Rules {
    /// The rules of a workload's statements.
    pub fn new(statements: Vec<Statement>, retry: Vec<Retry>, seed: u64) -> Self {
        let rollback_of = |operation| {
            let is = |s: &Statement| s.operation == operation && s.kind == StatementKind::Rollback;
            statements.iter().position(is).map(|index| StatementId(index as u16))
        };
        let rollback = (0..retry.len()).map(|op| rollback_of(OperationId(op as u16))).collect();
        Self { statements, rollback, retry, seed }
    }
}

/// One connection's transaction under way.
pub struct Session {
    program: Box<dyn Program>,
    rules: Arc<Rules>,
    ticket: Ticket,
    /// Attempts made so far, the present one included.
    tries: u32,
    in_transaction: bool,
    /// Set while the transaction is being undone: what happens once it is.
    undoing: Option<ErrorClass>,
    executing: StatementId,
}

impl Session {
    /// An idle session.
    pub fn new(program: Box<dyn Program>, rules: Arc<Rules>) -> Self {
        let ticket = Ticket {
            index: 0,
            operation: OperationId(0),
            due: dbtime_model::MonoNanos(0),
            client: 0,
        };
        Self {
            program,
            rules,
            ticket,
            tries: 0,
            in_transaction: false,
            undoing: None,
            executing: StatementId(0),
        }
    }

    /// The transaction under way, or the last one.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Its attempts beyond the first.
    pub fn retries(&self) -> u32 {
        self.tries.saturating_sub(1)
    }

    /// Starts a transaction.
    #[inline]
    pub fn start(&mut self, ticket: Ticket) -> Action<'_> {
        self.ticket = ticket;
        self.tries = 1;
        self.in_transaction = false;
        self.undoing = None;
        self.program.start(&ticket);
        self.step(Event::Started)
    }

    /// The statement answered with `rows` rows; `first` is the first of them where it was wanted.
    #[inline]
    pub fn answered(&mut self, rows: u64, first: &[Value]) -> Action<'_> {
        if let Some(class) = self.undoing.take() {
            self.in_transaction = false;
            return self.retry_or_end(class);
        }
        match self.rules.statements[self.executing.0 as usize].kind {
            StatementKind::Sql(_) => {}
            StatementKind::Begin { .. } => self.in_transaction = true,
            StatementKind::Commit | StatementKind::Rollback => self.in_transaction = false,
        }
        self.step(Event::Answered { rows, first })
    }

    /// The statement failed. `undone` says that the database has already rolled back.
    pub fn failed(&mut self, class: ErrorClass, undone: bool) -> Action<'_> {
        if let Some(first_class) = self.undoing.take() {
            // ROLLBACK itself failed: the connection is in no state for another attempt.
            return Action::End(Outcome::Failed(first_class));
        }
        let rollback = self.rules.rollback[self.ticket.operation.0 as usize];
        if self.in_transaction
            && !undone
            && let Some(statement) = rollback
        {
            self.undoing = Some(class);
            self.executing = statement;
            return Action::Execute { statement, parameters: &[], wants_row: false };
        }
        self.in_transaction = false;
        self.retry_or_end(class)
    }

    /// A pause is over.
    pub fn resumed(&mut self, part: Part) -> Action<'_> {
        if part == Part::Backoff {
            self.program.start(&self.ticket.clone());
            return self.step(Event::Started);
        }
        self.step(Event::Resumed)
    }

    fn retry_or_end(&mut self, class: ErrorClass) -> Action<'_> {
        let retry = &self.rules.retry[self.ticket.operation.0 as usize];
        if !retry.on.contains(&class) || self.tries >= retry.max_tries {
            return Action::End(Outcome::Failed(class));
        }
        let backoff = retry.backoff;
        self.tries += 1;
        match backoff {
            Some(backoff) => {
                let index = self.ticket.index ^ u64::from(self.tries) << 48;
                let once = backoff.draw(draw(self.rules.seed, Stream::Backoff, index));
                // Doubling stops at 1024 times: a pause of hours would look like a hang.
                let length = Nanos(once.0.saturating_mul(1 << (self.tries - 2).min(10)));
                Action::Pause { part: Part::Backoff, length }
            }
            None => {
                self.program.start(&self.ticket.clone());
                self.step(Event::Started)
            }
        }
    }

    #[inline]
    fn step(&mut self, event: Event<'_>) -> Action<'_> {
        match self.program.resume(event) {
            Step::Execute { statement, parameters, wants_row } => {
                self.executing = statement;
                Action::Execute { statement, parameters, wants_row }
            }
            Step::Sleep(length) => Action::Pause { part: Part::Think, length },
            Step::Done => Action::End(Outcome::Completed),
        }
    }
}
