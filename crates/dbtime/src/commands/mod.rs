//! One file a command.

mod compare;
mod completions;
mod counters;
mod init;
mod manual;
mod pgbench;
mod ps;
pub(crate) mod report;
pub(crate) mod run;
mod runs;
mod sysbench;
#[cfg(feature = "trace")]
mod top;
#[cfg(feature = "trace")]
mod trace;
mod usage;
mod workloads;

use crate::cli::Command;
use crate::exit::{Exit, Failure};

/// Does what was asked for.
pub(crate) fn dispatch(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Workloads(args) => workloads::run(&args),
        Command::Pgbench(args) => Ok(pgbench::run(&args.words)),
        Command::Sysbench(args) => Ok(sysbench::run(&args.words)),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Runs(args) => runs::run(&args),
        Command::Counters(args) => counters::run(&args),
        Command::Ps(args) => ps::run(&args),
        #[cfg(feature = "trace")]
        Command::Trace(args) => trace::run(&args),
        #[cfg(feature = "trace")]
        Command::Top(args) => top::run(&args),
        #[cfg(feature = "trace")]
        Command::TraceHelper => trace::help(),
        Command::Completions(args) => Ok(completions::run(&args)),
        Command::Manual(args) => manual::run(&args),
        Command::Usage(args) => usage::run(&args),
    }
}
