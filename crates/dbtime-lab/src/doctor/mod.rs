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
pub(crate) use servers::{
    TargetLook, findings_of_sqlite, look_at_server, quick_findings_of_server,
};

use crate::error::LabError;
use crate::progress::RunProgress;
use crate::targets::Target;
use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::clock::thread_cpu;
use dbtime_machine::wait::{TimerTest, test_timers};
use dbtime_machine::{SpinTest, now};
use dbtime_model::Nanos;
use dbtime_model::doctor::{DoctorFinding, DoctorReport, SCHEMA};
use dbtime_observe::doctor::{MachineTree, MachineWindow, PlannedUse, machine_findings};
use std::panic::resume_unwind;
use std::thread;
use sync_test::SyncTimes;

/// How long the machine is watched for all checks that need a difference.
const WATCHED: Nanos = Nanos::from_secs(1);

/// How long each CPU spins.
const SPUN: Nanos = Nanos::from_millis(300);

/// What wake-ups and readings of clocks take at most, but for a machine that is very late.
const TIMED: Nanos = Nanos::from_millis(100);

/// How long all of it may take, the noise aside: three seconds less what a start and a report take.
const ALL: Nanos = Nanos::from_millis(2_800);

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

/// Examines the machine, the driver and the target. Takes about two seconds, and less than three
/// whatever the target does, with the noise half a minute more; `stop` ends it early.
///
/// Errors: [`LabError`], of a server that cannot be reached, or of the runs that show the noise;
/// [`LabError::Interrupted`].
pub fn examine(
    request: &DoctorRequest,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<DoctorReport, LabError> {
    let mut findings = looked(request, stop)?;
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

/// What all checks find, within [`ALL`].
///
/// A server of this machine is read before the machine is watched, so that its work does not look
/// like work of others; one elsewhere, whose answers travel, beside that.
///
/// Errors: a server that cannot be reached.
fn looked(request: &DoctorRequest, stop: &RunStop) -> Result<Vec<DoctorFinding>, LabError> {
    let (planned, until) = (&request.planned, now() + ALL);
    let of_server = PlannedServerUse {
        connections: planned.connections,
        statements: request.statements,
        run_s: request.run_s,
    };
    let Some(target) = &request.target else {
        return Ok(MeasuredMachine::of(planned, stop).findings(planned));
    };
    let reached = |look: TargetLook| look.unreached.map_or(Ok(look.findings), Err);
    if !target.is_elsewhere() {
        let of_target =
            reached(target.look(&of_server, until - MeasuredMachine::longest(planned)))?;
        return Ok([MeasuredMachine::of(planned, stop).findings(planned), of_target].concat());
    }
    let (mut measured, (look, cpu)) = thread::scope(|scope| {
        let look = scope.spawn(|| (target.look(&of_server, until), thread_cpu()));
        let measured = MeasuredMachine::of(planned, stop);
        (measured, look.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let of_target = reached(look)?;
    measured.looked_for = cpu;
    Ok([measured.findings(planned), of_target].concat())
}

/// What was measured of machine and driver.
struct MeasuredMachine {
    window: MachineWindow,
    spun: Result<SpinTest, String>,
    timers: TimerTest,
    synced: Result<SyncTimes, String>,
    rate: DoctorFinding,
    /// CPU time of dbtime for a look at a server beside that.
    looked_for: Nanos,
}

impl MeasuredMachine {
    /// How long measuring takes.
    fn longest(planned: &PlannedUse) -> Nanos {
        let synced = planned.data.as_ref().map_or(Nanos::ZERO, |_| sync_test::MOST);
        let tried = planned.connects_per_s.map_or(Nanos::ZERO, |_| driver_rate::LONGEST);
        [WATCHED, SPUN, TIMED, synced, tried].into_iter().sum()
    }

    /// Measures. What spins comes behind what is watched, so that it does not look like work of
    /// others.
    fn of(planned: &PlannedUse, stop: &RunStop) -> Self {
        let window = MachineWindow::watch(WATCHED);
        let spun = SpinTest::run(SPUN).map_err(|error| error.to_string());
        let timed_until = now() + TIMED;
        let timers = test_timers(|| now() < timed_until);
        let synced = sync_test::run(planned.data.as_deref());
        let rate = driver_rate::of_plan(planned, stop);
        Self { window, spun, timers, synced, rate, looked_for: Nanos::ZERO }
    }

    /// What all checks of machine and driver make of it, in their order.
    fn findings(self, planned: &PlannedUse) -> Vec<DoctorFinding> {
        let tree = MachineTree::of_machine().watched(self.window);
        let mut findings = machine_findings(&tree, planned);
        findings.extend([
            measured::clock(&self.timers, self.spun.as_ref()),
            measured::timer(&self.timers),
            measured::gaps(self.spun.as_ref()),
            measured::sync(self.synced.as_ref(), planned.data.as_deref()),
            driver::idle(&self.window, self.looked_for),
            driver::apart(planned),
            driver::memlock(),
            self.rate,
        ]);
        findings
    }
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
        let planned = PlannedUse::default();
        let found = MeasuredMachine::of(&planned, &RunStop::default()).findings(&planned);
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
    fn a_server_that_is_silent_is_not_waited_for() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("bound").port();
        for scheme in ["mysql", "postgres"] {
            let target = format!("{scheme}://u@127.0.0.1:{port}/d").parse().expect("a target");
            let request = DoctorRequest { target: Some(target), ..DoctorRequest::default() };
            let begun = now();
            let error = examine(&request, &|_| (), &RunStop::default()).expect_err("silent");
            assert!(error.to_string().contains("did not let us in within"), "{error}");
            assert!(now() - begun < Nanos::from_secs(3), "{error}");
        }
    }

    #[test]
    fn what_takes_longest_leaves_time_for_a_server() {
        let planned = PlannedUse {
            data: Some("/".into()),
            connects_per_s: Some(1.0),
            ..PlannedUse::default()
        };
        assert!(MeasuredMachine::longest(&planned) + Nanos::from_millis(500) < ALL);
    }

    #[test]
    fn a_signal_ends_it_without_a_report() {
        let stop = RunStop::default();
        stop.at(now());
        let error = examine(&DoctorRequest::default(), &|_| (), &stop).expect_err("ended");
        assert!(error.is_interrupted(), "{error}");
    }
}
