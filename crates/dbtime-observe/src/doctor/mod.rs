//! What about this machine spoils figures or production: checks of `/proc` and `/sys`, for
//! `dbtime doctor`.
//!
//! A check is one file in `checks` and one line in its list. It reads a [`MachineTree`], which is
//! the machine in life and a folder in tests, changes nothing, and makes a finding of what it sees;
//! what it may not see is a finding too, `unknown` with the reason. What takes a load or a clock to
//! find out is left to the lab.

mod check_verdict;
mod checks;
mod control_groups;
mod finding_frame;
#[cfg(test)]
mod hostile_tests;
mod machine_tree;
mod machine_window;
mod planned_use;
#[cfg(test)]
mod remedy_tests;
#[cfg(test)]
mod tests;

pub use check_verdict::CheckVerdict;
pub use checks::{MACHINE_CHECKS, machine_findings, takes_system_call};
pub use control_groups::memory_limit;
pub use finding_frame::{FindingFrame, MachineCheck, mended};
pub use machine_tree::MachineTree;
pub use machine_window::MachineWindow;
pub use planned_use::PlannedUse;
