//! The gate: a run counts where no flaw of it can have changed the metric of the verdict, and where
//! the machine was quiet beside it, by limits that were fixed before.

use dbtime_engines::drive::plan::RunStop;
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::usage::MachineSample;
use dbtime_model::record::{PrimaryMetric, RunRecord, Warning, WarningKind};
use dbtime_model::study::{GateLimits, NoiseRule, ProgramRecord, StudyPlan, TrialRecord};
use dbtime_observe::process::{BusyProcess, BusyWatch};
use std::time::{Duration, Instant};

/// How long the machine is looked at before a run.
const LOOK: Duration = Duration::from_secs(1);

/// How often is looked whether the study is to end.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// How long it is looked at before anything is made.
const FIRST_LOOK: Duration = Duration::from_secs(2);

/// Processes that are named of a loud machine.
const MOST_NAMED: usize = 3;

/// A limit that lets through what was found has so much room above that.
const LIMIT_ROOM: f64 = 1.25;

/// What the gate finds of a machine on which dbtime does nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct GateReading {
    /// CPU that the hypervisor took. Unit: percent of all CPUs.
    pub steal_pct: f64,
    /// CPU of other processes. Unit: percent of one CPU.
    pub foreign_cpu_pct: f64,
    /// Those of them that took most, the busiest first.
    pub busiest: Vec<BusyProcess>,
}

impl GateReading {
    /// Looks at the machine for two seconds; `None`: `stop` was set meanwhile.
    pub fn take(stop: &RunStop) -> Option<Self> {
        let (before, processes) = (MachineSample::take(), BusyWatch::begin());
        if !sleep(FIRST_LOOK, stop) {
            return None;
        }
        let used = MachineSample::take().since(&before);
        let busiest = processes.busiest(MOST_NAMED);
        Some(Self { steal_pct: used.steal_pct, foreign_cpu_pct: used.foreign_pct, busiest })
    }

    /// Why no run beside that counts, in words; `None`: it does.
    pub fn loud(&self, limits: &GateLimits) -> Option<String> {
        loud(limits, self.steal_pct, self.foreign_cpu_pct)
    }

