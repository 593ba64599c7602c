//! The kernel watched behind a server's connection while forms are executed over it.

use super::execution_join::ExecutionJoin;
use super::{WatchedForms, session_beside};
use crate::error::LabError;
use crate::query::pairs::{PairPlan, watch_rounds};
use crate::query::progress::QueryProgress;
use crate::query::session::{QuerySession, SessionForm};
use crate::run_trace::{no_server, no_server_behind};
use crate::targets::traced_pid_of;
use crate::tracing::{TraceOptions, TraceOutcome, TraceSession};
use dbtime_engines::server::Server;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::process::shares_network;
use dbtime_observe::trace::require_machines_numbers;

/// How often requests are taken from the tracer, between two executions.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// A tracer, and what becomes of what it sees.
struct KernelWatch {
    trace: TraceSession,
    join: ExecutionJoin,
    next_poll: MonoNanos,
    /// Why nothing more comes of the tracer.
    failure: Option<LabError>,
}

/// Executes the forms while their server is traced. The tracer has ended when this returns.
///
/// # Errors
/// The server cannot be traced here; then nothing was executed.
pub(super) fn watch(
    session: &QuerySession<'_>,
    server: &dyn Server,
    forms: &[SessionForm],
    plan: &PairPlan<'_>,
) -> Result<WatchedForms, LabError> {
    require_machines_numbers()?;
    let process = traced_pid_of(server).ok_or_else(no_server)?;
    let step = "attaching to the server".to_owned();
    (plan.progress)(QueryProgress { step, ..QueryProgress::default() });
    let options = TraceOptions::beside_driver(process);
    let trace = TraceSession::beside_run(&options, |_| {}).map_err(no_server_behind)?;
    // Only now: the tracer sees its login, and what is prepared on it.
    let (mut beside, forms) = session_beside(session, forms)?;
    let connection = &beside.connection;
    let mut join = ExecutionJoin::new(connection.key(), connection.number(), forms.len());
    // Of another network the names of clients are not this process's, and may be so by number.
    if !shares_network(process) {
        join.ignore_arrivals();
    }
    let mut watch = KernelWatch { trace, join, next_poll: now(), failure: None };
    watch_rounds(&mut beside, &forms, plan, |answers, _| {
        watch.join.round(answers);
        watch.poll_if_due();
    });
    beside.end_given_up();
    Ok(watch.finish())
}

impl KernelWatch {
    fn poll_if_due(&mut self) {
        let present = now();
        if present < self.next_poll || self.failure.is_some() {
            return;
        }
        self.next_poll = present + POLL_INTERVAL;
        match self.trace.poll() {
            Ok(progress) => self.join.requests(&progress.requests),
            Err(error) => self.failure = Some(error),
        }
    }

    fn finish(self) -> WatchedForms {
        let Self { trace, mut join, mut failure, .. } = self;
        let mut notes = Vec::new();
        if trace.lacks_parts() {
            // The first of them says so.
            notes.extend(trace.unavailable().first().cloned());
        }
        let reader = match trace.finish() {
            Ok(TraceOutcome { requests, reader, .. }) => {
                join.requests(&requests);
                Some(reader)
            }
            Err(error) => {
                failure.get_or_insert(error);
                None
            }
        };
        notes.extend(failure.map(|error| format!("not traced to the end: {error}")));
        let (budgets, lacking) = join.finish();
        notes.extend(lacking);
        // That waits until its programs are gone.
        drop(reader);
        (budgets, notes)
    }
}
