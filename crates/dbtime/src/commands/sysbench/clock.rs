//! sysbench's reports while a run goes on: every so many seconds a line, at some instants the
//! whole report, by the script's own hooks where it has some.

use super::main_state::StateThread;
use super::{SysbenchJob, request};
use crate::exit::{CommandFailure, ProcessExit};
use crate::{interrupt, screen};
use dbtime_lab::LoadMoment;
use dbtime_load::arrivals::Schedule;
use dbtime_load::script::Script;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_script::sysbench::report::{self, IntervalReport, QueueReport};
use dbtime_script::sysbench::stats::StatsTotals;
use dbtime_script::sysbench::{MainTask, SysbenchScript};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// So long a script may go on beyond `--forced-shutdown`: the record of its run is lost with it.
const FORCED_PATIENCE: Nanos = Nanos::from_secs(3);

/// How often it is looked at from then on.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Prints while a run goes on.
pub(super) struct ReportClock<'a> {
    pub(super) job: &'a SysbenchJob,
    pub(super) script: &'a SysbenchScript,
    pub(super) print: &'a (dyn Fn(&str) + Sync),
}

/// The states whose hooks report: like sysbench's report threads, those of intervals and of
/// checkpoints see none of the globals of the others.
pub(super) struct ReportHooks<'a> {
    intervals: Option<StateThread>,
    checkpoints: Option<StateThread>,
    main: &'a mut StateThread,
}

impl<'a> ReportHooks<'a> {
    /// Runs the script's body for the reports that are asked for.
    pub(super) fn new(
        job: &SysbenchJob,
        main: &'a mut StateThread,
    ) -> Result<Self, CommandFailure> {
        let general = &job.options.general;
        let state = |is_needed: bool| {
            let made = is_needed.then(|| job.reporting_state());
            made.transpose()
        };
        let intervals = state(general.report_interval > 0)?;
        let checkpoints = state(!general.report_checkpoints.is_empty())?;
        Ok(Self { intervals, checkpoints, main })
    }
}

/// How a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SysbenchEnd {
    Own,
    /// By `--forced-shutdown`, with events under way.
    Forced,
}

/// What the next report is the difference to.
struct ReportBaseline<'a> {
    clock: &'a ReportClock<'a>,
    hooks: ReportHooks<'a>,
    /// The beginning of the window.
    start: MonoNanos,
    /// What had been counted at its beginning or at the last checkpoint, and when that was.
    base: (StatsTotals, MonoNanos),
    /// What had been counted at the last report, and when that was.
    last: (StatsTotals, MonoNanos),
    /// Events that have become due, with an open loop: those to come, since when, and how many
    /// have been.
    due: Option<(Schedule, MonoNanos, u64)>,
}

/// Which report is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ReportDue {
    Warm,
    Interval,
    Checkpoint,
}

