//! The written form of a run: made from flags, read from a file, and turned into what is run.

mod base_run;
mod request;
mod secrets;

pub(crate) use base_run::BaseRun;
pub(crate) use request::{for_server, request};
pub(crate) use secrets::{QUERY, RunSecrets};

use crate::cli::RunArgs;
use crate::exit::CommandFailure;
use crate::pipes;
use dbtime_model::bounded_file;
use dbtime_model::record::file;
use dbtime_model::spec::{RunSpec, SpecDocument};
use dbtime_model::study::is_study;
use std::path::Path;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// The run that flags or a file describe, its passwords, and the command of the file's record.
pub(crate) fn described(args: &RunArgs) -> Result<DescribedRun, CommandFailure> {
    let base = BaseRun::of(args)?;
    let (spec, secrets) = base.with(&[])?;
    Ok(DescribedRun { spec, secrets, command: base.recorded_command().map(str::to_owned) })
}

/// The command of a record as this dbtime writes one: an older one may have left secrets in it.
fn without_secrets(command: String) -> String {
    shlex::split(&command).map_or(command, |words| crate::secrets::command_line(&words))
}

/// A run as it was described.
pub(crate) struct DescribedRun {
    pub(crate) spec: RunSpec,
    /// Its passwords.
    pub(crate) secrets: RunSecrets,
    /// The command that it was made by, where a record describes it.
    pub(crate) command: Option<String>,
}

/// Reads a written form, or a record that holds one; `-` is standard input, of which only the first
/// line is read where more follows it, and a folder is that of a record.
fn read(path: &Path, is_followed: bool) -> Result<SpecDocument, CommandFailure> {
    let is_stdin = path.as_os_str() == STDIN;
    let shown = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let in_folder = path.join(file::RUN);
    let is_folder = !is_stdin && path.is_dir();
    if is_folder && !in_folder.exists() {
        return Err(CommandFailure::usage(unrecorded(path)));
    }
    let text = match is_stdin {
        true if is_followed => bounded_file::line_from(std::io::stdin().lock()),
        true => bounded_file::text_from(std::io::stdin().lock()),
        false if is_folder => bounded_file::written_text(&in_folder),
        false => pipes::awaited(path, || bounded_file::written_text(path)),
    };
    let text = text.map_err(|error| {
        CommandFailure::usage(format!("--spec: {shown} cannot be read: {error}"))
    })?;
    SpecDocument::read(&text)
        .map_err(|error| CommandFailure::usage(format!("--spec {shown}: {error}")))
}

/// That a folder is no record of a run.
fn unrecorded(folder: &Path) -> String {
    let (shown, run) = (folder.display(), file::RUN);
    let remedy = match is_study(folder) {
        true => "it has several runs: name the folder of one of them",
        false => "name a spec file, or the folder of a run's record",
    };
    format!("--spec {shown} is a folder without {run}, so it is not the record of a run: {remedy}")
}

#[cfg(test)]
mod golden;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_an_older_record_is_kept_without_its_secrets() {
        let old = "dbtime run --target 'postgres://u@h/d?password=hush' --server-env API_KEY=hush";
        assert_eq!(
            without_secrets(old.to_owned()),
            "dbtime run --target postgres://u@h/d --server-env API_KEY=\"$API_KEY\""
        );
        for own in [
            "dbtime run --query 'SELECT 1' --server-env API_KEY=\"$API_KEY\" --seed=7",
            "dbtime run --query \"$DBTIME_QUERY\" --seed=7",
        ] {
            assert_eq!(without_secrets(own.to_owned()), own);
        }
    }
}
