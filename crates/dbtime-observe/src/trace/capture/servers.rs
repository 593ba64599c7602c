//! Which servers are watched: those from the beginning, and those that start and end since.

use super::Capture;
use crate::kernel_layout::read_record;
use crate::process::ProcessSelector;
use crate::trace::error::TraceError;
use crate::trace::kernel::kernel_tables::name;
use crate::trace::kernel::loading::map;
use crate::trace::kernel::refusal::kernel_error;
use crate::trace::probes::server_probes::ProgramFacts;
use crate::trace::servers::{ServerFilter, TracedServer};
use dbtime_model::WireProtocol;
use libbpf_rs::MapCore;
use std::collections::BTreeSet;

impl Capture {
    /// Children that servers have started since they were looked for, and before the kernel told.
    pub(super) fn add_children(&mut self, servers: &[TracedServer]) -> Result<(), TraceError> {
        for server in servers.iter().filter(|one| one.protocol == WireProtocol::Postgres) {
            // One that has ended has none.
            if let Some(now) = self.present(server) {
                let ports = server.ports.clone();
                self.rescan(&TracedServer { ports, ..now })?;
            }
        }
        Ok(())
    }

    /// Watches a server as well that has started since. Returns it with the ports that it listens
    /// on by now.
    ///
    /// # Errors
    /// As [`add_server`](Self::add_server).
    pub fn add_started_server(
        &mut self,
        server: &TracedServer,
    ) -> Result<TracedServer, TraceError> {
        name(&self.object, server, &ProgramFacts::default())?;
        // From here on the kernel sees on which ports it begins to listen; on which it has begun
        // between the first look at it and that, a second look tells.
        let server = self.present(server).unwrap_or_else(|| server.clone());
        self.rescan(&server)?;
        Ok(server)
    }

    /// A server as it is now; `None` where it has ended.
    fn present(&mut self, server: &TracedServer) -> Option<TracedServer> {
        let filter = ServerFilter {
            processes: vec![ProcessSelector::Pid(server.process)],
            protocol: Some(server.protocol),
            ..ServerFilter::default()
        };
        self.helper.servers(&filter).ok()?.pop()
    }

    /// Watches another server as well.
    ///
    /// # Errors
    /// The kernel does not take its name.
    pub(super) fn add_server(&mut self, server: &TracedServer) -> Result<(), TraceError> {
        // Its first clients may come before its program has been read.
        name(&self.object, server, &ProgramFacts::default())?;
        self.rescan(server).map(drop)
    }

    /// Attaches the probes of a watched server; again shortly after its start, for its libraries
    /// may not have been loaded. Returns whether there are probes on its TLS library.
    ///
    /// # Errors
    /// As [`add_server`](Self::add_server).
    pub fn rescan(&mut self, server: &TracedServer) -> Result<bool, TraceError> {
        let known = self.probes.attach(&mut self.helper, server);
        self.texts.add(&mut self.helper, self.probes.text_sites.drain(..))?;
        self.portals.add(&mut self.helper, self.probes.portal_sites.drain(..))?;
        if server.protocol == WireProtocol::Postgres {
            self.decoder.borrow_mut().naming.add(server.process, known.tranches.clone());
        }
        name(&self.object, server, &known)?;
        self.wait_variables.insert(server.process, known.wait_event);
        Ok(known.has_tls_probes)
    }

    /// Whether a server has ended, also where nobody has asked yet how it did.
    pub fn has_ended(&mut self, server: &TracedServer) -> bool {
        matches!(self.helper.program(server.process), Ok(None))
    }

    /// Forgets a server that has ended.
    pub fn forget(&mut self, server: &TracedServer) {
        self.decoder.borrow_mut().naming.forget(server.process);
        self.prior.forget(server.process);
        self.wait_variables.remove(&server.process);
        if let Ok(servers) = map(&self.object, "servers") {
            for process in &server.processes {
                // Some have been forgotten as they ended.
                let _ = servers.delete(&process.to_ne_bytes());
            }
        }
    }

    /// Servers that have started since the last call, as far as they are meant.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn started(&mut self, filter: &ServerFilter) -> Result<Vec<TracedServer>, TraceError> {
        let queue = map(&self.object, "started")?;
        let mut processes = BTreeSet::new();
        while let Some(process) = queue.lookup_and_delete(&[]).map_err(kernel_error)? {
            processes.extend(read_record::<u32>(&process));
        }
        let mut started = Vec::new();
        for process in processes {
            started.extend(self.helper.started(process, filter)?);
        }
        Ok(started)
    }

    /// All servers that are there now and meant, at least one.
    ///
    /// # Errors
    /// As [`servers`](crate::trace::servers()).
    pub fn servers(&mut self, filter: &ServerFilter) -> Result<Vec<TracedServer>, TraceError> {
        self.helper.servers(filter)
    }
}
