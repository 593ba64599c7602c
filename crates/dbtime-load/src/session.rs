//! One connection's transaction under way: a program with its retries and pauses.
//!
//! States: idle → running ⇄ pausing (think inside the transaction, backoff before a retry) →
//! rolling back (after a failure inside BEGIN … COMMIT) → running again or ended. With pipelining
//! several statements are under way at once; nothing is decided on before all are answered.

use crate::connection_op::ConnectionOp;
use crate::failure::DatabaseFailure;
use crate::pipelining::{Pipelining, StatementClass};
use crate::program::{Program, ProgramEvent, ProgramPhase, ProgramStep, SqlValue, Ticket};
use crate::random::{RandomStream, draw};
use crate::results::ResultSets;
use crate::statement::{Statement, StatementKind};
use crate::think::ThinkTime;
use dbtime_model::{ErrorClass, Nanos, OperationId, Outcome, Part, Sample, StatementId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Which failures are tried again, how often, and after which pause.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Classes of failure that are tried again.
    pub on: Vec<ErrorClass>,
    /// Attempts in all, the first included.
    pub max_tries: u32,
    /// The pause before the second attempt; it doubles with each further one.
    pub backoff: Option<ThinkTime>,
}

impl Default for RetryPolicy {
    /// No retries.
    fn default() -> Self {
        Self { on: Vec::new(), max_tries: 1, backoff: None }
    }
}

/// What the engine is to do for the session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SessionAction<'a> {
    /// Execute a statement and come back with [`Session::answered`] or [`Session::failed`].
    Execute {
        /// By its position in the workload.
        statement: StatementId,
        /// Its parameters.
        parameters: &'a [SqlValue],
        /// Whether the first row is wanted.
        needs_row: bool,
    },
    /// Pause and come back with [`Session::resumed`].
    Pause {
        /// [`Part::ThinkTime`] or [`Part::Backoff`].
        part: Part,
        /// From the present on.
        length: Nanos,
    },
    /// Nothing before the next statement under way is answered. Only with pipelining.
    Wait,
    /// Ask something of the connection and come back with [`Session::replied`].
    Perform {
        /// What the script wants done.
        op: ConnectionOp<'a>,
        /// What it is booked under; `None`: it is no statement.
        statement: Option<StatementId>,
        /// Which of the client's connections it is for.
        connection: u16,
    },
    /// The transaction has ended.
    End(Outcome),
    /// The transaction has ended, and its client asks for no other.
    Quit {
        /// What became of it.
        outcome: Outcome,
        /// Whether the run ends with it.
        all: bool,
    },
}

/// What all sessions of a run share.
#[derive(Clone, Debug)]
pub struct SessionRules {
    /// The statements of the workload, by [`StatementId`].
    pub statements: Vec<Statement>,
    /// The ROLLBACK of each operation, by [`OperationId`]; `None` where it has no transaction.
    pub rollback: Vec<Option<StatementId>>,
    /// Retries, by [`OperationId`].
    pub retry: Vec<RetryPolicy>,
    /// Seed of the run.
    pub seed: u64,
    pipelining: Pipelining,
    /// By [`StatementId`].
    sorts: Vec<StatementClass>,
}

impl SessionRules {
    /// The rules of a workload's statements.
    pub fn new(statements: Vec<Statement>, retry: Vec<RetryPolicy>, seed: u64) -> Self {
        let rollback_of = |operation| {
            let is = |s: &Statement| s.operation == operation && s.kind == StatementKind::Rollback;
            statements.iter().position(is).map(|index| StatementId(index as u16))
        };
        let rollback = (0..retry.len()).map(|op| rollback_of(OperationId(op as u16))).collect();
        let sorts =
            statements.iter().map(|statement| StatementClass::of(&statement.kind)).collect();
        Self { statements, rollback, retry, seed, pipelining: Pipelining::Off, sorts }
    }

    /// The same rules, with statements sent ahead as far as `pipelining` lets them.
    #[must_use]
    pub fn with_pipelining(self, pipelining: Pipelining) -> Self {
        Self { pipelining, ..self }
    }
}

/// One connection's transaction under way.
pub struct Session {
    program: Box<dyn Program>,
    rules: Arc<SessionRules>,
    ticket: Ticket,
    /// Attempts made so far, the present one included.
    tries: u32,
    in_transaction: bool,
    /// Set while the transaction is being undone: what happens once it is.
    undoing: Option<ErrorClass>,
    executing: StatementId,
    /// Statements under way behind `executing`, oldest first.
    behind: VecDeque<StatementId>,
    /// The program waits for the row of the last of them.
    awaits_row: bool,
    /// What the program wants next, once all of them are answered.
    held: Option<HeldStep>,
    /// The parameters of a held statement.
    parameters: Vec<SqlValue>,
    /// The first failure among them, and whether it undid the transaction.
    failed: Option<(ErrorClass, bool)>,
}

