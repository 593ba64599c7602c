//! Flags of `dbtime trace`.

use super::login::LoginArgs;
use super::number::whole;
use super::{DETAILS, DocumentArgs};
use clap::{Args, ValueEnum};
use dbtime_model::spec::with_unit;
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
    let step: Nanos = with_unit(text)?;
    match step.0.is_multiple_of(1000) && (1..=u64::from(u32::MAX)).contains(&(step.0 / 1000)) {
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
    let number = text.parse::<u32>().ok();
    let number = number.filter(|kib| kib.is_power_of_two() && (4..=1 << 20).contains(kib));
    number.ok_or_else(|| "it takes a power of two from 4 to 1048576, such as 8192".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  dbtime trace
      every request of every MariaDB, MySQL and PostgreSQL on this machine
  dbtime trace -p mariadbd --slow 5ms --raw-sql
      requests of 5 ms and more, with their literals
  dbtime trace --user app --db shop --summary
      totals of one application in one database
  dbtime trace --time 10s --errors --json
      failed requests of ten seconds, a JSON line each
  dbtime trace --summary
      throughput every 3 s; at the end averages, parts, the distribution and pre-emptors
  dbtime trace --histogram --step 500us --time 1m
      the distribution of responses in steps of half a millisecond
  dbtime trace --record monday.trace --time 10m
  dbtime trace monday.trace --summary
      ten minutes of everything, shown later: on one screen, with --details all of it
  dbtime trace monday.trace --summary --html monday.html
      its sums as a page; with --markdown as Markdown
  dbtime trace --slow 1s --login postgres://postgres@/
      requests of a second and more; lock waits and their holders on stderr
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
    /// Watch only these servers, by process number, name, listening :PORT or path of a socket.
    /// Repeatable.
    #[arg(short, long = "process", value_name = "PID|NAME")]
    pub(crate) processes: Vec<ProcessSelector>,

    /// Protocol of servers whose process name does not show it.
    #[arg(long, value_name = "KIND")]
    pub(crate) server_kind: Option<ServerKind>,

    /// Watch only servers that listen on this port, and their TCP clients. Repeatable.
    #[arg(long = "port", value_name = "PORT", value_parser = whole::<u16>(1..=65_535, 3306))]
    pub(crate) ports: Vec<u16>,

    /// Watch only servers in this control group or below it: a path as in /proc/PID/cgroup, or a
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
    /// Show this recording, in any view, instead of watching servers.
    #[arg(conflicts_with_all = [
        "processes", "server_kind", "ports", "cgroup", "record", "time", "buffer", "max_cost",
        "login",
    ])]
    pub(crate) file: Option<PathBuf>,

    /// Record every request to a new FILE instead of printing it. Literals are removed unless
    /// --raw-sql is given.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "json", "requests", "user", "database", "slow", "commands", "matching", "errors",
    ])]
    pub(crate) record: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) servers: ServersArgs,

    #[command(flatten)]
    pub(crate) login: LoginArgs,

    /// Print throughput periodically, and averages, parts, the distribution and pre-emptors at the
    /// end, instead of single requests. The kernel adds them up, so that nothing is lost.
    /// For a recording, print as much as fits on one screen; --details prints the rest.
    #[arg(long, group = "sums", conflicts_with = "requests")]
    pub(crate) summary: bool,

    #[arg(long, help = DETAILS, requires = "summary")]
    #[arg(conflicts_with_all = ["html", "markdown", "json"])]
    pub(crate) details: bool,

    /// As --summary, but print only the distribution at the end.
    #[arg(long, group = "sums", conflicts_with_all = ["json", "requests"])]
    pub(crate) histogram: bool,

    /// Divide distributions into 40 equal steps of this width instead of powers of two.
    #[arg(long, value_name = "TIME", value_parser = step, requires = "sums")]
    pub(crate) step: Option<Nanos>,

    /// Interval between two lines of throughput with --summary.
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "3s")]
    pub(crate) every: Nanos,

    /// Stop after this time [default: on Ctrl-C].
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) time: Option<Nanos>,

    /// Stop after N printed requests.
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<u64>(0.., 100))]
    pub(crate) requests: Option<u64>,

    /// Select requests of this user, the name in the client's login.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) user: Option<String>,

    /// Select requests in this database, named by the login or the latest USE.
    #[arg(long = "db", value_name = "NAME", value_parser = name)]
    pub(crate) database: Option<String>,

    /// Print only requests with a response of at least this time.
    #[arg(long, conflicts_with = "sums", value_name = "TIME", value_parser = with_unit::<Nanos>)]
    pub(crate) slow: Option<Nanos>,

    /// Print only requests with these commands: QUERY, EXECUTE, PREPARE, ….
    #[arg(long = "command", conflicts_with = "sums", value_name = "NAME", value_delimiter = ',')]
    pub(crate) commands: Vec<String>,

    /// Print only requests whose statement contains TEXT, upper or lower case.
    #[arg(long = "match", conflicts_with = "sums", value_name = "TEXT")]
    pub(crate) matching: Option<String>,

    /// Print only failed requests.
    #[arg(long, conflicts_with = "sums")]
    pub(crate) errors: bool,

    /// Show the literals of statements, which may be secrets [default: ? in place of literals].
    #[arg(long)]
    pub(crate) raw_sql: bool,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print a JSON line for each request, then one with the ledger; with --summary one document.
    #[arg(long)]
    pub(crate) json: bool,

    /// Size of the buffer between kernel and dbtime in KiB, a power of two from 4 to 1048576.
    #[arg(long, value_name = "KIB", default_value_t = 8192, value_parser = power_of_two)]
    pub(crate) buffer: u32,

    /// Limit tracing overhead to this share of one CPU, such as 2%. Checked every second; above it
    /// dbtime stops reporting single requests, then stops aggregating. It does not resume them.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) max_cost: Option<f64>,

    /// Exit with 4 if any request was or may have been lost, if a connection could not be read
    /// (encrypted, compressed or of another protocol), or if the parts of responses were not
    /// measured.
    #[arg(long)]
    pub(crate) strict: bool,
}

impl TraceArgs {
    /// Whether sums are printed for people as they grow, and not one document of them at the end.
    pub(crate) fn has_ticks(&self) -> bool {
        self.summary && !self.json && !self.document.markdown && !self.is_short()
    }

    /// Whether the answer of a recording is printed alone. What is watched now is shown whole, for
    /// it may not be there to be shown again.
    pub(crate) fn is_short(&self) -> bool {
        let is_text = !self.json && !self.document.is_given();
        self.summary && self.file.is_some() && !self.details && is_text
    }
}
