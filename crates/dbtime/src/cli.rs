//! Flags and their help. What is said here reaches the lab through [`crate::options`].

mod compare;
mod doctor;
mod document;
mod headings;
mod hints;
mod log;
mod log_words;
mod login;
mod misplaced;
mod number;
mod parse;
mod ps;
mod query;
mod run;
pub(crate) mod run_flags;
mod study;
mod time_bound;
mod top;
mod trace;
mod usage;

pub(crate) use compare::{CompareArgs, UnitDirection};
pub(crate) use doctor::DoctorArgs;
pub(crate) use document::DocumentArgs;
pub(crate) use log::{LogArgs, ReportShape};
pub(crate) use parse::{FOREIGN, complaint, parse, public_command};
pub(crate) use ps::PsArgs;
pub(crate) use query::QueryArgs;
pub(crate) use run::RunArgs;
pub(crate) use study::{
    StudyAbArgs, StudyArgs, StudyCommand, StudyPackArgs, StudyPlanArgs, StudyReportArgs,
    StudyResumeArgs, StudyRunArgs, StudyShownArgs, StudyVerifyArgs,
};
pub(crate) use top::TopArgs;
pub(crate) use trace::TraceArgs;
pub(crate) use usage::{LeftoverRule, UsageArgs};

use crate::exit;
use clap::{ArgGroup, Args, Parser, Subcommand};
use dbtime_model::Nanos;
use number::whole;
use std::path::PathBuf;

/// What `--details` does, wherever it is.
const DETAILS: &str = "Print the whole report, with every table, instead of one screen";

