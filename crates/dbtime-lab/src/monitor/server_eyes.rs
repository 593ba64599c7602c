//! What a server has spent and counted over the measured window.

use super::Watched;
use crate::counters::Sampler;
use dbtime_model::counters::CounterSample;
use dbtime_model::process::ServerSample;
use dbtime_observe::process::{ServerGlance, ServerWatch};

/// Looks at a server at both ends of the window, where it can be seen.
#[derive(Default)]
pub(crate) struct ServerEyes {
    watch: Option<ServerWatch>,
    sampler: Option<Box<dyn Sampler>>,
    samples: [Option<ServerSample>; 2],
    counters: [Option<CounterSample>; 2],
}

impl ServerEyes {
    /// The sessions of the load have ended. They publish what they counted at the latest then; what
    /// was counted at the window's own end stays.
    pub(crate) fn sessions_ended(mut self, watched: &mut Watched) {
        self.count(1);
        (watched.server, watched.counters) = (self.samples, self.counters);
    }

    /// Looks at the server whose main process is `pid`.
    pub(crate) fn new(pid: Option<u32>) -> Self {
        // One that cannot be seen is not watched; the record then says nothing of it.
        let watch = pid.and_then(|pid| ServerWatch::new(pid).ok());
        Self { watch, ..Self::default() }
    }

    /// Also looks at its counters.
    pub(crate) fn with_sampler(mut self, sampler: Option<Box<dyn Sampler>>) -> Self {
        self.sampler = sampler;
        self
    }

    /// Looks at the beginning (0) or end (1) of the window, once at each. Counting costs the server
    /// CPU time that is kept out of the window.
    pub(crate) fn look(&mut self, edge: usize) {
        if edge == 0 {
            self.count(0);
        }
        self.spent(edge);
        if edge == 1 {
            self.count(1);
        }
    }

    /// What it has spent so far.
    pub(super) fn spent(&mut self, edge: usize) {
        if self.samples[edge].is_none() {
            self.samples[edge] = self.watch.as_mut().and_then(|watch| watch.sample().ok());
        }
    }

    /// What it has counted so far.
    fn count(&mut self, edge: usize) {
        if self.counters[edge].is_none() {
            self.counters[edge] = self.sampler.as_mut().and_then(|sampler| sampler.sample().ok());
        }
    }

    /// Its CPU time so far.
    pub(super) fn glance(&mut self) -> Option<ServerGlance> {
        self.watch.as_mut()?.glance().ok()
    }
}
