//! The functions of the kernel at addresses.

use super::function_name::function_name;
use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Kernel, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

/// What marks a function of the kernel, as in other tools' collapsed stacks.
const MARK: &str = "_[k]";

/// The function that every thread leaves its CPU in; what it has called is the tracer.
const SWITCH: &str = "__schedule";

/// The names at these addresses; `None`: unknown, or a secret to this user.
pub(super) fn kernel_names(symbolizer: &Symbolizer, addresses: &[u64]) -> Vec<Option<String>> {
    // The running kernel's own list has all that there is in an image, and what it has loaded.
    let kernel = Kernel { vmlinux: MaybeDefault::None, ..Kernel::default() };
    let found = symbolizer.symbolize(&Source::Kernel(kernel), Input::AbsAddr(addresses));
    let Ok(found) = found else { return vec![None; addresses.len()] };
    let name = |symbol: Symbolized<'_>| match symbol {
        Symbolized::Sym(symbol) => Some(function_name(&symbol.name) + MARK),
        Symbolized::Unknown(_) => None,
    };
    found.into_iter().map(name).collect()
}

/// What a thread that left its CPU had called, of frames from the outermost on.
pub(super) fn until_switch(frames: &[String]) -> &[String] {
    let is_switch = |name: &String| name.strip_suffix(MARK) == Some(SWITCH);
    &frames[..frames.iter().rposition(is_switch).unwrap_or(frames.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tracer_calls_is_none_of_a_thread() {
        let names = |all: &[&str]| all.iter().map(|name| format!("{name}{MARK}")).collect();
        let waits: Vec<_> = names(&["futex_wait", "schedule", "__schedule", "bpf_trace_run4"]);
        assert_eq!(until_switch(&waits), &waits[..2]);
        let runs: Vec<_> = names(&["vfs_read", "copy_to_user"]);
        assert_eq!(until_switch(&runs), runs);
    }
}
