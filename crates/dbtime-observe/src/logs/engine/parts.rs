//! Which files a log is in, and where reading begins in each: all of it, or what came since an
//! earlier digest, also where the log was rotated since.
//!
//! ```text
//!   renamed:        slow.log.1  ……[mark]……]   and a new slow.log: the rest, then the new one
//!   copied, cut:    slow.log.1  ……[mark]……]   slow.log cut to 0     the same
//!   renamed twice:  slow.log.2  ……[mark]……]   slow.log.1, slow.log  likewise, and all between
//! ```

use super::LogError;
use super::input::{LogInput, STDIN};
use super::since_state::{FileMark, SinceState};
use super::waiting::always;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// How often a log may have been rotated since.
const MAX_ROTATIONS: usize = 9;

/// A file of a log.
pub(super) struct LogPart {
    pub(super) input: LogInput,
    /// Where reading begins. Unit: bytes, once unpacked.
    pub(super) from: u64,
    /// Whether statements that were open there were not counted.
    pub(super) resumes_open: bool,
    /// Why it begins there, where the digest before did not end in it, in sentences.
    pub(super) notes: Vec<String>,
}

impl LogPart {
    /// All of a file.
    pub(super) fn whole(input: LogInput, notes: Vec<String>) -> Self {
        Self { input, from: 0, resumes_open: false, notes }
    }

    /// The rest behind a mark.
    fn behind(input: LogInput, mark: &FileMark, notes: Vec<String>) -> Self {
        Self { input, from: mark.offset, resumes_open: mark.leaves_open, notes }
    }

    /// Begins behind what an earlier digest has counted of the file under another name: of a log
    /// that is given together with its rotations.
    pub(super) fn leave_out_counted(&mut self, state: &SinceState) {
        if self.from == 0
            && let Some(mark) = state.mark_in(&self.input)
        {
            (self.from, self.resumes_open) = (mark.offset, mark.leaves_open);
            self.notes.clear();
        }
    }
}

/// The files of a log, oldest first, with what came behind the mark.
///
/// Errors: as opening; it is a pipe.
pub(super) fn parts_since(path: &Path, mark: Option<&FileMark>) -> Result<Vec<LogPart>, LogError> {
    let is_pipe = |path| fs::metadata(path).is_ok_and(|of| !of.is_file() && !of.is_dir());
    // Before it is waited for.
    if path == Path::new(STDIN) || is_pipe(path) {
        return Err(LogError::StateOfPipe { path: path.to_owned() });
    }
    let input = LogInput::open(path, &always)?;
    let Some(mark) = mark else { return Ok(vec![LogPart::whole(input, Vec::new())]) };
    if mark.goes_on_in(&input) {
        return Ok(vec![LogPart::behind(input, mark, Vec::new())]);
    }
    rotated(path, input, mark)
}

/// The files of a log whose name another file has since, or that was cut.
fn rotated(path: &Path, input: LogInput, mark: &FileMark) -> Result<Vec<LogPart>, LogError> {
    let is_same_file = mark.is_file_of(&input);
    let mut newer = vec![];
    for older in rotations_of(path) {
        let older = LogInput::open(&older, &always)?;
        if is_marked(&older, mark) {
            let how = if is_same_file { "copied to" } else { "renamed to" };
            let note = format!(
                "The log was {how} {} since the digest before; this goes on there at byte {}.",
                older.path().display(),
                mark.offset
            );
            let first = LogPart::behind(older, mark, vec![note]);
            newer.push(LogPart::whole(input, vec![begun(is_same_file).to_owned()]));
            return Ok([first].into_iter().chain(newer).collect());
        }
        let note = "It was begun and rotated since the digest before.".to_owned();
        newer.insert(0, LogPart::whole(older, vec![note]));
    }
    let lost = format!(
        "{} What the log had behind byte {} is in none of {}.1 to .{MAX_ROTATIONS} or with a date \
         in the place of the number, packed by gzip or not, and was not read.",
        begun(is_same_file),
        mark.offset,
        path.display()
    );
    Ok(vec![LogPart::whole(input, vec![lost])])
}

