//! Which server a connection belongs to, where several are watched that tell nobody: a process of
//! PostgreSQL serves it, which its server has started.

use rustc_hash::FxHashMap;

/// Connections of which it is kept.
const MAX_CONNECTIONS: usize = 65_536;

/// Processes that are looked up at a time.
const MAX_LOOKUPS: usize = 1024;

/// The servers of connections.
#[derive(Debug, Default)]
pub(crate) struct ConnectionOrigins {
    servers: Vec<u32>,
    // Their numbers are the tracer's own: nobody chooses them so that they collide. Processes'
    // numbers come again.
    found: FxHashMap<u64, Option<u32>>,
    /// Connections, and the processes that serve them.
    sought: FxHashMap<u64, u32>,
}

impl ConnectionOrigins {
    /// There is another server.
    pub(crate) fn add(&mut self, server: u32) {
        if !self.servers.contains(&server) {
            self.servers.push(server);
        }
    }

    /// A server has ended.
    pub(crate) fn forget(&mut self, server: u32) {
        self.servers.retain(|known| *known != server);
    }

    pub(crate) fn servers(&self) -> &[u32] {
        &self.servers
    }

    /// The server of a connection that a process serves; `None`: that is not known, or not yet.
    pub(crate) fn server(&mut self, connection: u64, process: u32) -> Option<u32> {
        if let [only] = self.servers[..] {
            return Some(only);
        }
        let found = self.found.get(&connection);
        if found.is_none() && !self.servers.is_empty() && self.sought.len() < MAX_LOOKUPS {
            self.sought.insert(connection, process);
        }
        found.copied().flatten()
    }

    /// Connections whose servers were sought since the last time, with the processes that serve
    /// them.
    pub(crate) fn sought(&mut self) -> Vec<(u64, u32)> {
        self.sought.drain().collect()
    }

    /// A connection's process was started by another.
    pub(crate) fn learn(&mut self, connection: u64, parent: Option<u32>) {
        if self.found.len() >= MAX_CONNECTIONS {
            // Those that still say something are looked up again.
            self.found.clear();
        }
        let server = parent.filter(|parent| self.servers.contains(parent));
        self.found.insert(connection, server);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_belongs_to_whoever_started_its_process() {
        let mut origins = ConnectionOrigins::default();
        assert_eq!((origins.server(1, 10), origins.sought()), (None, vec![]));
        origins.add(5);
        origins.add(5);
        assert_eq!((origins.server(1, 10), origins.sought()), (Some(5), vec![]));
        origins.add(6);
        assert_eq!(origins.server(1, 10), None);
        assert_eq!((origins.sought(), origins.sought()), (vec![(1, 10)], vec![]));
        origins.learn(1, Some(6));
        origins.learn(2, Some(99));
        assert_eq!((origins.server(1, 10), origins.server(2, 11)), (Some(6), None));
        assert_eq!(origins.sought(), []);
        origins.forget(6);
        assert_eq!(origins.server(1, 10), Some(5), "there is only one");
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let mut origins = ConnectionOrigins::default();
        (5..7).for_each(|server| origins.add(server));
        for connection in 0..2 * MAX_CONNECTIONS as u64 {
            origins.server(connection, 10);
            origins.learn(connection, Some(5));
        }
        assert!(origins.found.len() <= MAX_CONNECTIONS && origins.sought().len() == MAX_LOOKUPS);
        assert_eq!(origins.server(2 * MAX_CONNECTIONS as u64 - 1, 10), Some(5));
    }
}
