//! Generators at work: bound to a scale and a seed, ready to draw.

use crate::keys::bijection::Bijection;
use crate::keys::dictionary::WordDictionary;
use crate::keys::formula::KeyFormula;
use crate::keys::pattern::TextPattern;
use crate::keys::skew::{self, HotSpot, Zipf};
use crate::keys::{KeyRange, KeySpec};
use crate::program::SqlValue;
use crate::random::{RandomSource, RandomStream, draw};
use std::sync::Arc;

/// A generator bound to a scale and a seed.
///
/// `n` numbers the draws of a key over the whole run: transaction index × draws per transaction +
/// position. `low..=high` is the range, `size` its length.
#[derive(Clone, Debug)]
pub(crate) enum BoundKey {
    /// Always the same.
    Constant(SqlValue),
    /// Computed from other keys.
    KeyFormula(KeyFormula),
    /// Every number of `low..=high` equally often (Lemire's multiplication, one draw).
    Uniform {
        low: i64,
        high: i64,
    },
    /// The same, with ends that depend on other keys.
    UniformBetween {
        low: KeyFormula,
        high: KeyFormula,
    },
    /// `low + (high − low)·U` with U uniform in `[0, 1)`.
    Real {
        low: f64,
        high: f64,
    },
    Zipf {
        low: i64,
        zipf: Box<Zipf>,
    },
    /// `low` + [`skew::gaussian`].
    Gaussian {
        low: i64,
        size: u64,
        parameter: f64,
    },
    /// `low` + [`skew::exponential`]; `cut` is e⁻ᵖ.
    Exponential {
        low: i64,
        size: u64,
        parameter: f64,
        cut: f64,
    },
    /// [`skew::nurand`].
    NuRand {
        low: i64,
        high: i64,
        a: i64,
        c: i64,
    },
    /// `low` + [`HotSpot`].
    HotSpot {
        low: i64,
        spot: HotSpot,
    },
    /// `low + n mod size`; without a last number, `low + n`.
    Sequence {
        low: i64,
        size: Option<u64>,
    },
    /// `low + 2³¹·⌊n / 2³¹⌋ + π(n mod 2³¹)` with a [`Bijection`] π of 2³¹ numbers: scattered, and
    /// never twice however long the run; the first 2³¹ of them fit 32 bits if `low` is small.
    Unique {
        low: i64,
        shuffle: Box<Bijection>,
    },
    /// `low + π(n mod size)`: every number once, then again in the same order.
    Permutation {
        low: i64,
        shuffle: Box<Bijection>,
    },
    WordDictionary {
        words: Arc<WordDictionary>,
        shuffle: Option<Box<Bijection>>,
    },
    TextPattern(Arc<TextPattern>),
    /// The first alternative whose cumulated share of the weights exceeds U.
    Choose(Box<[(f64, BoundKey)]>),
}

/// What binding needs to know.
pub(crate) struct KeyBinding<'a> {
    /// Rows of every table.
    pub(crate) rows: &'a [u64],
    pub(crate) scale: u64,
    /// Seed of shuffles.
    pub(crate) seed: u64,
}

impl KeyBinding<'_> {
    /// The number at one end of a range. Ends that depend on keys were refused when the file was
    /// read, except where [`BoundKey::UniformBetween`] takes them.
    fn end(&self, formula: &KeyFormula) -> i64 {
        formula.bind(self.rows, self.scale).value(&[])
    }

    fn ends(&self, range: &KeyRange) -> (i64, i64) {
        let low = self.end(&range.low);
        (low, self.end(&range.high).max(low))
    }

    /// Low end and size, the size saturated at 64 bits.
    fn span(&self, range: &KeyRange) -> (i64, u64) {
        let (low, high) = self.ends(range);
        (low, high.abs_diff(low).saturating_add(1))
    }
}

impl BoundKey {
    /// Binds a generator. `key` tells the shuffles of different keys apart.
    pub(crate) fn new(spec: &KeySpec, binding: &KeyBinding<'_>, key: u64) -> Self {
        let shuffle_seed = || draw(binding.seed, RandomStream::Parameters, !key);
        match spec {
            KeySpec::Constant(value) => Self::Constant(value.clone()),
            KeySpec::KeyFormula(formula) => {
                let formula = formula.bind(binding.rows, binding.scale);
                formula
                    .constant()
                    .map_or(Self::KeyFormula(formula), |n| Self::Constant(SqlValue::Integer(n)))
            }
            KeySpec::Uniform(range) => Self::uniform(range, binding),
            KeySpec::Real(low, high) => Self::Real { low: *low, high: *high },
            KeySpec::Zipf { range, exponent, scramble } => {
                let (low, size) = binding.span(range);
                Self::Zipf { low, zipf: Box::new(Zipf::new(size, *exponent, *scramble)) }
            }
            KeySpec::Gaussian { range, parameter } => {
                let (low, size) = binding.span(range);
                Self::Gaussian { low, size, parameter: *parameter }
            }
            KeySpec::Exponential { range, parameter } => {
                let (low, size) = binding.span(range);
                let cut = (-parameter).exp();
                Self::Exponential { low, size, parameter: *parameter, cut }
            }
            KeySpec::NuRand { range, a, c } => {
                let (low, high) = binding.ends(range);
                Self::NuRand { low, high, a: *a, c: *c }
            }
            KeySpec::HotSpot { range, draws, keys } => {
                let (low, size) = binding.span(range);
                Self::HotSpot { low, spot: HotSpot::new(size, *draws, *keys) }
            }
            KeySpec::Sequence { first, last } => {
                let low = binding.end(first);
                let size = last
                    .as_ref()
                    .map(|last| binding.end(last).max(low).abs_diff(low).saturating_add(1));
                Self::Sequence { low, size }
            }
            KeySpec::Unique { first } => {
                let shuffle = Box::new(Bijection::new(UNIQUE_BLOCK, shuffle_seed()));
                Self::Unique { low: binding.end(first), shuffle }
            }
            KeySpec::Permutation(range) => {
                let (low, size) = binding.span(range);
                let shuffle = Box::new(Bijection::new(size, shuffle_seed()));
                Self::Permutation { low, shuffle }
            }
            KeySpec::WordDictionary(words) => {
                let shuffle = words.shuffle(shuffle_seed()).map(Box::new);
                Self::WordDictionary { words: Arc::clone(words), shuffle }
            }
            KeySpec::TextPattern(pattern) => Self::TextPattern(Arc::clone(pattern)),
            KeySpec::Choose(choices) => Self::choose(choices, binding, key),
        }
    }

