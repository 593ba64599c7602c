//! Whether a run's figures can be trusted: looks at the record and adds what a reader must know.
//!
//! A run is client-limited when its own lateness could have made the result. That is judged on lag
//! and on the driver's CPU alone, never on queue.

use dbtime_model::Nanos;
use dbtime_model::record::{BudgetMethod, Check, RunRecord, Validity, Warning, WarningKind};

/// Lag below this cannot matter to anybody: it is what a good machine's timer does.
const LAG_FLOOR: Nanos = Nanos::from_micros(50);

/// The largest share of the response that may be the driver's lateness.
const LAG_SHARE: f64 = 0.10;

/// Busy shares of the driver above which its queueing delays the load.
const BUSY_OPEN: f64 = 0.40;
const BUSY_CLOSED: f64 = 0.80;

/// The largest share of transactions that may fail before the latencies are those of failures.
const MOSTLY_FAILED: f64 = 0.10;

/// The largest share of all response that may stay unexplained.
const BUDGET_ERROR: f64 = 0.03;

/// How far the mean of the measured transactions may be off that of all, in percent: a reader is
/// told, and beyond the second the parts are those of other transactions.
const MEAN_OFF_PCT: f64 = 3.0;
const MEAN_WRONG_PCT: f64 = 10.0;

/// Median lateness of a woken sleeper above which due instants are missed as a rule.
const TIMER: Nanos = Nanos::from_micros(100);

/// Foreign CPU and steal above which a repeat elsewhere or later would differ.
const FOREIGN_PCT: f64 = 3.0;

/// The verdict on a record that is complete but for it.
pub fn judge(record: &RunRecord) -> Validity {
    let rules: [fn(&RunRecord) -> Option<Warning>; 14] = [
        counts,
        lag,
        busy,
        budget_error,
        budget_mean,
        rate_missed,
        errors,
        foreign,
        steal,
        timer,
        mix,
        think,
        few_samples,
        ended_early,
    ];
    let mut warnings: Vec<Warning> = rules.iter().filter_map(|rule| rule(record)).collect();
    warnings.extend(record.validity.warnings.iter().cloned());
    Validity::from_warnings(warnings)
}

fn warning(kind: WarningKind, text: String, remedy: &str) -> Option<Warning> {
    Some(Warning { kind, text, remedy: remedy.to_owned() })
}

fn counts(record: &RunRecord) -> Option<Warning> {
    let c = &record.counts;
    if c.offered == c.completed + c.failed + c.dropped + c.unfinished {
        return None;
    }
    warning(
        WarningKind::Counts,
        format!(
            "the counts do not add up: offered {} is not completed {} + failed {} + dropped {} + unfinished {}",
            c.offered, c.completed, c.failed, c.dropped, c.unfinished
        ),
        "this is a bug in dbtime: please report it with the record",
    )
}

/// Like is compared with like: the median of lag with the median of the response, tail with tail.
fn lag(record: &RunRecord) -> Option<Warning> {
    let (lag, response) = (&record.latency_us.lag, &record.latency_us.response);
    let figures = [("median", lag.p50, response.p50), ("99th percentile", lag.p99, response.p99)];
    let (name, lag_us, response_us) = figures
        .into_iter()
        .find(|(_, lag, response)| *lag > LAG_FLOOR.as_micros().max(LAG_SHARE * response))?;
    let us = |us: f64| dbtime_model::units::human_ns(us * 1e3);
    warning(
        WarningKind::ClientLimited,
        format!(
            "the driver was late: the {name} of lag is {}, of the response {}",
            us(lag_us),
            us(response_us)
        ),
        "lower the rate, use fewer workers than CPUs, or give the driver a CPU that nothing else uses",
    )
}

fn busy(record: &RunRecord) -> Option<Warning> {
    let limit = if record.load.mode == "open" { BUSY_OPEN } else { BUSY_CLOSED };
    if record.client.busy <= limit {
        return None;
    }
    warning(
        WarningKind::ClientLimited,
        format!(
            "a driver thread was busy {:.0} % of the time with its own work (limit {:.0} %)",
            100.0 * record.client.busy,
            100.0 * limit
        ),
        "add --shards or --workers on free CPUs, or lower the rate",
    )
}

