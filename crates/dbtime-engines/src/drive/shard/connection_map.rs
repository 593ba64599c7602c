//! Which connections belong to which session: each has one from the start, with its own number, and
//! a script may ask for others.

use super::ScriptConnections;
use dbtime_load::failure::DatabaseFailure;
use std::collections::HashMap;

/// Connections that one client may have.
const MAX_CONNECTIONS_PER_CLIENT: u16 = 64;

/// The connections of a shard's sessions.
#[derive(Debug, Default)]
pub struct ConnectionMap {
    /// Connections below this number belong to the session of the same number.
    sessions: u32,
    /// Whose the others are.
    owners: Vec<u32>,
    others: HashMap<(u32, u16), u32>,
}

impl ConnectionMap {
    /// For so many sessions, each with one connection.
    pub fn new(sessions: usize) -> Self {
        Self { sessions: sessions as u32, ..Self::default() }
    }

    /// The session that a connection belongs to.
    #[inline]
    pub fn session(&self, connection: u32) -> u32 {
        match connection.checked_sub(self.sessions) {
            None => connection,
            Some(other) => self.owners[other as usize],
        }
    }

    /// All connections of a session.
    pub(super) fn of_session(&self, session: u32) -> impl Iterator<Item = u32> {
        let is_own = move |(owner, _): &(&(u32, u16), &u32)| owner.0 == session;
        let others = self.others.iter().filter(is_own).map(|(_, connection)| *connection);
        std::iter::once(session).chain(others)
    }

    /// A session's `ordinal` connection.
    ///
    /// # Errors
    /// When it has too many, or the database takes one for each client only.
    #[inline]
    pub fn connection<R: ScriptConnections>(
        &mut self,
        reactor: &mut R,
        session: u32,
        ordinal: u16,
    ) -> Result<u32, DatabaseFailure> {
        if ordinal == 0 { Ok(session) } else { self.other(reactor, session, ordinal) }
    }

    #[cold]
    fn other<R: ScriptConnections>(
        &mut self,
        reactor: &mut R,
        session: u32,
        ordinal: u16,
    ) -> Result<u32, DatabaseFailure> {
        if let Some(&connection) = self.others.get(&(session, ordinal)) {
            return Ok(connection);
        }
        let added =
            if ordinal < MAX_CONNECTIONS_PER_CLIENT { reactor.add_connection() } else { None };
        let connection = added.ok_or_else(too_many)?;
        self.owners.push(session);
        self.others.insert((session, ordinal), connection);
        Ok(connection)
    }
}

fn too_many() -> DatabaseFailure {
    DatabaseFailure::statement(
        "connections",
        "",
        format!(
            "a script's client has at most {MAX_CONNECTIONS_PER_CLIENT} connections to a server, and one to SQLite"
        ),
    )
}
