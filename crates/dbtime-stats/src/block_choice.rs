//! How many slices a block has, and how many blocks there are: which of these designs knows most
//! after a given time.
//!
//! More slices say more of the life that they are in, and nothing of the others; a block costs a
//! start of each server besides. Where lives differ most, there are few slices and many blocks;
//! where a start is dear, many slices and few blocks.

use crate::student::t_quantile;

/// Fewer blocks, and fewer slices, are not chosen: of three blocks Student's quantile is 4.3.
const FEWEST_BLOCKS: f64 = 4.0;
const FEWEST_SLICES: u32 = 2;

/// More blocks are not counted.
const MOST_BLOCKS: f64 = 1000.0;

/// Of fewer ratios the deviation is anything.
const FEWEST_RATIOS: usize = 4;

/// What the ratio of two sides varies by from block to block: standard deviations of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioNoise {
    /// Of the ratio of two neighbouring slices, one of each side, within their lives.
    pub slice: f64,
    /// Of the ratio of two lives, which all slices of a block share.
    pub life: f64,
}

/// What a block takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockCosts {
    /// All of it but for the slices, such as starting and ending servers. Unit: seconds.
    pub start_s: f64,
    /// A round of slices, one of each configuration, with their warm-up. Unit: seconds.
    pub round_s: f64,
}

/// A number of blocks, and how many slices each side has in one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockChoice {
    /// How many blocks.
    pub blocks: u32,
    /// How many slices.
    pub slices: u32,
    /// Half of the 95 % interval that they leave of the logarithm of the ratio, as expected.
    pub half_width: f64,
}

/// The blocks that leave the narrowest interval after so many seconds:
///
/// ```text
/// block      = start + slices · round
/// blocks     = ⌊time / block⌋
/// deviation² = life² + slice² / slices
/// half width = t(0.975, blocks − 1) · deviation / √blocks
/// ```
///
/// Shape: 4 to 1000 blocks, of 2 to `most_slices` slices; of equal ones with the fewest slices.
/// `None`: no such blocks end in time, or a round takes none. Cost: a quantile for each number of
/// slices.
pub fn best_blocks(
    noise: RatioNoise,
    costs: BlockCosts,
    time_s: f64,
    most_slices: u32,
) -> Option<BlockChoice> {
    let choice = |slices: u32| {
        let block_s = costs.start_s + f64::from(slices) * costs.round_s;
        let blocks = (time_s / block_s).floor().min(MOST_BLOCKS);
        (block_s > 0.0 && blocks >= FEWEST_BLOCKS).then(|| {
            let half_width = half_width(noise, blocks, slices);
            BlockChoice { blocks: blocks as u32, slices, half_width }
        })
    };
    let choices = (FEWEST_SLICES..=most_slices).filter_map(choice);
    choices.min_by(|one, other| one.half_width.total_cmp(&other.half_width))
}

fn half_width(noise: RatioNoise, blocks: f64, slices: u32) -> f64 {
    let deviation = (noise.life.powi(2) + noise.slice.powi(2) / f64::from(slices)).sqrt();
    t_quantile(0.975, blocks - 1.0) * deviation / blocks.sqrt()
}

