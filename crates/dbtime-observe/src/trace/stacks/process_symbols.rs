//! The functions of a process at addresses, by its own files: those that it has mapped, also where
//! they lie in another mount namespace or have been deleted, and the files of symbols that belong
//! to them.

use super::function_name::function_name;
use blazesym::symbolize::source::{Process as ProcessSource, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use procfs::process::{MMapPath, MemoryMap, Process};
use std::fs::{self, File};
use std::path::PathBuf;

/// Where systems have files of symbols.
const SYMBOL_FOLDERS: [&str; 2] = ["/usr/lib/debug", "/lib/debug"];

/// What has no name and lies in no file.
const UNKNOWN: &str = "[unknown]";

/// A function, or what stands for one that has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FunctionName {
    pub(super) name: String,
    pub(super) is_known: bool,
}

/// What a process has mapped.
pub(super) struct ProcessSymbols {
    process: u32,
    maps: Vec<MemoryMap>,
    symbolizer: Symbolizer,
}

impl ProcessSymbols {
    /// Those of a process; `None`: it is not there, or may not be looked at.
    pub(super) fn of(process: u32) -> Option<Self> {
        let maps = Process::new(i32::try_from(process).ok()?).ok()?.maps().ok()?.0;
        let own = SYMBOL_FOLDERS.map(PathBuf::from);
        // A server in a container has its own.
        let its = SYMBOL_FOLDERS.map(|at| PathBuf::from(format!("/proc/{process}/root{at}")));
        let folders = its.into_iter().chain(own);
        let symbolizer = Symbolizer::builder()
            .set_debug_dirs(Some(folders))
            .enable_code_info(false)
            .enable_inlined_fns(false)
            .build();
        Some(Self { process, maps, symbolizer })
    }

    /// The functions at these addresses.
    pub(super) fn names(&self, addresses: &[u64]) -> Vec<FunctionName> {
        let mut source = ProcessSource::new(self.process.into());
        // Anybody may write that, and nobody knows what.
        source.perf_map = false;
        source.map_files = self.can_open_mapped();
        let found = match source.map_files || self.has_our_files() {
            true => self.symbolizer.symbolize(&Source::Process(source), Input::AbsAddr(addresses)),
            false => Ok(Vec::new()),
        };
        let found = found.unwrap_or_default();
        let name = |(at, address): (usize, &u64)| match found.get(at) {
            Some(Symbolized::Sym(symbol)) => {
                FunctionName { name: function_name(&symbol.name), is_known: true }
            }
            _ => FunctionName { name: self.place(*address), is_known: false },
        };
        addresses.iter().enumerate().map(name).collect()
    }

    /// Whether this process may open what that one has mapped, wherever it lies.
    fn can_open_mapped(&self) -> bool {
        let is_file = |map: &&MemoryMap| matches!(map.pathname, MMapPath::Path(_));
        self.maps.iter().find(is_file).is_some_and(|map| {
            let (from, to) = map.address;
            File::open(format!("/proc/{}/map_files/{from:x}-{to:x}", self.process)).is_ok()
        })
    }

    /// Whether a path means the same to both processes.
    fn has_our_files(&self) -> bool {
        let namespace = |of: &str| fs::read_link(format!("/proc/{of}/ns/mnt")).ok();
        let its = namespace(&self.process.to_string());
        its.is_some() && its == namespace("self")
    }

    /// Where it is in which file, such as `[libc.so.6]+0x1234`.
    fn place(&self, address: u64) -> String {
        let holds = |map: &&MemoryMap| (map.address.0..map.address.1).contains(&address);
        let Some(map) = self.maps.iter().find(holds) else { return UNKNOWN.to_owned() };
        match &map.pathname {
            MMapPath::Path(path) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                let offset = address - map.address.0 + map.offset;
                format!("[{}]+{offset:#x}", function_name(&file))
            }
            MMapPath::Vdso => "[vdso]".to_owned(),
            _ => UNKNOWN.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn a_function_of_this_process_has_its_name() {
        let symbols = ProcessSymbols::of(std::process::id()).expect("it is there");
        let here = a_function_of_this_process_has_its_name as *const () as u64;
        let names = symbols.names(&[here, 1]);
        assert!(names[0].name.contains("a_function_of_this_process_has_its_name"), "{names:?}");
        assert_eq!(names[1], FunctionName { name: UNKNOWN.to_owned(), is_known: false });
    }

    #[test]
    fn what_has_no_name_has_its_place_in_a_file() {
        let symbols = ProcessSymbols::of(std::process::id()).expect("it is there");
        let first = symbols.maps.iter().find(|map| matches!(map.pathname, MMapPath::Path(_)));
        let first = first.expect("the program").address.0;
        let place = symbols.place(first + 16);
        assert!(place.starts_with('[') && place.ends_with("]+0x10"), "{place}");
        assert!(ProcessSymbols::of(u32::MAX).is_none());
    }

    /// Builds a program whose symbols are in a file beside it, as packages have them; the address
    /// of a function that it does not export, in the file. `None`: this machine has no compiler.
    fn without_symbols(folder: &Path) -> Option<u64> {
        let source = "static __attribute__((noinline)) void hidden(void) { for (;;) pause(); }\n\
                      int main(void) { hidden(); }\n";
        fs::write(folder.join("p.c"), format!("#include <unistd.h>\n{source}")).expect("written");
        let run = |line: &str| {
            let mut words = line.split(' ');
            let command = Command::new(words.next()?).args(words).current_dir(folder).output();
            let text = String::from_utf8(command.ok().filter(|one| one.status.success())?.stdout);
            text.ok()
        };
        run("cc -g -O1 -o p p.c")?;
        let symbols = run("nm p")?;
        run("objcopy --only-keep-debug p p.debug")?;
        run("strip p")?;
        run("objcopy --add-gnu-debuglink=p.debug p")?;
        let hidden = symbols.lines().find(|line| line.ends_with(" hidden"))?;
        u64::from_str_radix(hidden.split(' ').next()?, 16).ok()
    }

    #[test]
    fn a_program_without_symbols_has_those_of_its_debug_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(hidden) = without_symbols(folder.path()) else {
            assert!(std::env::var_os("CI").is_none(), "a C compiler has to be here");
            return;
        };
        let program = folder.path().join("p");
        let mut child = Command::new(&program).spawn().expect("it runs");
        let is_there = || {
            let symbols = ProcessSymbols::of(child.id())?;
            let is_own = |map: &&MemoryMap| map.pathname == MMapPath::Path(program.clone());
            let base = symbols.maps.iter().find(is_own)?.address.0;
            Some((symbols, base))
        };
        let found = (0..10_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            is_there()
        });
        let names = found.map(|(symbols, base)| symbols.names(&[base + hidden + 4]));
        child.kill().expect("it is there");
        child.wait().expect("it ends");
        let name = FunctionName { name: "hidden".to_owned(), is_known: true };
        assert_eq!(names, Some(vec![name]));
    }
}
