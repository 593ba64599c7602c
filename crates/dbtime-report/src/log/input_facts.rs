//! What a digest is of: files, the time that they span, and what must be known before their figures
//! are believed.

use super::class_facts::{failed, named};
use super::instant_text;
use super::postgres_notes::postgres_notes;
use crate::document::ReportDocument;
use crate::format::{bytes, count, counted, factor, one_line, rate, us};
use crate::terminal::TextRole;
use dbtime_model::log_digest::{DigestInput, InputKind, LogDigest, LogFigure, NamedCount};

/// How many files have a line of their own on the first screen.
const MOST_FILES: usize = 3;

/// How many notes have one.
const MOST_NOTES: usize = 4;

/// What the waits for locks are in a slow log that has one figure of them.
const ROW_LOCKS: &str = "; the part lock is Lock_time of the log, which has waits for row locks on \
                         MySQL since 8.0.28 alone: elsewhere they are in other";

/// What makes figures wrong or doubtful, before any of them.
pub(super) fn doubts(digest: &LogDigest, document: &mut ReportDocument) {
    for input in &digest.inputs {
        let path = one_line(&input.path);
        if input.is_misread {
            let text = format!("not one line has the form of this format: {}", format_of(input));
            document.callout(&format!("{path}: {text}"));
        }
        for doubt in &input.doubts {
            document.callout(&format!("{path}: {}", one_line(doubt)));
        }
    }
}

/// What a file was taken for, and why.
fn format_of(input: &DigestInput) -> String {
    format!("{}, {}", input.kind.title(), one_line(&input.because))
}

/// The files, in one fact.
pub(super) fn files(digest: &LogDigest, has_all: bool, document: &mut ReportDocument) {
    let most = if has_all { usize::MAX } else { MOST_FILES };
    for (index, input) in digest.inputs.iter().take(most).enumerate() {
        let name = if index == 0 { "read" } else { "" };
        document.fact(name, &file(input, has_all), TextRole::Plain);
    }
    let further = digest.inputs.len().saturating_sub(most);
    if further > 0 {
        let records = digest.inputs.iter().skip(most).map(|input| input.records);
        let records = records.fold(0, u64::saturating_add);
        let text = format!(
            "{} with {}",
            counted(further as u64, "further file"),
            counted(records, "record")
        );
        document.fact("", &text, TextRole::Plain);
    }
}

fn file(input: &DigestInput, has_reason: bool) -> String {
    // What has no beginning shows no format.
    if input.bytes == 0 && input.from == 0 {
        return format!("{}: nothing to read", one_line(&input.path));
    }
    let kind = if has_reason { format_of(input) } else { input.kind.title().to_owned() };
    let mut text = format!(
        "{} ({kind}): {}, {}",
        one_line(&input.path),
        counted(input.records, "record"),
        bytes(input.bytes)
    );
    if input.from > 0 {
        text += &format!(" from byte {} on", count(input.from));
    }
    if has_reason && !input.format.is_empty() {
        text += &format!("; format: {}", one_line(&input.format));
    }
    text
}

/// From when to when, and how many records ran at once.
pub(super) fn span(digest: &LogDigest, document: &mut ReportDocument) {
    let (Some(first), Some(last)) = (digest.first_us, digest.last_us) else {
        document.fact("span", "the log has no times", TextRole::Plain);
        return;
    };
    let length_us = last.saturating_sub(first).max(0) as f64;
    let zone = match digest.inputs.iter().any(|input| input.is_local_time) {
        true => "by the server's clock (the log names no zone)",
        false => "UTC",
    };
    let mut text =
        format!("{} to {} {zone}, {}", instant_text(first), instant_text(last), us(length_us));
    if let Some(times) = digest.total.times.as_ref().filter(|_| length_us > 0.0) {
        text += &format!("; {} running on average", factor(times.total_us / length_us));
    }
    document.fact("span", &text, TextRole::Plain);
}

/// What spoils figures or limits them. The first screen has the weightiest; `shows_bad`: with each
/// kind of unread line.
pub(super) fn notes(
    digest: &LogDigest,
    (shows_bad, has_all): (bool, bool),
    document: &mut ReportDocument,
) {
    let notes = all_notes(digest, shows_bad);
    let most = if has_all { usize::MAX } else { MOST_NOTES };
    for (index, note) in notes.iter().take(most).enumerate() {
        document.fact(if index == 0 { "note" } else { "" }, note, TextRole::Warn);
    }
    if notes.len() > most {
        let further = counted((notes.len() - most) as u64, "further note");
        document.fact("", &format!("{further}; --details has them"), TextRole::Warn);
    }
    if shows_bad {
        unread_lines(digest, document);
    }
}