    fn uniform(range: &KeyRange, binding: &KeyBinding<'_>) -> Self {
        let low = range.low.bind(binding.rows, binding.scale);
        let high = range.high.bind(binding.rows, binding.scale);
        match (low.constant(), high.constant()) {
            (Some(low), Some(high)) => Self::Uniform { low, high },
            _ => Self::UniformBetween { low, high },
        }
    }

    fn choose(choices: &[(f64, KeySpec)], binding: &KeyBinding<'_>, key: u64) -> Self {
        let total: f64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut cumulated = 0.0;
        let bind = |(position, (weight, spec)): (usize, &(f64, KeySpec))| {
            cumulated += weight / total;
            // Alternatives of one key shuffle differently.
            let key = key.wrapping_add((position as u64 + 1) << 32);
            (cumulated, Self::new(spec, binding, key))
        };
        Self::Choose(choices.iter().enumerate().map(bind).collect())
    }

    /// Draws into a slot: draw number `n`, other keys in `slots`.
    #[inline]
    pub(crate) fn draw(
        &self,
        n: u64,
        random: &mut RandomSource,
        slots: &mut [SqlValue],
        slot: usize,
    ) {
        match self {
            Self::Uniform { low, high } => {
                slots[slot] = SqlValue::Integer(random.between(*low, *high));
            }
            Self::KeyFormula(formula) => slots[slot] = SqlValue::Integer(formula.value(slots)),
            Self::Constant(SqlValue::Integer(number)) => slots[slot] = SqlValue::Integer(*number),
            _ => self.draw_other(n, random, slots, slot),
        }
    }

    fn draw_other(&self, n: u64, random: &mut RandomSource, slots: &mut [SqlValue], slot: usize) {
        match self {
            Self::Constant(value) => assign(&mut slots[slot], value),
            Self::Real { low, high } => {
                slots[slot] = SqlValue::Real((high - low).mul_add(random.unit(), *low));
            }
            Self::WordDictionary { words, shuffle } => {
                words.write(n, shuffle.as_deref(), random, text(&mut slots[slot]));
            }
            Self::TextPattern(pattern) => pattern.write(random, text(&mut slots[slot])),
            Self::Choose(choices) => {
                let u = random.unit();
                let chosen = choices.iter().find(|(share, _)| u < *share).or(choices.last());
                if let Some((_, bound)) = chosen {
                    bound.draw(n, random, slots, slot);
                }
            }
            _ => slots[slot] = SqlValue::Integer(self.integer(n, random, slots)),
        }
    }

    fn integer(&self, n: u64, random: &mut RandomSource, slots: &[SqlValue]) -> i64 {
        let (low, offset) = match self {
            Self::UniformBetween { low, high } => {
                return random.between(low.value(slots), high.value(slots));
            }
            Self::NuRand { low, high, a, c } => return skew::nurand(*low, *high, *a, *c, random),
            Self::Zipf { low, zipf } => (low, zipf.offset(random)),
            Self::Gaussian { low, size, parameter } => {
                (low, skew::gaussian(*size, *parameter, random))
            }
            Self::Exponential { low, size, parameter, cut } => {
                (low, skew::exponential(*size, *parameter, *cut, random))
            }
            Self::HotSpot { low, spot } => (low, spot.offset(random)),
            Self::Sequence { low, size } => (low, size.map_or(n, |size| n % size)),
            Self::Unique { low, shuffle } => {
                let block = n & !(UNIQUE_BLOCK - 1);
                (low, block | shuffle.apply(n & (UNIQUE_BLOCK - 1)))
            }
            Self::Permutation { low, shuffle } => (low, shuffle.apply(n)),
            _ => (&0, 0),
        };
        low.wrapping_add(offset.cast_signed())
    }
}

const UNIQUE_BLOCK: u64 = 1 << 31;

/// The text of a slot, to be replaced; its buffer is kept.
fn text(value: &mut SqlValue) -> &mut String {
    if !matches!(value, SqlValue::Text(_)) {
        *value = SqlValue::Text(String::new());
    }
    match value {
        SqlValue::Text(text) => text,
        _ => unreachable!("made a text above"),
    }
}

/// `to = from`, keeping the buffer of a text.
#[inline]
pub(crate) fn assign(to: &mut SqlValue, from: &SqlValue) {
    match (to, from) {
        (SqlValue::Text(to), SqlValue::Text(from)) => to.clone_from(from),
        (to, SqlValue::Integer(number)) => *to = SqlValue::Integer(*number),
        (to, from) => *to = from.clone(),
    }
}
