//! The stop rule: whether the complete blocks are enough.

use super::schedule::all_complete;
use crate::error::LabError;
use dbtime_model::study::{StopRule, StudyHistory, StudyPlan, TrialRecord};
use dbtime_model::units::counted;
use dbtime_stats::{ConfidenceInterval, LogRatio, geometric_mean, look_level};
use std::path::Path;

/// The values of the primary metric: by complete block, in the order of the configurations; of
/// slices their mean.
pub(super) type BlockValues = Vec<Vec<f64>>;

/// Reads them.
///
/// Errors: a record cannot be read.
pub(super) fn values(
    folder: &Path,
    plan: &StudyPlan,
    history: &StudyHistory,
) -> Result<BlockValues, LabError> {
    let cells = plan.cells.len();
    let mut values = Vec::new();
    for block in history.complete_blocks(cells) {
        let mut of_block = vec![Vec::new(); cells];
        for run in block.runs {
            let record = TrialRecord::read(&folder.join(&run.trial.folder));
            let value = record.map_err(LabError::Target)?.value(&plan.primary);
            of_block[run.trial.cell as usize].push(value.unwrap_or(f64::NAN));
        }
        values.push(of_block.iter().map(|of_cell| geometric_mean(of_cell)).collect());
    }
    Ok(values)
}

/// Whether they are enough at the next look, and why, in words. What is left out is not waited for.
pub(super) fn look(
    plan: &StudyPlan,
    history: &StudyHistory,
    values: &BlockValues,
) -> (bool, String) {
    let look = history.looks.len() as u32 + 1;
    let comparisons = plan.candidates().count().max(1);
    let ratios: Vec<Option<LogRatio>> = plan
        .candidates()
        .filter(|(cell, _)| !history.is_left_out(*cell as u32))
        .map(|(cell, of)| {
            let baseline = of.baseline as usize;
            let pairs: Vec<_> = values.iter().map(|block| (block[baseline], block[cell])).collect();
            LogRatio::paired(&pairs)
        })
        .collect();
    // A metric that cannot be read never is enough.
    let widest = |level: f64| {
        let widths = ratios.iter().map(|ratio| {
            let interval = ratio.as_ref()?.interval_among(level, comparisons);
            Some(100.0 * half_width(&interval))
        });
        widths.collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max))
    };
    let blocks = values.len() as u64;
    match plan.design.stop {
        StopRule::Precision { half_width_pct, .. } => match widest(0.95) {
            Some(found) if found <= half_width_pct => {
                (true, format!("known to ±{found:.2} % after {}", counted(blocks, "block")))
            }
            Some(found) => (false, format!("known to ±{found:.2} %, wanted ±{half_width_pct} %")),
            None => (false, "nothing known yet".to_owned()),
        },
        StopRule::Looks { looks } => {
            let level = look_level(look, looks).unwrap_or(0.95);
            let is_clear = |ratio: &Option<LogRatio>| {
                ratio.is_some_and(|it| !it.interval_among(level, comparisons).covers(0.0))
            };
            match ratios.iter().all(is_clear) {
                true => {
                    let blocks = counted(blocks, "block");
                    (true, format!("all differ at look {look} of {looks}, {blocks}"))
                }
                false => (false, format!("not all differ at look {look} of {looks}")),
            }
        }
        StopRule::Fixed => (true, all_complete(blocks)),
    }
}

fn half_width(interval: &ConfidenceInterval) -> f64 {
    (interval.high - interval.low) / 2.0
}
