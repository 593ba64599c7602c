//! What comes next in a study, by its plan and what has happened: a pure function of both.

use super::frequent_reason::frequent_reason;
use dbtime_model::study::{
    BlockAttempt, CellRole, MOST_SLICES, RunOrder, StopRule, StudyHistory, StudyPlan, StudyRun,
    TrialOutcome,
};
use dbtime_model::units::counted;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::HashSet;

/// A configuration of which so many runs in a row could not be made is left out. What a run does
/// not count for besides is no fault of its configuration.
const HOPELESS_TRIES: usize = 3;

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StudyStep {
    /// A configuration is started once, which shows whether it works at all.
    Start {
        /// Its place in the plan, from 0.
        cell: u32,
    },
    /// A configuration cannot run.
    LeaveOut {
        /// Its place in the plan, from 0.
        cell: u32,
        /// Its error.
        reason: String,
    },
    Run(TrialPlace),
    /// The stop rule: whether so many blocks are enough.
    Look {
        /// How many are complete.
        blocks: u32,
    },
    /// Nothing, until more blocks may be repeated.
    Stop {
        /// Why.
        reason: String,
        /// With how many repeated blocks in all it goes on.
        repeats: u32,
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
    /// Its round, from 1, where the block is made in slices; 0: it is a whole run.
    pub(super) slice: u32,
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
    if let Some(reason) = history.nothing_left(plan, "DIR") {
        return StudyStep::End(reason);
    }
    let step = unusable(plan, history).or_else(|| unstarted(plan, history));
    if let Some(step) = step.or_else(|| next_of_open_block(plan, history)) {
        return step;
    }
    let complete = history.complete_blocks(plan.cells.len()).len() as u32;
    match block_target(plan, history) {
        BlockTarget::Enough(reason) => StudyStep::End(reason),
        BlockTarget::Blocks { blocks, is_last } if complete >= blocks => match is_last {
            true => StudyStep::End(all_complete(blocks.into())),
            false => StudyStep::Look { blocks: complete },
        },
        BlockTarget::Blocks { blocks, .. } => next_block(plan, history, blocks),
    }
}

/// A configuration that is to be left out: its runs fail, or it lost what it is compared with.
fn unusable(plan: &StudyPlan, history: &StudyHistory) -> Option<StudyStep> {
    (0u32..).zip(&plan.cells).find_map(|(cell, of)| {
        let reason = match history.is_left_out(of.baseline) {
            _ if history.is_left_out(cell) => None,
            true => Some("its baseline is left out".to_owned()),
            false => hopeless(plan, history, cell),
        };
        reason.map(|reason| StudyStep::LeaveOut { cell, reason })
    })
}

/// Why a configuration is given up; `None`: it is not.
fn hopeless(plan: &StudyPlan, history: &StudyHistory, cell: u32) -> Option<String> {
    let made: Vec<&StudyRun> = tried_runs(history, cell).collect();
    // A program cannot be started for a moment: its first run shows whether it works.
    let most = match plan.program.is_some() && !has_worked(plan, history, cell) {
        true => 1,
        false => HOPELESS_TRIES,
    };
    let has_failed = |run: &&&StudyRun| run.outcome == Some(TrialOutcome::Failed);
    let failed = made.iter().rev().take_while(has_failed).count();
    let last = made.last().filter(|_| failed >= most)?;
    let runs = match failed {
        1 => "its first run failed".to_owned(),
        several => format!("its last {several} runs failed"),
    };
    Some(format!("{runs}: {}", last.reason.as_deref().unwrap_or("no reason is known")))
}

/// The runs of a configuration that came to their end since it was taken in, in the order of time.
fn tried_runs(history: &StudyHistory, cell: u32) -> impl Iterator<Item = &StudyRun> {
    let since = history.runs.iter().skip(history.tried_from);
    since.filter(move |run| run.trial.cell == cell && run.is_made())
}

/// Whether something has shown that a configuration works. The control is its baseline, and a pilot
/// has run that.
fn has_worked(plan: &StudyPlan, history: &StudyHistory, cell: u32) -> bool {
    let of = &plan.cells[cell as usize];
    let runs_it = if of.role == CellRole::Control { of.baseline } else { cell };
    let was_started = plan.pilot.is_some() && runs_it == 0 || history.started.contains(&runs_it);
    was_started || [cell, runs_it].iter().any(|it| tried_runs(history, *it).any(StudyRun::is_kept))
}

/// A configuration of which nothing has shown yet that it works.
fn unstarted(plan: &StudyPlan, history: &StudyHistory) -> Option<StudyStep> {
    let to_start = (0u32..).zip(&plan.cells).find(|(cell, of)| {
        let may_start = of.spec.is_some() && of.role != CellRole::Control;
        may_start && !history.is_left_out(*cell) && !has_worked(plan, history, *cell)
    });
    to_start.map(|(cell, _)| StudyStep::Start { cell })
}

/// The next run of the block that is under way; `None`: none is, or it became complete by runs
/// before, when what had broken it was left out.
fn next_of_open_block(plan: &StudyPlan, history: &StudyHistory) -> Option<StudyStep> {
    let cells = plan.cells.len();
    let open = history.open_block(cells)?;
    let (block, attempt) = (open.block, open.attempt);
    if history.complete_blocks(cells).iter().any(|one| one.block == block) {
        return None;
    }
    let is_made = |place: &TrialPlace| {
        let mut trials = open.runs.iter().map(|run| &run.trial);
        trials.any(|trial| (trial.cell, trial.slice) == (place.cell, place.slice))
    };
    // It may have fewer rounds than the plan, or more: its time decides that.
    let mut places = block_places(plan, block, attempt, open.rounds()).into_iter();
    let is_next = |place: &TrialPlace| !history.is_left_out(place.cell) && !is_made(place);
    places.find(is_next).map(StudyStep::Run)
}

/// The runs of a block in their order. Slices go in so many rounds, each with one of every
/// configuration, and every other round is the one before it backwards: what changes steadily is in
/// no difference.
fn block_places(plan: &StudyPlan, block: u32, attempt: u32, rounds: u32) -> Vec<TrialPlace> {
    let of_round = |slice: u32, order: Vec<u32>| {
        order.into_iter().map(move |cell| TrialPlace { block, attempt, cell, slice })
    };
    if plan.design.slices <= 1 {
        return of_round(0, block_order(plan, block, attempt)).collect();
    }
    let mut random = block_random(plan.design.seed, block, attempt);
    let mut order = Vec::new();
    let mut places = Vec::new();
    // The number may come from a file.
    for slice in 1..=rounds.min(MOST_SLICES) {
        match slice % 2 {
            1 => order = random_order(plan.cells.len() as u32, &mut random),
            _ => order.reverse(),
        }
        places.extend(of_round(slice, order.clone()));
    }
    places
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
    TrialPlace { block: history.runs.len() as u32 + 1, attempt: 1, cell: 0, slice: 0 }
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
            StudyStep::Run(TrialPlace { block, attempt: 1 + in_vain, cell, slice: 0 })
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
        let places = block_places(plan, block, attempt, 1);
        // One is left, or there would be nothing to compare.
        let first = places.iter().find(|place| !history.is_left_out(place.cell));
        StudyStep::Run(first.copied().unwrap_or(places[0]))
    };
    if let Some(fresh) = (1..=blocks).find(|block| tries(*block) == 0) {
        return place(fresh, 1);
    }
    if let Some(stop) = too_many_repeats(plan, history) {
        return stop;
    }
    let is_complete =
        |block: u32| attempts.iter().any(|one| one.block == block && one.is_complete(cells));
    let open = (1..=blocks).filter(|block| !is_complete(*block));
    match open.min_by_key(|block| (tries(*block), *block)) {
        Some(block) => place(block, tries(block) + 1),
        None => StudyStep::End(all_complete(blocks.into())),
    }
}

