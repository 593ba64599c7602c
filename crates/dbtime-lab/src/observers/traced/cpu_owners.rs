//! Whose the threads are that had the CPU while requests could have run.

use dbtime_model::record::CpuHolderKind;
use dbtime_model::traced::{Preemptor, TracedRequest};
use dbtime_observe::process::ThreadOwner;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// More threads than this are not looked up: a server with a process for each connection has as
/// many as there were connections.
const MAX_THREADS: usize = 20_000;

/// Names of the processes that watch.
const TRACER_NAMES: [&str; 2] = ["dbtime-helper", "dbtime-reader"];

/// Whose a thread is. Those of one name are counted together, whichever process of its name each
/// is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CpuOwner {
    pub(super) kind: CpuHolderKind,
    pub(super) process: Option<Arc<str>>,
    pub(super) pid: Option<u32>,
    pub(super) thread: Arc<str>,
}

/// The threads that were looked up. A number may come again with another thread: one of another
/// name is looked up anew.
pub(super) struct CpuOwners {
    own: u32,
    server: u32,
    /// Whether threads are those of this machine, at present.
    is_live: bool,
    known: FxHashMap<u32, CpuOwner>,
    /// Threads that served a request: a server with a process for each connection has its own that
    /// have ended.
    served: FxHashSet<u32>,
}

impl CpuOwners {
    /// Of a run of this process against the server of that number.
    pub(super) fn new(server: u32) -> Self {
        let (own, known) = (std::process::id(), FxHashMap::default());
        Self { own, server, is_live: true, known, served: FxHashSet::default() }
    }

    /// Of a recording: the server's are those that were seen to serve a request, and whose the
    /// others were nobody can look up any more.
    pub(super) fn recorded() -> Self {
        Self { is_live: false, ..Self::new(0) }
    }

    /// Looks up whose the threads are that a request waited for, as far as they are new. To be
    /// called soon: threads end.
    pub(super) fn request(&mut self, request: &TracedRequest) {
        request.preemptors.iter().for_each(|preemptor| self.note(preemptor));
        self.serves(request.thread);
    }

    /// A thread served a request.
    fn serves(&mut self, thread: u32) {
        // Of those that served before, `note` knows it.
        let may_be_new = self.served.len() >= MAX_THREADS || self.served.insert(thread);
        let ended = |owner: &&mut CpuOwner| owner.kind == CpuHolderKind::Ended;
        if may_be_new && let Some(owner) = self.known.get_mut(&thread).filter(ended) {
            owner.kind = CpuHolderKind::Server;
        }
    }

    pub(super) fn note(&mut self, preemptor: &Preemptor) {
        let is_known = match self.known.get(&preemptor.thread) {
            Some(owner) => *owner.thread == *preemptor.name,
            None => self.known.len() >= MAX_THREADS,
        };
        if !is_known {
            let owner = self.is_live.then(|| ThreadOwner::of(preemptor.thread)).flatten();
            let mut owner = self.owner(owner.as_ref(), &preemptor.name);
            if owner.kind == CpuHolderKind::Ended && self.served.contains(&preemptor.thread) {
                owner.kind = CpuHolderKind::Server;
            }
            self.known.insert(preemptor.thread, owner);
        }
    }

    /// Whose a thread is. One that has ended before it was looked up, whose number another has by
    /// now, or for which there was no room, has its name alone.
    pub(super) fn of(&self, preemptor: &Preemptor) -> CpuOwner {
        let known = self.known.get(&preemptor.thread);
        let known = known.filter(|owner| *owner.thread == *preemptor.name);
        known.cloned().unwrap_or_else(|| self.owner(None, &preemptor.name))
    }

    fn owner(&self, owner: Option<&ThreadOwner>, thread: &str) -> CpuOwner {
        let kind = owner.map_or(CpuHolderKind::Ended, |owner| self.kind(owner));
        let process = owner.map(|owner| Arc::from(owner.name.as_str()));
        let pid = owner.map(|owner| owner.pid);
        CpuOwner { kind, process, pid, thread: Arc::from(thread) }
    }

