//! Digests of logs as the sides of a comparison: whether the named places are some, and what they
//! hold.

use crate::exit::CommandFailure;
use dbtime_model::bounded_file::recorded_bytes;
use dbtime_model::log_digest::{LogDigest, SCHEMA};
use dbtime_model::plain_text::legible_within;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Characters of why a file is no digest: what it has in place of a word may be of any length.
const CAUSE_CHARS: usize = 200;

/// What digests are known by; a version of any number has these.
#[derive(Deserialize)]
struct DigestMarks {
    schema: u32,
    #[serde(rename = "inputs")]
    _inputs: IgnoredAny,
    #[serde(rename = "basis")]
    _basis: IgnoredAny,
    #[serde(rename = "classes")]
    _classes: IgnoredAny,
}

/// The two digests that were named; `None`: none of the places is one.
///
/// Errors: some are and some are not, there are not two, or one cannot be read.
pub(crate) fn digest_places(
    a: &[PathBuf],
    b: &[PathBuf],
) -> Result<Option<[LogDigest; 2]>, CommandFailure> {
    let all: Vec<&PathBuf> = a.iter().chain(b).collect();
    let marks: Vec<Option<DigestMarks>> = all.iter().map(|path| marks(path)).collect();
    let Some(first) = marks.iter().position(Option::is_some) else { return Ok(None) };
    if let Some(other) = marks.iter().position(Option::is_none) {
        return Err(CommandFailure::usage(format!(
            "{} is a digest of logs and {} is none: name two outputs of `dbtime log --json`",
            all[first].display(),
            all[other].display()
        )));
    }
    match (&all[..], &marks[..]) {
        ([one, other], [Some(of_one), Some(of_other)]) => {
            let digests = [digest(one, of_one)?, digest(other, of_other)?];
            alike([one, other], digests).map(Some)
        }
        _ => Err(CommandFailure::usage(
            "digests of logs are compared in pairs: dbtime compare OLD.json NEW.json",
        )),
    }
}

/// Two digests, if they have classes of the same kind.
fn alike(
    [one, other]: [&Path; 2],
    digests: [LogDigest; 2],
) -> Result<[LogDigest; 2], CommandFailure> {
    let [a, b] = digests.each_ref().map(|digest| digest.grouping);
    if a == b {
        return Ok(digests);
    }
    Err(CommandFailure::usage(format!(
        "{} has classes of {}, and {} of {}, which have nothing in common: digest both logs with \
         the same --group-by",
        one.display(),
        a.name(),
        other.display(),
        b.name()
    )))
}

/// What makes a file a digest; `None`: it is none, or not there. Cost: reads all of it.
fn marks(path: &Path) -> Option<DigestMarks> {
    if !path.is_file() {
        return None;
    }
    let mut file = BufReader::new(File::open(path).ok()?);
    // Files of other kinds may be large.
    let begins_as_object = file.fill_buf().ok()?.trim_ascii_start().first() == Some(&b'{');
    if !begins_as_object {
        return None;
    }
    serde_json::from_reader(file).ok()
}

fn digest(path: &Path, marks: &DigestMarks) -> Result<LogDigest, CommandFailure> {
    let place = path.display();
    let unread = |error: io::Error| CommandFailure::environment(format!("{place}: {error}"));
    if marks.schema > SCHEMA {
        return Err(CommandFailure::environment(format!(
            "{place} is of a later dbtime (schema {}); this one reads up to {SCHEMA}",
            marks.schema
        )));
    }
    let bytes = recorded_bytes(path).map_err(unread)?;
    serde_json::from_slice(&bytes).map_err(|error: serde_json::Error| {
        let cause = legible_within(&error.to_string(), CAUSE_CHARS);
        CommandFailure::environment(format!("{place} is no whole digest of logs: {cause}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn digests_are_known_by_what_all_of_them_have() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        let digest = r#"{"schema": 9, "inputs": [], "basis": "", "classes": []}"#;
        for (name, text) in [("later", digest), ("other", r#"{"schema": 1}"#), ("text", "x 1\n")] {
            fs::write(place(name), text).expect("written");
        }
        let named = |a: &[&str], b: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(|name| place(name)).collect::<Vec<_>>();
            digest_places(&paths(a), &paths(b))
        };
        assert!(named(&["other", "text"], &["absent"]).expect("none is one").is_none());
        for (a, b, cause) in [
            (vec!["later", "other"], vec![], "is none: name two outputs"),
            (vec!["later"], vec![], "compared in pairs"),
            (vec!["later", "later"], vec!["later"], "compared in pairs"),
            (vec!["later", "later"], vec![], "schema 9"),
        ] {
            let error = named(&a, &b).expect_err("refused").words();
            assert!(error.contains(cause), "{error}");
        }
    }
}
