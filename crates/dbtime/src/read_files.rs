//! Files that a command reads, which what it writes must not take the place of.

use crate::exit::CommandFailure;
use crate::output_file::holds_measured;
use dbtime_model::record::record_folder;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Which file it is, whatever names it has.
type FileIdentity = (u64, u64);

/// Refuses to write to a file that the command reads, by whatever name: one of these, or of the
/// record that one of these is.
///
/// Errors: one of the places to write to is such a file.
pub(crate) fn refuse_read<'a>(
    written: impl IntoIterator<Item = &'a PathBuf>,
    read: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), CommandFailure> {
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

/// `None`: there is no such file, or it is a stream or a folder.
fn identity_of(path: &Path) -> Option<FileIdentity> {
    let found = path.metadata().ok().filter(|found| found.is_file())?;
    Some((found.dev(), found.ino()))
}

/// The file itself, and where it is a record what that holds but its pages, which reports write.
fn files_of(path: &Path) -> Vec<FileIdentity> {
    let entries = fs::read_dir(record_folder(path)).into_iter().flatten().flatten();
    let held = entries.map(|entry| entry.path()).filter(|path| holds_measured(path));
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
            let error = refuse_read([&written], &read).expect_err("it is read").words();
            assert!(error.contains("reads: name another place"), "{error}");
            assert!(error.contains(&written.display().to_string()), "{error}");
        }
        for written in ["run/report.html", "other", "none", "run"].map(place) {
            refuse_read([&written], &read).expect("it is not read");
        }
        refuse_read([&PathBuf::from("/dev/null")], &[PathBuf::from("/dev/null")])
            .expect("a device");
    }
}
