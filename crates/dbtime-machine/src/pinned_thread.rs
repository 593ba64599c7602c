//! Keeping a thread to some CPUs.

use crate::CpuList;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::marker::PhantomData;

/// Keeps the calling thread, and the threads and processes it starts, to some CPUs until it is
/// dropped. What was started meanwhile stays there.
#[derive(Debug)]
pub struct PinnedThread {
    usual: CpuSet,
    /// It belongs to the thread that made it.
    thread: PhantomData<*const ()>,
}

impl PinnedThread {
    /// Pins the calling thread.
    ///
    /// Errors: sched_setaffinity(2), such as none of the CPUs being allowed here.
    pub fn new(cpus: &CpuList) -> io::Result<Self> {
        let usual = sched_getaffinity(None)?;
        let mut set = CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(cpu as usize));
        sched_setaffinity(None, &set)?;
        Ok(Self { usual, thread: PhantomData })
    }
}

impl Drop for PinnedThread {
    fn drop(&mut self) {
        // Only CPUs that were taken from the control group meanwhile are refused.
        let _ = sched_setaffinity(None, &self.usual);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pinned_thread_starts_is_pinned() {
        let cpus: CpuList = "0".parse().expect("a list");
        let pinned = cpus.clone();
        let status = std::thread::spawn(move || {
            let _pinned = PinnedThread::new(&pinned).expect("CPU 0 is ours");
            let output = std::process::Command::new("cat").arg("/proc/self/status").output();
            String::from_utf8(output.expect("cat runs").stdout).expect("text")
        });
        let status = status.join().expect("no panic");
        assert!(status.contains("Cpus_allowed_list:\t0\n"), "{status}");
    }

    #[test]
    fn a_thread_gets_its_cpus_back() {
        let usual = sched_getaffinity(None).expect("its CPUs");
        let pinned = PinnedThread::new(&"0".parse().expect("a list")).expect("CPU 0 is ours");
        assert_eq!(sched_getaffinity(None).expect("one CPU").count(), 1);
        drop(pinned);
        assert_eq!(sched_getaffinity(None).expect("its CPUs"), usual);
    }
}
