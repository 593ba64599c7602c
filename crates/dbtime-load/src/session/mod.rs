//! One client's transaction under way.
//!
//! A [`NativeSession`] runs the statements of a workload, with retries and pauses; a
//! [`ScriptSession`] does what a script in a foreign language wants, whose own affair both are.

mod native;
mod rules;
mod script;

pub use native::{NativeAction, NativeSession, StatementCall};
pub use rules::{RetryPolicy, SessionRules};
pub use script::{ScriptAction, ScriptSession};

use crate::program::Ticket;
use dbtime_model::Sample;

/// One client's transaction under way. The sessions of a run are all of one kind.
pub enum Session {
    /// Of a workload's statements.
    Native(NativeSession),
    /// Of a script.
    Script(ScriptSession),
}

impl Session {
    /// The transaction under way, or the last one.
    #[inline]
    pub fn ticket(&self) -> &Ticket {
        match self {
            Self::Native(session) => session.ticket(),
            Self::Script(session) => session.ticket(),
        }
    }

    /// Its attempts beyond the first.
    #[inline]
    pub fn retries(&self) -> u32 {
        match self {
            Self::Native(session) => session.retries(),
            Self::Script(session) => session.retries(),
        }
    }

    /// The ticket, with the operation that a script makes of it.
    #[inline]
    pub fn claimed(&mut self, ticket: Ticket) -> Ticket {
        match self {
            Self::Native(_) => ticket,
            Self::Script(session) => session.claimed(ticket),
        }
    }

    /// The transaction has ended, as `sample` says: a script adds up its own.
    #[inline]
    pub fn ended(&mut self, sample: &Sample) {
        if let Self::Script(session) = self {
            session.ended(sample);
        }
    }

    /// The script's, where it is one.
    pub fn as_script(&mut self) -> Option<&mut ScriptSession> {
        match self {
            Self::Native(_) => None,
            Self::Script(session) => Some(session),
        }
    }
}
