//! What sessions were at before the watching began: no request of theirs was seen.

use super::Capture;
use crate::trace::error::TraceError;
use crate::trace::servers::TracedServer;
use dbtime_model::WireProtocol;
use dbtime_model::traced_prior::PriorWork;

impl Capture {
    /// Looks who is at work as the watching begins: they are looked at again, and nobody else is.
    pub(super) fn begin_prior(&mut self, servers: &[TracedServer]) -> Result<(), TraceError> {
        if self.lacks_activities() {
            // Nobody would be seen to have sent something since.
            return Ok(());
        }
        for server in servers {
            match server.protocol {
                WireProtocol::Postgres => {
                    // Those that have started since are seen from their first request on.
                    let own = server.processes.iter().filter(|one| **one != server.process);
                    self.prior.backends.insert(server.process, own.copied().collect());
                }
                WireProtocol::Mysql => {
                    if let Some(threads) = self.helper.client_threads(server)? {
                        self.prior.begin(server, &threads);
                    }
                }
            }
        }
        Ok(())
    }

    /// What of it still goes on. Whoever is among the [`connections`](Self::connections) has left
    /// it behind: to be called after these.
    ///
    /// # Errors
    /// The helper has ended.
    pub fn prior(&mut self) -> Result<PriorWork, TraceError> {
        let mut work = PriorWork::default();
        for (server, processes) in self.prior.backends.clone() {
            let variable = self.wait_variables.get(&server).copied().unwrap_or_default();
            let seen = self.helper.backends(&processes, variable)?;
            let decoder = self.decoder.borrow();
            let lock = |wait| decoder.naming.lock_of(server, wait);
            let seen = processes.into_iter().zip(seen);
            let (sessions, clients) = self.prior.take_backends(server, seen, lock);
            work.sessions.extend(sessions);
            work.clients.extend(clients);
        }
        for server in self.prior.threaded() {
            // One that cannot be looked at any more says nothing.
            if let Some(threads) = self.helper.client_threads(&server)? {
                work.clients.extend(self.prior.take_threads(server.process, &threads));
            }
        }
        work.sessions.sort_by_key(|one| (one.server, one.id));
        work.clients.sort_by_key(|clients| clients.server);
        Ok(work)
    }
}
