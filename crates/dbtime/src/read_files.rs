//! Places that a command writes to: none is of a file that it reads, and no two are one.

use crate::exit::CommandFailure;
use crate::output_file::{final_place, is_page};
use crate::own_stream::{is_own, is_stdout};
use dbtime_model::record::record_folder;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Which file it is, whatever names it has.
type FileIdentity = (u64, u64);

/// Refuses to write to a file that the command reads, by whatever name: one of these, or of the
/// record that one of these is; and to write two files to one place.
///
/// Errors: one of the places to write to is such a file, or two are one.
pub(crate) fn refuse_clashes<'a>(
    written: impl IntoIterator<Item = &'a PathBuf>,
    read: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), CommandFailure> {
    let written: Vec<&PathBuf> = written.into_iter().collect();
    refuse_alike(&written)?;
    let read: Vec<FileIdentity> = read.into_iter().flat_map(|path| files_of(path)).collect();
    let is_read =
        |path: &&PathBuf| identity_of(path).is_some_and(|identity| read.contains(&identity));
    match written.into_iter().find(is_read) {
        None => Ok(()),
        Some(path) => Err(CommandFailure::usage(format!(
            "{} is a file that this command reads: name another place for what it writes",
            path.display()
        ))),
    }
}

/// Refuses to write a file to standard output where `--json` prints its one document there.
///
/// Errors: one of the places is standard output.
pub(crate) fn refuse_beside_json<'a>(
    json: bool,
    written: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), CommandFailure> {
    match written.into_iter().find(|path| json && is_stdout(path)) {
        None => Ok(()),
        Some(path) => Err(CommandFailure::usage(format!(
            "{} takes the JSON document of --json, and nothing else: name a file, or leave out \
             --json",
            path.display()
        ))),
    }
}

/// Refuses two names of one file, of which what is written last would be all that is left.
fn refuse_alike(written: &[&PathBuf]) -> Result<(), CommandFailure> {
    for (at, one) in written.iter().enumerate() {
        if let Some(other) = written[..at].iter().find(|other| are_alike(other, one)) {
            return Err(CommandFailure::usage(format!(
                "{} and {} are one file: name two for what this command writes",
                other.display(),
                one.display()
            )));
        }
    }
    Ok(())
}

/// Whether two names are of one file, there or not. A stream takes one document after the other.
fn are_alike(one: &Path, other: &Path) -> bool {
    if is_own(one) || is_own(other) {
        return false;
    }
    match [one, other].map(identity_of) {
        [Some(one), Some(other)] => one == other,
        [None, None] => !one.exists() && final_place(one) == final_place(other),
        _ => false,
    }
}

/// `None`: there is no such file, or it is a stream or a folder.
fn identity_of(path: &Path) -> Option<FileIdentity> {
    let found = path.metadata().ok().filter(|found| found.is_file())?;
    Some((found.dev(), found.ino()))
}

/// The file itself, and where it is a record what that holds but its pages, which reports write.
fn files_of(path: &Path) -> Vec<FileIdentity> {
    let entries = fs::read_dir(record_folder(path)).into_iter().flatten().flatten();
    let held = entries.map(|entry| entry.path()).filter(|path| !is_page(path));
    held.chain([path.to_owned()]).filter_map(|path| identity_of(&path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_read_is_not_written_to_by_any_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        let [run, recording] = ["run", "it.trace"].map(place);
        fs::create_dir(&run).expect("a folder");
        for path in [&recording, &run.join("run.json"), &run.join("report.html"), &place("other")] {
            fs::write(path, "what is read").expect("written");
        }
        symlink(&recording, place("link")).expect("a link");
        fs::hard_link(&recording, place("again")).expect("a second name");
        fs::hard_link(run.join("run.json"), place("page")).expect("a second name");
        let read = [run.clone(), recording.clone()];
        for written in ["it.trace", "link", "again", "page", "run/run.json"].map(place) {
            let error = refuse_clashes([&written], &read).expect_err("it is read").words();
            assert!(error.contains("reads: name another place"), "{error}");
            assert!(error.contains(&written.display().to_string()), "{error}");
        }
        for written in ["run/report.html", "other", "none", "run"].map(place) {
            refuse_clashes([&written], &read).expect("it is not read");
        }
        refuse_clashes([&PathBuf::from("/dev/null")], &[PathBuf::from("/dev/null")])
            .expect("a device");
    }

    #[test]
    fn two_files_are_not_written_to_one_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        fs::write(place("there"), "of before").expect("written");
        symlink("none", place("link")).expect("a link");
        symlink("there", place("other")).expect("a link");
        fs::hard_link(place("there"), place("again")).expect("a second name");
        for two in [
            ["there", "there"],
            ["there", "other"],
            ["again", "there"],
            ["none", "./none"],
            ["none", "link"],
        ] {
            let two = two.map(place);
            let error = refuse_clashes(&two, []).expect_err("they are one").words();
            assert!(error.contains("are one file: name two"), "{error}");
        }
        for two in [["there", "none"], ["none", "new"], ["link", "other"]] {
            refuse_clashes(&two.map(place), []).expect("they are two");
        }
        for stream in ["/dev/null", "/dev/stdout"] {
            refuse_clashes(&[stream, stream].map(PathBuf::from), []).expect("one after the other");
        }
    }
}