/// Why a file is read from its beginning.
fn begun(is_same_file: bool) -> &'static str {
    if is_same_file {
        "It was truncated since the digest before, and is read from its beginning."
    } else {
        "It was begun since the digest before, and is read from its beginning."
    }
}

/// Whether a rotated file is the marked one: a copy has another number, a packed one too.
fn is_marked(older: &LogInput, mark: &FileMark) -> bool {
    let is_long_enough = older.is_packed() || older.file().is_some_and(|(_, n)| n >= mark.offset);
    let is_known = mark.is_file_of(older) || mark.head_bytes > 0;
    is_known && is_long_enough && mark.has_head_of(older)
}

/// The files that a log became when it was rotated, newest first: they are numbered, or have dates.
fn rotations_of(path: &Path) -> Vec<PathBuf> {
    let numbered: Vec<PathBuf> =
        (1..=MAX_ROTATIONS).map_while(|rotation| numbered_file(path, rotation)).collect();
    if numbered.is_empty() { dated_files(path) } else { numbered }
}

/// The file that a log became when it was rotated so many times, packed or not.
fn numbered_file(path: &Path, rotation: usize) -> Option<PathBuf> {
    let name = |suffix: &str| {
        let mut name = OsString::from(path);
        name.push(format!(".{rotation}{suffix}"));
        PathBuf::from(name)
    };
    ["", ".gz"].map(name).into_iter().find(|path| path.is_file())
}

/// The files beside a log that have its name and a date, packed or not, such as
/// `slow.log-20261130.gz`.
fn dated_files(path: &Path) -> Vec<PathBuf> {
    let mut prefix = path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
    prefix.push(b'-');
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name()).filter(|name| {
        name.as_encoded_bytes().strip_prefix(prefix.as_slice()).is_some_and(is_date)
    });
    let mut files: Vec<PathBuf> = names.map(|name| path.with_file_name(name)).collect();
    // While a file is being packed, it is there twice.
    files.retain(|file| file.is_file() && !(is_gz(file) && file.with_extension("").is_file()));
    files.sort_unstable_by(|a, b| b.cmp(a));
    files.truncate(MAX_ROTATIONS);
    files
}

fn is_gz(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "gz")
}

