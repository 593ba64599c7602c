//! What comes next in a study, by its plan and what has happened: a pure function of both.

use dbtime_model::study::{RunOrder, StopRule, StudyHistory, StudyPlan, StudyRun, TrialOutcome};
use dbtime_model::units::counted;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::HashSet;

/// A configuration that was tried so often and never had a run that counts is given up.
const HOPELESS_TRIES: usize = 3;

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StudyStep {
    Run(TrialPlace),
    /// The stop rule: whether so many blocks are enough.
    Look {
        /// How many are complete.
        blocks: u32,
    },
    /// Nothing, for this reason.
    End(String),
}

/// Where a run belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TrialPlace {
    /// Its block, from 1.
    pub(super) block: u32,
    /// Which time the block is begun, from 1.
    pub(super) attempt: u32,
    /// Its configuration, from 0.
    pub(super) cell: u32,
}

/// What comes next.
pub(super) fn next_step(plan: &StudyPlan, history: &StudyHistory) -> StudyStep {
    if let Some(reason) = &history.finished {
        return StudyStep::End(reason.clone());
    }
    match plan.order {
        RunOrder::Blocks => {}
        RunOrder::Rounds => return next_of_rounds(plan, history),
        RunOrder::Search => return StudyStep::Run(next_of_search(history)),
    }
    let cells = plan.cells.len();
    if let Some(open) = history.open_block(cells) {
        let order = block_order(plan, open.block, open.attempt);
        let cell = order[open.runs.len()];
        return StudyStep::Run(TrialPlace { block: open.block, attempt: open.attempt, cell });
    }
    if let Some(reason) = hopeless(plan, history) {
        return StudyStep::End(reason);
    }
    let complete = history.complete_blocks(cells).len() as u32;
    match block_target(plan, history) {
        BlockTarget::Enough(reason) => StudyStep::End(reason),
        BlockTarget::Blocks { blocks, is_last } if complete >= blocks => match is_last {
            true => StudyStep::End(all_complete(blocks.into())),
            false => StudyStep::Look { blocks: complete },
        },
        BlockTarget::Blocks { blocks, .. } => next_block(plan, history, blocks),
    }
}

/// How a study ends whose blocks are all complete.
pub(super) fn all_complete(blocks: u64) -> String {
    match blocks {
        1 => "its one block is complete".to_owned(),
        _ => format!("all {blocks} blocks are complete"),
    }
}

/// A further run: its maker knows which, and whether there is one.
fn next_of_search(history: &StudyHistory) -> TrialPlace {
    TrialPlace { block: history.runs.len() as u32 + 1, attempt: 1, cell: 0 }
}

/// The first run that was not made to its end, or is lost.
fn next_of_rounds(plan: &StudyPlan, history: &StudyHistory) -> StudyStep {
    let places = (1..=plan.design.blocks).flat_map(|block| {
        let cells = 0..plan.cells.len() as u32;
        cells.map(move |cell| (block, cell))
    });
    let made = history.runs.iter().filter(|run| run.is_made());
    let made: HashSet<_> = made.map(|run| (run.trial.block, run.trial.cell)).collect();
    match places.into_iter().find(|place| !made.contains(place)) {
        Some((block, cell)) => {
            let of_block = history.runs.iter().filter(|run| run.trial.block == block);
            let in_vain = of_block.filter(|run| !run.is_made()).count() as u32;
            StudyStep::Run(TrialPlace { block, attempt: 1 + in_vain, cell })
        }
        None => StudyStep::End("all runs were made".to_owned()),
    }
}

/// The first run of the next block: one that was not begun before, else one that has to be
/// repeated.
fn next_block(plan: &StudyPlan, history: &StudyHistory, blocks: u32) -> StudyStep {
    let cells = plan.cells.len();
    let attempts = history.attempts();
    let tries = |block: u32| attempts.iter().filter(|one| one.block == block).count() as u32;
    let place = |block: u32, attempt: u32| {
        let cell = block_order(plan, block, attempt)[0];
        StudyStep::Run(TrialPlace { block, attempt, cell })
    };
    if let Some(fresh) = (1..=blocks).find(|block| tries(*block) == 0) {
        return place(fresh, 1);
    }
    // Interruptions are nobody's fault, and may be many.
    let counts_not =
        |run: &&StudyRun| matches!(run.outcome, Some(TrialOutcome::Invalid | TrialOutcome::Failed));
    let repeated = attempts.iter().filter(|one| one.runs.iter().any(counts_not));
    // More blocks may repeat as many.
    let most = plan.gate.repeats.max(history.extended.unwrap_or(0));
    let repeated = repeated.count() as u32;
    if repeated > most {
        return StudyStep::End(format!(
            "{} had a run that does not count, and the plan repeats {most} at most",
            counted(repeated.into(), "block")
        ));
    }
    let is_complete =
        |block: u32| attempts.iter().any(|one| one.block == block && one.is_complete(cells));
    let open = (1..=blocks).filter(|block| !is_complete(*block));
    match open.min_by_key(|block| (tries(*block), *block)) {
        Some(block) => place(block, tries(block) + 1),
        None => StudyStep::End(all_complete(blocks.into())),
    }
}

