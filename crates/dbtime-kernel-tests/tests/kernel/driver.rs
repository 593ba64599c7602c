//! Beside a run: when answers came to the driver's sockets, and how long the thread that took them
//! had no CPU.

use super::parts::{ANSWER, QUERY};
use super::server::{WatchedServer, streamed};
use dbtime_kernel_tests::{HostSocket, HostTask};
use dbtime_model::traced::AnswerTaking;
use dbtime_model::{MonoNanos, Nanos, WireProtocol};
use dbtime_observe::trace::CaptureConfig;

const DRIVER: u32 = 300;
/// The server's, and the other end's.
const PORTS: (u16, u16) = (5000, 40_000);
/// A thread that sleeps.
const INTERRUPTIBLE: u32 = 1;

/// A server, and a client of it.
struct DrivenServer {
    server: WatchedServer,
    driver: HostTask,
    client: HostSocket,
}

impl DrivenServer {
    /// The client's process has this number, and has read a greeting and what followed that.
    fn new(process: u32) -> Self {
        let config = CaptureConfig { driver: Some(DRIVER), ..streamed() };
        let mut server = WatchedServer::new(WireProtocol::Postgres, &config);
        let driver = server.machine.task(process, None, "shard");
        let client = server.machine.socket(PORTS.1, PORTS.0);
        let mut driven = Self { server, driver, client };
        for _ in 0..2 {
            driven.arrives();
            driven.takes();
        }
        driven
    }

    /// Bytes come to the client's socket. Returns when.
    fn arrives(&mut self) -> MonoNanos {
        self.server.passes(10);
        self.server.capture.data_ready(&mut self.server.machine, self.client, 1);
        MonoNanos(self.server.machine.clock())
    }

    /// The client reads them.
    fn takes(&mut self) {
        self.server.machine.run(self.driver, 1);
        let at = (self.driver, self.client);
        self.server.capture.read(&mut self.server.machine, at, ANSWER);
        self.server.machine.run(self.server.task, 0);
    }

    /// The client's thread sleeps from here on.
    fn sleeps(&mut self) {
        let threads = (self.driver, self.server.idle);
        self.server.capture.switch(&mut self.server.machine, threads, INTERRUPTIBLE, false);
    }

    /// It is woken, and has a CPU so much later.
    fn wakes_after(&mut self, delay: u64) {
        self.server.capture.waking(&mut self.server.machine, self.driver, false);
        self.server.passes(delay);
        let threads = (self.server.idle, self.driver);
        self.server.capture.switch(&mut self.server.machine, threads, 0, false);
    }

    /// It loses the CPU, and gets it back so much later.
    fn is_preempted_for(&mut self, delay: u64) {
        let (driver, idle) = (self.driver, self.server.idle);
        self.server.capture.switch(&mut self.server.machine, (driver, idle), 0, true);
        self.server.passes(delay);
        self.server.capture.switch(&mut self.server.machine, (idle, driver), 0, false);
    }

    /// The server serves a request whose answer has these pieces: of each whether its arrival is
    /// seen. Returns when the last was that was.
    fn serves(&mut self, pieces: &[bool]) -> Option<MonoNanos> {
        let mut arrived = None;
        self.server.reads(QUERY);
        let length = ANSWER.len().div_ceil(pieces.len());
        for (piece, is_seen) in ANSWER.chunks(length).zip(pieces) {
            arrived = if *is_seen { Some(self.arrives()) } else { arrived };
            self.server.passes(10);
            self.server.sends(piece);
        }
        arrived
    }
}

#[test]
fn an_answer_arrives_before_its_send_is_over_and_is_taken_later() {
    let mut driven = DrivenServer::new(DRIVER);
    driven.sleeps();
    let arrived = driven.serves(&[true]);
    driven.wakes_after(70);
    driven.server.passes(5);
    driven.is_preempted_for(20);
    driven.server.finds_nothing();
    driven.takes();
    driven.server.passes(100);
    driven.serves(&[true]);
    driven.server.finds_nothing();

    let [first, second] = &driven.server.requests()[..] else { panic!("two were served") };
    assert_eq!(first.answer_arrived, arrived);
    assert_eq!(first.end, arrived.expect("it was seen") + Nanos(10));
    // What was taken before it was no request of the trace.
    assert_ne!(first.taken.map(|taken| taken.arrived), arrived);
    let taken = AnswerTaking { arrived: arrived.expect("it was seen"), runq: Nanos(90) };
    assert_eq!(second.taken, Some(taken));
}

#[test]
fn a_wait_for_a_cpu_counts_from_the_arrival_on() {
    let mut driven = DrivenServer::new(DRIVER);
    driven.sleeps();
    // Something else has woken it, 10 ns before the answer comes.
    driven.server.reads(QUERY);
    driven.server.capture.waking(&mut driven.server.machine, driven.driver, false);
    driven.arrives();
    driven.wakes_after(30);
    driven.server.sends(ANSWER);
    driven.takes();
    driven.serves(&[true]);
    driven.server.finds_nothing();
    let requests = driven.server.requests();
    assert_eq!(requests[1].taken.map(|taken| taken.runq), Some(Nanos(30)));
}

#[test]
fn the_arrival_of_an_earlier_piece_is_not_that_of_the_answer() {
    for (pieces, is_known) in
        [(&[true, true][..], true), (&[true, false], false), (&[false], false)]
    {
        let mut driven = DrivenServer::new(DRIVER);
        let arrived = driven.serves(pieces);
        driven.takes();
        driven.server.finds_nothing();
        driven.serves(&[true]);
        driven.server.finds_nothing();
        let requests = driven.server.requests();
        let expected = arrived.filter(|_| is_known);
        assert_eq!(requests[0].answer_arrived, expected, "{pieces:?}");
    }
}

#[test]
fn nothing_is_seen_of_clients_that_are_not_the_drivers() {
    let mut driven = DrivenServer::new(DRIVER + 1);
    driven.serves(&[true]);
    driven.server.finds_nothing();
    driven.takes();
    driven.serves(&[true]);
    driven.server.finds_nothing();
    let requests = driven.server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.answer_arrived.is_none()));
    assert!(requests.iter().all(|request| request.taken.is_none()));
    assert!(driven.server.machine.rows("client_names", 0).is_empty());
}
