//! Names of texts that came before, for logs that repeat the same texts to the byte.
//!
//! A text is looked up in two places by its hash, and compared in full. Where texts do not repeat,
//! the look-up is left out for a while, since it would cost more than it saves.

use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Pairs of places.
const PAIRS: usize = 4096;

/// Longer texts are not kept. Unit: bytes.
pub(super) const LONGEST: usize = 512;

/// Over how many texts the share of those found is taken.
const PERIOD: u32 = 100_000;

/// One in so many has to be found.
const FOUND_SHARE: u32 = 4;

/// For how many periods the look-up is left out before it is tried again.
const IDLE_PERIODS: u32 = 9;

/// What texts were named. Shape: at most 8,192 texts of at most 512 bytes.
#[derive(Default)]
pub(super) struct NameMemo {
    /// Two in a row belong together, the later one first. Shape: empty, or `2 * PAIRS`.
    places: Vec<MemoPlace>,
    /// Of the present period.
    seen: u32,
    found: u32,
    /// For how many more periods nothing is looked up.
    idle: u32,
}

/// A text and its name; an empty text is none.
#[derive(Clone, Default)]
struct MemoPlace {
    text: Vec<u8>,
    name: String,
}

impl NameMemo {
    /// Writes the name of a text into `out`: as before, or as it is made now.
    pub(super) fn name(&mut self, text: &[u8], out: &mut String, make: impl FnOnce(&mut String)) {
        self.count();
        if self.idle > 0 || text.is_empty() || text.len() > LONGEST {
            return make(out);
        }
        let pair = self.pair_of(text);
        if let Some(found) = pair.iter().position(|place| place.text == text) {
            if found == 1 {
                pair.swap(0, 1);
            }
            out.clear();
            out.push_str(&pair[0].name);
            self.found += 1;
            return;
        }
        make(out);
        pair.swap(0, 1);
        text.clone_into(&mut pair[0].text);
        out.clone_into(&mut pair[0].name);
    }

    /// Counts a text, and decides at the end of a period.
    fn count(&mut self) {
        self.seen += 1;
        if self.seen < PERIOD {
            return;
        }
        if self.idle > 0 {
            self.idle -= 1;
        } else if self.found < self.seen / FOUND_SHARE {
            self.idle = IDLE_PERIODS;
        }
        (self.seen, self.found) = (0, 0);
    }

    fn pair_of(&mut self, text: &[u8]) -> &mut [MemoPlace] {
        if self.places.is_empty() {
            self.places.resize(2 * PAIRS, MemoPlace::default());
        }
        let pair = (FxBuildHasher.hash_one(text) % PAIRS as u64) as usize;
        &mut self.places[2 * pair..2 * pair + 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a text, and whether it was made for this.
    fn name(memo: &mut NameMemo, text: &str) -> (String, bool) {
        let (mut out, mut is_made) = ("left over".to_owned(), false);
        memo.name(text.as_bytes(), &mut out, |out| {
            *out = format!("<{text}>");
            is_made = true;
        });
        (out, is_made)
    }

    #[test]
    fn a_text_is_named_once() {
        let mut memo = NameMemo::default();
        assert_eq!(name(&mut memo, "a"), ("<a>".to_owned(), true));
        assert_eq!(name(&mut memo, "a"), ("<a>".to_owned(), false));
        let long = "x".repeat(LONGEST + 1);
        assert_eq!([name(&mut memo, &long).1, name(&mut memo, &long).1], [true, true]);
        assert_eq!([name(&mut memo, "").1, name(&mut memo, "").1], [true, true]);
    }

    #[test]
    fn many_texts_have_their_own_names() {
        let mut memo = NameMemo::default();
        for round in 0..2 {
            for number in 0..20_000 {
                let text = format!("{number}");
                assert_eq!(name(&mut memo, &text).0, format!("<{text}>"), "round {round}");
            }
        }
    }

    #[test]
    fn texts_that_do_not_repeat_are_not_looked_up_for_a_while() {
        let mut memo = NameMemo::default();
        (0..PERIOD).for_each(|number| assert!(name(&mut memo, &format!("{number}")).1));
        assert!(name(&mut memo, "a").1 && name(&mut memo, "a").1, "not kept");
        (0..PERIOD * IDLE_PERIODS).for_each(|_| memo.count());
        assert!(name(&mut memo, "a").1 && !name(&mut memo, "a").1, "tried again");
    }
}
