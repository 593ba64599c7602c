//! The gate: a run counts where the machine was quiet beside it, by limits that were fixed before.

use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::usage::MachineSample;
use dbtime_model::record::{RunRecord, Warning, WarningKind};
use dbtime_model::study::{GateLimits, ProgramRecord, TrialRecord};
use std::time::{Duration, Instant};

/// How long the machine is looked at before a run.
const LOOK: Duration = Duration::from_secs(1);

/// How often is looked whether the study is to end.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// What makes a machine loud, in words; `None`: it is quiet.
fn loud(limits: &GateLimits, steal_pct: f64, foreign_cpu_pct: f64) -> Option<String> {
    let most = |what: &str, found: f64, most: f64, of: &str| {
        (found > most).then(|| format!("{what} {found:.1} % of {of}, more than {most} %"))
    };
    most("the hypervisor took", steal_pct, limits.steal_pct, "all CPUs")
        .or_else(|| most("other processes took", foreign_cpu_pct, limits.foreign_cpu_pct, "a CPU"))
}

/// Waits until nothing is loud for a second, as long as the limits allow; no time at all is no look
/// either. Returns what is loud still; `None`: nothing, or the study is to end.
pub(super) fn wait_until_quiet(
    limits: &GateLimits,
    stop: &RunStop,
    waits: &dyn Fn(&str),
) -> Option<String> {
    if limits.wait_s == 0.0 {
        return None;
    }
    let begun = Instant::now();
    loop {
        let before = MachineSample::take();
        if !sleep(LOOK, stop) {
            return None;
        }
        let used = MachineSample::take().since(&before);
        let found = loud(limits, used.steal_pct, used.foreign_pct)?;
        if begun.elapsed().as_secs_f64() >= limits.wait_s {
            return Some(found);
        }
        waits(&found);
    }
}

/// Sleeps; whether it slept to the end.
fn sleep(length: Duration, stop: &RunStop) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < length {
        if stop.is_set() {
            return false;
        }
        std::thread::sleep(STOP_INTERVAL.min(length));
    }
    true
}

/// Why a run does not count; `None`: it does.
pub(super) fn invalid(record: &TrialRecord, limits: &GateLimits) -> Option<String> {
    match record {
        TrialRecord::Run(record) => invalid_run(record, limits),
        TrialRecord::Program(record) => invalid_program(record, limits),
    }
}

/// What others take while a program waits for no CPU does not hold it up: its server may be one.
fn invalid_program(record: &ProgramRecord, limits: &GateLimits) -> Option<String> {
    let held_up_pct = record.held_up_pct(machine_cpus()).unwrap_or_default();
    loud(limits, record.steal_pct, 0.0).or_else(|| {
        let reason = loud(limits, 0.0, held_up_pct)?;
        Some(format!(
            "{reason}, while the command waited for one: stop them, or raise foreign-cpu of [gate] \
             where they work for the command"
        ))
    })
}

fn invalid_run(record: &RunRecord, limits: &GateLimits) -> Option<String> {
    let machine = &record.environment;
    if let Some(reason) = record.discount() {
        return Some(reason);
    }
    let of_one_cpu = machine.foreign_cpu_pct * f64::from(machine_cpus());
    loud(limits, machine.steal_pct, of_one_cpu).or_else(|| {
        let unsteady = |warning: &&Warning| warning.kind == WarningKind::NotSteady;
        let found = record.validity.warnings.iter().filter(|_| limits.steady).find(unsteady)?;
        Some(format!("{}; {}", found.text, found.remedy))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: GateLimits =
        GateLimits { steal_pct: 1.0, foreign_cpu_pct: 2.0, wait_s: 0.0, repeats: 0, steady: true };

    #[test]
    fn a_program_that_waited_for_what_others_had_does_not_count() {
        let beside = |foreign_cpu_pct: f64, run_delay_s: Option<f64>| {
            let foreign_cpu_pct = Some(foreign_cpu_pct / f64::from(machine_cpus()));
            let record =
                ProgramRecord { wall_s: 10.0, foreign_cpu_pct, run_delay_s, ..Default::default() };
            invalid(&TrialRecord::Program(Box::new(record)), &LIMITS)
        };
        assert_eq!(beside(50.0, Some(0.1)), None, "it hardly waited");
        assert_eq!(beside(1.0, Some(5.0)), None, "it waited for itself");
        let held_up = beside(50.0, Some(4.0)).expect("held up");
        assert!(held_up.starts_with("other processes took 40.0 % of a CPU"), "{held_up}");
        assert!(beside(50.0, None).is_some_and(|reason| reason.contains("50.0 %")));
        let earlier = TrialRecord::Program(Box::default());
        assert_eq!(invalid(&earlier, &LIMITS), None);
    }

    #[test]
    fn a_run_beside_others_does_not_count() {
        let mut record = RunRecord::default();
        record.validity.valid = true;
        assert_eq!(invalid_run(&record, &LIMITS), None);
        record.environment.steal_pct = 1.5;
        let steal = invalid_run(&record, &LIMITS).expect("loud");
        assert_eq!(steal, "the hypervisor took 1.5 % of all CPUs, more than 1 %");
        record.environment.steal_pct = 0.0;
        record.environment.foreign_cpu_pct = 30.0;
        let others = invalid_run(&record, &LIMITS).expect("loud");
        assert!(others.starts_with("other processes took"), "{others}");
        record.environment.foreign_cpu_pct = 0.0;
        let (text, remedy) = ("not steady: it rose".to_owned(), "--warmup 9s".to_owned());
        record.validity.warnings = vec![Warning { kind: WarningKind::NotSteady, text, remedy }];
        let unsteady = invalid_run(&record, &LIMITS).expect("not steady");
        assert_eq!(unsteady, "not steady: it rose; --warmup 9s");
        assert_eq!(invalid_run(&record, &GateLimits { steady: false, ..LIMITS }), None);
        record.validity.valid = false;
        assert!(invalid_run(&record, &LIMITS).expect("no").contains("does not vouch"));
    }
}
