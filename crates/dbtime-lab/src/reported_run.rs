//! A run with a thread beside it that reports while the load goes on, as other tools do.

use crate::drive::no_thread;
use crate::error::LabError;
use crate::progress::RunProgress;
use crate::request::RunRequest;
use crate::run::{RunResult, run_into};
use crate::store::RunStore;
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::{MonoNanos, Nanos, PhaseInstant, RunPhase};
use std::sync::mpsc::{Receiver, channel};

/// What the reporting thread learns of the load, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadMoment {
    /// The load has started.
    Started(MonoNanos),
    /// It has ended, so long after the window began.
    Ended(Nanos),
}

/// A run that is reported on while it goes on.
pub struct ReportedRun<'a> {
    /// What is run.
    pub request: &'a RunRequest,
    /// Where the record goes, reserved before.
    pub store: Option<RunStore>,
    /// What happens on the way, as for any run.
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Ends it early.
    pub stop: &'a RunStop,
}

/// How both have ended.
pub struct ReportedResult<T> {
    /// The run.
    pub run: Result<RunResult, LabError>,
    /// What the reporting thread returned.
    pub report: T,
}

impl ReportedRun<'_> {
    /// Drives the load, with `report` on a thread of its own. Blocks until both have ended; where
    /// the run fails, the channel closes before [`LoadMoment::Ended`].
    ///
    /// # Errors
    /// No thread could be started, and nothing was run.
    pub fn drive<T: Send>(
        self,
        report: impl FnOnce(Receiver<LoadMoment>) -> T + Send,
    ) -> Result<ReportedResult<T>, LabError> {
        let (sender, moments) = channel();
        std::thread::scope(|scope| {
            let reporter = std::thread::Builder::new().name("reports".to_owned());
            let reporter =
                reporter.spawn_scoped(scope, move || report(moments)).map_err(no_thread)?;
            let progress = |progress: RunProgress| {
                let started = match progress {
                    RunProgress::Phase(PhaseInstant { phase: RunPhase::Started, at }) => Some(at),
                    _ => None,
                };
                (self.progress)(progress);
                if let Some(at) = started {
                    // A reporter that has ended listens no more; joining it shows why.
                    let _ = sender.send(LoadMoment::Started(at));
                }
            };
            let run = run_into(self.store, self.request, &progress, self.stop);
            if let Ok(finished) = &run {
                let window = &finished.run.record.window;
                let length = Nanos::from_secs_f64(window.measure_s + window.rundown_s);
                let _ = sender.send(LoadMoment::Ended(length));
            }
            drop(sender);
            let report = reporter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok(ReportedResult { run, report })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_load::workload::Workload;

    fn request(target: &str) -> RunRequest {
        let workload = Workload::from_sql("SELECT 1").expect("a statement");
        let mut request = RunRequest::new(workload, target.parse().expect("a target"));
        request.spec.window.transactions = Some(3);
        request
    }

    fn moments(request: &RunRequest) -> ReportedResult<Vec<LoadMoment>> {
        let stop = RunStop::default();
        let run = ReportedRun { request, store: None, progress: &|_| {}, stop: &stop };
        run.drive(|moments| moments.into_iter().collect()).expect("a thread")
    }

    #[test]
    fn a_reporter_sees_the_load_start_and_end() {
        let result = moments(&request("null"));
        assert!(result.run.is_ok());
        let [LoadMoment::Started(_), LoadMoment::Ended(_)] = result.report[..] else {
            panic!("{:?}", result.report)
        };
    }

    #[test]
    fn a_reporter_of_a_run_that_fails_ends_too() {
        let result = moments(&request("sqlite:/nowhere/at/all.db"));
        assert!(result.run.is_err());
        assert_eq!(result.report, []);
    }
}