fn budget_error(record: &RunRecord) -> Option<Warning> {
    let error = record.budget_error.filter(|error| *error > BUDGET_ERROR)?;
    warning(
        WarningKind::BudgetError,
        format!(
            "{:.1} % of the response is unexplained (limit {:.0} %)",
            100.0 * error,
            100.0 * BUDGET_ERROR
        ),
        "look for steal, page faults or mmap reads; a quieter machine explains more",
    )
}

/// The parts are means of the measured transactions: they explain all others only as far as these
/// are like them.
fn budget_mean(record: &RunRecord) -> Option<Warning> {
    let budget = record.budget.as_ref()?;
    let off_pct = budget.mean_off_pct.filter(|pct| pct.abs() > MEAN_OFF_PCT)?;
    let kind = match off_pct.abs() > MEAN_WRONG_PCT {
        true => WarningKind::BudgetMeanWrong,
        false => WarningKind::BudgetMean,
    };
    let way = if off_pct > 0.0 { "above" } else { "below" };
    let (cause, remedy) = match budget.method {
        BudgetMethod::Probes => (
            "; its probes attract pre-emptions",
            "glibc 2.35 or later, with restartable sequences on, measures all without probes",
        ),
        _ => ("", "leave out --budget-every: all transactions are measured"),
    };
    let text = format!(
        "the mean response of the measured transactions is {:.0} % {way} that of all{cause}",
        off_pct.abs()
    );
    warning(kind, text, remedy)
}

fn rate_missed(record: &RunRecord) -> Option<Warning> {
    let (rate, window) = (record.load.rate_tps?, record.window.measure_s);
    let (c, servers) = (&record.counts, record.load.workers.unwrap_or(record.load.connections));
    // At both edges of the window as many are under way as there are servers.
    let slack = 0.02 * c.offered as f64 + f64::from(servers);
    let carried = record.throughput_tps * window;
    let is_short = c.offered as f64 - carried > slack || c.unfinished > 0;
    if !is_short || record.load.arrivals == "at-once" || window <= 0.0 {
        return None;
    }
    warning(
        WarningKind::RateMissed,
        format!(
            "{:.0} transactions a second were completed of {rate:.0} offered; {} were dropped, {} unfinished",
            record.throughput_tps, record.counts.dropped, record.counts.unfinished
        ),
        "the target does not carry this rate: responses grow for as long as the run lasts; lower it",
    )
}

fn errors(record: &RunRecord) -> Option<Warning> {
    if record.counts.failed == 0 {
        return None;
    }
    let ended = record.counts.completed + record.counts.failed;
    let failed_share = record.counts.failed as f64 / ended as f64;
    let codes: Vec<String> =
        record.errors.iter().map(|(code, n)| format!("{code} {n} times")).collect();
    if failed_share > MOSTLY_FAILED {
        return warning(
            WarningKind::MostlyFailed,
            format!(
                "{:.0} % of the transactions failed: {}",
                100.0 * failed_share,
                codes.join(", ")
            ),
            "the latencies are not those of the workload: mend the cause and repeat the run",
        );
    }
    warning(
        WarningKind::Errors,
        format!("{} transactions failed: {}", record.counts.failed, codes.join(", ")),
        "failed transactions are in the latencies; see the errors, or allow retries in the workload",
    )
}

fn foreign(record: &RunRecord) -> Option<Warning> {
    let pct = record.environment.foreign_cpu_pct;
    if pct <= FOREIGN_PCT {
        return None;
    }
    warning(
        WarningKind::ForeignCpu,
        format!("other processes used {pct:.0} % of the machine's CPU during the window"),
        "stop them, or repeat the run when the machine is quiet",
    )
}

fn steal(record: &RunRecord) -> Option<Warning> {
    let pct = record.environment.steal_pct;
    if pct <= FOREIGN_PCT {
        return None;
    }
    warning(
        WarningKind::Steal,
        format!("the hypervisor took {pct:.0} % of the machine's CPU away during the window"),
        "repeat the run on a host with fewer neighbours",
    )
}

fn timer(record: &RunRecord) -> Option<Warning> {
    let late = Nanos::from_secs_f64(record.environment.timer_late_p50_us / 1e6);
    if late <= TIMER || record.load.mode != "open" {
        return None;
    }
    warning(
        WarningKind::Timer,
        format!(
            "before the run this machine woke sleepers {late} late in the median (limit {TIMER})"
        ),
        "free a CPU; in a virtual machine look for halt polling or a coarse clock source",
    )
}

