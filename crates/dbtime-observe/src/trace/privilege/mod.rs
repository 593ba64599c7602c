//! Rights: which process has them, and how the reader of hostile bytes goes without.
//!
//! - `helper`: the process that keeps the rights it needs, and `helper_sandbox` its system calls;
//! - `rights`, `sandbox`: how the reader gives them up;
//! - `signals`, `terminal`: what the reader cannot do for itself after that;
//! - `waited_child`: processes that are waited for although somebody has stopped them, and
//!   `standstill`: those that nothing makes go on.

pub(super) mod helper;
mod helper_sandbox;
pub(super) mod rights;
pub(super) mod sandbox;
pub(super) mod signals;
pub(super) mod standstill;
pub(super) mod terminal;
pub(super) mod waited_child;
