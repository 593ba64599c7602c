//! A server's program file: what it exports, and which of its functions call which.
//!
//! The file is whoever's it is: what does not look as expected has no symbols and no calls.

use super::budget::ReadBudget;
use memchr::{memchr_iter, memchr2_iter};
use object::elf::Sym64;
use object::read::elf::{ElfFile64, SectionHeader, Sym};
use object::{Endianness, Object, ObjectSection, ReadCache, ReadRef, StringTable};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// `call` with the distance to its target.
const CALL: u8 = 0xe8;
/// `jmp` with the same: how a function calls another as the last thing it does.
const JUMP: u8 = 0xe9;
const CALL_LENGTH: usize = 5;

/// `endbr64`: nothing is done there, but a probe on it costs more.
pub(super) const BRANCH_TARGET: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// A program with more code is none. Unit: bytes; MariaDB has 10 MB of it.
const MAX_CODE_BYTES: u64 = 512 << 20;

/// What of a program file matters here. Places in its code are offsets from the code's beginning.
#[derive(Debug)]
pub(crate) struct ServerProgram {
    symbols: HashMap<String, Range<u64>>,
    code: Vec<u8>,
    address: u64,
    offset: u64,
}

impl ServerProgram {
    /// Reads a program file. Cost: some 20 ms for a server of 25 MB.
    ///
    /// # Errors
    /// It is none, for people.
    pub(crate) fn read(file: &File) -> Result<Self, String> {
        // What goes through the cache stays in it, and the code is most of the file.
        let (cache, budget) = (ReadCache::new(file), ReadBudget::default());
        Self::parse_with(budget.of(&cache), |range| {
            let mut code = Vec::new();
            let mut file = file;
            file.seek(SeekFrom::Start(range.start))?;
            file.take(range.end - range.start).read_to_end(&mut code)?;
            Ok(code)
        })
    }

    /// The same of what is in a file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    #[cfg(feature = "fuzzing")]
    pub(crate) fn parse(file: &[u8]) -> Result<Self, String> {
        Self::parse_with(file, |range| {
            let range = range.start as usize..range.end as usize;
            Ok(file.get(range).unwrap_or_default().to_vec())
        })
    }

    fn parse_with<'data>(
        file: impl ReadRef<'data>,
        code: impl FnOnce(Range<u64>) -> io::Result<Vec<u8>>,
    ) -> Result<Self, String> {
        let elf = ElfFile64::<Endianness, _>::parse(file).map_err(|e| e.to_string())?;
        let text = elf.section_by_name(".text").ok_or("the program has no code")?;
        let (offset, size) = text.file_range().ok_or("the program's code is not in its file")?;
        if size > MAX_CODE_BYTES {
            return Err(format!("the program says that it has {size} bytes of code"));
        }
        let code = code(offset..offset.saturating_add(size)).map_err(|error| error.to_string())?;
        let mut symbols = HashMap::new();
        for table in [elf.elf_symbol_table(), elf.elf_dynamic_symbol_table()] {
            let sections = elf.elf_section_table();
            // All names at once: each by itself is a read of the file.
            let names = sections.section(table.string_section());
            let names = names.and_then(|section| section.data(elf.endian(), elf.data()));
            add_symbols(table.symbols(), elf.endian(), names.unwrap_or_default(), &mut symbols);
        }
        Ok(Self { symbols, address: text.address(), offset, code })
    }

    /// Where a function begins.
    ///
    /// # Errors
    /// The program does not export it, for people.
    pub(crate) fn function(&self, name: &str) -> Result<u64, String> {
        self.extent(name).map(|extent| extent.start)
    }

    /// Where all functions begin whose names begin so: compilers make several of one, at times.
    pub(super) fn functions_like(&self, name: &str) -> Vec<u64> {
        let named = self.symbols.iter().filter(|(symbol, _)| symbol.starts_with(name));
        named.map(|(_, extent)| extent.start).collect()
    }

    /// Where a function or a variable lies when the program is loaded at 0.
    ///
    /// # Errors
    /// As [`function`](Self::function).
    pub(super) fn extent(&self, name: &str) -> Result<Range<u64>, String> {
        let extent = self.symbols.get(name).cloned();
        extent.ok_or_else(|| format!("the program does not export {name}"))
    }

    /// Where a function begins in the code.
    ///
    /// # Errors
    /// As [`function`](Self::function), or it lies elsewhere.
    pub(crate) fn place(&self, name: &str) -> Result<usize, String> {
        let place = self.place_of(self.function(name)?);
        place.ok_or_else(|| format!("{name} lies in no code"))
    }

    /// Where an address is in the code.
    pub(super) fn place_of(&self, address: u64) -> Option<usize> {
        let place = address.wrapping_sub(self.address) as usize;
        (place < self.code.len()).then_some(place)
    }

    /// Where a probe goes that is hit as the function at `place` begins, as an offset in the file.
    pub(crate) fn entry(&self, place: usize) -> usize {
        let code = self.code.get(place..).unwrap_or_default();
        let is_target = cfg!(target_arch = "x86_64") && code.starts_with(&BRANCH_TARGET);
        self.offset as usize + place + if is_target { BRANCH_TARGET.len() } else { 0 }
    }

    /// The code, for whoever looks into it.
    ///
    /// # Errors
    /// It is another machine's than is read.
    pub(super) fn code(&self) -> Result<&[u8], String> {
        let is_read = cfg!(target_arch = "x86_64");
        is_read.then_some(&self.code[..]).ok_or_else(|| "code is read on x86-64 alone".to_owned())
    }

    /// All calls, with their targets' addresses.
    ///
    /// # Errors
    /// The machine's code is not read.
    pub(crate) fn calls(&self) -> Result<impl Iterator<Item = (usize, u64)>, String> {
        self.code().map(|code| self.targets(0, memchr_iter(CALL, code)))
    }

    /// The calls in one function. There may be more than are made: data looks like calls.
    ///
    /// # Errors
    /// As [`function`](Self::function).
    pub(super) fn calls_of(&self, name: &str) -> Result<Vec<(usize, u64)>, String> {
        let places = self.places(name)?;
        let calls = memchr_iter(CALL, &self.code[places.clone()]);
        Ok(self.targets(places.start, calls).collect())
    }

    /// The same with jumps, by which a function may call others last.
    ///
    /// # Errors
    /// As [`function`](Self::function).
    pub(super) fn transfers_of(&self, name: &str) -> Result<Vec<(usize, u64)>, String> {
        let places = self.places(name)?;
        let transfers = memchr2_iter(CALL, JUMP, &self.code[places.clone()]);
        Ok(self.targets(places.start, transfers).collect())
    }

    /// Where a function is in the code.
    fn places(&self, name: &str) -> Result<Range<usize>, String> {
        let (extent, _) = (self.extent(name)?, self.code()?);
        let place = |at: u64| (at.wrapping_sub(self.address) as usize).min(self.code.len());
        let end = place(extent.end);
        Ok(place(extent.start).min(end)..end)
    }

    /// Transfers that lie so far behind `base`, with their targets' addresses.
    fn targets(
        &self,
        base: usize,
        transfers: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = (usize, u64)> {
        transfers.map(move |at| base + at).filter_map(|at| Some((at, self.target(at)?)))
    }

    fn target(&self, at: usize) -> Option<u64> {
        let distance = self.code.get(at + 1..at + CALL_LENGTH)?.first_chunk()?;
        let behind = self.address.wrapping_add((at + CALL_LENGTH) as u64);
        Some(behind.wrapping_add_signed(i32::from_le_bytes(*distance).into()))
    }

    /// Places as offsets in the file.
    pub(super) fn in_file(&self, places: &[usize]) -> Vec<usize> {
        places.iter().filter_map(|place| (self.offset as usize).checked_add(*place)).collect()
    }
}

