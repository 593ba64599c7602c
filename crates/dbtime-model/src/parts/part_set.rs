//! Which parts: those that were measured, for instance.

use super::Part;

/// A set of parts, such as those measured on a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSet(u32);

impl PartSet {
    /// The set of the given parts.
    pub const fn of(parts: &[Part]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < parts.len() {
            bits |= 1 << parts[i] as u32;
            i += 1;
        }
        Self(bits)
    }

    /// Whether the part is in it.
    pub fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }

    /// Both sets together.
    #[must_use]
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both sets have.
    #[must_use]
    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What this set has and the other has not.
    #[must_use]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its parts in the order of a transaction's life.
    pub fn iter(self) -> impl Iterator<Item = Part> {
        Part::ALL.into_iter().filter(move |part| self.has(*part))
    }
}
