//! Starts a child whose memory is measured, with as little memory of this process as possible.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has a command started by fork(2) instead of posix_spawn(3).
///
/// The kernel takes the size of a process before it executes a program into the largest resident
/// size of that program. After posix_spawn(3) this is the size of the whole parent; a child by
/// fork(2) has the parent's private memory and no pages of its files, which are most of it.
///
/// Source: `exec_mmap` in fs/exec.c, `vma_needs_copy` in mm/memory.c.
#[expect(unsafe_code, reason = "only a command with something to do in the child is forked")]
pub fn start_by_fork(command: &mut Command) -> &mut Command {
    // SAFETY: it does nothing, so nothing that is forbidden after a fork of several threads.
    unsafe { command.pre_exec(|| Ok(())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn a_forked_command_ends_and_fails_as_any_other() {
        let status = |program: &str| start_by_fork(&mut Command::new(program)).status();
        assert!(status("true").expect("it starts").success());
        assert_eq!(status("false").expect("it starts").code(), Some(1));
        let error = status("/no/such/program").expect_err("it is not there");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