    fn kind(&self, owner: &ThreadOwner) -> CpuHolderKind {
        let descends_from = |pid: u32| owner.pid == pid || owner.ancestors.contains(&pid);
        let is_tracer = || TRACER_NAMES.contains(&owner.name.as_str());
        match () {
            () if owner.pid == self.own => CpuHolderKind::Driver,
            // A private server descends from this process.
            () if descends_from(self.server) => CpuHolderKind::Server,
            () if descends_from(self.own) && is_tracer() => CpuHolderKind::Tracer,
            () => CpuHolderKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::Nanos;

    fn preemptor(thread: u32, name: &str) -> Preemptor {
        Preemptor { thread, name: name.to_owned(), length: Nanos(1) }
    }

    #[test]
    fn processes_are_told_apart_by_descent() {
        let owners = CpuOwners { own: 10, ..CpuOwners::new(20) };
        let kind = |pid, name: &str, ancestors: &[u32]| {
            owners.kind(&ThreadOwner { pid, name: name.to_owned(), ancestors: ancestors.to_vec() })
        };
        assert_eq!(kind(10, "dbtime", &[5]), CpuHolderKind::Driver);
        assert_eq!(kind(20, "postgres", &[10, 5]), CpuHolderKind::Server);
        assert_eq!(kind(21, "postgres", &[20, 10, 5]), CpuHolderKind::Server);
        assert_eq!(kind(11, "dbtime-reader", &[12, 10]), CpuHolderKind::Tracer);
        assert_eq!(kind(11, "dbtime-reader", &[7]), CpuHolderKind::Other);
        assert_eq!(kind(30, "busy", &[5]), CpuHolderKind::Other);
    }

    #[test]
    fn of_a_recording_threads_that_served_are_the_servers() {
        let own = std::process::id();
        let mut owners = CpuOwners::recorded();
        let kind = |owners: &CpuOwners| owners.of(&preemptor(own, "one")).kind;
        owners.note(&preemptor(own, "one"));
        assert_eq!(kind(&owners), CpuHolderKind::Ended, "nobody is looked up");
        owners.serves(own);
        assert_eq!(kind(&owners), CpuHolderKind::Server);
    }

    /// Each of them is gone before anybody looks.
    #[test]
    fn a_connection_for_each_transaction_leaves_threads_that_were_the_servers() {
        let (first, second, other) = (u32::MAX / 2, u32::MAX / 2 + 1, u32::MAX / 2 + 2);
        let mut owners = CpuOwners::new(1);
        owners.serves(first);
        for thread in [first, second, other] {
            owners.note(&preemptor(thread, "postgres"));
        }
        owners.serves(second);
        let kinds = [first, second, other].map(|thread| owners.of(&preemptor(thread, "postgres")));
        let (server, ended) = (CpuHolderKind::Server, CpuHolderKind::Ended);
        assert_eq!(kinds.map(|owner| owner.kind), [server, server, ended]);
    }

    #[test]
    fn a_thread_of_another_name_is_looked_up_anew() {
        let own = std::process::id();
        let mut owners = CpuOwners::new(1);
        for name in ["one", "two"] {
            owners.note(&preemptor(own, name));
            let owner = owners.of(&preemptor(own, name));
            assert_eq!((owner.kind, &*owner.thread), (CpuHolderKind::Driver, name));
            assert!(owner.process.is_some());
        }
        owners.note(&preemptor(u32::MAX / 2, "gone"));
        let gone = owners.of(&preemptor(u32::MAX / 2, "gone"));
        assert_eq!((gone.kind, &gone.process), (CpuHolderKind::Ended, &None));
        // Its number is another's by now.
        let before = owners.of(&preemptor(own, "one"));
        assert_eq!((before.kind, &*before.thread), (CpuHolderKind::Ended, "one"));
    }
}
