//! What the thread that is to read a request waits for before it does.

use super::parts::{ANSWER, QUERY, read_behind};
use super::random_timeline::{Purpose, timelines};
use super::server::{WatchedServer, streamed};
use super::timeline::{ThreadState, UNIT};
use dbtime_kernel_tests::HostTask;
use dbtime_model::traced::TracedRequest;
use dbtime_model::{Nanos, Part, ServerQueueParts, WireProtocol};
use dbtime_observe::trace::CaptureConfig;
use proptest::prelude::*;

/// For what a thread leaves its CPU: `prev_state` of the kernel.
const RUNNABLE: u32 = 0;
pub(crate) const INTERRUPTIBLE: u32 = 1;
pub(crate) const STOPPED: u32 = 4;

/// A server whose thread has answered a request, and sleeps until the next one. Others have its
/// CPU.
pub(crate) struct RestingServer {
    pub(crate) server: WatchedServer,
    /// Has the CPU now.
    on_cpu: HostTask,
    pub(crate) hog: HostTask,
}

impl RestingServer {
    pub(crate) fn new(config: &CaptureConfig) -> Self {
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
    pub(crate) fn serves(&mut self) {
        self.server.machine.set_unread(self.server.socket, 0);
        self.server.reads(QUERY);
        self.answers();
    }

    pub(crate) fn answers(&mut self) {
        self.server.passes(10);
        self.server.sends(ANSWER);
        self.server.finds_nothing();
        self.server.passes(10);
    }

    pub(crate) fn arrives(&mut self) {
        self.server.capture.data_ready(&mut self.server.machine, self.server.socket, 1);
    }

    pub(crate) fn wakes(&mut self) {
        self.server.capture.waking(&mut self.server.machine, self.server.task, false);
    }

    /// The CPU goes to another thread; that of before leaves it for this.
    pub(crate) fn gives_cpu_to(&mut self, next: HostTask, state: u32) {
        let threads = (self.on_cpu, next);
        self.server.machine.run(self.on_cpu, 0);
        self.server.capture.switch(&mut self.server.machine, threads, state, state == RUNNABLE);
        self.server.machine.run(next, 0);
        self.on_cpu = next;
    }

    /// So much later its thread has the CPU, which another leaves to it.
    pub(crate) fn gets_cpu_after(&mut self, delay: u64) {
        self.server.passes(delay);
        let task = self.server.task;
        self.gives_cpu_to(task, RUNNABLE);
    }

    /// The others have the CPU by turns, so often, each for so long.
    pub(crate) fn take_turns(&mut self, turns: usize, others: &[(HostTask, u64)]) {
        for (task, length) in others.iter().copied().cycle().take(turns) {
            self.gives_cpu_to(task, RUNNABLE);
            self.server.passes(length);
        }
    }

    /// The last request.
    pub(crate) fn last(&mut self) -> TracedRequest {
        self.server.requests().pop().expect("it was answered")
    }
}

/// Their names, and how long they had the CPU.
pub(crate) fn rivals(request: &TracedRequest) -> Vec<(&str, u64)> {
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

/// How many waits for a CPU and stops there are in these letters.
fn waits(letters: &[ThreadState]) -> usize {
    let kind = |state: &ThreadState| match state {
        ThreadState::Preempted | ThreadState::Woken | ThreadState::Throttled => 1,
        ThreadState::Stopped | ThreadState::Frozen => 2,
        _ => 0,
    };
    let kinds: Vec<u8> = letters.iter().map(kind).collect();
    kinds.chunk_by(|one, other| one == other).filter(|chunk| chunk[0] > 0).count()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// As far as the thread's waits are kept: the latest four.
    #[test]
    fn what_is_waited_for_before_a_read_are_the_letters_behind_the_arrival(
        timeline in timelines(Purpose::Request),
        arrival: prop::sample::Index,
    ) {
        let arrival = arrival.index(timeline.length());
        let behind = &timeline.rows[0][arrival..];
        let request = read_behind(&timeline, arrival);
        let whole = UNIT * behind.len() as u64;
        prop_assert_eq!(request.server_queue, Some(Nanos(whole)), "{:?}", timeline);
        let letters = |kinds: &[ThreadState]| {
            Nanos(UNIT * behind.iter().filter(|state| kinds.contains(state)).count() as u64)
        };
        let expected = ServerQueueParts {
            runq_preempted: letters(&[ThreadState::Preempted]),
            runq_woken: letters(&[ThreadState::Woken]),
            throttled: letters(&[ThreadState::Throttled]),
            stopped: letters(&[ThreadState::Stopped, ThreadState::Frozen]),
        };
        let found = request.queue_parts.expect("it was seen to come");
        let runq = request.parts.get(Part::RunqPreempted) + request.parts.get(Part::RunqWoken);
        let runq = found.runq_preempted + found.runq_woken + Nanos(runq.unsigned_abs());
        let named: Nanos = request.preemptors.iter().map(|one| one.length).sum();
        prop_assert!(named <= runq, "{:?} of {:?} in {:?}", request.preemptors, found, timeline);
        if waits(behind) <= 4 {
            prop_assert_eq!(found, expected, "{} of {:?}", arrival, timeline);
        }
        for (found, expected) in found.named().into_iter().zip(expected.named()) {
            prop_assert!(found.1 <= expected.1, "{:?} of {} of {:?}", found, arrival, timeline);
        }
    }
}
