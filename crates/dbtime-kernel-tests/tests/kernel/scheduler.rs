//! What every thread had of CPUs, by timelines: the programs of `ps --exact`.

use super::timeline::{BEGIN, SchedulerEvent, ThreadState, ThreadTimeline, TimelineEvent, UNIT};
use dbtime_kernel_tests::{CPUS, HostMachine, HostTask, SchedulerPrograms};
use dbtime_model::process::ScheduledTimes;
use dbtime_observe::scheduler::ScheduledCpu;
use dbtime_observe::scheduler::rows::{cpu, ended, thread};

/// The first thread's number; the others' follow. Each is a process of its own.
const FIRST: u32 = 300;

/// What is read at the end of a timeline.
#[derive(Debug)]
pub(crate) struct SchedulerSums {
    /// By thread; nothing of one that was never seen.
    pub(crate) threads: Vec<ScheduledTimes>,
    pub(crate) cpus: Vec<ScheduledCpu>,
    /// Of each CPU up to the end. Unit: nanoseconds.
    pub(crate) idle: Vec<u64>,
}

/// Runs a timeline. The programs are told of these events alone, in this order.
pub(crate) fn run(timeline: &ThreadTimeline, events: &[TimelineEvent]) -> SchedulerSums {
    let mut machine = HostMachine::boot();
    let idle = machine.task(0, None, "swapper");
    let visitor = machine.task(1, None, "dbtime");
    let numbers = (FIRST..).zip(&timeline.names);
    let tasks: Vec<HostTask> =
        numbers.map(|(number, name)| machine.task(number, None, name)).collect();
    let mut programs = SchedulerPrograms::begin(&mut machine, BEGIN);
    machine.set_clock(BEGIN);
    // Whoever watches visits each CPU once: then it is known whose it is.
    set_facts(&mut machine, &tasks, &timeline.first_facts());
    for cpu in 0..CPUS {
        let owner = timeline.owner(cpu, 0).map_or(idle, |thread| tasks[thread]);
        machine.run(owner, cpu);
        programs.switch(&mut machine, (owner, visitor), 0, true);
        programs.switch(&mut machine, (visitor, owner), 0, true);
    }
    for event in events {
        set_facts(&mut machine, &tasks, &event.facts);
        machine.set_clock(event.at);
        let task = |thread: Option<usize>| thread.map_or(idle, |thread| tasks[thread]);
        match event.what {
            SchedulerEvent::Wakes(thread) if event.facts[thread].cpu_clock == 0 => {
                programs.new_task(&mut machine, tasks[thread]);
            }
            SchedulerEvent::Wakes(thread) => programs.waking(&mut machine, tasks[thread]),
            SchedulerEvent::Switches { cpu, from, to, next } => {
                machine.run(task(from), cpu);
                let is_preempted = next == ThreadState::Preempted;
                let tasks = (task(from), task(to));
                programs.switch(&mut machine, tasks, next.left_for(), is_preempted);
            }
        }
    }
    sums(&machine, timeline)
}

fn set_facts(
    machine: &mut HostMachine,
    tasks: &[HostTask],
    facts: &[dbtime_kernel_tests::TaskFacts],
) {
    tasks.iter().zip(facts).for_each(|(task, facts)| machine.set_facts(*task, facts));
}

/// As the reader reads them at the end.
fn sums(machine: &HostMachine, timeline: &ThreadTimeline) -> SchedulerSums {
    let rows = machine.rows("scheduler/cpus", 0);
    let cpus: Vec<ScheduledCpu> = rows.iter().filter_map(|(_, row)| cpu(row)).collect();
    let mut threads = vec![ScheduledTimes::default(); timeline.names.len()];
    let known = |number: u32| (number.checked_sub(FIRST)).map(|index| index as usize);
    for (key, row) in machine.rows("scheduler/threads", 0) {
        let number = u32::from_ne_bytes(*key.first_chunk().expect("a number"));
        let Some(index) = known(number).filter(|index| *index < threads.len()) else { continue };
        let (mut spent, seen) = thread(&row).expect("a row");
        // It has the CPU still that it was seen to get last.
        if cpus.iter().any(|cpu| cpu.whose == Some((number, seen))) {
            spent.cpu.0 += timeline.end() - seen.0;
        }
        threads[index] += spent;
    }
    for (key, row) in machine.rows("scheduler/ended", 0) {
        let (process, spent, _) = ended(&key, &row).expect("a row");
        if let Some(index) = known(process).filter(|index| *index < threads.len()) {
            threads[index] += spent;
        }
    }
    let still = |cpu: &ScheduledCpu| match cpu.whose {
        Some((0, since)) => timeline.end() - since.0,
        _ => 0,
    };
    let idle = cpus.iter().map(|cpu| cpu.idle.0 + still(cpu)).collect();
    SchedulerSums { threads, cpus, idle }
}

