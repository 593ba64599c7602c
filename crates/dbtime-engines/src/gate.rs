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
    /// Whether a worker has panicked: nobody waits any more, and joining it tells.
    has_panicked: bool,
}

/// Tells a gate when its thread panics.
pub(crate) struct Attendance<'a, E>(&'a Gate<E>);

impl<E> Drop for Attendance<'_, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.change(|state| state.has_panicked = true);
        }
    }
}

impl<E> Gate<E> {
    /// A gate that is shut, with nobody before it.
    pub(crate) fn new() -> Self {
        let state = GateState {
            connected: 0,
            failed: None,
            is_open: false,
            ended: 0,
            is_over: false,
            has_panicked: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A worker is there, until what this returns is dropped.
    pub(crate) fn attend(&self) -> Attendance<'_, E> {
        Attendance(self)
    }

    /// Changes the state and tells everybody.
    pub(crate) fn change(&self, change: impl FnOnce(&mut GateState<E>)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Waits until the state is as wanted. Returns whether nothing has failed until then.
    pub(crate) fn wait(&self, wanted: impl Fn(&GateState<E>) -> bool) -> bool {
        let is_fine = |state: &GateState<E>| state.failed.is_none() && !state.has_panicked;
        let pending = |state: &mut GateState<E>| is_fine(state) && !wanted(state);
        let guard = self.changed.wait_while(lock(&self.state), pending);
        is_fine(&guard.unwrap_or_else(PoisonError::into_inner))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_worker_that_panicked() {
        let gate = Gate::<()>::new();
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let _attendance = gate.attend();
                panic!("on purpose");
            });
            assert!(!gate.wait(|state| state.ended == 1));
            assert!(worker.join().is_err());
        });
    }
}