impl ReportClock<'_> {
    /// Prints until the run has ended or failed.
    pub(super) fn tick(
        &self,
        hooks: ReportHooks<'_>,
        moments: &Receiver<LoadMoment>,
    ) -> Result<SysbenchEnd, CommandFailure> {
        let Ok(LoadMoment::Started(start)) = moments.recv() else { return Ok(SysbenchEnd::Own) };
        let mut reports = ReportBaseline::new(self, hooks, start);
        let forced_at = self.forced_at(start);
        let is_before = |at: MonoNanos| forced_at.is_none_or(|forced_at| at < forced_at);
        for (at, due) in self.instants(start).take_while(|(at, _)| is_before(*at)) {
            match moments.recv_timeout(Duration::from_nanos((at - now()).0)) {
                Err(RecvTimeoutError::Timeout) => reports.report(due, at)?,
                Ok(LoadMoment::Ended(length)) => return reports.conclude(length),
                Ok(LoadMoment::Started(_)) | Err(RecvTimeoutError::Disconnected) => {
                    return Ok(SysbenchEnd::Own);
                }
            }
        }
        match self.end_of_load(moments, forced_at) {
            Ok(LoadMoment::Ended(length)) => reports.conclude(length),
            Err(RecvTimeoutError::Timeout) => reports.break_off(),
            _ => Ok(SysbenchEnd::Own),
        }
    }

    /// When a script that still goes on is ended with the process; `None`: never.
    fn forced_at(&self, start: MonoNanos) -> Option<MonoNanos> {
        let general = &self.job.options.general;
        let after = general.forced_shutdown.filter(|_| general.time > 0)?;
        let seconds: u64 = [general.warmup_time, general.time, after].map(u64::from).iter().sum();
        Some(start + Nanos::from_secs(seconds) + FORCED_PATIENCE)
    }

    /// Waits for the end of the load. [`RecvTimeoutError::Timeout`]: a script keeps it from coming.
    fn end_of_load(
        &self,
        moments: &Receiver<LoadMoment>,
        forced_at: Option<MonoNanos>,
    ) -> Result<LoadMoment, RecvTimeoutError> {
        let Some(forced_at) = forced_at else {
            return moments.recv().map_err(|_| RecvTimeoutError::Disconnected);
        };
        let mut wait = Duration::from_nanos((forced_at - now()).0);
        loop {
            let ended = moments.recv_timeout(wait);
            let is_late = matches!(ended, Err(RecvTimeoutError::Timeout));
            if !is_late || !self.script.inside().is_empty() {
                return ended;
            }
            wait = LOOK_INTERVAL;
        }
    }

    /// When reports are due, and which, for ever or until the last.
    fn instants(&self, start: MonoNanos) -> impl Iterator<Item = (MonoNanos, ReportDue)> {
        let general = &self.job.options.general;
        let warm = Nanos::from_secs(general.warmup_time.into());
        let every = u64::from(general.report_interval);
        let window = start + warm;
        let at = move |s: u64| window + Nanos::from_secs(s);
        let warm_up = (general.warmup_time > 0).then_some((window, ReportDue::Warm));
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
                    Some((at(interval), ReportDue::Interval))
                }
                (_, Some(checkpoint)) => {
                    checkpoints.next();
                    Some((at(checkpoint), ReportDue::Checkpoint))
                }
                (Some(_), None) => None,
            }
        });
        warm_up.into_iter().chain(reports)
    }
}

