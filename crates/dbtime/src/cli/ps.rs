//! Flags of `dbtime ps`.

use super::DocumentArgs;
use super::number::whole;
use clap::Args;
use dbtime_model::Nanos;
use dbtime_model::process::ShareOf;
use dbtime_observe::process::ProcessSelector;

const EXAMPLES: &str = "\
Examples:
  dbtime ps 10
      every process over ten seconds, most CPU time first
  dbtime ps 10 mariadbd sysbench
      processes with these names
  dbtime ps 500ms :3306 --all --of cpu
      the process that listens on port 3306, with run-queue delay, switches, faults and I/O
  dbtime ps 1 4711 -t --count 60
      a process with its threads, sixty times
  dbtime ps 10 --exact
      every process that ran at all, with its waits for a CPU (as root)
  dbtime ps 10 --html processes.html
      the table as a page; --markdown prints it for a comment";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PsArgs {
    /// Length of the interval: 10 (seconds), 2.5, 10s, 500ms.
    #[arg(value_name = "SECONDS", value_parser = interval)]
    pub(crate) interval: Nanos,

    /// Processes by number, name, listening :PORT or path of a Unix socket [default: all].
    #[arg(value_name = "PID|NAME")]
    pub(crate) which: Vec<ProcessSelector>,

    /// Base of percentages: system (all CPUs) or cpu (one CPU).
    #[arg(long, value_name = "WHAT", default_value = "system", value_parser = share_of)]
    pub(crate) of: ShareOf,

    /// Print CPU seconds instead of percentages.
    #[arg(long, conflicts_with = "of")]
    pub(crate) seconds: bool,

    /// Add run-queue delay, context switches, page faults, reads, writes and memory; needs more
    /// than 100 columns.
    #[arg(long)]
    pub(crate) all: bool,

    /// Count every switch in the kernel: adds short-lived processes, and waits for a CPU after a
    /// wake-up or a pre-emption. Rights: root, or CAP_BPF and CAP_PERFMON.
    #[arg(long)]
    pub(crate) exact: bool,

    /// Print a line for each thread.
    #[arg(short, long)]
    pub(crate) threads: bool,

    /// Number of intervals, one after the other.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "html",
          value_parser = whole::<u64>(1.., 6))]
    pub(crate) count: u64,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print JSON and nothing else: one document, with --count a line for each interval.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a length that is not zero.
pub(super) fn interval(text: &str) -> Result<Nanos, String> {
    match text.parse() {
        Ok(Nanos::ZERO) => Err("an interval of 0 measures nothing: write 10s or 500ms".to_owned()),
        Ok(length) => Ok(length),
        Err(error) => Err(error.to_string()),
    }
}

fn share_of(text: &str) -> Result<ShareOf, String> {
    match text {
        "system" => Ok(ShareOf::System),
        "cpu" => Ok(ShareOf::Cpu),
        _ => Err("write system (all CPUs together) or cpu (one of them)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_a_length() {
        assert_eq!(interval("10"), Ok(Nanos::from_secs(10)));
        for bad in ["0", "0s", "", "mariadbd"] {
            assert!(interval(bad).is_err(), "{bad} was taken");
        }
    }
}
