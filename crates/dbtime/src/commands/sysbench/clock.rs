//! sysbench's reports while a run goes on: every so many seconds a line, at some instants the
//! whole report, by the script's own hooks where it has some.

use super::{Job, request};
use crate::exit::Failure;
use dbtime_lab::Finished;
use dbtime_load::arrivals::Schedule;
use dbtime_model::{MonoNanos, Nanos, now};
use dbtime_script::sysbench::report::{self, Moment, Queue};
use dbtime_script::sysbench::stats::Totals;
use dbtime_script::sysbench::{Reporter, SysbenchScript};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Prints while a run goes on.
pub(super) struct Clock<'a> {
    pub(super) job: &'a Job,
    pub(super) script: &'a SysbenchScript,
    pub(super) say: &'a (dyn Fn(&str) + Sync),
}

/// What has been printed so far, and what the next report is the difference to.
pub(super) struct Reports<'a> {
    clock: &'a Clock<'a>,
    hooks: Option<Reporter>,
    /// The beginning of the window; `None`: the load never began.
    start: Option<MonoNanos>,
    /// What had been counted when the window began.
    base: Totals,
    /// What had been counted at the last report, and when that was.
    last: (Totals, MonoNanos),
    /// Events that have become due, with an open loop.
    due: Option<(Schedule, MonoNanos, u64)>,
}

/// Which report is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Warm,
    Interval,
    Checkpoint,
}

impl Clock<'_> {
    /// Prints until nobody can tell of a start any more.
    pub(super) fn tick(&self, started: &Receiver<MonoNanos>) -> Result<Reports<'_>, Failure> {
        let mut reports = Reports {
            clock: self,
            hooks: None,
            start: None,
            base: Totals::default(),
            last: (Totals::default(), MonoNanos(0)),
            due: None,
        };
        let Ok(start) = started.recv() else { return Ok(reports) };
        if !self.job.declared.hooks.is_empty() {
            reports.hooks = Some(self.script.reporter().map_err(Failure::usage)?);
        }
        reports.begin(start);
        for (at, due) in self.instants(start) {
            let wait = Duration::from_nanos((at - now()).0);
            if started.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            reports.report(due, at)?;
        }
        // Nothing more is due: until the run ends.
        let _ = started.recv();
        Ok(reports)
    }

    /// When reports are due, and which, for ever or until the last.
    fn instants(&self, start: MonoNanos) -> impl Iterator<Item = (MonoNanos, Due)> {
        let general = &self.job.options.general;
        let warm = Nanos::from_secs(general.warmup_time.into());
        let every = u64::from(general.report_interval);
        let window = start + warm;
        let at = move |s: u64| window + Nanos::from_secs(s);
        let warm_up = (general.warmup_time > 0).then_some((window, Due::Warm));
        let mut checkpoints: Vec<u32> = general.report_checkpoints.clone();
        checkpoints.sort_unstable();
        let mut checkpoints = checkpoints.into_iter().map(u64::from).peekable();
        let mut nth = 1;
        let reports = std::iter::from_fn(move || {
            let interval = (every > 0).then_some(every * nth);
            match (interval, checkpoints.peek().copied()) {
                (None, None) => None,
                (Some(interval), checkpoint) if checkpoint.is_none_or(|at| interval <= at) => {
                    nth += 1;
                    Some((at(interval), Due::Interval))
                }
                (_, Some(checkpoint)) => {
                    checkpoints.next();
                    Some((at(checkpoint), Due::Checkpoint))
                }
                (Some(_), None) => None,
            }
        });
        warm_up.into_iter().chain(reports)
    }
}

