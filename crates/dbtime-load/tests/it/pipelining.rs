//! Statements sent ahead do no harm, whatever fails: transactions run against two simulated
//! databases, one that executes what follows a failure, and one that refuses it.

use dbtime_load::pipelining::Pipelining;
use dbtime_load::program::{Program, ProgramEvent, ProgramStep, Ticket};
use dbtime_load::session::{NativeAction, NativeSession, RetryPolicy, SessionRules};
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_model::{ErrorClass, MonoNanos, OperationId, Outcome, StatementId};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

const BEGIN: StatementId = StatementId(0);
const READ: StatementId = StatementId(1);
const WRITE: StatementId = StatementId(2);
const COMMIT: StatementId = StatementId(3);
const ROLLBACK: StatementId = StatementId(4);

/// Reads and writes inside of a transaction.
struct Script {
    steps: Vec<StatementId>,
    at: usize,
}

impl Program for Script {
    fn start(&mut self, _: &Ticket) {
        self.at = 0;
    }

    fn resume(&mut self, _: ProgramEvent<'_>) -> ProgramStep<'_> {
        self.at += 1;
        match self.steps.get(self.at - 1) {
            Some(&statement) => {
                ProgramStep::Execute { statement, parameters: &[], needs_row: false }
            }
            None => ProgramStep::Done,
        }
    }
}

/// What becomes of one execution.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Works,
    /// The statement alone fails.
    Fails,
    /// The transaction is rolled back with it.
    Deadlock,
}

/// A database that counts writes.
struct Database {
    /// Whether it refuses what follows a failure, until the transaction ends.
    refuses: bool,
    is_inside: bool,
    is_aborted: bool,
    written: u32,
    committed: u32,
    fates: VecDeque<Fate>,
}

impl Database {
    /// Executes a statement; an error says whether the transaction is undone.
    fn execute(&mut self, statement: StatementId) -> Result<(), bool> {
        if statement == COMMIT || statement == ROLLBACK {
            if statement == COMMIT && !self.is_aborted {
                self.committed += self.written;
            }
            (self.is_inside, self.is_aborted, self.written) = (false, false, 0);
            return Ok(());
        }
        if self.is_aborted {
            return Err(false);
        }
        let fate = self.fates.pop_front().unwrap_or(Fate::Works);
        match (fate, statement) {
            (Fate::Works, _) | (_, BEGIN) | (Fate::Deadlock, READ) => {
                self.is_inside |= statement == BEGIN;
                self.written += u32::from(statement == WRITE);
                if !self.is_inside {
                    self.committed += std::mem::take(&mut self.written);
                }
                Ok(())
            }
            _ if self.refuses => {
                self.is_aborted = self.is_inside;
                Err(!self.is_inside)
            }
            (Fate::Deadlock, _) => {
                (self.is_inside, self.written) = (false, 0);
                Err(true)
            }
            (Fate::Fails, _) => Err(false),
        }
    }
}

fn session(steps: Vec<StatementId>, pipelining: Pipelining) -> NativeSession {
    let sql = |text: &str| StatementKind::Sql(text.to_owned());
    let kinds = [
        StatementKind::Begin { write: true },
        sql("SELECT 1"),
        sql("UPDATE t SET n = n + 1"),
        StatementKind::Commit,
        StatementKind::Rollback,
    ];
    let statement = |kind| Statement { operation: OperationId(0), name: String::new(), kind };
    let retry = RetryPolicy { on: vec![ErrorClass::Conflict], max_tries: 4, backoff: None };
    let rules = SessionRules::new(kinds.map(statement).to_vec(), vec![retry], 1);
    let program = Script { steps, at: 0 };
    NativeSession::new(Box::new(program), Arc::new(rules.with_pipelining(pipelining)))
}