fn mix(record: &RunRecord) -> Option<Warning> {
    let text = off(record, "share")?;
    warning(
        WarningKind::Mix,
        format!("the mix is off: {text}"),
        "look which operations fail or are dropped, or run longer",
    )
}

fn think(record: &RunRecord) -> Option<Warning> {
    let text = off(record, "think")?;
    warning(
        WarningKind::Think,
        format!("think times are off: {text}"),
        "the driver wakes its clients late: use fewer of them, or free a CPU",
    )
}

/// The first operation whose check on this metric failed, in words.
fn off(record: &RunRecord, metric: &str) -> Option<String> {
    let failed = |check: &&Check| check.metric == metric && !check.passed;
    record.operations.iter().find_map(|operation| {
        let check = operation.limits.iter().find(failed)?;
        let (name, text, measured) = (&operation.name, &check.text, check.measured);
        Some(format!("{name} has {measured:.1} % where {text} is required"))
    })
}

fn few_samples(record: &RunRecord) -> Option<Warning> {
    let ended = record.counts.completed + record.counts.failed;
    if ended >= 1000 {
        return None;
    }
    if ended == 0 {
        return warning(
            WarningKind::MostlyFailed,
            "no transaction ended in the window".to_owned(),
            "run longer; if transactions hang, see what they wait for",
        );
    }
    let text = match ended {
        n if n < 100 => format!("{n} transactions ended: their 99th percentile is their maximum"),
        n => format!("{n} transactions ended: their 99.9th percentile is their maximum"),
    };
    warning(WarningKind::FewSamples, text, "run longer, or at a higher rate")
}

fn ended_early(record: &RunRecord) -> Option<Warning> {
    if !record.window.ended_early {
        return None;
    }
    warning(
        WarningKind::EndedEarly,
        format!("the run was ended after {:.1} s of its window", record.window.measure_s),
        "figures cover what was measured until then",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::BudgetInfo;

    fn kinds(record: &RunRecord) -> Vec<WarningKind> {
        judge(record).warnings.into_iter().map(|w| w.kind).collect()
    }

    fn quiet() -> RunRecord {
        let mut record = RunRecord::default();
        record.counts.offered = 5000;
        record.counts.completed = 5000;
        record.latency_us.response.p50 = 1000.0;
        record.latency_us.response.p99 = 4000.0;
        record.load.mode = "open".into();
        record.load.rate_tps = Some(500.0);
        record.throughput_tps = 500.0;
        record.window.measure_s = 10.0;
        record
    }

    #[test]
    fn a_quiet_run_is_valid() {
        assert_eq!(
            judge(&quiet()),
            Validity { valid: true, client_limited: false, warnings: vec![] }
        );
    }

    #[test]
    fn lag_is_judged_against_the_same_percentile() {
        let mut record = quiet();
        record.latency_us.lag.p99 = 390.0;
        assert_eq!(kinds(&record), []);
        record.latency_us.lag.p99 = 410.0;
        assert!(judge(&record).client_limited);
        record.latency_us.lag.p99 = 0.0;
        record.latency_us.lag.p50 = 101.0;
        assert!(judge(&record).client_limited);
    }

    #[test]
    fn queue_alone_never_makes_a_run_client_limited() {
        let mut record = quiet();
        record.latency_us.queue.p99 = 1e6;
        assert_eq!(kinds(&record), []);
    }

    #[test]
    fn parts_of_other_transactions_explain_nothing() {
        let mut record = quiet();
        let off = |mean_off_pct| BudgetInfo { mean_off_pct, ..BudgetInfo::default() };
        for (pct, kind) in [
            (2.9, None),
            (-3.1, Some(WarningKind::BudgetMean)),
            (320.0, Some(WarningKind::BudgetMeanWrong)),
        ] {
            record.budget = Some(off(Some(pct)));
            assert_eq!(kinds(&record), Vec::from_iter(kind), "{pct}");
            assert_eq!(judge(&record).valid, pct < 10.0);
        }
        record.budget = Some(off(None));
        assert_eq!(kinds(&record), []);
    }

    #[test]
    fn lost_transactions_are_noticed() {
        let mut record = quiet();
        record.counts.completed -= 1;
        assert!(kinds(&record).contains(&WarningKind::Counts));
        assert!(!judge(&record).valid);
    }
}
