//! What changed with time over a session, whatever the configuration.

use crate::interval::ConfidenceInterval;
use crate::mean_difference::MeanDifference;
use std::collections::BTreeMap;

/// Fewer blocks show no drift: how much neighbours are alike is unknown.
const FEWEST_BLOCKS: usize = 6;

/// Blocks that are more alike than this are taken for this.
const MOST_ALIKE: f64 = 0.9;

/// A run of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionRun {
    /// The number of its block.
    pub block: u32,
    /// The number of its configuration.
    pub cell: usize,
    /// When it was made, in any unit.
    pub at: f64,
    /// Its value, above zero.
    pub value: f64,
}

/// The change from the first run to the last as a share, with its 95 % interval: a line through the
/// blocks, each of which has one value, the mean of the logarithms of its runs, each against the
/// mean of its configuration. Neighbouring blocks that are alike, as what they share lasts, make
/// the interval wider. `None`: fewer than six blocks, a value without a logarithm, or all at one
/// time.
pub fn session_drift(runs: &[SessionRun]) -> Option<ConfidenceInterval> {
    if !runs.iter().all(|run| run.at.is_finite() && run.value > 0.0 && run.value.is_finite()) {
        return None;
    }
    let blocks = block_points(runs);
    let freedom = blocks.len().checked_sub(2).filter(|_| blocks.len() >= FEWEST_BLOCKS)? as f64;
    let (mean_x, mean_y) = (mean(blocks.iter().map(|at| at.0)), mean(blocks.iter().map(|at| at.1)));
    let centered = blocks.iter().map(|(x, y)| (x - mean_x, y - mean_y));
    let (xx, xy) = centered.clone().fold((0.0, 0.0), |(xx, xy), (x, y)| (xx + x * x, xy + x * y));
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let rest: Vec<f64> = centered.map(|(x, y)| y - slope * x).collect();
    let alike = likeness(&rest);
    let worth = (1.0 - alike) / (1.0 + alike);
    let variance = rest.iter().map(|one| one * one).sum::<f64>() / freedom;
    let error = (variance / xx / worth).sqrt();
    let in_a_unit = MeanDifference { mean: slope, error, freedom: (freedom * worth).max(1.0) };
    let first = runs.iter().map(|run| run.at).fold(f64::INFINITY, f64::min);
    let last = runs.iter().map(|run| run.at).fold(f64::NEG_INFINITY, f64::max);
    let over = |slope: f64| (slope * (last - first)).exp_m1();
    Some(in_a_unit.interval(0.95).map(over))
}

/// Of each block, in the order of time: when it was, and by how much its runs were above the means
/// of their configurations, as a logarithm.
fn block_points(runs: &[SessionRun]) -> Vec<(f64, f64)> {
    let mut cells: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    runs.iter().for_each(|run| cells.entry(run.cell).or_default().push(run.value.ln()));
    let levels: BTreeMap<usize, f64> =
        cells.into_iter().map(|(cell, logs)| (cell, mean(logs.iter().copied()))).collect();
    let mut blocks: BTreeMap<u32, Vec<&SessionRun>> = BTreeMap::new();
    runs.iter().for_each(|run| blocks.entry(run.block).or_default().push(run));
    let point = |runs: Vec<&SessionRun>| {
        let above = runs.iter().map(|run| run.value.ln() - levels[&run.cell]);
        (mean(runs.iter().map(|run| run.at)), mean(above))
    };
    let mut points: Vec<(f64, f64)> = blocks.into_values().map(point).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// How much of what is above a line may be left one block later, from 0: a standard error more than
/// is seen, so that few blocks that seem to be unlike show no drift by chance. The line has taken
/// some of it, which is put back (Marriott and Pope 1954).
fn likeness(rest: &[f64]) -> f64 {
    let all = rest.iter().map(|one| one * one).sum::<f64>();
    if all <= 0.0 {
        return 0.0;
    }
    let shared = rest.windows(2).map(|two| two[0] * two[1]).sum::<f64>() / all;
    let count = rest.len() as f64;
    let seen = (shared + 2.0 / count) / (1.0 - 4.0 / count);
    (seen + 1.0 / count.sqrt()).clamp(0.0, MOST_ALIKE)
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count();
    values.sum::<f64>() / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    /// Two configurations, the second faster by a half, so many blocks, all slower by so much at
    /// the end; so much of the noise of a run is left in the next.
    fn session(noise: &mut SeededNoise, blocks: u32, change: f64, kept: f64) -> Vec<SessionRun> {
        let mut level = noise.normal();
        let last = f64::from(2 * blocks - 1);
        let run = |number: u32| {
            let (at, cell) = (f64::from(number), number as usize % 2);
            level = kept * level + (1.0 - kept * kept).sqrt() * noise.normal();
            let value = 1000.0 * (1.0 + 0.5 * cell as f64);
            let value = value * (change * at / last + 0.02 * level).exp();
            SessionRun { block: number / 2, cell, at, value }
        };
        (0..2 * blocks).map(run).collect()
    }

    /// In which share of sessions the interval does not hold the change.
    fn misses(blocks: u32, change: f64, kept: f64) -> f64 {
        let mut noise = SeededNoise::new(1);
        let sessions = 4000;
        let missed = (0..sessions).filter(|_| {
            let drift = session_drift(&session(&mut noise, blocks, change, kept)).expect("enough");
            !drift.covers(change.exp_m1())
        });
        missed.count() as f64 / f64::from(sessions)
    }

    #[test]
    fn a_drift_is_in_its_interval_in_95_of_100_sessions() {
        for (blocks, kept) in [(6, 0.0), (6, 0.5), (10, 0.0), (10, 0.5), (10, 0.7), (20, 0.7)] {
            for change in [0.0, -0.1] {
                let missed = misses(blocks, change, kept);
                assert!(
                    (0.01..=0.065).contains(&missed),
                    "{blocks} blocks, {kept} kept, {change}: {missed}"
                );
            }
        }
    }

    #[test]
    fn a_drift_that_is_large_beside_the_noise_is_found() {
        let mut noise = SeededNoise::new(2);
        let found = (0..400).filter(|_| {
            let drift = session_drift(&session(&mut noise, 20, -0.15, 0.0)).expect("enough");
            drift.high < 0.0
        });
        assert!(found.count() > 360);
    }

    #[test]
    fn too_few_blocks_or_one_time_have_no_drift() {
        let run = |block: u32, at: f64, value: f64| SessionRun { block, cell: 0, at, value };
        let blocks = |count: u32, value: f64| -> Vec<SessionRun> {
            (0..count).map(|at| run(at, f64::from(at), value + f64::from(at % 2))).collect()
        };
        assert!(session_drift(&blocks(6, 1.0)).is_some());
        assert_eq!(session_drift(&blocks(5, 1.0)), None);
        assert_eq!(session_drift(&blocks(6, 0.0)), None);
        assert_eq!(session_drift(&[run(1, 0.0, 1.0); 9]), None);
        let at_once: Vec<SessionRun> = (0..6).map(|block| run(block, 0.0, 1.0)).collect();
        assert_eq!(session_drift(&at_once), None);
        assert_eq!(session_drift(&[]), None);
    }
}
