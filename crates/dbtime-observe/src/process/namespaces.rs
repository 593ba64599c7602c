//! Namespaces of processes, as containers have them: the numbers that processes have in their own,
//! and the networks that there are.

use super::files::numbers;
use super::find::all;
use procfs::process::{Process, Status};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The number of the machine's own PID namespace, the same on every kernel (`PROC_PID_INIT_INO`).
const MACHINES_NAMESPACE: u64 = 0xefff_fffc;

/// Threads of a process whose numbers are looked up: as many as go into a message of the helper's.
const MAX_THREADS: usize = 8192;

/// Whether processes have the same numbers for this process as for the kernel's programs: not so in
/// a container, or where `/proc` is one's.
pub(crate) fn counts_as_the_machine() -> bool {
    fs::metadata("/proc/self/ns/pid").is_ok_and(|found| found.ino() == MACHINES_NAMESPACE)
}

/// The number that a process, or a thread, has in its own PID namespace; `None`: it is in that of
/// this process.
pub(crate) fn inner_number(status: &Status) -> Option<u32> {
    match status.nspid.as_deref() {
        // From the outermost on that this process sees.
        Some([_, .., inner]) => u32::try_from(*inner).ok(),
        _ => None,
    }
}

/// The threads of a process by their numbers in its own PID namespace, with those that they have
/// here; `None`: these are the same. Cost: about 20 µs for each thread.
pub(crate) fn inner_threads(process: u32) -> Option<HashMap<u32, u32>> {
    let status = |tid: u32| Process::new(tid.cast_signed()).and_then(|thread| thread.status()).ok();
    inner_number(&status(process)?)?;
    let threads = numbers(&Path::new("/proc").join(process.to_string()).join("task"));
    let threads = threads.into_iter().take(MAX_THREADS);
    Some(threads.filter_map(|tid| Some((inner_number(&status(tid)?)?, tid))).collect())
}

/// Whether a process is in the network of this one, as far as can be seen.
pub fn shares_network(process: u32) -> bool {
    network(&process.to_string()).is_none_or(|its| network("self") == Some(its))
}

/// The number of a process's network.
fn network(process: &str) -> Option<u64> {
    fs::metadata(format!("/proc/{process}/ns/net")).ok().map(|found| found.ino())
}

/// A process of each network that this user may look into: this process itself first.
pub(super) fn networks() -> Vec<Process> {
    let mut seen = HashSet::new();
    let is_new = |name: &String| network(name).is_some_and(|network| seen.insert(network));
    let names =
        std::iter::once("self".to_owned()).chain(all().into_iter().map(|pid| pid.to_string()));
    let folders = names.filter(is_new).map(|name| Path::new("/proc").join(name));
    folders.filter_map(|folder| Process::new_with_root(folder).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromRead;

    /// What `/proc/PID/status` says of a process with these numbers.
    fn status(numbers: &str) -> Status {
        let own = fs::read_to_string("/proc/self/status").expect("this process has one");
        let with_numbers = |line: &str| match line.starts_with("NSpid:") {
            true => format!("NSpid:\t{numbers}\n"),
            false => format!("{line}\n"),
        };
        let text: String = own.lines().map(with_numbers).collect();
        Status::from_read(text.as_bytes()).expect("as the kernel writes it")
    }

    #[test]
    fn a_process_in_a_namespace_of_its_own_has_another_number_there() {
        assert_eq!(inner_number(&status("4711")), None);
        assert_eq!(inner_number(&status("4711\t1")), Some(1));
        assert_eq!(inner_number(&status("4711\t30\t7")), Some(7), "a container in another");
    }

    #[test]
    fn threads_of_a_process_beside_this_one_have_no_other_numbers() {
        assert_eq!(inner_threads(std::process::id()), None);
        assert_eq!(inner_threads(4_194_305), None, "there is no such process");
    }

    #[test]
    fn the_network_of_this_process_is_the_first() {
        let networks = networks();
        let own = networks.first().expect("this process may look into its own");
        assert_eq!(own.pid().cast_unsigned(), std::process::id());
        assert!(shares_network(std::process::id()) && shares_network(4_194_305));
    }
}