/// Whether the end of a name is a date, with or without a time.
fn is_date(end: &[u8]) -> bool {
    let digits = end.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits >= 6 && matches!(&end[digits..], b"" | b".gz")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::{Read, Write};
    use tempfile::TempDir;

    struct RotatedLog {
        folder: TempDir,
        mark: Option<FileMark>,
    }

    impl RotatedLog {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().expect("a folder"), mark: None }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let mut file = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(self.path(name))
                .expect("opened");
            file.write_all(text.as_bytes()).expect("written");
        }

        fn rename(&self, from: &str, to: &str) {
            fs::rename(self.path(from), self.path(to)).expect("renamed");
        }

        /// Reads what came since the last time: each file's name, what was new, and the notes.
        fn read(&mut self) -> Vec<(String, String, String)> {
            let path = self.path("a.log");
            let parts = parts_since(&path, self.mark.as_ref()).expect("readable");
            let mut found = Vec::new();
            for LogPart { mut input, from, notes, .. } in parts {
                let mark = FileMark::new(String::new(), &input, 0).expect("a file");
                input.skip_to(from).expect("skipped");
                let mut text = String::new();
                input.read_to_string(&mut text).expect("read");
                self.mark = Some(FileMark { offset: from + text.len() as u64, ..mark });
                let name = input.path().file_name().expect("a name").to_string_lossy().into_owned();
                found.push((name, text, notes.join(" ")));
            }
            found
        }

        /// The same without notes.
        fn texts(&mut self) -> Vec<(String, String)> {
            self.read().into_iter().map(|(name, text, _)| (name, text)).collect()
        }
    }

    fn texts<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
        expected.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
    }

    #[test]
    fn reading_goes_on_where_it_ended() {
        let mut log = RotatedLog::new();
        log.write("a.log", "one\n");
        assert_eq!(log.texts(), texts([("a.log", "one\n")]));
        log.write("a.log", "two\n");
        let found = log.read();
        assert_eq!(found[0].1, "two\n");
        assert_eq!(found[0].2, "", "where it begins is known without words");
        assert_eq!(log.texts(), texts([("a.log", "")]));
    }

    #[test]
    fn rotations_may_have_dates() {
        let mut log = RotatedLog::new();
        log.write("a.log", "one\n");
        assert_eq!(log.texts(), texts([("a.log", "one\n")]));
        log.write("a.log", "two\n");
        log.rename("a.log", "a.log-20261129");
        log.write("a.log-20261130", "three\n");
        log.write("a.log-old", "none\n");
        log.write("a.log", "four\n");
        let expected =
            [("a.log-20261129", "two\n"), ("a.log-20261130", "three\n"), ("a.log", "four\n")];
        assert_eq!(log.texts(), texts(expected));
    }

    #[test]
    fn the_rest_of_a_renamed_log_comes_first() {
        let mut log = RotatedLog::new();
        log.write("a.log", "one\n");
        log.texts();
        log.write("a.log", "two\n");
        log.rename("a.log", "a.log.1");
        log.write("a.log", "three\n");
        assert_eq!(log.texts(), texts([("a.log.1", "two\n"), ("a.log", "three\n")]));
        log.rename("a.log.1", "a.log.2");
        log.rename("a.log", "a.log.1");
        log.write("a.log", "four\n");
        log.rename("a.log.2", "a.log.3");
        log.rename("a.log.1", "a.log.2");
        log.rename("a.log", "a.log.1");
        log.write("a.log", "five\n");
        let expected = [("a.log.2", ""), ("a.log.1", "four\n"), ("a.log", "five\n")];
        assert_eq!(log.texts(), texts(expected));
    }

    #[test]
    fn a_log_that_was_copied_and_truncated_is_read_from_its_beginning() {
        let mut log = RotatedLog::new();
        log.write("a.log", "one\n");
        log.texts();
        log.write("a.log", "two\n");
        fs::copy(log.path("a.log"), log.path("a.log.1")).expect("copied");
        fs::write(log.path("a.log"), "new\n").expect("truncated");
        let found = log.read();
        assert_eq!((found[0].1.as_str(), found[1].1.as_str()), ("two\n", "new\n"));
        assert!(found[0].2.contains("copied to") && found[1].2.contains("truncated"), "{found:?}");
    }

    #[test]
    fn the_rest_of_a_packed_log_is_found_by_its_hash() {
        let mut log = RotatedLog::new();
        log.write("a.log", &"one\n".repeat(1000));
        log.texts();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all("one\n".repeat(1000).as_bytes()).expect("in memory");
        encoder.write_all(b"two\n").expect("in memory");
        fs::write(log.path("a.log.1.gz"), encoder.finish().expect("in memory")).expect("written");
        log.rename("a.log", "gone");
        log.write("a.log", "three\n");
        assert_eq!(log.texts(), texts([("a.log.1.gz", "two\n"), ("a.log", "three\n")]));
    }

    #[test]
    fn what_is_gone_is_named() {
        let mut log = RotatedLog::new();
        log.write("a.log", "one\n");
        log.texts();
        log.rename("a.log", "elsewhere");
        log.write("a.log", "two\n");
        let found = log.read();
        assert_eq!((found.len(), found[0].1.as_str()), (1, "two\n"));
        assert!(found[0].2.contains("behind byte 4"), "{found:?}");
    }

    #[test]
    fn a_pipe_is_refused() {
        let refused = parts_since(Path::new("/dev/null"), None).err().expect("no file");
        assert!(refused.to_string().contains("is a pipe or a device"), "{refused}");
    }
}