/// How many blocks there are to be, as far as is known.
enum BlockTarget {
    Blocks {
        blocks: u32,
        /// Whether no look follows them.
        is_last: bool,
    },
    /// The stop rule was met.
    Enough(String),
}

fn block_target(plan: &StudyPlan, history: &StudyHistory) -> BlockTarget {
    if let Some(blocks) = history.extended {
        return BlockTarget::Blocks { blocks, is_last: true };
    }
    if let Some((_, _, found)) = history.looks.iter().find(|(_, enough, _)| *enough) {
        return BlockTarget::Enough(found.clone());
    }
    let (blocks, looked) = (plan.design.blocks, history.looks.len() as u32);
    match plan.design.stop {
        StopRule::Fixed => BlockTarget::Blocks { blocks, is_last: true },
        StopRule::Precision { max_blocks, .. } => {
            let most = max_blocks.max(blocks);
            let target = blocks.saturating_add(looked).min(most);
            let is_last = blocks.saturating_add(looked) > most;
            BlockTarget::Blocks { blocks: target, is_last }
        }
        StopRule::Looks { looks } => {
            let look = looked + 1;
            let target = blocks_at_look(blocks, look.min(looks), looks);
            BlockTarget::Blocks { blocks: target, is_last: look > looks }
        }
    }
}

/// After how many blocks the `look`-th of so many looks is.
pub(super) fn blocks_at_look(blocks: u32, look: u32, looks: u32) -> u32 {
    (u64::from(blocks) * u64::from(look)).div_ceil(u64::from(looks.max(1))) as u32
}

/// Why the study cannot come to anything.
fn hopeless(plan: &StudyPlan, history: &StudyHistory) -> Option<String> {
    plan.cells.iter().enumerate().find_map(|(index, cell)| {
        let of_cell = |run: &&StudyRun| run.trial.cell as usize == index;
        // A run that was lost counted once.
        let is_tried = |run: &&StudyRun| !matches!(run.outcome, None | Some(TrialOutcome::Lost));
        let tried: Vec<_> = history.runs.iter().filter(of_cell).filter(is_tried).collect();
        let is_hopeless = tried.len() >= HOPELESS_TRIES
            && tried.iter().all(|run| run.outcome != Some(TrialOutcome::Valid));
        let reason = tried.last()?.reason.clone().unwrap_or_default();
        is_hopeless.then(|| {
            format!("{}: none of {} runs counts, the last: {reason}", cell.name, tried.len())
        })
    })
}

/// The order of the configurations in a block: each as likely as any other (Fisher and Yates).
pub(super) fn block_order(plan: &StudyPlan, block: u32, attempt: u32) -> Vec<u32> {
    let mut random = block_random(plan.design.seed, block, attempt);
    let mut order: Vec<u32> = (0..plan.cells.len() as u32).collect();
    for last in (1..order.len()).rev() {
        // The bias of the remainder is a share of 2^-60 of few places.
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
    order
}

/// The seed that all runs of a block have: they are offered the same.
pub(super) fn block_seed(plan: &StudyPlan, block: u32, attempt: u32) -> u64 {
    let mut random = block_random(plan.design.seed, block, attempt);
    // Beyond what the order takes; short enough to be typed.
    random.jump();
    random.next_u64() >> 32
}

fn block_random(seed: u64, block: u32, attempt: u32) -> Xoshiro256PlusPlus {
    let place = (u64::from(block) << 32) | u64::from(attempt);
    // Seeds and places that are near each other give generators that are not.
    let mut mixed = Xoshiro256PlusPlus::seed_from_u64(seed);
    let first = mixed.next_u64();
    Xoshiro256PlusPlus::seed_from_u64(first ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
