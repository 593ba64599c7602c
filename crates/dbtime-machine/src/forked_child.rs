//! How a child begins whose memory is measured: with as little of this process as can be.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has a command started by fork(2), which is posix_spawn(3) otherwise.
///
/// The kernel counts what a process had before it executed a program among the largest resident
/// sizes of that program. By posix_spawn(3) that is all of this process, by fork(2) the memory that
/// is its own alone, without the pages of files, of which the program itself is the most.
///
/// Source: `exec_mmap` in fs/exec.c, `vma_needs_copy` in mm/memory.c.
#[expect(unsafe_code, reason = "that anything is to be done in the child is what makes it a fork")]
pub fn start_by_fork(command: &mut Command) -> &mut Command {
    // SAFETY: it does nothing, and so nothing that a child of several threads may not do.
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
