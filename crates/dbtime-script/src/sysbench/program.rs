//! A client of a sysbench script as a program: it is resumed with answers, and says what its Lua
//! wants next.
//!
//! ```text
//!   New ── Open: script, thread_init ──► Waiting ⇄ Running (an event) ── event says stop ──► Over
//!                                           │                                                 │
//!                                           └────────── Close: thread_done ──► Gone ◄─────────┘
//! ```

use super::desk::{Desk, Slot};
use super::script::{ScriptError, Setup};
use super::state::{Reply, State, Wants, life_of, words};
use super::visits::Visits;
use dbtime_load::failure::Failure;
use dbtime_load::program::{Event, Phase, Program, Step, Ticket};
use dbtime_load::results::Results;
use dbtime_load::script::Crew;
use dbtime_model::{ErrorClass, Outcome, Sample};
use std::rc::Rc;
use std::sync::Arc;

/// The clients of a thread.
pub(super) struct Sysbench {
    state: Rc<State>,
}

impl Sysbench {
    pub(super) fn new(setup: Arc<Setup>, visits: Arc<Visits>) -> Result<Self, ScriptError> {
        Ok(Self { state: Rc::new(State::new(Desk::new(setup, visits))?) })
    }
}

impl Crew for Sysbench {
    fn program(&mut self, client: u32) -> Result<Box<dyn Program>, String> {
        let setup = &self.state.desk.setup;
        let life = life_of(&setup.settings.command);
        self.state.add(client, client, life).map_err(words)?;
        let slot = Box::new(Slot::new(client, setup.seed));
        Ok(Box::new(Client { state: Rc::clone(&self.state), slot, at: At::New }))
    }
}

/// Where a client is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    New,
    Opening,
    Waiting,
    Running,
    Over,
    Closing,
    Gone,
}

struct Client {
    state: Rc<State>,
    slot: Box<Slot>,
    at: At,
}

impl Client {
    /// Resumes the client, and says what it wants in the engine's words.
    #[inline]
    fn go_on(&mut self, reply: Reply) -> Step<'_> {
        match self.state.resume(&mut self.slot, reply) {
            Wants::Ask => self.slot.asks(&self.state.desk),
            Wants::Sleep => Step::Sleep(self.slot.sleep),
            Wants::Done | Wants::Ready => {
                self.at = At::Waiting;
                Step::Done
            }
            Wants::Over => {
                self.at = At::Over;
                Step::Quit { failed: None, all: false }
            }
            Wants::Closed => {
                self.at = At::Gone;
                Step::Done
            }
            Wants::Failed => {
                self.at = At::Gone;
                Step::Quit { failed: Some(ErrorClass::Other), all: true }
            }
        }
    }
}

impl Program for Client {
    fn start(&mut self, _ticket: &Ticket) {
        self.slot.restarts = 0;
        self.state.desk.setup.stats.begun(self.slot.client as usize);
    }

    #[inline]
    fn resume(&mut self, event: Event<'_>) -> Step<'_> {
        match (self.at, event) {
            (At::Waiting, Event::Started) => self.at = At::Running,
            (At::Opening | At::Running | At::Closing, _) => {}
            // One that has gone for good is asked for no more.
            (At::New | At::Waiting | At::Over | At::Gone, _) => {
                return Step::Quit { failed: Some(ErrorClass::Other), all: false };
            }
        }
        self.go_on(Reply::Go)
    }

    #[inline]
    fn replied(&mut self, reply: Result<&mut Results, &Failure>) -> Step<'_> {
        let reply = self.slot.replied(reply, &self.state.desk);
        self.go_on(reply)
    }

    fn begin(&mut self, phase: Phase) -> Option<Step<'_>> {
        match (phase, self.at) {
            (Phase::Open, At::New) => {
                self.at = At::Opening;
                Some(self.go_on(Reply::Go))
            }
            (Phase::Close, At::Waiting | At::Over) => {
                self.at = At::Closing;
                Some(self.go_on(Reply::Stop))
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
        if sample.outcome == Outcome::Completed && self.at != At::Over {
            let (desk, client) = (&self.state.desk, self.slot.client as usize);
            desk.setup.stats.event(client, &desk.latencies, sample.response().0);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.state.remove(self.slot.client);
    }
}
