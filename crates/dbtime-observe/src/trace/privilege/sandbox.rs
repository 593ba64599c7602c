//! The system calls that are left to a reader of what comes from clients: enough to read, to look
//! into tables, to ask its helper and to write where it writes already. It opens nothing, starts
//! nothing, talks to nobody new and ends nobody; the process that it waits for it may have go on.
//! The helper has more (`helper_sandbox`).

use super::rights::failed;
use super::waited_child::{WAKING, WaitedChild};
use crate::trace::error::TraceError;
use libc::c_long;
use rustix::io::Errno;
use rustix::thread::MembarrierCommand;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter_all_threads,
};
use std::collections::BTreeMap;

/// With any arguments: on what is open already, or on this process's own memory and time.
const CALLS: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_fcntl,
    libc::SYS_close,
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // A thread that has just been made gets ready with these.
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_sched_getaffinity,
    libc::SYS_wait4,
    libc::SYS_exit,
    libc::SYS_exit_group,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
];

/// Commands of bpf(2) on tables that are open: look, write, delete, next key, look and delete, and
/// what the table is.
const TABLE_COMMANDS: [u64; 6] = [1, 2, 3, 4, 21, 15];

/// Terminals' settings and size, who has them, and files that do not wait; to type into a terminal
/// is not here.
pub(super) const TERMINAL_COMMANDS: [u64; 8] = [
    libc::TCGETS,
    libc::TCSETS,
    libc::TCSETSW,
    libc::TCGETS2,
    libc::TCSETS2,
    libc::TIOCGWINSZ,
    libc::TIOCGPGRP,
    libc::FIONBIO,
];

/// Leaves this process, all threads of which are there, with the system calls that it takes to read
/// and write what is open, and to wait for its child; others are refused (EPERM).
///
/// # Errors
/// The kernel has no such filters.
pub fn enter(child: WaitedChild) -> Result<(), TraceError> {
    apply_filter_all_threads(&filter(child)?).map_err(failed)
}

fn filter(child: WaitedChild) -> Result<BpfProgram, TraceError> {
    let mut rules = common_rules()?;
    // Whether the child is stopped, and to have it go on.
    rules.insert(libc::SYS_waitid, Vec::new());
    rules.entry(libc::SYS_kill).or_default().push(wakes(child)?);
    rules.insert(libc::SYS_bpf, one_of(0, &TABLE_COMMANDS)?);
    rules.insert(libc::SYS_ioctl, one_of(1, &TERMINAL_COMMANDS)?);
    allow_only(rules)
}

/// Calls, and which of their arguments may be what.
pub(super) type CallRules = BTreeMap<c_long, Vec<SeccompRule>>;

/// What the reader and the helper may both do.
pub(super) fn common_rules() -> Result<CallRules, TraceError> {
    let mut rules: CallRules = CALLS.iter().map(|call| (*call, Vec::new())).collect();
    // To whoever is at the other end; threads wake each other so.
    let nobody = condition(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_sendto, vec![nobody]);
    // Only whether a process is there.
    rules.insert(libc::SYS_kill, one_of(1, &[0])?);
    // Waits for what the kernel does now.
    let global = MembarrierCommand::Global as u64;
    rules.insert(libc::SYS_membarrier, one_of(0, &[global])?);
    rules.insert(libc::SYS_prctl, one_of(0, &[libc::PR_SET_NAME as u64])?);
    // What panics may end itself.
    rules.insert(libc::SYS_tgkill, one_of(0, &[std::process::id().into()])?);
    let executable = libc::PROT_EXEC as u64;
    let holds_no_code = || rule(2, SeccompCmpOp::MaskedEq(executable), 0);
    rules.insert(libc::SYS_mmap, vec![holds_no_code()?]);
    rules.insert(libc::SYS_mprotect, vec![holds_no_code()?]);
    Ok(rules)
}

/// Refuses all other calls (EPERM).
pub(super) fn allow_only(rules: CallRules) -> Result<BpfProgram, TraceError> {
    program(rules, refusal(Errno::PERM), SeccompAction::Allow)
}

/// What answers calls with an error.
pub(super) fn refusal(error: Errno) -> SeccompAction {
    SeccompAction::Errno(error.raw_os_error().cast_unsigned())
}

/// A filter that does one thing with the calls of these rules, and another with all others.
pub(super) fn program(
    rules: CallRules,
    others: SeccompAction,
    these: SeccompAction,
) -> Result<BpfProgram, TraceError> {
    let machine = std::env::consts::ARCH.try_into().map_err(failed)?;
    let filter = SeccompFilter::new(rules, others, these, machine);
    filter.and_then(BpfProgram::try_from).map_err(failed)
}

