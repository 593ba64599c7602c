//! Any timeline, of which the kernel may not tell everything, or not in order.

use super::parts::named;
use super::parts::served;
use super::random_timeline::{Purpose, timelines};
use super::scheduler;
use super::timeline::{BEGIN, SchedulerEvent, ThreadState, ThreadTimeline, TimelineEvent};
use dbtime_model::Parts;
use dbtime_model::process::ScheduledTimes;
use proptest::collection::vec;
use proptest::prelude::*;

/// A part by its letter, where that is told as itself.
fn letter(part: &str) -> fn(ThreadState) -> bool {
    match part {
        "cpu" => |state| matches!(state, ThreadState::On(_)),
        "runq_preempted" => |state| state == ThreadState::Preempted,
        "runq_woken" => |state| state == ThreadState::Woken,
        "lock" => |state| state == ThreadState::Asleep('l'),
        "io_read" => |state| state == ThreadState::Asleep('r'),
        "io_write" => |state| state == ThreadState::Asleep('f'),
        "sync" => |state| state == ThreadState::Asleep('s'),
        "net" => |state| state == ThreadState::Asleep('n'),
        "sleep" => |state| state == ThreadState::Asleep('z'),
        "other" => |state| state == ThreadState::Asleep('o'),
        "throttled" => |state| state == ThreadState::Throttled,
        "stopped" => |state| matches!(state, ThreadState::Stopped | ThreadState::Frozen),
        other => panic!("no letter stands for {other}"),
    }
}

fn whole(timeline: &ThreadTimeline) -> u64 {
    timeline.end() - BEGIN
}

/// No part is more than the whole, nor are all of them together.
fn stay_within(parts: &Parts, whole: u64) -> Result<(), TestCaseError> {
    let mut sum = 0u128;
    for (name, part) in named(parts) {
        prop_assert!(part.0 <= whole, "{} of {}: {:?}", name, whole, parts);
        sum += u128::from(part.0);
    }
    prop_assert!(sum <= u128::from(whole), "{} of {}: {:?}", sum, whole, parts);
    Ok(())
}

/// Whether the thread that serves the request leaves its CPU with this.
fn is_leaving(event: &TimelineEvent) -> bool {
    matches!(event.what, SchedulerEvent::Switches { from: Some(0), .. })
}

/// All that a thread had.
fn sum(spent: &ScheduledTimes) -> u128 {
    [spent.cpu, spent.woken, spent.preempted].into_iter().map(|part| u128::from(part.0)).sum()
}

/// What is told where some events are lost: by 0 in a pattern that is gone through again and again.
fn told(timeline: &ThreadTimeline, lost: &[u8]) -> Vec<TimelineEvent> {
    let events = timeline.events().into_iter().zip(lost.iter().cycle());
    events.filter(|(_, lost)| **lost > 0).map(|(event, _)| event).collect()
}

/// What is told where some events change places with the next, as far as these two may.
fn reordered(
    timeline: &ThreadTimeline,
    swapped: &[u8],
    may_swap: impl Fn(&TimelineEvent, &TimelineEvent) -> bool,
) -> Vec<TimelineEvent> {
    let mut events = timeline.events();
    let mut swapped = swapped.iter().cycle();
    let mut at = 1;
    while at < events.len() {
        if swapped.next() == Some(&0) && may_swap(&events[at - 1], &events[at]) {
            events.swap(at - 1, at);
            // None is told much too late.
            at += 1;
        }
        at += 1;
    }
    // Clocks of threads do not go back.
    for at in 1..events.len() {
        let (before, after) = events.split_at_mut(at);
        for (before, now) in before[at - 1].facts.iter().zip(&mut after[0].facts) {
            now.cpu_clock = now.cpu_clock.max(before.cpu_clock);
        }
    }
    events
}

/// Whether they are of one CPU, whose clock does not go back, or of one thread: what the kernel
/// does in an order it tells in that order.
fn are_ordered(one: &TimelineEvent, other: &TimelineEvent) -> bool {
    let of = |event: &TimelineEvent| match event.what {
        SchedulerEvent::Wakes(thread) => (None, [Some(thread), None]),
        SchedulerEvent::Switches { cpu, from, to, .. } => (Some(cpu), [from, to]),
    };
    let ((cpu, threads), (other_cpu, others)) = (of(one), of(other));
    let is_shared = |thread: &Option<usize>| thread.is_some() && others.contains(thread);
    (cpu.is_some() && cpu == other_cpu) || threads.iter().any(is_shared)
}