/// Adds what a table defines.
fn add_symbols(
    table: &[Sym64<Endianness>],
    endian: Endianness,
    names: &[u8],
    symbols: &mut HashMap<String, Range<u64>>,
) {
    let names = StringTable::new(names, 0, names.len() as u64);
    for symbol in table.iter().filter(|symbol| symbol.is_definition(endian, names)) {
        let name = symbol.name(endian, names).unwrap_or_default();
        if let Ok(name) = std::str::from_utf8(name) {
            let address = symbol.st_value(endian);
            let extent = address..address.saturating_add(symbol.st_size(endian));
            symbols.insert(name.to_owned(), extent);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A program of nothing but code, and functions in it.
    pub(in crate::trace) fn program(
        code: Vec<u8>,
        functions: &[(&str, Range<u64>)],
    ) -> ServerProgram {
        let symbols = functions.iter().map(|(name, extent)| ((*name).to_owned(), extent.clone()));
        ServerProgram { symbols: symbols.collect(), code, address: 0, offset: 0 }
    }

    /// Code that calls a function at `target`.
    pub(in crate::trace) fn call(code: &mut Vec<u8>, target: i32) {
        let behind = code.len() as i32 + 5;
        code.push(CALL);
        code.extend_from_slice(&(target - behind).to_le_bytes());
    }

    #[test]
    fn calls_belong_to_the_function_they_are_in() {
        let mut code = vec![0x90; 10];
        call(&mut code, 1000);
        call(&mut code, 2000);
        let program = program(code, &[("f", 0..15), ("g", 15..20), ("odd", 900..901)]);
        assert_eq!(program.calls().map(Iterator::collect), Ok(vec![(10, 1000), (15, 2000)]));
        assert_eq!(program.calls_of("g"), Ok(vec![(15, 2000)]));
        assert_eq!(program.calls_of("odd"), Ok(vec![]));
        assert!(program.calls_of("h").expect_err("none").contains("does not export h"));
    }

    #[test]
    fn no_program_is_refused() {
        let read = |path| ServerProgram::read(&File::open(path).expect("it is there"));
        let own = read("/proc/self/exe").expect("it runs");
        assert!(own.place("main").is_ok());
        assert!(read("/etc/passwd").is_err());
    }
}