impl Reports<'_> {
    fn begin(&mut self, start: MonoNanos) {
        let general = &self.clock.job.options.general;
        if let Some(rate) = request::rate(general) {
            let seed = self.clock.job.seed();
            let schedule = Schedule::new(rate, request::arrivals(general), seed, None, None);
            self.due = Some((schedule, start, 0));
        }
        self.window_begins(start);
    }

    fn window_begins(&mut self, at: MonoNanos) {
        self.clock.script.stats().begin_period();
        self.base = self.clock.script.stats().totals();
        (self.start, self.last) = (Some(at), (self.base.clone(), at));
    }

    fn report(&mut self, due: Due, at: MonoNanos) -> Result<(), Failure> {
        match due {
            Due::Warm => {
                self.window_begins(at);
                Ok(())
            }
            Due::Interval => {
                let totals = self.clock.script.stats().totals();
                let (earlier, since) = std::mem::replace(&mut self.last, (totals.clone(), at));
                let queue = self.queue(&totals, at);
                let totals = totals.since(&earlier);
                let moment = Moment { queue, ..self.moment(&totals, at, at - since) };
                let said = self.hook("report_intermediate", &moment)?;
                if !said {
                    (self.clock.say)(&report::interval(&moment));
                }
                Ok(())
            }
            Due::Checkpoint => {
                let totals = self.clock.script.stats().totals().since(&self.base);
                let moment = self.moment(&totals, at, self.elapsed(at));
                (self.clock.say)(&report::checkpoint_heading(&moment));
                self.cumulative(&moment)
            }
        }
    }

    fn cumulative(&self, moment: &Moment<'_>) -> Result<(), Failure> {
        if !self.hook("report_cumulative", moment)? {
            (self.clock.say)(&report::cumulative(moment, self.clock.job.options.own.compat));
        }
        Ok(())
    }

    fn elapsed(&self, at: MonoNanos) -> Nanos {
        self.start.map_or(Nanos::ZERO, |start| at - start)
    }

    fn moment<'t>(&self, totals: &'t Totals, at: MonoNanos, interval: Nanos) -> Moment<'t> {
        let general = &self.clock.job.options.general;
        Moment {
            totals,
            interval_s: interval.as_secs(),
            total_s: self.elapsed(at).as_secs(),
            threads: general.threads,
            percentile: general.percentile,
            queue: None,
            is_sql: self.clock.script.uses_sql(),
        }
    }

    /// Events that are due and have not begun, and those under way.
    fn queue(&mut self, totals: &Totals, at: MonoNanos) -> Option<Queue> {
        let (schedule, start, count) = self.due.as_mut()?;
        let begun = totals.begun;
        let passed = at - *start;
        let mut ahead = schedule.clone();
        while ahead.next().is_some_and(|arrival| arrival.due <= passed) {
            *count += 1;
            schedule.next();
        }
        let length = count.saturating_sub(begun);
        Some(Queue { length, concurrency: begun.saturating_sub(totals.events) })
    }

    /// Lets the script's hook report, if it has one. Returns whether it did.
    fn hook(&self, name: &str, moment: &Moment<'_>) -> Result<bool, Failure> {
        let Some(hooks) = &self.hooks else { return Ok(false) };
        let figures = moment.figures();
        let done = match name {
            "report_intermediate" => hooks.intermediate(&figures),
            _ => hooks.cumulative(&figures),
        };
        done.map_err(Failure::usage)
    }

    /// The last report, of the whole window.
    pub(super) fn conclude(&self, finished: &Finished, ended: MonoNanos) -> Result<(), Failure> {
        let Some(start) = self.start else { return Ok(()) };
        let window = &finished.run.record.window;
        let last = start + Nanos::from_secs_f64(window.measure_s + window.rundown_s);
        let totals = self.clock.script.stats().totals().since(&self.base);
        let at = last.min(ended);
        let moment = self.moment(&totals, at, at - start);
        if self.clock.job.options.general.histogram {
            (self.clock.say)(&report::histogram(&totals.latencies));
        }
        self.cumulative(&moment)?;
        match &self.hooks {
            Some(hooks) => hooks.finish().map_err(Failure::usage),
            None => Ok(()),
        }
    }
}
