//! What about this machine and this driver spoils figures: the checks of `dbtime-observe`, what
//! takes a clock to find out, and how small a difference runs can tell apart.
//!
//! Nothing is changed: of the data folder alone a file is written to, which has no name and is gone
//! with its descriptor.

mod before_run;
mod driver;
mod measured;
mod noise;
mod sync_test;

pub(crate) use before_run::RunOutlook;

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

/// What is to be examined.
#[derive(Clone, Debug, Default)]
pub struct DoctorRequest {
    /// The command, without secrets.
    pub command: String,
    /// The target; `None`: the machine alone.
    pub target: Option<Target>,
    /// How it is shown: without its password.
    pub shown_target: Option<String>,
    /// What the machine is to be used for.
    pub planned: PlannedUse,
    /// Whether to make runs that show what differences can be seen here.
    pub has_noise: bool,
}

/// Examines the machine and the driver. Takes about two seconds, with the noise half a minute more;
/// `stop` ends it early.
///
/// Errors: [`LabError`], of the runs that show the noise; [`LabError::Interrupted`].
pub fn examine(
    request: &DoctorRequest,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<DoctorReport, LabError> {
    let findings = findings(&request.planned);
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

/// What all checks of machine and driver find, in their order.
fn findings(planned: &PlannedUse) -> Vec<DoctorFinding> {
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
        measured::sync(synced.as_ref()),
        driver::idle(&window),
        driver::apart(planned),
        driver::memlock(),
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
    fn a_signal_ends_it_without_a_report() {
        let stop = RunStop::default();
        stop.at(dbtime_machine::now());
        let error = examine(&DoctorRequest::default(), &|_| (), &stop).expect_err("ended");
        assert!(error.is_interrupted(), "{error}");
    }
}
