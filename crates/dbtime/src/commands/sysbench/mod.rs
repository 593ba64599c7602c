//! `dbtime sysbench`: scripts written for sysbench, with its options, its output and its exit
//! codes, and after it what dbtime has to say.

mod clock;
mod request;
mod run;
mod target;

use crate::exit::{Exit, Failure};
use crate::live::stuck;
use crate::{interrupt, screen};
use dbtime_engines::plan::Stop;
use dbtime_lab::{LabError, Progress, RunRequest};
use dbtime_script::sysbench::options::{Arguments, Compat, Options};
use dbtime_script::sysbench::{
    Command, Declared, Output, SysbenchScript, declared_options, help, refused_option, report,
};
use std::path::Path;
use std::sync::Arc;

/// Does what a command line says that is not dbtime's. Every failure ends in 1, as sysbench's does.
pub(crate) fn run(words: &[String]) -> Exit {
    match obey(words) {
        Ok(exit) => exit,
        Err(failure) => {
            tell(failure, words.iter().any(|word| word == "--json"));
            Exit::OfCommand(1)
        }
    }
}

/// Says why there is no more: sysbench's own words where it says them, on stdout unless that is for
/// one JSON document, and everything else on stderr.
fn tell(failure: Failure, is_json: bool) {
    let text = failure.words();
    let (fatal, rest) = match text.find("\nstack traceback:") {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text.as_str(), ""),
    };
    match fatal.starts_with("FATAL: ") && !is_json {
        true => screen::result(&format!("{fatal}\n")),
        false => screen::note(fatal),
    }
    if !rest.is_empty() {
        screen::note(rest);
    }
}

/// A script, and what is asked of it.
struct Job {
    /// As it was named.
    script: String,
    command: Option<String>,
    options: Options,
    declared: Declared,
    words: Vec<String>,
    stop: Arc<Stop>,
}

fn obey(words: &[String]) -> Result<Exit, Failure> {
    let open = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let arguments = Arguments::read(words, open).map_err(Failure::usage)?;
    let before = arguments.before_script().map_err(Failure::usage)?;
    let Some(script) = arguments.script.clone().filter(|_| !before.general.help) else {
        return without_script(&arguments, &before);
    };
    let compat = before.own.compat;
    if !before.own.json {
        screen::result(&report::banner(compat));
    }
    let output = output(before.own.json);
    let command = arguments.command.as_deref();
    let declared = declared_options(&script, command, compat, output).map_err(Failure::usage)?;
    let options = arguments.options(declared.options.as_deref()).map_err(Failure::usage)?;
    check_declared(&script, &arguments, &declared, compat)?;
    options.warnings.iter().for_each(|warning| screen::note(&format!("WARNING: {warning}")));
    let (words, stop) = (words.to_vec(), interrupt::install());
    let job = Job { script, command: arguments.command.clone(), options, declared, words, stop };
    job.work()
}

/// Lets the script look at the values of options that it wants to see before the run.
fn check_declared(
    script: &str,
    arguments: &Arguments,
    declared: &Declared,
    compat: Compat,
) -> Result<(), Failure> {
    let own = declared.options.iter().flatten().filter(|option| option.has_validate);
    let names: Vec<(String, &str)> =
        own.map(|option| (option.name.replace('_', "-"), option.name.as_str())).collect();
    let given: Vec<(&str, &str)> = arguments
        .given()
        .filter_map(|(dashed, value)| {
            let (_, name) = names.iter().find(|(own, _)| own == dashed)?;
            Some((*name, value.unwrap_or("on")))
        })
        .collect();
    if given.is_empty() {
        return Ok(());
    }
    let command = arguments.command.as_deref();
    match refused_option(script, command, compat, &given).map_err(Failure::usage)? {
        Some(index) => {
            let (name, text) = given[index];
            Err(Failure::usage(format!("invalid option: --{name}={text}")))
        }
        None => Ok(()),
    }
}

fn without_script(arguments: &Arguments, options: &Options) -> Result<Exit, Failure> {
    // Nothing is left out: a wrong option is told.
    arguments.options(Some(&[])).map_err(Failure::usage)?;
    if options.general.version {
        screen::result(&format!("sysbench {}\n", options.own.compat.version()));
    } else {
        screen::result(&help::general());
    }
    Ok(Exit::Fine)
}

/// Where scripts print: stdout, unless that is for one JSON document.
fn output(is_json: bool) -> Output {
    match is_json {
        true => Output::new(screen::beside),
        false => Output::new(screen::result),
    }
}

impl Job {
    fn work(&self) -> Result<Exit, Failure> {
        let has = |name: &str| self.declared.functions.contains(&name);
        match self.command.as_deref() {
            // The script itself has been executed to see what it declares.
            None => Ok(Exit::Fine),
            Some("help") if !has("help") => {
                let declared = self.declared.options.as_deref().unwrap_or_default();
                let file = Path::new(&self.script).file_name();
                let name = file.map_or(self.script.as_str().into(), |file| file.to_string_lossy());
                screen::result(&help::of_script(&name, declared));
                Ok(Exit::Fine)
            }
            Some("run") => run::run(self),
            Some(name) => {
                let request = self.named(name)?;
                // A file that is not there yet is about to be filled.
                request.target.create().map_err(fatal)?;
                self.once(&request, &self.stop)?;
                Ok(Exit::Fine)
            }
        }
    }

    /// A command of the script, to be run once.
    fn named(&self, name: &str) -> Result<RunRequest, Failure> {
        let own = self.declared.commands.iter().find(|command| command.name == name);
        let is_function = self.declared.functions.contains(&name);
        if own.is_none() && !is_function {
            let script = &self.script;
            let known = matches!(name, "prepare" | "cleanup" | "prewarm" | "help");
            return Err(Failure::usage(match known {
                true => format!("'{script}' test does not implement the '{name}' command."),
                false => format!("Unknown command: {name}"),
            }));
        }
        let is_parallel = own.is_some_and(|command| command.is_parallel);
        let command = Command::Named { name: name.to_owned(), is_parallel };
        let script = Arc::new(self.script(command)?);
        let threads = if is_parallel { self.options.general.threads } else { 1 };
        request::command(self, script, threads)
    }

    /// Runs one of the functions that sysbench calls around a run, where the script has it.
    fn around(&self, name: &str) -> Result<(), Failure> {
        match self.declared.functions.contains(&name) {
            // Also when the run was ended early.
            true => self.once(&self.named(name)?, &Stop::default()),
            false => Ok(()),
        }
    }

    fn once(&self, request: &RunRequest, stop: &Stop) -> Result<(), Failure> {
        let tell = |progress: Progress| {
            if let Progress::Stuck { client, length } = progress {
                screen::note(&stuck(client, length));
            }
        };
        dbtime_lab::command(request, &tell, stop).map_err(fatal)
    }

    fn script(&self, command: Command) -> Result<SysbenchScript, Failure> {
        let settings = request::settings(self, command);
        SysbenchScript::new(settings).map_err(Failure::usage)
    }
}

/// What ends a run, in sysbench's manner.
fn fatal(error: LabError) -> Failure {
    match error {
        LabError::Script(text) => Failure::usage(text),
        other => Failure::environment(format!("FATAL: {other}")),
    }
}
