//! How the parts of a response were measured, in sentences.

use crate::format::{count, counted, percent, signed_us, us};
use dbtime_model::Nanos;
use dbtime_model::record::{BudgetMethod, RunRecord, SamplingOrigin, TraceInfo};

/// All that a table of the parts needs beside it.
pub(crate) fn notes(record: &RunRecord) -> impl Iterator<Item = String> {
    let sentences =
        [sampling, client_runq, traced, recording, partly_measured, budget_error, measuring_cost];
    sentences.into_iter().filter_map(|sentence| sentence(record))
}

/// How much of the driver's own time it had no CPU, as far as that was traced.
fn client_runq(record: &RunRecord) -> Option<String> {
    let runq_us = record.trace.as_ref()?.client_runq_us?;
    Some(format!("of client {} without a CPU, with an answer to read", us(runq_us)))
}

/// How far the tracer's requests were matched with the statements of the load, and what it took.
fn traced(record: &RunRecord) -> Option<String> {
    let TraceInfo { join, ledger, cost, .. } = record.trace.as_ref()?;
    let all = join.matched + join.unmatched + join.ambiguous;
    let matched = join.matched_pct().map_or_else(
        || "no statement was sent".to_owned(),
        |pct| format!("{pct:.2} % of {} statements, warm-up included, were matched", count(all)),
    );
    let left_out = match join.left_out {
        0 => String::new(),
        some => format!(", {} left out", counted(some, "transaction")),
    };
    // A reader that was killed has left neither counts nor cost.
    let lost = match ledger.as_ref().map_or(0, |ledger| ledger.dropped) {
        0 => String::new(),
        some => format!(", {} lost", counted(some, "request")),
    };
    let unread = match ledger.as_ref().map_or(0, |ledger| ledger.unread_connections()) {
        0 => String::new(),
        some => format!(", {} to the server not read", counted(some, "connection")),
    };
    let took = ledger.as_ref().zip(cost.as_ref()).map(|(ledger, cost)| {
        let each = Nanos(cost.all().0 / ledger.started.max(1));
        format!("; watching took {each} of CPU a request")
    });
    Some(format!("{matched}{left_out}{lost}{unread}{}", took.unwrap_or_default()))
}

/// How far the instants of a recording are those of the driver.
fn recording(record: &RunRecord) -> Option<String> {
    let recording = record.trace.as_ref()?.recording.as_ref()?;
    Some(match recording.is_same_clock {
        true => "joined with a recording of the same host".to_owned(),
        false => format!(
            "joined with a recording of another host, whose clock is known to ±{}",
            us(recording.uncertainty_us)
        ),
    })
}

/// How many transactions the budget stands on.
pub(crate) fn sampling(record: &RunRecord) -> Option<String> {
    let info = record.budget.as_ref()?;
    let chosen = match info.chosen {
        SamplingOrigin::Auto => ", chosen automatically",
        _ => "",
    };
    let how = match info.method {
        BudgetMethod::Probes => ", by probes, which disturb them",
        BudgetMethod::Traced => ", traced in the kernel",
        BudgetMethod::Instants | BudgetMethod::Switches => "",
    };
    Some(match info.every {
        0 | 1 if info.sampled == info.of => {
            format!("parts measured on all {} transactions{how}", count(info.of))
        }
        0 | 1 => format!(
            "parts measured on {} of {} transactions{how}",
            count(info.sampled),
            count(info.of)
        ),
        every => format!(
            "parts measured on 1 of {every} transactions ({} of {}){chosen}{how}",
            count(info.sampled),
            count(info.of)
        ),
    })
}

/// The parts that were measured on some of the sampled transactions only.
fn partly_measured(record: &RunRecord) -> Option<String> {
    let parts = &record.budget.as_ref()?.partly_measured;
    let names: Vec<_> = parts.iter().map(|part| part.name()).collect();
    let names = names.join(", ");
    (!parts.is_empty())
        .then(|| format!("{names} measured on some of them only: unexplained on the others"))
}

/// How well the parts add up on single transactions.
pub(crate) fn budget_error(record: &RunRecord) -> Option<String> {
    let error = record.budget_error?;
    Some(format!("budget error {} (Σ |unexplained| / Σ response)", percent(error * 100.0)))
}

/// The mean over all transactions, where the measured ones came out otherwise.
pub(crate) fn all_mean(record: &RunRecord) -> Option<String> {
    let (measured, all) = (record.budget_us.as_ref()?.total, record.latency_us.response.mean);
    // Sampling alone explains a percent or two.
    let off_pct = Some(100.0 * (measured / all - 1.0)).filter(|pct| pct.abs() > 3.0)?;
    let all = Some(us(all)).filter(|_| measured > 0.0 && off_pct.is_finite())?;
    let way = if off_pct > 0.0 { "above" } else { "below" };
    Some(format!(
        "these are the measured ones, {} {way} the mean of all, {all}",
        percent(off_pct.abs())
    ))
}

/// What measuring the parts costs.
fn measuring_cost(record: &RunRecord) -> Option<String> {
    let cost = record.budget.as_ref()?.cost?;
    let range = format!("{} to {}", signed_us(cost.low_us), signed_us(cost.high_us));
    let pairs = counted(cost.pairs.into(), "pair");
    Some(match cost.low_us <= 0.0 {
        true => format!(
            "measuring costs too little to stand out from noise ({range} of {} in {pairs} of slices \
             with and without)",
            us(cost.without_us)
        ),
        false => format!(
            "measuring costs {} of {}, {} ({range} in {pairs} of slices with and without)",
            us(cost.us),
            us(cost.without_us),
            percent(100.0 * cost.us / cost.without_us)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::JoinCounts;
    use dbtime_model::traced_ledger::{TraceCost, TraceLedger};

    #[test]
    fn a_tracer_that_left_no_counts_has_lost_and_taken_nothing_known() {
        let join = JoinCounts { matched: 60, unmatched: 40, left_out: 20, ..JoinCounts::default() };
        let ledger = TraceLedger { started: 100, dropped: 3, tls: 2, ..TraceLedger::default() };
        let cost = TraceCost { own: Nanos::from_micros(200), ..TraceCost::default() };
        let known = TraceInfo { ledger: Some(ledger), cost: Some(cost), ..TraceInfo::default() };
        let story = |info: TraceInfo| {
            let trace = Some(TraceInfo { join, ..info });
            traced(&RunRecord { trace, ..RunRecord::default() }).expect("a sentence")
        };
        let matched = "60.00 % of 100 statements, warm-up included, were matched, \
                       20 transactions left out";
        assert_eq!(story(TraceInfo::default()), matched);
        let lost = "3 requests lost, 2 connections to the server not read";
        let whole = format!("{matched}, {lost}; watching took 2.00 µs of CPU a request");
        assert_eq!(story(known), whole);
    }
}
