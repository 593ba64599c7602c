//! The kernel's programs of `dbtime-observe`, compiled for this machine, on a simulated kernel: a
//! clock that stands until it is set, CPUs with threads, a server's memory and its sockets.
//!
//! For tests alone: what eBPF programs do with any bytes, and with any order of events, is tried
//! here without eBPF, root and a server. Whether a kernel takes them is none of this crate's
//! business: `crates/dbtime/tests/it/trace/` finds that out.

mod capture;
mod ffi;
mod machine;
mod scheduler;

pub use capture::{CaptureDetail, CapturePrograms, READ_AT, SENT_AT};
pub use ffi::TaskFacts;
pub use machine::{CPUS, HostMachine, HostSocket, HostTask, KernelAge};
pub use scheduler::SchedulerPrograms;
