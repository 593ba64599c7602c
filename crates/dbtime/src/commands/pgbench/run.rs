//! The run itself: pgbench's lines as it goes, its report at the end, and then dbtime's own.

use super::preflight::{self, DatabaseFacts};
use super::request::ScriptInputs;
use super::watch::PgbenchWatch;
use super::{INCOMPLETE, PgbenchJob, fatal, request, result};
use crate::artifacts::RunArtifacts;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LoginNotice, report_overdue_script};
use crate::{interrupt, screen};
use dbtime_lab::store::RunStore;
use dbtime_lab::{LoadMoment, ReportedRun, RunProgress, RunRequest, RunResult};
use dbtime_model::plain_text::plain_lines;
use dbtime_model::{PhaseInstant, RunPhase};
use dbtime_report::terminal::{self, TerminalOptions};
use dbtime_script::pgbench::options::BenchmarkOptions;
use dbtime_script::pgbench::{PgbenchScript, report};
use std::path::Path;
use std::sync::Arc;

/// What pgbench's own rate is over, by its rules.
const TPS_BASIS: &str = "tps: over the run, to its last answer";

/// Runs scripts and reports.
pub(super) fn run(
    job: &PgbenchJob,
    what: &BenchmarkOptions,
) -> Result<ProcessExit, CommandFailure> {
    let (seed, scripts) = request::seed_and_scripts(job, what)?;
    let own = &what.common.own;
    // A place that cannot be written is known before the tables are touched.
    let store =
        own.out.as_deref().map(Path::new).map(RunStore::create).transpose().map_err(fatal)?;
    let greet = |version: Option<&str>| {
        if !own.json {
            screen::result(&report::banner(version));
        }
    };
    let known = match job.place.is_given {
        true => preflight::database_facts(job, what, greet)?,
        false => {
            greet(None);
            DatabaseFacts::default()
        }
    };
    if let (Some(_), Some(scale)) = (what.scale, known.scale) {
        screen::note(&format!(
            "pgbench: warning: scale option ignored, using count from pgbench_branches table \
             ({scale})"
        ));
    }
    if job.place.is_given {
        preflight::vacuum(job, what.vacuum)?;
    }
    let is_watched = what.progress.is_some() || what.log.is_some();
    let watch = is_watched.then(|| PgbenchWatch::new(what, seed)).transpose()?;
    let inputs = ScriptInputs { scripts, seed, watch: watch.as_ref() };
    let settings = request::settings(job, what, &known, inputs)?;
    let script = Arc::new(PgbenchScript::new(settings).map_err(CommandFailure::usage)?);
    let request = request::run(job, what, Arc::clone(&script))?;
    let finished = drive(job, what, watch.as_deref(), &request, store)?;
    if !own.json {
        let outcome = result::outcome(&script, &known, &finished);
        screen::result(&plain_lines(&report::report(what, &outcome)));
    }
    let is_incomplete = !script.aborted().is_empty();
    if is_incomplete {
        screen::to_stderr(report::ABORTED);
    }
    let kept = show(what, &finished)?;
    let is_part = finished.run.record.window.ended_early;
    let exit = match is_incomplete {
        true => INCOMPLETE,
        // As the shell sees a pgbench that a signal has ended.
        false if is_part => ProcessExit::Fine.of_part(),
        false => ProcessExit::Fine,
    };
    let exit = kept.end(exit);
    watch.map_or(Ok(()), |watch| watch.end())?;
    Ok(exit)
}

/// Drives the load, with lines of progress meanwhile.
fn drive(
    job: &PgbenchJob,
    what: &BenchmarkOptions,
    watch: Option<&PgbenchWatch>,
    request: &RunRequest,
    store: Option<RunStore>,
) -> Result<RunResult, CommandFailure> {
    let login_notice = LoginNotice::default();
    let progress = |progress: RunProgress| {
        interrupt::follow(&progress);
        match (progress, watch) {
            (RunProgress::Connecting(count), _) => login_notice.show(count),
            (RunProgress::Phase(PhaseInstant { phase: RunPhase::Started, at }), Some(watch)) => {
                watch.begin(what, at);
            }
            (other, _) => report_overdue_script(other),
        }
    };
    let run = ReportedRun { request, store, progress: &progress, stop: &job.stop };
    let result = run.drive(|moments| {
        if let (Some(watch), Ok(LoadMoment::Started(start))) = (watch, moments.recv()) {
            watch.print(what, start, &moments);
        }
    });
    result.and_then(|result| result.run).map_err(fatal)
}

/// What dbtime has to say beyond pgbench's report.
fn show(what: &BenchmarkOptions, finished: &RunResult) -> Result<RunArtifacts, CommandFailure> {
    let own = &what.common.own;
    let is_silent = own.json || own.classic;
    if own.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
    } else if !own.classic {
        let (style, other_basis) = (screen::style(), Some(TPS_BASIS));
        let options = TerminalOptions { style, other_basis, ..TerminalOptions::default() };
        screen::result(&format!("\n{}", terminal::run_report(&finished.run, &options)));
    }
    let kept = RunArtifacts::of(finished);
    if !is_silent {
        screen::result(&kept.lines);
    }
    Ok(kept)
}
