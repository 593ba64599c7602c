//! A study as one file that can be handed on, and its files checked against what was packed.

use super::problem_list::ProblemList;
use crate::digest::digest_of;
use crate::error::LabError;
use crate::store::{check_place, is_partial, write_file};
use dbtime_model::bounded_file::recorded_text;
use dbtime_model::plain_text::{legible_path, legible_within};
use dbtime_model::study::{MANIFEST_SCHEMA, PackedFile, StudyManifest, study_file};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// As much of a reason is told. Unit: characters.
const REASON_CHARS: usize = 160;

/// Writes the manifest of a study's folder, and the folder as a compressed archive, which has it as
/// a folder of its name.
///
/// # Errors
/// The archive exists, or something cannot be read or written; then no archive is left.
pub fn pack_study(folder: &Path, archive: &Path) -> Result<StudyManifest, LabError> {
    let failed = |source| LabError::Record { path: archive.to_owned(), source };
    check_place(archive)?;
    let folder = folder.canonicalize().map_err(failed)?;
    let manifest = StudyManifest {
        schema: MANIFEST_SCHEMA,
        dbtime: env!("CARGO_PKG_VERSION").to_owned(),
        packed_at: super::now(),
        files: files(&folder).map_err(failed)?.packed,
    };
    let text =
        serde_json::to_string_pretty(&manifest).map_err(|error| failed(io::Error::other(error)))?;
    write_file(&folder, study_file::MANIFEST, &(text + "\n"))?;
    let written = write_archive(&folder, archive, &manifest);
    written.map_err(|source| {
        // What could not be written whole is taken away.
        let _ = fs::remove_file(archive);
        failed(source)
    })?;
    Ok(manifest)
}

fn write_archive(folder: &Path, archive: &Path, manifest: &StudyManifest) -> io::Result<()> {
    let name = folder.file_name().map_or_else(|| PathBuf::from("study"), PathBuf::from);
    let file = BufWriter::new(File::create_new(archive)?);
    let mut packed = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    // There are file systems that say of what was just written that it is all holes.
    packed.sparse(false);
    let paths = manifest.files.iter().map(|file| file.path.as_str());
    // The manifest first: whoever unpacks it knows by that what is to come.
    for path in std::iter::once(study_file::MANIFEST).chain(paths) {
        packed.append_path_with_name(folder.join(path), name.join(path))?;
    }
    let mut file = packed.into_inner()?.finish()?;
    file.flush()?;
    file.get_ref().sync_all()
}

/// That a packed study, or its manifest, is damaged. The reason may quote its bytes.
pub(super) fn unreadable(path: &Path, reason: &io::Error) -> LabError {
    let (path, reason) = (legible_path(path), legible_within(&reason.to_string(), REASON_CHARS));
    LabError::Target(format!(
        "{path} cannot be read as a packed study: {reason}; fetch it again, or restore \
         it from a copy"
    ))
}

/// What of a folder is not as it was packed, in words; `None`: it was never packed.
///
/// # Errors
/// The manifest, or a file, cannot be read.
pub fn changed_files(folder: &Path) -> Result<Option<Vec<String>>, LabError> {
    let path = folder.join(study_file::MANIFEST);
    let failed = |reason: io::Error| unreadable(&path, &reason);
    let text = match recorded_text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(failed)?,
    };
    let manifest: StudyManifest = serde_json::from_str(&text)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let StudyFiles { packed: there, others } = files(folder).map_err(failed)?;
    let find = |files: &[PackedFile], path: &str| {
        files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| files[at].clone())
    };
    let mut problems = ProblemList::default();
    for packed in &manifest.files {
        match find(&there, &packed.path) {
            None => problems.add(format!("{} is missing", packed.path)),
            Some(now) if now != *packed => {
                problems.add(format!("{} differs from the packed file", packed.path));
            }
            Some(_) => {}
        }
    }
    let added = there.iter().filter(|file| find(&manifest.files, &file.path).is_none());
    added.for_each(|file| problems.add(format!("{} was added", file.path)));
    others.iter().for_each(|path| problems.add(format!("{path} is not a file: not packed")));
    Ok(Some(problems.into_texts()))
}

