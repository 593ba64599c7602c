//! The barrier between the phases of a load: its threads arrive, and the thread that drives them
//! lets them into the next phase.

use dbtime_model::RunPhase;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The barrier. `E` is why a load fails.
pub(crate) struct PhaseGate<E> {
    state: Mutex<GateState<E>>,
    changed: Condvar,
}

struct GateState<E> {
    /// Threads that have arrived since the last phase.
    arrived: u32,
    /// The phase that all may be in.
    phase: RunPhase,
    failure: Option<E>,
    /// Whether a thread has panicked: nobody waits any more, and joining it resumes the panic.
    has_panicked: bool,
}

impl<E> GateState<E> {
    fn is_fine(&self) -> bool {
        self.failure.is_none() && !self.has_panicked
    }
}

/// Opens the gate for everybody when its thread panics.
pub(crate) struct PanicGuard<'a, E>(&'a PhaseGate<E>);

impl<E> Drop for PanicGuard<'_, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.change(|state| state.has_panicked = true);
        }
    }
}

impl<E> PhaseGate<E> {
    /// A gate before [`RunPhase::Connected`], with nobody there.
    pub(crate) fn new() -> Self {
        let phase = RunPhase::Prepared;
        let failure = None;
        let state = GateState { arrived: 0, phase, failure, has_panicked: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Watches over the thread that holds what this returns.
    pub(crate) fn panic_guard(&self) -> PanicGuard<'_, E> {
        PanicGuard(self)
    }

    /// A thread has done what its phase is for.
    pub(crate) fn arrive(&self) {
        self.change(|state| state.arrived += 1);
    }

    /// Waits until so many threads have arrived, and does something every `interval` meanwhile.
    /// Returns whether nothing has failed.
    pub(crate) fn gather(
        &self,
        threads: u32,
        interval: Duration,
        mut meanwhile: impl FnMut(),
    ) -> bool {
        loop {
            let pending = |state: &mut GateState<E>| state.is_fine() && state.arrived < threads;
            let waited = self.changed.wait_timeout_while(lock(&self.state), interval, pending);
            let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            if !state.is_fine() {
                return false;
            }
            if !waited.timed_out() {
                state.arrived = 0;
                return true;
            }
            drop(state);
            meanwhile();
        }
    }

    /// Lets everybody into a phase.
    pub(crate) fn enter(&self, phase: RunPhase) {
        self.change(|state| state.phase = phase);
    }

    /// Waits until everybody may be in a phase. Returns whether nothing has failed.
    pub(crate) fn wait_for(&self, phase: RunPhase) -> bool {
        let pending = |state: &mut GateState<E>| state.is_fine() && state.phase < phase;
        let state = self.changed.wait_while(lock(&self.state), pending);
        state.unwrap_or_else(PoisonError::into_inner).is_fine()
    }

    /// The same for so long at most.
    pub(crate) fn wait_at_most(&self, phase: RunPhase, limit: Duration) {
        let pending = |state: &mut GateState<E>| state.is_fine() && state.phase < phase;
        drop(self.changed.wait_timeout_while(lock(&self.state), limit, pending));
    }

    /// The load fails: nobody waits any more.
    pub(crate) fn fail(&self, failure: E) {
        self.change(|state| state.failure = Some(failure));
    }

    /// Why the load failed, if it did.
    pub(crate) fn into_failure(self) -> Option<E> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).failure
    }

    fn change(&self, change: impl FnOnce(&mut GateState<E>)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }
}

/// Locks what a panicked thread may have held: everything under these locks changes in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(1);

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let gate = PhaseGate::<()>::new();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let _guard = gate.panic_guard();
                panic!("on purpose");
            });
            assert!(!gate.gather(1, INTERVAL, || {}));
            assert!(!gate.wait_for(RunPhase::Started));
            assert!(thread.join().is_err());
        });
    }

    #[test]
    fn nobody_waits_once_one_has_failed() {
        let gate = PhaseGate::new();
        gate.fail("refused");
        assert!(!gate.gather(1, INTERVAL, || {}) && !gate.wait_for(RunPhase::Started));
        assert_eq!(gate.into_failure(), Some("refused"));
    }

    #[test]
    fn a_phase_that_does_not_come_is_not_waited_for_for_ever() {
        let gate = PhaseGate::<()>::new();
        gate.wait_at_most(RunPhase::LoadEnded, INTERVAL);
        gate.enter(RunPhase::LoadEnded);
        // Else this would last for as long as the tests may.
        gate.wait_at_most(RunPhase::LoadEnded, Duration::from_secs(100_000));
    }

    #[test]
    fn every_phase_is_for_all_threads() {
        let (gate, threads) = (PhaseGate::<()>::new(), 3);
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for phase in [RunPhase::Started, RunPhase::LoadEnded] {
                        gate.arrive();
                        assert!(gate.wait_for(phase));
                        lock(&order).push(phase);
                    }
                });
            }
            for phase in [RunPhase::Started, RunPhase::LoadEnded] {
                assert!(gate.gather(threads, INTERVAL, || {}));
                gate.enter(phase);
            }
        });
        let (order, half) = (order.into_inner().expect("no panic"), threads as usize);
        assert!(order[..half].iter().all(|phase| *phase == RunPhase::Started), "{order:?}");
        assert_eq!(order.len(), 2 * half);
    }
}
