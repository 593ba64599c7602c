//! The script's main state, and those of its report hooks: each on an engine of its own, which
//! lasts as long as the command.

use super::fatal_words::{fatal, in_its_words};
use crate::exit::CommandFailure;
use crate::interrupt;
use crate::live::report_overdue_script;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::{ComputingSpans, LabError, OneShot, RunProgress, RunRequest, Target, operation};
use dbtime_load::script::Script;
use dbtime_load::workload::Workload;
use dbtime_machine::now;
use dbtime_model::Nanos;
use dbtime_script::sysbench::{
    MainScript, MainState, MainTask, ScriptDeclarations, ScriptOptions, SysbenchSettings,
};
use std::sync::Arc;
use std::thread::JoinHandle;

/// How long a task may compute on when its run is to end. A hook that has taken longer before and
/// has come back has twice that time besides: the report ends with it.
const TASK_PATIENCE: Nanos = Nanos::from_secs(2);

/// A state of a script, on a thread of its own.
pub(super) struct StateThread {
    pub(super) declared: ScriptDeclarations,
    script: Arc<MainScript>,
    state: Option<MainState>,
    thread: Option<JoinHandle<Result<(), LabError>>>,
    /// How long the longest hook has taken.
    longest_hook: Nanos,
    /// Ends it early.
    stop: Arc<RunStop>,
}

/// What a state is made of.
pub(super) struct StateSetup {
    /// What it is run with.
    pub(super) settings: SysbenchSettings,
    /// Whether there is a command for `sysbench.cmdline.command`.
    pub(super) has_command: bool,
    /// `sysbench.tid`.
    pub(super) tid: u32,
    /// The workload's name.
    pub(super) name: String,
    /// Ends it early.
    pub(super) stop: Arc<RunStop>,
}

impl StateThread {
    /// Runs the script's body. `found` gives the database, for scripts that may use one.
    pub(super) fn start(
        making: StateSetup,
        found: impl FnOnce() -> Result<Target, CommandFailure>,
    ) -> Result<Self, CommandFailure> {
        let StateSetup { settings, has_command, tid, name, stop } = making;
        let (script, state) = MainScript::new(settings, has_command, tid).map_err(in_its_words)?;
        let target: Target = match script.may_use_sql() {
            true => found()?,
            // Without a word about a database a script is not to wait for one.
            false => "null".parse()?,
        };
        // A file that is not there yet may be about to be filled.
        target.create().map_err(fatal)?;
        let script = Arc::new(script);
        let workload = Workload::from_script(name, vec![operation("main")], script.clone());
        let mut request = RunRequest::new(workload, target);
        request.spec.load.shards = Some(1);
        let thread = std::thread::Builder::new().name("main state".to_owned());
        let ending = Arc::clone(&stop);
        let thread = thread
            .spawn(move || {
                dbtime_lab::command(&request, OneShot::Command, &report_overdue_script, &ending)
            })
            .map_err(CommandFailure::environment)?;
        let declared = state.declared();
        let mut made = Self {
            declared: ScriptDeclarations::default(),
            script,
            state: Some(state),
            thread: Some(thread),
            longest_hook: Nanos::ZERO,
            stop,
        };
        made.declared = declared.ok_or_else(|| made.fate())?;
        Ok(made)
    }

    /// Has a task done. The answer: what the task says by itself.
    pub(super) fn answer(&mut self, task: MainTask) -> Result<bool, CommandFailure> {
        let (begun, is_hook) = (now(), matches!(task, MainTask::Hook(..)));
        let patience = TASK_PATIENCE + self.longest_hook + self.longest_hook;
        let (script, stop, mut spans) = (&self.script, &self.stop, ComputingSpans::default());
        // The state of a hook goes on after the run that a signal has ended, and nothing else ends
        // what computes in it, or pauses again and again.
        let watch = || {
            let Some(of_run) = interrupt::signalled_stop() else { return };
            let present = now();
            spans.look(&script.inside(), present);
            if spans.deaf_client(&of_run, patience, present).is_some() {
                report_overdue_script(RunProgress::ScriptDeaf { client: None });
            }
            if present - of_run.instant().max(begun) >= patience {
                stop.at(present);
            }
        };
        let answer = self.state.as_ref().and_then(|state| state.answer(task, watch));
        if is_hook {
            self.longest_hook = self.longest_hook.max(now() - begun);
        }
        match answer {
            Some(answer) => answer.map_err(in_its_words),
            None => Err(self.fate()),
        }
    }

    pub(super) fn give_options(&mut self, options: ScriptOptions) -> Result<(), CommandFailure> {
        self.answer(MainTask::Options(Box::new(options))).map(drop)
    }

    /// Why the state has come to its end.
    fn fate(&mut self) -> CommandFailure {
        match self.join() {
            Some(Err(error)) => fatal(error),
            _ => in_its_words("FATAL: the script has come to its end"),
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
