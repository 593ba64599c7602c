//! Writes run folders: into a hidden folder beside the final one, renamed when whole.
//!
//! A run that is killed, or a disk that fills up, leaves no folder that could be taken for a run.

use crate::error::LabError;
pub use crate::scratch::CreatedFolders;
use crate::scratch::{self, ScratchFolder};
use dbtime_model::counters::CounterDocument;
use dbtime_model::record::{FoldedStacks, Run, csv, file, folded_text, server_seconds};
use dbtime_model::secret_text::without_secrets;
use dbtime_model::study::study_file;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

mod record_revision;

pub(crate) use record_revision::RecordRevision;

/// Of open(2), for a file that is added to in a folder that may have come from elsewhere: a link in
/// its place is refused.
pub(crate) const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// What follows the name of a run folder in the making, before the number of its process.
const PARTIAL: &str = ".partial-";

/// Whether something new can have this place, for all that its name says.
///
/// Errors: [`LabError::OutExists`], [`LabError::OutIsUrl`].
pub fn check_place(out: &Path) -> Result<(), LabError> {
    let name = out.to_string_lossy();
    if name.contains("://") {
        return Err(LabError::OutIsUrl(without_secrets(&name).into_owned()));
    }
    match out.symlink_metadata() {
        Ok(_) => Err(LabError::OutExists(out.to_owned())),
        Err(_) => Ok(()),
    }
}

/// A run folder in the making. Dropped before [`RunStore::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct RunStore {
    out: PathBuf,
    partial: ScratchFolder,
    /// Folders that were made for the record.
    _made: CreatedFolders,
}

/// Makes a folder that several records are to be put into.
///
/// Errors: [`LabError::Record`]; then nothing of it is left.
pub fn make_folder(path: &Path) -> Result<CreatedFolders, LabError> {
    CreatedFolders::folder(path)
        .map_err(|source| LabError::Record { path: path.to_owned(), source })
}

