//! Counts of which most are nothing, such as the buckets of what happened a few times.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers that are read are below this: more than any count of the kernel's side has. As JSON one
/// number has all below it written too, and views show the empty ones between two.
const NUMBERS: u32 = 1024;

/// Counts by a number, of which only those are kept that are something. As JSON they are a list
/// of all up to the last of these, in binary formats those that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseCounts {
    /// Shape: by their numbers; none is 0.
    counts: Vec<(u32, u64)>,
}

impl SparseCounts {
    /// Counts some more of a number. Cost: O(numbers that are kept).
    pub fn add_to(&mut self, number: u32, count: u64) {
        if count == 0 {
            return;
        }
        match self.counts.binary_search_by_key(&number, |(kept, _)| *kept) {
            Ok(at) => self.counts[at].1 = self.counts[at].1.saturating_add(count),
            Err(at) => self.counts.insert(at, (number, count)),
        }
    }

    /// Adds what others have counted.
    pub(crate) fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(number, count)| self.add_to(*number, *count));
    }

    /// What has come since they were `before`; nothing where there is less.
    #[must_use]
    pub(crate) fn since(&self, before: &Self) -> Self {
        let new = |(number, count)| count - before.of(number).min(count);
        let counts = self.iter().map(|(number, count)| (number, new((number, count))));
        Self { counts: counts.filter(|(_, count)| *count > 0).collect() }
    }

    /// How many of a number.
    pub fn of(&self, number: u32) -> u64 {
        let found = self.counts.binary_search_by_key(&number, |(kept, _)| *kept);
        found.map_or(0, |at| self.counts[at].1)
    }

    /// The lowest and the highest number of which there are any.
    pub fn ends(&self) -> Option<(u32, u32)> {
        Some((self.counts.first()?.0, self.counts.last()?.0))
    }

    /// Those that are something, by their numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u64)> {
        self.counts.iter().copied()
    }
}

/// Of all numbers from 0 on.
impl FromIterator<u64> for SparseCounts {
    fn from_iter<I: IntoIterator<Item = u64>>(all: I) -> Self {
        Self { counts: (0..).zip(all).filter(|(_, count)| *count > 0).collect() }
    }
}

impl Serialize for SparseCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !to.is_human_readable() {
            return self.counts.serialize(to);
        }
        let behind = self.counts.last().map_or(0, |(last, _)| last + 1);
        to.collect_seq((0..behind).map(|number| self.of(number)))
    }
}

impl<'a> Deserialize<'a> for SparseCounts {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let counts: Self = match from.is_human_readable() {
            true => Vec::<u64>::deserialize(from)?.into_iter().collect(),
            false => {
                let mut counts = Self::default();
                let all = Vec::<(u32, u64)>::deserialize(from)?;
                all.into_iter().for_each(|(number, count)| counts.add_to(number, count));
                counts
            }
        };
        match counts.ends() {
            Some((_, last)) if last >= NUMBERS => {
                Err(D::Error::custom(format_args!("{last} is none of {NUMBERS} numbers")))
            }
            _ => Ok(counts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dense(counts: &SparseCounts) -> Vec<u64> {
        (0..20).map(|number| counts.of(number)).collect()
    }

    #[test]
    fn a_number_that_no_count_has_is_refused() {
        let read = |number: u32| {
            let bytes = postcard::to_allocvec(&vec![(number, 1u64)]).expect("numbers");
            postcard::from_bytes::<SparseCounts>(&bytes)
        };
        assert_eq!(read(NUMBERS - 1).map(|counts| counts.of(NUMBERS - 1)), Ok(1));
        assert!(read(NUMBERS).is_err());
        let listed = |number: u32| {
            let mut all = vec![0u64; number as usize];
            all.push(1);
            serde_json::from_value::<SparseCounts>(all.into())
        };
        assert_eq!(listed(NUMBERS - 1).expect("a list").ends(), Some((NUMBERS - 1, NUMBERS - 1)));
        assert!(listed(NUMBERS).is_err());
    }

    proptest! {
        #[test]
        fn they_count_like_a_list_of_all(
            one in prop::collection::vec(0u64..3, 20), other in prop::collection::vec(0u64..3, 20)
        ) {
            let sparse = |all: &[u64]| all.iter().copied().collect::<SparseCounts>();
            let mut sum = sparse(&one);
            sum.add(&sparse(&other));
            let pairs = one.iter().zip(&other);
            let (sums, rest): (Vec<u64>, Vec<u64>) =
                pairs.map(|(one, other)| (one + other, one.saturating_sub(*other))).unzip();
            prop_assert_eq!(dense(&sum), sums);
            prop_assert_eq!(dense(&sparse(&one).since(&sparse(&other))), rest);
            prop_assert!(sum.iter().all(|(_, count)| count > 0));
            let written = serde_json::to_string(&sum).expect("numbers");
            prop_assert_eq!(serde_json::from_str::<SparseCounts>(&written).expect("a list"), sum);
        }
    }
}
