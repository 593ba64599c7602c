//! How the time that `study ab` may take is divided: over the runs of the pilot and the blocks, and
//! by how much windows are shortened where it is little.

use crate::cli::StudyAbArgs;
use crate::exit::CommandFailure;
use dbtime_lab::study::{PilotFindings, RunCost, slices_of_window};
use dbtime_model::Nanos;
use dbtime_model::study::{ChosenSlices, MOST_SLICES, StudyPlan};
use dbtime_stats::{BlockCosts, RatioNoise, best_blocks};

/// Fewer blocks have no verdict.
pub(crate) const FEWEST_BLOCKS: u32 = 3;

/// More are not made: what they would find is smaller than anybody cares for.
const MOST_BLOCKS: u32 = 100;

/// Runs from which the noise is known before the blocks are; fewer where there is little time.
const PILOT_RUNS: u32 = 3;
const FEWEST_PILOT_RUNS: u32 = 2;

/// The share of the time that they may take.
const PILOT_SHARE: f64 = 0.2;

/// The share of the rest into which windows are shortened for the fewest blocks: the gate looks at
/// the machine before each run and may have to wait, and some blocks have to be repeated.
const PLANNED_SHARE: f64 = 0.85;

/// Windows are not shortened below these. Unit: seconds.
const LEAST_TIME_S: f64 = 1.0;
const LEAST_WARMUP_S: f64 = 0.2;

/// What a run takes beside its load, before that was measured, and the least that it can be: a
/// process, a connection, a record. Unit: seconds.
const RUN_COST_S: f64 = 1.0;
const LEAST_COST_S: f64 = 0.5;

/// What each slice of a run takes beside its load, but for the first: connections, a warm-up that
/// is no shorter than its least, a record. Unit: seconds.
const SLICE_COST_S: f64 = 0.5;

/// By how much two lives of servers differ beside their slices, and neighbouring slices where no
/// pilot has shown it: the middle of three products (bench/results/variance.md). Of few blocks the
/// former is not known. Units: standard deviations of logarithms.
const LIFE_DEVIATION: f64 = 0.04;
const SLICE_DEVIATION: f64 = 0.21;

/// Windows are multiples of this. Unit: seconds.
const WINDOW_STEP_S: f64 = 0.1;

/// How long the load of a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RunLoad {
    /// These windows, which may be shortened. Unit: seconds.
    Windows {
        /// The measured one.
        time_s: f64,
        /// That before it.
        warmup_s: f64,
    },
    /// So many seconds, as far as is known: sides differ in it, or transactions decide.
    Fixed(f64),
}

impl RunLoad {
    /// Of the runs of a plan.
    fn of(plan: &StudyPlan) -> Self {
        let windows = plan.cells.iter().filter_map(|cell| Some(&cell.spec.as_ref()?.window));
        let all: Vec<_> = windows.map(|one| (one.time, one.warmup, one.transactions)).collect();
        let seconds = |length: Option<Nanos>| length.map_or(0.0, Nanos::as_secs);
        match all.first() {
            Some((Some(time), warmup, None)) if all.iter().all(|one| *one == all[0]) => {
                Self::Windows { time_s: time.as_secs(), warmup_s: seconds(*warmup) }
            }
            _ => {
                let timed = all.iter().filter(|(.., transactions)| transactions.is_none());
                let lengths_s = timed.map(|(time, warmup, _)| seconds(*time) + seconds(*warmup));
                Self::Fixed(lengths_s.fold(0.0, f64::max))
            }
        }
    }

    /// All of it. Unit: seconds.
    fn load_s(self) -> f64 {
        match self {
            Self::Windows { time_s, warmup_s } => time_s + warmup_s,
            Self::Fixed(load_s) => load_s,
        }
    }

    /// The same in so many seconds, as far as windows can be shortened.
    fn within(self, load_s: f64) -> Self {
        let Self::Windows { time_s, warmup_s } = self else { return self };
        let factor = (load_s / self.load_s()).clamp(0.0, 1.0);
        let shortened = |window_s: f64, least_s: f64| {
            let steps = (window_s * factor / WINDOW_STEP_S).floor();
            if factor < 1.0 { (steps * WINDOW_STEP_S).max(window_s.min(least_s)) } else { window_s }
        };
        Self::Windows {
            time_s: shortened(time_s, LEAST_TIME_S),
            warmup_s: shortened(warmup_s, LEAST_WARMUP_S),
        }
    }

