//! Where the time of executions goes.
//!
//! Forms are executed again for that, on a connection of its own: one that measures from within
//! where the database is in this process, one that the kernel is watched behind where it is a
//! server and that is wanted. Plain executions stay as they are, and none of these is among them.

mod execution_join;
mod kernel_watch;

use super::keys::QueryKeys;
use super::pairs::{PairPlan, watch_rounds};
use super::progress::QueryProgress;
use super::request::QueryRequest;
use super::samples::{failure_text, taken};
use super::session::{QuerySession, SessionForm};
use crate::error::LabError;
use crate::run_trace::{no_server, untraced};
use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::now;
use dbtime_model::query::{ExecutionPart, QueryForm, QueryRecord};
use dbtime_model::units::human_ns;
use dbtime_model::{Budget, Nanos, Part, Product};

/// Executions of a form that are watched at least, and at most.
const FEWEST: u64 = 10;
const MOST: u64 = 2_000;

/// The difference of two means that is worth a note. Unit: a share.
const NOTED_DIFFERENCE: f64 = 0.1;

/// Of each form the sums over the executions that were watched, and what should be known of them.
type WatchedForms = (Vec<Budget>, Vec<String>);

/// What is known of where the time goes.
#[derive(Debug, Default)]
pub(super) struct PartsFinding {
    /// Of each form the sums over its executions; none: nothing was watched.
    forms: Vec<Budget>,
    /// What all of an execution is where none was watched; `None`: nothing that is known.
    whole: Option<Part>,
    /// What should be known of it.
    notes: Vec<String>,
}

/// Finds out where the time of these forms goes, in a third of the request's time for each. `stop`
/// ends it early, with what there is. Nothing watches any more when it returns.
pub(super) fn parts_of(
    session: &QuerySession<'_>,
    forms: &[SessionForm],
    keys: &QueryKeys,
    request: &QueryRequest,
    stop: &RunStop,
    progress: &dyn Fn(QueryProgress),
) -> PartsFinding {
    let (first_key, seed, time) = (0, request.seed, Nanos(request.budget.0 / 3));
    let (fewest, most) = (FEWEST, MOST);
    let plan = PairPlan { keys, first_key, seed, time, fewest, most, stop, progress };
    let is_server = session.product != Product::Sqlite;
    let whole = is_server.then_some(Part::ServerAndWire);
    let is_over = stop.has_come(now()) || session.connection.is_given_up();
    if is_over || (is_server && !request.trace) {
        return PartsFinding { whole, ..PartsFinding::default() };
    }
    let watched = match is_server {
        true => traced(session, forms, &plan),
        false => from_within(session, forms, &plan),
    };
    let (forms, notes) = watched.unwrap_or_else(|note| (Vec::new(), vec![note]));
    PartsFinding { forms, whole, notes }
}

/// As the kernel tells it of a server; an error: why it does not, and what helps.
fn traced(
    session: &QuerySession<'_>,
    forms: &[SessionForm],
    plan: &PairPlan<'_>,
) -> Result<WatchedForms, String> {
    let server = session.place.server().ok_or_else(no_server);
    let watched = server.and_then(|server| kernel_watch::watch(session, &**server, forms, plan));
    watched.map_err(|error| {
        let warning = untraced(&error);
        format!("{}; {}", warning.text, warning.remedy)
    })
}

/// As the connection itself measures it; an error: why it does not.
fn from_within(
    session: &QuerySession<'_>,
    forms: &[SessionForm],
    plan: &PairPlan<'_>,
) -> Result<WatchedForms, String> {
    let unmeasured = |error: LabError| format!("where the time goes was not measured: {error}");
    let (mut beside, forms) = session_beside(session, forms).map_err(unmeasured)?;
    let mut budgets = vec![Budget::default(); forms.len()];
    watch_rounds(&mut beside, &forms, plan, |answers, parts| {
        for (budget, (answer, parts)) in budgets.iter_mut().zip(answers.iter().zip(parts)) {
            if let (Some(execution), Some(parts)) = (answer, parts) {
                budget.add(taken(execution), parts);
            }
        }
    });
    Ok((budgets, Vec::new()))
}

/// A session of its own with the same forms.
fn session_beside<'a>(
    session: &QuerySession<'a>,
    forms: &[SessionForm],
) -> Result<(QuerySession<'a>, Vec<SessionForm>), LabError> {
    let mut beside = session.beside()?;
    let prepare = |form: &SessionForm| {
        beside.prepare(&form.text).map_err(|failure| {
            LabError::Target(failure_text(session.place, &form.text.given, &failure))
        })
    };
    let forms = forms.iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
    Ok((beside, forms))
}

impl PartsFinding {
    /// Adds it to a record whose forms were measured.
    pub(super) fn add_to(self, record: &mut QueryRecord) {
        let Self { forms, whole, notes } = self;
        record.notes.extend(notes);
        for (at, form) in record.forms.iter_mut().enumerate() {
            if let Some(watched) = forms.get(at).filter(|watched| watched.count > 0) {
                form.parts = parts(watched);
                form.watched_mean_us = Some(mean_us(watched));
                record.notes.extend(difference(form, watched));
            } else if let (Some(part), Some(times)) = (whole, form.times) {
                form.parts = vec![ExecutionPart { part, mean_us: times.mean_us }];
            }
        }
    }
}

/// The means of what was measured.
fn parts(watched: &Budget) -> Vec<ExecutionPart> {
    let mean = |part| ExecutionPart { part, mean_us: watched.mean_ns(part) / 1e3 };
    watched.sums.measured().iter().map(mean).collect()
}

/// The mean that they add up to.
fn mean_us(watched: &Budget) -> f64 {
    watched.response_ns as f64 / 1e3 / watched.count.max(1) as f64
}

/// How far executions that were watched are from plain ones, where that is much.
fn difference(form: &QueryForm, watched: &Budget) -> Option<String> {
    let plain_us = form.times?.mean_us;
    let watched_us = mean_us(watched);
    if (watched_us - plain_us).abs() <= NOTED_DIFFERENCE * plain_us {
        return None;
    }
    Some(format!(
        "the parts of {} add up to the mean of {} watched executions, which took {} on average; \
         plain ones took {}",
        form.name,
        watched.count,
        human_ns(watched_us * 1e3),
        human_ns(plain_us * 1e3)
    ))
}

#[cfg(test)]
mod tests;
