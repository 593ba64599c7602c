//! Files of other tools as the sides of a comparison: which of the named places are some, and what
//! they hold.

use crate::exit::CommandFailure;
use dbtime_model::bounded_file::written_text;
use dbtime_model::record::{file, record_folder};
use dbtime_model::study::study_file;
use dbtime_report::compare::{ForeignError, ForeignFile};
use std::io;
use std::path::{Path, PathBuf};

/// Files in the folder of a record, which hold a part of it.
const OF_RECORDS: [&str; 3] = [file::RUN, study_file::PLAN, study_file::PROGRAM];

/// The files of both sides, where files of other tools were named: those before and behind `--`, or
/// one each without it; `None`: none is one.
///
/// Errors: some are and some are not, there are no two sides, or one has a file twice.
pub(crate) fn foreign_places<'a>(
    a: &'a [PathBuf],
    b: &'a [PathBuf],
) -> Result<Option<[&'a [PathBuf]; 2]>, CommandFailure> {
    let all = || a.iter().chain(b);
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
    match sides.iter().find_map(|side| named_twice(side)) {
        None => Ok(Some(sides)),
        Some(path) => Err(CommandFailure::usage(format!(
            "{} is named twice on one side: name each file once, since a value that counts twice \
             makes a verdict look more certain",
            path.display()
        ))),
    }
}

fn named_twice(side: &[PathBuf]) -> Option<&PathBuf> {
    let is_again = |at: usize, path: &PathBuf| side[..at].contains(path);
    side.iter().enumerate().find(|(at, path)| is_again(*at, path)).map(|(_, path)| path)
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
