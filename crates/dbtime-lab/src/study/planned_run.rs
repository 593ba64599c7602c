//! A run of dbtime before it is made, and how it is made: as a process of its own.

use crate::error::LabError;
use crate::held_run::HeldRun;
use crate::progress::RunProgress;
use crate::run_event::RunOutcome;
use crate::run_process::{ProcessResult, RunProcess, own_program};
use crate::targets::Target;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_model::Nanos;
use dbtime_model::record::{AutoRate, FactorValue, combination_text};
use dbtime_model::spec::{Rate, RateChoice, RunSpec};
use std::ffi::OsString;
use std::path::PathBuf;

/// What a process of dbtime ends with that was used wrongly.
const USAGE: u8 = 2;

/// So many transactions show whether a configuration works: one alone may fail by chance.
const START_TRANSACTIONS: u64 = 3;

/// The warm-up of a slice is no shorter.
const LEAST_WARMUP: Nanos = Nanos::from_millis(200);

/// From here on a signal has ended it, as a shell has it.
const BY_SIGNAL: u8 = 129;

/// What follows runs, and what ends them.
#[derive(Clone, Copy)]
pub struct RunControls<'a> {
    /// Takes what happens in a run.
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Ends it early.
    pub stop: &'a RunStop,
}

/// A run, ready to be made.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// What makes it this one among others, without passwords.
    pub factors: Vec<FactorValue>,
    /// What is run.
    pub spec: RunSpec,
    /// The command that repeats it.
    pub command: String,
    /// Its passwords, by the variables that its process has them in.
    secrets: Vec<(String, ServerSecret)>,
    /// The folder that relative paths of it are relative to; `None`: that of this process.
    directory: Option<PathBuf>,
    /// Where data are restored from; `None`: they are loaded.
    snapshots: Option<PathBuf>,
}

impl PlannedRun {
    /// The run of a written form, with its passwords by the variables that its process has them in.
    pub fn of_spec(spec: RunSpec, command: String, secrets: Vec<(String, ServerSecret)>) -> Self {
        let factors = Vec::new();
        Self { factors, spec, command, secrets, directory: None, snapshots: None }
    }

    /// The same as one of several that differ by these.
    pub fn with_factors(self, factors: Vec<FactorValue>) -> Self {
        Self { factors, ..self }
    }

    /// The same with another seed.
    pub fn with_seed(&self, seed: u64) -> Self {
        let mut run = self.clone();
        run.spec.seed = seed;
        // Repeated alone it is to be the same run.
        run.command += &format!(" --seed={seed}");
        run
    }

    /// The same at this constant rate, which makes it this one.
    pub fn at_rate(&self, rate_tps: f64) -> Self {
        let rate = Rate::Constant(rate_tps);
        let factor = FactorValue { name: "rate".to_owned(), value: rate.to_string() };
        let mut run = self.clone().with_factors(vec![factor]);
        run.command += &format!(" --rate={rate}");
        run.spec.load.rate = Some(RateChoice::Given(rate));
        run.spec.load.flat_out = None;
        run
    }

    /// The same for no more than a few transactions, which show whether it works: from the first
    /// one, and no longer than its window is.
    pub fn shortened(self) -> Self {
        let mut run = self;
        let window = &mut run.spec.window;
        window.warmup = Some(Nanos::ZERO);
        let transactions = window.transactions.unwrap_or(u64::MAX).min(START_TRANSACTIONS);
        window.transactions = Some(transactions);
        run
    }

    /// The same with a measured window of this length.
    pub fn with_window(self, window: Nanos) -> Self {
        let mut run = self;
        run.spec.window.time = Some(window);
        run.command += &format!(" --time={}", window.exact());
        run
    }

    /// The same as one of so many slices: with its share of the window, and of the warm-up, which
    /// is long enough for a target that was idle.
    pub fn in_slices(self, slices: u32) -> Self {
        let share = |length: Nanos| Nanos::from_micros(length.0 / 1_000 / u64::from(slices.max(1)));
        let mut run = match self.spec.window.time {
            Some(time) => self.with_window(share(time)),
            None => self,
        };
        let warmup = share(run.spec.window.warmup.unwrap_or_default()).max(LEAST_WARMUP);
        run.spec.window.warmup = Some(warmup);
        run.command += &format!(" --warmup={}", warmup.exact());
        run
    }

    /// The same in another folder than that of this process.
    pub fn in_directory(self, directory: PathBuf) -> Self {
        Self { directory: Some(directory), ..self }
    }

