//! Watches many processes over an interval: those that are there, that come and that go.

use super::clock;
use super::error::ProcessError;
use super::find::{ProcessSelector, all, find, has_name};
use super::read::ProcReader;
use dbtime_machine::now;
use dbtime_model::process::{CpuSplit, ProcessSample, ProcessUse, ResourceUsage};
use dbtime_model::{MonoNanos, Nanos};
use std::collections::{BTreeMap, HashSet};

/// Watches all processes or chosen ones.
///
/// [`ProcessSet::look`] between the ends of an interval keeps count of those that come and go: what
/// a
/// process spends between the last look and its end is not known, and one that comes and goes
/// between two looks is not seen.
#[derive(Debug)]
pub struct ProcessSet {
    /// Names of those that are taken in when they come; `None` is everybody.
    names: Option<Vec<String>>,
    reader: ProcReader,
    entries: BTreeMap<u32, ProcessEntry>,
    /// Numbers that were looked at and are not wanted.
    others: HashSet<u32>,
    gone: Vec<ProcessUse>,
}

/// One process that is there.
#[derive(Debug)]
struct ProcessEntry {
    /// Its sample at the beginning of the interval, or when it was first seen.
    first: ProcessSample,
    /// Whether it was there at the beginning.
    stayed: bool,
    /// The last reading of its clock.
    clock: (MonoNanos, Nanos),
}

impl ProcessSet {
    /// Begins an interval: samples of those that are wanted; of all processes where nobody is.
    ///
    /// Who comes later is taken in by its name.
    /// Errors: [`ProcessError`] where something wanted is not there.
    pub fn call(selectors: &[ProcessSelector]) -> Result<Self, ProcessError> {
        let mut pids = Vec::new();
        for which in selectors {
            pids.extend(find(which)?);
        }
        let name = |which: &ProcessSelector| match which {
            ProcessSelector::Name(name) => Some(name.clone()),
            _ => None,
        };
        let names = (!selectors.is_empty()).then(|| selectors.iter().filter_map(name).collect());
        let mut reader = ProcReader::default();
        let pids = if selectors.is_empty() { all() } else { pids };
        // Who has ended since it was found was not there.
        let samples = pids.into_iter().filter_map(|pid| Some((pid, reader.sample(pid).ok()?)));
        let entries = samples.map(|(pid, sample)| (pid, ProcessEntry::new(sample, true))).collect();
        Ok(Self { names, reader, entries, others: HashSet::new(), gone: Vec::new() })
    }

    /// Whether nobody is left, and nobody can come.
    pub fn is_over(&self) -> bool {
        self.entries.is_empty() && self.names.as_ref().is_some_and(Vec::is_empty)
    }

    /// Looks who has come and who has gone, and reads every clock. Tells how long that took.
    pub fn look(&mut self) -> Nanos {
        let begun = now();
        let mut ended = Vec::new();
        for (pid, entry) in &mut self.entries {
            match clock::read(*pid) {
                Some(clock) if clock.1 >= entry.clock.1 => entry.clock = clock,
                _ => ended.push(*pid),
            }
        }
        ended.into_iter().for_each(|pid| self.end(pid));
        self.take_in();
        now() - begun
    }

    /// Ends the interval: what each process spent in it. The next one begins with the same samples.
    pub fn end_interval(&mut self) -> Vec<ProcessUse> {
        // A program that was started since may have taken another's number, or a name by exec.
        self.others.clear();
        self.take_in();
        let mut uses = Vec::with_capacity(self.entries.len());
        let pids: Vec<u32> = self.entries.keys().copied().collect();
        for pid in pids {
            let sample = self.reader.sample(pid).ok();
            let entry = self.entries.get_mut(&pid).expect("listed");
            match sample.filter(|sample| sample.id == entry.first.id) {
                Some(sample) => {
                    let earlier = entry.stayed.then_some(&entry.first);
                    uses.push(ProcessUse::between(earlier, &sample));
                    *entry = ProcessEntry::new(sample, true);
                }
                None => self.end(pid),
            }
        }
        uses.append(&mut self.gone);
        uses
    }