    /// The words of `--allow` by which runs beside that count; empty where they do anyway.
    pub fn allowance(&self, limits: &GateLimits) -> String {
        let word = |name: &str, found: f64, most: f64| {
            (found > most).then(|| format!("{name}={:.0}%", (found * LIMIT_ROOM).ceil()))
        };
        let words = [
            word("steal", self.steal_pct, limits.steal_pct),
            word("foreign-cpu", self.foreign_cpu_pct, limits.foreign_cpu_pct),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

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

/// Why a run does not count in this plan; `None`: it does. Where noise counts, its own flaws alone
/// matter.
pub(super) fn invalid(record: &TrialRecord, plan: &StudyPlan) -> Option<String> {
    match (record, plan.gate.noise) {
        (TrialRecord::Run(record), NoiseRule::Count) => {
            beside_noise(record, plan.primary_metric(), &plan.gate)
        }
        (TrialRecord::Program(_), NoiseRule::Count) => None,
        (TrialRecord::Run(record), NoiseRule::Stop) => {
            invalid_run(record, plan.primary_metric(), &plan.gate)
        }
        (TrialRecord::Program(record), NoiseRule::Stop) => invalid_program(record, &plan.gate),
    }
}

/// The same of a run that may be noisy: where the machine is loud, that made the driver late, too.
/// A driver that stood still for long was stopped, and by nothing that both sides share.
fn beside_noise(record: &RunRecord, primary: PrimaryMetric, limits: &GateLimits) -> Option<String> {
    let machine = &record.environment;
    let of_one_cpu = machine.foreign_cpu_pct * f64::from(machine_cpus());
    let stood_still = |warning: &Warning| warning.kind == WarningKind::StandstillWrong;
    match loud(limits, machine.steal_pct, of_one_cpu) {
        Some(_) if !record.validity.warnings.iter().any(stood_still) => record.discount_for_all(),
        _ => record.discount_for(primary),
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

fn invalid_run(record: &RunRecord, primary: PrimaryMetric, limits: &GateLimits) -> Option<String> {
    let machine = &record.environment;
    if let Some(reason) = record.discount_for(primary) {
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
    use dbtime_model::MonoNanos;
    use dbtime_model::record::{SpanInfo, Validity};

    const LIMITS: GateLimits = GateLimits {
        steal_pct: 1.0,
        foreign_cpu_pct: 2.0,
        wait_s: 0.0,
        repeats: 0,
        steady: true,
        noise: NoiseRule::Stop,
    };

    #[test]
    fn a_wish_to_end_ends_the_first_look() {
        let stop = RunStop::default();
        stop.at(MonoNanos(0));
        assert_eq!(GateReading::take(&stop), None);
    }

    #[test]
    fn a_loud_machine_is_told_with_the_limits_that_would_let_it_pass() {
        let busiest = Vec::new();
        let quiet = GateReading { steal_pct: 0.5, foreign_cpu_pct: 2.0, busiest };
        assert_eq!((quiet.loud(&LIMITS), quiet.allowance(&LIMITS).as_str()), (None, ""));
        let loud = GateReading { steal_pct: 3.0, foreign_cpu_pct: 85.0, ..quiet };
        assert_eq!(loud.allowance(&LIMITS), "steal=4% foreign-cpu=107%");
        let passing = GateLimits { steal_pct: 4.0, foreign_cpu_pct: 107.0, ..LIMITS };
        assert!(loud.loud(&LIMITS).is_some() && loud.loud(&passing).is_none());
    }

    #[test]
    fn a_program_that_waited_for_what_others_had_does_not_count() {
        let beside = |foreign_cpu_pct: f64, run_delay_s: Option<f64>| {
            let foreign_cpu_pct = Some(foreign_cpu_pct / f64::from(machine_cpus()));
            let record =
                ProgramRecord { wall_s: 10.0, foreign_cpu_pct, run_delay_s, ..Default::default() };
            invalid_program(&record, &LIMITS)
        };
        assert_eq!(beside(50.0, Some(0.1)), None, "it hardly waited");
        assert_eq!(beside(1.0, Some(5.0)), None, "it waited for itself");
        let held_up = beside(50.0, Some(4.0)).expect("held up");
        assert!(held_up.starts_with("other processes took 40.0 % of a CPU"), "{held_up}");
        assert!(beside(50.0, None).is_some_and(|reason| reason.contains("50.0 %")));
        assert_eq!(invalid_program(&ProgramRecord::default(), &LIMITS), None, "an earlier one");
    }

    #[test]
    fn a_run_beside_others_does_not_count() {
        let out = |record: &RunRecord, limits: &GateLimits| {
            invalid_run(record, PrimaryMetric::usual(true), limits)
        };
        let mut record = RunRecord::default();
        record.validity.valid = true;
        assert_eq!(out(&record, &LIMITS), None);
        record.environment.steal_pct = 1.5;
        let steal = out(&record, &LIMITS).expect("loud");
        assert_eq!(steal, "the hypervisor took 1.5 % of all CPUs, more than 1 %");
        record.environment.steal_pct = 0.0;
        record.environment.foreign_cpu_pct = 30.0;
        let others = out(&record, &LIMITS).expect("loud");
        assert!(others.starts_with("other processes took"), "{others}");
        record.environment.foreign_cpu_pct = 0.0;
        let (text, remedy) = ("not steady: it rose".to_owned(), "--warmup 9s".to_owned());
        record.validity.warnings = vec![Warning { kind: WarningKind::NotSteady, text, remedy }];
        let unsteady = out(&record, &LIMITS).expect("not steady");
        assert_eq!(unsteady, "not steady: it rose; --warmup 9s");
        assert_eq!(out(&record, &GateLimits { steady: false, ..LIMITS }), None);
        record.validity.valid = false;
        assert!(out(&record, &LIMITS).expect("no").contains("does not vouch"));
    }

    /// Others make a driver late, and do not stop it for half of the window.
    #[test]
    fn noise_excuses_a_late_driver_and_not_a_stopped_one() {
        let beside = |kind: WarningKind, foreign_cpu_pct: f64| {
            let warning = Warning { kind, text: "seen".to_owned(), ..Warning::default() };
            let validity = Validity::from_warnings(vec![warning]);
            let mut record = RunRecord { validity, ..RunRecord::default() };
            record.environment.foreign_cpu_pct = foreign_cpu_pct;
            record.window.measure_s = 10.0;
            if kind == WarningKind::StandstillWrong {
                record.client.standstills = vec![SpanInfo { from_s: 1.0, until_s: 6.0 }];
            }
            beside_noise(&record, PrimaryMetric::usual(true), &LIMITS)
        };
        assert_eq!(beside(WarningKind::ClientLimited, 90.0), None);
        assert!(beside(WarningKind::ClientLimited, 0.0).is_some(), "nothing else made it late");
        let stopped = beside(WarningKind::StandstillWrong, 90.0).expect("it was stopped");
        assert!(stopped.starts_with("not counted for throughput: "), "{stopped}");
    }

    /// The parts are in no verdict, and the driver's pace is in that on the throughput.
    #[test]
    fn a_run_counts_by_the_metric_of_the_verdict() {
        let of = |kind: WarningKind, metric: &str| {
            let warning = Warning { kind, text: "seen".to_owned(), ..Warning::default() };
            let validity = Validity::from_warnings(vec![warning]);
            let record = RunRecord { validity, ..RunRecord::default() };
            invalid_run(&record, PrimaryMetric::named(metric).expect(metric), &LIMITS)
        };
        assert_eq!(of(WarningKind::BudgetError, "throughput"), None);
        assert_eq!(of(WarningKind::ClientLimited, "server-cpu"), None);
        let out = of(WarningKind::ClientLimited, "throughput");
        assert_eq!(out.as_deref(), Some("not counted for throughput: seen"));
    }
}