    /// The same with data that are restored from this folder, which all runs of this seed have
    /// alike; as it is where it loads none.
    pub fn with_snapshots(self, folder: PathBuf, data_seed: u64) -> Self {
        if !self.loads_data() {
            return self;
        }
        let mut run = self;
        if run.spec.workload.data_seed.is_none() && run.spec.seed != data_seed {
            run.spec.workload.data_seed = Some(data_seed);
            run.command += &format!(" --data-seed={data_seed}");
        }
        Self { snapshots: Some(folder), ..run }
    }

    /// Whether it loads data that can be restored instead.
    pub fn loads_data(&self) -> bool {
        loads_data(&self.spec)
    }

    /// Its factors in words.
    pub fn combination(&self) -> String {
        combination_text(&self.factors)
    }

    /// How many transactions it has executed at once at most.
    pub fn servers(&self) -> u32 {
        self.spec.load.servers()
    }

    /// Whether it measures its own rate, and that is not what makes it this one.
    pub fn is_auto(&self) -> bool {
        let is_swept = self.factors.iter().any(|factor| factor.name == "rate");
        !is_swept && matches!(self.spec.load.rate, Some(RateChoice::Auto(_)))
    }

    /// Makes the run, with its record in this folder; blocks until it has ended.
    ///
    /// Errors: its process could not be started, or crashed.
    pub fn make(
        &self,
        out: Option<PathBuf>,
        is_strict: bool,
        controls: RunControls<'_>,
    ) -> Result<ProcessResult, LabError> {
        let mut arguments: Vec<OsString> = match out {
            Some(out) => vec!["--out".into(), out.into()],
            None => vec!["--no-record".into()],
        };
        arguments.extend(is_strict.then(|| "--strict".into()));
        arguments.extend(self.snapshot_arguments());
        self.process(arguments).run(controls.progress, controls.stop)
    }

    /// Has a process make its target ready, and hold it for slices; blocks until it is.
    ///
    /// Errors: it could not be made ready.
    pub(crate) fn hold(&self, controls: RunControls<'_>) -> Result<HeldRun, LabError> {
        let mut arguments = vec!["--slices-from-stdin".into(), "--no-record".into()];
        arguments.extend(self.snapshot_arguments());
        match HeldRun::begin(&self.process(arguments), controls.progress, controls.stop)? {
            Ok(held) => Ok(held),
            Err(RunOutcome::Failure { exit_code, text }) => Err(failed_run(exit_code, text)),
            Err(_) => Err(LabError::Target("its process holds no target".to_owned())),
        }
    }

    fn snapshot_arguments(&self) -> Vec<OsString> {
        let folder = self.snapshots.as_ref();
        folder.map_or_else(Vec::new, |folder| vec!["--snapshots".into(), folder.into()])
    }

    /// Measures the rate that it would carry flat out; `None`: it needs none.
    ///
    /// Errors: it could not be measured.
    pub fn flat_out_rate(&self, controls: RunControls<'_>) -> Result<Option<AutoRate>, LabError> {
        let process = self.process(vec!["--flat-out-rate".into()]);
        match process.run(controls.progress, controls.stop)?.outcome {
            RunOutcome::FlatOutRate { auto } => Ok(auto),
            RunOutcome::Failure { exit_code, text } => Err(failed_run(exit_code, text)),
            RunOutcome::Record(_) | RunOutcome::Held => Ok(None),
        }
    }

    /// A process of its own that does something with it.
    fn process(&self, arguments: Vec<OsString>) -> RunProcess {
        let document = serde_json::json!({ "command": self.command, "spec": self.spec });
        let usual = ["run", "--spec=-", "--events", "--parent"].map(OsString::from);
        let variable = |(name, value): &(String, ServerSecret)| {
            (OsString::from(name), OsString::from(value.reveal()))
        };
        RunProcess {
            program: own_program(),
            arguments: usual.into_iter().chain(arguments).collect(),
            environment: self.secrets.iter().map(variable).collect(),
            document: document.to_string(),
            directory: self.directory.clone(),
        }
    }
}

/// Whether a run of this form loads data that can be restored instead.
pub(super) fn loads_data(spec: &RunSpec) -> bool {
    let target = spec.target.url.parse::<Target>();
    target.is_ok_and(|target| target.loads_data())
}

