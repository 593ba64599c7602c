//! Where the workers of a pool wait for each other before the load starts.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where workers wait, connected, until the load starts.
pub(crate) struct Gate<E> {
    state: Mutex<GateState<E>>,
    changed: Condvar,
}

pub(crate) struct GateState<E> {
    pub(crate) connected: u32,
    pub(crate) failed: Option<E>,
    pub(crate) is_open: bool,
    /// Workers whose load has ended.
    pub(crate) ended: u32,
    /// Whether they may go.
    pub(crate) is_over: bool,
}

impl<E> Gate<E> {
    /// A gate that is shut, with nobody before it.
    pub(crate) fn new() -> Self {
        let state =
            GateState { connected: 0, failed: None, is_open: false, ended: 0, is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Changes the state and tells everybody.
    pub(crate) fn change(&self, change: impl FnOnce(&mut GateState<E>)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Waits until the state is as wanted. Returns whether nothing has failed until then.
    pub(crate) fn wait(&self, wanted: impl Fn(&GateState<E>) -> bool) -> bool {
        let pending = |state: &mut GateState<E>| state.failed.is_none() && !wanted(state);
        let guard = self.changed.wait_while(lock(&self.state), pending);
        guard.unwrap_or_else(PoisonError::into_inner).failed.is_none()
    }

    /// Why the load never started, if it did not.
    pub(crate) fn into_failure(self) -> Option<E> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).failed
    }
}

/// Locks what a panicked thread may have held: everything under these locks changes in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
