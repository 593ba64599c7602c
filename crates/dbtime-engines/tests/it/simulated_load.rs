//! The load loop on a simulated clock and a simulated database: hours in milliseconds, exactly.

use dbtime_engines::drive::observer::LoadSink;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, RunStop, ThreadResult};
use dbtime_engines::drive::shard::{
    AnswerDelay, Completion, CompletionKind, CompletionSource, Reactor, ScriptConnections, Shard,
    ShardClients, ShardStart, StatementConnections, StatementResult,
};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::pipelining::Pipelining;
use dbtime_load::program::SqlValue;
use dbtime_load::queue::Backlog;
use dbtime_load::results::ResultSets;
use dbtime_load::think::ThinkTime;
use dbtime_load::workload::Workload;
use dbtime_model::series::RunSecond;
use dbtime_model::{MonoNanos, Nanos, Recorder, StatementId};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex};

const MS: Nanos = Nanos::from_millis(1);
const SECOND: Nanos = Nanos::from_secs(1);

/// A database that takes `service` over each statement and stands still for a while once, and a
/// driver that is stopped for a while once.
#[derive(Default)]
struct SimReactor {
    clock: Cell<MonoNanos>,
    service: Nanos,
    stall: Option<(MonoNanos, MonoNanos)>,
    stop: Option<(MonoNanos, MonoNanos)>,
    /// The same, as it has sent a statement and does not wait yet.
    stop_at_work: Option<(MonoNanos, MonoNanos)>,
    woken_at: MonoNanos,
    answering: BinaryHeap<Reverse<(MonoNanos, u32)>>,
    /// Connections that are refused.
    refused: Vec<u32>,
    /// How many connections are served at once, as behind a pooler of sessions; the others wait
    /// until one of them is let go.
    places: Option<usize>,
    served: Vec<u32>,
    waiting: VecDeque<u32>,
    /// A connection on which each statement takes a second.
    slow: Option<u32>,
    let_go: Arc<Mutex<Vec<u32>>>,
    seen: Arc<Mutex<Vec<String>>>,
    results: ResultSets,
}

impl CompletionSource for SimReactor {
    fn now(&self) -> MonoNanos {
        self.clock.get()
    }

    fn wait(&mut self, until: MonoNanos, _: bool, events: &mut Vec<Completion>) {
        let begun = self.clock.get();
        let first = self.answering.peek().map_or(until, |Reverse((at, _))| *at);
        let mut woken = begun.max(first.min(until));
        if let Some((from, to)) = self.stop
            && from <= woken
            && woken < to
        {
            woken = to;
        }
        self.clock.set(woken);
        while let Some(&Reverse((answered_at, connection))) = self.answering.peek() {
            if answered_at > self.clock.get() {
                break;
            }
            self.answering.pop();
            let (at, kind) = (self.clock.get(), CompletionKind::Answered(StatementResult::of(1)));
            let late = AnswerDelay {
                wait: at - answered_at.max(begun),
                work: begun - answered_at,
                worked_from: self.woken_at,
            };
            events.push(Completion { connection, at, late, kind });
        }
        self.woken_at = woken;
    }
}

impl StatementConnections for SimReactor {
    fn submit(
        &mut self,
        connection: u32,
        id: StatementId,
        parameters: &[SqlValue],
        _: bool,
    ) -> Option<StatementResult> {
        if self.refused.contains(&connection) {
            let failure = DatabaseFailure::connection("refused", "too many connections");
            return Some(StatementResult::unsent(failure));
        }
        if let Some(places) = self.places
            && !self.served.contains(&connection)
        {
            if self.served.len() == places {
                self.waiting.push_back(connection);
                return None;
            }
            self.served.push(connection);
        }
        self.seen.lock().unwrap().push(format!("{id:?} {parameters:?}"));
        let service = if self.slow == Some(connection) { SECOND } else { self.service };
        let mut answers_at = self.clock.get() + service;
        if let Some((from, to)) = self.stall
            && answers_at > from
            && self.clock.get() < to
        {
            answers_at = to + self.service;
        }
        self.answering.push(Reverse((answers_at, connection)));
        if let Some((from, to)) = self.stop_at_work
            && from <= self.clock.get()
            && self.clock.get() < to
        {
            self.clock.set(to);
        }
        None
    }

    fn first_row(&self, _: u32) -> &[SqlValue] {
        &[]
    }
}

impl ScriptConnections for SimReactor {
    fn add_connection(&mut self) -> Option<u32> {
        None
    }

    /// Takes the service time for whatever it is.
    fn perform(&mut self, connection: u32, _: ConnectionOp<'_>) -> Option<StatementResult> {
        self.submit(connection, StatementId(0), &[], false)
    }

    fn results(&mut self, _: u32) -> &mut ResultSets {
        self.results.clear();
        &mut self.results
    }
}

