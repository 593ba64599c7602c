//! Waits of workers for a CPU, and how much of them other transactions of this process had it for.
//!
//! The transactions of an embedded database run on the workers' threads. A worker whose transaction
//! is ready while those of others have the CPUs is kept waiting by the application, and not by the
//! driver. The kernel counts how long a thread waited for a CPU, and not for whom: a wait is
//! divided as the CPU time was in the second before.

use crate::drive::gate::lock;
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::switch_clock::OffCpuTime;
use dbtime_machine::usage::{MachineSample, MachineUse};
use dbtime_model::recorder::ReadyWaits;
use dbtime_model::{MonoNanos, Nanos};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// From one reading of the machine's CPU time to the next: its ticks of 10 ms are too coarse for
/// less.
const READING_INTERVAL: Nanos = Nanos::from_secs(1);

/// The second reading comes sooner, for all waits before it are the driver's.
const FIRST_INTERVAL: Nanos = Nanos::from_millis(250);

/// How long a transaction that is ready has waited for a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitAccount {
    /// Its waits are known from where it was ready, and its worker free, up to here.
    known: MonoNanos,
    waited: Nanos,
}

impl WaitAccount {
    /// None yet, of a transaction that is ready and has a worker from `ready` on.
    #[inline]
    pub(super) fn new(ready: MonoNanos) -> Self {
        Self { known: ready, waited: Nanos::ZERO }
    }

    /// Adds the account of its thread. Of an account that began earlier no more counts than what
    /// lies behind: the wait was its end, as a rule, for a thread waits when it is woken.
    #[inline]
    pub(super) fn add(&mut self, off: Option<OffCpuTime>) {
        let Some(off) = off else { return };
        self.waited += off.runq.min(off.until - self.known);
        self.known = self.known.max(off.until);
    }
}

/// Which share of the waits of a worker the transactions of the others had the CPU for.
pub(super) struct OwnCpuShare {
    workers: u32,
    /// The bits of an `f64`, `0.0..=1.0`.
    share: AtomicU64,
    /// The last reading, and when the next is due.
    last: Mutex<Option<(MachineSample, MonoNanos)>>,
}

impl OwnCpuShare {
    /// Of so many workers, before anything was read.
    pub(super) fn new(workers: u32) -> Self {
        Self { workers, share: AtomicU64::new(0), last: Mutex::new(None) }
    }

    /// Reads what had the CPUs, where that is due. A single worker waits for no other.
    pub(super) fn look(&self, present: MonoNanos) {
        if self.workers < 2 {
            return;
        }
        let mut last = lock(&self.last);
        let before = match *last {
            Some((_, due)) if present < due => return,
            Some((sample, _)) => Some(sample),
            None => None,
        };
        let sample = MachineSample::take();
        let interval = match before {
            Some(before) => {
                let share = share_between(&before, &sample, self.workers);
                self.share.store(share.to_bits(), Ordering::Relaxed);
                READING_INTERVAL
            }
            None => FIRST_INTERVAL,
        };
        *last = Some((sample, sample.at + interval));
    }

    /// The waits of a transaction that begins now.
    #[inline]
    pub(super) fn divide(&self, wait: WaitAccount) -> ReadyWaits {
        let share = f64::from_bits(self.share.load(Ordering::Relaxed));
        ReadyWaits { own: Nanos((wait.waited.0 as f64 * share) as u64), all: wait.waited }
    }
}

/// The share of the other workers in the CPU time from one reading to another; none where what
/// others used cannot be read.
fn share_between(before: &MachineSample, after: &MachineSample, workers: u32) -> f64 {
    match after.busy_s > before.busy_s {
        true => own_share(&after.since(before), workers, machine_cpus()),
        false => 0.0,
    }
}

/// The share of the other workers in the CPU time of a stretch: others are all processes beside
/// this one, the kernel, a hypervisor that takes CPUs away, and a quota that holds them back.
fn own_share(used: &MachineUse, workers: u32, cpus: u32) -> f64 {
    // No worker waits for its own transactions.
    let own_s = used.process_s * f64::from(workers.saturating_sub(1)) / f64::from(workers.max(1));
    let seconds = |pct: f64| pct / 100.0 * used.wall_s;
    let held_s = used.throttled.map_or(0.0, Nanos::as_secs);
    let others_s = seconds(used.foreign_pct) + f64::from(cpus) * seconds(used.steal_pct) + held_s;
    if own_s > 0.0 { own_s / (own_s + others_s) } else { 0.0 }
}

#[cfg(test)]
mod tests;
