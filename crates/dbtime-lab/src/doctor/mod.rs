//! What spoils figures or production: checks of the machine (those of `dbtime-observe`, and what
//! takes a clock to find out), of dbtime and of servers, and how small a difference runs can tell
//! apart.
//!
//! Nothing is changed: in the data folder alone a file is written, which has no name and is gone
//! with its descriptor.

mod before_run;
mod driver;
mod driver_rate;
mod measured;
mod noise;
mod servers;
mod sync_test;

pub(crate) use before_run::RunOutlook;
pub use servers::{PlannedServerUse, server_findings};
pub(crate) use servers::{findings_of_server, findings_of_sqlite, quick_findings_of_server};

use crate::error::LabError;
use crate::progress::RunProgress;
use crate::targets::Target;
use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::SpinTest;
use dbtime_machine::wait::test_timers;
use dbtime_model::Nanos;
use dbtime_model::doctor::{DoctorFinding, DoctorReport, SCHEMA};
use dbtime_observe::doctor::{MachineTree, MachineWindow, PlannedUse, machine_findings};

/// How long the machine is watched for all checks that need a difference.
const WATCHED: Nanos = Nanos::from_secs(1);

/// How long each CPU spins.
const SPUN: Nanos = Nanos::from_millis(300);

/// What the machine is examined for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoctorPurpose {
    /// A run by itself: what makes runs drift apart is left out.
    #[default]
    Run,
    /// Runs that are compared: everything.
    Study,
    /// Production: what spoils figures alone is left out.
    Production,
}

/// What makes runs drift apart, and harms none of them.
const OF_STUDIES: [&str; 2] = ["turbo", "numa"];

/// What spoils figures, and harms no production.
const OF_FIGURES: [&str; 9] = [
    "turbo",
    "smt",
    "foreign_cpu",
    "mitigations",
    "switches",
    "driver_idle",
    "driver_apart",
    "driver_rate",
    "memlock",
];

/// What a server does to figures of a run alone.
const OF_RUNS: &str = "run_checkpoint";

impl DoctorPurpose {
    fn has(self, id: &str) -> bool {
        match self {
            Self::Run => !OF_STUDIES.contains(&id),
            Self::Study => true,
            Self::Production => !OF_FIGURES.contains(&id) && id != OF_RUNS,
        }
    }
}

/// What is to be examined.
#[derive(Clone, Debug, Default)]
pub struct DoctorRequest {
    /// The command, without secrets.
    pub command: String,
    /// The target; `None`: the machine alone.
    pub target: Option<Target>,
    /// How it is shown: without its password.
    pub shown_target: Option<String>,
    /// What it is examined for.
    pub purpose: DoctorPurpose,
    /// What the machine is to be used for.
    pub planned: PlannedUse,
    /// How long a run is to be. Unit: seconds.
    pub run_s: Option<f64>,
    /// Statements that each connection is to have prepared.
    pub statements: Option<u64>,
    /// Whether to make runs that show what differences can be seen here.
    pub has_noise: bool,
}

/// Examines the machine, the driver and the target. Takes about two seconds, with the noise half a
/// minute more; `stop` ends it early.
///
/// Errors: [`LabError`], of a server that cannot be reached, or of the runs that show the noise;
/// [`LabError::Interrupted`].
pub fn examine(
    request: &DoctorRequest,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<DoctorReport, LabError> {
    if let Some(target) = &request.target {
        require_reachable(target)?;
    }
    let mut findings = findings(&request.planned, stop);
    if let Some(target) = &request.target {
        let DoctorRequest { statements, run_s, .. } = *request;
        let planned =
            PlannedServerUse { connections: request.planned.connections, statements, run_s };
        findings.extend(server_findings(target, &planned));
    }
    findings.retain(|finding| request.purpose.has(&finding.id));
    let measured = request.has_noise.then(|| noise::resolution(request, progress, stop));
    let resolution = measured.transpose()?;
    if stop.is_set() {
        return Err(LabError::Interrupted("before everything was examined"));
    }
    Ok(DoctorReport {
        schema: SCHEMA,
        dbtime: env!("CARGO_PKG_VERSION").to_owned(),
        command: request.command.clone(),
        target: request.shown_target.clone(),
        resolution,
        findings,
    })
}

/// Refuses a server that cannot be reached, before anything is measured.
fn require_reachable(target: &Target) -> Result<(), LabError> {
    if target.is_server() && !target.loads_data() {
        target.sampler()?;
    }
    Ok(())
}

/// What all checks of machine and driver find, in their order.
fn findings(planned: &PlannedUse, stop: &RunStop) -> Vec<DoctorFinding> {
    // What spins comes behind what is watched, so that it does not look like work of others.
    let window = MachineWindow::watch(WATCHED);
    let spun = SpinTest::run(SPUN).map_err(|error| error.to_string());
    let timers = test_timers(|| true);
    let synced = sync_test::run(planned.data.as_deref());
    let mut findings = machine_findings(&MachineTree::of_machine().watched(window), planned);
    findings.extend([
        measured::clock(&timers, spun.as_ref()),
        measured::timer(&timers),
        measured::gaps(spun.as_ref()),
        measured::sync(synced.as_ref(), planned.data.as_deref()),
        driver::idle(&window),
        driver::apart(planned),
        driver::memlock(),
        driver_rate::of_plan(planned, stop),
    ]);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn this_machine_is_examined_and_each_check_has_its_name() {
        let data = tempfile::tempdir().expect("a folder");
        let planned = PlannedUse { data: Some(data.path().to_path_buf()), ..PlannedUse::default() };
        let request = DoctorRequest { planned, ..DoctorRequest::default() };
        let report = examine(&request, &|_| (), &RunStop::default()).expect("examined");
        let ids: BTreeSet<&str> = report.findings.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids.len(), report.findings.len(), "{ids:?}");
        assert!(["clock_cost", "sync", "memlock", "governor"].iter().all(|id| ids.contains(id)));
        assert!(report.resolution.is_none());
        let left = data.path().read_dir().expect("a folder").count();
        assert_eq!(left, 0, "the test of syncs leaves nothing");
    }

    #[test]
    fn what_is_examined_goes_by_its_purpose() {
        let found = findings(&PlannedUse::default(), &RunStop::default());
        let names: BTreeSet<String> = found.into_iter().map(|finding| finding.id).collect();
        for id in OF_STUDIES.iter().chain(&OF_FIGURES) {
            assert!(names.contains(*id), "no check is called {id}");
        }
        assert!(!DoctorPurpose::Run.has("turbo") && DoctorPurpose::Study.has("turbo"));
        assert!(!DoctorPurpose::Production.has("smt") && DoctorPurpose::Production.has("ports"));
    }

    #[test]
    fn a_server_that_is_not_there_is_refused_before_anything_is_measured() {
        let target = "mysql://u@127.0.0.1:1/shop".parse().expect("a target");
        let request = DoctorRequest { target: Some(target), ..DoctorRequest::default() };
        assert!(examine(&request, &|_| (), &RunStop::default()).is_err());
    }

    #[test]
    fn a_signal_ends_it_without_a_report() {
        let stop = RunStop::default();
        stop.at(dbtime_machine::now());
        let error = examine(&DoctorRequest::default(), &|_| (), &stop).expect_err("ended");
        assert!(error.is_interrupted(), "{error}");
    }
}
