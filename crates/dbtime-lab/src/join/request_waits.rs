//! Whom and what a request waited for, and where: the rare part of it, kept apart.

use dbtime_model::traced::{Blocker, Preemptor, TracedRequest};
use dbtime_model::traced_files::FileWait;
use dbtime_model::traced_stacks::TracedStack;
use std::sync::Arc;

/// Whom and what a request waited for, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestWaits {
    /// Its longest wait for a lock.
    pub blocker: Option<Arc<Blocker>>,
    /// Who had the CPU while it could have run, those first who had it for longest.
    pub preemptors: Vec<Preemptor>,
    /// The files.
    pub files: Vec<FileWait>,
    /// Where its thread was.
    pub stacks: Vec<TracedStack>,
}

impl RequestWaits {
    /// Those of a request; `None`: nothing is known of that.
    pub(super) fn of(request: &TracedRequest) -> Option<Arc<Self>> {
        let TracedRequest { blocker, preemptors, files, stacks, .. } = request;
        let has_waited = blocker.is_some() || !preemptors.is_empty() || !files.is_empty();
        let has_any = has_waited || !stacks.is_empty();
        let waits = || Self {
            blocker: blocker.clone().map(Arc::new),
            preemptors: preemptors.clone(),
            files: files.clone(),
            stacks: stacks.clone(),
        };
        has_any.then(|| Arc::new(waits()))
    }
}
