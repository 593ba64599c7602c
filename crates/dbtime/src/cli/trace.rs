//! Flags of `dbtime trace`.

use clap::Args;
use dbtime_model::Nanos;
use dbtime_observe::process::Which;

/// Reads a length with its unit.
fn length(text: &str) -> Result<Nanos, String> {
    text.parse::<Nanos>().map_err(|error| error.to_string())
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
      every request of every MariaDB and MySQL on this machine, as it ends
  dbtime trace -p mariadbd --slow 5ms --raw-sql
      those of 5 ms and more, with what stands in their literals
  dbtime trace --time 10s --errors --json
      ten seconds of failed requests, a JSON line each
  dbtime trace --summary
      throughput every 3 s; at the end averages, parts, the distribution and who had the CPU
  dbtime trace --port 3307 --command PREPARE,EXECUTE --match sbtest";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TraceArgs {
    /// Only these servers, by number, name, :PORT they listen on or path of their socket.
    /// Repeatable.
    #[arg(short, long = "process", value_name = "PID|NAME")]
    pub(crate) processes: Vec<Which>,

    /// What a process speaks whose name does not say: mysql.
    #[arg(long, value_name = "KIND", value_parser = ["mysql"])]
    pub(crate) server_kind: Option<String>,

    /// Only servers that listen on this port, and their clients by TCP. Repeatable.
    #[arg(long = "port", value_name = "PORT")]
    pub(crate) ports: Vec<u16>,

    /// Instead of a line for each request: throughput as it goes, and at the end averages, parts,
    /// the distribution, and who had the CPU. It is added up in the kernel, where nothing is lost.
    #[arg(long, conflicts_with_all = ["json", "requests", "raw_sql"])]
    pub(crate) summary: bool,

    /// The same, but of the end only the distribution.
    #[arg(long, conflicts_with_all = ["summary", "json", "requests", "raw_sql"])]
    pub(crate) histogram: bool,

    /// How often --summary tells of throughput.
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "3s")]
    pub(crate) every: Nanos,

    /// Ends after so long [default: with Ctrl-C].
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) time: Option<Nanos>,

    /// Ends after so many requests that were shown.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) requests: Option<u64>,

    /// Only requests whose response took so long or longer.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) slow: Option<Nanos>,

    /// Only requests with these commands: QUERY, EXECUTE, PREPARE, ….
    #[arg(long = "command", value_name = "NAME", value_delimiter = ',')]
    pub(crate) commands: Vec<String>,

    /// Only requests whose statement contains this, in any case.
    #[arg(long = "match", value_name = "TEXT")]
    pub(crate) matching: Option<String>,

    /// Only requests that failed.
    #[arg(long)]
    pub(crate) errors: bool,

    /// Show statements as they are. Without it their literals, which may be anybody's secrets, are
    /// shown as ?.
    #[arg(long)]
    pub(crate) raw_sql: bool,

    /// A JSON line for each request, and one for the ledger at the end.
    #[arg(long)]
    pub(crate) json: bool,

    /// Requests wait in a buffer of so many KiB until they are printed: a power of two from 4 to
    /// 1048576.
    #[arg(long, value_name = "KIB", default_value_t = 8192, value_parser = power_of_two)]
    pub(crate) buffer: u32,

    /// Exit code 4 if anything was lost.
    #[arg(long)]
    pub(crate) strict: bool,
}