impl Reactor for SimReactor {
    fn thread_use(&self) -> (Nanos, Option<Nanos>) {
        (Nanos::ZERO, None)
    }

    fn is_refused(&self, connection: u32) -> bool {
        self.refused.contains(&connection)
    }

    fn let_go(&mut self, connection: u32) {
        self.let_go.lock().unwrap().push(connection);
        let Some(at) = self.served.iter().position(|served| *served == connection) else { return };
        self.served.remove(at);
        if let Some(next) = self.waiting.pop_front() {
            self.served.push(next);
            self.answering.push(Reverse((self.clock.get() + self.service, next)));
        }
    }
}

struct Forget;

impl LoadSink for Forget {
    fn swap(&mut self, mut full: Box<RunSecond>) -> Box<RunSecond> {
        full.reset(0);
        full
    }
}

fn plan(demand: LoadDemand, servers: u32) -> LoadPlan {
    LoadPlan {
        workload: Arc::new(Workload::find("point-select").expect("shipped")),
        scale: 1,
        seed: 42,
        first: 0,
        demand,
        backlog: Backlog::Wait,
        concurrency: servers,
        warmup: Nanos::ZERO,
        measure: Some(Nanos::from_secs(10)),
        transactions: None,
        rundown: SECOND,
        late_start: SECOND,
        budget_every: 1,
        shards: 1,
        pipelining: Pipelining::Off,
    }
}

fn open(rate: f64) -> LoadDemand {
    LoadDemand::Open { rate: Rate::Constant(rate), arrivals: Arrivals::Poisson }
}

/// Runs all shards of a plan one after the other, each on a clock of its own.
fn simulate(plan: &LoadPlan, reactor: impl Fn() -> SimReactor) -> Recorder<u64> {
    let stop = RunStop::default();
    let start = MonoNanos(SECOND.0);
    let shards: Vec<ThreadResult> = (0..plan.shards)
        .map(|shard| {
            let reactor = reactor();
            reactor.clock.set(start);
            let sessions = plan.sessions(shard, plan.shards).expect("no script");
            let clients = ShardClients::new(reactor, sessions);
            let start = ShardStart { shard, at: start };
            Shard::new(plan, start, clients, Box::new(Forget), &stop).run().0
        })
        .collect();
    dbtime_engines::drive::plan::LoadResult::gather(plan, start, shards).recorder
}

#[test]
fn a_stall_shows_in_the_response_and_not_in_the_service() {
    let stall = (MonoNanos(4 * SECOND.0), MonoNanos(5 * SECOND.0));
    let recorder = simulate(&plan(open(1000.0), 4), || SimReactor {
        service: MS,
        stall: Some(stall),
        ..SimReactor::default()
    });
    let latencies = &recorder.operations[0].latencies;
    assert!(latencies.response.quantile(0.99) > Nanos::from_millis(800));
    assert!(latencies.service.quantile(0.99) < Nanos::from_micros(1010));
    assert!(latencies.service.max() >= SECOND, "the four caught in it took a second");
    assert!(latencies.lag.max() < MS, "the driver itself was on time");
    let quiet = recorder.quiet.as_deref().unwrap_or_default();
    assert!(quiet.iter().any(|span| span.length() >= SECOND), "{quiet:?}");
    assert!(!recorder.waiting.is_empty() && recorder.standstills.is_empty());
    assert!(recorder.counts().add_up());
}

#[test]
fn a_driver_that_was_stopped_was_late_and_the_database_was_not() {
    let stop = (MonoNanos(4 * SECOND.0), MonoNanos(5 * SECOND.0));
    let with = |stop| {
        simulate(&plan(open(1000.0), 4), || SimReactor {
            service: MS,
            stop,
            ..SimReactor::default()
        })
    };
    let (stopped, undisturbed) = (with(Some(stop)), with(None));
    let sum = |h: &dbtime_model::Histogram| h.mean_ns() * h.count() as f64 / 1e9;
    let (mine, other) = (&stopped.operations[0].latencies, &undisturbed.operations[0].latencies);
    // A thousand were due in the second, and waited half of it on average; behind it the four
    // connections carry four thousand a second, until 1333 of them were late.
    let lag = sum(&mine.lag);
    assert!((500.0..=750.0).contains(&lag), "{lag} s of lag");
    // What piled up behind the stop is lag and no queue.
    let (queue, without) = (sum(&mine.queue), sum(&other.queue));
    assert!((queue - without).abs() < 0.02 * lag, "{queue} s of queue, {without} without the stop");
    assert!(mine.service.max() < Nanos::from_micros(1010), "answers that waited are no service");
    let p99 = [&mine.without_lag, &other.response].map(|h| h.quantile(0.99).0 as f64);
    assert!((p99[0] / p99[1] - 1.0).abs() < 0.1, "{p99:?}");
    assert_eq!(stopped.standstills.len(), 1, "{:?}", stopped.standstills);
    assert_eq!(other.lag.max(), Nanos::ZERO);
}

