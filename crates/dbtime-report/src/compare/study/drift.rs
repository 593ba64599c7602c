//! What changed over the session, whatever the configuration.

use super::StudyRunLine;
use crate::compare::groups::signed;
use dbtime_stats::{SessionRun, session_drift};

/// The change of the primary metric from the first run that counts to the last, with its 95 %
/// interval, by blocks and with a level of its own for each configuration; `None`: too few blocks.
/// Unit: percent.
pub(super) fn drift(runs: &[StudyRunLine]) -> Option<[f64; 3]> {
    let mut cells: Vec<&str> = Vec::new();
    let mut counted = Vec::new();
    for run in runs.iter().filter(|run| run.excluded.is_none()) {
        let at: jiff::Timestamp = run.started_at.parse().ok()?;
        let cell = cells.iter().position(|cell| *cell == run.cell).unwrap_or_else(|| {
            cells.push(&run.cell);
            cells.len() - 1
        });
        let (at, value) = (at.as_millisecond() as f64, run.value?);
        counted.push(SessionRun { block: run.block, cell, at, value });
    }
    let drift = session_drift(&counted)?;
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
