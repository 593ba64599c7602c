//! What is made of measurements: clock readings, wake-ups, gaps and syncs.

use super::sync_test::SyncTimes;
use dbtime_machine::SpinTest;
use dbtime_machine::wait::TimerTest;
use dbtime_model::Nanos;
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::units::{counted, human_ns};
use dbtime_observe::doctor::FindingFrame;
use std::path::Path;

const CLOCK: FindingFrame = FindingFrame::of_machine(
    "clock_cost",
    "20,000 readings of CLOCK_MONOTONIC, and readings of all CPUs side by side",
    "at most 100 ns a reading, and no step back",
);

const TIMER: FindingFrame = FindingFrame::of_machine(
    "timer",
    "up to 200 sleeps of 200 µs",
    "99 of 100 sleepers woken at most 200 µs late",
);

const GAPS: FindingFrame = FindingFrame::of_machine(
    "gaps",
    "a thread on each CPU that does nothing but read the clock for 0.3 s",
    "at most 1 ms of a second in gaps of more than 50 µs",
);

const SYNC: FindingFrame = FindingFrame::of_machine(
    "sync",
    "up to 50 times write(2) and fdatasync(2) of 4 KiB in the data folder",
    "longer than 20 µs in the median, and at most twenty times that",
);

/// Unit: nanoseconds.
const MOST_CLOCK_NS: f64 = 100.0;

const MOST_LATE: Nanos = Nanos::from_micros(200);

/// Unit: milliseconds of a second.
const MOST_LOST_MS: f64 = 1.0;

/// No disk is so fast; an NVMe one with a battery takes about as long.
const SHORTEST_SYNC: Nanos = Nanos::from_micros(20);

/// How many times the median the longest sync may take.
const MOST_SPREAD: f64 = 20.0;

/// Readings of the clock.
pub(super) fn clock(timers: &TimerTest, spun: Result<&SpinTest, &String>) -> DoctorFinding {
    let cost = human_ns(timers.clock_read_ns);
    let steps = spun.map_or(0, |spun| spun.steps_back);
    if steps > 0 {
        return CLOCK.bad(
            format!("{cost} a reading, {} back between CPUs", counted(steps, "step")),
            "an instant of one CPU may lie before an earlier one of another",
            "measured: parts of a response that cross CPUs are wrong by the step. Another clock \
             source is the remedy",
        );
    }
    if timers.clock_read_ns > MOST_CLOCK_NS {
        return CLOCK.bad(
            format!("{cost} a reading"),
            "whatever times its work, as EXPLAIN ANALYZE does, reads the clock twice a row",
            format!("measured: {cost} a reading. `clock_source` has the cause and the remedy"),
        );
    }
    match spun {
        Ok(_) => CLOCK.good(format!("{cost} a reading"), "clocks of all CPUs agree"),
        Err(why) => CLOCK.unknown(format!("{cost} a reading, but the CPUs did not spin: {why}")),
    }
}

/// Wake-ups.
pub(super) fn timer(timers: &TimerTest) -> DoctorFinding {
    let value = format!("median {}, p99 {} late", timers.late_p50, timers.late_p99);
    if timers.late_p99 <= MOST_LATE {
        return TIMER.good(value, "the driver is in time for what is due");
    }
    TIMER.note(
        value,
        "the driver wakes up late for what is due, which is counted as lag",
        format!(
            "measured: {} in one of 100 wake-ups. An idle state (`c_states`), a busy machine \
             (`foreign_cpu`) or a hypervisor (`gaps`, `steal`) may be the cause",
            timers.late_p99
        ),
    )
}

/// Gaps of threads that spin.
pub(super) fn gaps(spun: Result<&SpinTest, &String>) -> DoctorFinding {
    let spun = match spun {
        Ok(spun) => spun,
        Err(why) => return GAPS.unknown(format!("the CPUs did not spin: {why}")),
    };
    let lost = spun.lost_ms_per_s();
    let value = format!("{lost:.2} ms of a second, the longest {}", spun.longest);
    if lost <= MOST_LOST_MS {
        return GAPS.good(value, "a thread that is at work keeps its CPU");
    }
    GAPS.note(
        value,
        "other processes, interrupts, firmware or the hypervisor take the CPU from a thread",
        format!(
            "measured: up to {} more in a response. `foreign_cpu` and `steal` tell two causes from \
             the rest",
            spun.longest
        ),
    )
}

