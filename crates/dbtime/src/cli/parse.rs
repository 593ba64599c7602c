//! From words to flags: what all commands have in common, added to what each says itself.

use super::run_flags::{self, FlagPlace};
use super::{Cli, headings, hints, misplaced};
use crate::secrets;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};
use std::ffi::{OsStr, OsString};

const SEE_EXIT_CODES: &str = "Exit codes: see `dbtime --help`.";

/// What a flag of all documents does where there is none but of a recording.
const HTML_OF_TRACE: &str = "With --summary of a recording: write an HTML file instead of text";

/// What values are called that have a number with a unit.
const QUANTITIES: [&str; 4] = ["TIME", "RATE", "SECONDS", "SHARE"];

/// What values are called that are numbers.
const NUMBERS: [&str; 6] = ["N", "W", "PORT", "KIB", "BITS", "CPUS"];

/// Commands whose flags are another tool's.
pub(crate) const FOREIGN: [&str; 2] = ["pgbench", "sysbench"];

/// Reads a whole command line, the program's name first.
///
/// Errors: what is wrong with it; also help and version, where they are wanted.
pub(crate) fn parse<I, T>(words: I) -> Result<Cli, clap::Error>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let mut command = command().mut_subcommands(shown);
    let matches = command.try_get_matches_from_mut(&words);
    let mut matches = matches.map_err(|error| {
        let error = hints::with_near_tip(&command, &words, without_secrets(error));
        in_own_words(&command, &words, error)
    })?;
    if let Some(refusal) = misplaced::refusal(&command, &matches) {
        return Err(refusal);
    }
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// A complaint whose quotations have no secrets in them.
fn without_secrets(mut error: clap::Error) -> clap::Error {
    use ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
    for kind in [InvalidArg, InvalidValue, InvalidSubcommand] {
        let shown = match error.get(kind) {
            Some(ContextValue::String(word)) => secrets::in_complaint(word),
            _ => continue,
        };
        error.insert(kind, ContextValue::String(shown));
    }
    error
}

/// Commands that are about runs, the words that each begins with, and where the flags of its runs
/// stand.
const OF_RUNS: [(&str, &[&str], FlagPlace); 10] = [
    ("dbtime run", &["run"], FlagPlace::CommandLine),
    ("dbtime study ab", &["study", "ab"], FlagPlace::CommandLine),
    ("dbtime study plan", &["study", "plan"], FlagPlace::StudyFile),
    ("dbtime study run", &["study", "run"], FlagPlace::StudyFile),
    ("dbtime study resume", &["study", "resume"], FlagPlace::MadeStudy),
    ("dbtime study report", &["study", "report"], FlagPlace::MadeStudy),
    ("dbtime study pack", &["study", "pack"], FlagPlace::MadeStudy),
    ("dbtime study verify", &["study", "verify"], FlagPlace::MadeStudy),
    ("dbtime compare", &["compare"], FlagPlace::MadeRuns),
    ("dbtime report", &["report"], FlagPlace::MadeRuns),
];

/// Another tool's word for a flag of a run is answered with the flag, and a flag of a run with its
/// place.
fn in_own_words(root: &Command, words: &[OsString], error: clap::Error) -> clap::Error {
    let is_of = |names: &[&str]| {
        let given = words.iter().skip(1).take(names.len());
        given.map(OsString::as_os_str).eq(names.iter().map(OsStr::new))
    };
    let command = OF_RUNS.into_iter().find(|(_, names, _)| is_of(names));
    let answer = match (error.get(ContextKind::InvalidArg), command) {
        (Some(ContextValue::String(word)), Some((command, _, place))) => {
            run_flags::placed_in(place, command, word, hints::value_of(words, word))
        }
        _ => None,
    };
    match answer.or_else(|| hints::answer(root, words, &error)) {
        Some(answer) => clap::Error::raw(error.kind(), answer),
        None => error,
    }
}

/// `dbtime run -V` is the version of dbtime.
fn shown(command: Command) -> Command {
    command.mut_subcommands(shown).display_name("dbtime").defer(with_whole_text)
}

/// The whole grammar.
pub(super) fn command() -> Command {
    let is_own = |command: &Command| !FOREIGN.contains(&command.get_name());
    with_help(Cli::command().mut_subcommands(|subcommand| match is_own(&subcommand) {
        true => with_help(own(subcommand)),
        false => subcommand,
    }))
}