impl ReportBaseline<'_> {
    fn new<'a>(
        clock: &'a ReportClock<'a>,
        hooks: ReportHooks<'a>,
        start: MonoNanos,
    ) -> ReportBaseline<'a> {
        let general = &clock.job.options.general;
        let due = request::rate(general).map(|rate| {
            let arrivals = request::arrivals(general);
            (Schedule::new(rate, arrivals, clock.script.seed(), None, None), start, 0)
        });
        let since = (StatsTotals::default(), start);
        ReportBaseline { clock, hooks, start, base: since.clone(), last: since, due }
    }

    fn window_begins(&mut self, at: MonoNanos) {
        self.clock.script.stats().begin_period();
        self.base = (self.clock.script.stats().totals(), at);
        (self.start, self.last) = (at, self.base.clone());
    }

    /// What was counted since the last checkpoint, and since when; the next period begins.
    fn period_ends(&mut self, at: MonoNanos) -> (StatsTotals, MonoNanos) {
        let stats = self.clock.script.stats();
        let totals = stats.totals();
        stats.begin_period();
        let (earlier, since) = std::mem::replace(&mut self.base, (totals.clone(), at));
        (totals.since(&earlier), since)
    }

    fn report(&mut self, due: ReportDue, at: MonoNanos) -> Result<(), CommandFailure> {
        match due {
            ReportDue::Warm => {
                self.window_begins(at);
                Ok(())
            }
            ReportDue::Interval => {
                let totals = self.clock.script.stats().totals();
                let (earlier, since) = std::mem::replace(&mut self.last, (totals.clone(), at));
                let queue = self.queue(&totals, at);
                let totals = totals.since(&earlier);
                let moment = IntervalReport { queue, ..self.moment(&totals, at, at - since) };
                let hook = MainTask::Hook("report_intermediate", moment.interval_figures());
                let state = self.hooks.intervals.as_mut();
                if !state.map_or(Ok(false), |state| state.answer(hook))? {
                    (self.clock.print)(&report::interval(&moment));
                }
                Ok(())
            }
            ReportDue::Checkpoint => {
                let (totals, since) = self.period_ends(at);
                let moment = self.moment(&totals, at, at - since);
                (self.clock.print)(&report::checkpoint_heading(&moment));
                let state = self.hooks.checkpoints.as_mut();
                cumulative(self.clock, state, &moment)
            }
        }
    }

    fn moment<'t>(
        &self,
        totals: &'t StatsTotals,
        at: MonoNanos,
        interval: Nanos,
    ) -> IntervalReport<'t> {
        let general = &self.clock.job.options.general;
        IntervalReport {
            totals,
            interval_s: interval.as_secs(),
            total_s: (at - self.start).as_secs(),
            threads: general.threads,
            percentile: general.percentile,
            queue: None,
            is_sql: self.clock.script.uses_sql(),
        }
    }

    /// Events that are due and have not begun, and those under way.
    fn queue(&mut self, totals: &StatsTotals, at: MonoNanos) -> Option<QueueReport> {
        let (schedule, start, count) = self.due.as_mut()?;
        let begun = totals.begun;
        let passed = at - *start;
        let mut ahead = schedule.clone();
        while ahead.next().is_some_and(|arrival| arrival.due <= passed) {
            *count += 1;
            schedule.next();
        }
        let length = count.saturating_sub(begun);
        Some(QueueReport { length, concurrency: begun.saturating_sub(totals.events) })
    }

    /// The last report, of what there was since the last checkpoint. The window was so long.
    fn conclude(&mut self, length: Nanos) -> Result<SysbenchEnd, CommandFailure> {
        // Whatever their states still print comes before the last report.
        (self.hooks.intervals, self.hooks.checkpoints) = (None, None);
        let totals = self.clock.script.stats().totals();
        let is_forced = self.clock.job.options.general.forced_shutdown.is_some();
        // An event that an error began anew has begun once.
        let unfinished = totals.begun.saturating_sub(totals.events).min(totals.shares.len() as u64);
        let end = if is_forced && unfinished > 0 { SysbenchEnd::Forced } else { SysbenchEnd::Own };
        if end == SysbenchEnd::Forced {
            (self.clock.print)(&report::forced(unfinished));
        }
        let (earlier, since) = &self.base;
        let (totals, end_at) = (totals.since(earlier), self.start + length);
        // Nobody is at work any more.
        let moment = IntervalReport { threads: 0, ..self.moment(&totals, end_at, end_at - *since) };
        if self.clock.job.options.general.histogram {
            self.histogram(&totals);
        }
        cumulative(self.clock, Some(self.hooks.main), &moment)?;
        Ok(end)
    }

    /// The last report, and the end of the process with a script that does not come back.
    fn break_off(&mut self) -> Result<SysbenchEnd, CommandFailure> {
        let end = self.conclude(now() - self.start)?;
        screen::note(
            "dbtime: the script does not return after --forced-shutdown: it was ended, with its \
             programs and the run, and nothing more is reported or recorded",
        );
        interrupt::end_at_once(ProcessExit::OfCommand(2).code());
        Ok(end)
    }

    /// Sysbench logs the words around a histogram, and prints the histogram itself.
    fn histogram(&self, totals: &StatsTotals) {
        (self.clock.print)(report::HISTOGRAM);
        if !self.clock.job.options.own.json {
            self.clock.job.output.write(&totals.latencies.bars());
        }
        (self.clock.print)(" \n");
    }
}

/// Lets the script's hook give a full report; without one it is sysbench's own.
fn cumulative(
    clock: &ReportClock<'_>,
    state: Option<&mut StateThread>,
    moment: &IntervalReport<'_>,
) -> Result<(), CommandFailure> {
    let hook = MainTask::Hook("report_cumulative", moment.figures());
    if !state.map_or(Ok(false), |state| state.answer(hook))? {
        (clock.print)(&report::cumulative(moment, clock.job.options.own.compat));
    }
    Ok(())
}
