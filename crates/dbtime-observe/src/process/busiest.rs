//! Which processes of the machine take CPU time: all of them between two readings of their clocks.

use super::clock::cpu_time;
use super::find::all;
use super::thread_owner::ThreadOwner;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use std::collections::HashMap;

/// Less than this is nothing to name. Unit: percent of one CPU.
const LEAST_PCT: f64 = 1.0;

/// A process that took CPU time.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyProcess {
    /// Its number.
    pub pid: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// CPU time. Unit: percent of one CPU.
    pub cpu_pct: f64,
}

/// A reading of the CPU clocks of all processes.
#[derive(Clone, Debug)]
pub struct BusyWatch {
    at: MonoNanos,
    clocks: HashMap<u32, Nanos>,
}

impl BusyWatch {
    /// Reads the clocks of all processes but this one. Cost: about 1 µs for each.
    pub fn begin() -> Self {
        let own = std::process::id();
        let others = all().into_iter().filter(|pid| *pid != own);
        let clocks = others.filter_map(|pid| Some((pid, cpu_time(pid)?))).collect();
        Self { at: now(), clocks }
    }

    /// Those that took the most CPU time since, at most so many, the busiest first. Processes that
    /// began since, or have ended, are not among them.
    pub fn busiest(&self, most: usize) -> Vec<BusyProcess> {
        let later = Self::begin();
        let wall_s = (later.at - self.at).as_secs().max(1e-9);
        let share = |(pid, cpu): (&u32, &Nanos)| {
            // A number that was dealt anew has a clock that began anew.
            let used_s = cpu.as_secs() - self.clocks.get(pid)?.as_secs();
            Some((*pid, 100.0 * used_s / wall_s))
        };
        let mut shares: Vec<(u32, f64)> = later.clocks.iter().filter_map(share).collect();
        shares.retain(|(_, cpu_pct)| *cpu_pct >= LEAST_PCT);
        shares.sort_by(|one, other| other.1.total_cmp(&one.1));
        let named = |(pid, cpu_pct): (u32, f64)| {
            Some(BusyProcess { pid, name: ThreadOwner::of(pid)?.name, cpu_pct })
        };
        shares.into_iter().filter_map(named).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn a_process_that_computes_is_among_the_busiest() {
        let mut child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .stdin(Stdio::null())
            .spawn()
            .expect("sh");
        let watch = BusyWatch::begin();
        std::thread::sleep(Duration::from_millis(300));
        let busiest = watch.busiest(usize::MAX);
        child.kill().expect("it is there");
        child.wait().expect("it ends");
        assert!(busiest.is_sorted_by(|one, other| one.cpu_pct >= other.cpu_pct), "{busiest:?}");
        assert!(busiest.iter().all(|one| one.pid != std::process::id()), "{busiest:?}");
        let found = busiest.iter().find(|one| one.pid == child.id());
        assert!(found.is_some_and(|one| one.cpu_pct >= LEAST_PCT), "{busiest:?}");
        assert!(watch.busiest(0).is_empty());
    }
}
