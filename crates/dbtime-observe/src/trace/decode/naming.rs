//! Names of what servers tell by numbers: which server it was, and what that one calls it.

use super::locks::LockNames;
use super::origins::ConnectionOrigins;
use crate::trace::kernel::layout::RawRequest;
use crate::trace::postgres_files::file_names::{CatalogOpener, FileNames};
use crate::trace::probes::tranches::Tranches;
use dbtime_model::WireProtocol;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_totals::TracedTotals;
use std::borrow::Cow;
use std::sync::Arc;

/// What is known of servers that name things.
#[derive(Debug, Default)]
pub(crate) struct ServerNaming {
    pub(crate) origins: ConnectionOrigins,
    locks: LockNames,
    files: FileNames,
}

impl ServerNaming {
    /// There is another server; `tranches`: what its program calls lightweight locks.
    pub(crate) fn add(&mut self, server: u32, tranches: Option<Arc<Tranches>>) {
        self.origins.add(server);
        if let Some(tranches) = tranches {
            self.locks.add(server, tranches);
        }
    }

    /// A server has ended.
    pub(crate) fn forget(&mut self, server: u32) {
        self.origins.forget(server);
        self.locks.forget(server);
    }

    /// What the server of a request calls what that waits for, where it is a lock.
    pub(crate) fn lock(&mut self, raw: &RawRequest<'_>, wait: u32) -> Option<Cow<'static, str>> {
        let server = match raw.protocol {
            WireProtocol::Mysql => None,
            WireProtocol::Postgres => self.server(raw),
        };
        self.locks.lock(server, wait)
    }

    /// The server of a request's connection; `None`: that is not known, or not yet.
    pub(crate) fn server(&mut self, raw: &RawRequest<'_>) -> Option<u32> {
        match raw.protocol {
            WireProtocol::Mysql => Some(raw.record.tgid),
            WireProtocol::Postgres => self.origins.server(raw.record.connection, raw.record.tgid),
        }
    }

    /// What a server calls what one of its sessions waits for, where it is a lock.
    pub(crate) fn lock_of(&self, server: u32, wait: u32) -> Option<Cow<'static, str>> {
        self.locks.lock(Some(server), wait)
    }

    /// Names the files that a request has waited for.
    pub(crate) fn name_files(&mut self, request: &mut TracedRequest, open: &mut CatalogOpener<'_>) {
        if request.protocol == WireProtocol::Postgres && !request.files.is_empty() {
            let own = self.origins.server(request.connection, request.process);
            let servers = own.as_ref().map_or(self.origins.servers(), std::slice::from_ref);
            self.files.name_all(&mut request.files, servers, open);
        }
    }

    /// Names the files that statements have waited for, of which nobody knows whose they are.
    pub(crate) fn name_totals(&mut self, totals: &mut TracedTotals, open: &mut CatalogOpener<'_>) {
        for statement in &mut totals.statements {
            self.files.name_all(&mut statement.totals.files, self.origins.servers(), open);
        }
    }

    /// Names the lock that a request has waited for.
    pub(crate) fn name(&mut self, raw: &mut RawRequest<'_>) {
        let lock = self.lock(raw, raw.blocker_wait);
        if let Some(blocker) = &mut raw.blocker {
            blocker.lock = lock;
        }
    }
}
