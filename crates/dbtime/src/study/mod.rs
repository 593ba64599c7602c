//! Studies on the command line: what the lab's plans know of flags, and how their runs are shown.

mod block_notes;
mod grammar;
mod making;
mod pair;
mod pair_trace;
mod pilot;
mod quietness;
mod time_plan;

pub(crate) use grammar::FlagGrammar;
pub(crate) use making::make_runs;
pub(crate) use pair::{PairChoices, draft};
pub(crate) use pair_trace::PairTrace;
pub(crate) use pilot::{StudyPilot, pilot_runs};
pub(crate) use quietness::loud_machine;
pub(crate) use time_plan::{BlockTimes, FEWEST_BLOCKS, RunLoad, TimePlan};
