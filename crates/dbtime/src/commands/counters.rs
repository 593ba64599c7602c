//! `dbtime counters`: status counters of a database as differences and rates.

use crate::cli::CountersArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::{check_named, write_named};
use crate::read_files::refuse_clashes;
use crate::{interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::Target;
use dbtime_lab::counters::{self, CounterSampler};
use dbtime_machine::now;
use dbtime_model::counters::{CounterDocument, CounterReport, CounterSample};
use dbtime_model::plain_text::legible_path;
use dbtime_model::units::counted;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_report::reports::{CounterOptions, counter_document};
use std::path::Path;
use std::time::Duration;

/// Between two samples when nothing else is said.
const INTERVAL: Nanos = Nanos::from_secs(10);

/// How long a Ctrl-C may go unnoticed.
const POLL_INTERVAL: Nanos = Nanos::from_millis(20);

pub(crate) fn run(args: &CountersArgs) -> Result<ProcessExit, CommandFailure> {
    if args.interval == Some(Nanos::ZERO) {
        return Err(CommandFailure::usage(
            "--interval 0 leaves no time between two samples: give it a length such as 1s",
        ));
    }
    if args.save.is_some() && args.files.is_empty() && args.document.is_given() {
        return Err(CommandFailure::usage(
            "--html and --markdown show differences, but --save takes one sample: name the file of \
             an earlier sample, or leave them out",
        ));
    }
    let target = args.target.as_deref().map(str::parse::<Target>).transpose()?;
    match (&args.files[..], target) {
        ([before, after], None) => {
            begin_files(args)?;
            between(args, read_sample(before)?, read_sample(after)?)
        }
        ([file], None) => alone(args, file),
        ([before], Some(target)) => {
            begin_files(args)?;
            let before = read_sample(before)?;
            let after = target.sampler()?.sample()?;
            save(args, &after)?;
            between(args, before, after)
        }
        ([], Some(target)) if args.save.is_some() => {
            begin_files(args)?;
            let sample = target.sampler()?.sample()?;
            save(args, &sample)?;
            print_saved(args, sample);
            Ok(ProcessExit::Fine)
        }
        ([], Some(target)) => {
            begin_files(args)?;
            watch(args, target.sampler()?.as_mut())
        }
        ([], None) => Err(CommandFailure::usage(
            "no counters to show: name two files with samples, or a --target",
        )),
        _ => Err(CommandFailure::usage(
            "two files are compared with each other: leave out --target or one of the files",
        )),
    }
}

/// Begins what is to be written, before anything is read or sampled.
fn begin_files(args: &CountersArgs) -> Result<(), CommandFailure> {
    refuse_clashes(args.save.iter().chain(&args.document.html), &args.files)?;
    check_named(args.save.as_deref())?;
    args.document.begin("dbtime counters", &args.files)
}

/// A file that has differences by itself.
fn alone(args: &CountersArgs, file: &Path) -> Result<ProcessExit, CommandFailure> {
    begin_files(args)?;
    match counters::read(file)? {
        CounterDocument::CounterReport(report) => show(args, report, OutputShape::Document),
        CounterDocument::CounterSample(_) => Err(CommandFailure::usage(format!(
            "{} is a single sample, which has no difference: name a second file, or the \
             --target to compare it with",
            file.display()
        ))),
    }
}

/// Samples again and again, and shows what changed each time. Ctrl-C ends the interval early.
fn watch(
    args: &CountersArgs,
    sampler: &mut dyn CounterSampler,
) -> Result<ProcessExit, CommandFailure> {
    let interval = args.interval.unwrap_or(INTERVAL);
    let shape = if args.count > 1 { OutputShape::Line } else { OutputShape::Document };
    let mut before = sampler.sample()?;
    // Before there is a sample, there is nothing that a Ctrl-C could show.
    let stop = interrupt::install();
    let begun = now();
    for index in 1..=args.count {
        // From the first sample on, so that reading them makes the intervals no longer.
        let due = begun + Nanos(interval.0.saturating_mul(index));
        wait_until(due, &stop);
        let is_part = now() < due;
        let after = sampler.sample()?;
        let report = counters::difference(&before, &after)?;
        if index > 1 && !args.json {
            screen::result("\n");
        }
        show(args, report, shape)?;
        if is_part || (stop.is_set() && index < args.count) {
            return Ok(ProcessExit::Fine.of_part());
        }
        if screen::is_lost() {
            break;
        }
        before = after;
    }
    Ok(ProcessExit::Fine)
}

fn wait_until(instant: MonoNanos, stop: &RunStop) {
    let is_shown = screen::has_audience();
    while now() < instant && !stop.is_set() {
        let left = instant - now();
        if is_shown {
            screen::status(&format!("next sample in {:.0} s ...", left.as_secs().ceil()));
        }
        std::thread::sleep(Duration::from_nanos(left.min(POLL_INTERVAL).0));
    }
    if is_shown {
        screen::status("");
    }
}

fn between(
    args: &CountersArgs,
    before: CounterSample,
    after: CounterSample,
) -> Result<ProcessExit, CommandFailure> {
    show(args, counters::difference(&before, &after)?, OutputShape::Document)
}

/// How a report stands on stdout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputShape {
    /// Alone.
    Document,
    /// One of several.
    Line,
}

fn show(
    args: &CountersArgs,
    report: CounterReport,
    shape: OutputShape,
) -> Result<ProcessExit, CommandFailure> {
    let report = if args.all { report } else { report.without_unchanged() };
    let options = CounterOptions { per_transaction: args.per_transaction };
    let document = counter_document(&report, options);
    if args.json {
        let json = CounterDocument::CounterReport(report);
        let is_line = shape == OutputShape::Line;
        screen::json(&if is_line { json.to_json_line() } else { json.to_json() });
        args.document.write(&document)?;
    } else {
        let text = || document.text(screen::style());
        let (shown, written) = args.document.shown(&document, text);
        screen::result(&shown);
        written?;
    }
    Ok(ProcessExit::Fine)
}

fn save(args: &CountersArgs, sample: &CounterSample) -> Result<(), CommandFailure> {
    let Some(path) = &args.save else { return Ok(()) };
    let document = CounterDocument::CounterSample(sample.clone());
    write_named(path, &document.to_json())
}

/// A sample that is only saved.
fn print_saved(args: &CountersArgs, sample: CounterSample) {
    let Some(path) = &args.save else { return };
    if args.json {
        screen::json(&CounterDocument::CounterSample(sample).to_json());
    } else {
        let counters = counted(sample.count() as u64, "counter");
        screen::result(&format!("Sample: {} ({counters})\n", legible_path(path)));
    }
}

fn read_sample(path: &Path) -> Result<CounterSample, CommandFailure> {
    match counters::read(path)? {
        CounterDocument::CounterSample(sample) => Ok(sample),
        CounterDocument::CounterReport(_) => Err(CommandFailure::usage(format!(
            "{path} already compares two samples: show it with `dbtime counters {path}`",
            path = path.display()
        ))),
    }
}