/// Finds where database time goes, and proves how to get rid of it.
#[derive(Debug, Parser)]
#[command(name = "dbtime", after_help = exit::codes_in_help(), args_override_self = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// What dbtime can do.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Drive a database and show where the time of its transactions went.
    ///
    /// Without a workload: atm, at half of its flat-out rate (--rate auto:50%), unless --rate or
    /// --think is given. Without --target: an embedded SQLite database in a temporary folder.
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
    /// Turn the record of a run, a sweep or a study into one self-contained HTML file, or text.
    Report(ReportArgs),
    /// Suggest what to examine or change next, from the time budget of a run.
    ///
    /// For each large part of the mean response, or of the slowest responses: the figures that
    /// suggest a cause, a remedy with its cost, and the most that it can gain.
    Explain(ExplainArgs),
    /// Add a trace recorded on the server's host to the record of a run.
    ///
    /// Splits a run's response times for a server on another host. Statements are matched with
    /// requests by client address, order and duration; the matches also map the clocks of the two
    /// hosts. The record then has the parts of each transaction, for report, explain and compare.
    /// The time on the network is one figure; it is split by direction only where it exceeds the
    /// uncertainty of the clocks.
    Join(JoinArgs),
    /// Show two runs or two sweeps side by side, or give a verdict on groups of runs or on files.
    ///
    /// Side by side, most changed first: throughput, latencies, the parts of the time budget,
    /// operations, statements, counters per transaction, and differences in the setup. This is no
    /// verdict: single runs cannot tell a change from noise. Two groups of repeated runs, with `--`
    /// between them, can: dbtime then shows whether they differ, by how much, with what confidence,
    /// and in which parts of the time. Files of other tools (Go benchmarks, hyperfine, Google
    /// Benchmark, JUnit, CSV) get such a verdict for each name in them. Two digests of logs, as
    /// `dbtime log` prints them in JSON, are compared class by class.
    Compare(CompareArgs),
    /// Compare configurations by repeated runs in random blocks, with a verdict on each.
    ///
    /// Each run is a separate process, against a freshly started server. A journal records every
    /// step, so a study can be interrupted at any moment and resumed. Runs made while the machine
    /// was not quiet do not count, and their blocks are repeated.
    Study(StudyArgs),
    /// List recorded runs, sweeps and studies, newest first.
    Runs(RunsArgs),
    /// Sum up server logs: which statements or requests took the time, what kind of time, and when.
    ///
    /// Reads slow and general logs of MySQL, MariaDB and Percona Server, PostgreSQL's stderr log,
    /// csvlog and jsonlog, access logs of web servers, and JSON lines. Statements that differ only
    /// in their literals are one class, and so are requests that differ only in numbers or IDs in
    /// their path. No output has literals unless --raw-sql is given.
    Log(Box<LogArgs>),
    /// Measure a statement, or compare two forms of it: times, rows and plans.
    ///
    /// Executes both forms with the same keys next to each other, so that the ratio of their times
    /// has a narrow interval, and compares their rows in one snapshot. Shows how the server
    /// executes each form. Advice is tried before it is shown. What a statement writes is rolled
    /// back, unless --commit is given; what cannot be rolled back is refused.
    Query(Box<QueryArgs>),
    /// Show a database's status counters as differences and rates.
    ///
    /// Compares two samples in files, or samples a target over an interval. A file is the output
    /// of --save, of mysql or mysqladmin (show global status), or of psql (select * from
    /// pg_stat_...).
    Counters(CountersArgs),
    /// Examine machine, driver and server for what spoils figures or production.
    ///
    /// Each check has what it saw, why that matters, what it costs, how to fix it and how to undo
    /// that. What cannot be seen is listed with the reason. Nothing is changed.
    Doctor(Box<DoctorArgs>),
    /// Measure the exact CPU time of processes over an interval.
    Ps(PsArgs),
    /// Watch running servers from the kernel: one line for each request, at its end.
    ///
    /// The server needs no restart, no setting and no login. The response is measured inside the
    /// server, from the read of the request to the write of the end of its answer. Rights: root, or
    /// CAP_BPF and CAP_PERFMON, and for servers of other users CAP_SYS_PTRACE and
    /// CAP_DAC_READ_SEARCH; only a helper process keeps them.
    Trace(Box<TraceArgs>),
    /// Watch running servers live, full screen: statements, connections, blockers, pre-emptors.
    ///
    /// Shows statements by their total time, with its parts as bars; the current request of every
    /// connection; chains of lock waits; the processes that used the CPU. `?` explains the keys.
    Top(TopArgs),
    /// What `trace` and `top` start to keep the right to attach.
    #[command(name = dbtime_observe::trace::HELPER, hide = true)]
    TraceHelper,
    /// What `trace` and `top` start to read what clients send, without rights.
    #[command(name = dbtime_lab::tracing::READER, hide = true)]
    TraceReader,
    /// What dbtime starts to end the programs of a script when it is killed itself.
    #[command(name = crate::program_guard::COMMAND, hide = true)]
    ProgramGuard,
    /// Print shell completions.
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder, for man(1) or a package.
    Manual(ManualArgs),
    /// Measure a command, a process or a server: CPU, waiting, memory, faults, reads and writes.
    Usage(UsageArgs),
}

/// A command line in another tool's language.
#[derive(Args, Debug)]
pub(crate) struct ForeignArgs {
    /// Options and operands as the other tool takes them.
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

    /// Database to load: sqlite:PATH, mysql://USER@HOST/DATABASE, postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "URL")]
    pub(crate) target: String,

    /// Size of the data: N times the workload's base size.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(1.., 10))]
    pub(crate) scale: u64,

    /// Seed of the random data.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0.., 42))]
    pub(crate) seed: u64,

    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Also replace data of another scale, and drop tables of the same names from other sources.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  dbtime workloads\n  dbtime workloads atm --scale 10")]
pub(crate) struct WorkloadsArgs {
    /// Workload to show: a shipped one or the path of a workload file.
    pub(crate) workload: Option<String>,

    /// Scale of the size shown.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(1.., 10))]
    pub(crate) scale: u64,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:
  dbtime report dbtime-runs/20261121-101500-atm
  dbtime report dbtime-runs/20261121-101500-atm --markdown",
    group = ArgGroup::new("printed").args(["text", "markdown"])
)]
pub(crate) struct ReportArgs {
    /// Folder of a run, a sweep or a study, or its run.json or plan.json.
    #[arg(value_name = "RUN|SWEEP|STUDY")]
    pub(crate) run: PathBuf,

