//! What is watched, and what becomes of it.

use dbtime_model::Nanos;
use dbtime_observe::process::ProcessSelector;
use dbtime_observe::trace::{CaptureConfig, ServerFilter};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// Room for requests that were not taken yet, beside a driver. Unit: bytes. That is 133,000 of
/// them: a second and a half flat out, for that long the reader may wait where the CPUs are full.
const BUFFER_BYTES: u32 = 16 << 20;

/// What is watched, and what becomes of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TraceOptions {
    /// Which servers.
    pub servers: ServerFilter,
    /// Only requests of this user are added up.
    pub user: Option<String>,
    /// Only those in this database are.
    pub database: Option<String>,
    /// Whether requests are handed on one by one.
    pub hands_on: bool,
    /// Whether they are added up.
    pub adds_up: bool,
    /// Whether texts keep their literals.
    pub keeps_literals: bool,
    /// Requests whose text holds this are marked.
    pub pattern: Option<String>,
    /// The step of the coarse distribution; `None`: powers of two.
    pub step: Option<Nanos>,
    /// Room for requests that nobody has taken yet. Unit: bytes. Shape: a power of two.
    pub buffer_bytes: u32,
    /// Where watching takes more than this share of one CPU, it does less. Unit: percent.
    pub max_cost_pct: Option<f64>,
    /// A new file for everything that is seen. No `PathBuf`: most messages have no form for one
    /// that is no UTF-8.
    pub record: Option<OsString>,
    /// The process of the run that servers are watched beside.
    pub driver: Option<u32>,
    /// Whether stacks of threads that serve requests are kept.
    pub stacks: bool,
    /// Whether this process takes the whole terminal, which is to be restored if it is killed.
    pub borrows_terminal: bool,
}

impl TraceOptions {
    /// The requests of a server, one by one, to be joined with what this process sends it.
    pub(crate) fn beside_driver(server: u32) -> Self {
        let processes = vec![ProcessSelector::Pid(server)];
        Self {
            servers: ServerFilter { processes, ..ServerFilter::default() },
            hands_on: true,
            buffer_bytes: BUFFER_BYTES,
            driver: Some(std::process::id()),
            ..Self::default()
        }
    }

    /// The same for the kernel's side.
    pub(super) fn capture_config(&self) -> CaptureConfig {
        let is_reduced = self.max_cost_pct.is_some();
        CaptureConfig {
            user: self.user.clone(),
            database: self.database.clone(),
            is_on: self.hands_on,
            // What is too dear to be handed on is added up.
            adds_up: self.adds_up || is_reduced,
            follows_unix: self.servers.ports.is_empty(),
            follows_new: self.servers.follows_new(),
            step: self.step.map_or(0, |step| (step.0 / 1000) as u32),
            buffer: self.buffer_bytes,
            keeps_literals: self.keeps_literals,
            pattern: self.pattern.clone(),
            driver: self.driver,
            stacks: self.stacks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_path_arrives_as_it_was_also_where_it_is_no_utf_8() {
        for record in [None, Some(OsString::from_vec(b"a/\xff.trace".to_vec()))] {
            let options = TraceOptions { record, ..TraceOptions::default() };
            let sent = serde_json::to_vec(&options).expect("a message");
            let received: TraceOptions = serde_json::from_slice(&sent).expect("the same");
            assert_eq!(received.record, options.record);
        }
    }
}