/// Syncs in this folder.
pub(super) fn sync(synced: Result<&SyncTimes, &String>, folder: Option<&Path>) -> DoctorFinding {
    let times = match synced {
        Ok(times) => times,
        Err(why) => return SYNC.unknown(why.as_str()),
    };
    let (median, longest) = (times.median(), times.longest());
    let place = folder.map_or_else(String::new, |folder| format!(" in {}", folder.display()));
    let value = format!("median {median}, longest {longest}{place}");
    if median < SHORTEST_SYNC {
        return SYNC.bad(
            value,
            "the data are in memory, or the disk promises what it has not done",
            "measured: commits look as if durability were free. On purpose it is no fault; say so \
             beside the figures",
        );
    }
    if longest.as_secs() > MOST_SPREAD * median.as_secs() {
        return SYNC.note(
            value,
            "single syncs wait behind other writes, and with them all commits of their group",
            format!("measured: {longest} once in {} syncs", times.0.len()),
        );
    }
    SYNC.good(value, "syncs reach a disk, in about the same time each")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::doctor::FindingGrade::{self, Bad, Good, Note, Unknown};

    fn timers(late_us: u64, clock_read_ns: f64) -> TimerTest {
        let late_p99 = Nanos::from_micros(late_us);
        TimerTest { late_p50: Nanos::from_micros(5), late_p99, clock_read_ns }
    }

    fn spun(lost_us: u64, steps_back: u64) -> SpinTest {
        let (lost, longest) = (Nanos::from_micros(lost_us), Nanos::from_micros(lost_us));
        SpinTest { cpus: 1, spun: Nanos::from_secs(1), lost, longest, steps_back }
    }

    #[test]
    fn clocks_and_wake_ups_are_graded() {
        let why = "no thread".to_owned();
        let grade =
            |timers: &TimerTest, spun: Result<&SpinTest, &String>| clock(timers, spun).grade;
        assert_eq!(grade(&timers(0, 30.0), Ok(&spun(0, 0))), Good);
        assert_eq!(grade(&timers(0, 900.0), Ok(&spun(0, 0))), Bad);
        assert_eq!(grade(&timers(0, 30.0), Ok(&spun(0, 1))), Bad);
        assert_eq!(grade(&timers(0, 30.0), Err(&why)), Unknown);
        assert_eq!((timer(&timers(200, 0.0)).grade, timer(&timers(201, 0.0)).grade), (Good, Note));
    }

    #[test]
    fn gaps_are_graded_by_what_is_lost_of_a_second() {
        let why = "no thread".to_owned();
        let grades: Vec<FindingGrade> =
            [Ok(&spun(900, 0)), Ok(&spun(1_100, 0)), Err(&why)].map(|spun| gaps(spun).grade).into();
        assert_eq!(grades, [Good, Note, Unknown]);
    }

    #[test]
    fn a_sync_that_is_too_fast_is_worse_than_one_that_is_slow() {
        let grade = |us: &[u64]| {
            let times = SyncTimes(us.iter().map(|us| Nanos::from_micros(*us)).collect());
            sync(Ok(&times), None).grade
        };
        assert_eq!(grade(&[2, 3, 400]), Bad);
        assert_eq!(grade(&[4_000, 8_000, 9_000]), Good);
        assert_eq!(grade(&[400, 410, 9_000]), Note);
        assert_eq!(sync(Err(&"no folder".to_owned()), None).because, "no folder");
        let times = SyncTimes(vec![Nanos::from_millis(4)]);
        let found = sync(Ok(&times), Some(Path::new("/srv")));
        assert!(found.value.ends_with(" in /srv"), "{found:?}");
    }
}
