//! What changed over the session, whatever the configuration.

use super::StudyRunLine;
use crate::compare::groups::{geometric_mean, signed};
use dbtime_stats::session_drift;
use std::collections::BTreeMap;

/// The change of the primary metric from the first run that counts to the last, with its 95 %
/// interval, each configuration with a level of its own; `None`: too few runs. Unit: percent.
pub(super) fn drift(runs: &[StudyRunLine]) -> Option<[f64; 3]> {
    // Slices of one block are one value, at the start of the first.
    let mut blocks: BTreeMap<_, (f64, Vec<f64>)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.excluded.is_none()) {
        let at: jiff::Timestamp = run.started_at.parse().ok()?;
        let place = (run.cell.as_str(), run.block, run.attempt);
        let block = blocks.entry(place).or_insert((at.as_millisecond() as f64, Vec::new()));
        block.1.push(run.value?);
    }
    let mut groups: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for ((cell, ..), (at, values)) in blocks {
        groups.entry(cell).or_default().push((at, geometric_mean(&values)));
    }
    let drift = session_drift(&groups.into_values().collect::<Vec<_>>())?;
    Some([drift.estimate, drift.low, drift.high].map(|share| 100.0 * share))
}

/// In words, where it is known that there is one.
pub(super) fn drift_text([change, low, high]: [f64; 3]) -> Option<String> {
    let pct = |pct: f64| signed(pct / 100.0);
    (low > 0.0 || high < 0.0).then(|| {
        format!(
            "{} % (95 % CI {} .. {}) from the first run to the last, whatever the configuration: \
             the blocks keep that out of the verdict",
            pct(change),
            pct(low),
            pct(high)
        )
    })
}