/// What a thread had, in letters.
fn letters(spent: &ScheduledTimes) -> (u64, u64, u64) {
    (spent.cpu.0 / UNIT, spent.woken.0 / UNIT, spent.preempted.0 / UNIT)
}

/// What each thread had, and what CPU 0 was idle.
fn had(drawn: &str) -> (Vec<(u64, u64, u64)>, u64) {
    let timeline = ThreadTimeline::of(drawn);
    let sums = run(&timeline, &timeline.events());
    assert!(sums.cpus.iter().all(|cpu| (cpu.lost, cpu.missed) == (0, 0)), "{sums:?}");
    (sums.threads.iter().map(letters).collect(), sums.idle[0] / UNIT)
}

/// All that happens but for a thread's getting a CPU.
fn without_arrival(timeline: &ThreadTimeline, thread: usize) -> Vec<TimelineEvent> {
    let is_arrival = |event: &TimelineEvent| match event.what {
        SchedulerEvent::Switches { to, .. } => to == Some(thread),
        SchedulerEvent::Wakes(_) => false,
    };
    timeline.events().into_iter().filter(|event| !is_arrival(event)).collect()
}

#[test]
fn two_threads_share_a_cpu() {
    let (threads, idle) = had("A  000ppp00zz00
         B  www000pppppp");
    assert_eq!((threads, idle), (vec![(7, 0, 3), (3, 3, 0)], 2));
}

#[test]
fn a_thread_goes_from_one_cpu_to_another() {
    let (threads, idle) = had("A  00pp111llwww0
         B  ..000....000.");
    assert_eq!((threads, idle), (vec![(6, 3, 2), (6, 0, 0)], 4));
}

#[test]
fn what_has_ended_is_kept_by_its_process() {
    let timeline = ThreadTimeline::of(
        "A  0000pp000000
         B  ....00......",
    );
    let sums = run(&timeline, &timeline.events());
    let had: Vec<_> = sums.threads.iter().map(letters).collect();
    assert_eq!(had, [(10, 0, 2), (2, 0, 0)]);
    assert_eq!(sums.threads[1].clock.0, 2 * UNIT);
    let switches = sums.threads[0].switches;
    assert_eq!((switches.voluntary, switches.involuntary), (0, 2), "and the visitor");
}

#[test]
fn a_switch_that_is_not_told_of_is_missed_and_costs_no_time() {
    let timeline = ThreadTimeline::of(
        "A  000zzzzzz000
         B  zzz0000zzzzz",
    );
    // B gets the CPU, with which A leaves it.
    let sums = run(&timeline, &without_arrival(&timeline, 1));
    assert_eq!(sums.cpus[0].missed, 1);
    let had: Vec<_> = sums.threads.iter().map(letters).collect();
    assert_eq!(had, [(6, 0, 0), (4, 0, 0)]);
}

/// The first that is seen of a thread is that it is woken; that it gets the CPU is not told.
#[test]
fn what_a_thread_had_before_the_watching_is_not_its_own() {
    let timeline = ThreadTimeline::of("A  zzzz000zzz");
    let sums = run(&timeline, &without_arrival(&timeline, 0));
    assert_eq!(letters(&sums.threads[0]).0, 3);
    assert_eq!(sums.threads[0].clock.0, 3 * UNIT);
}

/// CPU 0 tells nothing between two times that it has A, which was seen elsewhere meanwhile.
#[test]
fn a_thread_that_comes_back_has_its_time_once() {
    let timeline = ThreadTimeline::of("A  00p11p00z");
    let mut events = timeline.events();
    events.retain(|event| [5, 8].contains(&((event.at - BEGIN) / UNIT)));
    let sums = run(&timeline, &events);
    assert_eq!(letters(&sums.threads[0]), (6, 0, 1));
    assert_eq!(sums.cpus[1].missed, 1);
}

/// It is woken as it is about to sleep, and nobody does it again.
#[test]
fn a_thread_that_is_woken_on_its_way_off_waits_from_then_on() {
    let timeline = ThreadTimeline::of("A  000zzz00");
    let mut events = timeline.events();
    let [_, SchedulerEvent::Wakes(0), _] = [0, 1, 2].map(|index| events[index].what) else {
        panic!("{events:?}")
    };
    events.swap(0, 1);
    events[0].at = events[1].at;
    events[0].facts[0].is_on_cpu = 1;
    assert_eq!(letters(&run(&timeline, &events).threads[0]), (5, 3, 0));
}
