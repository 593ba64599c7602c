//! What sessions of watched servers were at before the watching began. No request of theirs was
//! seen, and what they wait for may last.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What of it still goes on, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorWork {
    /// Sessions that are known one by one.
    pub sessions: Vec<PriorSession>,
    /// Servers of which not more is known than how many there are.
    pub clients: Vec<PriorClients>,
}

/// A session that was at something, or in a transaction, before the watching began, and that has
/// sent no request since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorSession {
    /// The server's process.
    pub server: u32,
    /// The thread that serves it, where it is known; PostgreSQL: its process.
    pub thread: Option<u32>,
    /// What the server calls it.
    pub id: u64,
    /// Who has logged in; empty: that is not known.
    pub user: String,
    /// The database, likewise.
    pub database: String,
    /// What it is at.
    pub activity: PriorActivity,
    /// For how long, where the server says so.
    pub length: Option<Nanos>,
    /// Its statement, as it may be shown; empty where it was never seen.
    pub statement: String,
    /// Who says so.
    pub source: PriorSource,
}

/// What a session is at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PriorActivity {
    /// It executes something, which the server calls so.
    AtWork(String),
    /// It waits for a lock, which the server calls so.
    Waiting(Cow<'static, str>),
    /// It does nothing, in a transaction that may hold locks.
    InTransaction,
}

/// Where it is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PriorSource {
    /// The title of the session's process.
    Title,
    /// The server's own list, by a login.
    List,
}

/// A server of which the kernel knows how many clients do not wait for their next request, and not
/// which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorClients {
    /// The server's process.
    pub server: u32,
    /// How many clients are connected.
    pub connected: usize,
    /// How many of them may be at what they were at before the watching began: not more than this.
    /// `None`: that cannot be told apart.
    pub at_work: Option<usize>,
}

impl PriorWork {
    /// How many sessions are at work, or may be; those that do nothing in a transaction are not.
    pub fn at_work(&self) -> usize {
        let sessions = self.sessions.iter();
        let known = sessions.filter(|one| one.activity != PriorActivity::InTransaction).count();
        known + self.clients.iter().filter_map(|clients| clients.at_work).sum::<usize>()
    }

    /// Whether it has a number that may be too large, and none that may be too small.
    pub fn is_vague(&self) -> bool {
        self.clients.iter().any(|clients| clients.at_work != Some(0))
    }

    /// Has what a server itself lists of its sessions, so many in all, in the place of what is
    /// guessed of them. A login may not see all: of the others the guess stays. Returns whether it
    /// is known that there are none.
    pub fn replace(&mut self, server: u32, listed: Vec<PriorSession>, in_all: usize) -> bool {
        let is_at_work = |one: &&PriorSession| one.activity != PriorActivity::InTransaction;
        let known = listed.iter().filter(is_at_work).count();
        let mut is_whole = self.clients.iter().any(|clients| clients.server == server);
        for clients in self.clients.iter_mut().filter(|clients| clients.server == server) {
            is_whole &= clients.connected <= in_all;
            let others = clients.at_work.map(|most| most.saturating_sub(known));
            clients.at_work = if is_whole { Some(0) } else { others };
        }
        let is_over = |one: &PriorClients| one.server == server && one.at_work == Some(0);
        self.clients.retain(|clients| !is_over(clients));
        self.sessions.retain(|one| one.server != server);
        self.sessions.extend(listed);
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(server: u32, activity: PriorActivity) -> PriorSession {
        PriorSession {
            server,
            thread: None,
            id: 7,
            user: String::new(),
            database: String::new(),
            activity,
            length: None,
            statement: String::new(),
            source: PriorSource::List,
        }
    }

    #[test]
    fn who_does_nothing_is_not_at_work_and_a_list_replaces_guesses() {
        let clients = |server, at_work| PriorClients { server, connected: 9, at_work };
        let mut work = PriorWork {
            sessions: vec![
                session(1, PriorActivity::InTransaction),
                session(1, PriorActivity::Waiting("row lock".into())),
            ],
            clients: vec![clients(2, Some(3)), clients(3, None)],
        };
        assert!(work.at_work() == 4 && work.is_vague());
        let listed = || vec![session(2, PriorActivity::AtWork("Query".to_owned()))];
        assert!(!work.replace(2, listed(), 5), "it may not see all of them");
        assert!(work.at_work() == 1 + 1 + 2, "the other two may be at work");
        assert!(work.replace(2, listed(), 9));
        assert!(work.at_work() == 2 && work.is_vague(), "of the third nothing is known");
        assert!(work.replace(3, Vec::new(), 10));
        assert!(work.at_work() == 2 && !work.is_vague());
    }
}
