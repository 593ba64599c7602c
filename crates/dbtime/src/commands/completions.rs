//! `dbtime completions`: what completes command lines in a shell, from the grammar itself.
//!
//! Names of workloads and values of flags are offered and nothing else is refused: a workload can
//! be a file, and a target has parameters.

use crate::cli::{self, CompletionsArgs, run_flags};
use crate::exit::ProcessExit;
use crate::screen;
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use dbtime_load::workload::SHIPPED;

/// The argument that takes a workload, of all commands that have one.
const WORKLOAD: &str = "workload";

pub(crate) fn run(args: &CompletionsArgs) -> ProcessExit {
    let mut grammar = cli::public_command().mut_subcommands(with_values);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut grammar, "dbtime", &mut script);
    let script = String::from_utf8_lossy(&script);
    screen::result(&match args.shell {
        Shell::Zsh => with_files(&script),
        Shell::Fish => with_workloads(&script),
        _ => script.into_owned(),
    });
    ProcessExit::Fine
}

/// The grammar of a command with what may be offered for its arguments.
fn with_values(command: Command) -> Command {
    let is_run = command.get_name() == "run";
    command.mut_subcommands(with_values).mut_args(|arg| {
        let name = arg.get_id().as_str();
        let values = match name {
            WORKLOAD => shipped(),
            _ if is_run => run_flags::offered(name).to_vec(),
            _ => Vec::new(),
        };
        match values.is_empty() {
            true => arg,
            false => arg.value_parser(PossibleValuesParser::new(values)),
        }
    })
}

fn shipped() -> Vec<&'static str> {
    SHIPPED.iter().map(|(name, _)| *name).collect()
}

/// zsh offers no files where it has a list: a workload may be one.
fn with_files(script: &str) -> String {
    let list = shipped().join(" ");
    script.replace(&format!("({list})"), &format!("{{compadd - {list}; _files}}"))
}

/// What clap writes for fish has no values of words, only of flags.
fn with_workloads(script: &str) -> String {
    let list = shipped().join(" ");
    let lines = ["run", "init", "workloads"].map(|command| {
        let condition = format!("__fish_dbtime_using_subcommand {command}");
        format!("complete -c dbtime -n \"{condition}\" -a \"{list}\"\n")
    });
    format!("{script}{}", lines.concat())
}
