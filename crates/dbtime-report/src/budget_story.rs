//! How the parts of a response were measured, in sentences.

use crate::cost_story::{measuring_cost, throughput_cost};
use crate::format::{count, counted, percent, us};
use crate::means::PartMeans;
use crate::tail::tail;
use dbtime_model::record::{BudgetMethod, RunRecord, SamplingOrigin, SessionsBefore, TraceInfo};
use dbtime_model::{Nanos, Part};

/// Parts that overlap by less than this are not worth a sentence. Unit: percent of the response.
const MIN_TWICE_PCT: f64 = 0.5;

/// All that a table of the parts needs beside it.
pub(crate) fn notes(record: &RunRecord) -> impl Iterator<Item = String> {
    let sentences = [
        sampling,
        client_runq,
        traced,
        sessions_before,
        recording,
        partly_measured,
        budget_error,
        counted_twice,
        wire_below_zero,
        standstill_waits,
        measuring_cost,
        throughput_cost,
    ];
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

/// What others were at before the tracer looked: of that it has no names.
fn sessions_before(record: &RunRecord) -> Option<String> {
    let SessionsBefore { at_work, in_transaction, clients_at_most, clients_unknown } =
        record.trace.as_ref()?.before?;
    // With a pool of threads, the driver's are among the last.
    let kinds = [
        (at_work, "", " at work"),
        (in_transaction, "", " idle in a transaction"),
        (clients_at_most, "up to ", " at work"),
        (clients_unknown, "up to ", " doing something unknown"),
    ];
    let present = kinds.into_iter().filter(|(sessions, ..)| *sessions > 0);
    let present: Vec<String> =
        present.map(|(sessions, most, what)| format!("{most}{}{what}", count(sessions))).collect();
    (!present.is_empty()).then(|| {
        format!(
            "sessions of others from before the tracer looked: {}; their work and their locks have \
             no name until their next request",
            present.join(", ")
        )
    })
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
        // What was traced has the parts of no transaction: these are another's.
        _ if record.trace.is_some() => ", by the driver alone: none is of the trace",
        BudgetMethod::Instants | BudgetMethod::Switches => "",
    };
    Some(match info.every {
        0 | 1 if info.sampled == info.of => {
            let all = if info.of == 1 { "" } else { "all " };
            format!("parts measured on {all}{}{how}", counted(info.of, "transaction"))
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
    // However little it is: the mean of unexplained stands beside it, and has it too.
    let without = twice_us(record).map_or(String::new(), |twice| {
        format!(", without what is known to count twice, {} of a transaction", us(twice))
    });
    let error = percent(error * 100.0);
    Some(format!("budget error {error} (Σ |unexplained| / Σ response{without})"))
}

/// The mean over all transactions, where the measured ones came out otherwise.
pub(crate) fn all_mean(record: &RunRecord) -> Option<String> {
    let (measured, all) = (record.budget_us.as_ref()?.total, record.budgeted_mean_us()?);
    // Sampling alone explains a percent or two.
    let off_pct = Some(100.0 * (measured / all - 1.0)).filter(|pct| pct.abs() > 3.0)?;
    let all = Some(us(all)).filter(|_| measured > 0.0 && off_pct.is_finite())?;
    let way = if off_pct > 0.0 { "above" } else { "below" };
    let whose = if record.counts.outstanding > 0 { "all but the outstanding" } else { "all" };
    Some(format!(
        "these are the measured ones, {} {way} the mean of {whose}, {all}",
        percent(off_pct.abs())
    ))
}

/// What of a transaction is known to be in two parts at once. Unit: microseconds.
fn twice_us(record: &RunRecord) -> Option<f64> {
    record.budget.as_ref()?.twice_us.filter(|twice| *twice > 0.0)
}

/// The same where that is worth a sentence.
fn large_twice_us(record: &RunRecord) -> Option<f64> {
    let total = record.budget_us.as_ref()?.total;
    twice_us(record).filter(|twice| 100.0 * twice >= MIN_TWICE_PCT * total)
}

/// That wire is no measured length where it is below zero: its ends are of two sides.
fn wire_below_zero(record: &RunRecord) -> Option<String> {
    let wire_us = record.budget_us.as_ref()?.get(Part::Wire).filter(|wire_us| *wire_us < 0.0)?;
    Some(format!(
        "wire is below zero: it goes from the server's instants to the driver's, and the driver \
         had answers before the server's calls that sent them were over, {} of a transaction, \
         which are in the server's parts",
        us(-wire_us)
    ))
}

/// What counts twice by a driver without a CPU, or what it means that the remainder is less than
/// nothing, in the mean or in the slowest.
fn counted_twice(record: &RunRecord) -> Option<String> {
    large_twice_us(record).map(known_twice).or_else(|| below_zero(record))
}

/// What of the waits for a server may have been waits for a driver that was stopped.
fn standstill_waits(record: &RunRecord) -> Option<String> {
    let info = record.budget.as_ref()?;
    let all_s = record.client.standstill_waits_s.filter(|all_s| *all_s > 0.0)?;
    let part = match info.method {
        BudgetMethod::Traced => "client, and of wire where the arrival of answers was not seen,",
        _ => "server_and_wire",
    };
    let (each, all) = (us(all_s * 1e6 / info.of.max(1) as f64), us(all_s * 1e6));
    Some(format!(
        "of {part} up to {each} of a transaction, {all} in all, may be the driver's: it stood \
         still while answers were awaited, whose arrival was not seen"
    ))
}

fn known_twice(twice: f64) -> String {
    format!(
        "{} of a transaction are in two parts at once: in lag, as the driver had no CPU, and in the \
         server's parts or wire, as the answer had not come yet; unexplained is less by as much, \
         and the budget error leaves it out",
        us(twice)
    )
}

fn below_zero(record: &RunRecord) -> Option<String> {
    let mean = PartMeans::from(record.budget_us.as_ref()?);
    let slow = tail(&record.operations).map(|tail| tail.slow.means);
    let is_there = |means: &&PartMeans| {
        means.share(Part::Unexplained).is_some_and(|pct| pct <= -MIN_TWICE_PCT)
    };
    let means = [Some(&mean), slow.as_ref()].into_iter().flatten().find(is_there)?;
    let twice = us(-means.get(Part::Unexplained)?);
    let where_to = if means == &mean { "" } else { " of the slowest" };
    let why = match record.budget.as_ref()?.method {
        BudgetMethod::Traced => {
            "; a driver without a CPU counts that as its lateness (lag), also where its answer had \
             not come yet, which is the server's part too"
        }
        BudgetMethod::Probes => "; readings of the clocks have errors of both signs",
        BudgetMethod::Instants | BudgetMethod::Switches => "",
    };
    Some(format!("unexplained{where_to} is below zero: parts overlap by {twice} or more{why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{BudgetInfo, BudgetUs, JoinCounts};
    use dbtime_model::traced_ledger::{TraceCost, TraceLedger};

    #[test]
    fn a_remainder_below_zero_says_what_it_means() {
        let of = |unexplained| {
            let budget_us = BudgetUs {
                unexplained: Some(unexplained),
                cpu: Some(1000.0 - unexplained),
                total: 1000.0,
                ..BudgetUs::default()
            };
            let budget = BudgetInfo { method: BudgetMethod::Traced, ..BudgetInfo::default() };
            let (budget, budget_us) = (Some(budget), Some(budget_us));
            counted_twice(&RunRecord { budget, budget_us, ..RunRecord::default() })
        };
        let told = of(-240.0).expect("a sentence");
        assert!(told.starts_with("unexplained is below zero: parts overlap by 240 µs or more"));
        assert_eq!((of(-4.0), of(240.0)), (None, None));
    }

    #[test]
    fn time_that_is_known_to_count_twice_is_named() {
        let of = |twice_us| {
            let budget_us = BudgetUs { total: 1000.0, ..BudgetUs::default() };
            let budget = BudgetInfo { twice_us, ..BudgetInfo::default() };
            let (budget, budget_us) = (Some(budget), Some(budget_us));
            RunRecord { budget, budget_us, budget_error: Some(0.01), ..RunRecord::default() }
        };
        let told = counted_twice(&of(Some(240.0))).expect("a sentence");
        assert!(told.starts_with("240 µs of a transaction are in two parts at once"), "{told}");
        let error = budget_error(&of(Some(240.0))).expect("a sentence");
        assert!(error.contains("without what is known to count twice"), "{error}");
        for twice in [None, Some(0.0), Some(4.0)] {
            assert_eq!(counted_twice(&of(twice)), None);
        }
        // Beside an unexplained of −0.4 % an error of 0 % is wrong without it.
        let error = budget_error(&of(Some(4.0))).expect("a sentence");
        assert!(error.contains("count twice, 4.00 µs of a transaction)"), "{error}");
        assert!(!budget_error(&of(None)).expect("a sentence").contains("twice"));
    }

    #[test]
    fn a_wire_below_zero_says_whose_instants_it_has() {
        let of = |wire| {
            let budget_us = Some(BudgetUs { wire, total: 1000.0, ..BudgetUs::default() });
            wire_below_zero(&RunRecord { budget_us, ..RunRecord::default() })
        };
        let told = of(Some(-7.9)).expect("a sentence");
        assert!(told.starts_with("wire is below zero: ") && told.contains("7.90 µs"), "{told}");
        assert_eq!([of(Some(7.9)), of(Some(0.0)), of(None)], [None, None, None]);
    }

    #[test]
    fn what_may_be_waits_for_a_stopped_driver_is_named_beside_the_parts() {
        let of = |standstill_waits_s, method| {
            let budget = Some(BudgetInfo { of: 1000, method, ..BudgetInfo::default() });
            let mut record = RunRecord { budget, ..RunRecord::default() };
            record.client.standstill_waits_s = standstill_waits_s;
            notes(&record).find(|note| note.contains("stood still"))
        };
        let told = of(Some(1.5), BudgetMethod::Instants).expect("a sentence");
        let begin = "of server_and_wire up to 1.50 ms of a transaction, 1.50 s in all, may be";
        assert!(told.starts_with(begin), "{told}");
        let told = of(Some(1.5), BudgetMethod::Traced).expect("a sentence");
        assert!(told.starts_with("of client, and of wire where"), "{told}");
        for none in [None, Some(0.0)] {
            assert_eq!(of(none, BudgetMethod::Instants), None);
        }
    }

    #[test]
    fn parts_that_are_not_of_the_trace_are_told_apart_from_it() {
        let of = |method, trace| {
            let budget = BudgetInfo { every: 1, sampled: 9, of: 9, method, ..Default::default() };
            let told = sampling(&RunRecord { budget: Some(budget), trace, ..RunRecord::default() });
            told.expect("a sentence")
        };
        let (all, trace) = ("parts measured on all 9 transactions", Some(TraceInfo::default()));
        assert_eq!(of(BudgetMethod::Instants, None), all);
        let traced = format!("{all}, traced in the kernel");
        assert_eq!(of(BudgetMethod::Traced, trace.clone()), traced);
        let alone = format!("{all}, by the driver alone: none is of the trace");
        assert_eq!(of(BudgetMethod::Instants, trace), alone);
    }

    #[test]
    fn what_others_were_at_before_is_said_where_there_are_any() {
        let story = |before| {
            let trace = Some(TraceInfo { before, ..TraceInfo::default() });
            sessions_before(&RunRecord { trace, ..RunRecord::default() })
        };
        assert_eq!((story(None), story(Some(SessionsBefore::default()))), (None, None));
        let known = SessionsBefore { at_work: 2, in_transaction: 1, ..SessionsBefore::default() };
        let told = story(Some(known)).expect("a sentence");
        assert!(told.contains("looked: 2 at work, 1 idle in a transaction; "), "{told}");
        let vague = SessionsBefore { clients_at_most: 3, clients_unknown: 4, ..known };
        let told = story(Some(vague)).expect("a sentence");
        let both = ", up to 3 at work, up to 4 doing something unknown; ";
        assert!(told.contains(both), "{told}");
    }

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
