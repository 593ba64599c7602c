//! Exchanges that were under way together on a connection, with the requests that they contain:
//! nearly always one of each.

use super::joined_transaction::{JoinedStatement, JoinedWaits, StatementMatch};
use super::served_request::ServedRequest;
use super::server_answer::ServerAnswer;
use dbtime_model::exchange::StatementExchange;
use dbtime_model::traced::AnswerTaking;
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts};

/// Exchanges and the requests of the server that they contain.
#[derive(Debug, Default)]
pub(super) struct ExchangeGroup {
    exchanges: Vec<StatementExchange>,
    requests: Vec<ServedRequest>,
    /// Whether a request had arrived before the first of them was sent.
    has_earlier_arrival: bool,
    /// What the connection's next request has of an answer that was taken before.
    pub(super) next_taken: Option<AnswerTaking>,
}

impl ExchangeGroup {
    pub(super) fn clear(&mut self) {
        self.exchanges.clear();
        self.requests.clear();
        self.has_earlier_arrival = false;
        self.next_taken = None;
    }

    pub(super) fn push_exchange(&mut self, exchange: StatementExchange) {
        self.exchanges.push(exchange);
    }

    /// Adds a request that was read within the group, whose first statement was sent at `sent`.
    pub(super) fn push_request(&mut self, request: ServedRequest, sent: MonoNanos) {
        self.has_earlier_arrival |= request.arrival() < sent;
        self.requests.push(request);
    }

    /// In the order in which they were sent.
    pub(super) fn exchanges(&self) -> &[StatementExchange] {
        &self.exchanges
    }

    /// Whether the requests are those of the exchanges.
    pub(super) fn verdict(&self) -> StatementMatch {
        if self.is_contradictory() {
            StatementMatch::Ambiguous
        } else if self.requests.is_empty() || self.lacks_executions() {
            StatementMatch::Unmatched
        } else {
            StatementMatch::Matched
        }
    }

    fn is_contradictory(&self) -> bool {
        let first = self.requests.first().map(|request| request.connection);
        let transaction = self.exchanges.first().map(|exchange| exchange.transaction);
        let is_foreign = |request: &ServedRequest| Some(request.connection) != first;
        self.has_earlier_arrival
            || self.requests.iter().any(|request| request.is_aborted || is_foreign(request))
            || self.exchanges.iter().any(|exchange| Some(exchange.transaction) != transaction)
    }

    /// Whether there are more statements of the workload than are executed. A script's may prepare
    /// alone.
    fn lacks_executions(&self) -> bool {
        let statements = self.exchanges.iter().filter(|exchange| exchange.statement.is_some());
        let executions = self.requests.iter().map(|request| u64::from(request.executions));
        executions.sum::<u64>() < statements.count() as u64
    }

    /// From sending the first statement until the last answer was read, without what answers waited
    /// for the driver.
    pub(super) fn took(&self) -> Nanos {
        self.times().map(|(time, late)| time - late).sum()
    }

    /// How long each answer took, and how much of that it waited for the driver.
    fn times(&self) -> impl Iterator<Item = (Nanos, Nanos)> {
        let mut free = MonoNanos(0);
        self.exchanges.iter().map(move |exchange| {
            let time = exchange.read - exchange.sent.max(free);
            free = free.max(exchange.read);
            // An answer cannot have waited for longer than it took.
            (time, exchange.late.min(time))
        })
    }

    /// How long the last answer was in the driver's socket before it was read, without what is
    /// booked as the driver's lateness already; `None`: its arrival was not seen. Unit:
    /// nanoseconds; negative where it was read before.
    fn taking(&self) -> Option<i64> {
        let (read, arrived) = (self.exchanges.last()?.read, self.requests.last()?.answer_arrived?);
        let (_, late) = self.times().last()?;
        Some(read.0.cast_signed() - arrived.0.cast_signed() - late.signed())
    }

    /// How long of that the driver's thread waited for a CPU; `None`: that was not seen.
    pub(super) fn client_runq(&self) -> Option<Nanos> {
        let arrived = self.requests.last()?.answer_arrived?;
        let taken = self.next_taken.filter(|taken| taken.arrived == arrived)?;
        let (_, late) = self.times().last()?;
        Some(taken.runq - late)
    }

    /// Whether it was seen when the last answer came to the driver's socket.
    pub(super) fn has_arrival(&self) -> bool {
        self.requests.last().is_some_and(|last| last.answer_arrived.is_some())
    }

