//! `dbtime sysbench`: scripts written for sysbench, with its options, its output and its exit
//! codes, and after it what dbtime has to say.

mod clock;
mod fatal_words;
mod main_state;
mod request;
mod run;
mod target;

use crate::exit::{CommandFailure, ProcessExit};
use crate::live::report_overdue_script;
use crate::{foreign, given_secrets, interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::{OneShot, RunRequest};
use dbtime_model::bounded_file;
use dbtime_model::plain_text::plain_lines;
use dbtime_script::sysbench::options::{CommandArguments, GeneralOptions, SysbenchOptions};
use dbtime_script::sysbench::{
    MainTask, ScriptDeclarations, ScriptOutput, SysbenchCommand, SysbenchScript, SysbenchSettings,
    help, report,
};
use fatal_words::{SysbenchFatal, fatal, in_its_words};
use main_state::{StateSetup, StateThread};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use target::LazyTarget;

/// Commands of scripts that are for the ones behind them.
const FOR_LATER: [&str; 3] = ["prepare", "prewarm", "cleanup"];

/// Does what a command line says that is not dbtime's. Every failure ends in 1, as sysbench's does,
/// but one behind a signal, which ends it as the shell sees a sysbench that the signal has ended.
pub(crate) fn run(words: &[String]) -> ProcessExit {
    match obey(words) {
        Ok(exit) => exit,
        Err(failure) => {
            let has = |option: &str| words.iter().any(|word| word == option);
            report_failure(failure, has("--json"), has("--classic"));
            ProcessExit::OfCommand(1).or_by_signal()
        }
    }
}

/// Says why there is no more: sysbench's own words where it says them, on stdout unless that is for
/// one JSON document, and everything else on stderr.
fn report_failure(failure: CommandFailure, is_json: bool, is_classic: bool) {
    let Some(fatal) = SysbenchFatal::of(&failure) else {
        screen::note(&failure.words());
        return;
    };
    let (words, trace) = fatal.parts();
    match is_json {
        true => screen::note(words),
        false => screen::result(&format!("{}\n", plain_lines(&given_secrets::hidden(words)))),
    }
    // Sysbench shows no traceback.
    if !trace.is_empty() && !is_classic {
        screen::note(trace);
    }
}

/// A script, and what is asked of it.
struct SysbenchJob {
    script: NamedScript,
    command: Option<String>,
    options: SysbenchOptions,
    destination: LazyTarget,
    declared: ScriptDeclarations,
    words: Vec<String>,
    output: ScriptOutput,
    /// Ends commands, and what comes before a run: its `done()` comes after what ends that.
    stop: Arc<RunStop>,
}

/// A script as it was named, or as it came over stdin.
struct NamedScript {
    path: String,
    source: Option<Arc<str>>,
}

fn obey(words: &[String]) -> Result<ProcessExit, CommandFailure> {
    let open =
        |path: &str| bounded_file::written_text(path.as_ref()).map_err(|error| error.to_string());
    let arguments = CommandArguments::read(words, open).map_err(CommandFailure::usage)?;
    if arguments.has_test {
        screen::note(report::DEPRECATED_TEST);
    }
    let before = arguments.before_script().map_err(CommandFailure::usage)?;
    let GeneralOptions { help, version, verbosity, .. } = before.general;
    let is_alone = arguments.script.is_none() && std::io::stdin().is_terminal();
    if help || version || is_alone {
        return without_script(&arguments, &before);
    }
    if before.own.json {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    let output = output(before.own.json).with_verbosity(verbosity);
    let output = if before.own.classic { output } else { output.with_remarks(screen::note) };
    before.warnings.iter().for_each(|warning| output.write(&format!("WARNING: {warning}\n")));
    if !before.own.json {
        output.report(&report::banner(before.own.compat));
    }
    let script = NamedScript::read(arguments.script.as_deref())?;
    let (command, words, stop) = (arguments.command.clone(), words.to_vec(), interrupt::install());
    let declared = ScriptDeclarations::default();
    let destination = LazyTarget::default();
    let job = SysbenchJob {
        script,
        command,
        options: before,
        destination,
        declared,
        words,
        output,
        stop,
    };
    job.start(&arguments)
}

impl NamedScript {
    fn read(script: Option<&str>) -> Result<Self, CommandFailure> {
        let path = script.unwrap_or("-").to_owned();
        if path != "-" {
            return Ok(Self { path, source: None });
        }
        let read = bounded_file::text_from(std::io::stdin());
        let text = read.map_err(|error| {
            CommandFailure::usage(format!("the script on stdin cannot be read: {error}"))
        })?;
        Ok(Self { path, source: Some(text.into()) })
    }
}

fn without_script(
    arguments: &CommandArguments,
    options: &SysbenchOptions,
) -> Result<ProcessExit, CommandFailure> {
    // Nothing is left out: a wrong option is an error.
    arguments.options(Some(&[])).map_err(CommandFailure::usage)?;
    if options.general.version {
        screen::result(&format!("sysbench {}\n", options.own.compat.version()));
    } else {
        screen::result(&help::general());
    }
    Ok(ProcessExit::Fine)
}

/// Where scripts print: stdout, unless that is for one JSON document.
fn output(is_json: bool) -> ScriptOutput {
    match is_json {
        true => ScriptOutput::new(screen::to_stderr),
        false => ScriptOutput::new(screen::result),
    }
}

impl SysbenchJob {
    /// Runs the script's body, which says what options there are, and does what was asked.
    fn start(mut self, arguments: &CommandArguments) -> Result<ProcessExit, CommandFailure> {
        let mut main = self.state(0, Arc::clone(&self.stop))?;
        self.declared = std::mem::take(&mut main.declared);
        if self.command.is_none() || self.script.source.is_some() {
            // A script on stdin is no more than its body.
            return Ok(ProcessExit::Fine.of_part());
        }
        let declared = self.declared.options.as_deref();
        let options = arguments.options(declared).map_err(CommandFailure::usage)?;
        if target::target(&options).ok() != target::target(&self.options).ok() {
            // Dbtime's own `--target` gives way to a script's.
            self.destination = LazyTarget::default();
        }
        let known = std::mem::replace(&mut self.options, options).warnings;
        let warnings = self.options.warnings.iter().filter(|warning| !known.contains(warning));
        warnings.for_each(|warning| screen::note(&format!("WARNING: {warning}")));
        self.validate(arguments, &mut main)?;
        main.give_options(request::script_options(&self.options))?;
        self.work(&mut main)
    }

    /// A state of the script in which its body has run.
    fn state(&self, tid: u32, stop: Arc<RunStop>) -> Result<StateThread, CommandFailure> {
        let settings = SysbenchSettings {
            source: self.script.source.clone(),
            ..request::settings(
                self,
                SysbenchCommand::Named {
                    name: self.command.clone().unwrap_or_default(),
                    is_parallel: false,
                },
            )
        };
        let name = request::name(&self.script.path);
        let making = StateSetup { settings, has_command: self.command.is_some(), tid, name, stop };
        StateThread::start(making, || self.destination.target(&self.options))
    }

    /// A state for report hooks, with the script's options.
    fn reporting_state(&self) -> Result<StateThread, CommandFailure> {
        let mut state = self.state(self.options.general.threads, Arc::default())?;
        state.give_options(request::script_options(&self.options))?;
        Ok(state)
    }

    /// Lets the script look at the values of options that it wants to see before anything else.
    fn validate(
        &self,
        arguments: &CommandArguments,
        main: &mut StateThread,
    ) -> Result<(), CommandFailure> {
        let own = self.declared.options.iter().flatten().filter(|option| option.has_validate);
        for option in own {
            let dashed = option.name.replace('_', "-");
            let given = arguments.assignments().filter(|(name, _)| *name == dashed);
            for (_, value) in given {
                let (name, text) = (option.name.clone(), value.unwrap_or("on").to_owned());
                let refusal = format!("invalid option: --{name}={text}");
                if !main.answer(MainTask::Validate { name, text })? {
                    return Err(CommandFailure::usage(refusal));
                }
            }
        }
        Ok(())
    }

    fn work(&self, main: &mut StateThread) -> Result<ProcessExit, CommandFailure> {
        let name = self.command.as_deref().unwrap_or_default();
        let own = self.declared.commands.iter().find(|command| command.name == name);
        let has = |name: &str| self.declared.functions.contains(&name);
        if FOR_LATER.contains(&name) && (own.is_some() || has(name)) {
            self.check_place(name)?;
        }
        match name {
            _ if own.is_some_and(|own| own.is_parallel && self.options.general.threads > 1) => {
                self.output.report(report::WORKERS);
                self.once(&self.parallel(name)?, &self.stop)?;
            }
            _ if own.is_some() => self.command(main, name)?,
            "prepare" | "cleanup" | "help" if has(name) => self.command(main, name)?,
            "help" if self.declared.options.is_some() => {
                let declared = self.declared.options.as_deref().unwrap_or_default();
                screen::result(&help::of_script(&self.file_name(), declared));
            }
            "prepare" | "cleanup" | "prewarm" | "help" => {
                let script = self.file_name();
                let missing = format!("'{script}' test does not implement the '{name}' command.");
                return Err(CommandFailure::usage(missing));
            }
            "run" => return run::run(self, main),
            _ => return Err(CommandFailure::usage(format!("Unknown command: {name}"))),
        }
        // What ends it may have come while the script was at something else.
        Ok(ProcessExit::Fine.of_part())
    }

    /// Refuses to do for a later command what ends with this one.
    fn check_place(&self, name: &str) -> Result<(), CommandFailure> {
        if !self.destination.target(&self.options)?.loads_data() {
            return Ok(());
        }
        let target = target::target(&self.options)?;
        Err(foreign::keeps_nothing(&target, name, "dbtime run --script SCRIPT.lua"))
    }

    fn command(&self, main: &mut StateThread, name: &str) -> Result<(), CommandFailure> {
        main.answer(MainTask::Command(name.to_owned())).map(drop)
    }

    /// The script without its folder.
    fn file_name(&self) -> String {
        let file = Path::new(&self.script.path).file_name();
        file.map_or_else(|| self.script.path.clone(), |file| file.to_string_lossy().into_owned())
    }

    /// A command that every thread runs once.
    fn parallel(&self, name: &str) -> Result<RunRequest, CommandFailure> {
        let command = SysbenchCommand::Named { name: name.to_owned(), is_parallel: true };
        let script = Arc::new(self.script(command)?);
        let request = request::command(self, script, self.options.general.threads)?;
        // A file that is not there yet is about to be filled.
        request.target.create().map_err(fatal)?;
        Ok(request)
    }

    fn once(&self, request: &RunRequest, stop: &RunStop) -> Result<(), CommandFailure> {
        dbtime_lab::command(request, OneShot::Command, &report_overdue_script, stop).map_err(fatal)
    }

    fn script(&self, command: SysbenchCommand) -> Result<SysbenchScript, CommandFailure> {
        let settings = request::settings(self, command);
        SysbenchScript::new(settings).map_err(in_its_words)
    }
}
