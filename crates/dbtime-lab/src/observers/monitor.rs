//! The series of a run: what its threads hand over second by second, beside what the machine and
//! the server used.

use super::server_observer::ServerObservation;
use super::{IntervalLog, RunObservation, RunObserver, WindowEdges};
use crate::progress::{RunProgress, SecondSeen};
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_machine::usage::MachineSample;
use dbtime_model::record::{ResponseSecond, SeriesPhase, SeriesRow};
use dbtime_model::recorder::Window;
use dbtime_model::series::RunSecond;
use dbtime_model::{Histogram, MonoNanos, Nanos, PhaseInstant, RunPhase};
use dbtime_observe::process::ServerGlance;
use std::collections::BTreeMap;

/// How many seconds a late thread may still add to before a second is closed and logged.
const MAX_OPEN_SECONDS: usize = 20;

/// How long after its end a second is shown: threads hand it over when they next have an answer.
const SHOW_DELAY: Nanos = Nanos::from_millis(150);

/// Gathers the seconds of all threads, samples the machine, and writes the interval log.
pub(crate) struct RunMonitor<'a> {
    plan: &'a LoadPlan,
    /// Known while the load runs.
    start: Option<MonoNanos>,
    window: Window,
    seconds: BTreeMap<u32, OpenSecond>,
    rows: BTreeMap<u32, SeriesRow>,
    responses: Vec<ResponseSecond>,
    /// The machine at the start, at each full second of the load, and at its end.
    samples: Vec<MachineSample>,
    edges: WindowEdges<MachineSample>,
    /// How many seconds have been shown.
    shown: u32,
    log: IntervalLog<'a>,
    progress: &'a (dyn Fn(RunProgress) + Sync),
}

/// A second that threads may still add to.
struct OpenSecond {
    completed: u64,
    failed: u64,
    retries: u64,
    response: Histogram,
    service_ns: u64,
}

impl OpenSecond {
    fn new() -> Self {
        let response = Histogram::coarse();
        Self { completed: 0, failed: 0, retries: 0, response, service_ns: 0 }
    }

    fn add(&mut self, second: &RunSecond) {
        self.completed += second.completed;
        self.failed += second.failed;
        self.retries += second.retries;
        self.response.merge(&second.response);
        self.service_ns += second.service_ns;
    }

    fn row(&self, index: u32) -> SeriesRow {
        let us = |q| self.response.quantile(q).as_micros();
        SeriesRow {
            second: index,
            completed: self.completed,
            failed: self.failed,
            retries: self.retries,
            response_mean_us: self.response.mean_ns() / 1e3,
            response_p50_us: us(0.5),
            response_p90_us: us(0.9),
            response_p99_us: us(0.99),
            response_max_us: self.response.max().as_micros(),
            service_mean_us: self.service_ns as f64 / 1e3 / self.response.count().max(1) as f64,
            ..SeriesRow::default()
        }
    }
}

impl RunObserver for RunMonitor<'_> {
    fn reached(&mut self, phase: RunPhase, at: MonoNanos) {
        match phase {
            RunPhase::Prepared | RunPhase::Connected | RunPhase::Disconnected => {}
            RunPhase::Started => {
                (self.start, self.window) = (Some(at), self.plan.window(at));
                self.samples.push(MachineSample::take());
            }
            RunPhase::WindowBegan => self.edges.began = Some(MachineSample::take()),
            RunPhase::WindowEnded => self.edges.ended = Some(MachineSample::take()),
            RunPhase::LoadEnded => {
                self.samples.push(MachineSample::take());
                while let Some((index, second)) = self.seconds.pop_first() {
                    self.close(index, &second);
                }
                self.log.flush();
                self.start = None;
            }
        }
    }

    /// The machine is sampled at each full second, and a second is shown soon after its end.
    fn next_tick(&self) -> Option<MonoNanos> {
        let start = self.start?;
        Some(self.next_sample(start).min(self.next_shown(start)))
    }

    fn tick(&mut self, present: MonoNanos) {
        let Some(start) = self.start else { return };
        if present >= self.next_shown(start) {
            self.show(self.shown);
            self.shown += 1;
        }
        if present >= self.next_sample(start) {
            self.samples.push(MachineSample::take());
            self.close_old();
        }
    }

    fn second(&mut self, second: &RunSecond) {
        if second.is_empty() {
            return;
        }
        // A thread that was held up for longer than seconds stay open adds to the oldest open one.
        let logged = self.rows.last_key_value().map_or(0, |(index, _)| index + 1);
        let index = second.index.max(logged);
        self.seconds.entry(index).or_insert_with(OpenSecond::new).add(second);
    }
}

