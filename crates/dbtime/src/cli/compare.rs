//! `dbtime compare`.

use super::DETAILS;
use clap::Args;
use dbtime_lab::study::margin;
use dbtime_model::record::PrimaryMetric;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime compare before after
      two runs, or two sweeps, side by side
  dbtime compare before after --details
      with all parts, operations, statements, counters and settings
  dbtime compare before after --html compared.html
  dbtime compare base/* -- new/*
      a verdict on two groups of runs: at least three on each side, better ten
  dbtime compare --gate --primary p99 --margin 5% base/* -- new/*
      exit code 1 if the new ones are slower by 5 % or more
  dbtime compare --markdown summary.md --junit tests.xml released -- new
      all runs in two folders, for a CI job
  dbtime compare old.txt new.txt
      output of `go test -bench`, hyperfine or others, name by name
  dbtime compare --gate --margin 3% baseline.txt new.txt
      exit code 1 if a name is worse by 3 % or more
  dbtime compare monday.json tuesday.json
      two digests of `dbtime log`, class by class";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "dbtime compare [OPTIONS] <A> <B>
       dbtime compare [OPTIONS] <A>... -- <B>...")]
pub(crate) struct CompareArgs {
    /// Folders of two runs or two sweeps, or their run.json or plan.json; before `--` any number
    /// of runs of one configuration or of an external program, folders of such runs, or a study,
    /// for its baseline. Or files of other tools: output of `go test -bench`, JSON of hyperfine
    /// or Google Benchmark, JUnit XML, CSV; or two digests that `dbtime log` printed in JSON.
    #[arg(value_name = "A", required = true)]
    pub(crate) a: Vec<PathBuf>,
    /// After `--`: runs of a second configuration, or files of the second side. dbtime then prints
    /// a verdict.
    #[arg(value_name = "B", last = true)]
    pub(crate) b: Vec<PathBuf>,

    /// The smallest change of interest of two groups or of files, in percent of A [default: 1%].
    #[arg(long, value_name = "SHARE", value_parser = margin)]
    pub(crate) margin: Option<f64>,

    /// Metric of the verdict on two groups: throughput, mean, max or any percentile of the
    /// response, such as p95, server-cpu for a transaction, or another figure of a run [default:
    /// throughput of a closed loop, otherwise mean]. Of an external program any of its metrics,
    /// such as wall [default: the first].
    #[arg(long, value_name = "METRIC")]
    pub(crate) primary: Option<String>,

    /// Which way a unit of files is better, such as higher=hits; once for each unit [default: what
    /// the file says, else higher of rates and lower of all others].
    #[arg(long, value_name = "DIRECTION=UNIT", value_parser = better)]
    pub(crate) better: Vec<UnitDirection>,

    /// Exit with 1 if B is shown to be worse than A by the margin or more, of files in any name,
    /// with 0 if that is excluded, and with 4 otherwise.
    #[arg(long)]
    pub(crate) gate: bool,

    /// Write an HTML file instead of text.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write the verdicts as Markdown, for a comment or the summary of a CI job.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Write the verdicts as JUnit XML: worse by the margin or more is a failure, undecided is
    /// skipped.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    #[arg(long, help = DETAILS, conflicts_with_all = ["html", "json"])]
    pub(crate) details: bool,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which way a unit of files of other tools is better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitDirection {
    pub(crate) unit: String,
    pub(crate) is_higher: bool,
}

/// A direction with its unit.
fn better(text: &str) -> Result<UnitDirection, String> {
    let (direction, unit) = text.split_once('=').unwrap_or((text, ""));
    let is_higher = match direction {
        "higher" => true,
        "lower" => false,
        _ => return Err("give higher=UNIT or lower=UNIT".to_owned()),
    };
    match unit.is_empty() {
        true => Err("name the unit behind `=` as the report has it".to_owned()),
        false => Ok(UnitDirection { unit: unit.to_owned(), is_higher }),
    }
}

/// A metric by its name.
pub(crate) fn metric(name: &str) -> Result<PrimaryMetric, String> {
    PrimaryMetric::parse(name).map_err(|error| error.to_string())
}
