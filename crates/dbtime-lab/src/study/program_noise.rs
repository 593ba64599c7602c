//! What goes on beside a run of an external program. Database servers are none of it: which of
//! them the program drives is not known, and what these take is part of its work.

use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::usage::{MachineSample, MachineUse};
use dbtime_model::process::{TICK, UsageReport};
use dbtime_observe::process::{ServerGlance, ServerWatch, all, is_server, parent_of};

/// The machine, and its database servers, when a run begins.
pub(super) struct ProgramNoise {
    machine: MachineSample,
    servers: Vec<(ServerWatch, ServerGlance)>,
}

/// What was used beside a run and by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramSurroundings {
    /// The whole machine, without this process.
    pub(super) machine: MachineUse,
    /// CPU time of the database servers that were there all the time, or came. Unit: seconds.
    servers_s: f64,
}

impl ProgramNoise {
    pub(super) fn begin() -> Self {
        let watched = |pid: u32| {
            let mut watch = ServerWatch::new(pid).ok()?;
            let first = watch.glance().ok()?;
            Some((watch, first))
        };
        let servers = roots().into_iter().filter_map(watched).collect();
        Self { machine: MachineSample::take(), servers }
    }

    pub(super) fn end(self) -> ProgramSurroundings {
        let machine = MachineSample::take().since(&self.machine);
        let known: Vec<u32> = self.servers.iter().map(|(watch, _)| watch.root().pid).collect();
        let used = |(mut watch, first): (ServerWatch, ServerGlance)| {
            Some(watch.glance().ok()?.cpu_since(&first).as_secs())
        };
        let came = |pid: u32| {
            let glance = ServerWatch::new(pid).ok()?.glance().ok()?;
            Some(glance.cpu_since(&ServerGlance::default()).as_secs())
        };
        let new = roots().into_iter().filter(|pid| !known.contains(pid)).filter_map(came);
        let servers_s = self.servers.into_iter().filter_map(used).chain(new).sum();
        ProgramSurroundings { machine, servers_s }
    }
}

impl ProgramSurroundings {
    /// CPU time of others than a program that used this, and database servers. Unit: percent of all
    /// CPUs.
    pub(super) fn foreign_cpu_pct(&self, program: &UsageReport) -> f64 {
        let reaped_s = program.rusage.map(|rusage| (rusage.user + rusage.system).as_secs());
        // What was seen has processes that still run, the kernel's sum those that nothing has seen.
        let program_s = program.used.resources.cpu.as_secs().max(reaped_s.unwrap_or_default());
        let all_s = self.machine.foreign_pct / 100.0 * self.machine.wall_s;
        let cpus = f64::from(machine_cpus());
        // The kernel counts the machine's time in ticks, and one on each CPU may be of before.
        let uncertain_s = cpus * TICK.as_secs();
        let others_s = (all_s - program_s - self.servers_s - uncertain_s).max(0.0);
        100.0 * others_s / self.machine.wall_s.max(1e-9) / cpus
    }
}

/// The database servers, each without the processes that it has started.
fn roots() -> Vec<u32> {
    let is_root = |pid: &u32| is_server(*pid) && !parent_of(*pid).is_some_and(is_server);
    all().into_iter().filter(is_root).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::Nanos;
    use dbtime_model::process::Rusage;

    #[test]
    fn what_neither_the_program_nor_servers_used_is_of_others() {
        let machine = MachineUse { wall_s: 2.0, foreign_pct: 150.0, ..MachineUse::default() };
        let beside = ProgramSurroundings { machine, servers_s: 1.0 };
        let mut program = UsageReport::default();
        program.used.resources.cpu = Nanos::from_millis(500);
        let cpus = f64::from(machine_cpus());
        let others_s = |program: &UsageReport| beside.foreign_cpu_pct(program) / 100.0 * 2.0 * cpus;
        let is_near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-9;
        let ticks_s = cpus * TICK.as_secs();
        // Of 3 s of all.
        assert!(is_near(others_s(&program), (1.5 - ticks_s).max(0.0)), "{program:?}");
        program.rusage = Some(Rusage { user: Nanos::from_secs(1), ..Rusage::default() });
        assert!(is_near(others_s(&program), (1.0 - ticks_s).max(0.0)), "{program:?}");
        program.used.resources.cpu = Nanos::from_secs(9);
        assert!(is_near(others_s(&program), 0.0), "{program:?}");
    }
}
