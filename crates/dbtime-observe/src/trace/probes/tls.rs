//! Where a server's TLS library takes in and gives out what is said.

use super::program::{BRANCH_TARGET, ServerProgram};
use crate::trace::servers::{open_file, unreadable};
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};
use rustix::fs::{Stat, major, minor};
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// OpenSSL's, LibreSSL's and BoringSSL's; and OpenSSL's second way to the same.
const READ: &str = "SSL_read";
const READ_TOO: &str = "SSL_read_ex";
const WRITE: &str = "SSL_write";
const WRITE_TOO: &str = "SSL_write_ex";
/// wolfSSL's, which MariaDB has inside where it is not built for a distribution.
const WOLF_READ: &str = "wolfSSL_read";
const WOLF_WRITE: &str = "wolfSSL_write";

/// A library, or a program that has one inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsLibrary {
    /// Where its functions begin in the file.
    pub(crate) read: usize,
    pub(crate) write: usize,
    /// Whether `read` puts the length where its fourth argument says, rather than to return it.
    pub(super) read_stores_length: bool,
}

/// Whether a program has such a library inside.
pub(crate) fn has_tls(program: &ServerProgram) -> bool {
    [READ, WOLF_READ].iter().any(|name| program.function(name).is_ok())
}

/// Where a library, or a program that has one inside, is to be listened to.
///
/// # Errors
/// Why it cannot be, for people.
pub(crate) fn tls_library(program: &ServerProgram) -> Result<TlsLibrary, String> {
    let either = |name, wolf| program.place(name).or_else(|why| program.place(wolf).or(Err(why)));
    let read_inside = inside(program, READ, READ_TOO);
    let read = read_inside.map_or_else(|| either(READ, WOLF_READ), Ok)?;
    let write = inside(program, WRITE, WRITE_TOO).map_or_else(|| either(WRITE, WOLF_WRITE), Ok)?;
    let (read, write) = (program.entry(read), program.entry(write));
    Ok(TlsLibrary { read, write, read_stores_length: read_inside.is_some() })
}

/// What both of two functions call, to do the work. It begins with a push, which the kernel can do
/// in the program's stead: a probe there costs a fifth of one where it has to let the program take
/// a single step.
fn inside(program: &ServerProgram, one: &str, other: &str) -> Option<usize> {
    let targets = |name| {
        let calls = program.calls_of(name).unwrap_or_default();
        calls.into_iter().map(|(_, target)| target).collect::<HashSet<u64>>()
    };
    let (one, other) = (targets(one), targets(other));
    let mut shared = one.intersection(&other).filter_map(|target| program.place_of(*target));
    let (place, None) = (shared.next()?, shared.next()) else { return None };
    let code = program.code().ok()?.get(place..)?;
    match code.strip_prefix(&BRANCH_TARGET).unwrap_or(code) {
        [0x50..=0x57, ..] | [0x41, 0x50..=0x57, ..] => Some(place),
        _ => None,
    }
}

/// Opens the library that a process has in its memory; `None` where it speaks no TLS.
///
/// # Errors
/// Its memory may not be looked at, or the file is not there any more, for people.
pub(crate) fn open_library(process: u32) -> Result<Option<File>, String> {
    let Some((library, map)) = mapped_library(process)? else { return Ok(None) };
    let library = library.strip_prefix("/").unwrap_or(&library);
    if library.to_string_lossy().ends_with(" (deleted)") {
        return Err(format!(
            "{} was replaced since the server started: restart the server",
            library.display()
        ));
    }
    let folder = Path::new("/proc").join(process.to_string());
    let (begin, end) = map.address;
    // It leads to what is mapped, whatever has become of its name; not everybody may go there.
    let mapped = folder.join("map_files").join(format!("{begin:x}-{end:x}"));
    // By its name another file may be there now, which whoever asks may not be allowed to read.
    let is_it = |found: &Stat| {
        let device = (major(found.st_dev).cast_signed(), minor(found.st_dev).cast_signed());
        (device, found.st_ino) == (map.dev, map.inode)
    };
    let named = || open_file(&folder.join("root").join(library), is_it);
    open_file(&mapped, |_| true).or_else(|_| named()).map(Some)
}

/// The library that a process has in its memory, and where.
fn mapped_library(process: u32) -> Result<Option<(PathBuf, MemoryMap)>, String> {
    let maps = Process::new(process.cast_signed()).and_then(|process| process.maps());
    let maps = maps.map_err(|error| unreadable(&error))?;
    let code = maps.into_iter().filter(|map| map.perms.contains(MMPermissions::EXECUTE));
    let mut files = code.filter_map(|map| match &map.pathname {
        MMapPath::Path(path) => Some((path.clone(), map)),
        _ => None,
    });
    let is_library = |(path, _): &(PathBuf, MemoryMap)| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("libssl.so") || name.starts_with("libssl-"))
    };
    Ok(files.find(is_library))
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::{call, program};
    use super::*;

    #[test]
    fn a_program_may_have_it_inside() {
        let functions = [(READ, 2..4), (WRITE, 4..8)];
        let whole = program(vec![0x90; 8], &functions);
        let found = tls_library(&whole).expect("it can");
        assert!(has_tls(&whole));
        assert_eq!((found.read, found.write, found.read_stores_length), (2, 4, false));
        let wolf = program(vec![0x90; 8], &[(WOLF_READ, 1..2), (WOLF_WRITE, 3..4)]);
        let found = tls_library(&wolf).expect("it can");
        assert!(has_tls(&wolf));
        assert_eq!((found.read, found.write, found.read_stores_length), (1, 3, false));
        let half = tls_library(&program(vec![0x90; 8], &functions[..1]));
        assert!(half.expect_err("no SSL_write").contains(WRITE));
    }

    #[test]
    fn what_does_the_work_is_listened_to_where_both_ways_lead_to_it() {
        let mut code = vec![0x90; 2];
        // SSL_read calls 20 and another, SSL_read_ex 20 alone; SSL_write is alone.
        [20, 4000, 20].iter().for_each(|target| call(&mut code, *target));
        code.resize(20, 0xcc);
        code.extend_from_slice(&[0x41, 0x55, 0xc3]);
        let functions = [(READ, 2..12), (READ_TOO, 12..17), (WRITE, 17..20)];
        let found = tls_library(&program(code.clone(), &functions)).expect("it can");
        assert_eq!((found.read, found.write, found.read_stores_length), (20, 17, true));
        code[20] = 0x48;
        let found = tls_library(&program(code, &functions)).expect("it can");
        assert_eq!((found.read, found.read_stores_length), (2, false));
    }

    #[test]
    fn a_process_may_have_none() {
        assert!(!has_tls(&program(vec![], &[])));
        assert_eq!(mapped_library(std::process::id()), Ok(None));
        assert!(mapped_library(u32::MAX >> 1).is_err());
    }
}
