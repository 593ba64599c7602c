//! Studies on the command line: from a file to a plan, and from a plan to runs.

mod cells;
mod document;
mod making;
mod pilot;
mod planning;
mod programs;

pub(crate) use document::limits_table;
pub(crate) use making::make_runs;
pub(crate) use pilot::pilot_runs;
pub(crate) use planning::{MARGIN_PCT, PlanOverrides, PlannedStudy, plan};
