//! Flags of `dbtime run`.

use super::number::whole;
use super::unit::with_unit;
use clap::Args;
use dbtime_model::Nanos;
use dbtime_model::spec::{
    Arrivals, Backlog, BitRate, CpuList, LimitError, LimitMetric, RateChoice, ReconnectPolicy,
    StatementProtocol, ThinkTime, WorkloadLimit,
};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime run
      atm on a temporary SQLite database, at half of its flat-out rate
  dbtime run point-select --workers 1 --time 10s
      closed loop: one worker flat out
  dbtime run atm --connections 150 --think exp:10ms
      closed loop: 150 clients with a think time of 10 ms on average
  dbtime run atm --rate 500/s --jitter 200us --workers 4 --limit 'p90<=5ms'
      open loop: a steady rate; exit code 1 if the limit fails
  dbtime run report-scan --transactions 80 --sweep \\
      'arrivals=at-once workers=40,10,4; workers=4 rate=auto:500%,auto:250%,auto:95%'
      latency against throughput, as one table
  dbtime run point-select --target mariadb --rate auto:50% --repeat 3 \\
      --sweep connections=1,2,4,8,16,32,64,128,256,512,1024,2048
      one rate over more and more connections, with the server's CPU time
  dbtime run --query 'SELECT 1' --connections 1 --transactions 100 --target mariadb
      one request a hundred times on a private MariaDB: response, server CPU, counters
  dbtime run point-select --rate 1000/s --connections 64 --target postgres://app@db1/shop
      64 connections to a running PostgreSQL, loaded before by `dbtime init`";

/// Flags that describe a run, which a spec does too.
const DESCRIBING: [&str; 36] = [
    "workload",
    "query",
    "script",
    "script_set",
    "scale",
    "seed",
    "data_seed",
    "target",
    "protocol",
    "pipeline",
    "reconnect",
    "statement_timeout",
    "network_delay",
    "network_rate",
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
    "trace",
    "statements",
    "stacks",
];

/// Whether a flag, by its long name, describes a run.
#[cfg(test)]
pub(crate) fn describes_run(flag: &str) -> bool {
    // The only one whose field has another name.
    let field = if flag == "limit" { "limits".to_owned() } else { flag.replace('-', "_") };
    DESCRIBING.contains(&field.as_str())
}

#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES, args_override_self = true)]
pub(crate) struct RunArgs {
    /// A shipped workload (see `dbtime workloads`) or the path of a workload file.
    pub(crate) workload: Option<String>,

    /// Run one statement instead of a workload.
    #[arg(long, value_name = "SQL", conflicts_with = "workload")]
    pub(crate) query: Option<String>,

    /// Run a script instead of a workload: FILE.sql of pgbench, FILE.lua of sysbench.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "query"])]
    pub(crate) script: Option<PathBuf>,

    /// Run the spec in FILE: the output of --print-spec, or the record of a run; - is standard
    /// input. Passwords: --password-file, DBTIME_PASSWORD.
    #[arg(long, value_name = "FILE", conflicts_with_all = DESCRIBING, conflicts_with = "sweep")]
    pub(crate) spec: Option<PathBuf>,

    /// Print the spec of the run, a JSON document without passwords, and run nothing; with --sweep
    /// one line for each run.
    #[arg(long, conflicts_with_all = ["out", "json", "events", "strict", "histogram"])]
    pub(crate) print_spec: bool,

    /// Variable of a pgbench script (its -D) or option of a sysbench script; NAME alone takes the
    /// value of dbtime's own variable. Repeatable.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = parse_variable)]
    pub(crate) script_set: Vec<String>,

    /// Database to drive: sqlite (temporary) or sqlite:PATH?setting=value&...; a private server for
    /// this run: mariadb, mysql, postgres (mariadb:/PREFIX for the installation there); a running
    /// server: mysql://USER@HOST/DATABASE, mariadb://..., postgres://... (passwords: ~/.my.cnf,
    /// MYSQL_PWD, ~/.pgpass, PGPASSWORD); or null:?service=1ms, which does nothing.
    #[arg(long, value_name = "URL", default_value = "sqlite")]
    pub(crate) target: String,

    /// File with the target's password in its first line, for a URL without one [default:
    /// DBTIME_PASSWORD, then the places where the server's own clients look].
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,

