//! A run before it is made, and how it is made: as a process of its own.

use crate::exit::{CommandFailure, ProcessExit};
use crate::live::LiveProgress;
use crate::secrets;
use crate::spec::{self, BaseRun, RunContext, RunSecrets};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::{ProcessResult, RunProcess, Target};
use dbtime_model::record::{FactorValue, combination_text};
use dbtime_model::spec::{FlagSetting, RateChoice, RunSpec};
use dbtime_model::study::StudyCell;
use std::ffi::OsString;
use std::path::PathBuf;

/// What shows several runs, and what ends them.
#[derive(Clone, Copy)]
pub(crate) struct RunControls<'a> {
    pub(crate) live: &'a LiveProgress,
    pub(crate) stop: &'a RunStop,
}

/// A run, ready to be made.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRun {
    /// Without passwords.
    pub(crate) factors: Vec<FactorValue>,
    /// What is run.
    pub(crate) spec: RunSpec,
    /// Its passwords.
    secrets: RunSecrets,
    /// The command that repeats it.
    pub(crate) command: String,
    /// The folder that relative paths of it are relative to; `None`: that of this process.
    directory: Option<PathBuf>,
    /// Where data are restored from; `None`: they are loaded.
    snapshots: Option<PathBuf>,
}

impl PlannedRun {
    /// The run that another one becomes by settings, which make it this one.
    ///
    /// Errors: whatever is wrong with it that can be seen before it is run.
    pub(crate) fn of_settings(
        base: &BaseRun,
        settings: &[FlagSetting],
    ) -> Result<Self, CommandFailure> {
        let (spec, secrets) = base.with(settings)?;
        let context =
            RunContext { secrets, command: base.command(settings), ..RunContext::default() };
        let request = spec::request(&spec, &context)?;
        let factor = |FlagSetting { name, value }: &FlagSetting| FactorValue {
            name: name.clone(),
            value: secrets::shown(name, value),
        };
        let factors = settings.iter().map(factor).collect();
        let RunContext { secrets, command, .. } = context;
        let (spec, snapshots) = (request.spec, base.snapshots.clone());
        Ok(Self { factors, spec, secrets, command, directory: None, snapshots })
    }

    /// The run of a written form, with the passwords of the surroundings.
    pub(crate) fn of_spec(spec: RunSpec, command: String, secrets: RunSecrets) -> Self {
        let factors = Vec::new();
        Self { factors, spec, secrets, command, directory: None, snapshots: None }
    }

    /// That of a configuration in this folder, with the passwords of the surroundings; `None`: it
    /// is an external program's.
    pub(crate) fn of_cell(
        cell: &StudyCell,
        secrets: RunSecrets,
        directory: Option<PathBuf>,
    ) -> Option<Self> {
        let run = Self::of_spec(cell.spec.clone()?, cell.command.clone(), secrets);
        Some(Self { factors: cell.factors.clone(), directory, ..run })
    }

    /// The same with another seed.
    pub(crate) fn with_seed(&self, seed: u64) -> Self {
        let mut run = self.clone();
        run.spec.seed = seed;
        // Repeated alone it is to be the same run.
        run.command += &format!(" --seed={seed}");
        run
    }

    /// The same in another folder than that of this process.
    pub(crate) fn in_directory(self, directory: PathBuf) -> Self {
        Self { directory: Some(directory), ..self }
    }

    /// The same with data that are restored from this folder, which all runs of this seed have
    /// alike; as it is where it loads none.
    pub(crate) fn with_snapshots(self, folder: PathBuf, data_seed: u64) -> Self {
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
    pub(crate) fn loads_data(&self) -> bool {
        let target = self.spec.target.url.parse::<Target>();
        target.is_ok_and(|target| target.loads_data())
    }

    /// Its factors in words.
    pub(crate) fn combination(&self) -> String {
        combination_text(&self.factors)
    }

    /// Makes the run, with its record in this folder.
    ///
    /// Errors: its process could not be started, or crashed.
    pub(crate) fn make(
        &self,
        out: Option<PathBuf>,
        is_strict: bool,
        controls: RunControls<'_>,
    ) -> Result<ProcessResult, CommandFailure> {
        let mut arguments: Vec<OsString> = match out {
            Some(out) => vec!["--out".into(), out.into()],
            None => vec!["--no-record".into()],
        };
        arguments.extend(is_strict.then(|| "--strict".into()));
        if let Some(folder) = &self.snapshots {
            arguments.extend(["--snapshots".into(), folder.into()]);
        }
        self.process(arguments, controls)
    }

    /// Has a process of its own do something with it.
    pub(crate) fn process(
        &self,
        arguments: Vec<OsString>,
        controls: RunControls<'_>,
    ) -> Result<ProcessResult, CommandFailure> {
        let document = serde_json::json!({ "command": self.command, "spec": self.spec });
        let parent = format!("--parent={}", std::process::id());
        let usual = ["run", "--spec=-", "--events", parent.as_str()].map(OsString::from);
        let process = RunProcess {
            program: own_program(),
            arguments: usual.into_iter().chain(arguments).collect(),
            environment: self.secrets.environment(),
            document: document.to_string(),
            directory: self.directory.clone(),
        };
        Ok(process.run(&|progress| controls.live.show(&progress), controls.stop)?)
    }

    pub(crate) fn servers(&self) -> u32 {
        self.spec.load.servers()
    }

    pub(crate) fn is_auto(&self) -> bool {
        let is_swept = self.factors.iter().any(|factor| factor.name == "rate");
        !is_swept && matches!(self.spec.load.rate, Some(RateChoice::Auto(_)))
    }
}

/// This program; one that was replaced meanwhile is still this one.
pub(crate) fn own_program() -> PathBuf {
    let path = std::env::current_exe().ok().filter(|path| path.exists());
    path.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

/// What ended a run before it was one.
pub(crate) fn failure(exit_code: u8, text: &str) -> CommandFailure {
    match ProcessExit::of_process(exit_code) {
        ProcessExit::Usage => CommandFailure::usage(text),
        _ => CommandFailure::environment(text),
    }
}