    /// As short as it can be.
    fn least(self) -> Self {
        self.within(0.0)
    }
}

/// The time of a comparison, and what its runs are like before any was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimePlan {
    /// All of it. Unit: seconds.
    pub(crate) limit_s: f64,
    /// How many runs a block has.
    pub(crate) cells: usize,
    pub(crate) load: RunLoad,
    /// In how many slices each is made at most.
    pub(crate) slices: u32,
    /// In how many at least.
    pub(crate) fewest_slices: u32,
    /// Whether windows and slices were left open, so that the noise decides on them.
    pub(crate) is_open: bool,
}

/// What there is time for behind the pilot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockTimes {
    /// How many blocks.
    pub(crate) blocks: u32,
    /// The load of each run.
    pub(crate) load: RunLoad,
    /// In how many slices each is made.
    pub(crate) slices: u32,
    /// How long it takes, all of its slices. Unit: seconds.
    pub(crate) run_s: f64,
    /// What blocks and slices were chosen by; `None`: as many as there is time for.
    pub(crate) chosen: Option<ChosenSlices>,
}

impl TimePlan {
    /// Of a plan of these flags, whose runs have the slices in any case that were given.
    pub(crate) fn of(plan: &StudyPlan, args: &StudyAbArgs) -> Self {
        let (cells, slices) = (plan.cells.len(), plan.design.slices);
        let (limit_s, load) = (args.length.as_secs(), RunLoad::of(plan));
        let has_window = ["time", "warmup", "transactions"].iter().any(|it| args.run.0.has(it));
        let (fewest_slices, is_open) = (args.slices.unwrap_or(1), args.slices.is_none());
        Self { limit_s, cells, load, slices, fewest_slices, is_open: is_open && !has_window }
    }

    /// Refuses a time in which no verdict can be had, however fast the machine is.
    ///
    /// Errors: it is one, with the least that works.
    pub(crate) fn check(&self) -> Result<(), CommandFailure> {
        let runs = FEWEST_PILOT_RUNS as usize + FEWEST_BLOCKS as usize * self.cells;
        let least_s = (runs as f64 * (self.load.least().load_s() + LEAST_COST_S)).ceil();
        if self.limit_s >= least_s {
            return Ok(());
        }
        let windows = match self.load {
            RunLoad::Windows { .. } => format!(" with windows of {LEAST_TIME_S:.0} s"),
            RunLoad::Fixed(_) => String::new(),
        };
        Err(CommandFailure::usage(format!(
            "--for {}: a verdict takes at least {runs} runs, which take {least_s:.0} s{windows} on \
             the fastest machine: raise --for to {least_s:.0}s or more",
            Nanos::from_secs_f64(self.limit_s)
        )))
    }

    /// How many runs the pilot makes, and their load.
    pub(crate) fn pilot(&self) -> (u32, RunLoad) {
        let share_s = self.pilot_s();
        let fits =
            |runs: u32, load: RunLoad| f64::from(runs) * (load.load_s() + RUN_COST_S) <= share_s;
        let counts = [PILOT_RUNS, FEWEST_PILOT_RUNS];
        let whole = counts.into_iter().find(|runs| fits(*runs, self.load));
        let short = || counts.into_iter().find(|runs| fits(*runs, self.load.least()));
        let runs = whole.or_else(short).unwrap_or(FEWEST_PILOT_RUNS);
        (runs, self.load.within(share_s / f64::from(runs) - RUN_COST_S))
    }

    /// How long it may take. Unit: seconds.
    pub(crate) fn pilot_s(&self) -> f64 {
        PILOT_SHARE * self.limit_s
    }

