//! One file a command.

mod compare;
mod completions;
mod counters;
mod doctor;
mod explain;
mod init;
mod join;
mod log;
mod manual;
mod pgbench;
mod ps;
mod query;
mod report;
pub(crate) mod run;
mod runs;
mod study;
mod study_ab;
mod study_pack;
mod sysbench;
mod top;
mod trace;
mod usage;
mod workloads;

use crate::cli::CliCommand;
use crate::exit::{CommandFailure, ProcessExit};
use crate::program_guard;

/// Does what was asked for.
pub(crate) fn dispatch(command: CliCommand) -> Result<ProcessExit, CommandFailure> {
    match command {
        CliCommand::Run(args) => run::run(&args),
        CliCommand::Init(args) => init::run(&args),
        CliCommand::Workloads(args) => workloads::run(&args),
        CliCommand::Pgbench(args) => Ok(pgbench::run(&args.words)),
        CliCommand::Sysbench(args) => Ok(sysbench::run(&args.words)),
        CliCommand::Report(args) => report::run(&args),
        CliCommand::Explain(args) => explain::run(&args),
        CliCommand::Join(args) => join::run(&args),
        CliCommand::Compare(args) => compare::run(&args),
        CliCommand::Study(args) => study::run(&args),
        CliCommand::Runs(args) => runs::run(&args),
        CliCommand::Log(args) => log::run(&args),
        CliCommand::Query(args) => query::run(&args),
        CliCommand::Counters(args) => counters::run(&args),
        CliCommand::Doctor(args) => doctor::run(&args),
        CliCommand::Ps(args) => ps::run(&args),
        CliCommand::Trace(args) => trace::run(&args),
        CliCommand::Top(args) => top::run(&args),
        CliCommand::TraceHelper => trace::help(),
        CliCommand::TraceReader => trace::read(),
        CliCommand::ProgramGuard => Ok(program_guard::serve()),
        CliCommand::Completions(args) => Ok(completions::run(&args)),
        CliCommand::Manual(args) => manual::run(&args),
        CliCommand::Usage(args) => usage::run(&args),
    }
}