/// Only this process is signalled, and only to go on.
fn wakes(child: WaitedChild) -> Result<SeccompRule, TraceError> {
    let is = |argument: u8, value: u32| {
        let (length, equals) = (SeccompCmpArgLen::Dword, SeccompCmpOp::Eq);
        SeccompCondition::new(argument, length, equals, value.into()).map_err(failed)
    };
    let conditions = vec![is(0, child.process())?, is(1, WAKING.as_raw().cast_unsigned())?];
    SeccompRule::new(conditions).map_err(failed)
}

/// Rules for a call of which one argument is one of these. Only its lower half counts, as with the
/// kernel.
pub(super) fn one_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, TraceError> {
    values.iter().map(|value| rule(argument, SeccompCmpOp::Eq, *value)).collect()
}

pub(super) fn rule(
    argument: u8,
    comparison: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, TraceError> {
    condition(argument, SeccompCmpArgLen::Dword, comparison, value)
}

fn condition(
    argument: u8,
    length: SeccompCmpArgLen,
    comparison: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, TraceError> {
    let condition = SeccompCondition::new(argument, length, comparison, value).map_err(failed)?;
    SeccompRule::new(vec![condition]).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
    use rustix::thread::membarrier;
    use std::io::{Read, Write};
    use std::process::Child;

    /// In a thread of its own: nothing takes a filter away again.
    fn inside<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
        let mut child = sleeping();
        let result = inside_beside(&child, act);
        child.kill().expect("it is there");
        child.wait().expect("it ends");
        result
    }

    /// The same where the process waits for this one.
    fn inside_beside<T: Send + 'static>(
        child: &Child,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let waited = WaitedChild::of(child);
        let thread = std::thread::spawn(move || {
            let filter = filter(waited).expect("it fits");
            seccompiler::apply_filter(&filter).expect("the kernel has filters");
            act()
        });
        thread.join().expect("it did not panic")
    }

    fn sleeping() -> Child {
        std::process::Command::new("sleep").arg("600").spawn().expect("it starts")
    }

    #[test]
    fn a_child_that_is_stopped_is_had_to_go_on_and_not_ended() {
        let mut children = [sleeping(), sleeping()];
        let pids = children.each_ref().map(Pid::from_child);
        for pid in pids {
            kill_process(pid, Signal::STOP).expect("it is there");
            let until = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
            waitid(WaitId::Pid(pid), until).expect("it is ours");
        }
        let waited = children.each_ref().map(WaitedChild::of);
        let seen = inside_beside(&children[0], move || {
            let woken = waited.map(WaitedChild::wake);
            (woken, kill_process(pids[0], Signal::KILL), kill_process(pids[0], Signal::STOP))
        });
        assert_eq!(seen, ([true, false], Err(Errno::PERM), Err(Errno::PERM)));
        for child in &mut children {
            child.kill().expect("it is there");
            child.wait().expect("it ends");
        }
    }

    #[test]
    fn what_is_open_can_be_used_and_nothing_can_be_opened() {
        let (mut reader, mut writer) = std::io::pipe().expect("files are free");
        let said = inside(move || {
            writer.write_all(&vec![7; 40_000]).expect("it is open");
            let mut said = vec![0; 40_000];
            reader.read_exact(&mut said).expect("it is open");
            let opened = rustix::fs::open("/etc/passwd", OFlags::RDONLY, Mode::empty());
            let socket = rustix::net::socket(
                rustix::net::AddressFamily::INET,
                rustix::net::SocketType::STREAM,
                None,
            );
            let which = rustix::fs::fstat(&reader).map(|file| file.st_ino > 0);
            (said, opened.map(drop), socket.map(drop), which)
        });
        let refused = Err(Errno::PERM);
        assert_eq!(said, (vec![7; 40_000], refused, refused, Ok(true)));
    }

    #[test]
    fn what_the_kernel_does_now_is_waited_for_and_nobody_else_is_disturbed() {
        let (waited, disturbed) = inside(|| {
            let waited = membarrier(MembarrierCommand::Global);
            (waited, membarrier(MembarrierCommand::GlobalExpedited))
        });
        assert_ne!(waited, Err(Errno::PERM));
        assert_eq!(disturbed, Err(Errno::PERM));
    }

    #[test]
    fn nothing_is_started_or_ended() {
        let (one, other) = std::os::unix::net::UnixStream::pair().expect("files are free");
        let (started, own, others, told) = inside(move || {
            let started = std::process::Command::new("/bin/true").spawn();
            let own = rustix::process::getpid();
            let asked = rustix::process::test_kill_process(own);
            let ended = kill_process(own, Signal::CONT);
            let told = rustix::net::send(&one, b"x", rustix::net::SendFlags::empty());
            drop(other);
            (started.map(drop).map_err(|error| error.raw_os_error()), asked, ended, told)
        });
        assert_eq!(told, Ok(1));
        assert_eq!(started, Err(Some(1)));
        assert_eq!((own, others), (Ok(()), Err(Errno::PERM)));
    }
}
