//! Files that traced statements waited for, in words.

use crate::format::{clean, counted, percent};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_totals::TraceTotals;

/// Files below a statement.
const MAX_FILES: usize = 3;

/// What a file is called.
pub(crate) fn file_name(wait: &FileWait) -> String {
    match &wait.file {
        FileName::Named(name) => clean(name),
        FileName::Mapped => "(pages of mapped files)".to_owned(),
        FileName::Others => "(others)".to_owned(),
    }
}

/// What statements waited for in files, longest first.
pub(crate) fn longest(totals: &TraceTotals) -> Vec<&FileWait> {
    let mut waits: Vec<&FileWait> = totals.files.iter().collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.length));
    waits
}

/// The files that took at least a hundredth of a statement's time, and how often each did.
pub(crate) fn files_of(totals: &TraceTotals) -> Vec<String> {
    let line = |wait: &FileWait| {
        let share = 100.0 * wait.length.0 as f64 / totals.response.0.max(1) as f64;
        let (part, name) = (wait.part.name().to_owned(), file_name(wait));
        let times = counted(wait.count, "time");
        (share >= 1.0).then(|| format!("{part} of {name} {}, {times}", percent(share)))
    };
    longest(totals).into_iter().take(MAX_FILES).filter_map(line).collect()
}