    /// Whether one of this name is wanted that comes later.
    pub(super) fn is_selected(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|selected| selected == name))
    }

    /// The name of a user.
    pub(super) fn user(&mut self, uid: u32) -> String {
        self.reader.user(uid)
    }

    /// Takes in who has come and is wanted.
    fn take_in(&mut self) {
        let pids: HashSet<u32> = all().into_iter().collect();
        self.others.retain(|pid| pids.contains(pid));
        for pid in pids {
            if self.entries.contains_key(&pid) || self.others.contains(&pid) {
                continue;
            }
            let is_named = |name: &String| has_name(pid, name);
            let is_selected = self.names.as_ref().is_none_or(|names| names.iter().any(is_named));
            match is_selected.then(|| self.reader.sample(pid)) {
                Some(Ok(sample)) => {
                    drop(self.entries.insert(pid, ProcessEntry::new(sample, false)))
                }
                _ => drop(self.others.insert(pid)),
            }
        }
    }

    /// Notes what is known of a process that has ended: only its clock was read since it was first
    /// seen.
    fn end(&mut self, pid: u32) {
        let Some(ProcessEntry { first, stayed, clock: (at, cpu) }) = self.entries.remove(&pid)
        else {
            return;
        };
        let (begun, before) = match stayed {
            true => (first.at, first.resources.cpu),
            false => (first.at - first.age, Nanos::ZERO),
        };
        let used = ProcessUse::between(stayed.then_some(&first), &first).ended();
        let resources = ResourceUsage { cpu: cpu - before, ..ResourceUsage::default() };
        let split = CpuSplit::of(resources.cpu, resources.ticks);
        let each_thread = Vec::new();
        self.gone.push(ProcessUse {
            resources,
            split,
            each_thread,
            wall: at - begun,
            memory: None,
            ..used
        });
    }
}

impl ProcessEntry {
    fn new(sample: ProcessSample, stayed: bool) -> Self {
        Self { clock: (sample.at, sample.resources.cpu), first: sample, stayed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::process::ProcessPresence;
    use std::process::{Child, Command};

    fn sleeper() -> Child {
        let child = Command::new("sleep").arg("60").spawn().expect("a sleeper");
        // Spawning comes back while the kernel has yet to write the new command line.
        let line = format!("/proc/{}/cmdline", child.id());
        while std::fs::read(&line).expect("it lives").is_empty() {
            std::thread::yield_now();
        }
        child
    }

    fn end(mut child: Child) {
        child.kill().expect("it lives");
        child.wait().expect("it ended");
    }

    fn find_use(uses: &[ProcessUse], child: u32) -> &ProcessUse {
        uses.iter().find(|used| used.id.pid == child).expect("it was seen")
    }

    #[test]
    fn who_stays_comes_and_goes_is_told_apart() {
        let (stays, goes) = (sleeper(), sleeper());
        let (stays_pid, goes_pid) = (stays.id(), goes.id());
        let mut roll = ProcessSet::call(&[]).expect("everybody");
        let comes = sleeper();
        let passes = sleeper();
        let (comes_pid, passes_pid) = (comes.id(), passes.id());
        roll.look();
        end(goes);
        end(passes);
        roll.look();
        let uses = roll.end_interval();
        let presence = |pid| find_use(&uses, pid).presence;
        assert_eq!(presence(stays_pid), ProcessPresence::Stayed);
        assert_eq!(presence(goes_pid), ProcessPresence::Went);
        assert_eq!(presence(comes_pid), ProcessPresence::Came);
        assert_eq!(presence(passes_pid), ProcessPresence::CameAndWent);
        assert_eq!(find_use(&uses, goes_pid).resources.switches, None, "nobody looked");
        // The next interval begins where this one ended.
        let uses = roll.end_interval();
        assert_eq!(find_use(&uses, comes_pid).presence, ProcessPresence::Stayed);
        assert!(uses.iter().all(|used| used.id.pid != goes_pid));
        end(stays);
        end(comes);
    }

    #[test]
    fn chosen_ones_are_watched_alone_and_by_name_when_they_come() {
        let (a, b) = (sleeper(), sleeper());
        let mut roll = ProcessSet::call(&[ProcessSelector::Pid(a.id())]).expect("it lives");
        roll.look();
        let uses = roll.end_interval();
        assert_eq!(uses.len(), 1, "{uses:?}");
        assert_eq!(uses[0].command, "sleep 60");
        let mut roll =
            ProcessSet::call(&[ProcessSelector::Name("sleep".to_owned())]).expect("two of them");
        let c = sleeper();
        let uses = roll.end_interval();
        assert_eq!(find_use(&uses, c.id()).presence, ProcessPresence::Came);
        [a, b, c].into_iter().for_each(end);
        let absent = [ProcessSelector::Pid(4_194_305)];
        assert!(ProcessSet::call(&absent).is_err());
    }
}
