//! Who waits for whom as a server itself has it, at one instant.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// A session as its server has it. Texts are the server's, and may hold anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSession {
    /// What ends it takes: MySQL's connection id, PostgreSQL's process of the backend. PostgreSQL
    /// has prepared transactions under 0.
    pub id: u64,
    /// Who has logged in.
    pub user: String,
    /// Where from, with the port where it is known.
    pub address: String,
    /// The database that is used.
    pub database: String,
    /// What it does, in the server's words.
    pub state: String,
    /// How long it has done that.
    pub in_state: Option<Nanos>,
    /// How long its transaction has been open; `None`: there is none, or it is not known.
    pub in_transaction: Option<Nanos>,
    /// Its statement, or the last one; empty where the server does not know.
    pub statement: String,
    /// The thread of the machine that serves it, where the server knows.
    pub thread: Option<u32>,
}

/// One session that waits for a lock, and one that it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockClaim {
    /// The session that waits.
    pub waiter: u64,
    /// The one that has the lock, or waits for it ahead; `None`: the server does not know.
    pub holder: Option<u64>,
    /// What the server calls the lock.
    pub lock: String,
    /// What is locked, mostly a table; empty where that is not known.
    pub object: String,
    /// How long the wait has lasted.
    pub length: Option<Nanos>,
}

/// All waits for locks at one instant, with the sessions that have to do with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockPicture {
    /// Each waiter and each holder once, in no order.
    pub sessions: Vec<ServerSession>,
    /// Who waits for whom.
    pub claims: Vec<LockClaim>,
    /// What is missing in it, with why and what would help.
    pub notes: Vec<String>,
    /// The statement that ends a session, with `ID` for its id.
    pub ends_with: &'static str,
}

impl LockPicture {
    /// The session with this id.
    pub fn session(&self, id: u64) -> Option<&ServerSession> {
        self.sessions.iter().find(|session| session.id == id)
    }

    /// Whether somebody has waited for so long, or nobody knows for how long.
    pub fn has_waited(&self, length: Nanos) -> bool {
        self.claims.iter().any(|claim| claim.length.is_none_or(|waited| waited >= length))
    }

    /// Whether the same sessions wait for the same ones, however long by now.
    pub fn is_alike(&self, other: &Self) -> bool {
        let shape = |picture: &Self| {
            let pairs = picture.claims.iter().map(|claim| (claim.holder, claim.waiter));
            pairs.collect::<std::collections::BTreeSet<_>>()
        };
        shape(self) == shape(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(waiter: u64, seconds: Option<u64>) -> LockClaim {
        let length = seconds.map(Nanos::from_secs);
        LockClaim { waiter, holder: Some(1), length, ..LockClaim::default() }
    }

    #[test]
    fn pictures_are_alike_whatever_the_time() {
        let picture = |claims: &[LockClaim]| LockPicture {
            claims: claims.to_vec(),
            ..LockPicture::default()
        };
        let one = picture(&[claim(2, Some(1)), claim(3, Some(2))]);
        assert!(one.is_alike(&picture(&[claim(3, None), claim(2, Some(9)), claim(2, None)])));
        assert!(!one.is_alike(&picture(&[claim(2, Some(1))])));
        assert!(one.has_waited(Nanos::from_secs(2)) && !one.has_waited(Nanos::from_secs(3)));
        assert!(picture(&[claim(2, None)]).has_waited(Nanos::from_secs(3)));
        assert!(!picture(&[]).has_waited(Nanos::ZERO));
    }
}
