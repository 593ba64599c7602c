//! What keeps a run from being sound, in figures: the share of each reason, and the largest that
//! would have changed no grade.

use super::lateness::MIN_STANDSTILL_SHARE;
use super::laws::{MAX_LITTLE_GAP_VALID, idle_share, little_gap};
use super::noise::{MAX_FOREIGN_PCT, MAX_THROTTLED_PCT, throttled_pct};
use super::parts::{MAX_BUDGET_ERROR, MAX_MEAN_WRONG_PCT};
use super::service::{
    MAX_MISSING_SHARE, MAX_OUTSTANDING_SHARE, missing_share, outstanding_share, unfinished_share,
};
use super::{MAX_BUSY_SHARE, MAX_FAILED_SHARE, failed_share};
use dbtime_model::record::{
    GradeReason, MAX_LAG_SHARE, MAX_STANDSTILL_LOSS, RunRecord, ValidityGrade, Warning, WarningKind,
};

/// The reasons that these warnings are, in their order.
pub(super) fn of_warnings(record: &RunRecord, warnings: &[Warning]) -> Vec<GradeReason> {
    let kinds = warnings.iter().map(|warning| warning.kind);
    kinds.filter(|kind| kind.grade() > ValidityGrade::Sound).map(|kind| of(record, kind)).collect()
}

fn of(record: &RunRecord, kind: WarningKind) -> GradeReason {
    let (share_pct, threshold_pct) = shares(record, kind).unzip();
    GradeReason { kind, share_pct, threshold_pct }
}

/// The share and the threshold, in percent; `None` for what has none.
fn shares(record: &RunRecord, kind: WarningKind) -> Option<(f64, f64)> {
    let machine = &record.environment;
    match kind {
        WarningKind::ForeignCpu => Some((machine.foreign_cpu_pct, MAX_FOREIGN_PCT)),
        WarningKind::Steal => Some((machine.steal_pct, MAX_FOREIGN_PCT)),
        WarningKind::Throttled => Some((throttled_pct(record)?, MAX_THROTTLED_PCT)),
        WarningKind::Standstill => {
            Some((100.0 * record.standstill_share(), 100.0 * MIN_STANDSTILL_SHARE))
        }
        WarningKind::StandstillWrong => {
            Some((100.0 * record.standstill_loss(), 100.0 * MAX_STANDSTILL_LOSS))
        }
        WarningKind::ClientLimited => Some(client_limited(record)),
        WarningKind::BudgetError => Some((100.0 * record.budget_error?, 100.0 * MAX_BUDGET_ERROR)),
        WarningKind::BudgetMeanWrong => {
            Some((record.budget.as_ref()?.mean_off_pct?.abs(), MAX_MEAN_WRONG_PCT))
        }
        WarningKind::LittleWrong => {
            Some((100.0 * little_gap(record)?.1, 100.0 * MAX_LITTLE_GAP_VALID))
        }
        WarningKind::FewAtWork => {
            Some((100.0 * idle_share(record)?.1, 100.0 * MAX_LITTLE_GAP_VALID))
        }
        WarningKind::Outstanding => Some((100.0 * outstanding_share(record), 0.0)),
        WarningKind::OutstandingWrong => {
            Some((100.0 * outstanding_share(record), 100.0 * MAX_OUTSTANDING_SHARE))
        }
        WarningKind::Unfinished => Some((100.0 * unfinished_share(record), 0.0)),
        WarningKind::FewConnections => Some((100.0 * missing_share(record), 0.0)),
        // A target that was lost has no share.
        WarningKind::MostlyFailed => {
            let failed = (failed_share(record), MAX_FAILED_SHARE);
            let missing = (missing_share(record), MAX_MISSING_SHARE);
            let found = [failed, missing].into_iter().find(|(share, threshold)| share > threshold);
            found.map(|(share, threshold)| (100.0 * share, 100.0 * threshold))
        }
        _ => None,
    }
}

/// What of a percentile is the driver's lateness, or else how busy the driver was.
fn client_limited(record: &RunRecord) -> (f64, f64) {
    match record.late_percentile() {
        Some((_, effect)) => (100.0 * effect.share(), 100.0 * MAX_LAG_SHARE),
        None => (100.0 * record.client.busy, 100.0 * MAX_BUSY_SHARE),
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::quiet;
    use super::*;

    #[test]
    fn every_reason_is_beyond_its_threshold() {
        use WarningKind as Kind;
        let mut record = quiet();
        (record.latency_us.without_lag.p99, record.latency_us.lag.p999) = (1000.0, 3500.0);
        record.environment.steal_pct = 12.0;
        (record.counts.completed, record.counts.failed) = (4000, 1000);
        record.budget_error = Some(0.08);
        let validity = judge(&record);
        let kinds: Vec<_> = validity.reasons.iter().map(|reason| reason.kind).collect();
        assert_eq!(
            kinds,
            [Kind::MostlyFailed, Kind::ClientLimited, Kind::BudgetError, Kind::Steal]
        );
        for reason in &validity.reasons {
            let (share, threshold) = (reason.share_pct, reason.threshold_pct);
            assert!(share.expect("a share") > threshold.expect("a threshold"), "{reason:?}");
        }
        assert_eq!(validity.reasons[1].share_pct, Some(75.0), "of 4 ms 3 are lag");
        record.counts.completed -= 1;
        let counts = judge(&record).reasons[0];
        assert_eq!((counts.kind, counts.share_pct), (Kind::Counts, None), "any is too much");
    }
}
