//! Whose a thread is: its process, and what that descends from.

use super::files::ProcFolder;
use super::read::parent_of;

/// More ancestors than this are not looked for.
const MAX_ANCESTORS: usize = 16;

/// The process of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadOwner {
    /// Its number.
    pub pid: u32,
    /// Its name, at most 15 bytes. Source: `/proc/PID/comm`.
    pub name: String,
    /// Its parent, the parent of that, …; without the first process of the machine, which adopts
    /// orphans.
    pub ancestors: Vec<u32>,
}

impl ThreadOwner {
    /// The owner of a thread by its number; `None` where the thread has ended, or may not be seen.
    /// Cost: about 20 µs, and as much for each ancestor.
    pub fn of(tid: u32) -> Option<Self> {
        let pid = ProcFolder::of_process(tid).status()?.process;
        // The name of a thread may be its own, and in `status` it ends at a colon.
        let process = ProcFolder::of_process(pid).basics().ok()?;
        let ancestors = std::iter::successors(Some(process.parent), |child| parent_of(*child));
        let ancestors = ancestors.take_while(|pid| *pid > 1).take(MAX_ANCESTORS).collect();
        Some(Self { pid, name: process.name, ancestors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_thread_has_the_name_and_ancestors_of_its_process() {
        let named = std::thread::Builder::new().name("by itself".to_owned());
        let own = move || ThreadOwner::of(rustix::thread::gettid().as_raw_pid().cast_unsigned());
        let owner = named.spawn(own).expect("a thread").join().expect("its end").expect("there");
        assert_eq!(owner.pid, std::process::id());
        assert_ne!(owner.name, "by itself");
        assert_eq!(ThreadOwner::of(owner.pid), Some(owner));
    }

    #[test]
    fn the_name_of_a_thread_may_have_any_bytes() {
        let own = || {
            let tid = rustix::thread::gettid().as_raw_pid();
            std::fs::write(format!("/proc/self/task/{tid}/comm"), b"\xff: \xfe").expect("named");
            ThreadOwner::of(tid.cast_unsigned())
        };
        let owner = std::thread::spawn(own).join().expect("its end").expect("there");
        assert_eq!(owner.pid, std::process::id());
    }

    #[test]
    fn a_child_descends_from_this_process_until_it_has_ended() {
        let child = Command::new("sleep").arg("9").stdin(Stdio::null()).spawn();
        let mut child = child.expect("sleep");
        let owner = ThreadOwner::of(child.id()).expect("it is there");
        assert_eq!(owner.ancestors.first(), Some(&std::process::id()));
        child.kill().expect("it is there");
        child.wait().expect("it ends");
        assert_eq!(ThreadOwner::of(child.id()), None);
    }
}
