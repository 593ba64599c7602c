//! What each run of a study has left, by the digests of its files: what is verified later is what
//! was measured.

use crate::digest::digest_of;
use dbtime_model::study::RecordedStudy;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// How the names of files end that are written anew by every report.
const PAGES: [&str; 2] = [".html", ".md"];

/// The SHA-256 of each file in a run's folder, by its name; without pages, and what is in the
/// making.
///
/// Errors: one cannot be read.
pub(super) fn run_digests(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_page = name.starts_with('.') || PAGES.iter().any(|page| name.ends_with(page));
        if entry.file_type()?.is_file() && !is_page {
            let (sha256, _) = digest_of(File::open(entry.path())?)?;
            digests.insert(name, sha256);
        }
    }
    Ok(digests)
}

/// Which files of a run's folder are not as the run has left them, in words.
pub(super) fn changed_since(folder: &Path, left: &BTreeMap<String, String>) -> Vec<String> {
    let there = match run_digests(folder) {
        Ok(there) => there,
        Err(error) => return vec![format!("its files cannot be read: {error}")],
    };
    let changed = left.iter().filter_map(|(name, sha256)| match there.get(name) {
        None => Some(format!("{name} is not there")),
        Some(found) if found != sha256 => Some(format!("{name} has changed since the run")),
        Some(_) => None,
    });
    let new = there.keys().filter(|name| !left.contains_key(*name));
    changed.chain(new.map(|name| format!("{name} was added after the run"))).collect()
}

/// The runs in the verdicts of a study that have files which are not as the runs left them, each
/// with these, in words; of runs of an earlier dbtime, which has kept no digests, none.
///
/// Cost: reads all files of these runs.
pub fn changed_runs(folder: &Path, study: &RecordedStudy) -> Vec<String> {
    let counted = study.history.runs.iter().filter(|run| run.counts());
    let changed = counted.filter_map(|run| {
        let (place, left) = (&run.trial.folder, study.history.files.get(&run.trial.run)?);
        let files = changed_since(&folder.join(place), left);
        (!files.is_empty()).then(|| format!("{place} ({})", files.join(", ")))
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_swapped_changed_or_deleted_are_named() {
        let place = tempfile::tempdir().expect("a folder");
        let [one, other] = ["0001", "0002"].map(|name| place.path().join(name));
        for (folder, text) in [(&one, "1"), (&other, "2")] {
            fs::create_dir(folder).expect("a folder");
            for name in ["run.json", "series.csv", "report.html"] {
                fs::write(folder.join(name), text).expect("written");
            }
        }
        let left = run_digests(&one).expect("readable");
        assert_eq!(left.keys().collect::<Vec<_>>(), ["run.json", "series.csv"]);
        fs::write(one.join("report.html"), "anew").expect("written");
        assert_eq!(changed_since(&one, &left), Vec::<String>::new());
        fs::copy(other.join("series.csv"), one.join("series.csv")).expect("copied");
        fs::remove_file(one.join("run.json")).expect("it was there");
        fs::write(one.join("counters.json"), "{}").expect("written");
        let changed = [
            "run.json is not there",
            "series.csv has changed since the run",
            "counters.json was added after the run",
        ];
        assert_eq!(changed_since(&one, &left), changed);
    }
}
