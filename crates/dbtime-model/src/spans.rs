//! Stretches of the clock, and sets of them: in ascending order, none touching another.

use crate::units::{MonoNanos, Nanos};

/// From one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan {
    /// The first instant.
    pub from: MonoNanos,
    /// The first instant behind it.
    pub until: MonoNanos,
}

impl TimeSpan {
    /// How long it is.
    pub fn length(&self) -> Nanos {
        self.until - self.from
    }

    /// What it has in common with another; empty when they do not meet.
    pub fn common(&self, other: &Self) -> Self {
        Self { from: self.from.max(other.from), until: self.until.min(other.until) }
    }
}

/// Spans in any order as a set: those that meet become one.
pub fn union(mut spans: Vec<TimeSpan>) -> Vec<TimeSpan> {
    spans.sort_unstable();
    let mut set: Vec<TimeSpan> = Vec::new();
    for span in spans {
        match set.last_mut() {
            Some(last) if span.from <= last.until => last.until = last.until.max(span.until),
            _ => set.push(span),
        }
    }
    set
}

/// What two sets have in common.
pub fn intersection(a: &[TimeSpan], b: &[TimeSpan]) -> Vec<TimeSpan> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut set = Vec::new();
    while let (Some(mine), Some(theirs)) = (a.peek(), b.peek()) {
        let common = mine.common(theirs);
        if common.from < common.until {
            set.push(common);
        }
        // The one that ends first meets nothing more.
        if mine.until < theirs.until {
            a.next()
        } else {
            b.next()
        };
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans(pairs: &[(u64, u64)]) -> Vec<TimeSpan> {
        let span = |&(from, until)| TimeSpan { from: MonoNanos(from), until: MonoNanos(until) };
        pairs.iter().map(span).collect()
    }

    #[test]
    fn spans_that_meet_are_one() {
        let set = union(spans(&[(5, 7), (0, 3), (2, 4), (7, 9)]));
        assert_eq!(set, spans(&[(0, 4), (5, 9)]));
    }

    proptest! {
        #[test]
        fn an_instant_is_in_the_intersection_when_it_is_in_both(
            a in prop::collection::vec((0u64..50, 1u64..9), 0..9),
            b in prop::collection::vec((0u64..50, 1u64..9), 0..9),
        ) {
            let set = |pairs: Vec<(u64, u64)>| {
                union(spans(&pairs.into_iter().map(|(at, len)| (at, at + len)).collect::<Vec<_>>()))
            };
            let (a, b) = (set(a), set(b));
            let both = intersection(&a, &b);
            let has = |set: &[TimeSpan], at| {
                set.iter().any(|s| s.from <= MonoNanos(at) && MonoNanos(at) < s.until)
            };
            for at in 0..60 {
                prop_assert_eq!(has(&both, at), has(&a, at) && has(&b, at));
            }
        }
    }
}
