//! Where a server says what it waits for: the calls of `thd_wait_begin(THD *, int wait)` and
//! `thd_wait_end(THD *)` in its program file.
//!
//! The functions themselves are entered for every request, since waiting for the next one is a wait
//! too, and each entry would cost a trap. Those calls go by a jump from functions of the network
//! layer; waits for locks and for SLEEP() are calls, of which each has a probe of its own.
//!
//! The file is whoever's it is: what does not look as expected has no calls.

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, ReadCache};
use std::fs::File;
use std::path::Path;

/// `call` with the distance to its target.
const CALL: u8 = 0xe8;
/// Its length.
const CALL_LENGTH: usize = 5;
/// `mov $n, %esi`: the second argument, a constant.
const SECOND_ARGUMENT: u8 = 0xbe;
/// How far before a call its argument is looked for.
const BEFORE: usize = 48;
/// How far behind a wait's beginning its end is looked for.
const BEHIND: usize = 1024;
/// Waiting for a disk: the system calls tell more of that.
const DISK: u8 = 2;

/// Offsets in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) begins: Vec<usize>,
    pub(super) ends: Vec<usize>,
}

/// The calls in a program file.
///
/// # Errors
/// Why there are none, for people.
pub(super) fn waits(program: &Path) -> Result<Waits, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("they are found on x86-64 alone".to_owned());
    }
    let file = File::open(program).map_err(|error| error.to_string())?;
    let cache = ReadCache::new(file);
    let elf = ElfFile64::<object::Endianness, _>::parse(&cache).map_err(|e| e.to_string())?;
    let symbol = |name: &str| {
        let found = elf.dynamic_symbols().chain(elf.symbols());
        let mut found = found.filter(|symbol| symbol.is_definition());
        let address = found.find(|symbol| symbol.name() == Ok(name)).map(|s| s.address());
        address.ok_or_else(|| format!("the program does not export {name}"))
    };
    let (begin, end) = (symbol("thd_wait_begin")?, symbol("thd_wait_end")?);
    let text = elf.section_by_name(".text").ok_or("the program has no code")?;
    let (offset, _) = text.file_range().ok_or("the program's code is not in its file")?;
    let code = text.data().map_err(|error| error.to_string())?;
    let found = of_code(code, begin.wrapping_sub(text.address()), end.wrapping_sub(text.address()));
    let at = |place: usize| (offset as usize).checked_add(place);
    let waits = Waits {
        begins: found.begins.into_iter().filter_map(at).collect(),
        ends: found.ends.into_iter().filter_map(at).collect(),
    };
    if waits.begins.is_empty() {
        Err("the program calls them nowhere".to_owned())
    } else {
        Ok(waits)
    }
}

/// The calls in code, as offsets from its beginning, as the functions' are.
fn of_code(code: &[u8], begin: u64, end: u64) -> Waits {
    let mut waits = Waits::default();
    let mut last = None;
    let calls = code.iter().enumerate().filter(|(_, byte)| **byte == CALL).map(|(at, _)| at);
    for at in calls {
        let target = target(code, at);
        if target == Some(begin) && constant_before(code, at) != Some(DISK) {
            waits.begins.push(at);
            last = Some(at);
        } else if target == Some(end) && last.is_some_and(|begin| at - begin < BEHIND) {
            waits.ends.push(at);
        }
    }
    waits
}

fn target(code: &[u8], at: usize) -> Option<u64> {
    let distance = code.get(at + 1..at + CALL_LENGTH)?.first_chunk()?;
    let behind = (at + CALL_LENGTH) as u64;
    Some(behind.wrapping_add_signed(i32::from_le_bytes(*distance).into()))
}

/// The small constant that the second argument is set to nearest before a call.
fn constant_before(code: &[u8], at: usize) -> Option<u8> {
    let before = &code[at.saturating_sub(BEFORE)..at];
    before.windows(CALL_LENGTH).rev().find_map(|window| match window {
        [SECOND_ARGUMENT, n, 0, 0, 0] => Some(*n),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Code that calls a function at `target`.
    fn call(code: &mut Vec<u8>, target: i32) {
        let behind = code.len() as i32 + 5;
        code.push(CALL);
        code.extend_from_slice(&(target - behind).to_le_bytes());
    }

    #[test]
    fn calls_are_found_but_for_those_that_wait_for_a_disk() {
        let mut code = vec![0x90; 10];
        code.extend_from_slice(&[SECOND_ARGUMENT, 3, 0, 0, 0]);
        call(&mut code, 1000);
        call(&mut code, 2000);
        code.extend_from_slice(&[0x90; 2 * BEHIND]);
        // Another one's end.
        call(&mut code, 2000);
        code.extend_from_slice(&[SECOND_ARGUMENT, DISK, 0, 0, 0]);
        call(&mut code, 1000);
        call(&mut code, 3000);
        assert_eq!(of_code(&code, 1000, 2000), Waits { begins: vec![15], ends: vec![20] });
    }

    #[test]
    fn what_is_no_program_says_so() {
        assert!(waits(Path::new("/proc/self/exe")).expect_err("no server").contains("export"));
        assert!(waits(Path::new("/etc/passwd")).is_err());
        assert!(waits(Path::new("/nowhere")).expect_err("none").contains("No such file"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_code(
            code in proptest::collection::vec(any::<u8>(), 0..300), begin: u64, end: u64
        ) {
            let waits = of_code(&code, begin % 300, end % 300);
            prop_assert!(waits.begins.iter().chain(&waits.ends).all(|at| *at < code.len()));
        }
    }
}