/// All notes, the weightiest first.
fn all_notes(digest: &LogDigest, shows_bad: bool) -> Vec<String> {
    let lines = unread_count(digest);
    let mut notes = Vec::new();
    if lines > 0 {
        let hint = if shows_bad { "" } else { "; --show-bad lists them" };
        notes.push(format!("{} could not be read{hint}", counted(lines, "line")));
    }
    notes.extend(sampling_notes(digest));
    if digest.other_classes > 0 {
        notes.push(format!(
            "{} with few records are together in one, for want of room",
            counted(digest.other_classes, "class")
        ));
    }
    notes.extend(postgres_notes(digest));
    notes.extend(digest.notes.iter().map(|note| one_line(note)));
    for input in &digest.inputs {
        let named = |note: &String| format!("{}: {}", one_line(&input.path), one_line(note));
        notes.extend(input.notes.iter().map(named));
    }
    notes
}

/// That counts are estimates, because records are a sample of all.
fn sampling_notes(digest: &LogDigest) -> Vec<String> {
    let mut notes = Vec::new();
    if digest.assumed_weight > 1.0 {
        notes.push(format!(
            "sampled: each record stands for {}, by --sample-rate, so that counts and totals are \
             estimates; percentiles, minimum and maximum are those of the records",
            factor(digest.assumed_weight)
        ));
    }
    if digest.total.count > digest.total.logged && digest.assumed_weight <= 1.0 {
        notes.push(format!(
            "sampled by the server: {} stand for {}, so that counts and totals are estimates",
            counted(digest.total.logged, "record"),
            count(digest.total.count)
        ));
    }
    notes
}

/// How many lines could not be read.
pub(super) fn unread_count(digest: &LogDigest) -> u64 {
    let unread = digest.inputs.iter().flat_map(|input| &input.unread);
    unread.map(|unread| unread.count).fold(0, u64::saturating_add)
}

/// Each kind of line that could not be read, by file, with the place of the first.
fn unread_lines(digest: &LogDigest, document: &mut ReportDocument) {
    let mut name = "unread";
    for input in &digest.inputs {
        for unread in &input.unread {
            let text = format!(
                "{} at byte {}: {} {}",
                one_line(&input.path),
                unread.first_offset,
                counted(unread.count, "line"),
                unread.why.title()
            );
            document.fact(name, &text, TextRole::Warn);
            name = "";
        }
    }
}

/// What else the log has: lock waits, temporary files, checkpoints.
pub(super) fn events(digest: &LogDigest, document: &mut ReportDocument) {
    if digest.events.is_empty() {
        return;
    }
    let events: Vec<String> = digest.events.iter().map(event_text).collect();
    document.fact("also logged", &events.join(", "), TextRole::Plain);
}

/// What events are of that has more words behind it.
const EVENT_NOUNS: [&str; 4] = ["error", "event", "statement", "time"];

/// A number of events: `1 lock wait`, `2 lock waits`, `2 errors 57P01`.
fn event_text(event: &NamedCount) -> String {
    let name = one_line(&event.name);
    let behind = |noun: &&str| name.strip_prefix(*noun).filter(|rest| rest.starts_with(' '));
    match EVENT_NOUNS.iter().find_map(|noun| Some((*noun, behind(noun)?))) {
        Some((noun, rest)) => counted(event.count, noun) + rest,
        None => counted(event.count, &name),
    }
}

/// What percentiles and means are of, and with details what the parts are.
pub(super) fn basis(digest: &LogDigest, has_all: bool, document: &mut ReportDocument) {
    let mut text = one_line(&digest.basis);
    if has_all && lacks_row_locks(digest) {
        text += ROW_LOCKS;
    }
    document.fact("figures", &text, TextRole::Dim);
}

/// Whether waits for row locks may be outside of what a slow log has as waits for locks.
fn lacks_row_locks(digest: &LogDigest) -> bool {
    let has = |figure: LogFigure| digest.total.figures.contains_key(figure.name());
    let is_slow = digest.inputs.iter().any(|input| input.kind == InputKind::Slow);
    is_slow && has(LogFigure::LockTime) && !has(LogFigure::RowLockWait)
}

/// All records as if they were one class.
pub(super) fn all(digest: &LogDigest, document: &mut ReportDocument) {
    let total = &digest.total;
    let mut text = counted(total.count, total.kind.noun());
    if let (Some(first), Some(last)) = (digest.first_us, digest.last_us)
        && last > first
    {
        let per_s = total.count as f64 / (last.saturating_sub(first) as f64 / 1e6);
        text += &format!(" ({}/s)", rate(per_s));
    }
    text += &failed(total);
    if !total.error_codes.is_empty() {
        text += &format!(": {}", named(&total.error_codes));
    }
    if let Some(times) = &total.times {
        text += &format!(
            "; mean {}, p50 {}, p99 {}, max {}",
            us(times.mean_us),
            us(times.p50_us),
            us(times.p99_us),
            us(times.max_us)
        );
    }
    document.fact("all", &text, TextRole::Plain);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_events_are_in_the_plural() {
        let text = |name: &str, count| event_text(&NamedCount { name: name.to_owned(), count });
        for (name, one, several) in [
            ("lock wait", "1 lock wait", "2 lock waits"),
            ("temporary file", "1 temporary file", "2 temporary files"),
            ("error 57P01", "1 error 57P01", "2 errors 57P01"),
            ("time of a clock", "1 time of a clock", "2 times of a clock"),
        ] {
            assert_eq!([text(name, 1), text(name, 2)], [one, several]);
        }
    }
}