/// What a run failed of before it was one, as its process has it.
pub fn failed_run(exit_code: u8, text: String) -> LabError {
    match exit_code {
        USAGE => LabError::Usage(text),
        BY_SIGNAL.. => LabError::Ended(text),
        _ => LabError::Target(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::spec::FlagSetting;

    fn run(settings: &[(&str, &str)]) -> PlannedRun {
        let settings = settings.iter().map(|(name, value)| FlagSetting::new(*name, *value));
        let spec = RunSpec::default().with(&settings.collect::<Vec<_>>()).expect("a run");
        let secrets = vec![("DBTIME_PASSWORD".to_owned(), ServerSecret::new("hush"))];
        PlannedRun::of_spec(spec, "dbtime run".to_owned(), secrets)
    }

    #[test]
    fn a_run_that_a_signal_ended_did_not_fail() {
        let is_ended = |code| failed_run(code, "no".to_owned()).is_interrupted();
        assert_eq!([2, 3, 70, 129, 143].map(is_ended), [false, false, false, true, true]);
    }

    #[test]
    fn what_is_changed_of_a_run_is_in_its_command() {
        let run = run(&[]).with_seed(7).with_snapshots("/kept".into(), 3);
        assert_eq!(run.command, "dbtime run --seed=7 --data-seed=3");
        assert_eq!((run.spec.seed, run.spec.workload.data_seed), (7, Some(3)));
        assert!(!format!("{run:?}").contains("hush"));
    }

    #[test]
    fn what_shows_whether_a_run_works_takes_few_transactions_and_no_warm_up() {
        let short = |settings: &[(&str, &str)]| run(settings).shortened().spec.window;
        let timed = short(&[("time", "10s"), ("warmup", "3s")]);
        assert_eq!((timed.warmup, timed.transactions), (Some(Nanos::ZERO), Some(3)));
        assert_eq!(timed.time, Some(Nanos::from_secs(10)), "what hangs ends all the same");
        assert_eq!(short(&[("transactions", "2")]).transactions, Some(2));
    }

    #[test]
    fn a_slice_has_its_share_of_the_window_and_a_warm_up_for_a_target_that_was_idle() {
        let sliced = run(&[("time", "10s"), ("warmup", "2s")]).in_slices(4);
        let window = &sliced.spec.window;
        assert_eq!(window.time, Some(Nanos::from_millis(2_500)));
        assert_eq!(window.warmup, Some(Nanos::from_millis(500)));
        assert_eq!(sliced.command, "dbtime run --time=2500ms --warmup=500ms");
        let short = run(&[("time", "3s"), ("warmup", "0s")]).in_slices(2).spec.window;
        assert_eq!(short.warmup, Some(LEAST_WARMUP));
        let longer = run(&[("time", "3s"), ("warmup", "1s")]);
        let longer = longer.with_window(Nanos::from_millis(4_500));
        assert_eq!(longer.command, "dbtime run --time=4500ms");
        assert_eq!(longer.spec.window.warmup, Some(Nanos::from_secs(1)));
    }

    #[test]
    fn what_loads_no_data_restores_none() {
        let run = run(&[("target", "null:")]).with_snapshots("/kept".into(), 3);
        assert_eq!((run.snapshots, run.spec.workload.data_seed), (None, None));
    }

    #[test]
    fn a_rate_that_is_swept_is_not_held() {
        let run = run(&[("rate", "auto:50%"), ("workers", "4")]);
        assert!(run.is_auto());
        assert_eq!(run.servers(), 4);
        let rate = FactorValue { name: "rate".to_owned(), value: "auto:50%".to_owned() };
        let swept = run.with_factors(vec![rate]);
        assert!(!swept.is_auto());
        assert_eq!(swept.combination(), "rate=auto:50%");
    }

    #[test]
    fn a_run_at_another_rate_has_it_alone() {
        let mut searched = run(&[("rate", "auto:50%"), ("limit", "p99<=1ms")]);
        searched.spec.load.flat_out = Some(AutoRate::default());
        let run = searched.at_rate(250.0);
        assert_eq!(run.spec.load.rate, "250/s".parse().ok());
        assert_eq!(run.spec.load.flat_out, None);
        assert_eq!(run.combination(), "rate=250/s");
        assert_eq!(run.command, "dbtime run --rate=250/s");
        assert_eq!(run.spec.limits, searched.spec.limits);
    }

    #[test]
    fn a_failure_keeps_its_kind_across_processes() {
        assert!(failed_run(2, "write it otherwise".to_owned()).is_usage());
        assert!(!failed_run(3, "no server".to_owned()).is_usage());
    }
}
