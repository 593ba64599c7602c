//! `dbtime pgbench`: pgbench's scripts and tables, with its options, its output and its exit codes,
//! and after it what dbtime has to say.

mod init;
mod log;
mod preflight;
mod request;
mod result;
mod run;
mod target;
mod watch;

use crate::exit::{CommandFailure, ProcessExit};
use crate::live::report_overdue_script;
use crate::{foreign, interrupt, screen, secrets};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::{LabError, OneShot, RunRequest, Target, operation};
use dbtime_load::script::Script;
use dbtime_load::workload::Workload;
use dbtime_model::SqlDialect;
use dbtime_model::plain_text::plain_lines;
use dbtime_script::pgbench::options::{
    self, BenchmarkOptions, HELP, InitOptions, PgbenchCommand, list_builtins,
};
use dbtime_script::pgbench::{BuiltinScript, report};
use std::sync::Arc;
use target::PgbenchPlace;

/// A client has given up: pgbench's exit code for a run that is incomplete.
const INCOMPLETE: ProcessExit = ProcessExit::OfCommand(2);

/// Does what a command line says that is not dbtime's. Every failure ends in 1, as pgbench's does,
/// but one behind a signal, which ends it as the shell sees a pgbench that the signal has ended.
pub(crate) fn run(words: &[String]) -> ProcessExit {
    let command = match options::read(words.iter().cloned()) {
        Ok(command) => command,
        Err(error) => {
            screen::to_stderr(&plain_lines(&error.report()));
            return ProcessExit::OfCommand(1);
        }
    };
    let done = match command {
        PgbenchCommand::Help => print_text(screen::result, HELP),
        PgbenchCommand::Version => print_text(screen::result, &report::banner(None)),
        PgbenchCommand::ListBuiltins => print_text(screen::to_stderr, &list_builtins()),
        PgbenchCommand::ShowScript(script) => show_script(script),
        PgbenchCommand::Initialize(what) => initialize(words, &what),
        PgbenchCommand::Benchmark(what) => benchmark(words, &what),
    };
    done.unwrap_or_else(|failure| {
        let (CommandFailure::Usage(error) | CommandFailure::Environment(error)) = failure;
        screen::to_stderr(&as_error(&error.to_string()));
        ProcessExit::OfCommand(1).or_by_signal()
    })
}

fn print_text(print: fn(&str), text: &str) -> Result<ProcessExit, CommandFailure> {
    print(text);
    Ok(ProcessExit::Fine)
}

/// What a line of an error may begin with, to be told as such.
const KINDS: [&str; 3] = ["error: ", "detail: ", "hint: "];

/// A text as pgbench writes errors.
fn as_error(text: &str) -> String {
    let mut message = String::new();
    for (index, line) in plain_lines(text).lines().enumerate() {
        let is_named = KINDS.iter().any(|kind| line.starts_with(kind));
        message += match (index, is_named) {
            (0, _) => "pgbench: error: ",
            (_, true) => "pgbench: ",
            (_, false) => "",
        };
        message += line;
        message.push('\n');
    }
    message
}

fn show_script(script: BuiltinScript) -> Result<ProcessExit, CommandFailure> {
    let text = script.text(SqlDialect::Postgres);
    let text = format!("-- {}: {}\n{text}\n", script.name, script.description);
    print_text(screen::to_stderr, &text)
}

fn initialize(words: &[String], what: &InitOptions) -> Result<ProcessExit, CommandFailure> {
    let place = PgbenchPlace::of(&what.common)?;
    if !place.is_given && place.target.reveal().parse::<Target>()?.loads_data() {
        return Err(foreign::keeps_nothing(place.target.reveal(), "-i", "dbtime pgbench"));
    }
    let job = PgbenchJob { words: words.to_vec(), place, stop: interrupt::install() };
    init::run(&job, what).map(|()| ProcessExit::Fine)
}

fn benchmark(words: &[String], what: &BenchmarkOptions) -> Result<ProcessExit, CommandFailure> {
    if what.common.own.json {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    let place = PgbenchPlace::of(&what.common)?;
    let job = PgbenchJob { words: words.to_vec(), place, stop: interrupt::install() };
    run::run(&job, what)
}

/// What both kinds of work have.
struct PgbenchJob {
    words: Vec<String>,
    place: PgbenchPlace,
    stop: Arc<RunStop>,
}

impl PgbenchJob {
    /// A request for what a script does, once.
    fn request(&self, name: &str, script: Arc<dyn Script>) -> Result<RunRequest, CommandFailure> {
        let workload = Workload::from_script(name.to_owned(), vec![operation(name)], script);
        let mut request = RunRequest::new(workload, self.place.target.reveal().parse()?);
        request.command = command(&self.words, None);
        Ok(request)
    }

    /// Runs a script of one client and one transaction to its end.
    fn once(
        &self,
        name: &str,
        what: OneShot,
        script: Arc<dyn Script>,
    ) -> Result<(), CommandFailure> {
        let request = self.request(name, script)?;
        if what == OneShot::Tables {
            // A file that is not there yet is about to be filled.
            request.target.create().map_err(fatal)?;
        }
        dbtime_lab::command(&request, what, &report_overdue_script, &self.stop).map_err(fatal)
    }
}

/// The command that does the same again, with a seed where the words name none.
fn command(words: &[String], seed: Option<u64>) -> String {
    let mut line: Vec<String> = ["dbtime", "pgbench"].map(str::to_owned).into();
    line.extend_from_slice(words);
    // Behind `--` there is nothing but a database.
    let end = line.iter().position(|word| word == "--").unwrap_or(line.len());
    line.splice(end..end, seed.map(|seed| format!("--random-seed={seed}")));
    secrets::command_line(&line)
}

fn fatal(error: LabError) -> CommandFailure {
    match error {
        LabError::Refused { failure, .. } if !failure.report.is_empty() => {
            CommandFailure::environment(failure.report)
        }
        error => CommandFailure::environment(error),
    }
}
