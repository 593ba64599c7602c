//! What the thread that is to read a request waits for before it does, and who has the CPU
//! meanwhile, in however many turns.

use super::parts::{ANSWER, QUERY};
use super::server::{WatchedServer, streamed};
use dbtime_kernel_tests::HostTask;
use dbtime_model::traced::TracedRequest;
use dbtime_model::{Nanos, Part, ServerQueueParts, WireProtocol};
use dbtime_observe::trace::CaptureConfig;

/// For what a thread leaves its CPU: `prev_state` of the kernel.
const RUNNABLE: u32 = 0;
const INTERRUPTIBLE: u32 = 1;
const STOPPED: u32 = 4;

/// A server whose thread has answered a request, and sleeps until the next one. Others have its
/// CPU.
struct RestingServer {
    server: WatchedServer,
    /// Has the CPU now.
    on_cpu: HostTask,
    hog: HostTask,
}

impl RestingServer {
    fn new(config: &CaptureConfig) -> Self {
        let mut server = WatchedServer::new(WireProtocol::Postgres, config);
        let hog = server.machine.task(200, None, "hog");
        let on_cpu = server.task;
        let mut resting = Self { server, on_cpu, hog };
        resting.serves();
        resting.gives_cpu_to(hog, INTERRUPTIBLE);
        resting.server.passes(1_000);
        resting
    }

    /// Its thread reads a request, and answers it. The last it has read is all there was.
    fn serves(&mut self) {
        self.server.machine.set_unread(self.server.socket, 0);
        self.server.reads(QUERY);
        self.answers();
    }

    fn answers(&mut self) {
        self.server.passes(10);
        self.server.sends(ANSWER);
        self.server.finds_nothing();
        self.server.passes(10);
    }

    fn arrives(&mut self) {
        self.server.capture.data_ready(&mut self.server.machine, self.server.socket, 1);
    }

    fn wakes(&mut self) {
        self.server.capture.waking(&mut self.server.machine, self.server.task, false);
    }

    /// The CPU goes to another thread; that of before leaves it for this.
    fn gives_cpu_to(&mut self, next: HostTask, state: u32) {
        let threads = (self.on_cpu, next);
        self.server.machine.run(self.on_cpu, 0);
        self.server.capture.switch(&mut self.server.machine, threads, state, state == RUNNABLE);
        self.server.machine.run(next, 0);
        self.on_cpu = next;
    }

    /// So much later its thread has the CPU, which another leaves to it.
    fn gets_cpu_after(&mut self, delay: u64) {
        self.server.passes(delay);
        let task = self.server.task;
        self.gives_cpu_to(task, RUNNABLE);
    }

    /// The others have the CPU by turns, so often, each for so long.
    fn take_turns(&mut self, turns: usize, others: &[(HostTask, u64)]) {
        for (task, length) in others.iter().copied().cycle().take(turns) {
            self.gives_cpu_to(task, RUNNABLE);
            self.server.passes(length);
        }
    }

    /// The last request.
    fn last(&mut self) -> TracedRequest {
        self.server.requests().pop().expect("it was answered")
    }
}

/// Their names, and how long they had the CPU.
fn rivals(request: &TracedRequest) -> Vec<(&str, u64)> {
    request.preemptors.iter().map(|one| (&*one.name, one.length.0)).collect()
}

fn woken(ns: u64) -> ServerQueueParts {
    ServerQueueParts { runq_woken: Nanos(ns), ..ServerQueueParts::default() }
}

#[test]
fn a_thread_that_a_request_wakes_waits_for_a_cpu_before_it_reads() {
    let mut resting = RestingServer::new(&streamed());
    resting.arrives();
    resting.wakes();
    resting.gets_cpu_after(30);
    resting.server.passes(2);
    resting.serves();
    let request = resting.last();
    assert_eq!((request.server_queue, request.queue_parts), (Some(Nanos(32)), Some(woken(30))));
    assert_eq!(rivals(&request), [("hog", 30)]);
    // The response begins with the read.
    assert_eq!(request.parts.total().unsigned_abs(), request.response().0);
}

#[test]
fn a_thread_is_pre_empted_before_it_reads() {
    let mut resting = RestingServer::new(&streamed());
    resting.arrives();
    resting.wakes();
    resting.gets_cpu_after(30);
    resting.server.passes(2);
    let hog = resting.hog;
    resting.gives_cpu_to(hog, RUNNABLE);
    resting.gets_cpu_after(50);
    resting.serves();
    let request = resting.last();
    let parts = ServerQueueParts { runq_preempted: Nanos(50), ..woken(30) };
    assert_eq!((request.server_queue, request.queue_parts), (Some(Nanos(82)), Some(parts)));
    assert_eq!(rivals(&request), [("hog", 80)]);
}

