//! One connection's transaction of a workload: a program with its retries and pauses.
//!
//! States: idle → running ⇄ pausing (think inside the transaction, backoff before a retry) →
//! rolling back (after a failure inside BEGIN … COMMIT) → running again or ended. With pipelining
//! several statements are under way at once; nothing is decided on before all are answered.

use super::rules::SessionRules;
use crate::pipelining::Pipelining;
use crate::program::{Program, ProgramEvent, ProgramStep, SqlValue, Ticket};
use crate::random::{RandomStream, draw};
use crate::statement::StatementKind;
use crate::think::draw_pause;
use dbtime_model::{ErrorClass, Nanos, Outcome, Part, StatementId};
use std::collections::VecDeque;
use std::sync::Arc;

/// A statement to be executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatementCall<'a> {
    /// By its position in the workload.
    pub statement: StatementId,
    /// Its parameters.
    pub parameters: &'a [SqlValue],
    /// Whether the first row is wanted.
    pub needs_row: bool,
}

/// What the engine is to do for a workload's session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NativeAction<'a> {
    /// Execute a statement and come back with [`NativeSession::answered`] or
    /// [`NativeSession::failed`].
    Execute(StatementCall<'a>),
    /// Pause and come back with [`NativeSession::resumed`].
    Pause {
        /// One of [`Part::PAUSES`].
        part: Part,
        /// From the present on.
        length: Nanos,
    },
    /// The transaction has ended.
    End(Outcome),
}

/// One connection's transaction under way.
pub struct NativeSession {
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

impl NativeSession {
    /// An idle session.
    pub fn new(program: Box<dyn Program>, rules: Arc<SessionRules>) -> Self {
        Self {
            program,
            rules,
            ticket: Ticket::default(),
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
    #[inline]
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Its attempts beyond the first.
    #[inline]
    pub fn retries(&self) -> u32 {
        self.tries.saturating_sub(1)
    }

    /// Starts a transaction.
    #[inline]
    pub fn start(&mut self, ticket: Ticket) -> NativeAction<'_> {
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
    fn begin(&mut self) -> NativeAction<'_> {
        self.program.start(&self.ticket);
        self.step(ProgramEvent::Started)
    }

    /// After [`NativeAction::Execute`]: the next statement that may be sent before the answers have
    /// come; `None` where there is none. Programs are told of no rows when one is.
    pub fn next_ahead(&mut self) -> Option<StatementCall<'_>> {
        let is_off = self.rules.pipelining == Pipelining::Off;
        if is_off || self.awaits_row || self.held.is_some() || self.undoing.is_some() {
            return None;
        }
        match self.program.resume(ProgramEvent::Answered { rows: 0, first: &[] }) {
            ProgramStep::Execute { statement, parameters, needs_row } => {
                let class = |id: StatementId| self.rules.sorts[id.0 as usize];
                let under_way = std::iter::once(self.executing).chain(self.behind.iter().copied());
                let how = self.rules.pipelining;
                if how.lets(class(statement), self.in_transaction, under_way.map(class)) {
                    self.behind.push_back(statement);
                    self.awaits_row = needs_row;
                    return Some(StatementCall { statement, parameters, needs_row });
                }
                self.parameters.clear();
                self.parameters.extend_from_slice(parameters);
                self.held = Some(HeldStep::Execute { statement, needs_row });
            }
            ProgramStep::Sleep(length) => self.held = Some(HeldStep::Sleep(length)),
            ProgramStep::Done => self.held = Some(HeldStep::Done),
        }
        None
    }

    /// Whether a statement under way has failed: the answers to those behind it say nothing new.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The oldest of several statements under way has been answered, or has failed as `failure`
    /// says: with which class, and whether the database has already rolled back. The next one
    /// behind it is awaited, and nothing is decided on before the last.
    pub fn oldest_answered(&mut self, failure: Option<(ErrorClass, bool)>) {
        match failure {
            None => self.note_executed(),
            Some((class, undone)) => self.failed = Some(self.first_failure(class, undone)),
        }
        if let Some(next) = self.behind.pop_front() {
            self.executing = next;
        }
    }

