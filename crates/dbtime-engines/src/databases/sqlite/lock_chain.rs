//! What the holder of the write lock does while others nap for it, and whom it waits for itself.

use dbtime_model::record::{ChainCause, MAX_CHAIN_DEPTH};
use dbtime_model::{Part, StatementId};

/// What a worker does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum WorkerActivity {
    /// It is between two statements.
    #[default]
    Between,
    /// It executes one, in SQLite's own code or for want of a CPU.
    Running,
    /// It is in a call that reads.
    Reading,
    /// It is in one that writes.
    Writing,
    /// It is in one that syncs.
    Syncing,
    /// It naps for a lock.
    Napping,
    /// It has let the lock go.
    Released,
    /// That is not known.
    Unknown,
}

impl WorkerActivity {
    const ALL: [Self; 8] = [
        Self::Between,
        Self::Running,
        Self::Reading,
        Self::Writing,
        Self::Syncing,
        Self::Napping,
        Self::Released,
        Self::Unknown,
    ];

    pub(super) fn of_number(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Unknown)
    }

    /// That of a call which may block in this part.
    pub(super) fn of_call(part: Part) -> Self {
        match part {
            Part::IoRead => Self::Reading,
            Part::IoWrite => Self::Writing,
            Part::Sync => Self::Syncing,
            Part::Lock => Self::Napping,
            _ => Self::Running,
        }
    }

    /// As records have it.
    pub fn cause(self) -> ChainCause {
        match self {
            Self::Between => ChainCause::Part(Part::Client),
            Self::Running => ChainCause::Running,
            Self::Reading => ChainCause::Part(Part::IoRead),
            Self::Writing => ChainCause::Part(Part::IoWrite),
            Self::Syncing => ChainCause::Part(Part::Sync),
            Self::Napping => ChainCause::Part(Part::Lock),
            Self::Released => ChainCause::Released,
            Self::Unknown => ChainCause::NotKnown,
        }
    }
}

/// The workers that wait for each other, from the one that has the lock on, and what the last of
/// them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerChain {
    statements: [StatementId; MAX_CHAIN_DEPTH],
    depth: u8,
    /// What the last one does.
    pub doing: WorkerActivity,
}

impl WorkerChain {
    /// Nobody who is known.
    pub(super) const UNKNOWN: Self = Self {
        statements: [StatementId(0); MAX_CHAIN_DEPTH],
        depth: 0,
        doing: WorkerActivity::Unknown,
    };

    /// One that is at this statement.
    pub(super) fn of(statement: StatementId, doing: WorkerActivity) -> Self {
        let mut chain = Self { doing, ..Self::UNKNOWN };
        chain.push(statement);
        chain
    }

    /// Adds the one that the last waits for; whether there was room.
    pub(super) fn push(&mut self, statement: StatementId) -> bool {
        let place = self.statements.get_mut(usize::from(self.depth));
        let has_room = place.is_some();
        if let Some(place) = place {
            *place = statement;
            self.depth += 1;
        }
        has_room
    }

    /// Their statements.
    pub fn statements(&self) -> &[StatementId] {
        &self.statements[..usize::from(self.depth)]
    }
}
