//! Files that commands write: those that a user names, by one rule for all flags, and those of a
//! record.
//!
//! What is named and is a file, or not there yet, is written whole or not at all. A link is
//! followed and stays a link. A device that takes signs, such as `/dev/null`, and what the process
//! was started with (`/dev/stdout`, `/dev/fd/63` of a shell's `>(...)`) are written to and stay
//! what they are. Anything else that is no file is refused, for opening a pipe waits for a reader,
//! and so is `-`, by which standard output is meant.

use crate::begun_files::{self, BegunForm};
use crate::exit::CommandFailure;
use crate::own_stream::{is_own, write_stream};
use dbtime_lab::store::{probe_file, replace_file};
use dbtime_model::record::file;
use dbtime_model::study::study_file;
use dbtime_model::traced_file::{RecordingFile, TraceFileError};
use std::fs::File;
use std::io;
use std::mem;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// What a folder is a record by: names that other programs hardly give, as they do `plan.json`.
const RECORD_MARKS: [&str; 3] = [file::RUN, file::LISTED_SWEEP, study_file::JOURNAL];

/// How the names of files end that are made of a record, and can be made again.
const PAGES: [&str; 3] = ["html", "md", "xml"];

/// So many folders up is that of a study from a file of its run.
const MOST_LEVELS: usize = 3;

/// What an SQLite database begins with.
const DATABASE: [u8; 16] = *b"SQLite format 3\0";

/// So many links may lead from one to the next, as for the kernel.
const MOST_LINKS: usize = 40;

/// What stands in the place that a user names for a file.
enum NamedPlace {
    /// A file, or nothing yet: here, or where a link leads to.
    File(PathBuf),
    /// What is written to and stays what it is.
    Stream,
}

impl NamedPlace {
    /// Errors: it is neither, or one of those that [`refuse_data`] names.
    fn of(path: &Path) -> Result<Self, CommandFailure> {
        if path.as_os_str() == "-" {
            return Err(CommandFailure::usage(
                "`-` is not a file name: write a name, or /dev/stdout for standard output",
            ));
        }
        if is_own(path) {
            return Ok(Self::Stream);
        }
        match path.metadata().map(|there| there.file_type()) {
            Ok(kind) if kind.is_char_device() => Ok(Self::Stream),
            Ok(kind) if kind.is_fifo() || kind.is_socket() || kind.is_block_device() => {
                Err(CommandFailure::environment(format!(
                    "{} is a pipe, a socket or a disk: name a file, /dev/stdout, /dev/stderr or \
                     /dev/null",
                    path.display()
                )))
            }
            // What a link leads to that is not there yet is made there.
            Err(error) if path.is_symlink() && absent_end(path).is_none() => {
                Err(unwritten(path, &error))
            }
            _ => {
                let place = final_place(path);
                refuse_data(path, &place)?;
                Ok(Self::File(place))
            }
        }
    }
}

/// Where a file of this name is or will be, whatever links lead there; the name itself where they
/// lead in a circle.
pub(crate) fn final_place(path: &Path) -> PathBuf {
    let end = absent_end(path).unwrap_or_else(|| path.to_owned());
    let whole = std::path::absolute(&end).unwrap_or(end);
    let place = whole.ancestors().find_map(|folder| {
        let (known, rest) = (folder.canonicalize().ok()?, whole.strip_prefix(folder).ok()?);
        Some(if rest.as_os_str().is_empty() { known } else { known.join(rest) })
    });
    place.unwrap_or(whole)
}

/// Where a link leads to in the end, there or not; `None`: links lead in a circle.
fn absent_end(link: &Path) -> Option<PathBuf> {
    let mut place = link.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = place.read_link() else { return Some(place) };
        place = place.parent()?.join(next);
    }
    None
}

