//! A study as one file that can be handed on, and its files checked against what was packed.

use crate::digest::digest;
use crate::error::LabError;
use crate::store::{is_partial, write_file};
use dbtime_model::study::{MANIFEST_SCHEMA, PackedFile, StudyManifest, study_file};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many problems are listed of files before the rest are counted.
const MOST_LISTED: usize = 20;

/// Writes the manifest of a study's folder, and the folder as a compressed archive, which has it as
/// a folder of its name.
///
/// # Errors
/// The archive exists, or something cannot be read or written; then no archive is left.
pub fn pack_study(folder: &Path, archive: &Path) -> Result<StudyManifest, LabError> {
    let failed = |source| LabError::Record { path: archive.to_owned(), source };
    if archive.symlink_metadata().is_ok() {
        return Err(LabError::OutExists(archive.to_owned()));
    }
    let folder = folder.canonicalize().map_err(failed)?;
    let manifest = StudyManifest {
        schema: MANIFEST_SCHEMA,
        dbtime: env!("CARGO_PKG_VERSION").to_owned(),
        packed_at: super::now(),
        files: files(&folder).map_err(failed)?,
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
    let paths = manifest.files.iter().map(|file| file.path.as_str());
    for path in paths.chain([study_file::MANIFEST]) {
        packed.append_path_with_name(folder.join(path), name.join(path))?;
    }
    let mut file = packed.into_inner()?.finish()?;
    file.flush()?;
    file.get_ref().sync_all()
}

/// Unpacks an archive into a folder. Returns the study's folder in it.
///
/// # Errors
/// It is no archive of a study, or something cannot be read or written.
pub fn unpack_study(archive: &Path, into: &Path) -> Result<PathBuf, LabError> {
    let failed = |reason: io::Error| unreadable(archive, &reason);
    let file = BufReader::new(File::open(archive).map_err(failed)?);
    // Paths that lead out of the folder are refused by the library.
    tar::Archive::new(GzDecoder::new(file)).unpack(into).map_err(failed)?;
    let folders = fs::read_dir(into).map_err(failed)?.flatten().map(|entry| entry.path());
    let mut studies = folders.filter(|folder| dbtime_model::study::is_study(folder));
    studies.next().ok_or_else(|| {
        failed(io::Error::new(io::ErrorKind::InvalidData, "there is no study in it"))
    })
}

/// That a packed study, or its manifest, is damaged.
fn unreadable(path: &Path, reason: &io::Error) -> LabError {
    let path = path.display();
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
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(failed)?,
    };
    let manifest: StudyManifest = serde_json::from_str(&text)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let there = files(folder).map_err(failed)?;
    let find = |files: &[PackedFile], path: &str| {
        files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| files[at].clone())
    };
    let mut problems = Vec::new();
    for packed in &manifest.files {
        match find(&there, &packed.path) {
            None => problems.push(format!("{} is missing", packed.path)),
            Some(now) if now != *packed => {
                problems.push(format!("{} is another than was packed", packed.path));
            }
            Some(_) => {}
        }
    }
    let added = there.iter().filter(|file| find(&manifest.files, &file.path).is_none());
    problems.extend(added.map(|file| format!("{} was added", file.path)));
    let listed = problems.len();
    if listed > MOST_LISTED {
        problems.truncate(MOST_LISTED);
        problems.push(format!("and {} more", listed - MOST_LISTED));
    }
    Ok(Some(problems))
}

/// All files of a folder but the manifest, by their paths.
fn files(folder: &Path) -> io::Result<Vec<PackedFile>> {
    let mut found = Vec::new();
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
                found.extend(packed_file(folder, &path)?);
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// A file as the manifest has it; `None` for the manifest itself.
fn packed_file(folder: &Path, path: &Path) -> io::Result<Option<PackedFile>> {
    let within = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
    if within == study_file::MANIFEST {
        return Ok(None);
    }
    let bytes = fs::read(path)?;
    let sha256 = digest(&bytes);
    Ok(Some(PackedFile { path: within, bytes: bytes.len() as u64, sha256 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a study's.
    fn folder(at: &Path) -> PathBuf {
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

        let into = place.path().join("unpacked");
        fs::create_dir(&into).expect("a folder");
        let unpacked = unpack_study(&archive, &into).expect("an archive");
        assert_eq!(unpacked, into.join("fsync"));
        assert_eq!(changed_files(&unpacked).expect("readable"), Some(Vec::new()));

        fs::write(unpacked.join("runs/0001/run.json"), "{\"a\": 2}").expect("written");
        fs::write(unpacked.join("note.txt"), "").expect("written");
        fs::remove_file(unpacked.join("plan.json")).expect("removed");
        let changes = changed_files(&unpacked).expect("readable").expect("packed");
        assert_eq!(
            changes,
            [
                "plan.json is missing",
                "runs/0001/run.json is another than was packed",
                "note.txt was added"
            ]
        );
    }

    #[test]
    fn what_is_no_archive_of_a_study_is_refused_and_nothing_half_written_stays() {
        let place = tempfile::tempdir().expect("a folder");
        let text = place.path().join("text.tar.gz");
        fs::write(&text, "no archive").expect("written");
        assert!(unpack_study(&text, place.path()).is_err());
        let study = folder(place.path());
        let nowhere = place.path().join("none/fsync.tar.gz");
        assert!(pack_study(&study, &nowhere).is_err());
        assert!(!nowhere.exists());
    }
}