    /// What the rest is for: the blocks that resolve most, where windows are left open; as many as
    /// fit, of runs as the pilot made them; or else the fewest, with windows that are shorter, in
    /// fewer slices where these would be short.
    ///
    /// `piloted`: the load that the pilot had. `left_s`: what is left.
    pub(crate) fn blocks(
        &self,
        piloted: RunLoad,
        found: &PilotFindings,
        left_s: f64,
    ) -> BlockTimes {
        let whole_s = (found.runs.seconds_a_run - piloted.load_s()).max(0.0);
        if let Some(chosen) = self.chosen(piloted, found, whole_s, left_s) {
            return chosen;
        }
        let times = |slices: u32| {
            let cost_s = whole_s + f64::from(slices.saturating_sub(1)) * SLICE_COST_S;
            self.with_slices(slices, piloted, cost_s, left_s)
        };
        let fewest = self.fewest_slices.min(self.slices);
        let mut more = (fewest + 1..=self.slices).rev().map(times);
        more.find(BlockTimes::has_room_for_slices).unwrap_or_else(|| times(fewest))
    }

    /// The blocks and slices that resolve most by the noise of the pilot, of slices as usual, where
    /// a whole run takes so much beside its load; `None`: there is too little time to choose, or
    /// something else has.
    fn chosen(
        &self,
        piloted: RunLoad,
        found: &PilotFindings,
        whole_s: f64,
        left_s: f64,
    ) -> Option<BlockTimes> {
        let RunLoad::Windows { time_s, warmup_s } = piloted else { return None };
        if !self.is_open || self.slices < 2 || piloted != self.load {
            return None;
        }
        let (usual, cells) = (f64::from(self.slices), self.cells as f64);
        let start_s = (whole_s - SLICE_COST_S).max(0.0);
        let slice_s = piloted.load_s() / usual + SLICE_COST_S;
        let slice_deviation = found.slice_deviation.unwrap_or(SLICE_DEVIATION);
        let noise = RatioNoise { slice: slice_deviation, life: LIFE_DEVIATION };
        let costs = BlockCosts { start_s: cells * start_s, round_s: cells * slice_s };
        let best = best_blocks(noise, costs, left_s, MOST_SLICES)?;
        let slices = f64::from(best.slices);
        let [time_s, warmup_s] = [time_s, warmup_s].map(|window_s| window_s / usual * slices);
        let half_width_pct = 100.0 * best.half_width.exp_m1();
        let life_deviation = LIFE_DEVIATION;
        Some(BlockTimes {
            blocks: best.blocks.min(MOST_BLOCKS),
            load: RunLoad::Windows { time_s, warmup_s },
            slices: best.slices,
            run_s: start_s + slices * slice_s,
            chosen: Some(ChosenSlices { slice_deviation, life_deviation, half_width_pct }),
        })
    }

    /// The same with so many slices, where a run takes so much beside its load.
    fn with_slices(&self, slices: u32, piloted: RunLoad, cost_s: f64, left_s: f64) -> BlockTimes {
        let each_s = PLANNED_SHARE * left_s / self.cells as f64;
        let blocks = |load: RunLoad| each_s / (load.load_s() + cost_s);
        let fewest = f64::from(FEWEST_BLOCKS);
        let load = match blocks(piloted) < fewest {
            true => piloted.within(each_s / fewest - cost_s),
            false => piloted,
        };
        // What has to be repeated takes the place of the last ones.
        let blocks = ((blocks(load) / PLANNED_SHARE) as u32).clamp(1, MOST_BLOCKS);
        BlockTimes { blocks, load, slices, run_s: load.load_s() + cost_s, chosen: None }
    }
}

impl BlockTimes {
    /// What a run takes: its start, and each slice.
    pub(crate) fn cost(&self) -> RunCost {
        let slices = f64::from(self.slices);
        let beside_s = if self.slices > 1 { SLICE_COST_S } else { 0.0 };
        let slice_s = self.load.load_s() / slices + beside_s;
        RunCost { start_s: (self.run_s - slices * slice_s).max(0.0), slice_s }
    }