/// Writes a file that a user has named.
///
/// Errors: it cannot be written, or what stands there is not written to.
pub(crate) fn write_named(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let written = match NamedPlace::of(path)? {
        NamedPlace::File(place) => {
            let written = replace_file(&place, text);
            begun_files::settle(&place, &written);
            written
        }
        NamedPlace::Stream => write_stream(path, text),
    };
    written.map_err(|error| unwritten(path, &error))
}

/// Writes those of these files that a user has named: one that cannot be written keeps no other
/// from its place.
///
/// Errors: as [`all_of`].
pub(crate) fn write_all_named<'a>(
    files: impl IntoIterator<Item = (&'a Option<PathBuf>, String)>,
) -> Result<(), CommandFailure> {
    let write = |(path, text): (&Option<PathBuf>, String)| match path {
        Some(path) => write_named(path, &text),
        None => Ok(()),
    };
    all_of(files.into_iter().map(write))
}

/// What came of several files.
///
/// Errors: the last of theirs; those before it are told at once, so that each file is named.
pub(crate) fn all_of(
    files: impl IntoIterator<Item = Result<(), CommandFailure>>,
) -> Result<(), CommandFailure> {
    let mut all = Ok(());
    for file in files {
        let Err(failure) = file else { continue };
        if let Err(earlier) = mem::replace(&mut all, Err(failure)) {
            earlier.report();
        }
    }
    all
}

/// Whether [`write_named`] can have this place, as far as that is known before there is something
/// to write: so nothing is measured in vain.
///
/// Errors: as writing.
pub(crate) fn check_named(path: Option<&Path>) -> Result<(), CommandFailure> {
    before_writing(path, probe_file)
}

/// Whether [`write_binary`] can have this place, likewise.
///
/// Errors: as writing.
pub(crate) fn check_binary(path: Option<&Path>) -> Result<(), CommandFailure> {
    let Some(path) = path else { return Ok(()) };
    probe_file(&binary_place(path)?).map_err(|error| unwritten(path, &error))
}

/// Writes a file that a user has named and that is no text.
///
/// Errors: as [`write_named`], or a stream stands there, which takes text alone.
pub(crate) fn write_binary(path: &Path, content: &[u8]) -> Result<(), CommandFailure> {
    replace_file(&binary_place(path)?, content).map_err(|error| unwritten(path, &error))
}

fn binary_place(path: &Path) -> Result<PathBuf, CommandFailure> {
    match NamedPlace::of(path)? {
        NamedPlace::File(place) => Ok(place),
        NamedPlace::Stream => Err(CommandFailure::usage(format!(
            "{} takes text, and this is none: name a file",
            path.display()
        ))),
    }
}

/// Puts a JUnit file that has not ended in the place of the one that the command of this name is to
/// write: one of before must not be taken for its result. So it is known before anything is
/// measured whether it can be written.
///
/// Errors: as writing.
pub(crate) fn begin_junit(path: Option<&Path>, name: &'static str) -> Result<(), CommandFailure> {
    begin(path, BegunForm::Junit, name)
}

/// The same of a page.
pub(crate) fn begin_page(path: Option<&Path>, name: &'static str) -> Result<(), CommandFailure> {
    begin(path, BegunForm::Page, name)
}

/// The same of Markdown.
pub(crate) fn begin_markdown(
    path: Option<&Path>,
    name: &'static str,
) -> Result<(), CommandFailure> {
    begin(path, BegunForm::Markdown, name)
}

fn begin(path: Option<&Path>, form: BegunForm, name: &'static str) -> Result<(), CommandFailure> {
    before_writing(path, |place| begun_files::begin([path.unwrap_or(place), place], form, name))
}

/// Does this where a file is to be. A stream takes one document alone, in the end.
fn before_writing(
    path: Option<&Path>,
    prepare: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), CommandFailure> {
    let Some(path) = path else { return Ok(()) };
    match NamedPlace::of(path)? {
        NamedPlace::File(place) => prepare(&place).map_err(|error| unwritten(path, &error)),
        NamedPlace::Stream => Ok(()),
    }
}