    /// Clients of a closed loop, connections of an open loop [default: as --workers; otherwise 1,
    /// in an open loop 8; of an embedded database no more than there are CPUs].
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=100_000, 16))]
    pub(crate) connections: Option<u32>,

    /// Execute at most W transactions at once; further clients queue.
    #[arg(long, value_name = "W", value_parser = whole::<u32>(1..=100_000, 4))]
    pub(crate) workers: Option<u32>,

    /// Rate of an open loop: 500/s, 0s:100/s,30s:500/s, ramp:100/s..2000/s, auto or auto:50% (share
    /// of the measured flat-out rate) [default: a closed loop].
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<RateChoice>,

    /// Arrival process around the rate: steady, poisson, uniform, burst:20, at-once.
    #[arg(long, value_name = "PROCESS", default_value = "steady")]
    pub(crate) arrivals: Arrivals,

    /// Width of the jitter around each due instant of steady arrivals [default: a tenth of the
    /// period].
    #[arg(long, value_name = "TIME", value_parser = with_unit::<Nanos>)]
    pub(crate) jitter: Option<Nanos>,

    /// Think time of a closed loop, between two transactions of a client: 10ms, exp:10ms,
    /// uniform:5ms..15ms. Replaces the workload's own.
    #[arg(long, value_name = "TIME", value_parser = with_unit::<ThinkTime>)]
    pub(crate) think: Option<ThinkTime>,

    /// Length of the measured window [default: 20s, or until --transactions have ended].
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<Nanos>,

    /// End after N transactions.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1.., 1000))]
    pub(crate) transactions: Option<u64>,

    /// Length of the load before the measured window [default: 3s; none with --transactions].
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<Nanos>,

    /// Driver threads for the connections to a server or to null [default: one for each CPU, for up
    /// to 8 clients in a closed loop; otherwise 1].
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=64, 4))]
    pub(crate) shards: Option<u32>,

    /// Size of the data: N times the workload's base size [default: as loaded; 1 for data that the
    /// run loads].
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1.., 10))]
    pub(crate) scale: Option<u64>,

    /// Statement protocol on a server: prepared (once a connection) or text [default: prepared].
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<StatementProtocol>,

    /// Send statements of a transaction ahead of earlier answers, except where a failure of an
    /// earlier one could make them do harm.
    #[arg(long)]
    pub(crate) pipeline: bool,

    /// Occasion for a new connection to a server: lost, every-transaction [default: lost].
    #[arg(long, value_name = "WHEN")]
    pub(crate) reconnect: Option<ReconnectPolicy>,

    /// Let the server cancel statements that take longer. Without an answer a second later the
    /// connection is closed.
    #[arg(long, value_name = "TIME", value_parser = with_unit::<Nanos>)]
    pub(crate) statement_timeout: Option<Nanos>,

    /// Hold each request back for so long before it is sent, as the round trip of a network would.
    #[arg(long, value_name = "TIME", value_parser = with_unit::<Nanos>)]
    pub(crate) network_delay: Option<Nanos>,

    /// Let no more pass to and from the server than a network of so many bits per second would:
    /// 1Gbit/s.
    #[arg(long, value_name = "BITS")]
    pub(crate) network_rate: Option<BitRate>,

    /// Setting of the private server. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) server_set: Vec<(String, String)>,

    /// Environment variable of the private server, such as LD_PRELOAD; NAME alone passes on
    /// dbtime's own value. Repeatable.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = parse_variable)]
    pub(crate) server_env: Vec<String>,

    /// CPUs of the private server: 0, 0-3, 0,2.
    #[arg(long, value_name = "CPUS")]
    pub(crate) server_cpus: Option<CpuList>,

    /// CPUs of the driver.
    #[arg(long, value_name = "CPUS")]
    pub(crate) client_cpus: Option<CpuList>,

    /// Folder for the private server's data folder, such as one in memory.
    #[arg(long, value_name = "DIR")]
    pub(crate) server_data: Option<PathBuf>,

    /// Policy for a transaction without a free connection: wait, drop, deadline:50ms.
    #[arg(long, value_name = "POLICY", default_value = "wait", value_parser = with_unit::<Backlog>)]
    pub(crate) on_backlog: Backlog,

    /// Limit for every operation, besides the workload's own limits: 'p90<=5ms', 'avg<=2ms',
    /// 'errors<=0.1%', 'throughput>=500/s'. Repeatable.
    #[arg(long = "limit", value_name = "LIMIT")]
    pub(crate) limits: Vec<WorkloadLimit>,

    /// Repeat the run over values of other flags: workers=40,10,4. Factors separated by spaces
    /// cross, groups separated by `;` follow each other. Repeatable.
    #[arg(long, value_name = "FACTORS")]
    pub(crate) sweep: Vec<String>,

    /// Find the highest rate that meets a limit, such as 'p99<=10ms', and confirm it by five runs;
    /// give up after 100, or where three rates cannot be judged on this machine.
    #[arg(
        long,
        value_name = "LIMIT",
        value_parser = parse_ceiling,
        conflicts_with_all = ["rate", "sweep", "repeat", "think", "events", "print_spec"]
    )]
    pub(crate) find_rate: Option<WorkloadLimit>,

    /// Make each run N times, in rounds; one table shows all of them.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1000, 10))]
    pub(crate) repeat: Option<u32>,

    /// Measure the parts of the time budget on one transaction in N [default: on all; with probes,
    /// an N for a cost of about 1 %].
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1.., 100))]
    pub(crate) budget_every: Option<u32>,

    /// Measure no time budget.
    #[arg(long, conflicts_with = "budget_every")]
    pub(crate) no_budget: bool,

    /// Trace the server, which runs on this machine, and split each statement's time by what the
    /// server did [needs root, or CAP_BPF and CAP_PERFMON].
    #[arg(long, conflicts_with_all = ["no_budget", "budget_every"])]
    pub(crate) trace: bool,

    /// With --trace: record where the server's threads wait and what they run on a CPU, as flame
    /// graphs by operation [off-CPU stacks alone where the kernel has nothing to sample by].
    #[arg(long, requires = "trace")]
    pub(crate) stacks: bool,

    /// Record the driver's side of each statement, to be joined with a trace of another host later
    /// (dbtime join); needs a server and a record.
    #[arg(long, conflicts_with_all = ["no_budget", "budget_every", "no_record", "trace"])]
    pub(crate) statements: bool,

    /// Exit with 4 when the measurement is invalid (client-limited, unexplained time), or was to be
    /// traced and was not to its end.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Seed of all random choices: the same seed gives the same statements.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0.., 42))]
    pub(crate) seed: u64,

    /// Seed of the rows that the run loads [default: as --seed].
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0.., 42))]
    pub(crate) data_seed: Option<u64>,

    /// Restore the data of a private server or a temporary SQLite from a snapshot in this folder;
    /// without one, load them and keep one there.
    #[arg(long, value_name = "DIR")]
    pub(crate) snapshots: Option<PathBuf>,

    /// New folder for the record [default: dbtime-runs/TIME-WORKLOAD].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Write no record.
    #[arg(long, conflicts_with = "out")]
    pub(crate) no_record: bool,

    /// Print the record as one JSON document and nothing else; with --sweep one line for each run.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print events as JSON lines and nothing else: phases, seconds, at the end the record.
    #[arg(long, conflicts_with_all = ["json", "histogram", "server_threads", "sweep", "repeat"])]
    pub(crate) events: bool,

    /// Only measure the flat-out rate of a sweep.
    #[arg(long, hide = true, requires = "events")]
    pub(crate) flat_out_rate: bool,

    /// Process of dbtime that started this one; the run ends with it.
    #[arg(long, hide = true, requires = "events", value_name = "PID")]
    pub(crate) parent: Option<i32>,

    /// Add the response histogram to the report.
    #[arg(long)]
    pub(crate) histogram: bool,

    /// Add the server's CPU time by thread name to the report.
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

/// A limit that a higher rate misses sooner.
fn parse_ceiling(text: &str) -> Result<WorkloadLimit, String> {
    let limit: WorkloadLimit = text.parse().map_err(|error: LimitError| error.to_string())?;
    match limit.metric {
        LimitMetric::Share | LimitMetric::Throughput => Err(
            "write a limit that a higher rate misses: a percentile, avg or max of the response, or \
             errors"
                .to_owned(),
        ),
        _ => Ok(limit),
    }
}