impl<'a> RunMonitor<'a> {
    /// A monitor of a load that has not begun.
    pub(crate) fn new(
        plan: &'a LoadPlan,
        log: IntervalLog<'a>,
        progress: &'a (dyn Fn(RunProgress) + Sync),
    ) -> Self {
        Self {
            plan,
            start: None,
            window: plan.window(MonoNanos(0)),
            seconds: BTreeMap::new(),
            rows: BTreeMap::new(),
            responses: Vec::new(),
            samples: Vec::new(),
            edges: WindowEdges::default(),
            shown: 0,
            log,
            progress,
        }
    }

    fn next_sample(&self, start: MonoNanos) -> MonoNanos {
        start + Nanos::from_secs(self.samples.len() as u64)
    }

    fn next_shown(&self, start: MonoNanos) -> MonoNanos {
        start + Nanos::from_secs(u64::from(self.shown) + 1) + SHOW_DELAY
    }

    fn show(&self, second: u32) {
        let seen = self.seconds.get(&second).map_or_else(SecondSeen::default, |open| SecondSeen {
            second,
            completed: open.completed,
            failed: open.failed,
            p50: open.response.quantile(0.5),
            p99: open.response.quantile(0.99),
        });
        (self.progress)(RunProgress::Second(SecondSeen { second, ..seen }));
    }

    fn close_old(&mut self) {
        while self.seconds.len() > MAX_OPEN_SECONDS {
            let Some((index, second)) = self.seconds.pop_first() else { return };
            self.close(index, &second);
        }
    }

    fn close(&mut self, index: u32, second: &OpenSecond) {
        self.log.second(index, &second.response);
        self.responses.push(ResponseSecond::new(index, &second.response));
        self.rows.insert(index, second.row(index));
    }

    /// What this and the other observers have seen of a load that started at `start`.
    pub(crate) fn into_observation(
        mut self,
        start: MonoNanos,
        phases: Vec<PhaseInstant>,
        server: ServerObservation,
    ) -> RunObservation {
        let seconds = self.rows.last_key_value().map_or(0, |(index, _)| index + 1);
        let row = |index| self.row(index, start, &server.glances);
        let series = (0..seconds).map(row).collect();
        let (first, last) = (self.samples.first().copied(), self.samples.last().copied());
        let began = self.edges.began.or(first).unwrap_or_default();
        let ended = self.edges.ended.or(last).unwrap_or_default();
        RunObservation {
            phases,
            series,
            responses: self.responses,
            machine: (began, ended),
            server,
            log_error: self.log.into_error(),
        }
    }

    /// A second with its phase and the figures of machine and server.
    fn row(&mut self, index: u32, start: MonoNanos, glances: &[Option<ServerGlance>]) -> SeriesRow {
        let mut row = self.rows.remove(&index).unwrap_or_default();
        row.second = index;
        row.phase = self.phase_of(start + Nanos::from_secs(index.into()));
        let index = index as usize;
        if let (Some(mut from), Some(to)) = (self.samples.get(index), self.samples.get(index + 1)) {
            // The counters tick a hundred times a second: a stub of a second at the end borrows
            // from the one before.
            if index > 0 && to.at - from.at < Nanos::from_millis(500) {
                from = &self.samples[index - 1];
            }
            let used = to.since(from);
            row.usr_pct = used.usr_pct;
            row.sys_pct = used.sys_pct;
            row.foreign_pct = used.foreign_pct;
            row.steal_pct = used.steal_pct;
            row.run_queue = to.running;
        }
        let glance = |at: usize| glances.get(at).copied().flatten();
        if let (Some(from), Some(to)) = (glance(index), glance(index + 1))
            && to.at - from.at > Nanos::from_millis(100)
        {
            let pct = 100.0 * to.cpu_since(&from).as_secs() / (to.at - from.at).as_secs();
            row.server_pct = Some(pct);
            row.foreign_pct = (row.foreign_pct - pct).max(0.0);
        }
        row
    }

    /// What most of a second that begins at `at` belongs to.
    fn phase_of(&self, at: MonoNanos) -> SeriesPhase {
        match at + Nanos::from_millis(500) {
            middle if middle < self.window.start => SeriesPhase::Warmup,
            middle if middle >= self.window.end => SeriesPhase::Rundown,
            _ => SeriesPhase::Measure,
        }
    }
}