/// Writes a file into the folder of a record, which may have come from elsewhere: a link there is
/// replaced, since the user has not named what it leads to.
pub(crate) fn write_into_record(path: &Path, text: &str) -> Result<(), CommandFailure> {
    replace_file(path, text).map_err(|error| unwritten(path, &error))
}

/// Refuses a recording, an SQLite database, which may be the target, and a file of a record that is
/// no page, at this place: they are never overwritten.
fn refuse_data(path: &Path, place: &Path) -> Result<(), CommandFailure> {
    let what = match place.is_file() && !begun_files::is_begun(place) {
        true if is_recording(place) => "a recording",
        true if is_database(place) => "an SQLite database",
        true if !is_page(place) && is_in_record(place) => "a file of a record",
        _ => return Ok(()),
    };
    Err(CommandFailure::usage(format!(
        "{} is {what}, which is never overwritten: name another file",
        path.display()
    )))
}

/// Whether a file is in the folder of a record, or of a run in one.
fn is_in_record(place: &Path) -> bool {
    let is_record = |folder: &Path| RECORD_MARKS.iter().any(|mark| folder.join(mark).is_file());
    place.ancestors().skip(1).take(MOST_LEVELS).any(is_record)
}

/// Whether a file is made of a record, by its name.
pub(crate) fn is_page(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| PAGES.contains(&extension))
}

/// Whether a file begins as a recording does, of whatever version.
fn is_recording(file: &Path) -> bool {
    let Ok(file) = File::open(file) else { return false };
    let begun = RecordingFile::begin(file);
    !matches!(begun, Err(TraceFileError::NoRecording | TraceFileError::Io(_)))
}

fn is_database(file: &Path) -> bool {
    let mut begin = [0; DATABASE.len()];
    let read = File::open(file).and_then(|mut file| io::Read::read_exact(&mut file, &mut begin));
    read.is_ok() && begin == DATABASE
}

