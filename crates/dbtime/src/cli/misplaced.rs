//! Targets in the place of a file or a folder, which are refused here for all commands: a complaint
//! about a file that is not there says nothing about where a target belongs.

use super::run_flags::RunFlag;
use crate::secrets;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
use dbtime_lab::TargetForm;
use dbtime_model::secret_text::first_word;
use std::any::TypeId;
use std::path::{Path, PathBuf};

/// The argument that takes a path or a name.
const WORKLOAD: &str = "workload";

/// What a connection string has that names a server; `x=y` alone may be a file.
const SERVER_WORDS: [&str; 2] = ["host=", "dbname="];

/// Where a target belongs, of a command that takes one.
const WITH_TARGET: &str = "give the target with --target";

/// That a target stands in the place of a file or a folder, if one does.
pub(super) fn refusal(command: &Command, matches: &ArgMatches) -> Option<clap::Error> {
    if let Some((name, matches)) = matches.subcommand() {
        return refusal(command.find_subcommand(name)?, matches);
    }
    let mut paths = command.get_arguments().filter(|arg| takes_path(arg));
    let text = paths.find_map(|arg| {
        let mut values = matches.get_raw(arg.get_id().as_str())?;
        let text = values.find_map(|value| value.to_str().filter(|text| is_target(text)))?;
        Some(sentence(text, arg, remedy(command)))
    })?;
    Some(clap::Error::raw(ErrorKind::ValueValidation, text))
}

/// The same of the value of a flag of `dbtime run` that was on no command line.
pub(super) fn in_flag(flag: &RunFlag, value: &str) -> Option<String> {
    let is_misplaced = flag.takes_path() && is_target(value);
    is_misplaced.then(|| sentence(value, &flag.arg(), WITH_TARGET))
}

fn sentence(text: &str, arg: &Arg, remedy: &str) -> String {
    format!("`{}` is a target, and {}: {remedy}", shown(text), place(arg))
}

fn takes_path(arg: &Arg) -> bool {
    arg.get_id().as_str() == WORKLOAD || arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

/// Whether a text can only be meant as a target. What is there is a file whatever its name.
fn is_target(text: &str) -> bool {
    let is_spelled_out = match TargetForm::of(text) {
        Some(TargetForm::Server(_)) => {
            text.contains("://") || SERVER_WORDS.iter().any(|word| text.contains(word))
        }
        Some(_) => text.contains(':'),
        None => false,
    };
    is_spelled_out && !Path::new(text).exists()
}

/// A target as it may be quoted: behind the name of a private server a login may have been meant,
/// and behind a file a key.
fn shown(text: &str) -> String {
    match TargetForm::of(text) {
        Some(TargetForm::Server(_)) => secrets::in_complaint(text),
        Some(TargetForm::Private(_)) => first_word(text),
        _ => text.split('?').next().unwrap_or_default().to_owned(),
    }
}

/// What an argument takes in place of one.
fn place(arg: &Arg) -> String {
    let name = match (arg.get_long(), arg.get_value_names()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some([name, ..])) => name.to_string(),
        (None, _) => arg.get_id().to_string(),
    };
    let is_named = if arg.get_id().as_str() == WORKLOAD { "a shipped name or " } else { "" };
    format!("{name} takes {is_named}a path on this machine")
}

/// Where a target belongs.
fn remedy(command: &Command) -> &'static str {
    let has = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
    if has("target") {
        WITH_TARGET
    } else if has("login") {
        "name a server of this machine with -p, and its login with --login"
    } else {
        "give a target with --target, to `dbtime run`, `init` or `counters`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse::{complaint_of as refused, parse};

    #[test]
    fn a_target_in_the_place_of_a_path_is_told_where_it_belongs() {
        let with_target = "give the target with --target";
        let elsewhere = "give a target with --target, to `dbtime run`, `init` or `counters`";
        for (line, place, remedy) in [
            ("run TARGET", "WORKLOAD takes a shipped name or a path", with_target),
            ("init TARGET --target sqlite", "WORKLOAD takes a shipped name", with_target),
            ("run --script TARGET", "--script takes a path", with_target),
            ("run --out TARGET", "--out takes a path", with_target),
            ("study ab TARGET --a x=1 --b x=2", "WORKLOAD takes", with_target),
            ("counters here TARGET", "FILE takes a path", with_target),
            ("query TARGET", "FILE takes a path", with_target),
            ("query a --on-copy TARGET", "--on-copy takes a path", with_target),
            ("trace TARGET", "FILE takes a path", "with -p, and its login with --login"),
            ("trace --record TARGET", "--record takes", "with -p, and its login with --login"),
            ("workloads TARGET", "WORKLOAD takes a shipped name", elsewhere),
            ("report TARGET", "RUN|SWEEP|STUDY takes a path", elsewhere),
            ("explain TARGET", "RUN takes a path", elsewhere),
            ("join run TARGET", "TRACE takes a path", elsewhere),
            ("compare one TARGET", "A takes a path", elsewhere),
            ("compare one -- TARGET", "B takes a path", elsewhere),
            ("runs TARGET", "DIR takes a path", elsewhere),
            ("study run TARGET", "FILE takes a path", elsewhere),
            ("usage --since TARGET", "--since takes a path", elsewhere),
        ] {
            for (target, shown) in [
                ("mysql://u:hush@h/d", "`mysql://u:***@h/d` is a target"),
                ("postgres://h/d?password=hush", "`postgres://h/d?password=***` is a target"),
                ("sqlite:/no/such.db", "`sqlite:/no/such.db` is a target"),
                ("sqlite:x.db?key=hush", "`sqlite:x.db` is a target"),
                ("mariadb:/no/such/prefix", "`mariadb:…` is a target"),
                ("mysql:u:hush", "`mysql:…` is a target"),
                ("host=/no/such", "`host=/no/such` is a target"),
            ] {
                let text = refused(&format!("dbtime {line}").replace("TARGET", target));
                for part in [shown, place, remedy] {
                    assert!(text.contains(part), "{line}: no `{part}` in {text}");
                }
                assert!(!text.contains("hush"), "{text}");
            }
        }
    }

    #[test]
    fn names_and_paths_are_none() {
        for name in ["mariadb", "sqlite", "x=1", "runs/sqlite://t.db", "a:b", "-"] {
            assert!(!is_target(name), "{name}");
        }
        assert!(parse("dbtime run atm --target mysql://u@h/d".split(' ')).is_ok());
    }
}
