//! Random timelines of both sides, made from a true assignment of requests to statements.

use super::fixtures::{driven, exchange, several, traced};
use dbtime_model::exchange::{DrivenTransaction, StatementExchange};
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Nanos, Part, Parts};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const PREPARE: u8 = 0x16;

/// How long things take. Unit: nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    /// Of the driver before it sends.
    client: u64,
    /// From sending until arrival.
    out: u64,
    /// Unread in the socket, once the server is free.
    queue: u64,
    /// Whether the server's queue is known.
    is_queue_known: bool,
    /// From the read to the last write.
    response: u64,
    cpu: u64,
    /// From the last write until the answer was read.
    back: i64,
    /// How long the answer waited for the driver, as far as it knows.
    late: u64,
    /// From the last write until the answer's arrival, where that is known.
    arrival: Option<i64>,
}

/// What happens next on a connection.
#[derive(Clone, Debug)]
pub(super) enum TimelineStep {
    /// One statement, prepared so many times before it is executed.
    Single(Vec<Delays>),
    /// Statements under way together, each prepared so many times before it is executed.
    Pipeline(Vec<Vec<Delays>>),
    /// Statements under way together that are one request, with their lengths.
    Batch(Delays, Vec<u64>),
    /// A request that is no statement.
    Outside(Delays),
}

/// What comes of one side of one connection, in its order.
#[derive(Clone, Debug)]
pub(super) enum SideEvent {
    Sent(StatementExchange),
    Over(DrivenTransaction),
    Served(Box<TracedRequest>),
}

/// All connections' sides, and the true parts of each transaction.
#[derive(Debug, Default)]
pub(super) struct Timelines {
    pub(super) sides: Vec<VecDeque<SideEvent>>,
    pub(super) truth: BTreeMap<u64, Parts>,
    pub(super) statements: u64,
    /// Of these, those of whose answers the arrival is known.
    pub(super) arrived: u64,
    pub(super) outside: u64,
    /// The requests that execute something, by their transactions and starts.
    pub(super) executing: Vec<(u64, MonoNanos)>,
}

/// One connection while it is made up.
struct ConnectionScript {
    connection: u16,
    present: u64,
    /// When the server is free.
    free: u64,
    requests: VecDeque<SideEvent>,
    /// Statements under way together, and when the server had served those before.
    group: Vec<StatementExchange>,
    served: u64,
    parts: Parts,
}

fn delays() -> impl Strategy<Value = Delays> {
    let times = (0..30u64, 0..20u64, 0..20u64, 0..60u64, 0..70u64);
    let back = (-20..20i64, 0..30u64, prop::option::of(-20..30i64));
    (times, any::<bool>(), back).prop_map(|(times, is_queue_known, (back, late, arrival))| {
        let (client, out, queue, response, cpu) = times;
        Delays { client, out, queue, is_queue_known, response, cpu, back, late, arrival }
    })
}

fn step() -> impl Strategy<Value = TimelineStep> {
    prop_oneof![
        4 => vec(delays(), 1..4).prop_map(TimelineStep::Single),
        2 => vec(vec(delays(), 1..3), 2..5).prop_map(TimelineStep::Pipeline),
        2 => (delays(), vec(1..50u64, 2..5))
            .prop_map(|(delays, lengths)| TimelineStep::Batch(delays, lengths)),
        1 => delays().prop_map(TimelineStep::Outside),
    ]
}

/// Connections of transactions of steps.
pub(super) fn connections() -> impl Strategy<Value = Vec<Vec<Vec<TimelineStep>>>> {
    vec(vec(vec(step(), 0..4), 0..6), 1..4)
}

