//! A client of a sysbench script as a program: it is resumed with answers, and says what its Lua
//! wants next.
//!
//! ```text
//!   New ── Open: script, thread_init ──► Waiting ⇄ Running (an event) ── event says stop ──► Over
//!                                           │                                                 │
//!                                           └────────── Close: thread_done ──► Gone ◄─────────┘
//! ```

use super::lua_host::{ClientState, LuaHost};
use super::lua_state::{CoroutineResume, CoroutineYield, LuaState, fatal_message, lifecycle_of};
use super::lua_visits::LuaVisits;
use super::script::{SysbenchError, SysbenchSetup};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::Ticket;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{
    ProgramFactory, ProgramPhase, ScriptEvent, ScriptProgram, ScriptProgramStep,
};
use dbtime_model::{ErrorClass, Outcome, Sample};
use std::rc::Rc;
use std::sync::Arc;

/// The clients of a thread.
pub(super) struct SysbenchFactory {
    state: Rc<LuaState>,
}

impl SysbenchFactory {
    pub(super) fn new(
        setup: Arc<SysbenchSetup>,
        visits: Arc<LuaVisits>,
    ) -> Result<Self, SysbenchError> {
        Ok(Self { state: Rc::new(LuaState::new(LuaHost::new(setup, visits))?) })
    }
}

impl ProgramFactory for SysbenchFactory {
    fn program(&mut self, client: u32) -> Result<Box<dyn ScriptProgram>, String> {
        let setup = &self.state.lua_host.setup;
        let life = lifecycle_of(&setup.settings.command);
        self.state.add(client, client, life).map_err(fatal_message)?;
        let slot = Box::new(ClientState::new(client, setup.seed));
        Ok(Box::new(SysbenchClient { state: Rc::clone(&self.state), slot, at: ClientStage::New }))
    }
}

/// Where a client is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientStage {
    New,
    Opening,
    Waiting,
    Running,
    Over,
    Closing,
    Gone,
}

/// The step of a client that has failed, with which the run ends.
pub(super) const FAILED: ScriptProgramStep<'static> =
    ScriptProgramStep::Quit { failed: Some(ErrorClass::Other), all: true };

struct SysbenchClient {
    state: Rc<LuaState>,
    slot: Box<ClientState>,
    at: ClientStage,
}

impl SysbenchClient {
    /// Resumes the client, and says what it wants in the engine's words.
    #[inline]
    fn go_on(&mut self, reply: CoroutineResume) -> ScriptProgramStep<'_> {
        let (stage, step) = match self.state.resume(&mut self.slot, reply) {
            CoroutineYield::Call => return self.slot.step(&self.state.lua_host),
            CoroutineYield::Sleep => return ScriptProgramStep::Sleep(self.slot.sleep),
            CoroutineYield::Done | CoroutineYield::Ready => {
                (ClientStage::Waiting, ScriptProgramStep::Done)
            }
            CoroutineYield::Over => {
                (ClientStage::Over, ScriptProgramStep::Quit { failed: None, all: false })
            }
            CoroutineYield::Closed => (ClientStage::Gone, ScriptProgramStep::Done),
            CoroutineYield::Failed => (ClientStage::Gone, FAILED),
        };
        self.at = stage;
        step
    }
}

impl ScriptProgram for SysbenchClient {
    fn start(&mut self, _ticket: &Ticket) {
        self.slot.restarts = 0;
        self.state.lua_host.setup.stats.begun(self.slot.client as usize);
    }

    #[inline]
    fn resume(&mut self, event: ScriptEvent) -> ScriptProgramStep<'_> {
        match (self.at, event) {
            (ClientStage::Waiting, ScriptEvent::Started) => self.at = ClientStage::Running,
            (ClientStage::Opening | ClientStage::Running | ClientStage::Closing, _) => {}
            // One that has gone for good is asked for no more.
            (
                ClientStage::New | ClientStage::Waiting | ClientStage::Over | ClientStage::Gone,
                _,
            ) => {
                return ScriptProgramStep::Quit { failed: Some(ErrorClass::Other), all: false };
            }
        }
        self.go_on(CoroutineResume::Go)
    }

    #[inline]
    fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptProgramStep<'_> {
        let reply = self.slot.replied(reply, &self.state.lua_host);
        self.go_on(reply)
    }

    fn begin(&mut self, phase: ProgramPhase) -> Option<ScriptProgramStep<'_>> {
        match (phase, self.at) {
            (ProgramPhase::Open, ClientStage::New) => {
                self.at = ClientStage::Opening;
                Some(self.go_on(CoroutineResume::Go))
            }
            (ProgramPhase::Close, ClientStage::Waiting | ClientStage::Over) => {
                self.at = ClientStage::Closing;
                Some(self.go_on(CoroutineResume::Stop))
            }
            // One that was cut off in the middle of an event cannot be asked to tidy up.
            _ => None,
        }
    }

    fn retries(&self) -> u32 {
        self.slot.restarts
    }

    fn ended(&mut self, sample: &Sample) {
        // The event that says that it was the last is none.
        if sample.outcome == Outcome::Completed && self.at != ClientStage::Over {
            let lua_host = &self.state.lua_host;
            let client = self.slot.client as usize;
            lua_host.setup.stats.event(client, &lua_host.latencies, sample.response().0);
        }
    }
}

impl Drop for SysbenchClient {
    fn drop(&mut self) {
        self.state.remove(self.slot.client);
    }
}
