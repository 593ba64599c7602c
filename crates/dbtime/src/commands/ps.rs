//! `dbtime ps`: exact CPU time of processes over an interval.

use crate::cli::PsArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::{interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::now;
use dbtime_machine::usage::MachineSample;
use dbtime_model::process::{ProcessTable, ProcessUse, WholeMachine};
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::process::ProcessSet;
use dbtime_observe::scheduler::SchedulerWatch;
use dbtime_report::reports::{ProcessesOptions, process_document};
use std::time::Duration;

/// How often those are looked for that come and go.
const SAMPLE_INTERVAL: Nanos = Nanos::from_millis(250);

/// Looking may take one part in so many of the time.
const MIN_REST_FACTOR: u64 = 200;

/// How soon Ctrl-C is noticed.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

pub(crate) fn run(args: &PsArgs) -> Result<ProcessExit, CommandFailure> {
    args.document.begin("dbtime ps", [])?;
    let stop = interrupt::install();
    let mut roll = ProcessSet::call(&args.which)?;
    let mut exact = ExactSampler::begin(args)?;
    let mut begun = IntervalStart::now();
    let mut due = begun.at;
    for number in 0..args.count {
        due = due + args.interval;
        watch(&mut roll, due, &stop);
        let (uses, whole) = exact.end_interval(&mut roll)?;
        let next = IntervalStart::now();
        let mut table = ProcessTable { whole, ..ProcessTable::new(uses, args.of, machine_cpus()) };
        begun.describe(&next, &mut table);
        table.ended_early = next.at < due;
        begun = next;
        show(args, table, number)?;
        if stop.is_set() && (begun.at < due || number + 1 < args.count) {
            return Ok(ProcessExit::Fine.of_part());
        }
        if roll.is_over() || screen::is_lost() {
            break;
        }
    }
    Ok(ProcessExit::Fine)
}

/// The scheduler's own events, where they are wanted.
struct ExactSampler {
    watch: Option<SchedulerWatch>,
}

impl ExactSampler {
    fn begin(args: &PsArgs) -> Result<Self, CommandFailure> {
        Ok(Self { watch: args.exact.then(SchedulerWatch::begin).transpose()? })
    }

    /// What everybody spent, and where the time of all CPUs went.
    fn end_interval(
        &mut self,
        roll: &mut ProcessSet,
    ) -> Result<(Vec<ProcessUse>, Option<WholeMachine>), CommandFailure> {
        if let Some(watch) = &mut self.watch {
            let interval = watch.end_interval()?;
            return Ok((roll.end_exact_interval(&interval), Some(interval.whole)));
        }
        Ok((roll.end_interval(), None))
    }
}

/// Until `due`, until Ctrl-C, or until nobody is left that could come back.
fn watch(roll: &mut ProcessSet, due: MonoNanos, stop: &RunStop) {
    let mut next_sample = now() + SAMPLE_INTERVAL;
    while now() < due && !stop.is_set() && !roll.is_over() {
        let rest = (due - now()).min(next_sample - now()).min(POLL_INTERVAL);
        std::thread::sleep(Duration::from_nanos(rest.0));
        // The last look is the one that ends the interval.
        if now() >= next_sample && now() < due {
            let cost = roll.look();
            next_sample =
                now() + SAMPLE_INTERVAL.max(Nanos(cost.0.saturating_mul(MIN_REST_FACTOR)));
        }
    }
}

/// The machine at the beginning of an interval.
struct IntervalStart {
    at: MonoNanos,
    time: String,
    machine: MachineSample,
}

impl IntervalStart {
    fn now() -> Self {
        let time = format!("{:.3}", jiff::Timestamp::now());
        Self { at: now(), time, machine: MachineSample::take() }
    }

    /// What the interval was, now that the next one begins.
    fn describe(&self, next: &Self, table: &mut ProcessTable) {
        let used = next.machine.since(&self.machine);
        let own_pct = 100.0 * used.process_s / used.wall_s;
        table.started_at.clone_from(&self.time);
        table.wall = next.at - self.at;
        table.machine_busy_pct = (used.foreign_pct + own_pct) / f64::from(table.cpus.max(1));
        table.machine_steal_pct = used.steal_pct;
    }
}

fn show(args: &PsArgs, mut table: ProcessTable, number: u64) -> Result<(), CommandFailure> {
    let (seconds, all, threads) = (args.seconds, args.all, args.threads);
    let document = process_document(&table, ProcessesOptions { seconds, all, threads });
    if args.json {
        if !args.threads {
            table.processes.iter_mut().for_each(|row| row.used.each_thread.clear());
        }
        let json = match args.count {
            1 => serde_json::to_string_pretty(&table),
            _ => serde_json::to_string(&table),
        };
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
        return args.document.write(&document);
    }
    let gap = if number == 0 { "" } else { "\n" };
    let text = || document.wide_text(screen::style(), screen::columns());
    let (shown, written) = args.document.shown(&document, text);
    screen::result(&format!("{gap}{shown}"));
    written
}