/// Whether a thread can have had that.
fn check_threads(timeline: &ThreadTimeline, events: &[TimelineEvent]) -> Result<(), TestCaseError> {
    let sums = scheduler::run(timeline, events);
    for (thread, spent) in sums.threads.iter().enumerate() {
        let on = timeline.time(thread, letter("cpu"));
        prop_assert!(spent.clock.0 <= on, "{:?} of thread {}", spent, thread);
        prop_assert!(sum(spent) <= u128::from(whole(timeline)), "{:?} of {}", spent, thread);
    }
    prop_assert!(sums.idle.iter().all(|idle| *idle <= whole(timeline)), "{:?}", sums.idle);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn parts_of_a_request_are_the_letters_of_its_thread(timeline in timelines(Purpose::Request)) {
        let (_, request) = served(&timeline, &timeline.events());
        for (name, part) in named(&request.parts) {
            prop_assert_eq!(part.0, timeline.time(0, letter(name)), "{} of {:?}", name, timeline);
        }
    }

    #[test]
    fn parts_stay_within_the_whole_whatever_is_not_told(
        timeline in timelines(Purpose::Request),
        lost in vec(0..4u8, 1..40),
    ) {
        let (_, request) = served(&timeline, &told(&timeline, &lost));
        stay_within(&request.parts, whole(&timeline))?;
    }

    /// What a thread left its CPU for is not known where that is not told; all else can be made up
    /// for.
    #[test]
    fn parts_are_the_whole_where_each_leaving_is_told(
        timeline in timelines(Purpose::Request),
        lost in vec(0..4u8, 1..40),
    ) {
        let mut events = timeline.events();
        let mut lost = lost.iter().cycle();
        events.retain(|event| is_leaving(event) || lost.next() > Some(&0));
        let (_, request) = served(&timeline, &events);
        prop_assert_eq!(request.parts.total().unsigned_abs(), whole(&timeline), "{:?}", request.parts);
    }

    #[test]
    fn parts_stay_within_the_whole_in_whatever_order(
        timeline in timelines(Purpose::Request),
        swapped in vec(0..4u8, 1..40),
    ) {
        let (_, request) = served(&timeline, &reordered(&timeline, &swapped, |_, _| true));
        stay_within(&request.parts, whole(&timeline))?;
    }

    #[test]
    fn threads_have_what_their_letters_say(timeline in timelines(Purpose::AllThreads)) {
        let sums = scheduler::run(&timeline, &timeline.events());
        for (thread, spent) in sums.threads.iter().enumerate() {
            let on = timeline.time(thread, letter("cpu"));
            prop_assert_eq!(spent.cpu.0, on, "thread {} of {:?}", thread, timeline);
            prop_assert!(sum(spent) <= u128::from(whole(&timeline)), "{:?}", spent);
        }
        let cpu: u64 = sums.threads.iter().map(|spent| spent.cpu.0).sum();
        let idle: u64 = sums.idle.iter().sum();
        prop_assert_eq!(cpu + idle, whole(&timeline) * sums.cpus.len() as u64);
        prop_assert!(sums.cpus.iter().all(|cpu| cpu.missed == 0));
    }

    #[test]
    fn no_thread_has_more_than_there_was_whatever_is_not_told(
        timeline in timelines(Purpose::AllThreads),
        lost in vec(0..4u8, 1..40),
    ) {
        check_threads(&timeline, &told(&timeline, &lost))?;
    }

    #[test]
    fn no_thread_has_more_than_there_was_in_whatever_order(
        timeline in timelines(Purpose::AllThreads),
        swapped in vec(0..4u8, 1..40),
    ) {
        let may_swap = |one: &TimelineEvent, other: &TimelineEvent| !are_ordered(one, other);
        check_threads(&timeline, &reordered(&timeline, &swapped, may_swap))?;
    }
}
