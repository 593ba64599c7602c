//! The most frequent names: of users, databases, hosts and errors.

use super::figures::scaled;
use dbtime_model::log_digest::NamedCount;

/// So many names are counted at once.
const SLOTS: usize = 32;

/// So many of them are shown.
const SHOWN: usize = 8;

/// The longest name. Unit: bytes.
const MAX_NAME_BYTES: usize = 256;

/// A name that is counted.
#[derive(Clone, Debug)]
struct CountedName {
    name: Box<[u8]>,
    count: u64,
    /// How much of the count may be of names that had the slot before.
    inherited: u64,
}

/// The most frequent names, each with a count that is no higher than the true one (space-saving:
/// Metwally, Agrawal and El Abbadi 2005; a new name takes the slot of the rarest). Exact up to 32
/// names.
#[derive(Clone, Debug, Default)]
pub(super) struct TopNames {
    slots: Vec<CountedName>,
    /// Where the last name was: mostly that of the next one too.
    last: usize,
}

impl TopNames {
    /// Counts a name so many times; an empty one is none.
    pub(super) fn add(&mut self, name: &[u8], count: u64) {
        let name = cut_name(name);
        if name.is_empty() {
            return;
        }
        if self.slots.get(self.last).is_none_or(|slot| *slot.name != *name) {
            self.last = self.place(name);
        }
        let slot = &mut self.slots[self.last];
        slot.count = slot.count.saturating_add(count);
    }

    /// Counts a number by its digits; 0 is none.
    pub(super) fn add_number(&mut self, number: u64, count: u64) {
        let (mut digits, mut rest) = ([0; 20], number);
        let mut at = digits.len();
        while rest > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.add(&digits[at..], count);
    }

    /// The slot of a name, which is emptied for it where it has none.
    fn place(&mut self, name: &[u8]) -> usize {
        if let Some(place) = self.slots.iter().position(|slot| *slot.name == *name) {
            return place;
        }
        if self.slots.len() < SLOTS {
            self.slots.push(CountedName { name: name.into(), count: 0, inherited: 0 });
            return self.slots.len() - 1;
        }
        let rarest = self.slots.iter().enumerate().min_by_key(|(_, slot)| slot.count);
        let place = rarest.map_or(0, |(place, _)| place);
        let slot = &mut self.slots[place];
        slot.name = name.into();
        slot.inherited = slot.count;
        place
    }

    /// Counts what the other has surely counted.
    pub(super) fn merge(&mut self, other: &Self) {
        for slot in other.slots.iter().filter(|slot| slot.count > slot.inherited) {
            self.add(&slot.name, slot.count - slot.inherited);
        }
    }

    /// The names, most frequent first, then by name.
    pub(super) fn counts(&self, assumed_weight: f64) -> Vec<NamedCount> {
        let mut counts: Vec<NamedCount> = self.slots.iter().map(counted(assumed_weight)).collect();
        counts.retain(|name| name.count > 0);
        counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        counts.truncate(SHOWN);
        counts
    }
}

fn counted(assumed_weight: f64) -> impl Fn(&CountedName) -> NamedCount {
    move |slot| NamedCount {
        name: String::from_utf8_lossy(&slot.name).into_owned(),
        count: scaled(slot.count - slot.inherited, assumed_weight),
    }
}

/// As much of a name as is kept.
pub(super) fn cut_name(name: &[u8]) -> &[u8] {
    name.get(..MAX_NAME_BYTES).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_most_frequent_first() {
        let mut names = TopNames::default();
        for name in ["app", "root", "app", "", "batch", "app", "root"] {
            names.add(name.as_bytes(), 1);
        }
        let counts: Vec<(String, u64)> =
            names.counts(2.0).into_iter().map(|name| (name.name, name.count)).collect();
        let expected = [("app", 6), ("root", 4), ("batch", 2)];
        assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)));
    }

    #[test]
    fn numbers_are_counted_by_their_digits() {
        let mut names = TopNames::default();
        for number in [4711, u64::MAX, 4711, 0, 10] {
            names.add_number(number, 1);
        }
        let counts: Vec<(String, u64)> =
            names.counts(1.0).into_iter().map(|name| (name.name, name.count)).collect();
        let expected = [("4711", 2), ("10", 1), ("18446744073709551615", 1)];
        assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)));
    }

    #[test]
    fn a_frequent_name_is_found_among_thousands_and_never_counted_too_high() {
        let mut names = TopNames::default();
        for at in 0..10_000u32 {
            names.add(format!("host{at}").as_bytes(), 1);
            names.add(b"balancer", u64::from(at % 4 == 0));
        }
        let counts = names.counts(1.0);
        assert_eq!(counts[0].name, "balancer");
        assert!((2000..=2500).contains(&counts[0].count), "{counts:?}");
        assert!(counts[1..].iter().all(|name| name.count <= 1), "{counts:?}");
    }

    #[test]
    fn bytes_that_are_no_text_and_long_names_are_names() {
        let mut names = TopNames::default();
        names.add(b"\xff\xfe", 1);
        names.add(b"\xff\xfe", 1);
        names.add(&[b'x'; 10_000], 1);
        let counts = names.counts(1.0);
        assert_eq!((counts[0].count, counts[1].name.len()), (2, MAX_NAME_BYTES));
    }
}
