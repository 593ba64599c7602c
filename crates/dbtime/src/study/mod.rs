//! Studies on the command line: from a file to a plan, and from a plan to runs.

mod cells;
mod document;
mod making;
mod pair;
mod pilot;
mod planning;
mod programs;

pub(crate) use making::make_runs;
pub(crate) use pair::PairDraft;
pub(crate) use pilot::pilot_runs;
pub(crate) use planning::{MARGIN_PCT, PlanOverrides, PlannedStudy, plan};
