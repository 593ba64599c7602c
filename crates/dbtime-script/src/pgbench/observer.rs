//! Whoever wants to see transactions as they end: for progress and logs, which cannot wait for the
//! sums at the end.

use super::statistics::FailureKind;
use dbtime_model::Sample;
use std::fmt;
use std::sync::Arc;

/// A transaction that has ended, or was given up before it began.
#[derive(Clone, Copy, Debug)]
pub struct ObservedTransaction<'a> {
    /// Whose it was.
    pub client: u32,
    /// Which of the client's, from 1.
    pub number: u64,
    /// Which script, from 0.
    pub script: usize,
    /// When it was due, began and ended, and what became of it.
    pub sample: &'a Sample,
    /// What kind of failure it was, where it failed.
    pub failure: FailureKind,
    /// Its tries, the first included.
    pub tries: u32,
}

type ObserverFn = dyn Fn(&ObservedTransaction<'_>) + Send + Sync;

/// Who sees transactions end. Called on engine threads, several at a time.
#[derive(Clone, Default)]
pub struct TransactionObserver(Option<Arc<ObserverFn>>);

impl TransactionObserver {
    /// Shows transactions to `see`.
    pub fn new(see: impl Fn(&ObservedTransaction<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(see)))
    }

    /// Shows one, where somebody looks.
    #[inline]
    pub(super) fn see(&self, seen: &ObservedTransaction<'_>) {
        if let Some(see) = &self.0 {
            see(seen);
        }
    }
}

impl fmt::Debug for TransactionObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
