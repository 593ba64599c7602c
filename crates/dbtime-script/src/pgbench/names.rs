//! The names of variables, numbered once when scripts are read, so that running looks nothing up.

use std::collections::HashMap;

/// The number of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameSlot(pub u32);

/// Every name that a script reads or writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable {
    names: Vec<String>,
    slots: HashMap<String, NameSlot>,
}

impl NameTable {
    /// The number of a name; a new one when it was not seen before.
    pub(crate) fn slot(&mut self, name: &str) -> NameSlot {
        if let Some(slot) = self.find(name) {
            return slot;
        }
        let slot = NameSlot(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    /// The number of a name, where some script has it.
    pub(crate) fn find(&self, name: &str) -> Option<NameSlot> {
        self.slots.get(name).copied()
    }

    /// A variable's name.
    pub(crate) fn name(&self, slot: NameSlot) -> &str {
        &self.names[slot.0 as usize]
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// Whether a variable may have this name: a letter, an underscore or anything beyond ASCII, then
/// digits too.
pub(super) fn is_valid(name: &str) -> bool {
    name.bytes().next().is_some_and(begins_name) && name.bytes().all(continues_name)
}

/// Whether a name may begin with this byte.
pub(super) fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

/// Whether a name may go on with this byte.
pub(super) fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut names = NameTable::default();
        let (a, b) = (names.slot("a"), names.slot("b"));
        assert_eq!((names.slot("a"), names.find("c"), names.len()), (a, None, 2));
        assert_eq!(names.name(b), "b");
    }

    #[test]
    fn names_begin_with_no_digit() {
        for (name, valid) in [("a1", true), ("_", true), ("é", true), ("1a", false), ("", false)] {
            assert_eq!(is_valid(name), valid, "{name}");
        }
        assert!(!is_valid("a-b"));
    }
}
