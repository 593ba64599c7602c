//! The run itself: sysbench's lines as it goes, its report at the end, and then dbtime's own.

use super::clock::{Clock, End, Told};
use super::{Job, fatal, request};
use crate::commands::run::Kept;
use crate::exit::{Exit, Failure};
use crate::live::stuck;
use crate::screen;
use dbtime_lab::store::Store;
use dbtime_lab::{Finished, Progress, RunRequest};
use dbtime_model::{Nanos, now};
use dbtime_report::terminal::{self, TerminalOptions};
use dbtime_script::sysbench::{Command, SysbenchScript, report};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Runs a script and reports. Returns what the command ends with, which is sysbench's code.
pub(super) fn run(job: &Job) -> Result<Exit, Failure> {
    let is_quiet = job.options.own.json;
    let say = |text: &str| {
        if !is_quiet {
            screen::result(text);
        }
    };
    // A place that cannot be written is known before the script touches anything.
    let out = job.options.own.out.as_deref().map(Path::new);
    let store = out.map(Store::create).transpose().map_err(fatal)?;
    job.around("init")?;
    say(&report::opening(&job.options.general));
    if !job.declared.functions.contains(&"event") && !job.declared.functions.contains(&"thread_run")
    {
        let script = &job.script;
        return Err(Failure::usage(format!("FATAL: cannot find the event() function in {script}")));
    }
    let script = Arc::new(job.script(Command::Run)?);
    let request = request::run(job, Arc::clone(&script))?;
    let (finished, end) = drive(job, &script, (store, &request), &say)?;
    let exit = show(job, &finished)?.end(match end {
        End::Forced => Exit::OfCommand(2),
        End::Own if script.fails_late() => Exit::OfCommand(1),
        End::Own => Exit::Fine,
    });
    job.around("done")?;
    Ok(exit)
}

/// Drives the load while the clock prints.
fn drive(
    job: &Job,
    script: &Arc<SysbenchScript>,
    (store, request): (Option<Store>, &RunRequest),
    say: &(dyn Fn(&str) + Sync),
) -> Result<(Finished, End), Failure> {
    let clock = &Clock { job, script, say };
    let (tell, told) = channel::<Told>();
    std::thread::scope(|scope| {
        let ticking = std::thread::Builder::new().name("reports".to_owned());
        let ticking = ticking
            .spawn_scoped(scope, move || {
                // A script whose hooks fail ends its run.
                clock.tick(&told).inspect_err(|_| job.stop.at(now()))
            })
            .map_err(Failure::environment)?;
        let progress = |progress: Progress| match progress {
            Progress::Started { at, .. } => {
                say(report::STARTED);
                // A clock that has failed listens no more; joining it tells why.
                let _ = tell.send(Told::Started(at));
            }
            Progress::Stuck { client, length } => screen::note(&stuck(client, length)),
            _ => {}
        };
        let finished = dbtime_lab::run_into(store, request, &progress, &job.stop);
        if let Ok(finished) = &finished {
            let window = &finished.run.record.window;
            let length = Nanos::from_secs_f64(window.measure_s + window.rundown_s);
            let _ = tell.send(Told::Ended(length));
        }
        drop(tell);
        let reported = ticking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A hook that failed has ended the run: its words say why.
        let end = reported?;
        Ok((finished.map_err(fatal)?, end))
    })
}

/// What dbtime has to say beyond sysbench's report.
fn show(job: &Job, finished: &Finished) -> Result<Kept, Failure> {
    let own = &job.options.own;
    if own.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::json(&(json.map_err(Failure::environment)? + "\n"));
    } else if !own.classic {
        let color = screen::wants_color();
        let options = TerminalOptions { color, histogram: false, threads: false };
        screen::result(&terminal::run_report(&finished.run, &options));
    }
    let kept = Kept::of(finished);
    if !own.json && !own.classic {
        screen::result(&kept.lines);
    }
    Ok(kept)
}
