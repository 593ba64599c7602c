//! What `--expect-…` flags want, and whether it came true.

use dbtime_model::query::{FormVerdict, QueryExpectation, QueryRecord};
use dbtime_model::units::counted;

/// B is to be faster than A.
pub const EXPECT_FASTER: &str = "--expect-faster";

/// Both are to return the same rows.
pub const EXPECT_SAME_ROWS: &str = "--expect-same-rows";

/// What the flags want of a record, in their order.
pub(super) fn expectations(flags: &[String], record: &QueryRecord) -> Vec<QueryExpectation> {
    flags.iter().map(|flag| expectation(flag, record)).collect()
}

fn expectation(flag: &str, record: &QueryRecord) -> QueryExpectation {
    let (is_met, reason) = match flag {
        EXPECT_FASTER => faster(record),
        EXPECT_SAME_ROWS => same_rows(record),
        _ => (None, "this version knows no such flag".to_owned()),
    };
    QueryExpectation { flag: flag.to_owned(), is_met, reason }
}

fn faster(record: &QueryRecord) -> (Option<bool>, String) {
    let Some(comparison) = &record.comparison else {
        return (None, "too few pairs were executed".to_owned());
    };
    // The figures stand once, above.
    let (is_met, reason) = match comparison.verdict {
        FormVerdict::Faster => (Some(true), "B takes less time"),
        FormVerdict::Slower => (Some(false), "B takes more time"),
        FormVerdict::Same => (Some(false), "both take the same time, but for the margin"),
        FormVerdict::Undecided => (None, "neither is shown to be faster"),
    };
    (is_met, reason.to_owned())
}

fn same_rows(record: &QueryRecord) -> (Option<bool>, String) {
    let Some(rows) = &record.rows else {
        return (None, "there are no two forms to compare".to_owned());
    };
    let (outcome, keys) = (rows.outcome.name().replace('_', " "), counted(rows.keys, "key"));
    // A difference is one, however many keys were left out.
    match (rows.outcome.is_same(), &rows.refusal) {
        (Some(false), _) => {
            (Some(false), format!("{outcome} for {} of {keys}", rows.differing_keys))
        }
        (_, Some(why)) => (None, format!("rows are not known to be the same: {why}")),
        (Some(true), None) => (Some(true), format!("same rows for {keys}")),
        (None, None) => (None, "rows were not compared".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::query::{FormComparison, RowsCheck, RowsOutcome};

    #[test]
    fn what_is_not_known_is_not_met_and_not_missed() {
        let flags = [EXPECT_FASTER.to_owned(), EXPECT_SAME_ROWS.to_owned()];
        let met = |record: &QueryRecord| {
            expectations(&flags, record).iter().map(|found| found.is_met).collect::<Vec<_>>()
        };
        assert_eq!(met(&QueryRecord::default()), [None, None]);
        let comparison = FormComparison { verdict: FormVerdict::Faster, ..Default::default() };
        let differing = RowsCheck { differing_keys: 3, ..RowsCheck::default() };
        let rows = RowsCheck { outcome: RowsOutcome::Different, keys: 7, ..differing };
        let record =
            QueryRecord { comparison: Some(comparison), rows: Some(rows), ..Default::default() };
        assert_eq!(met(&record), [Some(true), Some(false)]);
        assert_eq!(expectations(&flags, &record)[1].reason, "different for 3 of 7 keys");
        let refusal = Some("B failed for 3 keys".to_owned());
        let rows = RowsCheck { outcome: RowsOutcome::Identical, refusal, ..RowsCheck::default() };
        let record = QueryRecord { rows: Some(rows), ..record };
        assert_eq!(met(&record), [Some(true), None]);
    }
}
