//! Whether the libraries of `LD_PRELOAD` are in the server: the loader only warns.

use crate::error::LabError;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable that the loader reads.
pub(super) const VARIABLE: &str = "LD_PRELOAD";

/// The libraries it names. Source: ld.so(8): separated by blanks or colons.
pub(super) fn libraries(value: &str) -> impl Iterator<Item = &str> {
    value.split([' ', '\t', '\n', ':']).filter(|library| !library.is_empty())
}

/// Looks for every library of `value` in the memory of the process.
///
/// Errors: one that is not there, or the memory cannot be looked at.
pub(super) fn verify(pid: u32, value: &str, log: &str) -> Result<(), LabError> {
    let setting = format!("--server-env {VARIABLE}={value}");
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(|error| {
        LabError::Target(format!(
            "{setting}: cannot see whether it took effect: /proc/{pid}/maps: {error}; run dbtime \
             as the server's user or as root"
        ))
    })?;
    let mapped = files(&maps);
    match libraries(value).find(|library| !is_mapped(library, &mapped)) {
        None => Ok(()),
        Some(library) => {
            let loader_line =
                log.lines().find(|line| line.contains(library) && line.contains("ld.so"));
            let loader_line =
                loader_line.map_or(String::new(), |line| format!(" ({})", line.trim()));
            Err(LabError::Target(format!(
                "{setting}: {library} is not in the memory of the server{loader_line}; name a library for \
                 this machine by its whole path"
            )))
        }
    }
}

/// The files in `/proc/PID/maps`: the rest of a line after five fields.
fn files(maps: &str) -> BTreeSet<PathBuf> {
    let files = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    files.map(PathBuf::from).collect()
}

/// A name without a slash was looked for by the loader: then a mapped file must have it, or lie
/// beside a link of that name.
fn is_mapped(library: &str, mapped: &BTreeSet<PathBuf>) -> bool {
    let is_same = |path: &Path| path.canonicalize().is_ok_and(|path| mapped.contains(&path));
    if library.contains('/') {
        return is_same(Path::new(library));
    }
    let folders: BTreeSet<&Path> = mapped.iter().filter_map(|file| file.parent()).collect();
    folders.into_iter().any(|folder| is_same(&folder.join(library)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_separated_by_blanks_or_colons() {
        assert_eq!(libraries("/a.so:b.so  /c.so:").collect::<Vec<_>>(), ["/a.so", "b.so", "/c.so"]);
    }

    #[test]
    fn what_is_mapped_is_found_by_path_link_and_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path().canonicalize().expect("it is there");
        fs::write(dir.join("lib x.so.1.2"), "").expect("written");
        std::os::unix::fs::symlink("lib x.so.1.2", dir.join("x.so.1")).expect("linked");
        let maps = format!(
            "7f00-7f01 r-xp 00000000 fe:00 12    {}/lib x.so.1.2\n7ffd-7ffe rw-p 0 00:00 0 [stack]\n",
            dir.display()
        );
        let mapped = files(&maps);
        assert_eq!(mapped.len(), 1);
        assert!(is_mapped(&format!("{}/x.so.1", dir.display()), &mapped));
        assert!(is_mapped("x.so.1", &mapped));
        assert!(!is_mapped("y.so", &mapped) && !is_mapped("/y.so", &mapped));
    }

    #[test]
    fn this_process_has_no_such_library() {
        let log = "x\nERROR: ld.so: object '/y.so' from LD_PRELOAD cannot be preloaded: ignored.\n";
        let error = verify(std::process::id(), "/y.so", log).expect_err("missing").to_string();
        assert!(
            error.contains("/y.so is not in the memory of the server (ERROR: ld.so"),
            "{error}"
        );
    }
}
