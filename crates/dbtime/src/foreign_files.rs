//! Files of other tools as the sides of a comparison: which of the named places are some, and what
//! they hold.

use crate::exit::CommandFailure;
use dbtime_model::bounded_file::written_text;
use dbtime_model::record::{file, record_folder};
use dbtime_model::study::study_file;
use dbtime_report::compare::{ForeignError, ForeignFile};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Files in the folder of a record, which hold a part of it.
const OF_RECORDS: [&str; 3] = [file::RUN, study_file::PLAN, study_file::PROGRAM];

/// The files of both sides, where files of other tools were named: those before and behind `--`, or
/// one each without it; `None`: none is one.
///
/// Errors: some are and some are not, one is a pipe, there are no two sides, or a file is named
/// twice.
pub(crate) fn foreign_places<'a>(
    a: &'a [PathBuf],
    b: &'a [PathBuf],
) -> Result<Option<[&'a [PathBuf]; 2]>, CommandFailure> {
    let all = || a.iter().chain(b);
    if let Some(pipe) = all().find(|path| path.exists() && !path.is_file() && !path.is_dir()) {
        return Err(CommandFailure::usage(format!(
            "{} is neither a file nor a folder: save what it has in a file, and name that",
            pipe.display()
        )));
    }
    let Some(first) = all().find(|path| is_foreign(path)) else { return Ok(None) };
    if let Some(other) = all().find(|path| !is_foreign(path)) {
        return Err(mixed(first, other));
    }
    let sides = match (a.len(), b.len()) {
        (2, 0) => [&a[..1], &a[1..]],
        (_, 0) => {
            return Err(CommandFailure::usage(
                "name two files, or those of two sides with `--` between: dbtime compare A1.txt \
                 A2.txt -- B1.txt B2.txt",
            ));
        }
        _ => [a, b],
    };
    match same_file(all()) {
        None => Ok(Some(sides)),
        Some([one, other]) => Err(CommandFailure::usage(format!(
            "{} and {} are the same file: name each file once, since a value that counts twice \
             makes a verdict look more certain",
            one.display(),
            other.display()
        ))),
    }
}

/// Two names of one file.
fn same_file<'a>(mut all: impl Iterator<Item = &'a PathBuf>) -> Option<[&'a Path; 2]> {
    let mut known: HashMap<PathBuf, &'a Path> = HashMap::new();
    all.find_map(|path| {
        let before = known.insert(path.canonicalize().ok()?, path)?;
        Some([before, path.as_path()])
    })
}

/// What files of other tools hold, each with its place.
///
/// Errors: one cannot be read, or has none of the known formats.
pub(crate) fn foreign_files(
    paths: &[PathBuf],
) -> Result<Vec<(String, ForeignFile)>, CommandFailure> {
    let file = |path: &PathBuf| {
        let place = path.display().to_string();
        let unread =
            |error: io::Error| CommandFailure::environment(format!("cannot read {place}: {error}"));
        let text = written_text(path).map_err(unread)?;
        let refused =
            |error: ForeignError| CommandFailure::environment(format!("{place}: {error}"));
        let file = ForeignFile::read(&text).map_err(refused)?;
        Ok((place, file))
    };
    paths.iter().map(file).collect()
}

/// Whether it is a file that belongs to no record.
fn is_foreign(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    let is_of_record = || OF_RECORDS.iter().any(|name| folder.join(name).exists());
    path.is_file() && record_folder(path) == path && !is_of_record()
}

fn mixed(first: &Path, other: &Path) -> CommandFailure {
    let [first, shown] = [first, other].map(|path| path.display());
    match other.exists() {
        false => CommandFailure::environment(format!("{shown}: no such file")),
        true => CommandFailure::usage(format!(
            "{first} is a file of another tool and {shown} is none: compare files with files, and \
             runs with runs"
        )),
    }
}
