//! The busy handler: naps as SQLite's own does, and notes whom each nap was for.

use super::context::ConnectionContext;
use super::file_locks;
use super::lock::{LockAttribution, LockHolder};
use super::lock_chain::{WorkerActivity, WorkerChain};
use dbtime_model::{Nanos, Part};
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// The naps of SQLite's default busy handler, in milliseconds; the last one repeats.
///
/// Source: measured behaviour of sqlite3_busy_timeout(), whose schedule every application has.
const NAPS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// The nap before try `count` (from 0) of a wait; `None` when the timeout is used up.
fn nap(count: u64, timeout: Nanos) -> Option<Duration> {
    let last = NAPS_MS.len() - 1;
    let index = usize::try_from(count).unwrap_or(last).min(last);
    let beyond = count.saturating_sub(last as u64).saturating_mul(NAPS_MS[last]);
    let so_far = NAPS_MS[..index].iter().sum::<u64>().saturating_add(beyond);
    let left = (timeout.0 / 1_000_000).saturating_sub(so_far);
    let length = NAPS_MS[index].min(left);
    (length > 0).then(|| Duration::from_millis(length))
}

/// Called by SQLite when a lock is held by somebody else; returns whether to try again.
///
/// # Safety
/// `context` must point to the context of the connection, and stay valid while it is open.
pub(super) unsafe extern "C" fn on_busy(context: *mut c_void, count: c_int) -> c_int {
    // SAFETY: by contract; contexts are only ever used through shared references.
    let Some(context) = (unsafe { context.cast::<ConnectionContext>().as_ref() }) else { return 0 };
    let Some(length) = nap(u64::from(count.unsigned_abs()), context.busy_timeout.get()) else {
        return 0;
    };
    let tries = count.unsigned_abs();
    if tries == 0 {
        context.unnamed.set((0, 0));
        context.foreign_holder.set(None);
    }
    let (holder, chain) = who(context, tries);
    let ((), wall) = context.timed(Part::Lock, || std::thread::sleep(length));
    context.naps.set(context.naps.get().wrapping_add(1));
    context.nap_ns.set(context.nap_ns.get().wrapping_add(wall.0));
    context.registry.set_waiting(context.worker, None);
    note(context, (holder, chain), wall);
    1
}

/// Books a nap on its holder. Earlier naps of the same wait that had nobody to be booked on go with
/// the first one that has.
fn note(context: &ConnectionContext, (holder, chain): (LockHolder, WorkerChain), wall: Nanos) {
    let Ok(mut waits) = context.waits.try_borrow_mut() else { return };
    let waiter = context.statement.get();
    let mut count = 1;
    let mut wait_ns = wall.0;
    let (naps, ns) = context.unnamed.get();
    if holder == LockHolder::Unknown {
        context.unnamed.set((naps + 1, ns + wall.0));
    } else if naps > 0 {
        context.unnamed.set((0, 0));
        let unknown = |row: &&mut LockAttribution| {
            row.waiter == waiter && row.holder == LockHolder::Unknown && row.count >= naps
        };
        if let Some(row) = waits.iter_mut().find(unknown) {
            (row.count, row.wait_ns) = (row.count - naps, row.wait_ns.saturating_sub(ns));
            (count, wait_ns) = (count + naps, wait_ns + ns);
        }
        waits.retain(|row| row.count > 0);
    }
    LockAttribution::add_to(&mut waits, &LockAttribution { waiter, holder, chain, count, wait_ns });
}

/// The nap of a wait before which other processes are looked through for the first time, and every
/// how many naps again.
///
/// Reading `/proc/locks` makes the kernel stop everybody who takes or drops a lock on a file until
/// all CPUs have taken notice, which takes milliseconds (`locks_start` in fs/locks.c): done on
/// every nap it would be what the others wait for. After three naps a wait has lasted 8 ms, longer
/// than workers of a run hold a lock as a rule.
const FIRST_LOOK: u32 = 3;
const NEXT_LOOK: u32 = 8;

/// Who stands in the way just now: a worker of this run, one that has let go this instant, else
/// another process. A reader does so only in the rollback modes.
fn who(context: &ConnectionContext, tries: u32) -> (LockHolder, WorkerChain) {
    let readers_count = !context.is_wal.get();
    let registry = &context.registry;
    let holder = registry.holder(context.worker, readers_count);
    registry.set_waiting(context.worker, holder);
    let chain = match holder {
        Some(holder) => Some(registry.chain(context.worker, holder)),
        None => registry
            .just_released(context.worker)
            .map(|statement| WorkerChain::of(statement, WorkerActivity::Released)),
    };
    if let Some(chain) = chain
        && let Some(statement) = chain.statements().first()
    {
        return (LockHolder::Worker(*statement), chain);
    }
    if tries == FIRST_LOOK || tries > FIRST_LOOK && tries.is_multiple_of(NEXT_LOOK) {
        context.foreign_holder.set(file_locks::holder(&context.path, readers_count));
    }
    (context.foreign_holder.get().unwrap_or(LockHolder::Unknown), WorkerChain::UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn naps_follow_the_default_schedule_and_fill_the_timeout() {
        let all = |timeout| {
            let naps = (0..).map_while(move |count| nap(count, timeout));
            naps.map(|nap| nap.as_millis() as u64).collect::<Vec<_>>()
        };
        assert_eq!(all(Nanos::from_millis(10)), [1, 2, 5, 2]);
        assert_eq!(all(Nanos::ZERO), [0; 0]);
        let five_seconds = all(Nanos::from_secs(5));
        assert_eq!(five_seconds.iter().sum::<u64>(), 5000);
        assert_eq!(five_seconds[..12], NAPS_MS);
        assert!(five_seconds[12..five_seconds.len() - 1].iter().all(|&ms| ms == 100));
        assert_eq!(five_seconds.last(), Some(&72));
    }
}
