//! What a worker's session does before the load and after it.

use super::{PoolConnection, PoolDatabase, PoolError};
use crate::drive::plan::{LoadPlan, RunStop};
use crate::drive::shard::{
    CLOSE_TIMEOUT, Completion, CompletionSource, ScriptConnections, ShardClients, StatementResult,
    run_phase,
};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::results::ResultSets;
use dbtime_load::script::ProgramPhase;
use dbtime_load::session::Session;
use dbtime_machine::now;
use dbtime_machine::wait::wait_until;
use dbtime_model::MonoNanos;

/// Makes a worker's connection and its session, and lets that do what it does before the load.
pub(super) fn set_up<D: PoolDatabase>(
    plan: &LoadPlan,
    id: u32,
    database: &D,
    stop: &RunStop,
) -> Result<(D::Connection, Session), PoolError<D::Error>> {
    let mut connection = database.connect(id).map_err(PoolError::Connect)?;
    let sessions = plan.sessions(id, plan.concurrency).map_err(PoolError::Script)?;
    let mut clients = ShardClients::new(BlockingConnection(&mut connection), sessions);
    let is_ready = run_phase(&mut clients, ProgramPhase::Open, || stop.is_set());
    let session = clients.sessions.pop();
    match (plan.script_error(), session) {
        (Some(error), _) => Err(PoolError::Script(error)),
        (None, Some(session)) if is_ready => Ok((connection, session)),
        (None, _) => Err(PoolError::Stopped),
    }
}

/// Lets a session do what it does after the load.
pub(super) fn terminate<C: PoolConnection>(session: Session, connection: &mut C, stop: &RunStop) {
    let mut clients = ShardClients::new(BlockingConnection(connection), vec![session]);
    let given_up_at = now() + CLOSE_TIMEOUT;
    run_phase(&mut clients, ProgramPhase::Close, || stop.is_set() && now() > given_up_at);
}

/// A connection that answers at once, for what happens outside of the load.
struct BlockingConnection<'a, C>(&'a mut C);

impl<C: PoolConnection> CompletionSource for BlockingConnection<'_, C> {
    fn now(&self) -> MonoNanos {
        now()
    }

    /// Nothing happens but that time passes: every answer was there at once.
    fn wait(&mut self, until: MonoNanos, _: bool, _: &mut Vec<Completion>) {
        wait_until(until, |_| false);
    }
}

impl<C: PoolConnection> ScriptConnections for BlockingConnection<'_, C> {
    fn add_connection(&mut self) -> Option<u32> {
        None
    }

    fn perform(&mut self, _: u32, op: ConnectionOp<'_>) -> Option<StatementResult> {
        Some(answer(self.0.perform(op, None)))
    }

    fn results(&mut self, _: u32) -> &mut ResultSets {
        self.0.results()
    }
}

fn answer(result: Result<u64, DatabaseFailure>) -> StatementResult {
    match result {
        Ok(rows) => StatementResult::of(rows),
        Err(failure) => StatementResult::failed(failure),
    }
}