/// The deviation of the log ratio of neighbouring slices, by the values of slices that follow each
/// other in some lives of one configuration: neighbours differ by nothing but noise, so that their
/// mean is known. `None`: these are fewer than four ratios, or a value has no logarithm.
pub fn neighbour_deviation(lives: &[Vec<f64>]) -> Option<f64> {
    let neighbours = lives.iter().flat_map(|life| life.windows(2));
    let squares: Vec<f64> = neighbours.map(|pair| (pair[1] / pair[0]).ln().powi(2)).collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    (squares.len() >= FEWEST_RATIOS && mean.is_finite()).then(|| mean.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;
    use proptest::prelude::*;

    const NOISE: RatioNoise = RatioNoise { slice: 0.2, life: 0.04 };
    const COSTS: BlockCosts = BlockCosts { start_s: 6.0, round_s: 8.0 };
    const MOST: u32 = 16;

    fn best(noise: RatioNoise, costs: BlockCosts, time_s: f64) -> BlockChoice {
        best_blocks(noise, costs, time_s, MOST).expect("there is time")
    }

    /// All numbers of blocks and slices that end in time.
    fn brute_force(noise: RatioNoise, costs: BlockCosts, time_s: f64) -> f64 {
        let mut least = f64::INFINITY;
        for slices in 2..=MOST {
            for blocks in 4..=1000u32 {
                let of_block = costs.start_s + f64::from(slices) * costs.round_s;
                if f64::from(blocks) * of_block <= time_s {
                    least = least.min(half_width(noise, f64::from(blocks), slices));
                }
            }
        }
        least
    }

    /// Fisher and Yates: t is 3.182 with three degrees of freedom.
    #[test]
    fn the_half_width_follows_the_formula() {
        let costs = BlockCosts { start_s: 10.0, round_s: 10.0 };
        let only = best_blocks(NOISE, costs, 120.0, 2).expect("four blocks of two slices");
        assert_eq!((only.blocks, only.slices), (4, 2));
        let expected = 3.182 * (0.04f64.powi(2) + 0.02).sqrt() / 2.0;
        assert!((only.half_width / expected - 1.0).abs() < 1e-3, "{only:?}");
        assert_eq!(best_blocks(NOISE, costs, 119.0, MOST), None);
        assert_eq!(best_blocks(NOISE, BlockCosts { start_s: 0.0, round_s: 0.0 }, 9.0, MOST), None);
    }

    #[test]
    fn dear_starts_have_many_slices_and_lives_that_differ_have_few() {
        let usual = best(NOISE, COSTS, 600.0);
        assert!((3..12).contains(&usual.slices), "{usual:?}");
        let dear = best(NOISE, BlockCosts { start_s: 60.0, ..COSTS }, 1200.0);
        assert!(dear.slices > best(NOISE, COSTS, 1200.0).slices, "{dear:?}");
        let of_lives = best(RatioNoise { slice: 0.05, life: 0.3 }, COSTS, 600.0);
        assert_eq!(of_lives.slices, 2, "{of_lives:?}");
        let of_slices = best(RatioNoise { slice: 0.3, life: 0.0 }, COSTS, 6000.0);
        assert!(of_slices.slices > 8, "{of_slices:?}");
    }

    #[test]
    fn the_deviation_of_neighbours_is_known_from_one_side_alone() {
        let mut random = SeededNoise::new(5);
        let mut life = |level: f64| {
            (0..400).map(|_| level * (0.1 * random.normal()).exp()).collect::<Vec<f64>>()
        };
        // Levels of lives are in no ratio of neighbours.
        let found = neighbour_deviation(&[life(100.0), life(300.0)]).expect("many ratios");
        assert!((found / 0.1f64.hypot(0.1) - 1.0).abs() < 0.12, "{found}");
        assert_eq!(neighbour_deviation(&[vec![1.0, 2.0, 3.0, 4.0]]), None);
        assert_eq!(neighbour_deviation(&[vec![1.0, 0.0, 3.0, 4.0, 5.0]]), None);
        assert_eq!(neighbour_deviation(&[]), None);
    }

    proptest! {
        #[test]
        fn no_other_blocks_know_more_and_more_noise_or_less_time_never_helps(
            slice in 0.01f64..0.5, life in 0.0f64..0.5, start_s in 0.1f64..60.0,
            round_s in 2.0f64..20.0, time_s in 500.0f64..2000.0
        ) {
            let (noise, costs) = (RatioNoise { slice, life }, BlockCosts { start_s, round_s });
            let width = |noise, costs, time_s| best(noise, costs, time_s).half_width;
            let found = width(noise, costs, time_s);
            let least = brute_force(noise, costs, time_s);
            prop_assert!((found / least - 1.0).abs() < 1e-9, "{} {}", found, least);
            let wider = [
                width(RatioNoise { slice: 1.2 * slice, ..noise }, costs, time_s),
                width(RatioNoise { life: life + 0.1, ..noise }, costs, time_s),
                width(noise, BlockCosts { start_s: 1.1 * start_s, ..costs }, time_s),
                width(noise, BlockCosts { round_s: 1.1 * round_s, ..costs }, time_s),
                width(noise, costs, 0.9 * time_s),
            ];
            prop_assert!(wider.iter().all(|width| *width >= found * (1.0 - 1e-9)), "{:?}", wider);
        }
    }
}