/// A step that was taken ahead and has to wait.
#[derive(Clone, Copy)]
enum HeldStep {
    Execute { statement: StatementId, needs_row: bool },
    Sleep(Nanos),
    Done,
}

impl Session {
    /// An idle session.
    pub fn new(program: Box<dyn Program>, rules: Arc<SessionRules>) -> Self {
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
            behind: VecDeque::new(),
            awaits_row: false,
            held: None,
            parameters: Vec::new(),
            failed: None,
        }
    }

    /// The transaction under way, or the last one.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Its attempts beyond the first.
    pub fn retries(&self) -> u32 {
        self.tries.saturating_sub(1) + self.program.retries()
    }

    /// The ticket, with the operation that the program makes of it.
    #[inline]
    pub fn claimed(&mut self, ticket: Ticket) -> Ticket {
        Ticket { operation: self.program.operation(&ticket), ..ticket }
    }

    /// Begins a part of the client's life outside of transactions; it is over when an action says
    /// [`SessionAction::End`]. `None`: there is nothing to do in it.
    pub fn begin_phase(&mut self, phase: ProgramPhase) -> Option<SessionAction<'_>> {
        self.program.begin(phase).map(action_of)
    }

    /// The transaction has ended, as `sample` says.
    #[inline]
    pub fn ended(&mut self, sample: &Sample) {
        self.program.ended(sample);
    }

    /// What became of [`SessionAction::Ask`].
    #[inline]
    pub fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> SessionAction<'_> {
        action_of(self.program.replied(reply))
    }

    /// Starts a transaction.
    #[inline]
    pub fn start(&mut self, ticket: Ticket) -> SessionAction<'_> {
        self.ticket = ticket;
        self.tries = 1;
        self.in_transaction = false;
        self.undoing = None;
        self.behind.clear();
        (self.failed, self.held) = (None, None);
        self.begin()
    }

    /// The first step of an attempt.
    #[inline]
    fn begin(&mut self) -> SessionAction<'_> {
        self.program.start(&self.ticket);
        self.step(ProgramEvent::Started)
    }

    /// After [`SessionAction::Execute`]: the next statement that may be sent before the answers
    /// have come;
    /// `None` where there is none. Programs are told of no rows when one is.
    pub fn next_ahead(&mut self) -> Option<SessionAction<'_>> {
        let is_off = self.rules.pipelining == Pipelining::Off;
        if is_off || self.awaits_row || self.held.is_some() || self.undoing.is_some() {
            return None;
        }
        match self.program.resume(ProgramEvent::Answered { rows: 0, first: &[] }) {
            ProgramStep::Execute { statement, parameters, needs_row } => {
                let sort = |id: StatementId| self.rules.sorts[id.0 as usize];
                let under_way = std::iter::once(self.executing).chain(self.behind.iter().copied());
                let how = self.rules.pipelining;
                if how.lets(sort(statement), self.in_transaction, under_way.map(sort)) {
                    self.behind.push_back(statement);
                    self.awaits_row = needs_row;
                    return Some(SessionAction::Execute { statement, parameters, needs_row });
                }
                self.parameters.clear();
                self.parameters.extend_from_slice(parameters);
                self.held = Some(HeldStep::Execute { statement, needs_row });
            }
            ProgramStep::Sleep(length) => self.held = Some(HeldStep::Sleep(length)),
            ProgramStep::Done => self.held = Some(HeldStep::Done),
            ProgramStep::Perform { .. } | ProgramStep::Failed(_) | ProgramStep::Quit { .. } => {
                unreachable!("scripts are not sent ahead: their rules have no pipelining")
            }
        }
        None
    }

    /// Whether a statement under way has failed: the answers to those behind it say nothing new.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The statement answered with `rows` rows; `first` is the first of them where it was wanted.
    /// Of several under way it is the oldest.
    #[inline]
    pub fn answered(&mut self, rows: u64, first: &[SqlValue]) -> SessionAction<'_> {
        if let Some(class) = self.undoing.take() {
            self.in_transaction = false;
            return self.retry_or_end(class);
        }
        match self.rules.statements[self.executing.0 as usize].kind {
            StatementKind::Sql(_) => {}
            StatementKind::Begin { .. } => self.in_transaction = true,
            StatementKind::Commit | StatementKind::Rollback => self.in_transaction = false,
        }
        if let Some(next) = self.behind.pop_front() {
            self.executing = next;
            return SessionAction::Wait;
        }
        if let Some((class, undone)) = self.failed.take() {
            return self.undo(class, undone);
        }
        match self.held.take() {
            None => self.step(ProgramEvent::Answered { rows, first }),
            Some(held) => self.release(held),
        }
    }

    /// What had to wait for answers is next.
    fn release(&mut self, held: HeldStep) -> SessionAction<'_> {
        match held {
            HeldStep::Execute { statement, needs_row } => {
                (self.executing, self.awaits_row) = (statement, needs_row);
                SessionAction::Execute { statement, parameters: &self.parameters, needs_row }
            }
            HeldStep::Sleep(length) => SessionAction::Pause { part: Part::Think, length },
            HeldStep::Done => SessionAction::End(Outcome::Completed),
        }
    }

    /// The statement failed; of several under way the oldest. `undone` says that the database has
    /// already rolled back.
    pub fn failed(&mut self, class: ErrorClass, undone: bool) -> SessionAction<'_> {
        if let Some(first_class) = self.undoing.take() {
            // ROLLBACK itself failed: the connection is in no state for another attempt.
            return SessionAction::End(Outcome::Failed(first_class));
        }
        let first = self.failed.take();
        let (class, undone) = (
            first.map_or(class, |first| first.0),
            undone || { first.is_some_and(|(_, undone)| undone) },
        );
        if let Some(next) = self.behind.pop_front() {
            self.executing = next;
            self.failed = Some((class, undone));
            return SessionAction::Wait;
        }
        self.undo(class, undone)
    }

    /// All that was under way has been answered, and something failed.
    fn undo(&mut self, class: ErrorClass, undone: bool) -> SessionAction<'_> {
        self.held = None;
        let rollback = self.rules.rollback[self.ticket.operation.0 as usize];
        if self.in_transaction
            && !undone
            && let Some(statement) = rollback
        {
            self.undoing = Some(class);
            self.executing = statement;
            return SessionAction::Execute { statement, parameters: &[], needs_row: false };
        }
        self.in_transaction = false;
        self.retry_or_end(class)
    }

    /// A pause is over.
    pub fn resumed(&mut self, part: Part) -> SessionAction<'_> {
        if part == Part::Backoff {
            return self.begin();
        }
        self.step(ProgramEvent::Resumed)
    }

    fn retry_or_end(&mut self, class: ErrorClass) -> SessionAction<'_> {
        let retry = &self.rules.retry[self.ticket.operation.0 as usize];
        if !retry.on.contains(&class) || self.tries >= retry.max_tries {
            return SessionAction::End(Outcome::Failed(class));
        }
        let backoff = retry.backoff;
        self.tries += 1;
        match backoff {
            Some(backoff) => {
                let index = self.ticket.index ^ u64::from(self.tries) << 48;
                let once = backoff.draw(draw(self.rules.seed, RandomStream::Backoff, index));
                // Doubling stops at 1024 times: a pause of hours would look like a hang.
                let length = Nanos(once.0.saturating_mul(1 << (self.tries - 2).min(10)));
                SessionAction::Pause { part: Part::Backoff, length }
            }
            None => self.begin(),
        }
    }

    #[inline]
    fn step(&mut self, event: ProgramEvent<'_>) -> SessionAction<'_> {
        let step = self.program.resume(event);
        if let ProgramStep::Execute { statement, needs_row, .. } = step {
            (self.executing, self.awaits_row) = (statement, needs_row);
        }
        action_of(step)
    }
}

/// What the engine does for a step.
#[inline]
fn action_of(step: ProgramStep<'_>) -> SessionAction<'_> {
    match step {
        ProgramStep::Execute { statement, parameters, needs_row } => {
            SessionAction::Execute { statement, parameters, needs_row }
        }
        ProgramStep::Perform { op, statement, connection } => {
            SessionAction::Perform { op, statement, connection }
        }
        ProgramStep::Sleep(length) => SessionAction::Pause { part: Part::Think, length },
        ProgramStep::Done => SessionAction::End(Outcome::Completed),
        ProgramStep::Failed(class) => SessionAction::End(Outcome::Failed(class)),
        ProgramStep::Quit { failed, all } => {
            SessionAction::Quit { outcome: failed.map_or(Outcome::Completed, Outcome::Failed), all }
        }
    }
}
