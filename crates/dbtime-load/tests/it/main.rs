//! Workload files as their readers and programs have them, and programs on a simulated engine.

mod branching;
mod pipelining;
mod workload_docs;
mod workload_errors;
mod workload_hostile;
mod workload_keys;
mod workload_shipped;
