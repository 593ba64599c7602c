//! What a server's program file holds beside its code: texts, and tables of their addresses.
//!
//! The file is whoever's it is: what does not look as expected has no texts and no tables.

use super::budget::ReadBudget;
use object::elf::{R_AARCH64_RELATIVE, R_X86_64_RELATIVE};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ReadCache, ReadRef, RelocationFlags};
use rustc_hash::FxHashMap;
use std::collections::HashSet;
use std::fs::File;

/// Where compilers put texts, and tables of addresses: in a program that may lie anywhere these are
/// written as it is loaded, and then protected.
const SECTIONS: [&str; 2] = [".rodata", ".data.rel.ro"];

/// A section that is larger is not looked at. Unit: bytes; PostgreSQL's are of 2 MB.
const MAX_BYTES: u64 = 64 << 20;

/// Addresses that are filled in as the program is loaded; PostgreSQL has 10,000.
const MAX_RELOCATIONS: usize = 1 << 20;

/// Bytes of an address.
const WORD: u64 = 8;

/// ProgramSections of a program, at the addresses that they have when it is loaded at 0.
#[derive(Debug, Default)]
pub(crate) struct ProgramSections(Vec<(u64, Vec<u8>)>);

impl ProgramSections {
    /// Reads those of these names, as far as they are there and not too large.
    pub(crate) fn read<'data>(
        elf: &ElfFile64<'data, Endianness, impl ReadRef<'data>>,
        names: &[&str],
    ) -> Self {
        let found = names.iter().filter_map(|name| elf.section_by_name(name));
        let small = found.filter(|section| section.size() <= MAX_BYTES);
        let sections = small.filter_map(|one| Some((one.address(), one.data().ok()?.to_vec())));
        Self(sections.collect())
    }

    /// One section.
    #[cfg(test)]
    pub(crate) fn of(address: u64, bytes: Vec<u8>) -> Self {
        Self(vec![(address, bytes)])
    }

    /// What stands at an address, to the end of its section.
    pub(crate) fn bytes(&self, address: u64) -> Option<&[u8]> {
        self.0.iter().find_map(|(start, bytes)| {
            let place = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(place..).filter(|bytes| !bytes.is_empty())
        })
    }
}

/// The constants of a program.
#[derive(Debug, Default)]
pub(crate) struct ProgramConstants {
    sections: ProgramSections,
    /// What is written to which address as the program is loaded.
    moved: FxHashMap<u64, u64>,
}

impl ProgramConstants {
    /// Reads those of a program file. Cost: some 5 ms for a server of 10 MB.
    ///
    /// # Errors
    /// It is none, for people.
    pub(crate) fn read(file: &File) -> Result<Self, String> {
        let (cache, budget) = (ReadCache::new(file), ReadBudget::default());
        Self::parse(budget.of(&cache))
    }

