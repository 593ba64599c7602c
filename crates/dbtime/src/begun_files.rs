//! Files that were begun and have no result yet: each of them says in the end how its command has
//! ended. So none of before is taken for a result, and none says that dbtime goes on when it has
//! ended.

use crate::output_file::unwritten;
use crate::{given_secrets, screen};
use dbtime_lab::store::replace_file;
use dbtime_report::compare::unended_junit;
use dbtime_report::unended_document;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static BEGUN: Mutex<Vec<BegunFile>> = Mutex::new(Vec::new());

/// What a file is that was begun.
#[derive(Clone, Copy)]
pub(crate) enum BegunForm {
    Junit,
    Page,
    Markdown,
}

impl BegunForm {
    /// What stands there until there is a result, or for this reason in place of one.
    fn without_result(self, command: &'static str, reason: Option<&str>) -> String {
        match self {
            Self::Junit => unended_junit(command, reason),
            Self::Page => unended_document(command, reason).html(),
            Self::Markdown => unended_document(command, reason).markdown(),
        }
    }
}

/// A file without a result.
struct BegunFile {
    /// As the user has named it.
    given: PathBuf,
    place: PathBuf,
    form: BegunForm,
    command: &'static str,
    /// Whether its result could not be written, which the command has reported.
    is_unwritten: bool,
}

/// Begins a file of the command of this name.
///
/// Errors: it cannot be written.
pub(crate) fn begin(
    [given, place]: [&Path; 2],
    form: BegunForm,
    command: &'static str,
) -> io::Result<()> {
    replace_file(place, form.without_result(command, None))?;
    let [given, place] = [given, place].map(Path::to_owned);
    all().push(BegunFile { given, place, form, command, is_unwritten: false });
    Ok(())
}

/// Whether this file was begun, and has no result.
pub(crate) fn is_begun(place: &Path) -> bool {
    all().iter().any(|begun| begun.place == place)
}

/// Notes how writing the result of this file came out.
pub(crate) fn settle(place: &Path, written: &io::Result<()>) {
    let mut begun = all();
    match written {
        Ok(()) => begun.retain(|file| file.place != place),
        Err(_) => {
            let of_place = begun.iter_mut().filter(|file| file.place == place);
            of_place.for_each(|file| file.is_unwritten = true);
        }
    }
}

/// Has all files without a result say that dbtime has ended for this reason, and names those that
/// cannot be written, where that was not told before. The secrets of the command line are not
/// repeated there, as they are not on the terminal.
pub(crate) fn end_all(reason: &str) {
    let begun = std::mem::take(&mut *all());
    let reason = given_secrets::hidden(reason);
    for BegunFile { given, place, form, command, is_unwritten } in begun {
        let written = replace_file(&place, form.without_result(command, Some(&reason)));
        if let Some(error) = written.err().filter(|_| !is_unwritten) {
            screen::error(&unwritten(&given, &error).words());
        }
    }
}

fn all() -> MutexGuard<'static, Vec<BegunFile>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}
