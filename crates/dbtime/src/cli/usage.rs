//! Flags of `dbtime usage`.

use super::ps::interval;
use clap::Args;
use dbtime_model::Nanos;
use dbtime_observe::process::ProcessSelector;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime usage -- sysbench oltp_read_only --time=10 run
      a command from its start to its end; the report goes to stderr, as that of time(1) does
  dbtime usage -p mariadbd --time 10s
      a server, with all its processes and threads, for ten seconds
  dbtime usage -p :5432 --start before.json
  dbtime usage --since before.json
      everything between the two, whatever happens there

Exit codes: with a command its own (128 + n after signal n, 127 if there is none of that name, 126
if it cannot be started); else those of dbtime.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "dbtime usage [OPTIONS] -- COMMAND...
       dbtime usage [OPTIONS] -p <PID|NAME> [--time TIME | --start FILE]
       dbtime usage [OPTIONS] --since FILE")]
pub(crate) struct UsageArgs {
    /// The process to watch by number, name, :PORT it listens on or path of its Unix socket; until
    /// it ends, Ctrl-C, or --time.
    #[arg(short, long, value_name = "PID|NAME", conflicts_with = "command")]
    pub(crate) pid: Option<ProcessSelector>,

    /// Watch so long.
    #[arg(long, value_name = "TIME", requires = "pid", value_parser = interval)]
    pub(crate) time: Option<Nanos>,

    /// Save a sample and end; --since brings the differences.
    #[arg(long, value_name = "FILE", requires = "pid", conflicts_with_all = ["time", "since", "json", "threads"])]
    pub(crate) start: Option<PathBuf>,

    /// Show what was used since the sample in this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "pid", "time"])]
    pub(crate) since: Option<PathBuf>,

    /// Leave out the descendants of the process.
    #[arg(long, requires = "pid")]
    pub(crate) alone: bool,

    /// Add a line for every name of threads.
    #[arg(short, long)]
    pub(crate) threads: bool,

    /// Print one JSON document and nothing else on stdout; what a command prints there goes to
    /// stderr.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the report to a file.
    #[arg(long, value_name = "FILE", conflicts_with = "start")]
    pub(crate) out: Option<PathBuf>,

    /// The command to run and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
