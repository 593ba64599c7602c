//! The runs of a sweep before they are made, and how each is made: as a process of its own.

use super::factors::{self, FactorCombination};
use crate::cli::{self, CliCommand};
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::spec::{self, DescribedRun, RunContext, RunSecrets};
use crate::{screen, secrets};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::{ProcessResult, RateChoice, RunOutcome, RunProcess};
use dbtime_load::arrivals::Rate;
use dbtime_model::record::{FactorValue, RunSpec, combination_text};
use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::PathBuf;

/// The flat-out rate is measured with at most so many workers or connections, where there is such
/// a combination: more of them only wait for each other.
const MAX_REFERENCE_SERVERS: u32 = 64;

/// What shows the runs of a sweep, and what ends them.
#[derive(Clone, Copy)]
pub(super) struct SweepControls<'a> {
    pub(super) live: &'a LiveProgress,
    pub(super) stop: &'a RunStop,
}

/// One combination, ready to be run.
pub(super) struct PlannedRun {
    /// Without passwords.
    pub(super) factors: Vec<FactorValue>,
    /// What is run.
    pub(super) spec: RunSpec,
    /// Its passwords.
    secrets: RunSecrets,
    /// The command that repeats it.
    command: String,
}

impl PlannedRun {
    /// The run of one combination of a whole sweep's command line.
    ///
    /// Errors: whatever is wrong with it that can be seen before it is run.
    pub(super) fn new(
        combination: FactorCombination,
        arguments: &[String],
    ) -> Result<Self, CommandFailure> {
        let arguments = factors::arguments(arguments, &combination);
        let parsed = cli::parse(&arguments).map_err(|error| no_flag(error, &combination))?;
        let CliCommand::Run(args) = parsed.command else {
            return Err(CommandFailure::usage("--sweep and --repeat belong to run"));
        };
        let DescribedRun { spec, secrets, command } = spec::described(&args)?;
        let command = command.unwrap_or_else(|| secrets::command_line(&arguments));
        let context = RunContext { secrets, command, out: None };
        let request = spec::request(&spec, &context)?;
        let factors = combination.into_iter().map(|(name, value)| {
            let value = secrets::shown(&name, &value);
            FactorValue { name, value }
        });
        let RunContext { secrets, command, .. } = context;
        let spec = request.spec.unwrap_or(spec);
        Ok(Self { factors: factors.collect(), spec, secrets, command })
    }

    /// Its factors in words.
    pub(super) fn combination(&self) -> String {
        combination_text(&self.factors)
    }

    /// Makes the run, with its record in this folder.
    ///
    /// Errors: its process could not be started, or crashed.
    pub(super) fn make(
        &self,
        out: Option<PathBuf>,
        is_strict: bool,
        controls: SweepControls<'_>,
    ) -> Result<ProcessResult, CommandFailure> {
        let mut arguments: Vec<OsString> = match out {
            Some(out) => vec!["--out".into(), out.into()],
            None => vec!["--no-record".into()],
        };
        arguments.extend(is_strict.then(|| "--strict".into()));
        self.process(arguments, controls)
    }

    /// Has a process of its own do something with it.
    fn process(
        &self,
        arguments: Vec<OsString>,
        controls: SweepControls<'_>,
    ) -> Result<ProcessResult, CommandFailure> {
        let document = serde_json::json!({ "command": self.command, "spec": self.spec });
        let parent = format!("--parent={}", std::process::id());
        let usual = ["run", "--spec=-", "--events", parent.as_str()].map(OsString::from);
        let process = RunProcess {
            // One that was replaced meanwhile is still this program.
            program: std::env::current_exe()
                .ok()
                .filter(|path| path.exists())
                .unwrap_or_else(|| PathBuf::from("/proc/self/exe")),
            arguments: usual.into_iter().chain(arguments).collect(),
            environment: self.secrets.environment(),
            document: document.to_string(),
        };
        Ok(process.run(&|progress| controls.live.show(&progress), controls.stop)?)
    }

    fn servers(&self) -> u32 {
        let load = &self.spec.load;
        load.workers.or(load.connections).unwrap_or(1)
    }

    fn is_auto(&self) -> bool {
        let is_swept = self.factors.iter().any(|factor| factor.name == "rate");
        let rate = self.spec.load.rate.as_deref().and_then(|rate| rate.parse().ok());
        !is_swept && matches!(rate, Some(RateChoice::Auto(_)))
    }
}

/// A flag of the sweep that `run` does not have is no word of the command line.
fn no_flag(error: clap::Error, combination: &FactorCombination) -> CommandFailure {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.trim_start_matches("--"),
        _ => "",
    };
    let is_swept = combination.iter().any(|(name, _)| name == unknown);
    if error.kind() == ErrorKind::UnknownArgument && is_swept {
        return CommandFailure::usage(format!(
            "`{unknown}` cannot be swept: `dbtime run` has no flag --{unknown}; write one that it \
             has and its values, such as workers=40,10,4"
        ));
    }
    error.into()
}

/// Where all are offered a share of the flat-out rate, and the rate itself is not swept: measures
/// it once, and has all offer the same.
pub(super) fn hold_rate(
    planned: &mut [PlannedRun],
    audience: ProgressAudience,
    stop: &RunStop,
) -> Result<(), CommandFailure> {
    if !planned.iter().all(PlannedRun::is_auto) {
        return Ok(());
    }
    let from = &planned[reference(&planned.iter().map(PlannedRun::servers).collect::<Vec<_>>())];
    if audience == ProgressAudience::Terminal {
        screen::note(&format!("the rate of all, found by {}", from.combination()));
    }
    let live = LiveProgress::new(audience);
    let found = from.process(vec!["--find-rate".into()], SweepControls { live: &live, stop });
    drop(live);
    let found = match found?.outcome {
        RunOutcome::FlatOutRate { auto: Some(found) } => found,
        RunOutcome::Failure { exit_code, text } => return Err(failure(exit_code, &text)),
        RunOutcome::FlatOutRate { auto: None } | RunOutcome::Record(_) => return Ok(()),
    };
    let rate = Rate::Constant(found.offered_tps());
    for run in planned {
        // Repeated alone it is to be the same run.
        run.command += &format!(" --rate={rate}");
        run.spec.load.flat_out = Some(found.clone());
    }
    Ok(())
}

/// What ended a run before it was one.
pub(super) fn failure(exit_code: u8, text: &str) -> CommandFailure {
    match ProcessExit::of_process(exit_code) {
        ProcessExit::Usage => CommandFailure::usage(text),
        _ => CommandFailure::environment(text),
    }
}

/// Which of the runs, by their numbers of workers or connections, is to tell what is carried flat
/// out: the largest that is no crowd, else the smallest; the first of equals.
fn reference(servers: &[u32]) -> usize {
    let fitness = |index: &usize| {
        let servers = servers[*index];
        let is_crowd = servers > MAX_REFERENCE_SERVERS;
        let size = if is_crowd { -i64::from(servers) } else { i64::from(servers) };
        (!is_crowd, size, Reverse(*index))
    };
    (0..servers.len()).max_by_key(fitness).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_found_by_the_largest_run_that_is_no_crowd() {
        assert_eq!(reference(&[1, 2, 64, 128, 2048]), 2);
        assert_eq!(reference(&[2048, 128, 512]), 1);
        assert_eq!(reference(&[16, 16]), 0);
        assert_eq!(reference(&[1000, 1]), 1);
    }
}
