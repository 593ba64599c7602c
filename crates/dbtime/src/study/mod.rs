//! Studies on the command line: what the lab's plans know of flags, and how their runs are shown.

mod grammar;
mod making;
mod pair;
mod pilot;

pub(crate) use grammar::FlagGrammar;
pub(crate) use making::make_runs;
pub(crate) use pair::draft;
pub(crate) use pilot::pilot_runs;
