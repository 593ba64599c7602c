//! Why a kernel refuses: a missing right, or the reason in the loader's log.

use crate::trace::error::TraceError;
use crate::trace::privilege::rights::{self, KERNEL};
use libbpf_rs::{PrintLevel, set_print};
use std::sync::{Mutex, PoisonError};

/// Messages of the loader (libbpf) since the last `capture_log`.
static LOADER_LOG: Mutex<String> = Mutex::new(String::new());

/// The end of a verifier's log that is kept: the reason stands there.
const MAX_LOG_BYTES: usize = 64 << 10;

/// Begins to capture messages of the loader; earlier ones go.
pub(crate) fn capture_log() {
    LOADER_LOG.lock().unwrap_or_else(PoisonError::into_inner).clear();
    set_print(Some((PrintLevel::Warn, |_, text| {
        let mut log = LOADER_LOG.lock().unwrap_or_else(PoisonError::into_inner);
        let from = text.len().saturating_sub(MAX_LOG_BYTES);
        if let Some(end) = (from..=text.len()).find_map(|from| text.get(from..)) {
            log.push_str(end);
        }
        if log.len() > 2 * MAX_LOG_BYTES {
            log.clear();
        }
    })));
}

/// The program that was refused, and why; `None`: it was not about one.
pub(crate) fn refused_program() -> Option<(String, String)> {
    let log = LOADER_LOG.lock().unwrap_or_else(PoisonError::into_inner);
    Some((program_of_log(&log)?, of_log(&log)))
}

fn program_of_log(log: &str) -> Option<String> {
    let (_, named) = log.lines().rev().find_map(|line| line.split_once("prog '"))?;
    let (name, what) = named.split_once('\'')?;
    what.contains("failed to load").then(|| name.to_owned())
}

/// The reason at the end of the log, on one line: which program, and what is wrong with it.
fn reason() -> String {
    of_log(&LOADER_LOG.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) fn kernel_error(error: impl std::fmt::Display) -> TraceError {
    TraceError::Kernel(error.to_string())
}

/// The reason of a refusal: most often a missing right.
pub(crate) fn refusal_error(error: libbpf_rs::Error) -> TraceError {
    let is_for_a_right = error.kind() == libbpf_rs::ErrorKind::PermissionDenied;
    match rights::missing(&KERNEL).as_slice() {
        [] if is_for_a_right && refused_program().is_none() => TraceError::Refused(format!(
            "the kernel refuses eBPF ({error}), though this process has the rights it takes: in a \
             user namespace, as of a rootless container, they do not count, and a container's \
             seccomp filter may refuse bpf(2) (docker: --security-opt seccomp=unconfined); run \
             dbtime on the host"
        )),
        [] => {
            let known = [error.to_string(), reason(), lockdown().to_owned()];
            let known: Vec<_> = known.into_iter().filter(|words| !words.is_empty()).collect();
            kernel_error(known.join("; "))
        }
        missing => TraceError::Refused(format!(
            "watching from the kernel takes {}",
            rights::remedy(missing)
        )),
    }
}

/// What to do about a kernel that lets no program read its memory; nothing where it is none.
fn lockdown() -> &'static str {
    let state = std::fs::read_to_string("/sys/kernel/security/lockdown");
    lockdown_remedy(&state.unwrap_or_default())
}

/// The same where this is what the kernel says of itself.
fn lockdown_remedy(state: &str) -> &'static str {
    match state.contains("[confidentiality]") {
        true => {
            "it is locked down so that eBPF may not read its memory: boot it with \
             lockdown=integrity, or without"
        }
        false => "",
    }
}

fn of_log(log: &str) -> String {
    let program = log.lines().rev().find(|line| line.contains("prog '"));
    let before = log.lines().rev().skip_while(|line| !line.starts_with("processed "));
    let verdict = before.skip(1).find(|line| !line.trim().is_empty());
    let words = [program, verdict].map(|line| line.unwrap_or_default().trim());
    let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_lets_nobody_read_its_memory_says_so() {
        assert!(lockdown_remedy("none integrity [confidentiality]\n").contains("lockdown="));
        assert_eq!(lockdown_remedy("none [integrity] confidentiality\n"), "");
        assert_eq!(lockdown_remedy(""), "");
    }

    #[test]
    fn the_last_line_before_the_count_is_what_is_wrong() {
        let log = [
            "0: R1=ctx()",
            "19: (4f) r1 |= r0",
            "R1 pointer |= pointer prohibited",
            "processed 18 insns (limit 1000000)",
            "-- END PROG LOAD LOG --",
            "libbpf: prog 'on_switch': failed to load: -EACCES",
            "libbpf: failed to load object 'x'",
        ];
        let program = "libbpf: prog 'on_switch': failed to load: -EACCES";
        assert_eq!(of_log(&log.join("\n")), format!("{program}; R1 pointer |= pointer prohibited"));
        assert_eq!(program_of_log(&log.join("\n")).as_deref(), Some("on_switch"));
        assert_eq!(program_of_log("libbpf: failed to load object"), None);
        assert_eq!(of_log(""), "");
        assert_eq!(of_log("libbpf: Error in bpf_object__probe_loading()\n"), "");
    }
}
