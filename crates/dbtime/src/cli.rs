//! Flags and their help. What is said here reaches the lab through [`crate::options`].

mod headings;
#[cfg(feature = "trace")]
mod login;
mod parse;
mod ps;
mod run;
#[cfg(feature = "trace")]
mod top;
#[cfg(feature = "trace")]
mod trace;
mod usage;

pub(crate) use parse::{complaint, parse, public_command};
pub(crate) use ps::PsArgs;
pub(crate) use run::RunArgs;
#[cfg(feature = "trace")]
pub(crate) use top::TopArgs;
#[cfg(feature = "trace")]
pub(crate) use trace::TraceArgs;
pub(crate) use usage::UsageArgs;

use clap::{Args, Parser, Subcommand};
use dbtime_model::Nanos;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0   fine; warnings stand in the report where a figure may be wrong
  1   a limit or a comparison failed, and would have without the driver's lateness
  2   wrong usage or configuration
  3   target, permission or environment; also where most of what was asked did
      not happen, or the output could not be written
  4   undecided: a limit that only the driver's own lateness may have failed;
      with --strict any measurement that is not valid
  70  a bug";

/// Finds where database time goes, and proves how to get rid of it.
#[derive(Debug, Parser)]
#[command(name = "dbtime", after_help = EXIT_CODES, args_override_self = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// What dbtime can do.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Drive a database and show where the time of its transactions went.
    ///
    /// With nothing named: workload atm on an embedded SQLite database in a temporary folder, at
    /// half of the rate it carries flat out.
    Run(Box<RunArgs>),
    /// Create and load a workload's tables on a target.
    Init(InitArgs),
    /// Run scripts written for pgbench, or make its tables, with pgbench's own options and output.
    ///
    /// `dbtime pgbench --help` shows them.
    #[command(disable_help_flag = true)]
    Pgbench(ForeignArgs),
    /// Run a script written for sysbench, with sysbench's own options and output.
    ///
    /// `dbtime sysbench --help` shows them, `dbtime sysbench SCRIPT help` those of a script.
    #[command(disable_help_flag = true)]
    Sysbench(ForeignArgs),
    /// List the shipped workloads, or show one: its file, tables and size.
    Workloads(WorkloadsArgs),
    /// Turn the record of a run or a sweep into one self-contained HTML file, or text.
    Report(ReportArgs),
    /// Show two runs, or two sweeps, side by side, most changed first.
    ///
    /// Throughput, latencies, the parts of the time budget, operations, statements, counters per
    /// transaction, and what was set up differently. It gives no verdict: single runs cannot tell a
    /// change from noise.
    Compare(CompareArgs),
    /// List the records there are, newest first.
    Runs(RunsArgs),
    /// Show a database's status counters as differences and rates.
    ///
    /// Of two samples in files, or of a target over an interval. Files may be saved by --save, or
    /// printed by mysql, mysqladmin (show global status) or psql (select * from pg_stat_...).
    Counters(CountersArgs),
    /// Exact CPU time of processes over an interval.
    Ps(PsArgs),
    /// Watch running servers from the kernel: a line for each request, as it ends.
    ///
    /// Without a restart, a setting or a login. From the read that brought a request to the write
    /// that ended its answer. It takes root, or CAP_BPF and CAP_PERFMON, and for other users'
    /// servers CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH; a helper alone keeps them.
    #[cfg(feature = "trace")]
    Trace(Box<TraceArgs>),
    /// The same, live, full screen: statements, connections, blockers and pre-emptors.
    ///
    /// Statements by the time they take, with where it goes as bars; what every connection is at;
    /// who waited for whose locks; who had the CPU. `?` explains the keys.
    #[cfg(feature = "trace")]
    Top(TopArgs),
    /// What `trace` and `top` start to keep the right to attach.
    #[cfg(feature = "trace")]
    #[command(name = dbtime_observe::trace::HELPER, hide = true)]
    TraceHelper,
    /// Print what completes dbtime's command lines in a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder.
    #[command(hide = true)]
    Manual(ManualArgs),
    /// What a command, a process or a server uses: CPU, waiting, memory, faults, reads and writes.
    Usage(UsageArgs),
}

