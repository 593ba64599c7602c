//! The parts of a response: names of where its time went, and one signed number for each.
//!
//! Driver and tracer speak of the same parts. Each is measured on its own; only
//! [`Part::Unexplained`] is a remainder, signed and always shown. A part that was not measured is
//! absent (`null` in the record), never zero.

mod part;
mod part_set;
mod written;

pub(crate) use part::each_part;
pub use part::{PART_COUNT, Part};
pub use part_set::PartSet;

use crate::units::Nanos;

/// One signed number per part, and which of them were measured. Unit: nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    ns: [i64; PART_COUNT],
    measured: PartSet,
}

impl Parts {
    /// Parts of these amounts, in nanoseconds; the others were not measured.
    pub fn of(amounts: &[(Part, i64)]) -> Self {
        let mut parts = Self::default();
        amounts.iter().for_each(|(part, ns)| parts.add(*part, *ns));
        parts
    }

    /// The parts of a traced request: so much of each of [`Part::TRACED`], by its index there.
    pub fn traced(amount: impl Fn(usize) -> Nanos) -> Self {
        let mut parts = Self::default();
        for (index, part) in Part::TRACED.into_iter().enumerate() {
            parts.add(part, amount(index).signed());
        }
        parts
    }

    /// The amount of one part; zero where it was not measured.
    #[inline]
    pub fn get(&self, part: Part) -> i64 {
        self.ns[part as usize]
    }

    /// The amount of a part that cannot be negative, as a duration.
    #[inline]
    pub fn duration(&self, part: Part) -> Nanos {
        Nanos(self.get(part).max(0).cast_unsigned())
    }

    /// The amount of a part that cannot be negative; `None` where it was not measured.
    #[inline]
    pub fn measured_duration(&self, part: Part) -> Option<Nanos> {
        self.measured.has(part).then(|| self.duration(part))
    }

    /// Whether nothing was measured: no part stands for anything then, and nothing is unexplained.
    #[inline]
    pub fn are_unknown(&self) -> bool {
        self.measured == PartSet::default()
    }

    /// Adds to one part, which was measured. Sums of what was measured never wrap, here and below;
    /// of what a stranger has written they may.
    #[inline]
    pub fn add(&mut self, part: Part, ns: i64) {
        self.ns[part as usize] = self.get(part).wrapping_add(ns);
        self.measured = self.measured.with(PartSet::of(&[part]));
    }

    /// These parts were measured, also where they came to nothing.
    #[inline]
    pub fn measure(&mut self, parts: PartSet) {
        self.measured = self.measured.with(parts);
    }

    /// Which parts were measured.
    #[inline]
    pub fn measured(&self) -> PartSet {
        self.measured
    }

    /// All in one part.
    #[inline]
    pub fn only(part: Part, ns: i64) -> Self {
        let mut parts = Self::default();
        parts.add(part, ns);
        parts
    }

    /// The part that all is in; `None` where there are several or none.
    #[inline]
    pub fn only_part(&self) -> Option<Part> {
        let first = self.ns.iter().position(|&ns| ns != 0)?;
        let is_only = self.ns[first + 1..].iter().all(|&ns| ns == 0);
        is_only.then(|| Part::ALL[first])
    }