/// Who had the CPU while the request was not there yet is not known apart: nobody is named.
#[test]
fn what_a_thread_waited_for_before_the_request_came_is_not_the_requests() {
    let mut resting = RestingServer::new(&streamed());
    resting.wakes();
    resting.server.passes(70);
    resting.arrives();
    resting.gets_cpu_after(30);
    resting.serves();
    let request = resting.last();
    assert_eq!((request.server_queue, request.queue_parts), (Some(Nanos(30)), Some(woken(30))));
    assert!(rivals(&request).is_empty(), "{request:?}");
}

#[test]
fn a_share_of_the_cpus_is_used_up_before_a_request_is_read() {
    let mut resting = RestingServer::new(&streamed());
    let throttled = |resting: &mut RestingServer, ns| {
        resting.server.machine.set_throttled(&[ns, 0, 0, 0, 0, 0, 0, 0]);
    };
    throttled(&mut resting, 900);
    resting.arrives();
    resting.wakes();
    throttled(&mut resting, 5_900);
    resting.gets_cpu_after(5_300);
    resting.serves();
    let request = resting.last();
    let parts = ServerQueueParts { throttled: Nanos(5_000), ..woken(300) };
    assert_eq!((request.server_queue, request.queue_parts), (Some(Nanos(5_300)), Some(parts)));
    assert_eq!(rivals(&request), [("hog", 300)]);
    // Throttled first: the request comes when 4 000 of that are over.
    let hog = resting.hog;
    resting.gives_cpu_to(hog, INTERRUPTIBLE);
    resting.server.passes(1_000);
    resting.wakes();
    resting.server.passes(4_000);
    resting.arrives();
    throttled(&mut resting, 10_900);
    resting.gets_cpu_after(1_200);
    resting.serves();
    let parts = ServerQueueParts { throttled: Nanos(1_000), ..woken(200) };
    assert_eq!(resting.last().queue_parts, Some(parts));
}

#[test]
fn a_request_that_comes_to_a_stopped_server_waits_for_the_end_of_the_stop() {
    let mut resting = RestingServer::new(&streamed());
    let hog = resting.hog;
    resting.wakes();
    resting.gets_cpu_after(0);
    resting.gives_cpu_to(hog, STOPPED);
    resting.server.passes(400);
    resting.arrives();
    resting.server.passes(600);
    resting.wakes();
    resting.gets_cpu_after(20);
    resting.server.passes(5);
    resting.serves();
    let request = resting.last();
    let parts = ServerQueueParts { stopped: Nanos(600), ..woken(20) };
    assert_eq!((request.server_queue, request.queue_parts), (Some(Nanos(625)), Some(parts)));
    assert_eq!(rivals(&request), [("hog", 20)]);
}

/// Those are in its parts already.
#[test]
fn waits_of_the_request_before_are_none_of_the_next() {
    let mut resting = RestingServer::new(&streamed());
    let hog = resting.hog;
    resting.wakes();
    resting.gets_cpu_after(0);
    resting.server.reads(QUERY);
    resting.server.passes(5);
    resting.arrives();
    resting.gives_cpu_to(hog, RUNNABLE);
    resting.gets_cpu_after(40);
    resting.answers();
    resting.serves();
    let request = resting.last();
    let queue = request.server_queue.expect("it was seen to come");
    assert!(queue > Nanos(40), "{queue:?}");
    assert_eq!(request.queue_parts, Some(ServerQueueParts::default()));
    assert!(rivals(&request).is_empty(), "{request:?}");
}

#[test]
fn where_a_request_was_not_seen_to_come_nothing_is_known_of_its_queue() {
    let mut resting = RestingServer::new(&streamed());
    resting.wakes();
    resting.gets_cpu_after(30);
    resting.serves();
    let request = resting.last();
    assert_eq!((request.server_queue, request.queue_parts), (None, None));
    assert!(rivals(&request).is_empty(), "{request:?}");
}

#[test]
fn sums_have_what_requests_waited_for_before_they_were_read() {
    let mut resting = RestingServer::new(&CaptureConfig { adds_up: true, ..streamed() });
    for delay in [30, 70] {
        resting.arrives();
        resting.wakes();
        resting.gets_cpu_after(delay);
        resting.serves();
        let hog = resting.hog;
        resting.gives_cpu_to(hog, INTERRUPTIBLE);
        resting.server.passes(1_000);
    }
    let statements = resting.server.statements();
    let [(_, totals)] = &statements[..] else { panic!("{statements:?}") };
    assert_eq!((totals.queued, totals.server_queue), (2, Nanos(100)));
    assert_eq!(totals.queue_parts, woken(100));
}

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
