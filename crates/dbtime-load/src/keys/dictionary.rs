//! Dictionaries: words from a file, a list or a template, handed out at random, in order, or each
//! once.

use crate::keys::bijection::Bijection;
use crate::keys::template::TextTemplate;
use crate::random::{RandomSource, below};

/// Where words come from and in which order they are handed out.
#[derive(Clone, Debug)]
pub(crate) struct WordDictionary {
    pub(crate) words: DictionaryWords,
    pub(crate) order: WordOrder,
}

/// The words themselves; at least one.
#[derive(Clone, Debug)]
pub(crate) enum DictionaryWords {
    /// As they stand in a list or a file.
    List(Vec<String>),
    /// The texts of a template for `first`, `first + 1`, …: nothing is kept in memory.
    Template { template: TextTemplate, first: u64, count: u64 },
}

/// The order in which words are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordOrder {
    /// Each draw uniform over all words.
    Random,
    /// The n-th draw of the run is word n mod count.
    Sequential,
    /// As sequential, shuffled by the seed: no word twice until all have been used.
    Unique,
}

impl WordOrder {
    /// The shuffle of so many words that the order `unique` needs.
    pub fn shuffle(self, count: u64, seed: u64) -> Option<Bijection> {
        (self == Self::Unique).then(|| Bijection::new(count, seed))
    }

    /// Which of `count` words, of which there is one at least, draw `n` takes; `shuffle` is what
    /// [`Self::shuffle`] gave, and `bits` are random ones.
    pub fn index(
        self,
        n: u64,
        count: u64,
        shuffle: Option<&Bijection>,
        bits: impl FnOnce() -> u64,
    ) -> u64 {
        match (self, shuffle) {
            (Self::Random, _) => below(bits(), count),
            (Self::Unique, Some(shuffle)) => shuffle.apply(n % count),
            _ => n % count,
        }
    }
}

impl WordDictionary {
    /// The most words of a template.
    pub(crate) const COUNT_MAX: i64 = 1 << 40;

    /// How many words there are.
    pub(crate) fn count(&self) -> u64 {
        match &self.words {
            DictionaryWords::List(words) => words.len() as u64,
            DictionaryWords::Template { count, .. } => *count,
        }
    }

    /// The shuffle that the order `unique` needs.
    pub(crate) fn shuffle(&self, seed: u64) -> Option<Bijection> {
        self.order.shuffle(self.count(), seed)
    }

    /// Replaces `out` by the word of draw `n`; `shuffle` is what [`Self::shuffle`] gave.
    pub(crate) fn write(
        &self,
        n: u64,
        shuffle: Option<&Bijection>,
        random: &mut RandomSource,
        out: &mut String,
    ) {
        let count = self.count().max(1);
        let index = self.order.index(n, count, shuffle, || random.bits());
        match &self.words {
            DictionaryWords::List(words) => {
                out.clear();
                out.push_str(words.get(index as usize).map_or("", String::as_str));
            }
            DictionaryWords::Template { template, first, .. } => {
                template.write(first.saturating_add(index), out);
            }
        }
    }

    /// Bytes of a typical word.
    pub(crate) fn length(&self) -> usize {
        match &self.words {
            DictionaryWords::List(words) => {
                words.iter().map(String::len).sum::<usize>() / words.len().max(1)
            }
            DictionaryWords::Template { template, first, count } => {
                let mut out = String::new();
                template.write(first.saturating_add(count / 2), &mut out);
                out.len()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomStream;
    use std::collections::BTreeSet;

    fn words(order: WordOrder) -> Vec<String> {
        let template = TextTemplate::parse("w%d").expect("a template");
        let words = DictionaryWords::Template { template, first: 1, count: 5 };
        let dictionary = WordDictionary { words, order };
        let shuffle = dictionary.shuffle(9);
        let word = |n| {
            let mut out = String::new();
            let mut random = RandomSource::new(1, RandomStream::Parameters, n);
            dictionary.write(n, shuffle.as_ref(), &mut random, &mut out);
            out
        };
        (0..10).map(word).collect()
    }

    #[test]
    fn sequential_words_come_in_order_and_start_again() {
        assert_eq!(words(WordOrder::Sequential)[3..7], ["w4", "w5", "w1", "w2"]);
    }

    #[test]
    fn unique_words_come_once_until_all_were_used() {
        let words = words(WordOrder::Unique);
        let first: BTreeSet<_> = words[..5].iter().collect();
        assert_eq!(first.len(), 5);
        assert_eq!(words[..5], words[5..]);
    }

    #[test]
    fn random_words_repeat() {
        let distinct: BTreeSet<_> = words(WordOrder::Random).into_iter().collect();
        assert!(distinct.len() < 10 && distinct.len() > 1);
    }
}
