//! Where digests have ended, for the next one to go on from: a small file of JSON, which is written
//! whole or not at all.

use super::LogError;
use super::input::LogInput;
use dbtime_model::log_digest::InputKind;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What the file calls itself.
const KIND: &str = "dbtime log state";

/// The version of its form.
const STATE_SCHEMA: u32 = 1;

/// How much of a log's beginning is hashed. Unit: bytes.
const HASHED_BYTES: usize = 1 << 10;

/// A state of more logs than anyone has. Unit: bytes.
const MAX_STATE_BYTES: u64 = 16 << 20;

/// Where digests have ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SinceState {
    kind: String,
    schema: u32,
    files: Vec<FileMark>,
    /// What the file had when it was read.
    #[serde(skip)]
    before: Vec<u8>,
}

/// Where a digest has ended, to be saved.
#[derive(Debug)]
pub struct UnsavedState {
    state: SinceState,
    path: PathBuf,
}

impl UnsavedState {
    pub(super) fn new(state: SinceState, path: PathBuf) -> Self {
        Self { state, path }
    }

    /// The file that it is saved in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves it for the next digest to go on from.
    ///
    /// Errors: [`LogError::WriteState`]; [`LogError::StateChanged`].
    pub fn save(self) -> Result<(), LogError> {
        self.state.write(&self.path)
    }
}

/// Where a log has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileMark {
    /// Its absolute path; another file may have it since.
    pub(super) path: String,
    /// The file's device and number there.
    pub(super) device: u64,
    pub(super) inode: u64,
    /// Behind the last record that was read. Unit: bytes, once unpacked.
    pub(super) offset: u64,
    /// Of so many bytes at its beginning the hash is. Shape: at most 1,024.
    pub(super) head_bytes: usize,
    /// Their CRC-32.
    pub(super) head_crc32: u32,
    /// Whether statements that were open there were not counted.
    #[serde(default)]
    pub(super) leaves_open: bool,
    /// What it was read as: its kind, and more about that.
    #[serde(default)]
    pub(super) format: Option<(InputKind, String)>,
}

impl FileMark {
    /// A mark in a log that is known under this path.
    pub(super) fn new(path: String, input: &LogInput, offset: u64) -> Option<Self> {
        let (file, _) = input.file()?;
        let head = &input.head()[..input.head().len().min(HASHED_BYTES)];
        Some(Self {
            path,
            device: file.device,
            inode: file.inode,
            offset,
            head_bytes: head.len(),
            head_crc32: crc32fast::hash(head),
            leaves_open: false,
            format: None,
        })
    }

    /// Whether a log begins as the marked one did.
    pub(super) fn has_head_of(&self, input: &LogInput) -> bool {
        let head = input.head().get(..self.head_bytes);
        head.is_some_and(|head| crc32fast::hash(head) == self.head_crc32)
    }

    /// Whether a log is the marked one, under whatever name, and has all that was read of it.
    pub(super) fn goes_on_in(&self, input: &LogInput) -> bool {
        let is_known = self.is_file_of(input) || self.head_bytes == HASHED_BYTES;
        let is_long_enough =
            input.is_packed() || input.file().is_some_and(|(_, size)| size >= self.offset);
        is_known && is_long_enough && self.has_head_of(input)
    }

    /// Whether a log is the marked file.
    pub(super) fn is_file_of(&self, input: &LogInput) -> bool {
        let file = input.file();
        file.is_some_and(|(file, _)| (file.device, file.inode) == (self.device, self.inode))
    }
}

impl SinceState {
    /// Reads the state; there is none before the first digest.
    ///
    /// Errors: it cannot be read, or is something else.
    pub(super) fn read(path: &Path) -> Result<Self, LogError> {
        let text = match text_of(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(LogError::Read { path: path.to_owned(), source }),
        };
        if text.is_empty() {
            let (kind, files, before) = (KIND.to_owned(), Vec::new(), text);
            return Ok(Self { kind, schema: STATE_SCHEMA, files, before });
        }
        let foreign =
            |cause: &str| LogError::ForeignState { path: path.to_owned(), cause: cause.to_owned() };
        let state: Self = serde_json::from_slice(&text).map_err(|_| foreign("not of its form"))?;
        match (state.kind.as_str(), state.schema) {
            (KIND, STATE_SCHEMA) => Ok(Self { before: text, ..state }),
            (KIND, _) => Err(foreign("written by another version of dbtime")),
            _ => Err(foreign("of another kind")),
        }
    }