/// A command with flags of dbtime's own.
fn own(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_subcommands(|subcommand| with_help(own(subcommand)));
    let command = command.mut_args(|arg| {
        let arg = match headings::of(&name, arg.get_id().as_str()) {
            Some(heading) => arg.help_heading(heading),
            None => arg,
        };
        let is_of_recordings = name == "trace" && arg.get_id() == "html";
        let arg = if is_of_recordings { arg.help(HTML_OF_TRACE) } else { arg };
        let is_called = |names: &[&str]| {
            let of = arg.get_value_names().unwrap_or_default();
            of.iter().any(|name| names.contains(&name.as_str()))
        };
        let (is_quantity, is_number) = (is_called(&QUANTITIES), is_called(&NUMBERS));
        match arg.get_action().takes_values() {
            // `--rate -5/s` is a wrong rate, not a flag.
            true if is_quantity => arg.allow_hyphen_values(true),
            // So is `--seed -1` a wrong number.
            true if is_number => arg.allow_negative_numbers(true),
            _ => arg,
        }
    });
    let after = match command.get_after_help() {
        Some(text) if text.to_string().contains("Exit codes") => text.to_string(),
        Some(text) => format!("{text}\n\n{SEE_EXIT_CODES}"),
        None => SEE_EXIT_CODES.to_owned(),
    };
    command.after_help(after)
}

/// Lists of commands have the first line of what each is, its own help has all, in any form.
fn with_whole_text(command: Command) -> Command {
    match command.get_long_about().cloned() {
        Some(whole) => command.about(whole).long_about(None),
        None => command,
    }
}

/// The grammar without what is for dbtime itself: for completions and pages.
pub(crate) fn public_command() -> Command {
    let whole = command();
    let public = whole.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let root = Command::new("dbtime")
        .about(whole.get_about().cloned().unwrap_or_default())
        .after_help(whole.get_after_help().cloned().unwrap_or_default());
    with_help(root.subcommands(public.cloned()))
}

/// Adds the flags that every command has, behind all others.
fn with_help(command: Command) -> Command {
    let flag = |name: &'static str, short: char| {
        Arg::new(name).long(name).short(short).help_heading(headings::GENERAL)
    };
    let help = flag("help", 'h').action(ArgAction::Help).help("Print this help");
    let version = flag("version", 'V').action(ArgAction::Version).help("Print the version");
    command
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args([help, version])
}

/// A wrong command line in words, as dbtime writes its errors; `None` for help and version.
pub(crate) fn complaint(error: &clap::Error) -> Option<String> {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let text = error.render().to_string();
    let words = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    (error.use_stderr() && !is_help).then(|| words.to_owned())
}

/// What is said of a command line that is refused.
#[cfg(test)]
pub(super) fn complaint_of(words: &str) -> String {
    let error = parse(words.split(' ')).expect_err(words);
    complaint(&error).expect("an error")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &str) -> clap::Error {
        parse(words.split(' ')).expect_err(words)
    }

    #[test]
    fn the_grammar_holds_together() {
        command().debug_assert();
    }

    #[test]
    fn a_wrong_quantity_is_no_flag() {
        for (words, cause) in [
            ("dbtime run --time -5s", "`-5s` is no duration: it is negative"),
            ("dbtime run --seed -1", "invalid value '-1' for '--seed <N>'"),
            ("dbtime run --workers -1", "invalid value '-1' for '--workers <W>'"),
            ("dbtime ps -1", "`-1` is no duration: it is negative"),
            ("dbtime compare --margin -1% a b", "'--margin <SHARE>': not a share above 0"),
            ("dbtime study ab --margin -1 --a x=1 --b x=2", "'--margin <SHARE>': not a share"),
            ("dbtime trace --max-cost -2%", "invalid value '-2%' for '--max-cost <SHARE>'"),
            ("dbtime trace --buffer -8", "invalid value '-8' for '--buffer <KIB>'"),
            ("dbtime run --client-cpus -1", "invalid value '-1' for '--client-cpus <CPUS>'"),
            ("dbtime counters --target sqlite:x --interval --json", "it has no number"),
        ] {
            let text = complaint(&refused(words)).expect("an error");
            assert!(!text.contains("-- -"), "no tip that makes a word of it: {text}");
            assert!(text.contains(cause) && !text.starts_with("error"), "{text}");
        }
    }

    #[test]
    fn complaints_quote_no_secrets() {
        for words in [
            "dbtime run atm postgres://u:hush@h/d",
            "dbtime run --server-env =hush",
            "dbtime postgres://u@h/d?password=hush",
            "dbtime run --connections password=hush",
        ] {
            let text = complaint(&refused(words)).expect("an error");
            assert!(!text.contains("hush"), "{text}");
        }
    }

    #[test]
    fn every_command_has_the_version_of_dbtime() {
        for words in ["dbtime -V", "dbtime run -V", "dbtime ps --version"] {
            let shown = refused(words);
            assert_eq!(shown.to_string(), format!("dbtime {}\n", env!("CARGO_PKG_VERSION")));
            assert!(complaint(&shown).is_none());
        }
    }

    #[test]
    fn help_is_the_same_by_any_name_and_fits() {
        let names: Vec<String> =
            command().get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        for name in names.iter().filter(|name| !FOREIGN.contains(&name.as_str())) {
            let help = refused(&format!("dbtime {name} --help")).to_string();
            assert_eq!(help, refused(&format!("dbtime {name} -h")).to_string());
            let wide = help.lines().find(|line| line.chars().count() > 100);
            assert_eq!(wide, None, "dbtime {name} --help");
        }
    }
}