    /// The same of what is in a file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn parse<'data>(file: impl ReadRef<'data>) -> Result<Self, String> {
        let elf = ElfFile64::<Endianness, _>::parse(file).map_err(|e| e.to_string())?;
        let sections = ProgramSections::read(&elf, &SECTIONS);
        let mut moved = FxHashMap::default();
        let relocations = elf.dynamic_relocations().into_iter().flatten().take(MAX_RELOCATIONS);
        for (address, relocation) in relocations {
            if let RelocationFlags::Elf { r_type: R_X86_64_RELATIVE | R_AARCH64_RELATIVE, .. } =
                relocation.flags()
            {
                moved.insert(address, relocation.addend().cast_unsigned());
            }
        }
        Ok(Self { sections, moved })
    }

    /// The text at an address, up to its zero; `None` where there is none of plain letters and
    /// digits.
    pub(crate) fn string_at(&self, address: u64) -> Option<&str> {
        let bytes = self.sections.bytes(address)?;
        let length = bytes.iter().take(64).position(|byte| !byte.is_ascii_alphanumeric())?;
        let is_whole = length > 0 && bytes[length] == 0;
        std::str::from_utf8(&bytes[..length]).ok().filter(|_| is_whole)
    }

    /// The word whose address stands at an address: an entry of a table.
    pub(super) fn word_by(&self, entry: u64) -> Option<&str> {
        self.string_at(self.pointer(entry)?)
    }

    /// Where a table has these words one behind the other: the address of the first entry.
    pub(super) fn entries(&self, words: &[&str]) -> Option<u64> {
        let [first, ..] = words else { return None };
        let at: HashSet<u64> = self.addresses(first).collect();
        let all = self.sections.0.iter().flat_map(|(address, bytes)| {
            let end = address.saturating_add(bytes.len() as u64);
            (address.checked_next_multiple_of(WORD).unwrap_or(end)..end).step_by(8)
        });
        let mut firsts =
            all.filter(|entry| self.pointer(*entry).is_some_and(|word| at.contains(&word)));
        firsts.find(|entry| {
            let entries = (0..).map(|index| entry.wrapping_add(index * WORD));
            words.iter().zip(entries).all(|(word, entry)| self.word_by(entry) == Some(word))
        })
    }

    /// Where a word ends that is this, or ends so: linkers let them share their ends.
    fn addresses(&self, word: &str) -> impl Iterator<Item = u64> {
        let sought = [word.as_bytes(), &[0]].concat();
        self.sections.0.iter().flat_map(move |(address, bytes)| {
            let places = bytes.windows(sought.len()).enumerate();
            let found = places.filter(|(_, bytes)| *bytes == sought).map(|(place, _)| place);
            found.map(|place| address.wrapping_add(place as u64)).collect::<Vec<u64>>()
        })
    }

    /// The address that stands at an address.
    fn pointer(&self, at: u64) -> Option<u64> {
        let in_place = || Some(u64::from_le_bytes(*self.sections.bytes(at)?.first_chunk()?));
        self.moved.get(&at).copied().or_else(in_place)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Where the table of `constants` begins.
    pub(in crate::trace) const TABLE: u64 = 0x10_000;

    /// ProgramConstants with one table of words; an empty one: no address.
    pub(in crate::trace) fn constants(table: &[&str], is_moved: bool) -> ProgramConstants {
        let (mut texts, mut addresses) = (b"\0Odd".to_vec(), Vec::new());
        for word in table {
            addresses.push(if word.is_empty() { 0 } else { 0x1000 + texts.len() as u64 });
            texts.extend_from_slice(word.as_bytes());
            texts.push(0);
        }
        let entries = (0..).map(|index| TABLE + index * WORD);
        let moved = entries.zip(&addresses).filter(|(_, to)| **to > 0).map(|(at, to)| (at, *to));
        let moved = if is_moved { moved.collect() } else { FxHashMap::default() };
        let in_place = |address: &u64| if is_moved { [0; 8] } else { address.to_le_bytes() };
        let table = addresses.iter().flat_map(in_place).collect();
        ProgramConstants { sections: ProgramSections(vec![(0x1000, texts), (TABLE, table)]), moved }
    }

    #[test]
    fn a_table_is_found_by_its_words_wherever_its_addresses_are() {
        for is_moved in [false, true] {
            let found = constants(&["A", "B", "A", "", "A", "C1", "no name"], is_moved);
            assert_eq!(found.entries(&["A", "C1"]), Some(TABLE + 4 * WORD));
            assert_eq!(found.entries(&["A", "B", "A"]), Some(TABLE));
            assert_eq!(
                (found.entries(&["C1", "A"]), found.entries(&["B", "A", "A"])),
                (None, None)
            );
            let words = [0, 3, 5, 6, 7].map(|index| found.word_by(TABLE + index * WORD));
            assert_eq!(words, [Some("A"), None, Some("C1"), None, None]);
        }
    }

    #[test]
    fn what_is_no_program_has_none() {
        let own = ProgramConstants::read(&File::open("/proc/self/exe").expect("it runs"));
        assert!(!own.expect("a program").sections.0.is_empty());
        assert!(ProgramConstants::read(&File::open("/etc/passwd").expect("it is there")).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_constants(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), at: u64, entry: u64, to: u64,
            before_end in 0u64..20
        ) {
            let last = u64::MAX - before_end;
            let sections = ProgramSections(vec![(at, bytes.clone()), (last, bytes)]);
            let moved = [(entry, to), (to, entry), (at, at)].into_iter().collect();
            let constants = ProgramConstants { sections, moved };
            constants.entries(&["a", "b"]);
            for address in [at, entry, to, u64::MAX, last] {
                let _ = (constants.string_at(address), constants.word_by(address));
            }
        }
    }
}
