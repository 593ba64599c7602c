//! Scripts in foreign languages, as far as an engine has to know them.

use crate::connection_op::ConnectionOp;
use crate::failure::DatabaseFailure;
use crate::program::Ticket;
use crate::results::ResultSets;
use crate::statement::Statement;
use dbtime_model::{ErrorClass, Nanos, OperationId, Sample, StatementId};
use std::fmt;
use std::sync::Arc;

/// A script that makes programs.
pub trait Script: fmt::Debug + Send + Sync {
    /// Gets ready on a thread: whatever its programs share there. Called on that thread.
    ///
    /// # Errors
    /// What is wrong with the script, as its author wants to read it.
    fn factory_for_thread(&self, thread: u32) -> Result<Box<dyn ProgramFactory>, String>;

    /// The statements that were executed, by [`dbtime_model::StatementId`]: known only after the
    /// run, for a script may make them up.
    fn statements(&self) -> Vec<Statement> {
        Vec::new()
    }

    /// What makes and fills its tables on a target that has none: each client of it runs once.
    fn preparation(&self) -> Option<PreparationScript> {
        None
    }

    /// Why the run was ended, where a program did so.
    fn stop_reason(&self) -> Option<String> {
        None
    }

    /// The clients inside their script at this moment.
    fn inside(&self) -> Vec<ScriptVisit> {
        Vec::new()
    }

    /// The command by which a client has started the program that it waits for, without literals;
    /// `None`: it waits for none, or its script's language has no commands.
    fn awaited_program(&self, _client: u32) -> Option<String> {
        None
    }

    /// Gives it the condition under which it is to end: it asks before it does anything that no
    /// engine sees. The latest condition counts.
    fn heed(&self, _condition: EndCondition) {}

    /// How its statements go to the server, as a record names it, where that is not as the run has
    /// it.
    fn protocol(&self) -> Option<&'static str> {
        None
    }

    /// Whether the script makes its connections itself. Else they are made before the load.
    fn connects(&self) -> bool {
        false
    }
}

/// A client inside its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptVisit {
    /// The client, or [`ScriptVisit::NO_CLIENT`].
    pub client: u32,
    /// It changes whenever one goes in: one that stays the same says that the script does not come
    /// back.
    pub number: u64,
    /// Whether the script waits for a program that it has started.
    pub awaits_program: bool,
}

impl ScriptVisit {
    /// In the place of a client: all of a thread have gone, and what they have left behind is
    /// waited for.
    pub const NO_CLIENT: u32 = u32::MAX - 1;
}

/// Whether whoever runs a script wants it to end.
#[derive(Clone)]
pub struct EndCondition(Arc<dyn Fn() -> bool + Send + Sync>);

impl EndCondition {
    /// Asks this function, on whichever thread the script runs.
    pub fn new(is_met: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_met))
    }

    /// Whether it is to end now.
    pub fn is_met(&self) -> bool {
        (self.0)()
    }
}

impl Default for EndCondition {
    /// Nobody wants that.
    fn default() -> Self {
        Self::new(|| false)
    }
}

impl fmt::Debug for EndCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("EndCondition").field(&self.is_met()).finish()
    }
}

/// A script that makes and fills tables.
#[derive(Clone, Debug)]
pub struct PreparationScript {
    /// What is run once by each of its clients.
    pub script: Arc<dyn Script>,
    /// How many they are.
    pub clients: u32,
}

/// What the programs of a thread share.
pub trait ProgramFactory {
    /// The program of a client; clients are numbered over all threads.
    ///
    /// # Errors
    /// What is wrong with the script.
    fn program(&mut self, client: u32) -> Result<Box<dyn ScriptProgram>, String>;
}

/// What happened since the program's last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptEvent {
    /// The transaction starts.
    Started,
    /// A pause is over.
    Resumed,
}

/// What a script's program wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScriptProgramStep<'a> {
    /// Ask something of the connection, and be told by [`ScriptProgram::replied`]. What fails is
    /// the program's affair: nothing is undone or tried again for it.
    Perform {
        /// What the script wants done.
        op: ConnectionOp<'a>,
        /// The statement that it is booked under; `None`: it is no statement.
        statement: Option<StatementId>,
        /// Which of the client's connections it is for; it has one, 0, and others as it asks.
        connection: u16,
    },
    /// Pause; counted as think time.
    Sleep(Nanos),
    /// The transaction, or the phase, is complete.
    Done,
    /// The transaction has failed.
    Failed(ErrorClass),
    /// The transaction has failed, and so has its client, who asks for no other.
    Quit {
        /// Why the transaction failed; `None`: it is complete.
        failed: Option<ErrorClass>,
        /// Whether the run ends with it.
        all: bool,
    },
}

/// A part of a client's life outside of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPhase {
    /// Before the load.
    Open,
    /// After it.
    Close,
}

/// A client of a script, and its transactions one after the other. It stays on the thread that
/// made it.
pub trait ScriptProgram {
    /// Sets the program to the beginning of a transaction.
    fn start(&mut self, _ticket: &Ticket) {}

    /// Tells what happened and asks what to do next.
    fn resume(&mut self, event: ScriptEvent) -> ScriptProgramStep<'_>;

    /// What became of a [`ScriptProgramStep::Perform`]; asks what to do next. The results may be
    /// taken.
    fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptProgramStep<'_>;

    /// Sets the program to the beginning of a phase; it is over when a step says `Done`. One that
    /// asks for nothing there has none.
    fn begin(&mut self, _phase: ProgramPhase) -> Option<ScriptProgramStep<'_>> {
        None
    }

    /// Which operation the transaction of a ticket is, where the program decides that and not the
    /// mix. Asked once, before [`Self::start`].
    fn operation(&mut self, ticket: &Ticket) -> OperationId {
        ticket.operation
    }

    /// Attempts beyond the first that the program made by itself in this transaction.
    fn retries(&self) -> u32 {
        0
    }

    /// The transaction has ended, or was dropped before this program could begin it.
    fn ended(&mut self, _sample: &Sample) {}
}
