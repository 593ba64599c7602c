//! The run itself: pgbench's lines as it goes, its report at the end, and then dbtime's own.

use super::before::{self, Known};
use super::watch::Watch;
use super::{INCOMPLETE, Job, fatal, request, result};
use crate::commands::run::Kept;
use crate::exit::{Exit, Failure};
use crate::live::tell_stuck;
use crate::screen;
use dbtime_lab::store::Store;
use dbtime_lab::{Finished, Progress, RunRequest};
use dbtime_model::{MonoNanos, PhaseInstant, RunPhase};
use dbtime_report::terminal::{self, TerminalOptions};
use dbtime_script::pgbench::options::Benchmark;
use dbtime_script::pgbench::{PgbenchScript, report};
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs scripts and reports.
pub(super) fn run(job: &Job, what: &Benchmark) -> Result<Exit, Failure> {
    let (seed, scripts) = request::seed_and_scripts(job, what)?;
    let own = &what.common.own;
    // A place that cannot be written is known before the tables are touched.
    let store = own.out.as_deref().map(Path::new).map(Store::create).transpose().map_err(fatal)?;
    let greet = |version: Option<&str>| {
        if !own.json {
            screen::result(&report::banner(version));
        }
    };
    let known = match job.place.is_given {
        true => before::look(job, what, greet)?,
        false => {
            greet(None);
            Known::default()
        }
    };
    if let (Some(_), Some(scale)) = (what.scale, known.scale) {
        screen::note(&format!(
            "pgbench: warning: scale option ignored, using count from pgbench_branches table \
             ({scale})"
        ));
    }
    if job.place.is_given {
        before::vacuum(job, what.vacuum)?;
    }
    let is_watched = what.progress.is_some() || what.log.is_some();
    let watch = is_watched.then(|| Watch::new(what, seed)).transpose()?;
    let settings = request::settings(job, what, &known, (scripts, seed, watch.as_ref()))?;
    let script = Arc::new(PgbenchScript::new(settings).map_err(Failure::usage)?);
    let request = request::run(job, what, Arc::clone(&script))?;
    let finished = drive(job, what, (store, &request), watch.as_deref())?;
    if !own.json {
        let outcome = result::outcome(&script, &known, &finished);
        screen::result(&report::report(what, &outcome));
    }
    let is_incomplete = !script.aborted().is_empty();
    if is_incomplete {
        screen::beside(report::ABORTED);
    }
    let kept = show(what, &finished)?;
    let exit = kept.end(if is_incomplete { INCOMPLETE } else { Exit::Fine });
    watch.map_or(Ok(()), |watch| watch.end())?;
    Ok(exit)
}

/// Drives the load while progress is told.
fn drive(
    job: &Job,
    what: &Benchmark,
    (store, request): (Option<Store>, &RunRequest),
    watch: Option<&Watch>,
) -> Result<Finished, Failure> {
    let (start, started) = channel::<MonoNanos>();
    let (over, is_over) = channel::<()>();
    let start = Mutex::new(start);
    std::thread::scope(|scope| {
        let telling = std::thread::Builder::new().name("progress".to_owned());
        let telling = telling.spawn_scoped(scope, move || {
            if let (Some(watch), Ok(start)) = (watch, started.recv()) {
                watch.tell(what, start, &is_over);
            }
        });
        telling.map_err(Failure::environment)?;
        let progress = |progress: Progress| match progress {
            Progress::Phase(PhaseInstant { phase: RunPhase::Started, at }) => {
                if let Some(watch) = watch {
                    watch.begin(what, at);
                }
                let start = start.lock().unwrap_or_else(PoisonError::into_inner);
                // Nobody listens where nothing is told.
                let _ = start.send(at);
            }
            other => tell_stuck(other),
        };
        let finished = dbtime_lab::run_into(store, request, &progress, &job.stop).map_err(fatal);
        drop((over, start));
        finished
    })
}

/// What dbtime has to say beyond pgbench's report.
fn show(what: &Benchmark, finished: &Finished) -> Result<Kept, Failure> {
    let own = &what.common.own;
    let is_silent = own.json || own.classic;
    if own.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::json(&(json.map_err(Failure::environment)? + "\n"));
    } else if !own.classic {
        let options = TerminalOptions { style: screen::style(), ..TerminalOptions::default() };
        screen::result(&format!("\n{}", terminal::run_report(&finished.run, &options)));
    }
    let kept = Kept::of(finished);
    if !is_silent {
        screen::result(&kept.lines);
    }
    Ok(kept)
}
