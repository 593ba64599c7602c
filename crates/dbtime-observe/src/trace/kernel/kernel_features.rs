//! What this kernel has of what not all have, by the types that it describes itself with.
//!
//! Names are looked up, and no version is believed: distributions take features into older kernels.
//! What has no name is found out by trying, in [`load`](super::loading::load).

use super::refusal::kernel_error;
use crate::trace::error::TraceError;
use memchr::memmem;
use rustix::system::uname;
use std::path::Path;
use std::sync::OnceLock;

/// The kernel's description of its own types (BTF).
const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";

/// The oldest kernel that is tested.
const OLDEST: &str = "6.1";

/// What programs call, in the kernel's own list of that, and the version that brought it.
const NEEDED: [(&str, &str, &str); 7] = [
    ("BPF_FUNC_ringbuf_output", "a ring buffer", "5.8"),
    ("BPF_FUNC_task_storage_get", "storage of threads", "5.11"),
    ("BPF_FUNC_get_current_task_btf", "the thread that runs", "5.11"),
    ("BPF_FUNC_task_pt_regs", "registers of threads", "5.15"),
    ("BPF_FUNC_get_attach_cookie", "cookies of probes", "5.15"),
    ("BPF_FUNC_skc_to_unix_sock", "Unix sockets", "5.16"),
    ("BPF_FUNC_loop", "loops", "5.17"),
];

/// Programs that are told by tracepoints of sockets what was read, sent and has come: since 6.3.
const BY_TRACEPOINTS: [&str; 3] = ["on_receive", "on_send", "on_bytes"];

/// The same by the kernel's functions.
const BY_FUNCTIONS: [&str; 7] = [
    "on_unix_receive",
    "on_inet_receive",
    "on_inet6_receive",
    "on_unix_send",
    "on_inet_send",
    "on_inet6_send",
    "on_readable",
];

/// What each of these does, the next of its stand-ins does where the kernel has left it out, which
/// it does for all threads but one where that is pre-empted within.
pub(crate) const STAND_INS: [(&str, [&str; 3]); 2] = [
    ("on_receive", ["on_receive_second", "on_receive_third", "on_receive_fourth"]),
    ("on_send", ["on_send_second", "on_send_third", "on_send_fourth"]),
];

/// Of the programs of sockets the ones without which requests are seen all the same.
const OPTIONAL_OF_SOCKETS: [&str; 2] = ["on_bytes", "on_readable"];

/// The walk that notes which threads serve requests.
pub(crate) const THREAD_WALK: &str = "iter_threads";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelFeatures {
    /// Tracepoints of what sockets read and send.
    pub(crate) has_socket_tracepoints: bool,
    /// It finds a thread by its number, for a program: since 6.2.
    pub(crate) finds_threads: bool,
    /// A program is attached to many places at once: since 6.6.
    pub(crate) has_multi_probes: bool,
    /// Threads are pre-empted within programs of tracepoints.
    pub(crate) preempts_programs: bool,
    /// A program may cast a pointer to one that the verifier does not trust: since 6.2.
    pub(crate) casts: bool,
}

impl KernelFeatures {
    /// Looks.
    ///
    /// # Errors
    /// The kernel does not describe itself, or lacks what all programs need.
    pub(crate) fn find() -> Result<Self, TraceError> {
        // It stays the same kernel.
        static FOUND: OnceLock<Result<KernelFeatures, TraceError>> = OnceLock::new();
        FOUND.get_or_init(Self::look).clone()
    }

    fn look() -> Result<Self, TraceError> {
        let types = std::fs::read(KERNEL_TYPES).map_err(|error| {
            kernel_error(format!(
                "it does not describe its types ({KERNEL_TYPES}: {error}): {}",
                match Path::new("/sys/kernel").exists() {
                    true =>
                        "it was built without CONFIG_DEBUG_INFO_BTF, or is older than Linux 5.4",
                    false => "/sys is not mounted here; mount it, or pass it into the container",
                }
            ))
        })?;
        Self::of(&types, &uname().release().to_string_lossy())
    }

    fn of(types: &[u8], release: &str) -> Result<Self, TraceError> {
        let has_multi_probes = names(types, "BPF_TRACE_UPROBE_MULTI");
        // What came last is there only where all of that is.
        let lacking = if has_multi_probes { Vec::new() } else { lacking(types) };
        if !lacking.is_empty() {
            return Err(kernel_error(format!(
                "Linux {release} lacks what watching takes: {}; use Linux {OLDEST} or later",
                lacking.join(", ")
            )));
        }
        Ok(Self {
            has_socket_tracepoints: ["btf_trace_sock_send_length", "btf_trace_sk_data_ready"]
                .into_iter()
                .all(|name| names(types, name)),
            finds_threads: names(types, "bpf_task_from_pid"),
            has_multi_probes,
            preempts_programs: preempts_programs(release),
            casts: names(types, "bpf_rdonly_cast"),
        })
    }

    /// Whether this kernel is to have a program.
    pub(crate) fn takes(self, program: &str) -> bool {
        if BY_TRACEPOINTS.contains(&program) {
            self.has_socket_tracepoints
        } else if BY_FUNCTIONS.contains(&program) {
            !self.has_socket_tracepoints
        } else if STAND_INS.iter().any(|(_, others)| others.contains(&program)) {
            self.has_socket_tracepoints && self.preempts_programs
        } else {
            program != THREAD_WALK || !self.finds_threads
        }
    }

    /// Why there is no watching without a program that the kernel refuses.
    pub(crate) fn without(self, program: &str, refused: TraceError) -> TraceError {
        match (BY_FUNCTIONS.contains(&program), refused) {
            (true, TraceError::Kernel(why)) => kernel_error(format!(
                "it has no tracepoints of sockets (since 6.3), and takes no programs on its \
                 functions either (on arm64 none does before 6.4): {why}; use a later kernel"
            )),
            (_, refused) => refused,
        }
    }