    /// Adds its statements, where they can be told apart, and returns all parts of them together,
    /// whose sum is what the group took; and whether they could be told apart.
    ///
    /// Each request's parts go to its own statement, or are split over its several ones
    /// ([`ServedRequest::split`]); its time in the server's queue to the first of these. Those of
    /// a request that only prepares go to the statement that is executed next. The way to and from
    /// the server goes to the first statement of the group, as far as none comes to less than
    /// nothing by that; what the driver took to read the last answer to the last.
    pub(super) fn split(
        &self,
        slices: &mut Vec<Parts>,
        statements: &mut Vec<JoinedStatement>,
    ) -> (Parts, bool) {
        let is_split = self.exchanges.len() == 1 || self.has_statement_slices();
        slices.clear();
        let server = self.add_slices(slices, is_split && self.exchanges.len() > 1);
        add_ways(slices, self.took().signed() - server.signed(), self.taking());
        let mut sum = Parts::default();
        slices.iter().for_each(|slice| sum.add_all(slice));
        match self.exchanges[..] {
            [only] => {
                let answer = ServerAnswer::of_all(&self.requests);
                let ways = (self.way_out(), self.client_runq());
                statements.push(joined(&only, slices[0], ways, answer));
            }
            _ if is_split => {
                let executing = self.requests.iter().filter(|request| request.executions > 0);
                let answers = executing.flat_map(ServerAnswer::of_each);
                let slices = self.exchanges.iter().zip(&*slices).zip(answers);
                let of_slice = |((exchange, parts), answer): ((&_, &_), _)| {
                    joined(exchange, *parts, (None, None), answer)
                };
                statements.extend(slices.map(of_slice));
            }
            _ => {}
        }
        (sum, is_split)
    }

    /// How long its first request was on its way to the server, where its arrival was seen.
    fn way_out(&self) -> Option<i64> {
        let (sent, first) = (self.exchanges.first()?.sent, self.requests.first()?);
        first.server_queue.map(|_| first.arrival().0.cast_signed() - sent.0.cast_signed())
    }

    /// Whom and what its requests waited for.
    pub(super) fn waits(&self) -> impl Iterator<Item = JoinedWaits> {
        let statement = match &self.exchanges[..] {
            [only] => only.statement,
            _ => None,
        };
        self.requests.iter().filter_map(move |request| {
            let (start, end) = (request.start, request.end());
            Some(JoinedWaits { statement, start, end, waits: request.waits.clone()? })
        })
    }

    /// Whether there is one statement of the server's for each exchange, and behind every request
    /// that only prepares the one that executes.
    fn has_statement_slices(&self) -> bool {
        let is_one = |request: &ServedRequest| request.slices() == request.executions as usize;
        let mut executing = self.requests.iter().filter(|request| request.executions > 0);
        let slices = executing.clone().map(ServedRequest::slices);
        self.requests.last().is_some_and(|last| last.executions > 0)
            && slices.sum::<usize>() == self.exchanges.len()
            && executing.all(is_one)
    }

    /// Adds the server's parts, its queue included: of each statement, or of all together. Returns
    /// their sum.
    ///
    /// What lay in the socket while the server was at the request before it counts from the end of
    /// that: no stretch counts twice. Waits of the thread that then read it go to their own parts.
    /// A request that only prepares is part of the statement that is executed next.
    fn add_slices(&self, slices: &mut Vec<Parts>, is_split: bool) -> Nanos {
        let mut server = Nanos::ZERO;
        let mut free = MonoNanos(0);
        if !is_split {
            slices.push(Parts::default());
        }
        let mut preparation = Parts::default();
        for request in &self.requests {
            let first = if is_split { slices.len() } else { 0 };
            let slice = if !is_split {
                slices[0].add_all(&request.parts);
                &mut slices[0]
            } else if request.executions == 0 {
                preparation.add_all(&request.parts);
                &mut preparation
            } else {
                request.split(slices);
                slices[first].add_all(&std::mem::take(&mut preparation));
                &mut slices[first]
            };
            let queue = request.start - request.arrival().max(free);
            if request.server_queue.is_some() {
                ServerQueueParts::divide(request.queue_parts.as_ref(), queue, slice);
                server += queue;
            }
            server += request.response;
            free = request.end();
        }
        server
    }
}

/// How long of what is booked as the driver's its thread waited for a CPU: the driver may note that
/// it has read an answer, lose its CPU, and take it then.
pub(super) fn runq_within(parts: &Parts, runq: Nanos) -> Nanos {
    runq.min(parts.duration(Part::Client))
}

/// A statement with these parts.
fn joined(
    exchange: &StatementExchange,
    parts: Parts,
    (way_out, client_runq): (Option<i64>, Option<Nanos>),
    answer: ServerAnswer,
) -> JoinedStatement {
    let took = Nanos(parts.total().max(0).cast_unsigned());
    let client_runq = client_runq.map(|runq| runq_within(&parts, runq));
    JoinedStatement { exchange: *exchange, took, parts, way_out, client_runq, answer }
}

/// Adds what lies outside of the server: what the driver took to read the last answer, where that
/// is known, to the last statement; the rest is wire. Of an answer that was read before its arrival
/// was seen both are the last statement's, which comes to no less than nothing by that.
fn add_ways(slices: &mut [Parts], mut outside: i64, taking: Option<i64>) {
    if let (Some(taking), Some(last)) = (taking, slices.last_mut()) {
        last.add(Part::Client, taking);
        let early = -taking.min(0);
        last.add(Part::Wire, early);
        outside = outside.wrapping_sub(taking + early);
    }
    add_wire(slices, outside);
}

/// Adds the way to and from the server to the first statement; what would make it less than nothing
/// goes to the next. Parts of a recording may be anything: their sums wrap.
fn add_wire(slices: &mut [Parts], mut wire: i64) {
    let count = slices.len();
    for (index, slice) in slices.iter_mut().enumerate() {
        let is_last = index + 1 == count;
        let share = if is_last { wire } else { wire.max(slice.total().wrapping_neg()) };
        slice.add(Part::Wire, share);
        wire = wire.wrapping_sub(share);
    }
}