    /// The mark of a path.
    pub(super) fn mark_of(&self, path: &str) -> Option<&FileMark> {
        self.files.iter().find(|mark| mark.path == path)
    }

    /// The farthest mark in a file, whatever its name was.
    pub(super) fn mark_in(&self, input: &LogInput) -> Option<&FileMark> {
        let marks = self.files.iter().filter(|mark| mark.head_bytes > 0 && mark.goes_on_in(input));
        marks.max_by_key(|mark| mark.offset)
    }

    /// Sets the mark of its path.
    pub(super) fn set(&mut self, mark: FileMark) {
        self.files.retain(|old| old.path != mark.path);
        self.files.push(mark);
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Writes the state in the place of the one before: a reader finds the old one or the new.
    ///
    /// Errors: [`LogError::WriteState`], and then the old one is there; [`LogError::StateChanged`].
    fn write(&self, path: &Path) -> Result<(), LogError> {
        // What counted the same records meanwhile has written how far.
        if text_of(path).unwrap_or_default() != self.before {
            return Err(LogError::StateChanged { path: path.to_owned() });
        }
        // A link stays one.
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let partial = partial_of(&file);
        let written = write_synced(&partial, self).and_then(|()| fs::rename(&partial, &file));
        if written.is_err() {
            let _ = fs::remove_file(&partial);
        }
        written.map_err(|source| LogError::WriteState { path: path.to_owned(), source })
    }
}

fn text_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_STATE_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

/// The place beside a file that it is written to first, with nothing in it.
fn partial_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.partial-{}", std::process::id()));
    // A killed process of this number has left it, or someone else a link to write through.
    let _ = fs::remove_file(&partial);
    partial
}

fn write_synced(path: &Path, state: &SinceState) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(state)?;
    text.push(b'\n');
    let mut file = File::create_new(path)?;
    file.write_all(&text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(path: &str, offset: u64) -> FileMark {
        let path = path.to_owned();
        FileMark {
            path,
            device: 1,
            inode: 2,
            offset,
            head_bytes: 3,
            head_crc32: 4,
            leaves_open: false,
            format: Some((InputKind::Slow, String::new())),
        }
    }

    #[test]
    fn marks_are_kept_by_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let mut state = SinceState::read(&path).expect("none yet");
        for mark in [mark("/b", 1), mark("/a", 2), mark("/b", 3)] {
            state.set(mark);
        }
        state.write(&path).expect("written");
        let state = SinceState::read(&path).expect("read");
        assert_eq!(state.files, [mark("/a", 2), mark("/b", 3)]);
        assert_eq!(state.mark_of("/b"), Some(&mark("/b", 3)));
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1, "nothing partial");
    }

    #[test]
    fn a_state_that_changed_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let mut first = SinceState::read(&path).expect("none yet");
        let second = SinceState::read(&path).expect("none yet");
        first.set(mark("/a", 1));
        first.write(&path).expect("written");
        let error = second.write(&path).expect_err("the other wrote").to_string();
        assert!(error.contains("one after the other"), "{error}");
        assert_eq!(SinceState::read(&path).expect("read").files, [mark("/a", 1)]);
    }

    #[test]
    fn a_link_to_a_state_stays_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("state"), folder.path().join("link"));
        fs::write(&path, "").expect("written");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        SinceState::read(&link).expect("as none").write(&link).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert!(fs::metadata(&path).expect("there").len() > 0);
    }

    #[test]
    fn files_of_something_else_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let later = r#"{"kind": "dbtime log state", "schema": 9, "files": []}"#;
        let other = r#"{"kind": "budget", "schema": 1, "files": []}"#;
        for (text, cause) in [
            ("# Time: 1\n", "not of its form"),
            (later, "another version"),
            (other, "another kind"),
        ] {
            fs::write(&path, text).expect("written");
            let error = SinceState::read(&path).expect_err("refused").to_string();
            assert!(error.contains(cause) && error.contains("--since-last"), "{error}");
        }
        fs::write(&path, "").expect("written");
        assert!(SinceState::read(&path).expect("as none").files.is_empty());
    }
}
