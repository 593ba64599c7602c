//! Flags and their help. What is said here reaches the lab through [`crate::options`].

#[cfg(feature = "trace")]
mod login;
mod ps;
#[cfg(feature = "trace")]
mod top;
#[cfg(feature = "trace")]
mod trace;
mod usage;

#[cfg(feature = "trace")]
pub(crate) use login::LoginArgs;
pub(crate) use ps::PsArgs;
#[cfg(feature = "trace")]
pub(crate) use top::TopArgs;
#[cfg(feature = "trace")]
pub(crate) use trace::{ServersArgs, TraceArgs};
pub(crate) use usage::UsageArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::Reconnect;
use dbtime_load::arrivals::Arrivals;
use dbtime_load::queue::Backlog;
use dbtime_load::think::Think;
use dbtime_load::workload::Limit;
use dbtime_model::{CpuList, Nanos};
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
#[command(name = "dbtime", version, after_help = EXIT_CODES, args_override_self = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What dbtime can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
    /// Turn a run's record into one self-contained HTML file.
    Report(ReportArgs),
    /// Show two runs side by side.
    Compare(CompareArgs),
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

const RUN_EXAMPLES: &str = "\
Examples:
  dbtime run
      atm on a temporary SQLite database, at half of its flat-out rate
  dbtime run point-select --workers 1 --time 10s
      closed loop: one worker flat out
  dbtime run atm --connections 150 --think exp:10ms
      150 clients that think 10 ms on average
  dbtime run atm --rate 500/s --jitter 200us --workers 4 --limit 'p90<=5ms'
      a steady rate, whatever the number of workers; exit code 1 if the limit fails
  dbtime run report-scan --transactions 80 --sweep \\
      'arrivals=at-once workers=40,10,4; workers=4 rate=auto:500%,auto:250%,auto:95%'
      latency against throughput, as one table
  dbtime run point-select --target mariadb --rate auto:50% --repeat 3 \\
      --sweep connections=1,2,4,8,16,32,64,128,256,512,1024,2048
      the same rate over more and more connections: what the server spends
  dbtime run --query 'SELECT 1' --connections 1 --transactions 100 --target mariadb
      one request a hundred times on a private MariaDB: what it took, spent and counted
  dbtime run point-select --rate 1000/s --connections 64 --target postgres://app@db1/shop
      64 connections to a PostgreSQL that runs, loaded by `dbtime init`

";

#[derive(Args, Clone, Debug)]
#[command(before_long_help = "", after_long_help = format!("{RUN_EXAMPLES}{EXIT_CODES}"), args_override_self = true)]
pub(crate) struct RunArgs {
    /// A shipped workload (see `dbtime workloads`) or the path of a workload file.
    pub(crate) workload: Option<String>,

    /// Run this one statement instead of a workload.
    #[arg(long, value_name = "SQL", conflicts_with = "workload")]
    pub(crate) query: Option<String>,

    /// Run a script written for another tool instead of a workload: FILE.sql as pgbench does.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "query"])]
    pub(crate) script: Option<PathBuf>,

    /// A variable of the script, as pgbench's -D. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair, requires = "script")]
    pub(crate) script_set: Vec<(String, String)>,

    /// sqlite (temporary), sqlite:PATH?setting=value&…; a private server that is started for the
    /// run: mariadb, mysql, postgres (mariadb:/PREFIX for one installed there); one that runs:
    /// mysql://USER@HOST/DATABASE, mariadb://…, postgres://… (passwords: ~/.my.cnf, MYSQL_PWD,
    /// ~/.pgpass, PGPASSWORD); or null:?service=1ms.
    #[arg(long, value_name = "URL", default_value = "sqlite")]
    pub(crate) target: String,

    /// Clients of a closed loop, connections of an open one [default: as --workers; else 1, in an
    /// open loop 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,