#[test]
fn what_was_sent_before_a_stop_at_work_may_have_been_answered_in_it() {
    let stop = (MonoNanos(4 * SECOND.0), MonoNanos(5 * SECOND.0));
    let closed = LoadDemand::Closed { clients: 1, think: None };
    for (demand, servers) in [(open(1000.0), 4), (closed, 1)] {
        let plan = plan(demand, servers);
        let with = |stop_at_work| {
            simulate(&plan, || SimReactor { service: MS, stop_at_work, ..SimReactor::default() })
        };
        let (stopped, undisturbed) = (with(Some(stop)), with(None));
        assert_eq!(stopped.standstills.len(), 1, "{:?}", stopped.standstills);
        // One statement had been sent: its answer took a millisecond, and its arrival was not seen.
        let waits = stopped.standstill_waits;
        assert!((980 * MS.0..=SECOND.0).contains(&waits.0), "{waits:?} of {servers}");
        assert_eq!(undisturbed.standstill_waits, Nanos::ZERO);
    }
}

#[test]
fn the_same_seed_gives_the_same_statements_whatever_the_shards() {
    let statements = |shards, servers| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let plan = LoadPlan { shards, ..plan(open(500.0), servers) };
        simulate(&plan, || SimReactor {
            service: MS,
            seen: Arc::clone(&seen),
            ..SimReactor::default()
        });
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.sort_unstable();
        seen
    };
    let one = statements(1, 6);
    assert!(one.len() > 4000);
    assert_eq!(one, statements(2, 6));
    assert_eq!(one, statements(3, 9));
    assert_eq!(one, statements(5, 5));
}

/// As an application does not hand a request to a connection that its pool does not have.
#[test]
fn a_refused_connection_gets_nothing_while_another_is_idle() {
    let steady = |per_s| LoadDemand::Open {
        rate: Rate::Constant(per_s),
        arrivals: Arrivals::Steady { jitter: None },
    };
    let refusing = |refused: &[u32]| {
        let refused = refused.to_vec();
        move || SimReactor { service: MS, refused: refused.clone(), ..SimReactor::default() }
    };
    for refused in [&[0u32][..], &[0, 1, 2, 3, 4], &[1, 3, 5]] {
        let recorder = simulate(&plan(steady(500.0), 6), refusing(refused));
        let counts = recorder.counts();
        assert!(counts.add_up() && counts.completed >= 4999, "{refused:?}: {counts:?}");
        assert_eq!(counts.failed, 0, "{refused:?}");
        assert!(recorder.outages.is_empty(), "{:?}", recorder.outages);
    }
    // Where all others are busy, or refused too, it is tried.
    let counts = simulate(&plan(steady(2000.0), 2), refusing(&[0])).counts();
    assert!(counts.add_up() && counts.failed > 1000, "{counts:?}");
    let counts = simulate(&plan(steady(100.0), 2), refusing(&[0, 1])).counts();
    assert!(counts.add_up() && counts.completed == 0, "{counts:?}");
}

/// Behind a pooler of sessions who waits for a place has it when another client has finished, and
/// the run ends although it waits for answers for as long as it takes.
#[test]
fn finished_clients_make_room_for_those_that_were_not_served() {
    let pooled = || SimReactor { service: MS, places: Some(2), ..SimReactor::default() };
    let patient = Nanos::from_secs(365 * 24 * 3600);
    let demand = LoadDemand::Closed { clients: 7, think: None };
    let timed = LoadPlan { rundown: patient, ..plan(demand.clone(), 7) };
    let counts = simulate(&timed, pooled).counts();
    assert!(counts.add_up() && counts.unfinished == 0, "{counts:?}");
    // Two were served all the time, and each of the others once.
    assert!((19_990..=20_010).contains(&counts.completed), "{counts:?}");
    let counted = LoadPlan { measure: None, transactions: Some(50), ..plan(demand, 7) };
    assert_eq!(simulate(&counted, pooled).counts().completed, 50);
    let at_once = LoadDemand::Open { rate: Rate::Constant(1.0), arrivals: Arrivals::AtOnce };
    let counted = LoadPlan { measure: None, transactions: Some(60), ..plan(at_once, 6) };
    assert_eq!(simulate(&counted, pooled).counts().completed, 60);
}

