//! `dbtime usage`: what a command, a process or a server uses, as differences.

use crate::cli::{LeftoverRule, UsageArgs};
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::{check_named, write_named};
use crate::read_files::refuse_clashes;
use crate::run_leftovers::RunLeftovers;
use crate::{interrupt, parent_watch, pipes, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::{now, start_by_fork};
use dbtime_model::plain_text::legible_path;
use dbtime_model::process::{CommandExit, SavedUsage, UsageReport};
use dbtime_model::secret_text::masked_command;
use dbtime_model::{MonoNanos, Nanos, bounded_file};
use dbtime_observe::process::{
    EndWatch, ProcessError, ProcessSelector, ReapedChild, ServerWatch, UsageWatch, boot_id,
    child_floor_bytes, only, since_saved, wait_for,
};
use dbtime_report::reports::usage_document;
use dbtime_report::terminal::PageStyle;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often threads and children are looked at, which take what they used with them.
const SAMPLE_INTERVAL: Nanos = Nanos::from_millis(100);

/// How soon a command is looked at for the first time: many are short.
const FIRST_SAMPLE_AFTER: Nanos = Nanos::from_millis(5);

/// Looking may take one part in so many of the time.
const MIN_REST_FACTOR: u64 = 100;

/// How long a command may clean up that is to end with dbtime.
const CLEAN_UP_TIME: Duration = Duration::from_secs(5);

/// How soon Ctrl-C is noticed.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

pub(crate) fn run(args: &UsageArgs) -> Result<ProcessExit, CommandFailure> {
    match (&args.command[..], &args.pid, &args.start, &args.since) {
        ([program, arguments @ ..], ..) => run_command(args, program, arguments),
        (_, Some(which), Some(file), _) => save(args, which, file),
        (_, Some(which), None, _) => watch(args, which),
        (_, None, _, Some(file)) => since(args, file),
        _ => Err(CommandFailure::usage(
            "nothing to watch: give a command after --, a process with -p, or --since FILE",
        )),
    }
}

/// Begins what is to be written, before anything is measured.
fn begin_files(args: &UsageArgs) -> Result<(), CommandFailure> {
    refuse_clashes(args.out.iter().chain(&args.document.html), &args.since)?;
    check_named(args.out.as_deref())?;
    args.document.begin("dbtime usage", &args.since)
}

/// A command from its start to its end.
fn run_command(
    args: &UsageArgs,
    program: &OsString,
    arguments: &[OsString],
) -> Result<ProcessExit, CommandFailure> {
    begin_files(args)?;
    // Ctrl-C reaches the command too: dbtime waits for it and reports.
    let stop = match args.parent {
        false => interrupt::install_beside_command(),
        true => interrupt::install_silently(true),
    };
    let mut command = Command::new(program);
    start_by_fork(&mut command).args(arguments);
    let is_orphan = Arc::new(AtomicBool::new(false));
    if args.parent {
        end_with_parent(&stop, &is_orphan)?;
        command.process_group(0).stdin(Stdio::null());
    }
    if args.json && args.out.is_none() {
        command.stdout(Stdio::from(io::stderr()));
    }
    let left = args.left.and_then(|rule| Some((RunLeftovers::of_environment()?, rule)));
    let rss_floor_bytes = child_floor_bytes();
    let (started, started_at) = (now(), timestamp());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            screen::error(&format!("cannot start `{}`: {error}", program.to_string_lossy()));
            let is_absent = error.kind() == io::ErrorKind::NotFound;
            return Ok(ProcessExit::OfCommand(if is_absent { 127 } else { 126 }));
        }
    };
    let followed = follow_command(args, &mut child, started, &stop);
    if let Some((leftovers, rule)) = left {
        // A process that is gone makes no further step of the run.
        let is_last = is_orphan.load(Ordering::Relaxed);
        leftovers.end(if is_last { LeftoverRule::All } else { rule });
    }
    let (mut report, waited) = followed?;
    let status = waited.status;
    report.started_at = started_at;
    report.command = masked_command(
        &args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>(),
    );
    report.exit = Some(CommandExit { code: status.code(), signal: status.signal() });
    report.rss_floor_bytes = rss_floor_bytes;
    report.settle(waited.rusage, waited.io);
    print_report(args, &report, true)?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(ProcessExit::OfCommand(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// Ends the command once the process of dbtime is gone that has started this one.
fn end_with_parent(stop: &RunStop, is_orphan: &Arc<AtomicBool>) -> Result<(), CommandFailure> {
    let (stop, is_orphan) = (stop.clone(), Arc::clone(is_orphan));
    parent_watch::when_closed(io::stdin(), move || {
        is_orphan.store(true, Ordering::Relaxed);
        stop.at(now());
    })
}

fn follow_command(
    args: &UsageArgs,
    child: &mut Child,
    started: MonoNanos,
    stop: &RunStop,
) -> Result<(UsageReport, ReapedChild), CommandFailure> {
    let mut group = args.parent.then(|| OwnedGroup::new(child));
    let mut watch = UsageWatch::of_new(child.id(), started)?;
    let end = EndWatch::new(child.id());
    // Threads by name as they were last seen: at the end there are none.
    let mut by_thread = Vec::new();
    let mut pause = FIRST_SAMPLE_AFTER;
    while !end.wait(pause) {
        if let Some(group) = group.as_mut().filter(|_| stop.is_set()) {
            group.end();
        }
        let cost = watch.look()?;
        if args.threads {
            by_thread = watch.report(true).by_thread;
        }
        pause = Nanos(2 * pause.0)
            .min(SAMPLE_INTERVAL)
            .max(Nanos(cost.0.saturating_mul(MIN_REST_FACTOR)));
    }
    drop(group);
    watch.look()?;
    let mut report = watch.report(false);
    report.by_thread = by_thread;
    Ok((report, wait_for(child).map_err(CommandFailure::environment)?))
}

/// The process group of a command that ends with dbtime.
struct OwnedGroup {
    leader: Pid,
    /// When it was told to end.
    ended_at: Option<Instant>,
}

impl OwnedGroup {
    fn new(child: &Child) -> Self {
        Self { leader: Pid::from_child(child), ended_at: None }
    }

    /// Has it end: first it may clean up.
    fn end(&mut self) {
        let signal = match self.ended_at {
            None => Signal::TERM,
            Some(at) if at.elapsed() > CLEAN_UP_TIME => Signal::KILL,
            Some(_) => return,
        };
        self.ended_at.get_or_insert_with(Instant::now);
        // It may have ended by itself.
        let _ = kill_process_group(self.leader, signal);
    }
}

impl Drop for OwnedGroup {
    /// Ends what was started by a command that had to end, and has not ended with it.
    fn drop(&mut self) {
        if self.ended_at.is_some() {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
    }
}

/// A process that is there, until it ends, Ctrl-C, or its time is over.
fn watch(args: &UsageArgs, which: &ProcessSelector) -> Result<ProcessExit, CommandFailure> {
    begin_files(args)?;
    let stop = interrupt::install();
    let pid = only(which)?;
    let started_at = timestamp();
    let mut watch = UsageWatch::new(pid, !args.alone)?;
    let end = EndWatch::new(pid);
    let due = args.time.map(|time| watch.first().at + time);
    let is_gone = follow(&mut watch, &end, due, &stop);
    // One without a set end is ended by Ctrl-C.
    let is_part = !is_gone && due.is_some_and(|due| now() < due);
    let mut report = watch.report(args.threads);
    report.started_at = started_at;
    report.is_gone = is_gone;
    print_report(args, &report, false)?;
    Ok(if is_part { ProcessExit::Fine.of_part() } else { ProcessExit::Fine })
}

/// Looks at a process until it ends, and tells whether it has.
fn follow(watch: &mut UsageWatch, end: &EndWatch, due: Option<MonoNanos>, stop: &RunStop) -> bool {
    let mut next_sample = now() + SAMPLE_INTERVAL;
    loop {
        let rest = due.map_or(POLL_INTERVAL, |due| (due - now()).min(POLL_INTERVAL));
        let has_ended = end.wait(rest.min(next_sample - now()));
        let is_due = due.is_some_and(|due| now() >= due);
        if !(has_ended || is_due || stop.is_set() || now() >= next_sample) {
            continue;
        }
        // What has ended is still to be seen if its parent has not waited for it.
        match watch.look() {
            Err(_) => return true,
            Ok(_) if has_ended => return true,
            Ok(_) if is_due || stop.is_set() => return false,
            Ok(cost) => {
                next_sample =
                    now() + SAMPLE_INTERVAL.max(Nanos(cost.0.saturating_mul(MIN_REST_FACTOR)))
            }
        }
    }
}

fn save(
    args: &UsageArgs,
    which: &ProcessSelector,
    file: &Path,
) -> Result<ProcessExit, CommandFailure> {
    check_named(Some(file))?;
    let sample = ServerWatch::of(only(which)?, !args.alone)?.sample()?;
    let pid = sample.processes.first().map_or(0, |process| process.id.pid);
    let saved = SavedUsage {
        schema: SavedUsage::SCHEMA,
        dbtime: env!("CARGO_PKG_VERSION").to_owned(),
        saved_at: timestamp(),
        boot_id: boot_id(),
        with_descendants: !args.alone,
        sample,
    };
    let text = serde_json::to_string(&saved).map_err(CommandFailure::environment)?;
    write_named(file, &(text + "\n"))?;
    screen::result(&format!("Sample of process {pid}: {}\n", legible_path(file)));
    Ok(ProcessExit::Fine)
}

fn since(args: &UsageArgs, file: &Path) -> Result<ProcessExit, CommandFailure> {
    begin_files(args)?;
    let saved = read_saved(file)?;
    let id = saved.sample.processes.first().map(|process| process.id);
    let id =
        id.ok_or_else(|| CommandFailure::environment(format!("{} is empty", file.display())))?;
    let ended = || {
        CommandFailure::environment(format!(
            "process {} of {} has ended: its usage since the sample is unknown",
            id.pid,
            file.display()
        ))
    };
    let mut watch = ServerWatch::of(id.pid, saved.with_descendants).map_err(|_| ended())?;
    if watch.root() != id {
        return Err(ended());
    }
    let later = watch.sample().map_err(|_: ProcessError| ended())?;
    print_report(args, &since_saved(&saved, &later, args.threads), false)?;
    Ok(ProcessExit::Fine)
}

fn read_saved(file: &Path) -> Result<SavedUsage, CommandFailure> {
    let wrong = |what: &str| CommandFailure::environment(format!("{}: {what}", file.display()));
    let text = pipes::awaited(file, || bounded_file::written_text(file));
    let text = text.map_err(|error| wrong(&error.to_string()))?;
    let is_no_sample = |error: serde_json::Error| {
        wrong(&format!("not a sample of `dbtime usage --start`: {error}"))
    };
    let json: serde_json::Value = serde_json::from_str(&text).map_err(is_no_sample)?;
    let schema = json["schema"].as_u64().unwrap_or(0);
    if schema > u64::from(SavedUsage::SCHEMA) {
        return Err(wrong(&format!(
            "schema {schema} is of a later dbtime; this one reads up to {}",
            SavedUsage::SCHEMA
        )));
    }
    let saved: SavedUsage = serde_json::from_value(json).map_err(is_no_sample)?;
    if saved.boot_id != boot_id() {
        return Err(wrong("the machine has restarted since, or this is another machine"));
    }
    Ok(saved)
}

/// Shows the report where it belongs.
fn print_report(
    args: &UsageArgs,
    report: &UsageReport,
    is_beside: bool,
) -> Result<(), CommandFailure> {
    let is_beside = is_beside && !args.json;
    let style = if is_beside { screen::style_beside() } else { screen::style() };
    let color = style.color && args.out.is_none();
    let document = usage_document(report);
    let (text, written) = if args.json {
        let json = serde_json::to_string_pretty(report).map_err(CommandFailure::environment)?;
        (json + "\n", args.document.write(&document))
    } else {
        args.document.shown(&document, || document.text(PageStyle { color, ..style }))
    };
    match &args.out {
        Some(file) => write_named(file, &text)?,
        None if args.json => screen::json(&text),
        None if is_beside => screen::to_stderr(&text),
        None => screen::result(&text),
    }
    written
}

fn timestamp() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
