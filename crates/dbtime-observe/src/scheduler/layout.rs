//! What the scheduler's programs keep, as `bpf/scheduler.h` lays it out.

use crate::trace::text_until_zero;
use dbtime_model::process::{EndedThreads, Scheduled, Switches, Ticks};
use dbtime_model::{MonoNanos, Nanos};

/// `struct process`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) pid: u32,
    /// Since boot. Unit: nanoseconds.
    pub(super) start: u64,
}

/// Reads numbers one behind the other; zeros behind the end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn long(&mut self) -> u64 {
        let Some((bytes, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u64::from_le_bytes(*bytes)
    }

    fn short(&mut self) -> u32 {
        let Some((bytes, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u32::from_le_bytes(*bytes)
    }

    fn key(&mut self) -> Key {
        let (start, pid, _) = (self.long(), self.short(), self.short());
        Key { pid, start }
    }

    fn spent(&mut self) -> Scheduled {
        let [clock, cpu, woken, preempted] = [(); 4].map(|()| Nanos(self.long()));
        let switches = Switches { voluntary: self.long(), involuntary: self.long() };
        Scheduled { cpu, clock, woken, preempted, switches }
    }
}

/// `struct process`.
pub(super) fn key(bytes: &[u8]) -> Key {
    Numbers(bytes).key()
}

/// `struct thread`: whose it is, what it had spent when it was seen last, and when that was.
pub(super) fn thread(bytes: &[u8]) -> (Key, Scheduled, MonoNanos) {
    let mut numbers = Numbers(bytes);
    (numbers.key(), numbers.spent(), MonoNanos(numbers.long()))
}

/// `struct ended`.
pub(super) fn ended(bytes: &[u8]) -> (Scheduled, EndedThreads) {
    let mut numbers = Numbers(bytes);
    let spent = numbers.spent();
    let ticks = Ticks { user: Nanos(numbers.long()), system: Nanos(numbers.long()) };
    let (at, _threads, uid) = (MonoNanos(numbers.long()), numbers.short(), numbers.short());
    (spent, EndedThreads { ticks, at, uid, name: text_until_zero(numbers.0) })
}

/// A CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cpu {
    /// How long it was idle before its last switch.
    pub(super) idle: Nanos,
    /// The thread that has it, 0: none; and since when, `None`: no switch has been seen.
    pub(super) whose: Option<(u32, MonoNanos)>,
    /// Switches of threads for which there was no room.
    pub(super) lost: u64,
    /// Switches that the kernel did not tell of.
    pub(super) missed: u64,
}

/// `struct cpu`.
pub(super) fn cpu(bytes: &[u8]) -> Cpu {
    let mut numbers = Numbers(bytes);
    let (idle, since) = (Nanos(numbers.long()), MonoNanos(numbers.long()));
    let (_switches, lost, missed) = (numbers.long(), numbers.long(), numbers.long());
    let whose = (since > MonoNanos(0)).then_some((numbers.short(), since));
    Cpu { idle, whose, lost, missed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn a_thread_has_what_it_had_when_it_was_seen_last() {
        let row = bytes(&[77, 5, 100, 130, 20, 10, 3, 2, 1000, 9, 1]);
        let spent = Scheduled {
            cpu: Nanos(130),
            clock: Nanos(100),
            woken: Nanos(20),
            preempted: Nanos(10),
            switches: Switches { voluntary: 3, involuntary: 2 },
        };
        let key = Key { pid: 5, start: 77 };
        assert_eq!(thread(&row), (key, spent, MonoNanos(1000)));
        assert_eq!(thread(&[1, 2, 3]).1, Scheduled::default());
    }

    #[test]
    fn what_has_ended_has_a_name_and_a_cpu_is_somebodys() {
        let mut row = bytes(&[8, 9, 0, 0, 1, 0, 40, 50, 999]);
        row.extend_from_slice(&[1, 0, 0, 0, 33, 0, 0, 0]);
        row.extend_from_slice(b"true\0\0\0\0\0\0\0\0\0\0\0\0");
        let (spent, ended) = ended(&row);
        assert_eq!(
            (spent.clock, spent.cpu, ended.uid, &*ended.name),
            (Nanos(8), Nanos(9), 33, "true")
        );
        assert_eq!((ended.at, ended.ticks.sum()), (MonoNanos(999), Nanos(90)));
        let unseen = Cpu { idle: Nanos(10), ..Cpu::default() };
        assert_eq!(cpu(&bytes(&[10, 0, 0, 0, 0, 0])), unseen);
        let whose = Some((9, MonoNanos(60)));
        let seen = Cpu { idle: Nanos(10), whose, lost: 7, missed: 1 };
        assert_eq!(cpu(&bytes(&[10, 60, 4, 7, 1, 9])), seen);
    }
}
