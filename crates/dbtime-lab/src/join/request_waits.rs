//! Whom and what a request waited for: the rare part of it, kept apart.

use dbtime_model::traced::{Blocker, Preemptor, TracedRequest};
use dbtime_model::traced_files::FileWait;
use std::sync::Arc;

/// Whom and what a request waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestWaits {
    /// Its longest wait for a lock.
    pub blocker: Option<Arc<Blocker>>,
    /// Who had the CPU for longest while it could have run.
    pub preemptor: Option<Preemptor>,
    /// The files.
    pub files: Vec<FileWait>,
}

impl RequestWaits {
    /// Those of a request; `None`: it waited for nothing that is known.
    pub(super) fn of(request: &TracedRequest) -> Option<Arc<Self>> {
        let TracedRequest { blocker, preemptor, files, .. } = request;
        let has_waited = blocker.is_some() || preemptor.is_some() || !files.is_empty();
        let waits = || Self {
            blocker: blocker.clone().map(Arc::new),
            preemptor: preemptor.clone(),
            files: files.clone(),
        };
        has_waited.then(|| Arc::new(waits()))
    }
}
