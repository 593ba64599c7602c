//! What a server has spent and counted over the measured window.

use super::Watched;
use crate::counters::Sampler;
use dbtime_model::counters::CounterSample;
use dbtime_model::process::ServerSample;
use dbtime_observe::process::{ServerGlance, ServerWatch};
use std::time::Duration;

/// How long sessions have to publish what they counted.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Looks at a server at both ends of the window, where it can be seen.
#[derive(Default)]
pub struct ServerEyes {
    watch: Option<ServerWatch>,
    sampler: Option<Box<dyn Sampler>>,
    samples: [Option<ServerSample>; 2],
    counters: [Option<CounterSample>; 2],
}

impl ServerEyes {
    /// The connections of the load have been closed. Sessions publish what they counted at the
    /// latest when they end, and are given a moment for that; what was counted at the window's own
    /// end stays.
    pub fn sessions_ended(mut self, watched: &mut Watched) {
        if self.sampler.is_some() && self.counters[1].is_none() {
            std::thread::sleep(LAST_WORDS);
            self.count(1);
        }
        (watched.server, watched.counters) = (self.samples, self.counters);
    }

    /// Looks at the server whose main process is `pid`, and at its counters.
    pub fn new(pid: Option<u32>, sampler: Option<Box<dyn Sampler>>) -> Self {
        // One that cannot be seen is not watched; the record then says nothing of it.
        let watch = pid.and_then(|pid| ServerWatch::new(pid).ok());
        Self { watch, sampler, ..Self::default() }
    }

    /// Looks at the beginning (0) or end (1) of the window, once at each. Counting costs the server
    /// CPU time that is kept out of the window.
    pub fn look(&mut self, edge: usize) {
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
