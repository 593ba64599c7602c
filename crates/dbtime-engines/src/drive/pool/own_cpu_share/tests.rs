//! Whose waits are whose, on machines that are made up.

use super::*;
use crate::drive::timing::TransactionTiming;
use dbtime_load::program::Ticket;
use dbtime_model::{OperationId, Outcome, Part, Parts, Sample};

/// A second of a machine with two CPUs on which eight workers and others used so much.
fn share(process_s: f64, foreign_pct: f64) -> f64 {
    let used = MachineUse { wall_s: 1.0, process_s, foreign_pct, ..MachineUse::default() };
    own_share(&used, 8, 2)
}

/// After a second with this share: a transaction that was ready at 1 ms, waited until 5 ms for a
/// CPU, and was sent at 6 ms.
fn timed(own_share: f64) -> (Sample, Parts) {
    let at = |ms: u64| MonoNanos(ms * 1_000_000);
    let cpu_share = OwnCpuShare::new(8);
    cpu_share.share.store(own_share.to_bits(), Ordering::Relaxed);
    let mut wait = WaitAccount::new(at(1));
    wait.add(Some(off(4, 5)));
    let mut timing = TransactionTiming::new(at(1), true);
    timing.waited(cpu_share.divide(wait));
    timing.statement(at(6), at(9));
    timing.parts.add(Part::Cpu, Nanos::from_millis(3).signed());
    let ticket = Ticket { index: 0, operation: OperationId(0), due: at(0), client: 0 };
    let sample = timing.sample(&ticket, Outcome::Completed, 0);
    let parts = timing.close(&sample);
    assert_eq!(parts.get(Part::Unexplained), 0);
    assert_eq!(parts.total(), sample.response().signed());
    assert_eq!(sample.response(), Nanos::from_millis(9));
    (sample, parts)
}

fn off(runq_ms: u64, until_ms: u64) -> OffCpuTime {
    let until = MonoNanos(until_ms * 1_000_000);
    OffCpuTime { until, runq: Nanos::from_millis(runq_ms), blocked: Nanos::ZERO }
}

#[test]
fn what_transactions_of_the_process_had_the_cpu_for_is_no_lag() {
    let own = share(2.0, 0.0);
    assert_eq!(own, 1.0);
    let (sample, parts) = timed(own);
    assert_eq!(sample.lag(), Nanos::from_millis(1), "of the driver itself");
    assert_eq!(parts.get(Part::Runq), 4_000_000);
    assert_eq!(sample.queue(), Nanos::from_millis(1));
    // Those behind it wait for a worker.
    assert_eq!(sample.freed(Nanos::ZERO), MonoNanos(8_000_000));
}

#[test]
fn what_others_had_the_cpu_for_is_lag() {
    let own = share(0.0, 200.0);
    assert_eq!(own, 0.0);
    let (sample, parts) = timed(own);
    assert_eq!(sample.lag(), Nanos::from_millis(5));
    assert_eq!(parts.measured_duration(Part::Runq), None, "nothing is booked there");
    assert_eq!(sample.freed(Nanos::ZERO), MonoNanos(4_000_000), "as if they had not");
}

#[test]
fn a_wait_for_both_is_divided_as_the_cpu_time_was() {
    // Seven of eight workers are in the way of the eighth.
    let own = share(1.6, 60.0);
    assert!((own - 0.7).abs() < 1e-9, "{own}");
    let (sample, parts) = timed(0.75);
    assert_eq!(sample.lag(), Nanos::from_millis(2));
    assert_eq!(parts.get(Part::Runq), 3_000_000);
    assert_eq!(parts.get(Part::Lag), 2_000_000);
}

#[test]
fn a_hypervisor_and_a_quota_are_others() {
    let alone = MachineUse { wall_s: 1.0, process_s: 1.6, ..MachineUse::default() };
    let stolen = MachineUse { steal_pct: 30.0, ..alone };
    let held = MachineUse { throttled: Some(Nanos::from_millis(600)), ..alone };
    for used in [stolen, held] {
        let own = own_share(&used, 8, 2);
        assert!((own - 0.7).abs() < 1e-9, "{own}");
    }
    assert_eq!(own_share(&alone, 1, 2), 0.0, "a single worker waits for no other");
}

#[test]
fn where_the_machine_cannot_be_read_a_wait_is_lag() {
    let at = |s, busy_s| MachineSample {
        at: MonoNanos(s * 1_000_000_000),
        process: Nanos::from_secs(s),
        busy_s,
        ..MachineSample::default()
    };
    assert_eq!(share_between(&at(1, 7.0), &at(2, 8.0), 8), 1.0);
    assert_eq!(share_between(&at(1, 0.0), &at(2, 0.0), 8), 0.0);
}

#[test]
fn a_wait_counts_from_where_the_transaction_was_ready() {
    let mut wait = WaitAccount::new(MonoNanos(10_000_000));
    wait.add(Some(off(5, 9)));
    assert_eq!(wait.waited, Nanos::ZERO, "it was not ready");
    wait.add(Some(off(5, 12)));
    assert_eq!(wait.waited, Nanos::from_millis(2), "three of them lie before that");
    wait.add(None);
    wait.add(Some(off(1, 15)));
    assert_eq!(wait.waited, Nanos::from_millis(3));
    assert_eq!(OwnCpuShare::new(8).divide(wait).own, Nanos::ZERO, "before anything was read");
}

#[test]
fn the_machine_is_read_when_that_is_due() {
    let cpu_share = OwnCpuShare::new(2);
    let last = || *lock(&cpu_share.last);
    cpu_share.look(MonoNanos(0));
    let (first, due) = last().expect("a reading");
    assert_eq!(due, first.at + FIRST_INTERVAL);
    cpu_share.look(due - Nanos(1));
    assert_eq!(last(), Some((first, due)));
    cpu_share.look(due);
    let (second, due) = last().expect("a reading");
    assert!(second.at > first.at);
    assert_eq!(due, second.at + READING_INTERVAL);
    let alone = OwnCpuShare::new(1);
    alone.look(MonoNanos(u64::MAX));
    assert_eq!(*lock(&alone.last), None, "it has no other to wait for");
}
