//! Scripts that are run once and not measured: what makes tables, fills them, or clears them away.

use crate::drive::{keep_to, new_plan};
use crate::error::LabError;
use crate::request::RunRequest;
use crate::script_watchdog::{ScriptUse, ScriptWatchdog};
use crate::targets::{PreparedTarget, ProgressListener};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, RunStop};
use dbtime_load::script::PreparationScript;
use dbtime_load::session::RetryPolicy;
use dbtime_load::workload::{Operation, Workload};
use dbtime_model::Nanos;
use std::sync::Arc;

/// What a script is that is run once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneShot {
    /// A command of the user's script.
    Command,
    /// What makes and fills tables.
    Tables,
    /// Statements that dbtime needs before a run.
    Survey,
}

impl OneShot {
    /// When a signal came that ended it.
    fn moment(self) -> &'static str {
        match self {
            Self::Command => "while a script was at work",
            Self::Tables => "while the tables were made",
            Self::Survey => "before the run",
        }
    }
}

/// Runs a script's command: each client of the request once. Blocks until the last has ended;
/// `stop` ends it early.
///
/// Errors: [`LabError`], and what the script itself says.
pub fn command(
    request: &RunRequest,
    what: OneShot,
    progress: ProgressListener<'_>,
    stop: &RunStop,
) -> Result<(), LabError> {
    let _pinned = request.spec.load.client_cpus.as_ref().map(keep_to).transpose()?;
    let prepared = request.target.prepare(request, progress, stop)?;
    let plan = new_plan(request, prepared.scale());
    let clients = request.spec.load.clients();
    let plan = once(&plan, clients);
    let script_use = ScriptUse::Command { clients };
    run_once(what, &ScriptWatchdog { plan: &plan, script_use, stop, progress }, &*prepared)
}

/// Makes and fills the tables of a script on a target that has none.
pub(crate) fn prepare(
    request: &RunRequest,
    prepared: &dyn PreparedTarget,
    progress: ProgressListener<'_>,
    stop: &RunStop,
) -> Result<(), LabError> {
    let script = request.workload.script.as_ref().filter(|_| prepared.is_fresh());
    let Some(PreparationScript { script, clients }) =
        script.and_then(|script| script.preparation())
    else {
        return Ok(());
    };
    let operations = vec![operation("prepare")];
    let name = request.workload.name.clone();
    let workload = Arc::new(Workload::from_script(name, operations, script));
    let plan = LoadPlan { workload, ..new_plan(request, prepared.scale()) };
    let plan = once(&plan, clients);
    let script_use = ScriptUse::Preparation;
    let watchdog = ScriptWatchdog { plan: &plan, script_use, stop, progress };
    run_once(OneShot::Tables, &watchdog, prepared)
}

/// An operation without anything special to it.
pub fn operation(name: &str) -> Operation {
    Operation {
        name: name.to_owned(),
        weight: 1.0,
        think: None,
        retry: RetryPolicy::default(),
        limits: Vec::new(),
    }
}

/// The plan by which each of so many clients has one transaction.
fn once(plan: &LoadPlan, clients: u32) -> LoadPlan {
    LoadPlan {
        demand: LoadDemand::Closed { clients, think: None },
        concurrency: clients,
        shards: plan.shards.min(clients),
        warmup: Nanos::ZERO,
        measure: None,
        transactions: Some(clients.into()),
        budget_every: 0,
        ..plan.clone()
    }
}

fn run_once(
    what: OneShot,
    watchdog: &ScriptWatchdog<'_>,
    prepared: &dyn PreparedTarget,
) -> Result<(), LabError> {
    let ScriptWatchdog { plan, stop, .. } = *watchdog;
    watchdog.during(|| prepared.drive(plan, &NoObserver, stop))?;
    match plan.script_error() {
        Some(error) => Err(LabError::Script(error)),
        None if stop.is_set() => Err(LabError::Interrupted(what.moment())),
        None => Ok(()),
    }
}
