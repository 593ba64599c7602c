//! The main state of a script: it runs the script's body once, and then the functions around a run,
//! commands and report hooks, one after another as somebody wants them. What one of them sets is
//! there for the next.
//!
//! ```text
//!   MainState ── Task ──► MainProgram, a client of an engine ── Step ──► its connections
//!             ◄─ answer ─
//! ```
//!
//! Like every client it may use the database. It waits for tasks on its engine's thread, which is
//! therefore to have no other client.

use super::declarations::{self, ScriptDeclarations};
use super::lua_host::{ClientState, LuaHost};
use super::lua_state::{CoroutineResume, CoroutineYield, LuaState, fatal_message};
use super::lua_visits::LuaVisits;
use super::program::FAILED;
use super::script::{SysbenchError, SysbenchSetup};
use super::settings::{ScriptOptions, SysbenchSettings};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{
    EndCondition, ProgramFactory, ProgramPhase, Script, ScriptEvent, ScriptProgram,
    ScriptProgramStep, ScriptVisit,
};
use dbtime_load::statement::Statement;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the wait for an answer is interrupted for something else.
const MEANWHILE_INTERVAL: Duration = Duration::from_millis(200);

/// What a main state is to do.
#[derive(Clone, Debug)]
pub enum MainTask {
    /// Give the script its options.
    Options(Box<ScriptOptions>),
    /// Let the script look at the value of one of its options. The answer: whether it is right.
    Validate {
        /// The option, as the script declares it.
        name: String,
        /// What was given.
        text: String,
    },
    /// A command, which the script has.
    Command(String),
    /// A global function. The answer: whether there is one.
    Function(&'static str),
    /// A function of `sysbench.hooks`, with its figures. The answer: whether there is one.
    Hook(&'static str, Vec<(&'static str, f64)>),
}

/// What came of a task: what it says by itself, or why it failed.
pub(super) type MainThreadReply = Result<bool, String>;

/// What goes from a main state to whoever gives it its tasks.
enum MainStateMessage {
    Declared(ScriptDeclarations),
    Answer(MainThreadReply),
}

/// Gives a main state its tasks. Once this is dropped the state comes to its end.
pub struct MainState {
    tasks: Sender<MainTask>,
    messages: Receiver<MainStateMessage>,
}

impl MainState {
    /// Waits until the script's body has run. `None`: it has failed, which its engine says.
    pub fn declared(&self) -> Option<ScriptDeclarations> {
        match self.messages.recv() {
            Ok(MainStateMessage::Declared(declared)) => Some(declared),
            _ => None,
        }
    }

    /// Has a task done, and calls `meanwhile` several times a second. `None`: the state has come to
    /// its end before, and its engine says why.
    ///
    /// # Errors
    /// Why the task failed.
    pub fn answer(
        &self,
        task: MainTask,
        mut meanwhile: impl FnMut(),
    ) -> Option<Result<bool, SysbenchError>> {
        self.tasks.send(task).ok()?;
        loop {
            match self.messages.recv_timeout(MEANWHILE_INTERVAL) {
                Ok(MainStateMessage::Answer(answer)) => {
                    return Some(answer.map_err(SysbenchError::Lua));
                }
                Err(RecvTimeoutError::Timeout) => meanwhile(),
                _ => return None,
            }
        }
    }
}

/// Where a main state gets its tasks and gives its answers.
struct MainThreadChannel {
    tasks: Receiver<MainTask>,
    messages: Sender<MainStateMessage>,
}

/// A script's main state, for an engine that drives one client of it, once.
pub struct MainScript {
    setup: Arc<SysbenchSetup>,
    tid: u32,
    seat: Mutex<Option<MainThreadChannel>>,
    visits: Arc<LuaVisits>,
}

impl std::fmt::Debug for MainScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MainScript").field("file", &self.setup.file).finish_non_exhaustive()
    }
}

impl MainScript {
    /// Finds the script; its options are yet to come, as a task. It sees the command of the
    /// settings where there is one, and finds `tid` in `sysbench.tid`.
    ///
    /// # Errors
    /// There is no such script.
    pub fn new(
        settings: SysbenchSettings,
        has_command: bool,
        tid: u32,
    ) -> Result<(Self, MainState), SysbenchError> {
        let mut setup = SysbenchSetup::new(settings)?;
        setup.command = setup.command.filter(|_| has_command);
        let setup = Arc::new(setup);
        let ((tasks, task_receiver), (message_sender, messages)) = (channel(), channel());
        let seat =
            Mutex::new(Some(MainThreadChannel { tasks: task_receiver, messages: message_sender }));
        let script = Self { setup, tid, seat, visits: Arc::default() };
        Ok((script, MainState { tasks, messages }))
    }

