//! What a worker's session does before the load and after it.

use super::{Connection, Database, PoolError};
use crate::failure::Failure;
use crate::plan::{Plan, Stop};
use crate::shard::{Answer, Event, Lines, Reactor, go_through};
use dbtime_load::program::{Phase, Value};
use dbtime_load::request::Request;
use dbtime_load::results::Results;
use dbtime_load::session::Session;
use dbtime_machine::now;
use dbtime_machine::wait::wait_until;
use dbtime_model::{MonoNanos, Nanos, StatementId};

/// Makes a worker's connection and its session, and lets that do what it does before the load.
pub(super) fn set_up<D: Database>(
    plan: &Plan,
    id: u32,
    database: &D,
    stop: &Stop,
) -> Result<(D::Connection, Session), PoolError<D::Error>> {
    let mut connection = database.connect(id).map_err(PoolError::Connect)?;
    let mut sessions = plan.sessions(id, plan.servers).map_err(PoolError::Script)?;
    let mut blocking = Blocking(&mut connection);
    let around = (&mut blocking, &mut Lines::new(1));
    let is_ready = go_through(&mut sessions, around, Phase::Open, || stop.is_set());
    match (plan.script_trouble(), sessions.pop()) {
        (Some(trouble), _) => Err(PoolError::Script(trouble)),
        (None, Some(session)) if is_ready => Ok((connection, session)),
        (None, _) => Err(PoolError::Stopped),
    }
}

/// Lets a session do what it does after the load.
pub(super) fn say_goodbye<C: Connection>(session: Session, connection: &mut C) {
    let around = (&mut Blocking(connection), &mut Lines::new(1));
    go_through(&mut [session], around, Phase::Close, || false);
}

/// A connection that answers at once, for what happens outside of the load.
struct Blocking<'a, C>(&'a mut C);

impl<C: Connection> Reactor for Blocking<'_, C> {
    fn now(&self) -> MonoNanos {
        now()
    }

    fn submit(
        &mut self,
        _: u32,
        statement: StatementId,
        parameters: &[Value],
        wants_row: bool,
    ) -> Option<Answer> {
        Some(answer(self.0.execute(statement, parameters, wants_row)))
    }

    fn ask(&mut self, _: u32, request: Request<'_>) -> Option<Answer> {
        Some(answer(self.0.ask(request, None)))
    }

    fn results(&mut self, _: u32) -> &mut Results {
        self.0.results()
    }

    fn wait(&mut self, until: MonoNanos, _: bool, _: &mut Vec<Event>) {
        wait_until(until, |_| false);
    }

    fn first_row(&self, _: u32) -> &[Value] {
        self.0.first_row()
    }

    fn thread_use(&self) -> (Nanos, Option<Nanos>) {
        (Nanos::ZERO, None)
    }
}

fn answer(result: Result<u64, Failure>) -> Answer {
    match result {
        Ok(rows) => Answer::of(rows),
        Err(failure) => Answer::failed(failure),
    }
}
