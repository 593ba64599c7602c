//! The system calls that are left to the helper: beside those of the reader, to open files for
//! reading (`openat2` could open them otherwise), to load and attach programs, and threads to take
//! them away in. It starts no program and talks to nobody new.

use super::rights::failed;
use super::sandbox::{
    CallRules, TERMINAL_COMMANDS, allow_only, common_rules, one_of, program, refusal, rule,
};
use crate::trace::error::TraceError;
use libc::c_long;
use rustix::io::Errno;
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp, apply_filter_all_threads};

/// Besides, with any arguments. Which files `openat2` opens is not for a filter to say: how is in
/// memory.
const CALLS: &[c_long] = &[
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_memfd_create,
    libc::SYS_openat2,
    libc::SYS_readlinkat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getcwd,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_prlimit64,
    libc::SYS_capget,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getcpu,
    // Answered by another filter: see [`no_hidden_flags`].
    libc::SYS_clone3,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
];

/// Of events of the kernel: to begin, to end, to run a program, and which number one has
/// (`_IO('$', 0)` and its like).
const EVENT_COMMANDS: [u64; 4] = [0x2400, 0x2401, 0x4004_2408, 0x8008_2407];

/// Leaves all threads of this process with these calls alone; others are refused (EPERM).
///
/// # Errors
/// The kernel has no such filters.
pub(crate) fn enter() -> Result<(), TraceError> {
    // The second does not let a third be made.
    [no_hidden_flags()?, filter()?]
        .iter()
        .try_for_each(|filter| apply_filter_all_threads(filter).map_err(failed))
}

fn filter() -> Result<BpfProgram, TraceError> {
    let mut rules = common_rules()?;
    rules.extend(CALLS.iter().map(|call| (*call, Vec::new())));
    let commands = [&TERMINAL_COMMANDS[..], &EVENT_COMMANDS].concat();
    rules.insert(libc::SYS_ioctl, one_of(1, &commands)?);
    let writes = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
    let only_reads = |flags| rule(flags, SeccompCmpOp::MaskedEq(writes as u64), 0);
    rules.insert(libc::SYS_openat, vec![only_reads(2)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![only_reads(1)?]);
    // A pair of streams, to find out what a call takes: datagrams could go to others.
    let streams = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as u64;
    rules.insert(libc::SYS_socketpair, one_of(1, &[streams])?);
    let thread = libc::CLONE_THREAD as u64;
    rules.insert(libc::SYS_clone, vec![rule(0, SeccompCmpOp::MaskedEq(thread), thread)?]);
    allow_only(rules)
}

/// Whether clone3 makes a thread or a process is in memory, where no filter looks: the kernel has
/// no such call, and the C library takes the one whose flags are seen.
fn no_hidden_flags() -> Result<BpfProgram, TraceError> {
    let rules: CallRules = [(libc::SYS_clone3, Vec::new())].into();
    program(rules, SeccompAction::Allow, refusal(Errno::NOSYS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use std::fs::File;
    use std::net::TcpListener;
    use std::process::Command;

    #[test]
    fn files_are_read_and_threads_made_and_nothing_is_written_or_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new");
        let act = move || {
            for filter in [no_hidden_flags(), filter()] {
                let filter = filter.expect("it fits");
                seccompiler::apply_filter(&filter).expect("the kernel has filters");
            }
            let read = std::fs::read("/proc/self/status").is_ok_and(|bytes| !bytes.is_empty());
            let opened = rustix::fs::open("/proc/self/exe", OFlags::PATH, Mode::empty()).is_ok();
            let in_thread = std::thread::spawn(|| 7).join().expect("it did not panic");
            let started = Command::new("/bin/true").spawn().map(drop);
            let written = File::create(path).map(drop);
            let listened = TcpListener::bind("127.0.0.1:0").map(drop);
            let refused = [started, written, listened].map(|one| one.map_err(|e| e.raw_os_error()));
            (read && opened, in_thread, refused)
        };
        // Nothing takes a filter away again.
        let seen = std::thread::spawn(act).join().expect("it did not panic");
        assert_eq!(seen, (true, 7, [Err(Some(Errno::PERM.raw_os_error())); 3]));
    }
}
