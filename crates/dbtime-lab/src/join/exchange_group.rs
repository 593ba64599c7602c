//! Exchanges that were under way together on a connection, with the requests that they contain:
//! nearly always one of each.

use super::joined_transaction::{JoinedStatement, JoinedWaits, StatementMatch};
use super::served_request::ServedRequest;
use super::server_answer::ServerAnswer;
use dbtime_model::exchange::StatementExchange;
use dbtime_model::traced::AnswerTaking;
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts};

/// What became of a group's statements together.
pub(super) struct SplitGroup {
    /// All parts of them, whose sum is what the group took.
    pub parts: Parts,
    /// How much of the driver's lateness is in other parts too.
    pub twice: Nanos,
    /// Whether they could be told apart.
    pub is_split: bool,
}

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

    /// What lies outside of the server, whose parts come to so much, from sending the first
    /// statement until the last answer was read.
    fn outside(&self, server: Nanos) -> OutsideTimes {
        let (mut span, mut late) = (Nanos::ZERO, Nanos::ZERO);
        for (time, of_it) in self.times() {
            span += time;
            late += of_it;
        }
        let ways = span.signed() - server.signed();
        let last_read = self.exchanges.last().map(|last| last.read);
        match self.arrived().zip(last_read) {
            Some((arrived, read)) => {
                let (taking, waited) = (read - arrived, self.late_since(arrived));
                let wire = ways.wrapping_sub(taking.signed());
                OutsideTimes { wire, client: Some(taking - waited), twice: late - waited }
            }
            // The way goes on until the answer was read. That of two hosts is known by durations.
            None => {
                let waited = late.min(Nanos(ways.max(0).cast_unsigned()));
                let wire = ways - waited.signed();
                OutsideTimes { wire, client: None, twice: late - waited }
            }
        }
    }

    /// When the last answer came to the driver's socket; `None`: that was not seen, or only after
    /// it had been read.
    fn arrived(&self) -> Option<MonoNanos> {
        let read = self.exchanges.last()?.read;
        self.requests.last()?.answer_arrived.filter(|arrived| *arrived <= read)
    }

    /// How much of the driver's lateness lies between this instant and the reading of the last
    /// answer.
    fn late_since(&self, since: MonoNanos) -> Nanos {
        let Some(last_read) = self.exchanges.last().map(|last| last.read) else {
            return Nanos::ZERO;
        };
        let within = |(exchange, (_, late)): (&StatementExchange, (Nanos, Nanos))| {
            exchange.read.min(last_read) - (exchange.read - late).max(since)
        };
        self.exchanges.iter().zip(self.times()).map(within).sum()
    }

    /// How long the driver's thread waited for a CPU with the last answer in its socket, beyond
    /// what is booked as its lateness; `None`: that was not seen.
    pub(super) fn client_runq(&self) -> Option<Nanos> {
        let arrived = self.requests.last()?.answer_arrived?;
        let taken = self.next_taken.filter(|taken| taken.arrived == arrived)?;
        Some(taken.runq - self.late_since(arrived))
    }

    /// Whether it was seen when the last answer came to the driver's socket.
    pub(super) fn has_arrival(&self) -> bool {
        self.requests.last().is_some_and(|last| last.answer_arrived.is_some())
    }

    /// Adds its statements, where they can be told apart, and returns all parts of them together.
    ///
    /// Each request's parts go to its own statement, or are split over its several ones
    /// ([`ServedRequest::split`]); its time in the server's queue to the first of these. Those of
    /// a request that only prepares go to the statement that is executed next. The way to and from
    /// the server goes to the first statement of the group, as far as none comes to less than
    /// nothing by that, and likewise what counts twice; what the driver took to read the last
    /// answer goes to the last.
    pub(super) fn split(
        &self,
        slices: &mut Vec<Parts>,
        statements: &mut Vec<JoinedStatement>,
    ) -> SplitGroup {
        let is_split = self.exchanges.len() == 1 || self.has_statement_slices();
        slices.clear();
        let server = self.add_slices(slices, is_split && self.exchanges.len() > 1);
        let outside = self.outside(server);
        let twice = outside.twice;
        let shares = outside.add_to(slices);
        let mut sum = Parts::default();
        slices.iter().for_each(|slice| sum.add_all(slice));
        match self.exchanges[..] {
            [only] => {
                let answer = ServerAnswer::of_all(&self.requests);
                let ways = (self.way_out(), self.client_runq());
                statements.push(joined(&only, (slices[0], twice), ways, answer));
            }
            _ if is_split => {
                let executing = self.requests.iter().filter(|request| request.executions > 0);
                let answers = executing.flat_map(ServerAnswer::of_each);
                let shares = shares.into_iter().chain(std::iter::repeat(Nanos::ZERO));
                let slices = self.exchanges.iter().zip(slices.iter().copied().zip(shares));
                let of_slice =
                    |((exchange, slice), answer)| joined(exchange, slice, (None, None), answer);
                statements.extend(slices.zip(answers).map(of_slice));
            }
            _ => {}
        }
        SplitGroup { parts: sum, twice, is_split }
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

/// A statement with these parts, and so much in two of them at once.
fn joined(
    exchange: &StatementExchange,
    (parts, twice): (Parts, Nanos),
    (way_out, client_runq): (Option<i64>, Option<Nanos>),
    answer: ServerAnswer,
) -> JoinedStatement {
    let took = Nanos(parts.total().max(0).cast_unsigned());
    let client_runq = client_runq.map(|runq| runq_within(&parts, runq));
    JoinedStatement { exchange: *exchange, took, parts, way_out, client_runq, twice, answer }
}

/// What lies outside of the server.
///
/// The driver books as its lateness how long its thread had no CPU before it read an answer. Part
/// of that may have been before the answer came, when the server still worked at it, or was at the
/// next statement of a pipeline: so much counts twice.
struct OutsideTimes {
    /// The ways to and from the server: between instants that both sides have noted. Unit:
    /// nanoseconds; negative where the driver had the answer before the server's call was over that
    /// sent it.
    wire: i64,
    /// From the last answer's arrival in the driver's socket until it was read, without the
    /// driver's lateness; `None`: the arrival was not seen.
    client: Option<Nanos>,
    /// The driver's lateness that is in other parts too.
    twice: Nanos,
}

impl OutsideTimes {
    /// Adds them to the statements' parts. What counts twice no part has too little of: it is what
    /// the parts explain beyond the whole. Returns how much of that each statement has, where there
    /// is any.
    fn add_to(self, slices: &mut [Parts]) -> Vec<Nanos> {
        if let (Some(client), Some(last)) = (self.client, slices.last_mut()) {
            last.add(Part::Client, client.signed());
        }
        spread(slices, Part::Wire, self.wire);
        if self.twice == Nanos::ZERO {
            return Vec::new();
        }
        let unexplained = |slices: &[Parts]| -> Vec<i64> {
            slices.iter().map(|slice| slice.get(Part::Unexplained)).collect()
        };
        let before = unexplained(slices);
        spread(slices, Part::Unexplained, -self.twice.signed());
        let less = before.into_iter().zip(unexplained(slices));
        less.map(|(was, is)| Nanos(was.wrapping_sub(is).max(0).cast_unsigned())).collect()
    }
}

/// Adds a part to the first statement; what would make it less than nothing goes to the next. Parts
/// of a recording may be anything: their sums wrap.
fn spread(slices: &mut [Parts], part: Part, mut rest: i64) {
    let count = slices.len();
    for (index, slice) in slices.iter_mut().enumerate() {
        let is_last = index + 1 == count;
        let share = if is_last { rest } else { rest.max(slice.total().wrapping_neg()) };
        slice.add(part, share);
        rest = rest.wrapping_sub(share);
    }
}
