//! Flags of `dbtime run`.

use clap::Args;
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::Reconnect;
use dbtime_lab::RateChoice;
use dbtime_load::arrivals::Arrivals;
use dbtime_load::queue::Backlog;
use dbtime_load::think::ThinkTime;
use dbtime_load::workload::WorkloadLimit;
use dbtime_machine::CpuList;
use dbtime_model::Nanos;
use std::path::PathBuf;

const EXAMPLES: &str = "\
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
      64 connections to a PostgreSQL that runs, loaded by `dbtime init`";

/// Flags that describe a run, which a spec does too.
const DESCRIBING: [&str; 30] = [
    "workload",
    "query",
    "script",
    "script_set",
    "scale",
    "seed",
    "target",
    "protocol",
    "pipeline",
    "reconnect",
    "statement_timeout",
    "server_set",
    "server_env",
    "server_cpus",
    "server_data",
    "rate",
    "arrivals",
    "jitter",
    "connections",
    "workers",
    "think",
    "on_backlog",
    "shards",
    "client_cpus",
    "time",
    "transactions",
    "warmup",
    "limits",
    "budget_every",
    "no_budget",
];

#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES, args_override_self = true)]
pub(crate) struct RunArgs {
    /// A shipped workload (see `dbtime workloads`) or the path of a workload file.
    pub(crate) workload: Option<String>,

    /// Run this one statement instead of a workload.
    #[arg(long, value_name = "SQL", conflicts_with = "workload")]
    pub(crate) query: Option<String>,

    /// Run a script written for another tool instead of a workload: FILE.sql as pgbench does,
    /// FILE.lua as sysbench does.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "query"])]
    pub(crate) script: Option<PathBuf>,

    /// Run what this file describes: a spec written by --print-spec, or the record of a run; - is
    /// standard input. Passwords: --password-file, DBTIME_PASSWORD.
    #[arg(long, value_name = "FILE", conflicts_with_all = DESCRIBING, conflicts_with = "sweep")]
    pub(crate) spec: Option<PathBuf>,

    /// Print the run that the flags describe as a spec, a JSON document without passwords, and run
    /// nothing; with --sweep a line for each run.
    #[arg(long, conflicts_with_all = ["out", "json", "events", "strict", "histogram"])]
    pub(crate) print_spec: bool,

    /// A variable of a pgbench script, as its -D; an option of a sysbench script. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair, requires = "script")]
    pub(crate) script_set: Vec<(String, String)>,

    /// sqlite (temporary), sqlite:PATH?setting=value&...; a private server that is started for the
    /// run: mariadb, mysql, postgres (mariadb:/PREFIX for one installed there); one that runs:
    /// mysql://USER@HOST/DATABASE, mariadb://..., postgres://... (passwords: ~/.my.cnf, MYSQL_PWD,
    /// ~/.pgpass, PGPASSWORD); or null:?service=1ms.
    #[arg(long, value_name = "URL", default_value = "sqlite")]
    pub(crate) target: String,

    /// File whose first line is the password of the target, where its URL has none [default:
    /// DBTIME_PASSWORD; else where clients of the server look].
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,

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
    pub(crate) rate: Option<RateChoice>,

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
    pub(crate) think: Option<ThinkTime>,

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

    /// How statements go to a server: prepared (once a connection) or text [default: prepared].
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<StatementProtocol>,

    /// Send statements of a transaction to a server before those ahead of them are answered, where
    /// a failure cannot make them do harm.
    #[arg(long)]
    pub(crate) pipeline: bool,

    /// When connections to a server are made anew: lost, every-transaction [default: lost].
    #[arg(long, value_name = "WHEN")]
    pub(crate) reconnect: Option<Reconnect>,

    /// Have the server end statements that take longer: they fail. One without an answer a second
    /// later loses its connection.
    #[arg(long, value_name = "TIME")]
    pub(crate) statement_timeout: Option<Nanos>,

    /// A setting of the private server. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) server_set: Vec<(String, String)>,

    /// An environment variable of the private server, such as LD_PRELOAD; NAME alone is taken from
    /// dbtime's own. Repeatable.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = parse_variable)]
    pub(crate) server_env: Vec<String>,

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
    pub(crate) limits: Vec<WorkloadLimit>,

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

    /// Print what happens as JSON lines, and nothing else: phases, seconds, at the end the record.
    #[arg(long, conflicts_with_all = ["json", "histogram", "server_threads", "sweep", "repeat"])]
    pub(crate) events: bool,

    /// Only find the flat-out rate that the runs of a sweep share.
    #[arg(long, hide = true, requires = "events")]
    pub(crate) find_rate: bool,

    /// The process of dbtime that makes this run: it ends with that.
    #[arg(long, hide = true, requires = "events", value_name = "PID")]
    pub(crate) parent: Option<i32>,

    /// Add the response histogram to the report.
    #[arg(long)]
    pub(crate) histogram: bool,

    /// Add what the server used by name of thread to the report.
    #[arg(long)]
    pub(crate) server_threads: bool,

    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

fn parse_variable(text: &str) -> Result<String, String> {
    match text.split_once('=').map_or(text, |(name, _)| name) {
        "" => Err("write NAME=VALUE, or NAME alone".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

fn parse_limit(text: &str) -> Result<WorkloadLimit, String> {
    WorkloadLimit::parse(text).map_err(|error| error.to_string())
}