/// The last client goes on with the connection that it has: one that was let go would have to be
/// made anew for each of its transactions.
#[test]
fn what_was_let_go_is_not_made_again_while_another_is_there() {
    let let_go: Arc<Mutex<Vec<u32>>> = Arc::default();
    let uneven = || SimReactor {
        service: MS,
        slow: Some(2),
        let_go: Arc::clone(&let_go),
        ..SimReactor::default()
    };
    let demand = LoadDemand::Closed { clients: 3, think: None };
    let counted = LoadPlan { measure: None, transactions: Some(60), ..plan(demand, 3) };
    assert_eq!(simulate(&counted, uneven).counts().completed, 60);
    // Each once, and the one in use when all is over.
    assert_eq!(*let_go.lock().unwrap(), [0, 1, 2]);
}

#[test]
fn queueing_is_what_theory_says() {
    // M/D/1 at half load: the mean wait is ρ·s/(2(1−ρ)) = 0.5 ms for a service of 1 ms.
    let long = LoadPlan { measure: Some(Nanos::from_secs(2000)), ..plan(open(500.0), 1) };
    let recorder = simulate(&long, || SimReactor { service: MS, ..SimReactor::default() });
    let latencies = &recorder.operations[0].latencies;
    let wait = latencies.queue.mean_ns() / 1e6;
    assert!((wait - 0.5).abs() < 0.02, "mean wait {wait} ms");
    assert!(recorder.counts().add_up());
}

#[test]
fn overload_is_counted_by_policy() {
    let overloaded = |backlog| LoadPlan { backlog, ..plan(open(1000.0), 1) };
    let half = || SimReactor { service: Nanos::from_millis(2), ..SimReactor::default() };
    let waits = simulate(&overloaded(Backlog::Wait), half).counts();
    assert!(waits.add_up() && waits.dropped == 0 && waits.unfinished > 4000, "{waits:?}");
    let drops = simulate(&overloaded(Backlog::Drop), half).counts();
    assert!(drops.add_up() && drops.dropped > 4000 && drops.unfinished == 0, "{drops:?}");
    let deadline = overloaded(Backlog::Deadline(Nanos::from_millis(50)));
    let recorder = simulate(&deadline, half);
    assert!(recorder.counts().add_up() && recorder.counts().dropped > 4000);
    assert!(recorder.operations[0].latencies.queue.max() <= Nanos::from_micros(50_050));
}

#[test]
fn think_time_and_pool_obey_littles_law() {
    // 20 clients, 10 ms service, 90 ms think, enough workers: X = N/(R+Z) = 200/s.
    let think = Some(ThinkTime::Fixed(Nanos::from_millis(90)));
    let demand = LoadDemand::Closed { clients: 20, think };
    let slow = || SimReactor { service: Nanos::from_millis(10), ..SimReactor::default() };
    let recorder = simulate(&plan(demand.clone(), 20), slow);
    let rate = recorder.counts().completed as f64 / 10.0;
    assert!((rate - 200.0).abs() < 4.0, "{rate}/s");
    // One worker carries 100/s; the other clients wait for it.
    let recorder = simulate(&plan(demand, 1), slow);
    let rate = recorder.counts().completed as f64 / 10.0;
    assert!((rate - 100.0).abs() < 2.0, "{rate}/s");
    assert!(recorder.operations[0].latencies.queue.quantile(0.5) > Nanos::from_millis(50));
    assert!(recorder.counts().add_up());
}

#[test]
fn clients_given_up_at_the_end_are_unfinished_and_the_run_ends() {
    // 100 clients behind one worker of 100 ms: the rundown of 1 s serves ten of those who wait.
    let demand = LoadDemand::Closed { clients: 100, think: None };
    let crowded = LoadPlan { measure: Some(Nanos::from_millis(500)), ..plan(demand, 1) };
    let slow = || SimReactor { service: Nanos::from_millis(100), ..SimReactor::default() };
    let counts = simulate(&crowded, slow).counts();
    assert!(counts.add_up() && counts.unfinished > 80, "{counts:?}");
}

#[test]
fn a_number_of_transactions_is_kept_to_the_last() {
    let demand = LoadDemand::Closed { clients: 7, think: None };
    let counted = LoadPlan { measure: None, transactions: Some(101), shards: 3, ..plan(demand, 7) };
    let recorder = simulate(&counted, || SimReactor { service: MS, ..SimReactor::default() });
    assert_eq!(recorder.counts().completed, 101);
    let at_once = LoadDemand::Open { rate: Rate::Constant(1.0), arrivals: Arrivals::AtOnce };
    let counted = LoadPlan { measure: None, transactions: Some(80), ..plan(at_once, 4) };
    let recorder = simulate(&counted, || SimReactor { service: MS, ..SimReactor::default() });
    assert_eq!(recorder.counts().completed, 80);
    // 80 requests, four at a time, 1 ms each: the k-th four end after k ms, so the mean is 10.5.
    let mean = recorder.operations[0].latencies.response.mean_ns() / 1e6;
    assert!((mean - 10.5).abs() < 0.02, "{mean} ms");
}