/// That no more blocks may be repeated; `None`: more may be.
fn too_many_repeats(plan: &StudyPlan, history: &StudyHistory) -> Option<StudyStep> {
    let (repeated, most) = (repeated(history), history.most_repeats(plan));
    if repeated <= most {
        return None;
    }
    let attempts = history.attempts();
    let counts_not = |run: &&&StudyRun| counts_not(history, run);
    let runs = attempts.iter().flat_map(|one| &one.runs).filter(counts_not).copied();
    let frequent = frequent_reason(runs)?;
    let what = if frequent.is_failure { "failed runs" } else { "noise" };
    let reason = format!(
        "stopped by {what}: {} had a run that does not count, and the limit (repeats) was {most}; \
         most often ({} of {}): {}",
        counted(repeated.into(), "block"),
        frequent.runs,
        counted(frequent.of as u64, "run"),
        frequent.text
    );
    Some(StudyStep::Stop { reason, repeats: repeated.saturating_add(history.most_blocks(plan)) })
}

/// How many blocks have a run that does not count.
fn repeated(history: &StudyHistory) -> u32 {
    let attempts = history.attempts();
    // A slice that does not count costs its round alone.
    let is_repeated = |one: &&BlockAttempt<'_>| {
        let is_spent = one.rounds() == 1 || one.is_broken();
        is_spent && one.runs.iter().any(|run| counts_not(history, run))
    };
    attempts.iter().filter(is_repeated).count() as u32
}

/// Whether a run costs its block. Interruptions are no fault of a run, and may be many.
fn counts_not(history: &StudyHistory, run: &StudyRun) -> bool {
    let forgiven = history.runs.iter().take(history.tried_from).next_back();
    match run.outcome {
        _ if history.is_left_out(run.trial.cell) => false,
        Some(TrialOutcome::Failed) => {
            run.trial.run > forgiven.map_or(0, |run| run.trial.run) && has_recovered(history, run)
        }
        outcome => outcome == Some(TrialOutcome::Invalid),
    }
}

/// Whether its configuration has worked since. One that goes on failing is left out before long,
/// and then has repeated nothing.
fn has_recovered(history: &StudyHistory, run: &StudyRun) -> bool {
    let is_later = |later: &&StudyRun| later.trial.run > run.trial.run && later.is_kept();
    let mut later = history.runs.iter().filter(is_later);
    later.any(|later| later.trial.cell == run.trial.cell)
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
        StopRule::Fixed => {
            BlockTarget::Blocks { blocks: history.renewed.unwrap_or(blocks), is_last: true }
        }
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

/// The order of the configurations in a block.
pub(super) fn block_order(plan: &StudyPlan, block: u32, attempt: u32) -> Vec<u32> {
    random_order(plan.cells.len() as u32, &mut block_random(plan.design.seed, block, attempt))
}

/// So many configurations in an order of which each is as likely as any other (Fisher and Yates).
fn random_order(cells: u32, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    let mut order: Vec<u32> = (0..cells).collect();
    for last in (1..order.len()).rev() {
        // The bias of the remainder is a share of 2^-60 of few places.
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
    order
}

/// The seed that all runs of a block have: they are offered the same. Of slices it is that of their
/// targets, and each round adds its own number.
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