/// That a file cannot be written, and what to do.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> CommandFailure {
    let remedy = dbtime_lab::want_of_room(error)
        .unwrap_or("name a file in an existing folder that you may write to");
    CommandFailure::environment(format!("cannot write {}: {error}; {remedy}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::ProcessExit;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn text_of(path: &Path) -> String {
        fs::read_to_string(path).expect("a file")
    }

    #[test]
    fn what_was_measured_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        write_named(&place("own.json"), "{}").expect("it is of no record");
        for name in ["run.json", "series.csv"] {
            fs::write(place(name), "measured").expect("written");
        }
        symlink(place("run.json"), place("link")).expect("a link");
        for name in ["run.json", "series.csv", "link"] {
            let error = write_named(&place(name), "page").expect_err("it is of a record");
            assert!(error.words().contains("never overwritten"), "{}", error.words());
            assert_eq!(text_of(&place(name)), "measured");
        }
        let recording = "{\"begin\":{\"version\":4711}}\n";
        fs::write(place("it.trace"), recording).expect("written");
        let error = write_named(&place("it.trace"), "page").expect_err("a recording").words();
        assert!(error.contains("is a recording, which is never overwritten"), "{error}");
        assert_eq!(text_of(&place("it.trace")), recording);
        fs::write(place("t.db"), [&DATABASE[..], b"pages"].concat()).expect("written");
        let error = write_named(&place("t.db"), "page").expect_err("a database").words();
        assert!(error.contains("is an SQLite database, which is never overwritten"), "{error}");
        write_named(&place("report.html"), "page").expect("it holds nothing");
        write_named(&place("new.json"), "{}").expect("it is not there yet");
    }

    #[test]
    fn nothing_of_a_study_is_overwritten_but_its_pages() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("runs/0001-b01-one");
        fs::create_dir_all(&run).expect("folders");
        for name in ["plan.json", "journal.jsonl", "study.toml"] {
            fs::write(folder.path().join(name), "measured").expect("written");
        }
        for name in ["program.json", "usage.json", "stdout.txt", "stderr.txt", "server.log"] {
            fs::write(run.join(name), "measured").expect("written");
        }
        let of_study = ["journal.jsonl", "study.toml"].map(|name| folder.path().join(name));
        let of_run = ["usage.json", "stdout.txt", "stderr.txt", "server.log"];
        for place in of_study.into_iter().chain(of_run.map(|name| run.join(name))) {
            for refused in [write_named(&place, "page"), begin_junit(Some(&place), "dbtime run")] {
                let words = refused.expect_err("it is of a record").words();
                assert!(words.contains("is a file of a record, which is never"), "{words}");
            }
            assert_eq!(text_of(&place), "measured");
        }
        for name in ["report.html", "report.md", "tests.xml"] {
            for text in ["page", "newer"] {
                write_named(&folder.path().join(name), text).expect("it can be made again");
            }
        }
        // What was begun is the command's own, whatever it is called.
        let own = folder.path().join("verdict");
        begin_markdown(Some(&own), "dbtime compare").expect("it is not there yet");
        write_named(&own, "better").expect("begun");
        assert_eq!(text_of(&own), "better");
        write_named(&own, "newer").expect_err("it is of the record now");
    }

    #[test]
    fn a_file_that_cannot_be_written_keeps_no_other_from_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let [none, there] = ["none/page", "there"].map(|name| Some(folder.path().join(name)));
        let files = [(&none, "page".to_owned()), (&None, String::new()), (&there, "x".to_owned())];
        let error = write_all_named(files).expect_err("no folder").words();
        assert!(error.contains("none/page"), "{error}");
        assert_eq!(text_of(&folder.path().join("there")), "x");
    }

    #[test]
    fn a_link_that_was_named_is_followed_and_one_in_a_record_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let [link, there] = ["link", "there"].map(|name| folder.path().join(name));
        symlink(&there, &link).expect("a link");
        // It leads to nothing yet.
        for text in ["page", "newer"] {
            write_named(&link, text).expect("written");
            assert!(link.symlink_metadata().expect("there").is_symlink());
            assert_eq!(text_of(&there), text);
        }
        write_into_record(&link, "of the record").expect("written");
        assert!(link.symlink_metadata().expect("there").is_file());
        assert_eq!(text_of(&there), "newer");
        write_named(&there, "new").expect("written");
        assert_eq!(text_of(&there), "new");
        let error = write_named(&folder.path().join("no/page"), "x").expect_err("no folder");
        assert!(error.words().contains("name a file in an existing folder"), "{error:?}");
    }

    #[test]
    fn a_link_that_leads_to_no_place_is_refused_before_anything_is_measured() {
        let folder = tempfile::tempdir().expect("a folder");
        let [link, one, other] = ["link", "one", "other"].map(|name| folder.path().join(name));
        symlink("no/page", &link).expect("a link");
        symlink(&one, &other).expect("a link");
        symlink(&other, &one).expect("a link");
        for path in [&link, &one] {
            for refused in [check_named(Some(path)), begin_page(Some(path), "dbtime ps")] {
                let words = refused.expect_err("no place for a file").words();
                assert!(words.contains("name a file in an existing folder"), "{words}");
                assert!(words.contains(&path.display().to_string()), "{words}");
            }
        }
        fs::create_dir(folder.path().join("no")).expect("a folder");
        check_named(Some(&link)).expect("it can be made");
        begin_page(Some(&link), "dbtime ps").expect("begun");
        assert!(text_of(&link).contains("has not ended"));
        assert!(link.symlink_metadata().expect("there").is_symlink());
    }

    #[test]
    fn what_is_no_file_stays_what_it_is_or_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
        mknodat(CWD, pipe.as_path(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        for path in [&pipe, &socket] {
            for refused in [
                write_named(path, "page"),
                check_named(Some(path)),
                begin_junit(Some(path), "dbtime run"),
            ] {
                let words = refused.expect_err("it has no reader").words();
                assert!(words.contains("is a pipe, a socket") && words.contains("name a file"));
                assert!(words.contains(&path.display().to_string()), "{words}");
            }
        }
        let error = check_named(Some(Path::new("-"))).expect_err("no name");
        assert_eq!(error.exit(), ProcessExit::Usage, "{error:?}");
        let null = Path::new("/dev/null");
        write_named(null, "nothing").expect("written");
        begin_page(Some(null), "dbtime ps").expect("left alone");
        assert!(!null.metadata().expect("there").is_file());
    }

    #[test]
    fn what_the_process_was_started_with_is_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = File::create(folder.path().join("opened")).expect("a file");
        let name = |own: &dyn std::os::fd::AsRawFd| format!("/dev/fd/{}", own.as_raw_fd());
        // What stands there stays, and what comes goes on behind it.
        file.write_all(b"before ").expect("written");
        write_named(Path::new(&name(&file)), "page").expect("written");
        file.write_all(b" behind").expect("written");
        assert_eq!(text_of(&folder.path().join("opened")), "before page behind");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        write_named(Path::new(&name(&writer)), "page").expect("written");
        let mut begin = [0; 4];
        io::Read::read_exact(&mut reader, &mut begin).expect("what was written");
        assert_eq!(&begin, b"page");
        drop(reader);
        let written = write_named(Path::new(&name(&writer)), "page");
        let error = written.expect_err("its reader has gone");
        assert!(error.words().contains("cannot write /dev/fd/"), "{error:?}");
    }

    #[test]
    fn no_result_of_before_is_taken_for_the_one_to_come() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("there");
        type BeginFile = fn(Option<&Path>, &'static str) -> Result<(), CommandFailure>;
        let all: [(BeginFile, &str); 3] = [
            (begin_junit, "errors=\"1\""),
            (begin_page, "<!DOCTYPE html>"),
            (begin_markdown, "## "),
        ];
        for (begin, mark) in all {
            fs::write(&there, "all passed").expect("written");
            begin(Some(&there), "dbtime compare").expect("written");
            let begun = text_of(&there);
            assert!(begun.contains(mark) && begun.contains("has not ended"), "{begun}");
            assert!(!begun.contains("all passed"), "{begun}");
            for place in [folder.path().to_owned(), folder.path().join("no/run.xml")] {
                let error = begin(Some(&place), "dbtime run").expect_err("no place for a file");
                assert!(error.words().contains("name a file in an existing folder"), "{error:?}");
            }
            begin(None, "dbtime run").expect("nothing is to be written");
        }
    }

    #[test]
    fn what_is_no_text_goes_into_no_stream() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("rows");
        check_binary(Some(&place)).expect("it can be written");
        assert!(!place.exists());
        write_binary(&place, b"\0\xff").expect("written");
        assert_eq!(fs::read(&place).expect("a file"), b"\0\xff");
        let stdout = Path::new("/dev/stdout");
        for refused in [check_binary(Some(stdout)), write_binary(stdout, b"\0")] {
            assert_eq!(refused.expect_err("a stream").exit(), ProcessExit::Usage);
        }
        check_binary(Some(&folder.path().join("no/rows"))).expect_err("no folder");
        check_binary(None).expect("nothing is to be written");
    }

    #[test]
    fn a_place_is_checked_and_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("there");
        check_named(Some(&there)).expect("it can be written");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
        fs::write(&there, "before").expect("written");
        check_named(Some(&there)).expect("it can be written");
        assert_eq!(text_of(&there), "before");
        for place in [folder.path().to_owned(), folder.path().join("no/out")] {
            check_named(Some(&place)).expect_err("no place for a file");
        }
        check_named(None).expect("nothing is to be written");
    }
}
