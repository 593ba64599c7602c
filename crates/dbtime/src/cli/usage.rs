//! Flags of `dbtime usage`.

use super::DocumentArgs;
use super::ps::interval;
use clap::{Args, ValueEnum};
use dbtime_model::Nanos;
use dbtime_observe::process::ProcessSelector;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime usage -- sysbench oltp_read_only --time=10 run
      a command from its start to its end; the report goes to stderr, as with time(1)
  dbtime usage -p mariadbd --time 10s
      a server, with all its processes and threads, for ten seconds
  dbtime usage -p :5432 --start before.json
  dbtime usage --since before.json
      the process between the two commands
  dbtime usage --html usage.html -- make
      the report as a page; --markdown prints it for a comment

Exit codes: with a command its own (128 + n after signal n, 127 if it is not found, 126 if it cannot
be started); otherwise the codes of dbtime.";

/// What becomes of what the commands of a run leave in the background.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LeftoverRule {
    /// It goes on.
    Keep,
    /// What this command has left ends.
    New,
    /// What the commands before it have left ends too.
    All,
}

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "dbtime usage [OPTIONS] -- COMMAND...
       dbtime usage [OPTIONS] -p <PID|NAME> [--time TIME | --start FILE]
       dbtime usage [OPTIONS] --since FILE")]
pub(crate) struct UsageArgs {
    /// Process by number, name, listening :PORT or path of a Unix socket; measured until its end,
    /// --time or Ctrl-C.
    #[arg(short, long, value_name = "PID|NAME", conflicts_with = "command")]
    pub(crate) pid: Option<ProcessSelector>,

    /// Length of the measurement.
    #[arg(long, value_name = "TIME", requires = "pid", value_parser = interval)]
    pub(crate) time: Option<Nanos>,

    /// Write a sample to FILE and exit; a later --since shows the differences.
    #[arg(long, value_name = "FILE", requires = "pid",
          conflicts_with_all = ["time", "since", "json", "threads", "html", "markdown"])]
    pub(crate) start: Option<PathBuf>,

    /// Show the differences since the sample in FILE.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "pid", "time"])]
    pub(crate) since: Option<PathBuf>,

    /// Exclude the descendants of the process.
    #[arg(long, requires = "pid")]
    pub(crate) alone: bool,

    /// Add a line for each thread name.
    #[arg(short, long)]
    pub(crate) threads: bool,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print one JSON document on stdout and nothing else; the command's stdout goes to stderr.
    #[arg(long)]
    pub(crate) json: bool,

    /// A process of dbtime has started this one and holds its stdin open; the command, in a process
    /// group of its own, ends with it.
    #[arg(long, hide = true, requires = "command")]
    pub(crate) parent: bool,

    /// Which processes of the run in DBTIME_RUN end with the command; all of them with that process
    /// of dbtime.
    #[arg(long, value_name = "RULE", hide = true, requires = "parent")]
    pub(crate) left: Option<LeftoverRule>,

    /// Write the report to FILE.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["start", "html"])]
    pub(crate) out: Option<PathBuf>,

    /// Command to run, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
