//! What the scheduler's programs keep, as what it means.

use crate::kernel_layout::scheduler::{CpuRow, EndedRow, ProcessKey, SpentRecord, ThreadRow};
use crate::kernel_layout::{read_record, text_until_zero};
use dbtime_model::process::{ContextSwitches, CpuTicks, EndedThreads, ScheduledTimes};
use dbtime_model::{MonoNanos, Nanos};

fn scheduled(spent: &SpentRecord) -> ScheduledTimes {
    let SpentRecord { clock, cpu, woken, preempted, voluntary, involuntary } = *spent;
    let [cpu, clock, woken, preempted] = [cpu, clock, woken, preempted].map(Nanos);
    ScheduledTimes {
        cpu,
        clock,
        woken,
        preempted,
        switches: ContextSwitches { voluntary, involuntary },
    }
}

/// A thread: whose it is, what it had spent when it was seen last, and when that was; `None` where
/// the row is too short.
pub(super) fn thread(row: &[u8]) -> Option<(ProcessKey, ScheduledTimes, MonoNanos)> {
    let row: ThreadRow = read_record(row)?;
    Some((row.process, scheduled(&row.spent), MonoNanos(row.since)))
}

/// The threads of a process that have ended; `None` where key or row are too short.
pub(super) fn ended(key: &[u8], row: &[u8]) -> Option<(ProcessKey, ScheduledTimes, EndedThreads)> {
    let row: EndedRow = read_record(row)?;
    let ticks = CpuTicks { user: Nanos(row.user), system: Nanos(row.system) };
    let name = text_until_zero(&row.name);
    let ended = EndedThreads { ticks, at: MonoNanos(row.at), uid: row.uid, name };
    Some((read_record(key)?, scheduled(&row.spent), ended))
}

/// A CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduledCpu {
    /// How long it was idle before its last switch.
    pub idle: Nanos,
    /// The thread that has it, 0: none; and since when, `None`: no switch has been seen.
    pub whose: Option<(u32, MonoNanos)>,
    /// Switches of threads for which there was no room.
    pub lost: u64,
    /// Switches that the kernel did not tell of.
    pub missed: u64,
}

/// A CPU's row; `None` where it is too short.
pub(super) fn cpu(row: &[u8]) -> Option<ScheduledCpu> {
    let CpuRow { idle, since, lost, missed, tid, .. } = read_record(row)?;
    let whose = (since > 0).then_some((tid, MonoNanos(since)));
    Some(ScheduledCpu { idle: Nanos(idle), whose, lost, missed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_layout::padded;
    use zerocopy::IntoBytes;

    const PROCESS: ProcessKey = ProcessKey { start: 77, tgid: 5, reserved: 0 };

    #[test]
    fn a_thread_has_what_it_had_when_it_was_seen_last() {
        let mut row = ThreadRow { process: PROCESS, since: 1000, ..ThreadRow::default() };
        (row.spent.clock, row.spent.cpu, row.spent.woken) = (100, 130, 20);
        (row.spent.preempted, row.spent.voluntary, row.spent.involuntary) = (10, 3, 2);
        let spent = ScheduledTimes {
            cpu: Nanos(130),
            clock: Nanos(100),
            woken: Nanos(20),
            preempted: Nanos(10),
            switches: ContextSwitches { voluntary: 3, involuntary: 2 },
        };
        assert_eq!(thread(row.as_bytes()), Some((PROCESS, spent, MonoNanos(1000))));
        assert_eq!(thread(&[1, 2, 3]), None);
    }

    #[test]
    fn what_has_ended_has_a_name_and_a_cpu_is_somebodys() {
        let mut row = EndedRow { at: 999, uid: 33, name: padded("true"), ..EndedRow::default() };
        (row.spent.clock, row.spent.cpu, row.user, row.system) = (8, 9, 40, 50);
        let (key, spent, ended) = ended(PROCESS.as_bytes(), row.as_bytes()).expect("a row");
        assert_eq!((key, spent.clock, spent.cpu), (PROCESS, Nanos(8), Nanos(9)));
        assert_eq!((ended.uid, &*ended.name), (33, "true"));
        assert_eq!((ended.at, ended.ticks.sum()), (MonoNanos(999), Nanos(90)));
        let row = CpuRow { idle: 10, ..CpuRow::default() };
        let unseen = ScheduledCpu { idle: Nanos(10), ..ScheduledCpu::default() };
        assert_eq!(cpu(row.as_bytes()), Some(unseen));
        let row = CpuRow { since: 60, switches: 4, lost: 7, missed: 1, tid: 9, ..row };
        let whose = Some((9, MonoNanos(60)));
        let seen = ScheduledCpu { idle: Nanos(10), whose, lost: 7, missed: 1 };
        assert_eq!(cpu(row.as_bytes()), Some(seen));
    }
}
