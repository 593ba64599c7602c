//! A script's transaction under way: the script decides on retries and pauses itself.

use crate::connection_op::ConnectionOp;
use crate::failure::DatabaseFailure;
use crate::program::Ticket;
use crate::results::ResultSets;
use crate::script::{ProgramPhase, ScriptEvent, ScriptProgram, ScriptProgramStep};
use dbtime_model::{Nanos, Outcome, Sample, StatementId};

/// What the engine is to do for a script's session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScriptAction<'a> {
    /// Ask something of the connection and come back with [`ScriptSession::replied`].
    Perform {
        /// What the script wants done.
        op: ConnectionOp<'a>,
        /// What it is booked under; `None`: it is no statement.
        statement: Option<StatementId>,
        /// Which of the client's connections it is for.
        connection: u16,
    },
    /// Pause for so long and come back with [`ScriptSession::resumed`].
    Sleep(Nanos),
    /// The transaction has ended, or the phase.
    End(Outcome),
    /// The transaction has ended, and its client asks for no other.
    Quit {
        /// What became of it.
        outcome: Outcome,
        /// Whether the run ends with it.
        all: bool,
    },
}

/// One client's transaction of a script.
pub struct ScriptSession {
    program: Box<dyn ScriptProgram>,
    ticket: Ticket,
}

impl ScriptSession {
    /// An idle session.
    pub fn new(program: Box<dyn ScriptProgram>) -> Self {
        Self { program, ticket: Ticket::default() }
    }

    /// The transaction under way, or the last one.
    #[inline]
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Its attempts beyond the first.
    #[inline]
    pub(crate) fn retries(&self) -> u32 {
        self.program.retries()
    }

    /// The ticket, with the operation that the program makes of it.
    #[inline]
    pub(crate) fn claimed(&mut self, ticket: Ticket) -> Ticket {
        Ticket { operation: self.program.operation(&ticket), ..ticket }
    }

    /// Begins a part of the client's life outside of transactions; it is over when an action says
    /// [`ScriptAction::End`]. `None`: there is nothing to do in it.
    pub fn begin_phase(&mut self, phase: ProgramPhase) -> Option<ScriptAction<'_>> {
        self.program.begin(phase).map(action_of)
    }

    /// Starts a transaction.
    #[inline]
    pub fn start(&mut self, ticket: Ticket) -> ScriptAction<'_> {
        self.ticket = ticket;
        self.program.start(&self.ticket);
        action_of(self.program.resume(ScriptEvent::Started))
    }

    /// What became of [`ScriptAction::Perform`].
    #[inline]
    pub fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptAction<'_> {
        action_of(self.program.replied(reply))
    }

    /// A pause is over.
    pub fn resumed(&mut self) -> ScriptAction<'_> {
        action_of(self.program.resume(ScriptEvent::Resumed))
    }

    /// The transaction has ended, as `sample` says.
    #[inline]
    pub(crate) fn ended(&mut self, sample: &Sample) {
        self.program.ended(sample);
    }
}

/// What the engine does for a step.
#[inline]
fn action_of(step: ScriptProgramStep<'_>) -> ScriptAction<'_> {
    match step {
        ScriptProgramStep::Perform { op, statement, connection } => {
            ScriptAction::Perform { op, statement, connection }
        }
        ScriptProgramStep::Sleep(length) => ScriptAction::Sleep(length),
        ScriptProgramStep::Done => ScriptAction::End(Outcome::Completed),
        ScriptProgramStep::Failed(class) => ScriptAction::End(Outcome::Failed(class)),
        ScriptProgramStep::Quit { failed, all } => {
            ScriptAction::Quit { outcome: failed.map_or(Outcome::Completed, Outcome::Failed), all }
        }
    }
}