    /// Whether no request is seen without a program.
    pub(crate) fn needs(self, program: &str) -> bool {
        let is_of_sockets = BY_TRACEPOINTS.contains(&program) || BY_FUNCTIONS.contains(&program);
        program == "iter_final"
            || is_of_sockets && self.takes(program) && !OPTIONAL_OF_SOCKETS.contains(&program)
    }
}

/// What the kernel lacks that all programs need, for people.
fn lacking(types: &[u8]) -> Vec<String> {
    let lacks = |(name, ..): &&(&str, &str, &str)| !names(types, name);
    let lacking = NEEDED.iter().filter(lacks);
    lacking.map(|(_, what, since)| format!("{what} (since {since})")).collect()
}

/// Whether threads are pre-empted within programs of tracepoints: since 7.0. No name in a kernel's
/// types tells, and no distribution takes that into an older one.
fn preempts_programs(release: &str) -> bool {
    let major = release.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= 7)
}

/// Whether a type, a function or a number of an enum has this name: each stands there once, between
/// zeros.
fn names(types: &[u8], name: &str) -> bool {
    let name = [b"\0", name.as_bytes(), b"\0"].concat();
    memmem::find(types, &name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A description with these names, beside those that are needed.
    fn types(names: &[&str]) -> Vec<u8> {
        let needed = NEEDED.iter().map(|(name, ..)| *name);
        let named = needed.chain(names.iter().copied()).map(|name| format!("\0{name}"));
        named.chain(["\0".to_owned()]).collect::<String>().into_bytes()
    }

    #[test]
    fn each_kernel_is_watched_by_what_it_has() {
        let old = types(&["btf_trace_sock_send_lengthy"]);
        let old = KernelFeatures::of(&old, "6.1.0-50-amd64").expect("enough");
        let features = KernelFeatures {
            has_socket_tracepoints: false,
            finds_threads: false,
            has_multi_probes: false,
            preempts_programs: false,
            casts: false,
        };
        assert_eq!(old, features);
        assert!(old.takes("on_unix_send") && old.needs("on_unix_send") && old.takes(THREAD_WALK));
        assert!(!old.takes("on_send") && !old.needs("on_send") && !old.needs("on_readable"));
        let new = types(&[
            "btf_trace_sock_send_length",
            "btf_trace_sk_data_ready",
            "bpf_task_from_pid",
            "bpf_rdonly_cast",
            "BPF_TRACE_UPROBE_MULTI",
        ]);
        let newest = KernelFeatures::of(&new, "7.2.13+deb14-amd64").expect("enough");
        let new = KernelFeatures::of(&new, "6.18.44").expect("enough");
        assert!(newest.takes("on_send_fourth") && !newest.needs("on_send_fourth"));
        assert!(!new.takes("on_send_second"));
        assert!(
            new.has_multi_probes && new.casts && new.needs("on_receive") && new.takes("on_switch")
        );
        assert!(!new.takes("on_unix_send") && !new.takes(THREAD_WALK) && !new.needs("on_bytes"));
    }

    #[test]
    fn a_kernel_without_either_way_is_told_so() {
        let kernel = KernelFeatures::of(&types(&[]), "5.19.0").expect("enough");
        let refused = || kernel_error("EPERM");
        let told = kernel.without("on_unix_send", refused()).to_string();
        assert!(told.contains("no tracepoints") && told.contains("EPERM; use"), "{told}");
        assert_eq!(kernel.without("iter_final", refused()), refused());
    }

    #[test]
    fn a_kernel_that_is_too_old_is_told_what_it_lacks() {
        let few = b"\0BPF_FUNC_ringbuf_output\0BPF_FUNC_task_pt_regs\0";
        let refused = KernelFeatures::of(few, "5.10.0-46-amd64");
        let refused = refused.expect_err("it lacks much").to_string();
        assert!(refused.contains(
            "Linux 5.10.0-46-amd64 lacks what watching takes: storage of threads (since 5.11)"
        ));
        assert!(refused.contains("loops (since 5.17); use Linux 6.1 or later"), "{refused}");
        assert!(!refused.contains("ring buffer") && !refused.contains("registers"), "{refused}");
    }

    /// How a row of this kernel's version begins.
    fn row() -> (String, String) {
        let either = |has, yes: &'static str, no| if has { yes } else { no };
        let release = uname().release().to_string_lossy().into_owned();
        let version = release.split('.').take(2).collect::<Vec<_>>().join(".");
        let begin = format!("| {version} |");
        let row = match KernelFeatures::find() {
            Ok(kernel) => format!(
                "{begin} {} | {} | {} |",
                either(kernel.has_socket_tracepoints, "tracepoints", "functions"),
                either(kernel.has_multi_probes, "at once", "one by one"),
                either(kernel.finds_threads, "their numbers", "a walk"),
            ),
            Err(refused) => {
                assert!(refused.to_string().contains("lacks what watching takes"), "{refused}");
                format!("{begin} – | – | – |")
            }
        };
        (begin, row)
    }

    #[test]
    fn the_table_of_kernels_says_what_this_one_has() {
        const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tracing.md");
        let (begin, row) = row();
        let table = std::fs::read_to_string(TABLE).expect("it is there");
        let of_this = table.lines().find(|line| line.starts_with(&begin));
        // Whoever develops has any kernel; those that are booted for it are in the table.
        let is_due = std::env::var_os("DBTIME_KERNEL_IS_LISTED").is_some();
        assert!(of_this.map_or(!is_due, |line| line.starts_with(&row)), "docs/tracing.md: {row}");
    }
}