    /// Whether what can be read of the script before it runs says how to get to a database, or
    /// loads what may.
    pub fn may_use_sql(&self) -> bool {
        self.setup.source_contains(&super::api::DATABASES)
            || self.setup.source_contains(&["require", "dofile", "loadfile"])
    }
}

impl Script for MainScript {
    fn factory_for_thread(&self, _thread: u32) -> Result<Box<dyn ProgramFactory>, String> {
        let lua_host = LuaHost::new(Arc::clone(&self.setup), Arc::clone(&self.visits));
        let state = LuaState::new(lua_host).map_err(|error| error.to_string())?;
        let seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(Box::new(MainProgramFactory { made: Some((state, seat, self.tid)) }))
    }

    fn statements(&self) -> Vec<Statement> {
        self.setup.registry.statements()
    }

    fn stop_reason(&self) -> Option<String> {
        self.setup.stop_reason()
    }

    fn inside(&self) -> Vec<ScriptVisit> {
        self.visits.inside().into_iter().collect()
    }

    fn heed(&self, condition: EndCondition) {
        self.setup.heed(condition);
    }

    fn connects(&self) -> bool {
        true
    }
}

struct MainProgramFactory {
    made: Option<(LuaState, Option<MainThreadChannel>, u32)>,
}

impl ProgramFactory for MainProgramFactory {
    fn program(&mut self, client: u32) -> Result<Box<dyn ScriptProgram>, String> {
        let Some((state, Some(seat), tid)) = self.made.take() else {
            return Err("the main state of a script is driven once, by one client".to_owned());
        };
        state.add(client, tid, "main").map_err(fatal_message)?;
        let slot = Box::new(ClientState::new(client, state.lua_host.setup.seed));
        Ok(Box::new(MainProgram { state, seat, slot, is_open: false }))
    }
}

struct MainProgram {
    state: LuaState,
    seat: MainThreadChannel,
    slot: Box<ClientState>,
    /// Whether the body has run.
    is_open: bool,
}

impl MainProgram {
    fn go_on(&mut self, mut reply: CoroutineResume) -> ScriptProgramStep<'_> {
        loop {
            match self.state.resume(&mut self.slot, reply) {
                CoroutineYield::Call => return self.slot.step(&self.state.lua_host),
                CoroutineYield::Sleep => return ScriptProgramStep::Sleep(self.slot.sleep),
                CoroutineYield::Ready if !self.is_open => return self.opened(),
                CoroutineYield::Ready => {
                    let answer = self.state.lua_host.answer.take().unwrap_or(Ok(true));
                    // Nobody waits for it only when the next task does not come either.
                    let _ = self.seat.messages.send(MainStateMessage::Answer(answer));
                    if !self.next_task() {
                        return ScriptProgramStep::Done;
                    }
                    reply = CoroutineResume::Go;
                }
                _ => return FAILED,
            }
        }
    }

    fn opened(&mut self) -> ScriptProgramStep<'_> {
        self.is_open = true;
        match declarations::read(&self.state) {
            Ok(declared) => {
                let _ = self.seat.messages.send(MainStateMessage::Declared(declared));
                ScriptProgramStep::Done
            }
            Err(error) => {
                self.state.lua_host.report_fatal(&fatal_message(error), "");
                FAILED
            }
        }
    }

    /// Waits for a task and puts it into the host. `false`: none comes any more.
    fn next_task(&mut self) -> bool {
        let Ok(task) = self.seat.tasks.recv() else { return false };
        if let MainTask::Options(options) = &task {
            // A state without memory for them says so when it is used.
            let _ = self.state.give_options(options);
        }
        self.state.lua_host.task.replace(Some(task));
        true
    }
}

impl ScriptProgram for MainProgram {
    fn resume(&mut self, event: ScriptEvent) -> ScriptProgramStep<'_> {
        if matches!(event, ScriptEvent::Started) && !self.next_task() {
            return ScriptProgramStep::Done;
        }
        self.go_on(CoroutineResume::Go)
    }

    fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptProgramStep<'_> {
        let reply = self.slot.replied(reply, &self.state.lua_host);
        self.go_on(reply)
    }

    fn begin(&mut self, phase: ProgramPhase) -> Option<ScriptProgramStep<'_>> {
        (phase == ProgramPhase::Open && !self.is_open).then(|| self.go_on(CoroutineResume::Go))
    }
}

impl Drop for MainProgram {
    fn drop(&mut self) {
        // The list of `report_json` is closed when the state that has begun it comes to its end.
        let finish = self.state.own("finish_reports");
        let _ = finish.ok().and_then(|finish| finish.as_function()?.call::<()>(()).ok());
    }
}
