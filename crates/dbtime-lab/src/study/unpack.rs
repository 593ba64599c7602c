//! A packed study unpacked again, for a look at it.
//!
//! An archive comes from elsewhere. It is read twice: for its manifest, which has the length of
//! every file, and for these files. Nothing else is written, and nothing beyond that length: no
//! link, no path that leads out of the folder, no second file of a name, and no bomb.

mod pax_header;
#[cfg(test)]
mod tests;

use self::pax_header::PaxHeader;
use super::pack::unreadable;
use super::problem_list::ProblemList;
use crate::error::LabError;
use crate::scratch::ScratchFolder;
use dbtime_model::bounded_file::text_from;
use dbtime_model::inner_path::is_inner;
use dbtime_model::study::{StudyManifest, is_study, study_file};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use tar::{Archive, Entry, EntryType};

/// The most that a path has: PATH_MAX of limits.h. Unit: bytes.
const MAX_PATH_BYTES: u64 = 4096;

/// What any archive may come to. Unit: bytes.
const SMALL_BYTES: u64 = 64 << 20;

/// How many times its own size a larger one may come to. Records come to 5 to 20 times theirs.
const MOST_TIMES: u64 = 200;

/// An entry as it is in an archive.
type PackedEntry<'a> = Entry<'a, GzDecoder<BufReader<File>>>;

/// A packed study in a temporary folder, which goes with this.
#[derive(Debug)]
pub struct UnpackedStudy {
    folder: PathBuf,
    problems: Vec<String>,
    _scratch: ScratchFolder,
}

