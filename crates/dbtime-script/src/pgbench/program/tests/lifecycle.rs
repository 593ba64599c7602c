//! What happens around transactions: the connection before the first, and who sees them end.

use super::*;
use crate::pgbench::observer::TransactionObserver;
use crate::pgbench::statistics::FailureKind;
use dbtime_load::script::ProgramPhase;

#[test]
fn the_connection_is_made_before_the_load() {
    let mut stage = Stage::new("SELECT 1;", PgbenchSettings::default());
    let program = stage.program.as_mut().expect("a client");
    assert_eq!(program.begin(ProgramPhase::Open).map(written), Some("connect".to_owned()));
    assert_eq!(written(program.replied(Ok(&mut ResultSets::default()))), "done");
    assert_eq!(stage.play(&mut well), ["query SELECT 1;", "done"]);
    let program = stage.program.as_mut().expect("a client");
    assert_eq!(program.begin(ProgramPhase::Close), None);
    assert_eq!(stage.script.statistics().total().completed, 1);
}

#[test]
fn a_run_without_its_connections_does_not_begin() {
    let mut stage = Stage::new("SELECT 1;", PgbenchSettings::default());
    let program = stage.program.as_mut().expect("a client");
    program.begin(ProgramPhase::Open).expect("a connection is made");
    let refused = DatabaseFailure::connection("53300", "sorry, too many clients already");
    let quit = ScriptProgramStep::Quit { failed: Some(ErrorClass::Connection), all: true };
    assert_eq!(program.replied(Err(&refused)), quit);
    let stop_reason =
        "sorry, too many clients already\nerror: could not create connection for client 0";
    assert_eq!(stage.script.stop_reason().as_deref(), Some(stop_reason));
    assert!(stage.script.aborted().is_empty());
}

#[test]
fn transactions_that_connect_need_nothing_before() {
    let settings = PgbenchSettings { reconnects: true, ..PgbenchSettings::default() };
    let mut stage = Stage::new("SELECT 1;", settings);
    assert!(stage.script.connects());
    assert_eq!(stage.program.as_mut().expect("a client").begin(ProgramPhase::Open), None);
}

#[test]
fn every_command_is_told_where_that_is_wanted() {
    let settings = PgbenchSettings { traces: true, ..PgbenchSettings::default() };
    let mut stage = Stage::new("\\set a 1 + 1\nSELECT :a;", settings);
    stage.play(&mut well);
    let expected = [
        "client 0 executing script \"e.sql\"",
        "client 0 executing \\set a",
        "client 0 sending SELECT 2;",
        "client 0 receiving",
    ];
    assert_eq!(stage.said(), expected.map(|line| PgbenchNotice::Info(line.to_owned())));
}

#[test]
fn an_observer_sees_what_became_of_each_transaction() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let observer = TransactionObserver::new(move |seen| {
        let what = (seen.number, seen.sample.outcome, seen.failure, seen.tries);
        sees.lock().expect("whole").push(what);
    });
    let settings = PgbenchSettings { observer, max_tries: 2, ..PgbenchSettings::default() };
    let mut stage = Stage::new("SELECT 1;", settings);
    let conflict = || failure(ErrorClass::Conflict, "40001", "could not serialize access");
    stage.play(&mut well);
    stage.play(&mut |_| Err(conflict()));
    let ticket = Ticket { index: 2, operation: OperationId(0), due: MonoNanos(0), client: 0 };
    let program = stage.program.as_mut().expect("a client");
    program.ended(&sample(&ticket, Outcome::Dropped));
    program.ended(&sample(&ticket, Outcome::Unfinished));
    let failed = Outcome::Failed(ErrorClass::Conflict);
    let expected = [
        (1, Outcome::Completed, FailureKind::Other, 1),
        (2, failed, FailureKind::Serialization, 2),
        (3, Outcome::Dropped, FailureKind::Other, 1),
    ];
    assert_eq!(*seen.lock().expect("whole"), expected);
    stage.program = None;
    let total = stage.script.statistics().total();
    assert_eq!((total.completed, total.serialization_failures, total.skipped), (1, 1, 1));
    assert_eq!((total.retried, total.retries), (1, 1));
}