impl ConnectionScript {
    /// The server serves a request that arrives then. Returns when its answer's write is over.
    fn serve(&mut self, arrival: u64, delays: &Delays, of: impl FnOnce(&mut TracedRequest)) -> u64 {
        let start = arrival.max(self.free) + delays.queue;
        let end = start + delays.response;
        let queue = delays.is_queue_known.then_some(start - arrival);
        let mut request = traced(self.connection, (start, end), queue, delays.cpu);
        of(&mut request);
        self.requests.push_back(SideEvent::Served(Box::new(request)));
        let since = if delays.is_queue_known { arrival.max(self.served) } else { start };
        self.parts.add(Part::Cpu, delays.cpu as i64);
        self.parts.add(Part::Unexplained, delays.response as i64 - delays.cpu as i64);
        if delays.is_queue_known {
            self.parts.add(Part::ServerQueue, (start - since) as i64);
        }
        (self.free, self.served) = (end, end);
        since
    }

    /// An answer is read after the last write, or a little before that is over.
    fn read(&mut self, transaction: u64, sent: u64, delays: &Delays) {
        let Some(SideEvent::Served(last)) = self.requests.back() else { unreachable!() };
        let before = self.group.last().map_or(sent, |exchange| exchange.read.0);
        let read = self.free.saturating_add_signed(delays.back).max(last.start.0 + 1).max(before);
        let late = Nanos(delays.late.min(read - before));
        let exchange =
            StatementExchange { transaction, late, ..exchange(self.connection, sent, read) };
        self.group.push(exchange);
        self.present = read;
    }

    /// The last answer arrives: from there on it is the driver's, and no longer on its way. What
    /// the driver took for its lateness before that counts twice; where the arrival is not known,
    /// what is more than the ways, which are so long.
    fn arrive(&mut self, delays: &Delays, ways: i64) {
        let Some(SideEvent::Served(request)) = self.requests.back_mut() else {
            unreachable!("a request was served");
        };
        let (ended, read) = (self.free, self.present);
        let arrived = delays.arrival.map(|offset| ended.saturating_add_signed(offset));
        request.answer_arrived = arrived.map(MonoNanos);
        let late: u64 = self.group.iter().map(|exchange| exchange.late.0).sum();
        let waited = match arrived.filter(|arrived| *arrived <= read) {
            Some(arrived) => {
                let since = |exchange: &StatementExchange| {
                    let until = exchange.read.0;
                    until.saturating_sub((until - exchange.late.0).max(arrived))
                };
                let waited: u64 = self.group.iter().map(since).sum();
                self.parts.add(Part::Client, (read - arrived - waited) as i64);
                self.parts.add(Part::Wire, -((read - arrived) as i64));
                waited
            }
            None => {
                let waited = late.min(ways.max(0) as u64);
                self.parts.add(Part::Wire, -(waited as i64));
                waited
            }
        };
        self.parts.add(Part::Unexplained, waited as i64 - late as i64);
    }

    /// The wire of requests from `sent` on that arrived at the first of each pair and ended at the
    /// second, until the last answer was read. Returns it.
    fn add_wire(&mut self, sent: u64, requests: &[(u64, u64)]) -> i64 {
        let (mut at, mut ways) = (sent, 0);
        for (since, end) in requests {
            ways += *since as i64 - at as i64;
            at = *end;
        }
        ways += self.present as i64 - at as i64;
        self.parts.add(Part::Wire, ways);
        ways
    }
}

impl Timelines {
    pub(super) fn new(connections: &[Vec<Vec<TimelineStep>>]) -> Self {
        let mut timelines = Self::default();
        for (index, transactions) in connections.iter().enumerate() {
            timelines.add_connection(index as u16 + 1, transactions);
        }
        timelines
    }