/// A command line in another tool's language.
#[derive(Args, Debug)]
pub(crate) struct ForeignArgs {
    /// Options, script and command as the other tool takes them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  dbtime init atm --target sqlite:/var/tmp/atm.db --scale 10\n  dbtime init atm --target mysql://app@db1/shop"
)]
pub(crate) struct InitArgs {
    /// A shipped workload or the path of a workload file.
    pub(crate) workload: String,

    /// Where to create and load it: sqlite:PATH, mysql://USER@HOST/DATABASE,
    /// postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "URL")]
    pub(crate) target: String,

    /// How many times the workload's base size.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: u64,

    /// Seed of the data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Also replace the workload's data of another scale, and drop tables of its names that
    /// something else has made.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  dbtime workloads\n  dbtime workloads atm --scale 10")]
pub(crate) struct WorkloadsArgs {
    /// Show this one.
    pub(crate) workload: Option<String>,

    /// Size at this scale.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: u64,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dbtime report dbtime-runs/20261121-101500-atm")]
pub(crate) struct ReportArgs {
    /// The folder of a run or a sweep, or its run.json or sweep.json.
    #[arg(value_name = "RUN|SWEEP")]
    pub(crate) run: PathBuf,

    /// Where the HTML goes [default: report.html in that folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Print the text report instead.
    #[arg(long, conflicts_with = "html")]
    pub(crate) text: bool,

    /// Add the response histogram to the text report.
    #[arg(long, requires = "text")]
    pub(crate) histogram: bool,

    /// Add what the server used by name of thread to the text report.
    #[arg(long, requires = "text")]
    pub(crate) server_threads: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  dbtime compare before after\n  dbtime compare before after --html compared.html"
)]
pub(crate) struct CompareArgs {
    /// The folder of a run or a sweep, or its run.json or sweep.json.
    pub(crate) a: PathBuf,
    /// Another of the same kind.
    pub(crate) b: PathBuf,

    /// Write an HTML file instead of text.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  dbtime runs\n  dbtime runs --json")]
pub(crate) struct RunsArgs {
    /// A folder with records, or that of a sweep [default: dbtime-runs].
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

const COUNTERS_EXAMPLES: &str = "\
Examples:
  dbtime counters sample1 sample2
      what changed between two outputs of mysql -B -e 'show global status'
  dbtime counters --target sqlite:/var/tmp/atm.db --interval 10s --count 6 --per-transaction
      what changes in a target, six times
  dbtime counters --target mysql://root@db1 --interval 10s
      what a server counts in ten seconds
  dbtime counters --target sqlite:/var/tmp/atm.db --save before.json
  dbtime counters --target sqlite:/var/tmp/atm.db before.json
      what changed since
  dbtime counters dbtime-runs/20261121-101500-atm/counters.json
      everything that the server counted during a run";

#[derive(Args, Debug)]
#[command(after_help = COUNTERS_EXAMPLES)]
pub(crate) struct CountersArgs {
    /// The earlier sample, and the later one; without it the present state of --target.
    #[arg(value_name = "FILE", num_args = 0..=2)]
    pub(crate) files: Vec<PathBuf>,

    /// What to sample: sqlite:PATH, mysql://USER@HOST, postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,

    /// Time from one sample of --target to the next [default: 10s].
    #[arg(long, value_name = "TIME", requires = "target", conflicts_with_all = ["files", "save"])]
    pub(crate) interval: Option<Nanos>,

    /// How many intervals to show.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "target",
          conflicts_with_all = ["files", "save"], value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,

    /// Show rates per transaction too, by what the database counts as one.
    #[arg(long)]
    pub(crate) per_transaction: bool,

    /// Show values that did not change too.
    #[arg(long)]
    pub(crate) all: bool,

    /// Take one sample of --target and write it to this file.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) save: Option<PathBuf>,

    /// Print one JSON document (a line per interval with --count) and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dbtime completions bash > ~/.local/share/bash-completion/completions/dbtime
  dbtime completions zsh > ~/.zfunc/_dbtime
      with ~/.zfunc in fpath
  dbtime completions fish > ~/.config/fish/completions/dbtime.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManualArgs {
    /// The folder, which is there.
    pub(crate) folder: PathBuf,
}
