//! Processes that have nothing to do with the run have the CPUs: whoever waits for one is late for
//! that, before it reads a request, while it works at it, and when it takes the answer.

use super::cpu_queue::{MAX_HOLDERS, had_the_cpu, holders, other_process, stop};
use super::{driver_delay, untraced};
use crate::advice::case::AdviceCase;
use crate::advice::{AdvicePlace, AdviceRule, BudgetAdvice};
use crate::format::{percent, us};
use dbtime_model::record::{BudgetCpuHolder, CpuHolderKind};
use dbtime_model::{Part, PartSet};

pub(super) const RULE: AdviceRule = AdviceRule {
    name: "foreign_cpu",
    parts: &[
        Part::Lag,
        Part::Client,
        Part::ServerQueue,
        Part::Runq,
        Part::RunqPreempted,
        Part::RunqWoken,
        Part::ServerAndWire,
    ],
    claims: Some(claims),
    steps: advise,
};

/// Where it is not known who had the CPU, others that use less are not the reason. Unit: percent of
/// the machine's CPU time.
const MIN_UNSEEN_PCT: f64 = 20.0;

/// Who had the CPU decides where it is known of so many of the waits. Unit: percent.
const MIN_NAMED_PCT: f64 = 50.0;

/// Others that use so much are the reason of most, of whatever nothing splits too. Unit: percent of
/// the machine's CPU time.
const MIN_FULL_PCT: f64 = 50.0;

/// What may be their doing: nothing where the run itself had the CPUs.
fn claims(case: &AdviceCase<'_>) -> PartSet {
    if !is_crowded(case) {
        return PartSet::default();
    }
    let mut parts = Vec::new();
    if case.is_here() {
        parts.extend([Part::ServerQueue, Part::Runq, Part::RunqPreempted, Part::RunqWoken]);
        // What a simulated network takes is in it too, and of that more is known. What never ended
        // waits for something else than a turn on a CPU.
        if is_full(case) && !case.has_simulated_network() && !case.mostly_never_ends() {
            parts.push(Part::ServerAndWire);
        }
    }
    if !driver_delay::is_busy(case) && !driver_delay::is_limited(case) {
        parts.push(Part::Client);
        if !driver_delay::is_stopped(case) {
            parts.push(Part::Lag);
        }
    }
    PartSet::of(&parts)
}

/// Whether others had the CPUs rather than the run itself: by who had them where that is known of
/// most waits, else by what was used.
fn is_crowded(case: &AdviceCase<'_>) -> bool {
    let rows = || case.record.cpu_holders.iter().flatten();
    let share = |is_whose: &dyn Fn(&BudgetCpuHolder) -> bool| -> f64 {
        rows().filter(|row| is_whose(row)).map(|row| row.share_pct).sum()
    };
    let is_own = |row: &BudgetCpuHolder| {
        use CpuHolderKind::{Driver, Server, Tracer};
        matches!(row.kind, Driver | Tracer | Server)
    };
    // One that had ended and is named as the run's own may have been its own.
    let is_like_own = |row: &BudgetCpuHolder| {
        rows().any(|own| is_own(own) && row.thread.is_some() && own.thread == row.thread)
    };
    let theirs = share(&|row| match row.kind {
        CpuHolderKind::Other => true,
        CpuHolderKind::Ended => !is_like_own(row),
        _ => false,
    });
    let own = share(&is_own);
    if theirs + own >= MIN_NAMED_PCT {
        return theirs >= own;
    }
    let used = case.record.environment.foreign_cpu_pct;
    used >= MIN_UNSEEN_PCT && used >= case.own_cpu_pct()
}

fn is_full(case: &AdviceCase<'_>) -> bool {
    case.record.environment.foreign_cpu_pct >= MIN_FULL_PCT
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.comes_first(case, AdvicePlace::Crowded);
    let holders = holders(case);
    let other = other_process(&holders);
    advice.because(match &other {
        Some(process) => {
            format!("{process} had the CPUs that were waited for, and is not part of the run")
        }
        None => format!(
            "other processes had {} of the machine's CPU time",
            percent(case.record.environment.foreign_cpu_pct)
        ),
    });
    holders.iter().take(MAX_HOLDERS).for_each(|holder| advice.figure(had_the_cpu(holder)));
    case.foreign().into_iter().for_each(|foreign| advice.figure(foreign));
    advice.figures.extend(case.queue_behind(&advice.parts));
    advice.step(match &other {
        Some(process) => stop(case, process),
        None => {
            "stop those processes, or keep them to other CPUs: `dbtime ps 10` lists them".to_owned()
        }
    });
    undivided(case, advice);
}

/// What may have other causes too, and cannot be told apart here.
fn undivided(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let is_of = |part: &Part| advice.parts.contains(part) && case.sum(&[*part]) > 0.0;
    let parts = [Part::Lag, Part::Client, Part::ServerQueue].into_iter().filter(is_of);
    let names: Vec<_> = parts.map(Part::name).collect();
    if !names.is_empty() {
        advice.figure(format!(
            "how much of {} others caused is unknown: the machine's wake-ups count there too",
            names.join(" and ")
        ));
    }
    let stopped_us = driver_delay::stopped_us(case);
    if stopped_us > 0.0 && advice.parts.contains(&Part::Lag) {
        advice.figure(format!("{} of lag are not theirs: the driver stood still", us(stopped_us)));
    }
    if advice.parts.contains(&Part::ServerAndWire) {
        let most = "server_and_wire is not split: on such a machine most of it may be waiting for \
                    a CPU";
        if !case.is_server() {
            advice.figure(most);
            return advice.step("run it again without them");
        }
        advice.figure(format!("{most}, but it includes the server's work and other waits too"));
        match untraced::is_missing(case.record) {
            true => {
                advice.step(format!("run it again without them, and {}", untraced::HOW_TO_TRACE));
            }
            false => advice.step("run it again without them, with --trace"),
        }
    }
}
