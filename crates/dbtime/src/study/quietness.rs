//! What the gate of a study finds of the machine before anything is run, and what would let runs
//! beside it count.

use dbtime_lab::study::GateReading;
use dbtime_model::study::GateLimits;
use dbtime_observe::process::BusyProcess;

/// Why runs do not count while the machine is as it is read here, who makes it so, and what to do;
/// `None`: they count.
pub(crate) fn loud_machine(found: &GateReading, limits: &GateLimits) -> Option<String> {
    let loud = found.loud(limits)?;
    let process =
        |one: &BusyProcess| format!("{} (process {}) {:.0} %", one.name, one.pid, one.cpu_pct);
    let busiest = found.busiest.iter().map(process).collect::<Vec<_>>();
    let busiest = match busiest.is_empty() {
        true => String::new(),
        false => format!(" (of a CPU: {})", busiest.join(", ")),
    };
    Some(format!(
        "this machine is not quiet, and runs beside that do not count: {loud}{busiest}; end what \
         is loud, or let it pass with --allow '{}'",
        found.allowance(limits)
    ))
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
        };
        let busiest = vec![BusyProcess { pid: 7, name: "stress".to_owned(), cpu_pct: 80.4 }];
        let mut found = GateReading { steal_pct: 0.0, foreign_cpu_pct: 84.0, busiest };
        let told = loud_machine(&found, &limits).expect("it is loud");
        for part in [
            "other processes took 84.0 % of a CPU, more than 10 %",
            "(of a CPU: stress (process 7) 80 %)",
            "--allow 'foreign-cpu=105%'",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        found.foreign_cpu_pct = 9.0;
        assert_eq!(loud_machine(&found, &limits), None);
    }
}