/// What is in the folder of a study.
#[derive(Default)]
struct StudyFiles {
    /// All files but the manifest, by their paths.
    packed: Vec<PackedFile>,
    /// Links, pipes and the like, which are not packed.
    others: Vec<String>,
}

fn files(folder: &Path) -> io::Result<StudyFiles> {
    let mut found = StudyFiles::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if path == folder.join(study_file::SNAPSHOTS) || is_partial(&path) {
                // What a study has that has not ended; its runs can be made without. What is in the
                // making, a run that goes on or was killed takes away.
            } else if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                found.packed.extend(packed_file(folder, &path)?);
            } else {
                found.others.push(within(folder, &path));
            }
        }
    }
    found.packed.sort_by(|a, b| a.path.cmp(&b.path));
    found.others.sort();
    Ok(found)
}

/// A file as the manifest has it; `None` for the manifest itself.
fn packed_file(folder: &Path, path: &Path) -> io::Result<Option<PackedFile>> {
    let place = within(folder, path);
    if place == study_file::MANIFEST {
        return Ok(None);
    }
    let (sha256, bytes) = digest_of(File::open(path)?)?;
    Ok(Some(PackedFile { path: place, bytes, sha256 }))
}

fn within(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::unpack_study;
    use super::*;

    /// A folder that looks like a study's.
    pub(in super::super) fn folder(at: &Path) -> PathBuf {
        let folder = at.join("fsync");
        fs::create_dir_all(folder.join("runs/0001")).expect("a folder");
        fs::create_dir_all(folder.join("runs/.0002.partial-7/.dbtime")).expect("one in the making");
        fs::write(folder.join("runs/.0002.partial-7/run.json"), "{").expect("half a record");
        fs::write(folder.join(".plan.json.partial-7"), "{").expect("half a plan");
        fs::write(folder.join("plan.json"), "{}").expect("a plan");
        fs::write(folder.join("runs/0001/run.json"), "{\"a\": 1}").expect("a record");
        folder
    }

    #[test]
    fn an_archive_has_every_file_and_its_changes_are_named() {
        let place = tempfile::tempdir().expect("a folder");
        let study = folder(place.path());
        assert_eq!(changed_files(&study).expect("readable"), None);
        let archive = place.path().join("fsync.tar.gz");
        let manifest = pack_study(&study, &archive).expect("packed");
        let paths: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["plan.json", "runs/0001/run.json"]);
        assert!(matches!(pack_study(&study, &archive), Err(LabError::OutExists(_))));

        let study = unpack_study(&archive).expect("an archive");
        let unpacked = study.folder();
        assert!(unpacked.ends_with("fsync") && study.problems().is_empty());
        assert_eq!(changed_files(unpacked).expect("readable"), Some(Vec::new()));

        fs::write(unpacked.join("runs/0001/run.json"), "{\"a\": 2}").expect("written");
        fs::write(unpacked.join("note.txt"), "").expect("written");
        fs::remove_file(unpacked.join("plan.json")).expect("removed");
        std::os::unix::fs::symlink("/etc/passwd", unpacked.join("link")).expect("a link");
        let changes = changed_files(unpacked).expect("readable").expect("packed");
        assert_eq!(
            changes,
            [
                "plan.json is missing",
                "runs/0001/run.json differs from the packed file",
                "note.txt was added",
                "link is not a file: not packed",
            ]
        );
        let place = unpacked.to_owned();
        drop(study);
        assert!(!place.exists());
    }

    #[test]
    fn what_is_no_archive_of_a_study_is_refused_and_nothing_half_written_stays() {
        let place = tempfile::tempdir().expect("a folder");
        let text = place.path().join("text.tar.gz");
        fs::write(&text, "no archive").expect("written");
        assert!(unpack_study(&text).is_err());
        let study = folder(place.path());
        let nowhere = place.path().join("none/fsync.tar.gz");
        assert!(pack_study(&study, &nowhere).is_err());
        assert!(!nowhere.exists());
    }
}
