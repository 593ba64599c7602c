//! A program that decides by a row it has read, run by a session on a simulated database.

use dbtime_load::program::{Program, ProgramEvent, ProgramStep, SqlValue, Ticket};
use dbtime_load::session::{NativeAction, NativeSession, RetryPolicy, SessionRules, StatementCall};
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_model::{ErrorClass, MonoNanos, OperationId, Outcome, Part, StatementId};
use std::sync::Arc;

const BEGIN: StatementId = StatementId(0);
const READ: StatementId = StatementId(1);
const WITHDRAW: StatementId = StatementId(2);
const REFUSE: StatementId = StatementId(3);
const COMMIT: StatementId = StatementId(4);
const ROLLBACK: StatementId = StatementId(5);

/// Reads a balance; withdraws if there is enough, notes a refusal if not.
struct Withdrawal {
    at: u8,
    enough: bool,
}

impl Program for Withdrawal {
    fn start(&mut self, _: &Ticket) {
        (self.at, self.enough) = (0, false);
    }

    fn resume(&mut self, event: ProgramEvent<'_>) -> ProgramStep<'_> {
        if let (2, ProgramEvent::Answered { first: [SqlValue::Integer(balance)], .. }) =
            (self.at, event)
        {
            self.enough = *balance >= 100;
        }
        self.at += 1;
        let statement = match self.at {
            1 => BEGIN,
            2 => READ,
            3 if self.enough => WITHDRAW,
            3 => REFUSE,
            4 => COMMIT,
            _ => return ProgramStep::Done,
        };
        ProgramStep::Execute { statement, parameters: &[], needs_row: statement == READ }
    }
}

fn session(retry: RetryPolicy) -> NativeSession {
    let sql = |text: &str| StatementKind::Sql(text.to_owned());
    let kinds = [
        StatementKind::Begin { write: true },
        sql("read"),
        sql("withdraw"),
        sql("refuse"),
        StatementKind::Commit,
        StatementKind::Rollback,
    ];
    let statement = |kind| Statement { operation: OperationId(0), name: String::new(), kind };
    let rules = SessionRules::new(kinds.map(statement).to_vec(), vec![retry], 1);
    NativeSession::new(Box::new(Withdrawal { at: 0, enough: false }), Arc::new(rules))
}

/// Runs one transaction; `fails` says how a statement fails the n-th time anything is executed.
fn run(
    session: &mut NativeSession,
    balance: i64,
    fails: impl Fn(usize, StatementId) -> Option<(ErrorClass, bool)>,
) -> (Vec<StatementId>, Outcome) {
    let due = MonoNanos(0);
    let ticket = Ticket { index: 0, operation: OperationId(0), due, client: 0 };
    let row = [SqlValue::Integer(balance)];
    let mut executed = Vec::new();
    let mut action = session.start(ticket);
    loop {
        action = match action {
            NativeAction::Execute(StatementCall { statement, needs_row, .. }) => {
                executed.push(statement);
                match fails(executed.len(), statement) {
                    Some((class, undone)) => session.failed(class, undone),
                    None => session.answered(1, if needs_row { &row } else { &[] }),
                }
            }
            NativeAction::Pause { part, .. } => {
                assert_eq!(part, Part::Backoff);
                session.resumed(part)
            }
            NativeAction::End(outcome) => return (executed, outcome),
        };
    }
}

#[test]
fn the_row_decides() {
    let mut session = session(RetryPolicy::default());
    let never = |_, _| None;
    assert_eq!(run(&mut session, 500, never).0, [BEGIN, READ, WITHDRAW, COMMIT]);
    assert_eq!(run(&mut session, 50, never).0, [BEGIN, READ, REFUSE, COMMIT]);
}

#[test]
fn a_failure_is_rolled_back_and_tried_again() {
    let backoff = Some("1ms".parse().expect("a think time"));
    let retry = RetryPolicy { on: vec![ErrorClass::Busy], max_tries: 3, backoff };
    let mut session = session(retry);
    let once = |n, _| (n == 3).then_some((ErrorClass::Busy, false));
    let (executed, outcome) = run(&mut session, 500, once);
    assert_eq!(executed, [BEGIN, READ, WITHDRAW, ROLLBACK, BEGIN, READ, WITHDRAW, COMMIT]);
    assert_eq!((outcome, session.retries()), (Outcome::Completed, 1));

    let always = |_, statement| (statement == WITHDRAW).then_some((ErrorClass::Busy, true));
    let (executed, outcome) = run(&mut session, 500, always);
    assert_eq!(executed, [BEGIN, READ, WITHDRAW].repeat(3));
    assert_eq!((outcome, session.retries()), (Outcome::Failed(ErrorClass::Busy), 2));
}

#[test]
fn other_failures_end_it_after_one_rollback() {
    let mut session = session(RetryPolicy::default());
    let full = |_, statement| (statement == COMMIT).then_some((ErrorClass::Full, false));
    let (executed, outcome) = run(&mut session, 500, full);
    assert_eq!(executed, [BEGIN, READ, WITHDRAW, COMMIT, ROLLBACK]);
    assert_eq!(outcome, Outcome::Failed(ErrorClass::Full));

    let broken = |_, statement| {
        (statement == COMMIT || statement == ROLLBACK).then_some((ErrorClass::Io, false))
    };
    assert_eq!(run(&mut session, 500, broken).1, Outcome::Failed(ErrorClass::Io));
}
