//! Who has the CPU while a thread waits for it, in however many turns.

use super::early_waits::{INTERRUPTIBLE, RestingServer, STOPPED, rivals};
use super::parts::QUERY;
use super::server::streamed;
use dbtime_kernel_tests::HostTask;
use dbtime_model::traced::TracedRequest;
use dbtime_model::{Nanos, Part, ServerQueueParts};
use dbtime_observe::trace::CaptureConfig;

/// Of the wait for a CPU so much is to be named. Unit: thousandths.
const NAMED: u64 = 970;

/// What the rivals had is nearly all of the wait, and never more.
fn are_named(request: &TracedRequest, wait: u64) {
    let named: u64 = rivals(request).iter().map(|(_, length)| length).sum();
    assert!(named <= wait && 1_000 * named >= NAMED * wait, "{named} of {wait}: {request:?}");
}

#[test]
fn threads_that_have_the_cpu_by_thousands_of_short_turns_are_named_with_all_of_them() {
    for turns in [10, 63, 64, 65, 700, 4_000] {
        let mut resting = RestingServer::new(&CaptureConfig { adds_up: true, ..streamed() });
        let [ping, pong] = [(300, "ping"), (301, "pong")]
            .map(|(pid, name)| resting.server.machine.task(pid, None, name));
        resting.wakes();
        resting.gets_cpu_after(0);
        resting.server.reads(QUERY);
        resting.server.passes(5);
        resting.take_turns(turns, &[(ping, 300), (pong, 100)]);
        resting.gets_cpu_after(0);
        resting.answers();
        let request = resting.last();
        let wait = 200 * turns as u64 + if turns % 2 == 1 { 100 } else { 0 };
        assert_eq!(request.parts.get(Part::RunqPreempted), wait.cast_signed());
        if turns < 64 {
            assert_eq!(rivals(&request).iter().map(|(_, length)| length).sum::<u64>(), wait);
        } else {
            // A span that began before the wait has no names.
            let lost = 1_000 * 32 * 200 / wait;
            let named: u64 = rivals(&request).iter().map(|(_, length)| length).sum();
            assert!(named <= wait && 1_000 * named >= (1_000 - lost.min(900)) * wait, "{named}");
        }
        assert_eq!(rivals(&request)[0].0, "ping");
        // In the table of pre-emptors, too.
        let rows = resting.server.machine.rows("preemptors", 0);
        let length = |(_, row): &(Vec<u8>, Vec<u8>)| {
            u64::from_ne_bytes(row[8..16].try_into().expect("a count and a length"))
        };
        let sum: u64 = rows.iter().map(length).sum();
        assert_eq!(sum, rivals(&request).iter().map(|(_, length)| length).sum::<u64>());
    }
}

/// One by one most of their turns would be in sums, the first of which began before the wait.
#[test]
fn threads_of_one_name_that_take_turns_have_all_of_the_wait_and_count_once() {
    let mut resting = RestingServer::new(&CaptureConfig { adds_up: true, ..streamed() });
    let workers = [(300, 300), (301, 100)].map(|(pid, length)| {
        let worker = resting.server.machine.task(pid, None, "worker");
        (worker, length)
    });
    resting.wakes();
    resting.gets_cpu_after(0);
    resting.server.reads(QUERY);
    resting.server.passes(5);
    resting.take_turns(4_000, &workers);
    resting.gets_cpu_after(0);
    resting.answers();
    assert_eq!(rivals(&resting.last()), [("worker", 4_000 * 200)]);
    let rows = resting.server.machine.rows("preemptors", 0);
    let count = |(_, row): &(Vec<u8>, Vec<u8>)| {
        u64::from_ne_bytes(row[..8].try_into().expect("a count and a length"))
    };
    assert_eq!(rows.iter().map(count).sum::<u64>(), 1);
}

#[test]
fn in_a_storm_of_short_lived_processes_the_longest_are_named() {
    let mut resting = RestingServer::new(&streamed());
    let names = ["sh", "cc1", "as", "ld", "make", "true"];
    let others: Vec<(HostTask, u64)> = (1..)
        .zip(names)
        .map(|(number, name)| {
            (resting.server.machine.task(400 + number, None, name), 700 - 100 * u64::from(number))
        })
        .collect();
    resting.wakes();
    resting.gets_cpu_after(0);
    resting.server.reads(QUERY);
    resting.take_turns(480, &others);
    resting.gets_cpu_after(0);
    resting.answers();
    let request = resting.last();
    let [(first, most), (second, _), (third, _)] = rivals(&request)[..] else {
        panic!("{request:?}")
    };
    assert_eq!([first, second, third], ["sh", "cc1", "as"]);
    assert!(1_000 * most >= NAMED * 80 * 600 && most <= 80 * 600, "{most}");
    assert_eq!(request.parts.get(Part::RunqPreempted), 80 * 2_100);
}

/// Waits that are planted in a row: by a hog, by two that take turns, by a quota, by a stop.
#[test]
fn two_hundred_planted_waits_have_their_parts_and_names() {
    let mut resting = RestingServer::new(&streamed());
    let hog = resting.hog;
    let [ping, pong] = [(300, "ping"), (301, "pong")]
        .map(|(pid, name)| resting.server.machine.task(pid, None, name));
    let (mut planted, mut throttled) = ([0u64; 3], 0);
    for number in 0..200 {
        resting.arrives();
        if number % 4 == 3 {
            // It sleeps: the signal wakes it, and it is stopped at once.
            resting.wakes();
            resting.gets_cpu_after(0);
            resting.gives_cpu_to(hog, STOPPED);
            resting.server.passes(9_000);
            planted[2] += 9_000;
        }
        resting.wakes();
        match number % 4 {
            0 => {
                resting.gets_cpu_after(4_000);
                planted[0] += 4_000;
            }
            1 => {
                resting.take_turns(500, &[(ping, 6), (pong, 10)]);
                resting.gets_cpu_after(0);
                planted[0] += 4_000;
            }
            2 => {
                throttled += 8_000;
                resting.server.machine.set_throttled(&[throttled, 0, 0, 0, 0, 0, 0, 0]);
                resting.gets_cpu_after(8_000);
                planted[1] += 8_000;
            }
            _ => resting.gets_cpu_after(0),
        }
        resting.serves();
        resting.gives_cpu_to(hog, INTERRUPTIBLE);
        resting.server.passes(1_000);
    }
    let requests = resting.server.requests();
    let sum = |of: fn(&ServerQueueParts) -> Nanos| {
        requests.iter().filter_map(|one| one.queue_parts.as_ref()).map(of).sum::<Nanos>().0
    };
    let found = [sum(|parts| parts.runq_woken), sum(|parts| parts.throttled)];
    assert_eq!((found, sum(|parts| parts.stopped)), ([planted[0], planted[1]], planted[2]));
    let named = requests.iter().flat_map(|one| &one.preemptors).map(|one| one.length);
    let named = named.sum::<Nanos>().0;
    assert!(named <= planted[0] && 1_000 * named >= NAMED * planted[0], "{named} {planted:?}");
    are_named(&requests[1], 4_000);
}
