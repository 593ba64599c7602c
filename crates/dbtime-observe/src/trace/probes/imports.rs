//! Which functions of libraries a program calls: calls go to stubs, each of which jumps to where an
//! address is written as the program is loaded.

use super::budget::ReadBudget;
use super::constants::ProgramSections;
use object::elf::{R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT};
use object::read::elf::ElfFile64;
use object::{
    Endianness, Object, ObjectSymbol, ObjectSymbolTable, ReadCache, ReadRef, RelocationFlags,
    RelocationTarget,
};
use rustc_hash::FxHashMap;
use std::fs::File;

const STUBS: [&str; 3] = [".plt", ".plt.sec", ".plt.got"];

/// Addresses that are looked at; MariaDB has 70,000.
const MAX_STUBS: usize = 1 << 20;

/// The functions of libraries that a program calls.
#[derive(Debug, Default)]
pub(crate) struct ProgramImports {
    stubs: ProgramSections,
    /// Names of functions, by where their addresses are written.
    names: FxHashMap<u64, String>,
}

impl ProgramImports {
    /// Reads those of a program file. Cost: some 10 ms for a server of 25 MB.
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
        let symbols = elf.dynamic_symbol_table().ok_or("the program takes nothing of libraries")?;
        let name = |target| match target {
            RelocationTarget::Symbol(index) => {
                Some(symbols.symbol_by_index(index).ok()?.name().ok()?.to_owned())
            }
            _ => None,
        };
        let relocations = elf.dynamic_relocations().into_iter().flatten().take(MAX_STUBS);
        let names = relocations.filter_map(|(address, relocation)| match relocation.flags() {
            RelocationFlags::Elf { r_type: R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT, .. } => {
                Some((address, name(relocation.target())?))
            }
            _ => None,
        });
        Ok(Self { names: names.collect(), stubs: ProgramSections::read(&elf, &STUBS) })
    }

    /// The function that a call at this address gets to; `None`: it is one of the program's own.
    pub(crate) fn name(&self, target: u64) -> Option<&str> {
        let mut at = target;
        // A mark for branches, and a prefix that is for such marks, too.
        for before in [&[0xf3, 0x0f, 0x1e, 0xfa][..], &[0xf2]] {
            if self.stubs.bytes(at)?.starts_with(before) {
                at = at.wrapping_add(before.len() as u64);
            }
        }
        // jmp *distance(%rip)
        let [0xff, 0x25, a, b, c, d, ..] = *self.stubs.bytes(at)? else { return None };
        let distance = i32::from_le_bytes([a, b, c, d]);
        let slot = at.wrapping_add(6).wrapping_add_signed(distance.into());
        self.names.get(&slot).map(String::as_str)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Functions that are called at these addresses and behind, 16 bytes for each.
    pub(in crate::trace) fn imports(at: u64, names: &[&str]) -> ProgramImports {
        let (mut code, mut slots) = (Vec::new(), FxHashMap::default());
        for (index, name) in names.iter().enumerate() {
            let before = [&[][..], &[0xf3, 0x0f, 0x1e, 0xfa], &[0xf3, 0x0f, 0x1e, 0xfa, 0xf2]];
            code.extend_from_slice(before[index % 3]);
            code.extend_from_slice(&[0xff, 0x25, 0, 1, 0, 0]);
            slots.insert(at + code.len() as u64 + 256, (*name).to_owned());
            code.resize(16 * (index + 1), 0x90);
        }
        ProgramImports { stubs: ProgramSections::of(at, code), names: slots }
    }

    #[test]
    fn a_stub_leads_to_what_is_called() {
        let found = imports(0x1000, &["a", "b", "c"]);
        let names = [0x1000, 0x1010, 0x1020, 0x1030, 0x1001, 0].map(|target| found.name(target));
        assert_eq!(names, [Some("a"), Some("b"), Some("c"), None, None, None]);
        let own =
            ProgramImports::read(&File::open("/proc/self/exe").expect("it runs")).expect("one");
        assert!(!own.names.is_empty());
        assert!(ProgramImports::read(&File::open("/etc/passwd").expect("it is there")).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_stubs(
            code in proptest::collection::vec(any::<u8>(), 0..40), at: u64, target: u64,
            before_end in 0u64..20
        ) {
            let code = [&[0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25][..], &code].concat();
            for at in [at, u64::MAX - before_end] {
                let stubs = ProgramSections::of(at, code.clone());
                let found = ProgramImports { stubs, names: FxHashMap::default() };
                for target in [at, at.wrapping_add(4), at.wrapping_add(5), target, u64::MAX] {
                    prop_assert_eq!(found.name(target), None);
                }
            }
        }
    }
}