    /// Adds every part of another set.
    #[inline]
    pub fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.ns.iter_mut().zip(other.ns) {
            *mine = mine.wrapping_add(theirs);
        }
        self.measured = self.measured.with(other.measured);
    }

    /// What has come since they were `before`.
    #[must_use]
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut since = *self;
        let pairs = since.ns.iter_mut().zip(before.ns);
        pairs.for_each(|(mine, before)| *mine = mine.wrapping_sub(before));
        since
    }

    /// The sum of all parts, unexplained included.
    pub fn total(&self) -> i64 {
        self.ns.iter().copied().fold(0, i64::wrapping_add)
    }

    /// Sets `unexplained` to whatever `response` has beyond the other parts.
    #[inline]
    pub fn close(&mut self, response: Nanos) {
        self.ns[Part::Unexplained as usize] = 0;
        let rest = response.signed().wrapping_sub(self.total());
        self.add(Part::Unexplained, rest);
    }

    /// The longest part of a traced request that is not CPU, if there is any. Kinds of a part count
    /// as one.
    pub fn longest_wait(&self) -> Option<(Part, i64)> {
        let mut wholes = Self::default();
        let whole = |part: Part| part.whole().unwrap_or(part);
        let waits = Part::TRACED.into_iter().skip(1);
        waits.clone().for_each(|part| wholes.add(whole(part), self.get(part)));
        let waits = waits.map(|part| (whole(part), wholes.get(whole(part))));
        // Of equals the one that reports show last.
        waits.max_by_key(|(_, ns)| *ns).filter(|(_, ns)| *ns > 0)
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn part_order_matches_the_array() {
        for (index, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, index);
            assert_eq!(Part::named(part.name()), Some(part));
            assert_eq!(serde_json::to_value(part).expect("a name"), part.name());
        }
    }

    #[test]
    fn a_part_keeps_its_number_in_binary_formats() {
        let mut written = Part::WRITTEN.to_vec();
        for (number, part) in Part::WRITTEN.into_iter().enumerate() {
            let bytes = postcard::to_allocvec(&part).expect("room");
            assert_eq!(bytes, [number as u8]);
            assert_eq!(postcard::from_bytes::<Part>(&bytes), Ok(part));
        }
        assert_eq!((Part::WRITTEN[16], Part::WRITTEN[21]), (Part::Sync, Part::Unexplained));
        written.sort();
        assert_eq!(written, Part::ALL);
        let sync = postcard::to_allocvec(&Parts::only(Part::Sync, 3)).expect("room");
        assert_eq!(sync, [0x80, 0x80, 0x04, 6]);
        assert!(postcard::from_bytes::<Part>(&[PART_COUNT as u8]).is_err());
        assert!(postcard::from_bytes::<Parts>(&[0x80, 0x80, 0x80, 0x80, 0x08, 0]).is_err());
    }

    #[test]
    fn the_only_part_is_the_one_that_is_not_zero() {
        for part in Part::ALL {
            assert_eq!(Parts::only(part, -3).only_part(), Some(part));
        }
        assert_eq!(Parts::default().only_part(), None);
        let two = Parts::of(&[(Part::Cpu, 5), (Part::Unexplained, 1)]);
        assert_eq!(two.only_part(), None);
    }

    #[test]
    fn what_was_measured_is_known_of_each() {
        let mut parts = Parts::only(Part::Cpu, 5);
        parts.measure(PartSet::of(&[Part::Sync]));
        assert_eq!(parts.measured().iter().collect::<Vec<_>>(), [Part::Cpu, Part::Sync]);
    }

    #[test]
    fn what_was_not_measured_stays_unknown_in_json() {
        let unknown = Parts::default();
        assert!(unknown.are_unknown() && unknown.measured_duration(Part::Cpu).is_none());
        assert_eq!(serde_json::to_string(&unknown).expect("JSON"), "null");
        assert_eq!(serde_json::from_str::<Parts>("null").expect("parts"), unknown);
        let nothing: Parts = serde_json::from_str("{}").expect("parts");
        assert_eq!(nothing.measured_duration(Part::Cpu), Some(Nanos::ZERO));
    }

    #[test]
    fn names_with_a_unit_and_without_are_read() {
        for json in [r#"{"later":{},"cpu":1.5}"#, r#"{"cpu_us":1.5,"later_us":null}"#] {
            let parts: Parts = serde_json::from_str(json).expect("parts");
            assert_eq!((parts.get(Part::Cpu), parts.total()), (1_500, 1_500), "{json}");
        }
    }

    #[test]
    fn the_longest_wait_is_no_cpu_time() {
        let parts = Parts::of(&[(Part::Cpu, 9), (Part::Lock, 3), (Part::Sync, 4)]);
        assert_eq!(parts.longest_wait(), Some((Part::Sync, 4)));
        assert_eq!(Parts::only(Part::Cpu, 9).longest_wait(), None);
        let runq = [(Part::RunqPreempted, 3), (Part::RunqWoken, 2), (Part::Lock, 4)];
        assert_eq!(Parts::of(&runq).longest_wait(), Some((Part::Runq, 5)));
    }

    #[test]
    fn parts_that_a_stranger_has_written_have_a_sum_too() {
        for most in [i64::MAX, i64::MIN] {
            let mut parts = Parts::of(&[(Part::Cpu, most), (Part::Lock, most), (Part::Cpu, most)]);
            parts.close(Nanos(u64::MAX));
            parts.close(Nanos(1));
            assert_eq!(parts.total(), 1);
        }
    }

    proptest! {
        #[test]
        fn parts_always_add_up(
            response in 0u64..1 << 50,
            amounts in prop::collection::vec(-1000i64..1 << 40, PART_COUNT),
        ) {
            let mut parts = Parts::default();
            for (part, ns) in Part::ALL.into_iter().zip(amounts) {
                parts.add(part, ns);
            }
            parts.close(Nanos(response));
            prop_assert_eq!(parts.total(), response.cast_signed());
        }

        #[test]
        fn what_is_written_is_read(amounts in prop::collection::vec(-(1i64 << 50)..1 << 50, 12)) {
            let mut parts = Parts::default();
            for (part, ns) in Part::TRACED.into_iter().zip(amounts) {
                parts.add(part, ns);
            }
            let json = serde_json::to_string(&parts).expect("an object");
            prop_assert_eq!(serde_json::from_str::<Parts>(&json).expect("parts"), parts);
            let bytes = postcard::to_allocvec(&[parts, parts]).expect("room");
            prop_assert_eq!(postcard::from_bytes::<[Parts; 2]>(&bytes).expect("parts"), [parts; 2]);
        }
    }
}
