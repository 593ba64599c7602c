//! Keys: where the parameters of statements and the data of tables come from.
//!
//! A `KeySpec` is a generator as a workload file describes it, its ranges still formulas over table
//! sizes; bound to a scale and a seed it becomes a `BoundKey`, which draws. Every draw is a pure
//! function of the seed, the number of the transaction (or row) and the position of the draw in it,
//! so that neither shards nor retries change what is drawn. What hands out keys without a workload
//! shares the orders of words, the templates and the shuffle.

pub(crate) mod bijection;
pub(crate) mod bound;
pub(crate) mod dictionary;
pub(crate) mod formula;
pub(crate) mod pattern;
pub(crate) mod skew;
pub(crate) mod template;

use crate::keys::dictionary::WordDictionary;
use crate::keys::formula::KeyFormula;
use crate::keys::pattern::TextPattern;
use crate::program::SqlValue;
pub use bijection::Bijection;
pub(crate) use bound::BoundKey;
pub use dictionary::WordOrder;
use std::sync::Arc;
pub use template::TextTemplate;

/// A generator as a workload file describes it. The exact definitions stand with [`BoundKey`].
#[derive(Clone, Debug)]
pub(crate) enum KeySpec {
    /// Always the same.
    Constant(SqlValue),
    /// Computed from other keys.
    KeyFormula(KeyFormula),
    /// Uniform integers.
    Uniform(KeyRange),
    /// Uniform doubles.
    Real(f64, f64),
    /// Zipf's law.
    Zipf {
        range: KeyRange,
        exponent: f64,
        scramble: bool,
    },
    /// A bell over the middle.
    Gaussian {
        range: KeyRange,
        parameter: f64,
    },
    /// Hot at the low end.
    Exponential {
        range: KeyRange,
        parameter: f64,
    },
    /// TPC-C's non-uniform random.
    NuRand {
        range: KeyRange,
        a: i64,
        c: i64,
    },
    /// Some keys get most of the draws.
    HotSpot {
        range: KeyRange,
        draws: f64,
        keys: f64,
    },
    /// One after the other, from `first` on, for ever or round and round.
    Sequence {
        first: KeyFormula,
        last: Option<KeyFormula>,
    },
    /// Scattered, never twice in a run.
    Unique {
        first: KeyFormula,
    },
    /// A shuffled range, round and round.
    Permutation(KeyRange),
    WordDictionary(Arc<WordDictionary>),
    /// A random text.
    TextPattern(Arc<TextPattern>),
    /// One of several generators, by weight.
    Choose(Vec<(f64, KeySpec)>),
}

/// A range of integers, both ends in it.
#[derive(Clone, Debug)]
pub(crate) struct KeyRange {
    pub(crate) low: KeyFormula,
    pub(crate) high: KeyFormula,
}

/// What a generator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Integer,
    Real,
    Text,
}

impl KeySpec {
    /// What it makes. A choice makes integers only if all its alternatives do.
    pub(crate) fn kind(&self) -> KeyKind {
        match self {
            Self::Constant(SqlValue::Text(_) | SqlValue::Null) => KeyKind::Text,
            Self::Constant(SqlValue::Real(_)) | Self::Real(..) => KeyKind::Real,
            Self::WordDictionary(_) | Self::TextPattern(_) => KeyKind::Text,
            Self::Choose(choices) => {
                let mut kinds = choices.iter().map(|(_, spec)| spec.kind());
                kinds.find(|kind| *kind != KeyKind::Integer).unwrap_or(KeyKind::Integer)
            }
            _ => KeyKind::Integer,
        }
    }

    /// Calls `visit` with every formula in it.
    pub(crate) fn formulas(&self, visit: &mut dyn FnMut(&KeyFormula)) {
        match self {
            Self::KeyFormula(formula) | Self::Unique { first: formula } => visit(formula),
            Self::Sequence { first, last } => {
                visit(first);
                last.iter().for_each(visit);
            }
            Self::Choose(choices) => choices.iter().for_each(|(_, spec)| spec.formulas(visit)),
            _ => {
                if let Some(range) = self.range() {
                    visit(&range.low);
                    visit(&range.high);
                }
            }
        }
    }

    /// The range that it draws from, if it has one with two ends.
    pub(crate) fn range(&self) -> Option<&KeyRange> {
        match self {
            Self::Uniform(range)
            | Self::Permutation(range)
            | Self::Zipf { range, .. }
            | Self::Gaussian { range, .. }
            | Self::Exponential { range, .. }
            | Self::NuRand { range, .. }
            | Self::HotSpot { range, .. } => Some(range),
            _ => None,
        }
    }

    /// The slots of the keys it reads.
    pub(crate) fn slots(&self) -> Vec<u16> {
        let mut slots = Vec::new();
        self.formulas(&mut |formula| formula.slots(&mut |slot| slots.push(slot)));
        slots
    }

    /// Whether it draws random bits, rather than computing from the number of the draw.
    pub(crate) fn is_random(&self) -> bool {
        match self {
            Self::Constant(_)
            | Self::KeyFormula(_)
            | Self::Sequence { .. }
            | Self::Unique { .. }
            | Self::Permutation(_) => false,
            Self::WordDictionary(words) => words.order == WordOrder::Random,
            _ => true,
        }
    }

    /// Bytes of a typical value, where it is a text.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::Constant(SqlValue::Text(text)) => Some(text.len()),
            Self::Constant(SqlValue::Null) => Some(0),
            Self::WordDictionary(words) => Some(words.length()),
            Self::TextPattern(pattern) => Some(pattern.length),
            Self::Choose(choices) => {
                let total: f64 = choices.iter().map(|(weight, _)| weight).sum();
                let part = |(weight, spec): &(f64, Self)| {
                    spec.length().map(|length| length as f64 * weight / total)
                };
                choices.iter().map(part).sum::<Option<f64>>().map(|length| length as usize)
            }
            _ => None,
        }
    }
}
