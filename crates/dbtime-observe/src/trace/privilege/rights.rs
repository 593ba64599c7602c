//! What watching takes, and what a reader of what comes from clients may do: no more than it needs.

use crate::trace::error::TraceError;
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use rustix::process::{parent_process_death_signal, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_keep_capabilities,
    set_no_new_privs,
};
use std::fmt::Display;

/// Whose files nobody has: the user and the group `nobody`, or `nogroup`.
const NOBODY: u32 = 65534;

/// A right, and what it is called.
pub(crate) type ProcessRight = (CapabilitySet, &'static str);

/// What loading and attaching takes; CAP_SYS_ADMIN stands in for both.
pub(crate) const KERNEL: [ProcessRight; 2] =
    [(CapabilitySet::BPF, "CAP_BPF"), (CapabilitySet::PERFMON, "CAP_PERFMON")];

/// What it takes to see which program another user's process runs, and which ports it listens on.
pub(crate) const OTHERS: [ProcessRight; 2] = [
    (CapabilitySet::SYS_PTRACE, "CAP_SYS_PTRACE"),
    (CapabilitySet::DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"),
];

/// Those of them that this process has not got.
pub(crate) fn missing(rights: &[ProcessRight]) -> Vec<ProcessRight> {
    let stands_in = rights == KERNEL && is_admin();
    rights.iter().filter(|(right, _)| !stands_in && !has(*right)).copied().collect()
}

/// Those of [`KERNEL`] and [`OTHERS`] that a process with these has not got.
pub(crate) fn missing_among(effective: CapabilitySet) -> Vec<ProcessRight> {
    let stands_in = effective.contains(CapabilitySet::SYS_ADMIN);
    let lacks = |right: &&ProcessRight| !effective.contains(right.0);
    let is_needed = |right: &&ProcessRight| !stands_in || OTHERS.contains(right);
    [KERNEL, OTHERS].concat().iter().filter(lacks).filter(is_needed).copied().collect()
}

/// Whether this process has CAP_SYS_ADMIN.
pub(crate) fn is_admin() -> bool {
    has(CapabilitySet::SYS_ADMIN)
}

fn has(right: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|had| had.effective.contains(right))
}

/// What to do about those that are missing: what was granted to a file before is gone with the next
/// grant, so that all are named there.
pub(crate) fn remedy(missing: &[ProcessRight]) -> String {
    let names = |rights: &[ProcessRight], between| {
        rights.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(between)
    };
    let all = names(&[KERNEL, OTHERS].concat(), ",").to_ascii_lowercase();
    format!(
        "{}, which dbtime lacks here; run it as root, or grant all it takes with \
         `sudo setcap {all}+ep $(command -v dbtime)`",
        names(missing, " and ")
    )
}

/// Gives up what this process may do beyond what anybody may: capabilities, and root's files.
/// Before Linux 5.19 a look at a table takes CAP_BPF where the system refuses eBPF to users; there
/// it is kept. Whether it does is tried with `look`.
///
/// Rights are a thread's: to be called while there are no others.
///
/// # Errors
/// The kernel does not take them back.
pub(crate) fn give_up(look: impl Fn() -> bool) -> Result<(), TraceError> {
    let had = capabilities(None).map_err(failed)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, ..had }).map_err(failed)?;
    let may_look = look();
    set_capabilities(None, had).map_err(failed)?;
    keep(&had, if may_look { none } else { had.permitted & CapabilitySet::BPF })
}

/// Gives up what the helper does not need: it keeps [`KERNEL`] and [`OTHERS`]; of more rights
/// CAP_CHECKPOINT_RESTORE, and CAP_SYS_ADMIN where that stands in for the first or its work
/// `needs_admin`: to attach probes one by one, or to sample CPUs.
///
/// Rights are a thread's: to be called while there are no others.
///
/// # Errors
/// The kernel does not take them back.
pub(crate) fn keep_for_helper(needs_admin: bool) -> Result<(), TraceError> {
    let had = capabilities(None).map_err(failed)?;
    let mut needed = all_of(&KERNEL) | all_of(&OTHERS);
    // By it the very library is opened that a server has in its memory, whatever its name is now.
    needed |= CapabilitySet::CHECKPOINT_RESTORE;
    if needs_admin || !had.effective.contains(all_of(&KERNEL)) {
        needed |= CapabilitySet::SYS_ADMIN;
    }
    keep(&had, had.effective & needed)
}

fn all_of(rights: &[ProcessRight]) -> CapabilitySet {
    rights.iter().map(|(right, _)| *right).collect()
}

/// Is nobody from here on, with these of the capabilities that it had.
fn keep(had: &CapabilitySets, kept: CapabilitySet) -> Result<(), TraceError> {
    let at_parents_end = parent_process_death_signal().map_err(failed)?;
    if geteuid().is_root() && had.effective.contains(CapabilitySet::SETUID | CapabilitySet::SETGID)
    {
        set_keep_capabilities(true).map_err(failed)?;
        be_nobody().map_err(failed)?;
        set_keep_capabilities(false).map_err(failed)?;
    }
    let inheritable = CapabilitySet::empty();
    let kept = CapabilitySets { effective: kept, permitted: kept, inheritable };
    set_capabilities(None, kept).map_err(failed)?;
    // With another user and its rights the kernel forgets it.
    set_parent_process_death_signal(at_parents_end).map_err(failed)?;
    set_no_new_privs(true).map_err(failed)
}

/// The groups first: afterwards it may not.
fn be_nobody() -> nix::Result<()> {
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    setgroups(&[])?;
    setresgid(group, group, group)?;
    setresuid(user, user, user)
}

/// Why rights cannot be given up.
pub(crate) fn failed(error: impl Display) -> TraceError {
    TraceError::Rights(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_and_everything_is_granted() {
        assert_eq!(
            remedy(&OTHERS[1..]),
            "CAP_DAC_READ_SEARCH, which dbtime lacks here; run it as root, or grant all it \
             takes with `sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep \
             $(command -v dbtime)`"
        );
    }
}
