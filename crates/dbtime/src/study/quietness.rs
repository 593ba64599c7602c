//! What the gate of a study finds of the machine before anything is run, and what would let runs
//! beside it count.

use dbtime_lab::study::GateReading;
use dbtime_model::study::{GateLimits, NoiseRule};
use dbtime_observe::process::BusyProcess;

/// So many processes leave a note within two lines of a terminal.
const MOST_NAMED: usize = 2;

/// What is loud on the machine as it is read here, who makes it so, what becomes of runs beside it,
/// and what to do; `None`: it is quiet.
pub(crate) fn loud_machine(found: &GateReading, limits: &GateLimits) -> Option<String> {
    let loud = found.loud(limits)?;
    let process =
        |one: &BusyProcess| format!("{} (process {}) {:.0} %", one.name, one.pid, one.cpu_pct);
    let busiest = found.busiest.iter().take(MOST_NAMED).map(process).collect::<Vec<_>>();
    let is_of_others = found.foreign_cpu_pct > limits.foreign_cpu_pct;
    let busiest = match busiest.is_empty() {
        // Short ones, and those that have ended, have no share of their own.
        true if is_of_others => {
            format!(" (no single process; together {:.0} % of a CPU)", found.foreign_cpu_pct)
        }
        true => String::new(),
        false => format!(" (of a CPU: {})", busiest.join(", ")),
    };
    let allowance = found.allowance(limits);
    Some(match limits.noise {
        NoiseRule::Count => {
            format!("this machine is not quiet: {loud}{busiest}; that widens the interval")
        }
        NoiseRule::Stop => format!(
            "no run will count: {loud}{busiest}; end what is loud, or give --allow '{allowance}'"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loud_machine_is_told_with_its_processes_and_the_limit_that_lets_it_pass() {
        let limits = GateLimits {
            steal_pct: 1.0,
            foreign_cpu_pct: 10.0,
            wait_s: 0.0,
            repeats: 0,
            steady: true,
            noise: Default::default(),
        };
        let busiest = vec![BusyProcess { pid: 7, name: "stress".to_owned(), cpu_pct: 80.4 }];
        let mut found = GateReading { steal_pct: 0.0, foreign_cpu_pct: 84.0, busiest };
        let told = loud_machine(&found, &limits).expect("it is loud");
        assert!(told.chars().count() < 190, "{told}");
        for part in [
            "other processes took 84.0 % of a CPU, more than 10 %",
            "(of a CPU: stress (process 7) 80 %)",
            "--allow 'foreign-cpu=105%'",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        found.busiest.clear();
        let told = loud_machine(&found, &limits).expect("it is loud");
        assert!(told.contains("10 % (no single process; together 84 % of a CPU); end"), "{told}");
        // Of what the hypervisor took no process is to be named.
        (found.steal_pct, found.foreign_cpu_pct) = (5.0, 9.0);
        let told = loud_machine(&found, &limits).expect("it is loud");
        assert!(told.contains("all CPUs, more than 1 %; end what is loud"), "{told}");
        found.steal_pct = 0.0;
        assert_eq!(loud_machine(&found, &limits), None);
    }
}
