//! Flags of `dbtime trace`.

use super::login::LoginArgs;
use clap::{Args, ValueEnum};
use dbtime_model::{Nanos, WireProtocol};
use dbtime_observe::process::ProcessSelector;
use dbtime_observe::trace::ServerFilter;
use std::path::PathBuf;

/// Reads a length; without a unit it is in seconds.
fn length(text: &str) -> Result<Nanos, String> {
    text.parse::<Nanos>().map_err(|error| error.to_string())
}

/// Reads the width of a bucket: whole microseconds.
fn step(text: &str) -> Result<Nanos, String> {
    let step = length(text)?;
    match step.0 % 1000 == 0 && (1..=u64::from(u32::MAX)).contains(&(step.0 / 1000)) {
        true => Ok(step),
        false => Err("it takes whole microseconds, from 1us to 1h".to_owned()),
    }
}

/// Reads the name of a user or a database, of which the kernel's side has no longer ones.
fn name(text: &str) -> Result<String, String> {
    match text.len() {
        1..=63 => Ok(text.to_owned()),
        _ => Err("names have 1 to 63 bytes".to_owned()),
    }
}

/// Reads a share of a CPU: percent.
fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|share| share.is_finite() && *share > 0.0);
    share.ok_or_else(|| "it takes a share of one CPU, such as 2%".to_owned())
}

fn power_of_two(text: &str) -> Result<u32, String> {
    let number: u32 = text.parse().map_err(|_| "it takes a number of KiB".to_owned())?;
    match number.is_power_of_two() && (4..=1 << 20).contains(&number) {
        true => Ok(number),
        false => Err("it takes a power of two from 4 to 1048576".to_owned()),
    }
}

const EXAMPLES: &str = "\
Examples:
  dbtime trace
      every request of every MariaDB, MySQL and PostgreSQL on this machine, as it ends
  dbtime trace -p mariadbd --slow 5ms --raw-sql
      those of 5 ms and more, with what stands in their literals
  dbtime trace --user app --db shop --summary
      what one application asks of one database, added up
  dbtime trace --time 10s --errors --json
      ten seconds of failed requests, a JSON line each
  dbtime trace --summary
      throughput every 3 s; at the end averages, parts, the distribution and who had the CPU
  dbtime trace --histogram --step 500us --time 1m
      how responses are distributed over steps of half a millisecond
  dbtime trace --record monday.trace --time 10m
  dbtime trace monday.trace --summary
      ten minutes of everything, looked at later
  dbtime trace --slow 1s --login postgres://postgres@/
      who waits for a lock for more than a second, and whoever holds it, on stderr
  dbtime trace --port 3307 --command PREPARE,EXECUTE --match sbtest";

/// What a server speaks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ServerKind {
    // MySQL and MariaDB.
    Mysql,
    Postgres,
}

impl From<ServerKind> for WireProtocol {
    fn from(kind: ServerKind) -> Self {
        match kind {
            ServerKind::Mysql => Self::Mysql,
            ServerKind::Postgres => Self::Postgres,
        }
    }
}

/// Which servers are watched.
#[derive(Args, Debug)]
pub(crate) struct ServersArgs {
    /// Only these servers, by number, name, :PORT they listen on or path of their socket.
    /// Repeatable.
    #[arg(short, long = "process", value_name = "PID|NAME")]
    pub(crate) processes: Vec<ProcessSelector>,

    /// What a process speaks whose name does not say.
    #[arg(long, value_name = "KIND")]
    pub(crate) server_kind: Option<ServerKind>,

    /// Only servers that listen on this port, and their clients by TCP. Repeatable.
    #[arg(long = "port", value_name = "PORT")]
    pub(crate) ports: Vec<u16>,

    /// Only servers in this control group or below it: a path as in /proc/PID/cgroup, or of its
    /// folder in /sys/fs/cgroup.
    #[arg(long, value_name = "PATH")]
    pub(crate) cgroup: Option<String>,
}

impl From<&ServersArgs> for ServerFilter {
    fn from(args: &ServersArgs) -> Self {
        Self {
            processes: args.processes.clone(),
            protocol: args.server_kind.map(Into::into),
            ports: args.ports.clone(),
            cgroup: args.cgroup.clone(),
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TraceArgs {
    /// Shows what was recorded in this file, in any view, and watches nothing.
    #[arg(conflicts_with_all = [
        "processes", "server_kind", "ports", "cgroup", "record", "time", "buffer", "max_cost",
        "login",
    ])]
    pub(crate) file: Option<PathBuf>,

    /// Records everything in a new file, and shows no single requests; --raw-sql says whether with
    /// literals.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "json", "requests", "user", "database", "slow", "commands", "matching", "errors",
    ])]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) servers: ServersArgs,

    #[command(flatten)]
    pub(crate) login: LoginArgs,

    /// Instead of a line for each request: throughput as it goes, and at the end averages, parts,
    /// the distribution, and who had the CPU. It is added up in the kernel, where nothing is lost.
    #[arg(long, group = "sums", conflicts_with = "requests")]
    pub(crate) summary: bool,

    /// The same, but of the end only the distribution.
    #[arg(long, group = "sums", conflicts_with_all = ["json", "requests"])]
    pub(crate) histogram: bool,

    /// The distributions go by equal steps of so long, 40 of them, and not by powers of two.
    #[arg(long, value_name = "TIME", value_parser = step, requires = "sums")]
    pub(crate) step: Option<Nanos>,

    /// How often --summary tells of throughput.
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "3s")]
    pub(crate) every: Nanos,

    /// Ends after so long [default: with Ctrl-C].
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) time: Option<Nanos>,

    /// Ends after so many requests that were shown.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) requests: Option<u64>,

    /// Only requests of this user, as the client named it when it logged in.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) user: Option<String>,

    /// Only requests in this database: that of the login, or of a USE since then.
    #[arg(long = "db", value_name = "NAME", value_parser = name)]
    pub(crate) database: Option<String>,

    /// Only requests whose response took so long or longer.
    #[arg(long, conflicts_with = "sums", value_name = "TIME", value_parser = length)]
    pub(crate) slow: Option<Nanos>,

    /// Only requests with these commands: QUERY, EXECUTE, PREPARE, ….
    #[arg(long = "command", conflicts_with = "sums", value_name = "NAME", value_delimiter = ',')]
    pub(crate) commands: Vec<String>,

    /// Only requests whose statement contains this, in any case.
    #[arg(long = "match", conflicts_with = "sums", value_name = "TEXT")]
    pub(crate) matching: Option<String>,

    /// Only requests that failed.
    #[arg(long, conflicts_with = "sums")]
    pub(crate) errors: bool,

    /// Show statements as they are. Without it their literals, which may be anybody's secrets, are
    /// shown as ?.
    #[arg(long)]
    pub(crate) raw_sql: bool,

    /// A JSON line for each request, and one for the ledger at the end; of --summary one document.
    #[arg(long)]
    pub(crate) json: bool,

    /// Requests wait in a buffer of so many KiB until they are printed: a power of two from 4 to
    /// 1048576.
    #[arg(long, value_name = "KIB", default_value_t = 8192, value_parser = power_of_two)]
    pub(crate) buffer: u32,

    /// Where watching takes more of one CPU than this, such as 2%, requests are added up and not
    /// handed on; where that takes too much, only counted. Judged each second; not taken back.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) max_cost: Option<f64>,

    /// Exit code 4 if anything was lost.
    #[arg(long)]
    pub(crate) strict: bool,
}
