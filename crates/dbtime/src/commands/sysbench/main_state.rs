//! The script's main state, and those of its report hooks: each on an engine of its own, which
//! lasts as long as the command.

use super::fatal;
use crate::exit::Failure;
use crate::live::tell_stuck;
use dbtime_engines::plan::Stop;
use dbtime_lab::{LabError, RunRequest, Target, operation};
use dbtime_load::workload::Workload;
use dbtime_script::sysbench::{Declared, MainScript, MainState, ScriptOptions, Settings, Task};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A state of a script, on a thread of its own.
pub(super) struct StateThread {
    /// What the script declares.
    pub(super) declared: Declared,
    state: Option<MainState>,
    thread: Option<JoinHandle<Result<(), LabError>>>,
}

/// What a state is made of.
pub(super) struct Making {
    /// What it is run with.
    pub(super) settings: Settings,
    /// Whether there is a command for `sysbench.cmdline.command`.
    pub(super) has_command: bool,
    /// `sysbench.tid`.
    pub(super) tid: u32,
    /// The workload's name.
    pub(super) name: String,
    /// Ends it early.
    pub(super) stop: Arc<Stop>,
}

impl StateThread {
    /// Runs the script's body. `found` gives the database, for scripts that may use one.
    pub(super) fn start(
        making: Making,
        found: impl FnOnce() -> Result<Target, Failure>,
    ) -> Result<Self, Failure> {
        let Making { settings, has_command, tid, name, stop } = making;
        let (script, state) =
            MainScript::new(settings, has_command, tid).map_err(Failure::usage)?;
        let target: Target = match script.may_use_sql() {
            true => found()?,
            // Without a word about a database a script is not to wait for one.
            false => "null".parse()?,
        };
        // A file that is not there yet may be about to be filled.
        target.create().map_err(fatal)?;
        let workload = Workload::from_script(name, vec![operation("main")], Arc::new(script));
        let mut request = RunRequest::new(workload, target);
        (request.load.connections, request.load.shards) = (1, Some(1));
        let thread = std::thread::Builder::new().name("main state".to_owned());
        let thread = thread
            .spawn(move || dbtime_lab::command(&request, &tell_stuck, &stop))
            .map_err(Failure::environment)?;
        let declared = state.declared();
        let mut made =
            Self { declared: Declared::default(), state: Some(state), thread: Some(thread) };
        made.declared = declared.ok_or_else(|| made.fate())?;
        Ok(made)
    }

    /// Has a task done. The answer: what the task says by itself.
    pub(super) fn answer(&mut self, task: Task) -> Result<bool, Failure> {
        match self.state.as_ref().and_then(|state| state.answer(task)) {
            Some(answer) => answer.map_err(Failure::usage),
            None => Err(self.fate()),
        }
    }

    pub(super) fn give_options(&mut self, options: ScriptOptions) -> Result<(), Failure> {
        self.answer(Task::Options(Box::new(options))).map(drop)
    }

    /// Why the state has come to its end.
    fn fate(&mut self) -> Failure {
        match self.join() {
            Some(Err(error)) => fatal(error),
            _ => Failure::usage("FATAL: the script has come to its end"),
        }
    }

    fn join(&mut self) -> Option<Result<(), LabError>> {
        self.state = None;
        let ended = self.thread.take()?.join();
        Some(ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for StateThread {
    fn drop(&mut self) {
        // Whatever the state still prints comes before the command ends.
        let _ = self.join();
    }
}
