//! `dbtime run`: drive a database and show where the time of its transactions went.

use crate::cli::{Cli, Command, RunArgs};
use crate::exit::{Exit, Failure};
use crate::live::Live;
use crate::{interrupt, options, screen, sweep};
use clap::Parser;
use dbtime_engines::plan::Stop;
use dbtime_lab::Finished;
use dbtime_report::terminal::{self, SweepRow, TerminalOptions};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if !args.sweep.is_empty() {
        return run_sweep(args, &arguments);
    }
    let out = folder(args)?;
    let request = options::request(args, command_line(&arguments), out)?;
    let stop = interrupt::install();
    let finished = drive(&request, &stop)?;
    show(args, &finished)?;
    Ok(verdict(args, &finished))
}

fn drive(request: &dbtime_lab::RunRequest, stop: &Stop) -> Result<Finished, Failure> {
    let live = Live::new();
    let finished = dbtime_lab::run(request, &|progress| live.show(&progress), stop);
    live.finish();
    Ok(finished?)
}

/// Prints the report, and writes the HTML beside the record.
fn show(args: &RunArgs, finished: &Finished) -> Result<(), Failure> {
    if args.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::result(&(json.map_err(Failure::environment)? + "\n"));
        let folder = finished.folder.as_deref();
        return folder.map_or(Ok(()), |folder| write_html(folder, finished).map(drop));
    }
    let options = TerminalOptions { color: screen::wants_color(), histogram: args.histogram };
    screen::result(&terminal::run_report(&finished.run, &options));
    if let Some(folder) = &finished.folder {
        screen::result(&format!("\nRecord: {}\n", folder.display()));
        let html = write_html(folder, finished)?;
        screen::result(&format!("Report: {}\n", html.display()));
    }
    Ok(())
}

fn write_html(folder: &Path, finished: &Finished) -> Result<PathBuf, Failure> {
    let path = folder.join("report.html");
    super::report::write_whole(&path, &dbtime_report::html::report(&finished.run))?;
    Ok(path)
}

fn verdict(args: &RunArgs, finished: &Finished) -> Exit {
    match finished {
        // A limit says nothing about figures that may be wrong.
        _ if (args.strict || !args.limits.is_empty()) && !finished.run.record.validity.valid => {
            Exit::Invalid
        }
        finished if !finished.passed => Exit::Failed,
        _ => Exit::Fine,
    }
}

fn run_sweep(args: &RunArgs, arguments: &[String]) -> Result<Exit, Failure> {
    let combinations = sweep::combinations(&args.sweep)?;
    let out = folder(args)?;
    if let Some(out) = out.as_deref().filter(|out| out.symlink_metadata().is_ok()) {
        return Err(dbtime_lab::LabError::OutExists(out.to_owned()).into());
    }
    // All of them are read before the first is run.
    let mut requests = Vec::new();
    for (index, combination) in combinations.iter().enumerate() {
        let arguments = sweep::arguments(arguments, combination);
        let Command::Run(args) = Cli::try_parse_from(&arguments)?.command else {
            return Err(Failure::usage("--sweep belongs to run"));
        };
        let out = out.as_ref().map(|out| out.join(format!("{:03}", index + 1)));
        requests.push(options::request(&args, command_line(&arguments), out)?);
    }
    let stop = interrupt::install();
    let mut done = Done { rows: Vec::new(), exit: Exit::Fine };
    let numbered = requests.iter().zip(&combinations).enumerate();
    let outcome =
        numbered.take_while(|_| !stop.is_set()).try_for_each(|(index, (request, combination))| {
            if screen::has_audience() {
                let (number, all, shown) = (index + 1, requests.len(), shown(combination));
                screen::note(&format!("run {number} of {all}: {shown}"));
            }
            done.add(args, drive(request, &stop)?, combination)
        });
    // What was measured before an end is shown all the same.
    if !args.json && !done.rows.is_empty() {
        let mut text = terminal::sweep_table(&done.rows);
        if let Some(out) = out {
            text += &format!("\nRecords: {}\n", out.display());
        }
        screen::result(&text);
    }
    match outcome {
        Err(failure) if !stop.is_set() || done.rows.is_empty() => Err(failure),
        _ => Ok(done.exit),
    }
}

/// The runs of a sweep so far.
struct Done {
    rows: Vec<SweepRow>,
    exit: Exit,
}

impl Done {
    fn add(
        &mut self,
        args: &RunArgs,
        finished: Finished,
        combination: &sweep::Combination,
    ) -> Result<(), Failure> {
        self.exit = self.exit.max(verdict(args, &finished));
        let row = SweepRow::from_record(&finished.run.record);
        let named = combination.iter();
        self.rows.push(named.fold(row, |row, (name, value)| row.with_factor(name, value)));
        if args.json {
            let line = serde_json::to_string(&finished.run.record).map_err(Failure::environment)?;
            screen::result(&(line + "\n"));
        }
        let folder = finished.folder.as_deref();
        folder.map_or(Ok(()), |folder| write_html(folder, &finished).map(drop))
    }
}

fn shown(combination: &sweep::Combination) -> String {
    let pairs = combination.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}

/// Where the record goes.
fn folder(args: &RunArgs) -> Result<Option<PathBuf>, Failure> {
    if args.no_record {
        return Ok(None);
    }
    if let Some(out) = &args.out {
        return Ok(Some(out.clone()));
    }
    let name =
        args.workload.as_deref().unwrap_or(if args.query.is_some() { "query" } else { "atm" });
    let name =
        Path::new(name).file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let base = Path::new("dbtime-runs");
    // Two runs may start in one second.
    let mut numbers = 1..1000;
    let free = numbers.find_map(|n| {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        let path = base.join(format!("{time}-{name}{suffix}"));
        path.symlink_metadata().is_err().then_some(path)
    });
    free.map(Some).ok_or_else(|| Failure::environment("no free name in dbtime-runs: use --out"))
}

/// The command as a shell would take it again.
fn command_line(arguments: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:%,@+".contains(c);
    let quoted = arguments.iter().enumerate().map(|(index, argument)| match argument {
        _ if index == 0 => "dbtime".to_owned(),
        argument if !argument.is_empty() && argument.chars().all(plain) => argument.clone(),
        argument => format!("'{}'", argument.replace('\'', r"'\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}