    /// File for the HTML [default: report.html in that folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Print the report as text instead.
    #[arg(long, conflicts_with = "html")]
    pub(crate) text: bool,

    /// Print the report of a run or a study as Markdown instead, for a comment or a wiki.
    #[arg(long, conflicts_with = "html")]
    pub(crate) markdown: bool,

    #[arg(long, help = DETAILS, requires = "printed")]
    pub(crate) details: bool,

    /// Add the response histogram to what is printed.
    #[arg(long, requires = "printed")]
    pub(crate) histogram: bool,

    /// Add the server's CPU time by thread name to what is printed.
    #[arg(long, requires = "printed")]
    pub(crate) server_threads: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dbtime explain dbtime-runs/20261121-101500-atm
  dbtime explain dbtime-runs/20261121-101500-atm --html advice.html")]
pub(crate) struct ExplainArgs {
    /// Folder of a run, or its run.json.
    pub(crate) run: PathBuf,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

const JOIN_EXAMPLES: &str = "\
Example:
  dbtime trace --record monday.trace --time 2m
      on the server's host, for longer than the run
  dbtime run atm --target mysql://app@db1/shop --statements --out monday
      meanwhile, here
  dbtime join monday monday.trace";

#[derive(Args, Debug)]
#[command(after_help = JOIN_EXAMPLES)]
pub(crate) struct JoinArgs {
    /// Folder of a run made with --statements, or its run.json.
    pub(crate) run: PathBuf,

    /// Recording of dbtime trace --record.
    #[arg(value_name = "TRACE")]
    pub(crate) recording: PathBuf,

    /// Replace the result of an earlier join.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print the joined run.json and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  dbtime runs\n  dbtime runs --json")]
pub(crate) struct RunsArgs {
    /// Folder of records, or of a sweep [default: dbtime-runs].
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

const COUNTERS_EXAMPLES: &str = "\
Examples:
  dbtime counters sample1 sample2
      differences between two outputs of mysql -B -e 'show global status'
  dbtime counters --target sqlite:/var/tmp/atm.db --interval 10s --count 6 --per-transaction
      differences of a target over 10 s, six times
  dbtime counters --target mysql://root@db1 --interval 10s
      counts of a server in ten seconds
  dbtime counters --target sqlite:/var/tmp/atm.db --save before.json
  dbtime counters --target sqlite:/var/tmp/atm.db before.json
      differences since that sample
  dbtime counters dbtime-runs/20261121-101500-atm/counters.json
      all counts of the server during a run
  dbtime counters sample1 sample2 --html counters.html
      the differences as a page; --markdown prints them for a comment";

#[derive(Args, Debug)]
#[command(after_help = COUNTERS_EXAMPLES)]
pub(crate) struct CountersArgs {
    /// Earlier and later sample; with --target the later one is the target's current state.
    #[arg(value_name = "FILE", num_args = 0..=2)]
    pub(crate) files: Vec<PathBuf>,

    /// Database to sample: sqlite:PATH, mysql://USER@HOST, postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,

    /// Time between two samples of --target [default: 10s].
    #[arg(long, value_name = "TIME", requires = "target", conflicts_with_all = ["files", "save"])]
    pub(crate) interval: Option<Nanos>,

    /// Number of intervals.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "target",
          conflicts_with_all = ["files", "save", "html"], value_parser = whole::<u64>(1.., 6))]
    pub(crate) count: u64,

    /// Add rates per transaction, as the database counts transactions.
    #[arg(long)]
    pub(crate) per_transaction: bool,

    /// Add values that did not change.
    #[arg(long)]
    pub(crate) all: bool,

    /// Write one sample of --target to FILE and exit.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) save: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print JSON and nothing else: one document, with --count a line for each interval.
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
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:
  dbtime manual ~/.local/share/man/man1
      a page for each command, such as dbtime-run(1), in an existing folder")]
pub(crate) struct ManualArgs {
    /// Existing folder for the pages.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
