//! Whether the parts of the response are those of the run: how much they leave unexplained, whose
//! they are, and what measuring them changed.

use super::warning;
use dbtime_model::record::{BudgetMethod, RunRecord, Warning, WarningKind};
use dbtime_model::units::human_ns;

/// The largest share of all response that may stay unexplained.
pub(super) const MAX_BUDGET_ERROR: f64 = 0.03;

/// How far the mean of the measured transactions may be off that of all, in percent: a reader is
/// told, and beyond the second the parts are those of other transactions.
const MAX_MEAN_OFF_PCT: f64 = 3.0;
pub(super) const MAX_MEAN_WRONG_PCT: f64 = 10.0;

/// What measuring may add to a transaction, in percent of what that takes without.
const MAX_MEASURING_PCT: f64 = 3.0;

/// The same of a tracer.
const MAX_TRACING_PCT: f64 = 5.0;

/// The sum of the parts is checked on single transactions.
pub(super) fn budget_error(record: &RunRecord) -> Option<Warning> {
    let error = record.budget_error.filter(|error| *error > MAX_BUDGET_ERROR)?;
    let limit = 100.0 * MAX_BUDGET_ERROR;
    let text =
        format!("{:.1} % of the response is unexplained (limit {limit:.0} %)", 100.0 * error);
    warning(
        WarningKind::BudgetError,
        text,
        "look for steal, page faults or mmap reads; a quieter machine explains more",
    )
}

/// The parts are means of the measured transactions: they explain all others only as far as these
/// are like them.
pub(super) fn budget_mean(record: &RunRecord) -> Option<Warning> {
    let budget = record.budget.as_ref()?;
    let off_pct = budget.mean_off_pct.filter(|pct| pct.abs() > MAX_MEAN_OFF_PCT)?;
    let kind = match off_pct.abs() > MAX_MEAN_WRONG_PCT {
        true => WarningKind::BudgetMeanWrong,
        false => WarningKind::BudgetMean,
    };
    let way = if off_pct > 0.0 { "above" } else { "below" };
    let (cause, remedy) = match budget.method {
        BudgetMethod::Probes => (
            "; its probes attract pre-emptions",
            "glibc 2.35 or later, with restartable sequences on, measures all without probes",
        ),
        BudgetMethod::Traced if budget.every <= 1 => (
            "; the others were not traced from their beginning to their end",
            "see the warning about the trace, and repeat the run",
        ),
        _ => ("", "leave out --budget-every: all transactions are measured"),
    };
    let text = format!(
        "the mean response of the measured transactions is {:.0} % {way} the mean of all{cause}",
        off_pct.abs()
    );
    warning(kind, text, remedy)
}

/// Where the smallest difference is none, the median may be noise.
pub(super) fn measuring(record: &RunRecord) -> Option<Warning> {
    let budget = record.budget.as_ref()?;
    let cost = budget.cost.filter(|cost| cost.low_us > 0.0 && cost.without_us > 0.0)?;
    let (limit, remedy) = match budget.method {
        BudgetMethod::Traced => (
            MAX_TRACING_PCT,
            "shares of the parts hold; for response and throughput run without --trace",
        ),
        _ => (MAX_MEASURING_PCT, "for response and throughput run with --no-budget"),
    };
    let pct = Some(100.0 * cost.us / cost.without_us).filter(|pct| *pct > limit)?;
    let us = |us: f64| human_ns(1e3 * us);
    let whom = match cost.client_count() {
        1 => "one client".to_owned(),
        many => format!("{many} clients"),
    };
    let text = format!(
        "measuring the parts makes a transaction of {whom} {pct:.0} % longer: {} more than {}, in \
         slices before the run",
        us(cost.us),
        us(cost.without_us)
    );
    warning(WarningKind::Measuring, text, remedy)
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::{kinds, quiet};
    use super::*;
    use dbtime_model::record::{BudgetInfo, MeasuringCost};

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
        let remedy = |method, every| {
            let budget = BudgetInfo { method, every, ..off(Some(50.0)) };
            let record = RunRecord { budget: Some(budget), ..quiet() };
            judge(&record).warnings.remove(0).remedy
        };
        assert!(remedy(BudgetMethod::Traced, 1).contains("the warning about the trace"));
        assert!(remedy(BudgetMethod::Traced, 16).contains("--budget-every"));
    }

    #[test]
    fn measuring_that_changes_the_run_is_noticed() {
        let of = |method, us, low_us| {
            let cost = Some(MeasuringCost { us, low_us, without_us: 100.0, ..Default::default() });
            let budget = Some(BudgetInfo { method, cost, ..BudgetInfo::default() });
            kinds(&RunRecord { budget, ..quiet() })
        };
        assert_eq!(of(BudgetMethod::Switches, 2.9, 2.0), []);
        assert_eq!(of(BudgetMethod::Switches, 3.1, 2.0), [WarningKind::Measuring]);
        assert_eq!(of(BudgetMethod::Switches, 30.0, -1.0), [], "it may be noise");
        let longer = measuring(&RunRecord {
            budget: Some(BudgetInfo {
                cost: Some(MeasuringCost {
                    us: 9.0,
                    low_us: 8.0,
                    without_us: 100.0,
                    pairs: 6,
                    ..Default::default()
                }),
                ..BudgetInfo::default()
            }),
            ..quiet()
        });
        assert!(!longer.expect("a warning").text.contains("  "), "one line of prose");
        assert_eq!(of(BudgetMethod::Traced, 4.9, 2.0), []);
        assert_eq!(of(BudgetMethod::Traced, 5.1, 2.0), [WarningKind::Measuring]);
    }
}