    fn add_connection(&mut self, connection: u16, transactions: &[Vec<TimelineStep>]) {
        let (requests, group) = (VecDeque::new(), Vec::new());
        let parts = Parts::default();
        let mut script = ConnectionScript {
            connection,
            present: 1000,
            free: 0,
            requests,
            group,
            served: 0,
            parts,
        };
        let mut driver = VecDeque::new();
        for (index, steps) in transactions.iter().enumerate() {
            let number = u64::from(connection) * 1000 + index as u64;
            let mut exchanges = Vec::new();
            script.parts = Parts::default();
            for step in steps {
                self.add_step(&mut script, number, step);
                exchanges.append(&mut script.group);
            }
            let over = driven(number, &exchanges, 5);
            self.truth.insert(number, script.parts);
            self.statements += exchanges.len() as u64;
            driver.extend(exchanges.into_iter().map(SideEvent::Sent));
            driver.push_back(SideEvent::Over(over));
        }
        // Without a statement the driver's connection is not known as its own.
        let is_known = driver.iter().any(|event| matches!(event, SideEvent::Sent(_)));
        if !is_known {
            script.requests.clear();
            self.outside -= transactions.concat().len() as u64;
        }
        self.sides.extend([driver, script.requests]);
    }

    fn add_step(&mut self, script: &mut ConnectionScript, number: u64, step: &TimelineStep) {
        let first = script.requests.len();
        script.served = 0;
        match step {
            TimelineStep::Single(requests) => add_single(script, number, requests),
            TimelineStep::Pipeline(statements) => add_pipeline(script, number, statements),
            TimelineStep::Batch(delays, lengths) => add_batch(script, number, delays, lengths),
            TimelineStep::Outside(delays) => {
                let parts = script.parts;
                let arrival = script.present + delays.client;
                script.serve(arrival, delays, |_| {});
                // Nothing takes no time at all.
                (script.parts, script.present) = (parts, script.free + 1);
                self.outside += 1;
                return;
            }
        }
        if let Some(SideEvent::Served(last)) = script.requests.back()
            && last.answer_arrived.is_some()
        {
            self.arrived += script.group.len() as u64;
        }
        for event in script.requests.iter().skip(first) {
            if let SideEvent::Served(request) = event
                && request.command != PREPARE
            {
                self.executing.push((number, request.start));
            }
        }
    }
}

fn add_single(script: &mut ConnectionScript, number: u64, requests: &[Delays]) {
    let sent = script.present + requests[0].client;
    let (mut at, mut spans) = (sent, Vec::new());
    for (index, delays) in requests.iter().enumerate() {
        let is_last = index + 1 == requests.len();
        let since = script.serve(at + delays.out, delays, |request| {
            request.command = if is_last { 3 } else { PREPARE };
        });
        spans.push((since, script.free));
        at = script.free;
    }
    script.read(number, sent, &requests[requests.len() - 1]);
    let ways = script.add_wire(sent, &spans);
    script.arrive(&requests[requests.len() - 1], ways);
}

fn add_pipeline(script: &mut ConnectionScript, number: u64, statements: &[Vec<Delays>]) {
    let sent = script.present + statements[0][0].client;
    let mut spans = Vec::new();
    for requests in statements {
        for (index, delays) in requests.iter().enumerate() {
            let is_last = index + 1 == requests.len();
            let since = script.serve(sent + delays.out, delays, |request| {
                request.command = if is_last { 3 } else { PREPARE };
            });
            spans.push((since, script.free));
        }
        // What is under way behind an answer is not over when that is read.
        script.read(number, sent, &requests[requests.len() - 1]);
    }
    let ways = script.add_wire(sent, &spans);
    script.arrive(&statements[statements.len() - 1][0], ways);
}

fn add_batch(script: &mut ConnectionScript, number: u64, delays: &Delays, lengths: &[u64]) {
    let sent = script.present + delays.client;
    let lengths: Vec<Option<u64>> = lengths.iter().copied().map(Some).collect();
    let since = script.serve(sent + delays.out, delays, |request| {
        *request = several(request.clone(), &lengths);
    });
    let span = (since, script.free);
    lengths.iter().for_each(|_| script.read(number, sent, delays));
    let ways = script.add_wire(sent, &[span]);
    script.arrive(delays, ways);
}