    /// Put a work queue and a pool of so many workers between clients and database.
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) workers: Option<u32>,

    /// Open loop: 500/s, 0s:100/s,30s:500/s, ramp:100/s..2000/s, auto or auto:50% (share of the
    /// rate found flat out). Absent: closed loop.
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,

    /// How arrivals fall around the rate: steady, poisson, uniform, burst:20, at-once.
    #[arg(long, value_name = "PROCESS", default_value = "steady")]
    pub(crate) arrivals: Arrivals,

    /// Width of the jitter around each due instant of steady arrivals [default: a tenth of the
    /// period].
    #[arg(long, value_name = "TIME")]
    pub(crate) jitter: Option<Nanos>,

    /// What a client of a closed loop waits between transactions: 10ms, exp:10ms,
    /// uniform:5ms..15ms. Replaces the workload's own.
    #[arg(long, value_name = "TIME")]
    pub(crate) think: Option<Think>,

    /// Length of the measured window [default: 20s, or until --transactions have ended].
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<Nanos>,

    /// Offer so many transactions, then end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) transactions: Option<u64>,

    /// Load before the window, not measured [default: 3s; none with --transactions].
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<Nanos>,

    /// Shards: threads among which the connections to a server, or to null, are divided [default:
    /// one for each CPU, for up to 8 clients in a closed loop; else 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) shards: Option<u32>,

    /// How many times the workload's base size [default: as loaded; 1 where the run loads it].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: Option<u64>,

    /// How statements go to a server: prepared (once a connection) or text.
    #[arg(long, value_name = "PROTOCOL", default_value = "prepared")]
    pub(crate) protocol: StatementProtocol,

    /// Send statements of a transaction to a server before those ahead of them are answered, where
    /// a failure cannot make them do harm.
    #[arg(long)]
    pub(crate) pipeline: bool,

    /// When connections to a server are made anew.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ReconnectWhen::Lost)]
    pub(crate) reconnect: ReconnectWhen,

    /// Have the server end statements that take longer: they fail. One without an answer a second
    /// later loses its connection.
    #[arg(long, value_name = "TIME")]
    pub(crate) statement_timeout: Option<Nanos>,

    /// A setting of the private server. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) server_set: Vec<(String, String)>,

    /// An environment variable of the private server, such as LD_PRELOAD. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) server_env: Vec<(String, String)>,

    /// CPUs that the private server keeps to: 0, 0-3, 0,2.
    #[arg(long, value_name = "CPUS")]
    pub(crate) server_cpus: Option<CpuList>,

    /// CPUs that this process keeps to.
    #[arg(long, value_name = "CPUS")]
    pub(crate) client_cpus: Option<CpuList>,

    /// Folder in which the private server's data folder is made, such as one in memory.
    #[arg(long, value_name = "DIR")]
    pub(crate) server_data: Option<PathBuf>,

    /// What happens to a transaction that nobody is free for: wait, drop, deadline:50ms.
    #[arg(long, value_name = "POLICY", default_value = "wait")]
    pub(crate) on_backlog: Backlog,

    /// Require this of every operation, besides the workload's own limits: 'p90<=5ms',
    /// 'avg<=2ms', 'errors<=0.1%', 'throughput>=500/s'. Repeatable.
    #[arg(long = "limit", value_name = "LIMIT", value_parser = parse_limit)]
    pub(crate) limits: Vec<Limit>,

    /// Repeat the run over values of other flags: workers=40,10,4. Factors separated by spaces
    /// cross, groups separated by `;` follow each other. Repeatable.
    #[arg(long, value_name = "FACTORS")]
    pub(crate) sweep: Vec<String>,

    /// Make each run so many times, in rounds; one table shows them all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,

    /// Measure the parts of the time budget on one transaction in N [default: on all; where that
    /// takes probes, so that they cost about 1 %].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget_every: Option<u32>,

    /// Measure no time budget.
    #[arg(long, conflicts_with = "budget_every")]
    pub(crate) no_budget: bool,

    /// Exit with 4 when the measurement is invalid (client-limited, unexplained time).
    #[arg(long)]
    pub(crate) strict: bool,

    /// Seed of everything random: same seed, same statements.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Folder for the record; must not exist [default: dbtime-runs/TIME-WORKLOAD].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Write no record.
    #[arg(long, conflicts_with = "out")]
    pub(crate) no_record: bool,

    /// Print the record as one JSON document (a line each with --sweep) and nothing else.
    #[arg(long)]
    pub(crate) json: bool,

    /// Add the response histogram to the report.
    #[arg(long)]
    pub(crate) histogram: bool,

    /// Add what the server used by name of thread to the report.
    #[arg(long)]
    pub(crate) server_threads: bool,
}

/// When connections are made anew.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ReconnectWhen {
    /// When they are lost.
    Lost,
    /// After every transaction.
    EveryTransaction,
}

impl From<ReconnectWhen> for Reconnect {
    fn from(when: ReconnectWhen) -> Self {
        match when {
            ReconnectWhen::Lost => Self::WhenLost,
            ReconnectWhen::EveryTransaction => Self::EveryTransaction,
        }
    }
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
    /// A run's folder.
    pub(crate) run: PathBuf,

    /// Where the HTML goes [default: report.html in the run's folder].
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
#[command(after_help = "Example:\n  dbtime compare before after")]
pub(crate) struct CompareArgs {
    /// A run's folder.
    pub(crate) a: PathBuf,
    /// Another run's folder.
    pub(crate) b: PathBuf,
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
#[command(after_long_help = COUNTERS_EXAMPLES, after_help = COUNTERS_EXAMPLES)]
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

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

fn parse_limit(text: &str) -> Result<Limit, String> {
    Limit::parse(text).map_err(|error| error.to_string())
}