/// Runs a transaction. Returns its outcome and how often answers were waited for.
fn run(session: &mut NativeSession, database: &mut Database) -> (Outcome, u32) {
    let due = MonoNanos(0);
    let ticket = Ticket { index: 0, operation: OperationId(0), due, client: 0 };
    let (mut under_way, mut trips) = (VecDeque::new(), 0);
    let mut action = session.start(ticket);
    loop {
        match action {
            NativeAction::Execute(call) => {
                trips += 1;
                under_way.push_back(call.statement);
                while let Some(call) = session.next_ahead() {
                    under_way.push_back(call.statement);
                }
            }
            NativeAction::Pause { .. } => panic!("nothing pauses"),
            NativeAction::End(outcome) => {
                assert!(under_way.is_empty(), "it ended before its statements did");
                return (outcome, trips);
            }
        }
        let mut oldest = under_way.pop_front().expect("a statement is under way");
        while let Some(next) = under_way.pop_front() {
            let undone = database.execute(oldest).err();
            session.oldest_answered(undone.map(|undone| (ErrorClass::Conflict, undone)));
            oldest = next;
        }
        action = match database.execute(oldest) {
            Ok(()) => session.answered(1, &[]),
            Err(undone) => session.failed(ErrorClass::Conflict, undone),
        };
    }
}

fn transaction(middle: &[bool]) -> Vec<StatementId> {
    let middle = middle.iter().map(|writes| if *writes { WRITE } else { READ });
    std::iter::once(BEGIN).chain(middle).chain([COMMIT]).collect()
}

fn check(middle: &[bool], fates: Vec<Fate>, pipelining: Pipelining, refuses: bool) {
    let steps = transaction(middle);
    let writes = steps.iter().filter(|step| **step == WRITE).count() as u32;
    let mut session = session(steps, pipelining);
    let fates = fates.into();
    let mut database =
        Database { refuses, is_inside: false, is_aborted: false, written: 0, committed: 0, fates };
    let mut completed = 0;
    for _ in 0..3 {
        let (outcome, _) = run(&mut session, &mut database);
        completed += u32::from(outcome == Outcome::Completed);
        assert!(!database.is_inside, "a transaction was left open");
    }
    assert_eq!(database.committed, completed * writes, "what counts as done is done, once");
}

proptest! {
    #[test]
    fn what_is_completed_is_written_once_and_nothing_else_is(
        middle in prop::collection::vec(any::<bool>(), 0..7),
        fates in prop::collection::vec(
            prop_oneof![6 => Just(Fate::Works), 1 => Just(Fate::Fails), 1 => Just(Fate::Deadlock)],
            0..40,
        ),
    ) {
        for pipelining in [Pipelining::Off, Pipelining::BehindReads] {
            check(&middle, fates.clone(), pipelining, false);
        }
        for pipelining in [Pipelining::Off, Pipelining::BehindReads, Pipelining::Transaction] {
            check(&middle, fates.clone(), pipelining, true);
        }
    }
}

#[test]
fn fewer_answers_are_waited_for() {
    let trips = |pipelining| {
        let mut session = session(transaction(&[false, false, true, true, false]), pipelining);
        let mut database = Database {
            refuses: true,
            is_inside: false,
            is_aborted: false,
            written: 0,
            committed: 0,
            fates: VecDeque::new(),
        };
        run(&mut session, &mut database)
    };
    assert_eq!(trips(Pipelining::Off), (Outcome::Completed, 7));
    // BEGIN with both reads and a write; the other write; the last read; COMMIT.
    assert_eq!(trips(Pipelining::BehindReads), (Outcome::Completed, 4));
    assert_eq!(trips(Pipelining::Transaction), (Outcome::Completed, 1));
}

/// Why MySQL's transactions are not sent as a whole.
#[test]
#[should_panic(expected = "what counts as done is done, once")]
fn a_whole_transaction_does_harm_where_what_follows_a_failure_is_executed() {
    check(&[true, true], vec![Fate::Works, Fate::Deadlock], Pipelining::Transaction, false);
}