    /// The last statement under way has been answered with `rows` rows; `first` is the first of
    /// them where it was wanted.
    #[inline]
    pub fn answered(&mut self, rows: u64, first: &[SqlValue]) -> NativeAction<'_> {
        debug_assert!(self.behind.is_empty(), "an answer decided before those behind it");
        if let Some(class) = self.undoing.take() {
            self.in_transaction = false;
            return self.retry_or_end(class);
        }
        self.note_executed();
        if let Some((class, undone)) = self.failed.take() {
            return self.undo(class, undone);
        }
        match self.held.take() {
            None => self.step(ProgramEvent::Answered { rows, first }),
            Some(held) => self.release(held),
        }
    }

    /// Notes what an executed statement makes of the transaction.
    #[inline]
    fn note_executed(&mut self) {
        match self.rules.statements[self.executing.0 as usize].kind {
            StatementKind::Sql(_) => {}
            StatementKind::Begin { .. } => self.in_transaction = true,
            StatementKind::Commit | StatementKind::Rollback => self.in_transaction = false,
        }
    }

    /// What had to wait for answers is next.
    fn release(&mut self, held: HeldStep) -> NativeAction<'_> {
        match held {
            HeldStep::Execute { statement, needs_row } => {
                (self.executing, self.awaits_row) = (statement, needs_row);
                let parameters = &self.parameters;
                NativeAction::Execute(StatementCall { statement, parameters, needs_row })
            }
            HeldStep::Sleep(length) => NativeAction::Pause { part: Part::Think, length },
            HeldStep::Done => NativeAction::End(Outcome::Completed),
        }
    }

    /// The last statement under way failed. `undone` says that the database has already rolled
    /// back.
    pub fn failed(&mut self, class: ErrorClass, undone: bool) -> NativeAction<'_> {
        debug_assert!(self.behind.is_empty(), "a failure decided before the answers behind it");
        if let Some(first_class) = self.undoing.take() {
            // ROLLBACK itself failed: the connection is in no state for another attempt.
            return NativeAction::End(Outcome::Failed(first_class));
        }
        let (class, undone) = self.first_failure(class, undone);
        self.undo(class, undone)
    }

    /// Takes the first failure of those under way, which this one may be; each may have undone the
    /// transaction.
    fn first_failure(&mut self, class: ErrorClass, undone: bool) -> (ErrorClass, bool) {
        match self.failed.take() {
            Some((first_class, first_undone)) => (first_class, undone || first_undone),
            None => (class, undone),
        }
    }

    /// All that was under way has been answered, and something failed.
    fn undo(&mut self, class: ErrorClass, undone: bool) -> NativeAction<'_> {
        self.held = None;
        let rollback = self.rules.rollback[self.ticket.operation.0 as usize];
        if self.in_transaction
            && !undone
            && let Some(statement) = rollback
        {
            self.undoing = Some(class);
            self.executing = statement;
            let call = StatementCall { statement, parameters: &[], needs_row: false };
            return NativeAction::Execute(call);
        }
        self.in_transaction = false;
        self.retry_or_end(class)
    }

    /// A pause is over.
    pub fn resumed(&mut self, part: Part) -> NativeAction<'_> {
        if part == Part::Backoff {
            return self.begin();
        }
        self.step(ProgramEvent::Resumed)
    }

    fn retry_or_end(&mut self, class: ErrorClass) -> NativeAction<'_> {
        let retry = &self.rules.retry[self.ticket.operation.0 as usize];
        if !retry.on.contains(&class) || self.tries >= retry.max_tries {
            return NativeAction::End(Outcome::Failed(class));
        }
        let backoff = retry.backoff;
        self.tries += 1;
        match backoff {
            Some(backoff) => {
                let index = self.ticket.index ^ u64::from(self.tries) << 48;
                let once = draw_pause(backoff, draw(self.rules.seed, RandomStream::Backoff, index));
                // Doubling stops at 1024 times: a pause of hours would look like a hang.
                let length = Nanos(once.0.saturating_mul(1 << (self.tries - 2).min(10)));
                NativeAction::Pause { part: Part::Backoff, length }
            }
            None => self.begin(),
        }
    }

    #[inline]
    fn step(&mut self, event: ProgramEvent<'_>) -> NativeAction<'_> {
        match self.program.resume(event) {
            ProgramStep::Execute { statement, parameters, needs_row } => {
                (self.executing, self.awaits_row) = (statement, needs_row);
                NativeAction::Execute(StatementCall { statement, parameters, needs_row })
            }
            ProgramStep::Sleep(length) => NativeAction::Pause { part: Part::Think, length },
            ProgramStep::Done => NativeAction::End(Outcome::Completed),
        }
    }
}
