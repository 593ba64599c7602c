//! The tracer beside a run, and what comes of joining both sides: parts, and whom and what the
//! transactions waited for.

mod chain_walk;
mod cpu_holder_totals;
mod cpu_owners;
mod file_totals;
mod holder_history;
mod lock_chain_totals;
mod lock_holder_totals;
mod own_connections;
mod run_join;
mod run_tracer;
mod stack_totals;
#[cfg(test)]
mod test_transactions;
mod traced_figures;

pub(crate) use run_join::{RunJoin, RunJoinEnd};
pub(crate) use run_tracer::RunTracer;