    /// Whether there is time for a verdict, and its windows are long enough for so many slices.
    fn has_room_for_slices(&self) -> bool {
        let is_long = match self.load {
            RunLoad::Windows { time_s, .. } => {
                slices_of_window(Nanos::from_secs_f64(time_s)) >= self.slices
            }
            RunLoad::Fixed(_) => true,
        };
        is_long && self.blocks >= FEWEST_BLOCKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::study::PilotRuns;

    const USUAL: RunLoad = RunLoad::Windows { time_s: 10.0, warmup_s: 3.0 };

    fn plan(limit_s: f64, load: RunLoad) -> TimePlan {
        TimePlan { limit_s, cells: 3, load, slices: 1, fewest_slices: 1, is_open: false }
    }

    fn found(seconds_a_run: f64) -> PilotFindings {
        let runs = PilotRuns { values: vec![1.0, 1.0], seconds_a_run, chosen: None };
        PilotFindings { runs, slice_deviation: None, untraced: None }
    }

    /// How many blocks there are, and how long all of it takes, where either side is started and
    /// loads its data once.
    fn planned_s(plan: TimePlan, cost_s: f64, loading_s: f64) -> (u32, f64) {
        let (runs, piloted) = plan.pilot();
        let found = found(piloted.load_s() + cost_s);
        let starts_s = 2.0 * (loading_s + cost_s);
        let pilot_s = starts_s + f64::from(runs) * found.runs.seconds_a_run;
        let times = plan.blocks(piloted, &found, plan.limit_s - pilot_s);
        let block_s = plan.cells as f64 * times.run_s;
        (times.blocks, pilot_s + f64::from(times.blocks) * block_s)
    }

    #[test]
    fn three_blocks_fit_whatever_the_time_and_the_machine() {
        for (limit_s, cost_s, loading_s, fewest) in [
            (600.0, 1.0, 0.5, 13),
            (300.0, 1.0, 2.0, 5),
            (60.0, 0.6, 1.0, 3),
            (60.0, 2.0, 0.5, 3),
            // Data that take long to load are loaded once a side.
            (60.0, 0.6, 8.0, 3),
            (30.0, 0.4, 0.2, 3),
            // Only without room for runs that do not count.
            (20.0, 0.45, 0.0, 3),
        ] {
            let (blocks, all_s) = planned_s(plan(limit_s, USUAL), cost_s, loading_s);
            assert!(blocks >= fewest && all_s <= limit_s, "{limit_s}: {blocks}, {all_s}");
        }
        // What does not fit is begun all the same: the time ends it.
        assert_eq!(planned_s(plan(30.0, USUAL), 9.0, 0.0).0, 1);
        assert_eq!(planned_s(plan(1e6, USUAL), 1.0, 0.0).0, MOST_BLOCKS);
    }

    #[test]
    fn slices_take_time_of_their_own() {
        let (whole, sliced) = (plan(600.0, USUAL), TimePlan { slices: 5, ..plan(600.0, USUAL) });
        let times = |plan: TimePlan| plan.blocks(USUAL, &found(14.0), 500.0);
        let more_s = times(sliced).run_s - times(whole).run_s;
        assert!((more_s - 4.0 * SLICE_COST_S).abs() < 1e-9);
        assert!(times(sliced).blocks < times(whole).blocks);
        assert_eq!((times(sliced).slices, times(whole).slices), (5, 1));
    }

    #[test]
    fn what_a_run_takes_is_its_start_and_its_slices() {
        let whole = plan(600.0, USUAL).blocks(USUAL, &found(14.0), 500.0).cost();
        assert!((whole.start_s - 1.0).abs() < 1e-9 && whole.slice_s == 13.0, "{whole:?}");
        let sliced = TimePlan { slices: 5, ..plan(600.0, USUAL) };
        let cost = sliced.blocks(USUAL, &found(14.0), 500.0).cost();
        assert!((cost.start_s - 0.5).abs() < 1e-9, "{cost:?}");
        assert!((cost.slice_s - 2.6 - SLICE_COST_S).abs() < 1e-9, "{cost:?}");
    }

    /// Slices of two seconds, as many as resolve most: with dear starts and much noise within lives
    /// more than with little.
    #[test]
    fn slices_that_are_left_open_are_chosen_by_the_noise_and_what_starts_take() {
        let open = TimePlan { slices: 5, is_open: true, ..plan(600.0, USUAL) };
        let times = |slice_deviation: f64, seconds_a_run: f64| {
            let found =
                PilotFindings { slice_deviation: Some(slice_deviation), ..found(seconds_a_run) };
            let times = open.blocks(USUAL, &found, 500.0);
            let RunLoad::Windows { time_s, .. } = times.load else { panic!("{times:?}") };
            assert!((time_s - 2.0 * f64::from(times.slices)).abs() < 1e-9, "{times:?}");
            assert!(f64::from(times.blocks) * 3.0 * times.run_s <= 500.0, "{times:?}");
            assert!(times.chosen.is_some_and(|chosen| chosen.slice_deviation == slice_deviation));
            (times.slices, times.blocks)
        };
        let (quiet, loud) = (times(0.03, 13.5), times(0.3, 33.0));
        assert_eq!(quiet.0, 2);
        assert!(loud.0 > 2 && loud.1 < quiet.1, "{quiet:?}, {loud:?}");
        // With windows that were given, or without the time for four blocks, they are as before.
        let given = TimePlan { is_open: false, ..open };
        assert_eq!(given.blocks(USUAL, &found(14.0), 500.0).chosen, None);
        assert_eq!(open.blocks(USUAL, &found(14.0), 60.0).chosen, None);
    }

    /// Unless so many were asked for.
    #[test]
    fn there_are_fewer_slices_where_the_windows_are_short() {
        let sliced = TimePlan { slices: 5, ..plan(100.0, USUAL) };
        let fewer = sliced.blocks(USUAL, &found(14.0), 80.0);
        let RunLoad::Windows { time_s, .. } = fewer.load else { panic!("{fewer:?}") };
        assert!((2..5).contains(&fewer.slices) && fewer.blocks >= 3, "{fewer:?}");
        assert!(time_s >= 2.0 * f64::from(fewer.slices), "{fewer:?}");
        assert!(3.0 * 3.0 * fewer.run_s <= 80.0, "{fewer:?}");
        let least = sliced.blocks(USUAL, &found(14.0), 25.0);
        assert_eq!((least.slices, least.blocks), (1, 3), "{least:?}");
        let given = TimePlan { fewest_slices: 5, ..sliced };
        assert_eq!(given.blocks(USUAL, &found(14.0), 25.0).slices, 5);
    }

    #[test]
    fn the_pilot_has_a_fifth_of_the_time_and_whole_windows_where_these_fit() {
        assert_eq!(plan(600.0, USUAL).pilot(), (3, USUAL));
        assert_eq!(plan(150.0, USUAL).pilot(), (2, USUAL));
        let (runs, short) = plan(60.0, USUAL).pilot();
        let RunLoad::Windows { time_s, warmup_s } = short else { panic!("{short:?}") };
        assert!((2.0..2.4).contains(&time_s) && (0.5..0.8).contains(&warmup_s), "{short:?}");
        assert!(f64::from(runs) * (short.load_s() + RUN_COST_S) <= 12.0);
        let least = RunLoad::Windows { time_s: LEAST_TIME_S, warmup_s: LEAST_WARMUP_S };
        assert_eq!(plan(20.0, USUAL).pilot(), (2, least));
        assert_eq!(plan(20.0, RunLoad::Fixed(0.0)).pilot(), (3, RunLoad::Fixed(0.0)));
        let given = RunLoad::Windows { time_s: 0.5, warmup_s: 0.0 };
        assert_eq!(given.least(), given);
    }

    #[test]
    fn too_short_a_time_is_refused_with_the_least_that_works() {
        assert!(plan(19.0, USUAL).check().is_ok());
        let error = plan(10.0, USUAL).check().expect_err("too short").words();
        assert!(error.starts_with("--for 10.0 s: a verdict takes at least 11 runs"), "{error}");
        assert!(error.ends_with("raise --for to 19s or more"), "{error}");
        let error = plan(1.0, RunLoad::Fixed(0.0)).check().expect_err("too short").words();
        assert!(error.contains("which take 6 s on the fastest"), "{error}");
    }
}