/// Removes what says of a folder that it is a sweep's, where that has made no run.
///
/// Errors: [`LabError::Record`].
pub fn remove_sweep(folder: &Path) -> Result<(), LabError> {
    for path in [study_file::JOURNAL, study_file::PLAN].map(|name| folder.join(name)) {
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(LabError::Record { path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes a file of a folder over what was there: a reader finds the old one or the new, whole.
///
/// Errors: [`LabError::Record`].
pub fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), LabError> {
    let written = replace_file(&folder.join(name), text);
    written.map_err(|source| LabError::Record { path: folder.to_owned(), source })
}

/// Writes a file over what was there: a reader finds the old one or the new, whole. A link is
/// replaced and not followed, for the folder may have come from elsewhere.
///
/// Errors: as writing; then nothing half-written is left.
pub fn replace_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let (partial, content) = (partial_of(path)?, content.as_ref());
    let written = write_synced(&partial, content).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // What could not be written whole is taken away.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Whether [`replace_file`] can have this place, as far as that is known before it writes.
///
/// Errors: as writing; nothing is left.
pub fn probe_file(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let partial = partial_of(path)?;
    File::create_new(&partial)?;
    fs::remove_file(&partial)
}

/// The place beside a file that it is written to first, with nothing in it.
fn partial_of(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy();
    let partial = path.with_file_name(format!(".{name}{PARTIAL}{}", std::process::id()));
    // A killed process of this number has left it, or somebody a link to write through.
    let _ = fs::remove_file(&partial);
    Ok(partial)
}

/// Writes a file that is not there.
fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// The files that a run is written to, `run.json` last.
fn run_files(run: &Run) -> io::Result<Vec<(&'static str, String)>> {
    let mut files = vec![
        (file::SERIES, csv::series_text(&run.series)),
        (file::TRANSACTIONS, csv::transactions_text(&run.transactions)),
    ];
    let statements = csv::statements_text(&run.transactions);
    files.extend(statements.map(|text| (file::TRANSACTION_STATEMENTS, text)));
    let seconds = server_seconds::text(&run.record.sampled_counters, &run.server_seconds);
    files.extend(seconds.map(|text| (file::SERVER_SECONDS, text)));
    files.extend(
        run.counters
            .clone()
            .map(|report| (file::COUNTERS, CounterDocument::CounterReport(report).to_json())),
    );
    let FoldedStacks { on_cpu, off_cpu } = &run.stacks;
    for (name, stacks) in [(file::STACKS_ON_CPU, on_cpu), (file::STACKS_OFF_CPU, off_cpu)] {
        files.extend(stacks.as_ref().map(|stacks| (name, folded_text(stacks))));
    }
    let json = serde_json::to_string_pretty(&run.record).map_err(io::Error::other)?;
    files.push((file::RUN, json + "\n"));
    Ok(files)
}

impl RunStore {
    /// Reserves `out`, so that a folder that cannot be written is known before the run.
    ///
    /// Errors: those of [`check_place`], [`LabError::Record`].
    pub fn create(out: &Path) -> Result<Self, LabError> {
        check_place(out)?;
        let name = out.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy());
        let parent = match out.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let failed = |source| LabError::Record { path: out.to_owned(), source };
        if parent.exists() && !parent.is_dir() {
            // Said here, for the system would only say that it exists.
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        let made = CreatedFolders::folder(parent).map_err(failed)?;
        scratch::sweep(parent, is_partial_name);
        let partial = parent.join(format!(".{name}{PARTIAL}{}", std::process::id()));
        let partial = ScratchFolder::create(partial).map_err(failed)?;
        Ok(Self { out: out.to_owned(), partial, _made: made })
    }

    /// A file of the folder to be filled while the run goes on.
    pub(crate) fn open(&self, name: &str) -> Result<impl Write + Send + use<>, LabError> {
        let file = File::create_new(self.file(name)).map_err(|source| self.failed(source))?;
        Ok(BufWriter::new(file))
    }

    /// Writes another whole file of the folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), LabError> {
        write_synced(&self.file(name), text.as_bytes()).map_err(|source| self.failed(source))
    }

    /// Lets `keep` put files into the folder.
    pub(crate) fn keep(&self, keep: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), LabError> {
        keep(self.partial.path()).map_err(|source| self.failed(source))
    }

    /// Writes the run's own files, `run.json` last, and gives the folder its final name. Where
    /// another run has taken that name meanwhile, the next free one is taken.
    pub(crate) fn commit(self, run: &Run) -> Result<PathBuf, LabError> {
        for (name, text) in run_files(run).map_err(|source| self.failed(source))? {
            self.write(name, &text)?;
        }
        let is_free = |out: &PathBuf| out.symlink_metadata().is_err();
        for out in names(&self.out).filter(is_free) {
            match self.partial.keep_as(&out) {
                Ok(()) => return Ok(out),
                // Another run has taken the name since it was found free.
                Err(error) if is_taken(&error) => {}
                Err(source) => return Err(LabError::Record { path: out, source }),
            }
        }
        Err(LabError::OutExists(self.out.clone()))
    }

    /// Where a file of the folder is while that is in the making.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.partial.path().join(name)
    }

    fn failed(&self, source: io::Error) -> LabError {
        LabError::Record { path: self.out.clone(), source }
    }
}

/// Whether a file or folder of this path is one in the making.
pub(crate) fn is_partial(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(is_partial_name)
}

/// Whether a file or folder in the making could have this name.
fn is_partial_name(name: &str) -> bool {
    let number = name.starts_with('.').then(|| name.rsplit_once(PARTIAL)).flatten();
    number.is_some_and(|(_, number)| number.parse::<u32>().is_ok())
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// `out`, `out-2`, `out-3`, …
fn names(out: &Path) -> impl Iterator<Item = PathBuf> {
    let numbered = |n| {
        let mut name = out.as_os_str().to_owned();
        name.push(format!("-{n}"));
        PathBuf::from(name)
    };
    std::iter::once(out.to_owned()).chain((2..1000).map(numbered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::Product;
    use dbtime_model::counters::{CounterSample, CounterSource};

    #[test]
    fn a_dropped_store_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = RunStore::create(&dir.path().join("made/run")).expect("free");
        store.write("x", "half").expect("written");
        drop(store);
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_names_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let [link, theirs] = ["page", "theirs"].map(|name| dir.path().join(name));
        let partial = dir.path().join(format!(".page{PARTIAL}{}", std::process::id()));
        fs::write(&theirs, "theirs").expect("written");
        for link in [&link, &partial] {
            std::os::unix::fs::symlink(&theirs, link).expect("a link");
        }
        replace_file(&link, "ours").expect("written");
        assert!(link.symlink_metadata().expect("there").is_file());
        let texts = [&link, &theirs].map(|path| fs::read_to_string(path).expect("a text"));
        assert_eq!(texts, ["ours", "theirs"]);
        assert!(partial.symlink_metadata().is_err());
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).expect("a folder");
        assert!(replace_file(&folder, "ours").is_err() && folder.is_dir());
        assert!(probe_file(&folder).is_err() && probe_file(&folder.join("no/page")).is_err());
        probe_file(&folder.join("page")).expect("it can be written");
        assert_eq!(fs::read_dir(&folder).expect("readable").count(), 0);
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 3);
    }

    #[test]
    fn a_record_reads_back_as_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("a/b");
        let mut run = Run::default();
        run.record.schema = dbtime_model::record::SCHEMA;
        run.record.throughput_tps = 12.5;
        run.series.push(dbtime_model::record::SeriesRow {
            phase: dbtime_model::record::SeriesPhase::Measure,
            ..Default::default()
        });
        let statement = dbtime_model::record::TransactionStatement {
            name: "a \"name\", and more".to_owned(),
            began_us: Some(2.5),
            lock_wait_us: Some(7.0),
            lock: "row lock".to_owned(),
            holder: "COMMIT".to_owned(),
            holder_thread: Some(3),
            ..Default::default()
        };
        let frames = vec!["main".to_owned(), "write_[k]".to_owned()];
        let stacks = vec![dbtime_model::record::FoldedStack { frames, weight: 7 }];
        run.stacks = FoldedStacks { on_cpu: Some(Vec::new()), off_cpu: Some(stacks) };
        run.transactions = vec![Default::default(), Default::default()];
        run.transactions[1].statements = vec![statement.clone(), statement];
        run.transactions.iter_mut().for_each(|row| row.kept = "slowest".to_owned().into());
        let sample = CounterSample::new(CounterSource {
            product: Product::Postgres,
            version: Some("18.0".to_owned()),
            url: None,
        });
        let report = dbtime_observe::counters::difference(&sample, &sample);
        run.counters = Some(report.expect("one product"));
        let store = RunStore::create(&out).expect("free");
        assert_eq!(store.commit(&run).expect("committed"), out);
        assert_eq!(dbtime_model::record::read_run(&out).expect("whole"), run);
        // A sample is no report.
        let document = CounterDocument::CounterSample(sample);
        fs::write(out.join(file::COUNTERS), document.to_json()).expect("written");
        let error = dbtime_model::record::read_run(&out).expect_err("refused").to_string();
        assert!(error.contains("counters.json") && error.contains("differences"), "{error}");
        assert!(matches!(RunStore::create(&out), Err(LabError::OutExists(_))));
    }

    #[test]
    fn the_name_of_a_folder_in_the_making_is_known() {
        assert!(is_partial_name(".r.partial-17") && is_partial_name(".a.partial-b.partial-1"));
        for other in ["r.partial-17", ".r.partial-", ".r.partial-x", ".partial17", "r"] {
            assert!(!is_partial_name(other), "{other}");
        }
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_costs_no_record() {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("run");
        let store = RunStore::create(&out).expect("free");
        fs::create_dir(&out).expect("taken");
        assert_eq!(store.commit(&Run::default()).expect("committed"), dir.path().join("run-2"));
    }

    #[test]
    fn a_url_is_no_folder_of_a_record_and_its_password_is_not_repeated() {
        for (out, shown) in [
            ("postgres://app:S3CRETx5@host/db", "postgres://app:***@host/db is a URL"),
            ("mysql://host/db?password=S3CRETx5", "mysql://host/db?password=*** is a URL"),
            ("runs/sqlite://t.db", "runs/sqlite://t.db is a URL"),
        ] {
            let error = RunStore::create(Path::new(out)).expect_err(out);
            assert!(error.is_usage() && error.to_string().starts_with(shown), "{error}");
        }
        assert!(check_place(Path::new("no/such: folder")).is_ok());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_told_before_the_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("file");
        fs::write(&file, "").expect("written");
        assert!(matches!(RunStore::create(&file.join("run")), Err(LabError::Record { .. })));
    }
}
