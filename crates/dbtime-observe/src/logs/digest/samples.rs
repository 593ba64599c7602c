//! The longest record of a class, and one by chance.

use super::figures::file_unit;
use super::seen::SeenRecord;
use crate::logs::JoinedRecord;
use dbtime_model::log_digest::{ClassKind, ClassSample};
use dbtime_model::secret_text::without_secrets;

/// The longest text of a class or sample. Unit: bytes.
pub(super) const MAX_TEXT_BYTES: usize = 4096;

/// A number by chance from another one, the same each time (the finaliser of SplitMix64: Steele,
/// Lea and Flood 2014).
pub(super) fn mixed(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The samples of a class. Which one is kept depends on the records alone, not on their order, but
/// for records that took equally long.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleKeeper {
    worst: Option<(u64, Box<ClassSample>)>,
    random: Option<(u64, Box<ClassSample>)>,
}

impl SampleKeeper {
    /// Looks at a record; with `is_raw`, its text is kept but for passwords.
    pub(super) fn add(&mut self, seen: &SeenRecord<'_>, is_raw: bool) {
        if let Some(duration) = seen.duration_ns
            && self.worst.as_ref().is_none_or(|(longest, _)| duration > *longest)
        {
            self.worst = Some((duration, sample_of(seen, is_raw)));
        }
        if self.random.as_ref().is_none_or(|(smallest, _)| seen.draw < *smallest) {
            self.random = Some((seen.draw, sample_of(seen, is_raw)));
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if let Some((duration, sample)) = &other.worst
            && self.worst.as_ref().is_none_or(|(longest, _)| duration > longest)
        {
            self.worst = Some((*duration, sample.clone()));
        }
        if let Some((draw, sample)) = &other.random
            && self.random.as_ref().is_none_or(|(smallest, _)| draw < smallest)
        {
            self.random = Some((*draw, sample.clone()));
        }
    }

    pub(super) fn worst(&self) -> Option<Box<ClassSample>> {
        self.worst.as_ref().map(|(_, sample)| sample.clone())
    }

    /// `None`: there is none, or it is the longest one.
    pub(super) fn random(&self) -> Option<Box<ClassSample>> {
        let place = |(_, sample): &(u64, Box<ClassSample>)| (sample.input, sample.offset);
        let worst = self.worst.as_ref().map(place);
        let random = self.random.as_ref().filter(|random| Some(place(random)) != worst);
        random.map(|(_, sample)| sample.clone())
    }
}

fn sample_of(seen: &SeenRecord<'_>, is_raw: bool) -> Box<ClassSample> {
    let record = seen.record;
    let figures = record
        .figures
        .iter()
        .map(|(figure, value)| (figure.name(), *value as f64 / file_unit(*figure)));
    Box::new(ClassSample {
        text: if is_raw { raw_text(record) } else { String::new() },
        end_us: seen.end_us,
        duration_us: seen.duration_ns.map(|ns| ns as f64 / 1e3),
        input: seen.input,
        offset: record.offset,
        figures: figures.collect(),
    })
}

/// A text with its literals, but without passwords, cut.
fn raw_text(record: &JoinedRecord<'_>) -> String {
    // What is cut off later costs no search for passwords; one that is cut is found by its begin.
    let text = record.text.get(..2 * MAX_TEXT_BYTES).unwrap_or(record.text);
    let text = String::from_utf8_lossy(text);
    match record.kind {
        // Passwords of requests stand in their queries: `?token=…`.
        ClassKind::Request => cut_text(&without_secrets(&text)).to_owned(),
        _ => cut_text(&dbtime_sql::without_passwords(&text)).to_owned(),
    }
}

/// As much of a text as a digest shows.
pub(super) fn cut_text(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::Nanos;
    use dbtime_model::log_digest::LogFigure;

    const FIGURES: &[(LogFigure, u64)] = &[(LogFigure::LockTime, 2500), (LogFigure::RowsSent, 7)];

    fn kept(offsets: &[u64], is_raw: bool, text: &[u8]) -> SampleKeeper {
        let mut keeper = SampleKeeper::default();
        for offset in offsets {
            let record = JoinedRecord {
                offset: *offset,
                text,
                duration: Some(Nanos::from_micros(offset % 50)),
                figures: FIGURES,
                ..JoinedRecord::default()
            };
            keeper.add(&SeenRecord::of(&record, 1), is_raw);
        }
        keeper
    }

    #[test]
    fn samples_do_not_depend_on_the_order() {
        let forward: Vec<u64> = (0..50).collect();
        let backward: Vec<u64> = forward.iter().rev().copied().collect();
        let (one, other) = (kept(&forward, false, b"x"), kept(&backward, false, b"x"));
        assert_eq!((one.worst(), one.random()), (other.worst(), other.random()));
        let mut half = kept(&forward[..20], false, b"x");
        half.merge(&kept(&forward[20..], false, b"x"));
        assert_eq!((half.worst(), half.random()), (one.worst(), one.random()));
        let worst = one.worst().expect("a longest one");
        assert_eq!((worst.offset, worst.duration_us, worst.input), (49, Some(49.0), 1));
        assert_eq!((worst.figures["lock_time"], worst.figures["rows_sent"]), (2.5, 7.0));
        assert_eq!(kept(&[7], false, b"x").random(), None, "it is the longest one");
    }

    #[test]
    fn texts_are_kept_raw_alone_and_without_passwords() {
        let text = |is_raw, text| kept(&[1], is_raw, text).worst().expect("a sample").text;
        assert_eq!(text(false, b"SELECT 42"), "");
        assert_eq!(text(true, b"SELECT 42"), "SELECT 42");
        let user = text(true, b"CREATE USER a IDENTIFIED BY 'hunter2'");
        assert!(user.starts_with("CREATE USER a") && !user.contains("hunter2"), "{user}");
        let long = "é".repeat(5000);
        assert_eq!(text(true, long.as_bytes()).len(), MAX_TEXT_BYTES);
    }

    #[test]
    fn requests_are_kept_without_the_secrets_of_their_queries() {
        let text = b"GET http://me:hunter2@h/in?user=a&password=hunter2&api_key=hunter2 HTTP/1.1";
        let kind = ClassKind::Request;
        let record = JoinedRecord { kind, text, ..JoinedRecord::default() };
        let mut keeper = SampleKeeper::default();
        keeper.add(&SeenRecord::of(&record, 0), true);
        let shown = keeper.random().expect("a sample").text;
        assert!(shown.contains("user=a") && !shown.contains("hunter2"), "{shown}");
    }
}