impl UnpackedStudy {
    /// The folder of the study.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What no archive of `dbtime study pack` has, in words; none of it was unpacked.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

/// Unpacks an archive into a temporary folder.
///
/// # Errors
/// It is no archive of a study, or something cannot be read or written.
pub fn unpack_study(archive: &Path) -> Result<UnpackedStudy, LabError> {
    let failed = |reason: io::Error| unreadable(archive, &reason);
    let packed = manifest_of(archive).map_err(failed)?;
    packed.refuse_bomb(archive).map_err(failed)?;
    let scratch = ScratchFolder::temporary().map_err(|error| {
        let place = std::env::temp_dir();
        LabError::Target(format!("no folder can be made in {}: {error}", place.display()))
    })?;
    let mut unpacking = StudyUnpacking::new(scratch.path(), &packed);
    let visited = each_entry(archive, |path, entry| {
        unpacking.take(path, entry)?;
        Ok(None::<()>)
    });
    visited.map_err(failed)?;
    let problems = unpacking.problems.into_texts();
    let folder = scratch.path().join(&packed.study);
    if problems.is_empty() && !is_study(&folder) {
        return Err(failed(invalid("there is no study in it")));
    }
    Ok(UnpackedStudy { folder, problems, _scratch: scratch })
}

/// Visits the entries of an archive with their paths, in their order, until one is what is looked
/// for.
fn each_entry<T>(
    archive: &Path,
    mut visit: impl FnMut(&Path, PackedEntry<'_>) -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    let file = BufReader::new(File::open(archive)?);
    let mut packed = Archive::new(GzDecoder::new(file));
    let (mut long_path, mut extended) = (None, PaxHeader::default());
    // Raw: else the library takes as much memory as a long path says that it has.
    for entry in packed.entries()?.raw(true) {
        let entry = entry?;
        match entry.header().entry_type() {
            EntryType::GNULongName => long_path = Some(long_path_of(entry)?),
            EntryType::XHeader => extended = PaxHeader::read(entry)?,
            EntryType::XGlobalHeader => PaxHeader::read(entry)?.refuse_for_all()?,
            _ => {
                let extended = std::mem::take(&mut extended);
                extended.refuse_other_length(entry.size())?;
                let own_path = || path_of(entry.path_bytes().into_owned());
                let path = extended.path.or(long_path.take()).unwrap_or_else(own_path);
                if let Some(found) = visit(&path, entry)? {
                    return Ok(Some(found));
                }
            }
        }
    }
    Ok(None)
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// A path that has no room in its entry, and an entry of its own before that.
fn long_path_of(entry: PackedEntry<'_>) -> io::Result<PathBuf> {
    let mut bytes = Vec::new();
    if entry.take(MAX_PATH_BYTES + 1).read_to_end(&mut bytes)? as u64 > MAX_PATH_BYTES {
        return Err(invalid("a path in it is too long"));
    }
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(path_of(bytes))
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// What an archive says that it has.
struct PackedManifest {
    /// The folder of the study: a name.
    study: PathBuf,
    /// The lengths of its files, the manifest's too, by their paths in the archive.
    lengths: BTreeMap<PathBuf, u64>,
}

/// The manifest of the first study in an archive.
fn manifest_of(archive: &Path) -> io::Result<PackedManifest> {
    let found = each_entry(archive, |path, entry| {
        let study = path.parent().filter(|study| study.file_name() == Some(study.as_os_str()));
        let is_manifest = path.file_name().is_some_and(|name| name == study_file::MANIFEST);
        match study.filter(|_| is_manifest && entry.header().entry_type().is_file()) {
            Some(study) => PackedManifest::read(study, &text_from(entry)?).map(Some),
            None => Ok(None),
        }
    })?;
    let missing = || {
        invalid("there is no study with a manifest.json in it, as `dbtime study pack` makes one")
    };
    found.ok_or_else(missing)
}

impl PackedManifest {
    fn read(study: &Path, text: &str) -> io::Result<Self> {
        let wrong = |reason: &str| invalid(&format!("its manifest.json: {reason}"));
        let manifest: StudyManifest =
            serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        let own = (study.join(study_file::MANIFEST), text.len() as u64);
        let mut lengths = BTreeMap::from([own]);
        for file in &manifest.files {
            let path = Path::new(&file.path);
            if !is_inner(path) || path.file_name().is_none() {
                return Err(wrong(&format!("{} is no path in the study", file.path)));
            }
            if lengths.insert(study.join(path), file.bytes).is_some() {
                return Err(wrong(&format!("{} is there twice", file.path)));
            }
        }
        Ok(Self { study: study.to_owned(), lengths })
    }

    /// Refuses what comes to more than a study of the archive's size can.
    fn refuse_bomb(&self, archive: &Path) -> io::Result<()> {
        let all = self.lengths.values().fold(0, |all: u64, length| all.saturating_add(*length));
        let most = fs::metadata(archive)?.len().saturating_mul(MOST_TIMES).max(SMALL_BYTES);
        match all <= most {
            true => Ok(()),
            false => Err(invalid(&format!(
                "its files come to {:.1} GB, more than {MOST_TIMES} times the archive's size, as \
                 those of no study do",
                all as f64 / 1e9
            ))),
        }
    }
}

/// A study that is being unpacked.
struct StudyUnpacking<'a> {
    /// Where its folder goes.
    into: &'a Path,
    packed: &'a PackedManifest,
    /// The lengths of the files that are not there yet.
    left: BTreeMap<&'a Path, u64>,
    problems: ProblemList,
}

impl<'a> StudyUnpacking<'a> {
    fn new(into: &'a Path, packed: &'a PackedManifest) -> Self {
        let left = packed.lengths.iter().map(|(path, length)| (path.as_path(), *length)).collect();
        Self { into, packed, left, problems: ProblemList::default() }
    }

    /// Unpacks an entry, or says what is wrong with it.
    fn take(&mut self, path: &Path, entry: PackedEntry<'_>) -> io::Result<()> {
        let (kind, length) = (entry.header().entry_type(), entry.size());
        // A folder is made for what is in it.
        if kind.is_dir() && is_inner(path) && path.starts_with(&self.packed.study) {
            return Ok(());
        }
        if let Some(wrong) = self.fault(path, kind, length) {
            self.problems.add(format!("{} {wrong}", path.display()));
            return Ok(());
        }
        self.left.remove(path);
        let file = self.into.join(path);
        make_parents(self.into, path)?;
        let copied = io::copy(&mut entry.take(length), &mut File::create_new(file)?)?;
        if copied == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    /// Why it is no file of the study; `None`: it is one, and is not there yet.
    fn fault(&self, path: &Path, kind: EntryType, length: u64) -> Option<&'static str> {
        if kind.is_symlink() || kind.is_hard_link() {
            return Some("is a link, and was not packed");
        }
        match self.left.get(path) {
            _ if !kind.is_file() => Some("is not a file: not packed"),
            Some(packed) if *packed == length => None,
            Some(_) => Some("differs from the packed file"),
            None if self.packed.lengths.contains_key(path) => Some("is there twice"),
            None => Some("was added"),
        }
    }
}

/// Makes the folders of a file. That which all is in stays away if somebody has removed it: the
/// process ends then.
fn make_parents(into: &Path, path: &Path) -> io::Result<()> {
    let mut folder = into.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
