//! What can be read at any moment of the watching: its cost, its counts, its sums, and what
//! connections are at.

use super::Capture;
use crate::trace::decode::listed::ListedSessions;
use crate::trace::decode::request_decoder::RequestDecoder;
use crate::trace::decode::sums;
use crate::trace::decode::walks::connections;
use crate::trace::error::TraceError;
use crate::trace::kernel::loading::{CONNECTION_WALK, map};
use crate::trace::kernel::refusal::kernel_error;
use crate::trace::kernel::sum_layout;
use crate::trace::probes::trap::DEFAULT_TRAP_TIME;
use dbtime_model::lock_picture::ServerSession;
use dbtime_model::traced_ledger::{TraceCost, TraceLedger};
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_totals::TracedTotals;
use dbtime_model::{MonoNanos, Nanos};
use libbpf_rs::{MapCore, MapFlags};

impl Capture {
    /// What watching has taken so far.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn cost(&mut self) -> Result<TraceCost, TraceError> {
        let own = self.own_cpu() - self.spent;
        let mut cost = TraceCost { own, ..TraceCost::default() };
        for row in self.processors()? {
            let Some((programs, runs, hits)) = sum_layout::cost(&row) else { continue };
            // A trap takes what it takes to run its program.
            cost.kernel += programs + Nanos(self.dispatch.0 * runs.saturating_sub(hits));
            cost.probe_hits += hits;
        }
        if cost.probe_hits > 0 {
            // Not before: to take the probe away again takes long.
            cost.trap = match self.trap {
                Some(trap) => trap,
                None => *self.trap.insert(self.helper.trap_time().unwrap_or(DEFAULT_TRAP_TIME)),
            };
        }
        Ok(cost)
    }

    /// What was counted so far; nothing is known yet of what is in flight.
    ///
    /// # Errors
    /// The counts cannot be read.
    pub fn ledger(&self) -> Result<TraceLedger, TraceError> {
        let mut ledger = TraceLedger::default();
        for row in self.processors()? {
            sum_layout::add_counts(&mut ledger, &row);
        }
        ledger.resync += self.decoder.borrow().unreadable;
        Ok(ledger)
    }

    /// What the kernel's side keeps for each processor: a [`CountsRow`], then a [`CostRow`].
    ///
    /// [`CountsRow`]: crate::kernel_layout::capture::CountsRow
    /// [`CostRow`]: crate::kernel_layout::capture::CostRow
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn processors(&self) -> Result<Vec<Vec<u8>>, TraceError> {
        let table = map(&self.object, "processors")?;
        let rows = table.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(kernel_error)?;
        Ok(rows.unwrap_or_default())
    }

    /// What every connection is at that has asked anything since the watching began.
    ///
    /// # Errors
    /// The kernel does not let it look.
    pub fn connections(&mut self) -> Result<Vec<LiveConnection>, TraceError> {
        if self.lacks_activities() {
            return Ok(Vec::new());
        }
        let output = self.helper.walk(CONNECTION_WALK)?;
        let RequestDecoder { sessions, naming, .. } = &mut *self.decoder.borrow_mut();
        let mut found = connections(&output, sessions, naming);
        for LiveConnection { request, .. } in &mut found {
            let mut open = |server, catalog| self.helper.catalog(server, catalog);
            naming.name_files(request, &mut open);
        }
        self.prior.see(&found);
        Ok(found)
    }

    /// Names connections from before the watching as a server did in a list that was requested
    /// then.
    ///
    /// # Errors
    /// The helper has ended.
    pub fn list_sessions(
        &mut self,
        process: u32,
        requested_at: MonoNanos,
        mut sessions: Vec<ServerSession>,
    ) -> Result<(), TraceError> {
        let is_postgres = self.decoder.borrow().naming.origins.servers().contains(&process);
        if is_postgres {
            let listed = ListedSessions::of_processes(process, requested_at, sessions);
            self.decoder.borrow_mut().sessions.list(listed);
            return Ok(());
        }
        // The list has the numbers that threads have for the server.
        if let Some(threads) = self.helper.inner_threads(process)? {
            for session in &mut sessions {
                session.thread = session.thread.and_then(|own| threads.get(&own).copied());
            }
        }
        let listed = ListedSessions::new(process, requested_at, sessions);
        self.decoder.borrow_mut().sessions.list(listed);
        Ok(())
    }

    /// What statements came to so far.
    ///
    /// # Errors
    /// The sums cannot be read.
    pub fn totals(&mut self) -> Result<TracedTotals, TraceError> {
        let mut totals = TracedTotals::default();
        let decoder = &mut *self.decoder.borrow_mut();
        if let Some(sums) = &self.sums {
            let literals = &mut decoder.sessions.literals;
            totals = sums.totals(&self.object, literals)?;
            let text = |shape| Some(literals.fingerprint(&sums.text(&self.object, shape)?));
            totals.lock_waits = decoder.blockers.totals(text);
        }
        totals.preemptors = sums::preemptors(&self.object)?;
        let mut open = |server, catalog| self.helper.catalog(server, catalog);
        decoder.naming.name_totals(&mut totals, &mut open);
        Ok(totals)
    }

    /// How many statements there have been so far, among those that are added up.
    ///
    /// # Errors
    /// The sums cannot be read.
    pub fn statements(&self) -> Result<u64, TraceError> {
        self.sums.as_ref().map_or(Ok(0), |sums| sums.statements(&self.object))
    }
}
