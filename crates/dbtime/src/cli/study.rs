//! `dbtime study`.

use super::DETAILS;
use super::compare::metric;
use super::number::whole;
use super::run::ComparedRunArgs;
use clap::{Args, Subcommand};
use dbtime_lab::study::margin;
use dbtime_model::Nanos;
use dbtime_model::record::PrimaryMetric;
use dbtime_model::study::MOST_SLICES;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime study ab tpcb --target mariadb --connections 16 \\
      --a server-set=innodb_flush_log_at_trx_commit=1 \\
      --b server-set=innodb_flush_log_at_trx_commit=2 --for 10min
      two settings, in one line
  dbtime study plan fsync.toml
      the planned runs, their duration and the change that they can detect
  dbtime study run fsync.toml --out fsync
  dbtime study resume fsync
      continues where it was interrupted
  dbtime study resume fsync --blocks 20
      adds 20 blocks, also to a study that is finished
  dbtime study report fsync
  dbtime study pack fsync --out fsync.tar.gz
  dbtime study verify fsync.tar.gz
      recomputes its figures";

/// Reads how long runs may take.
fn time_limit(text: &str) -> Result<Nanos, String> {
    match text.parse() {
        Ok(Nanos::ZERO) => Err("no run ends within 0 s: write 10min or 30s".to_owned()),
        Ok(length) => Ok(length),
        Err(error) => Err(error.to_string()),
    }
}

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

/// What can be done with a study.
#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Show the runs that the study in FILE plans, their duration and the change they can detect.
    Plan(StudyPlanArgs),
    /// Run the study in FILE and show its verdicts.
    Run(StudyRunArgs),
    /// Resume a study that was interrupted or stopped by noise.
    ///
    /// Complete blocks count; the interrupted block starts over. --blocks adds some.
    Resume(StudyResumeArgs),
    /// Show a study's verdicts so far.
    Report(StudyReportArgs),
    /// Pack a study and a manifest into one file, to pass on.
    Pack(StudyPackArgs),
    /// Recompute the figures of a study from its raw files, and check the files by its manifest.
    Verify(StudyVerifyArgs),
    /// Compare two settings of one run: plan, measure and answer with one command.
    ///
    /// Takes the flags of `dbtime run` that describe a run; --a and --b set the difference. It
    /// first measures the noise, then makes as many blocks as the time allows: A, B, and A once
    /// more as a control, in random order. Each run of a block has a private server of its own, and
    /// its window is divided into slices that take turns with those of the other runs. A server is
    /// traced where that is permitted. Without --gate the exit code is 0 with a verdict, and 4
    /// without one.
    Ab(Box<StudyAbArgs>),
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dbtime study plan fsync.toml --pilot 3")]
pub(crate) struct StudyPlanArgs {
    /// File of the study.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Make N blocks, in place of the number in the file: fewer for a first look, more to detect
    /// smaller changes.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1000, 20))]
    pub(crate) blocks: Option<u32>,

    /// Make the window of each run in N slices that take turns, in place of the number in the file;
    /// 1 makes it as a whole.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_SLICES, 4))]
    pub(crate) slices: Option<u32>,

    /// Limits on other activity during a run that counts, in place of those in [gate] of the file:
    /// steal=5% foreign-cpu=50% wait=0s repeats=20 steady=false.
    #[arg(long, value_name = "LIMITS", default_value = "", hide_default_value = true)]
    pub(crate) allow: String,

    /// Make N runs of the baseline first, to measure the noise and the duration of a run.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(2..=20, 3))]
    pub(crate) pilot: Option<u32>,

    /// Print the plan as one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dbtime study run fsync.toml --out fsync")]
pub(crate) struct StudyRunArgs {
    /// File of the study.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Make N blocks, in place of the number in the file: fewer for a first look, more to detect
    /// smaller changes.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1000, 20))]
    pub(crate) blocks: Option<u32>,

    /// Make the window of each run in N slices that take turns, in place of the number in the file;
    /// 1 makes it as a whole.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_SLICES, 4))]
    pub(crate) slices: Option<u32>,

    /// Limits on other activity during a run that counts, in place of those in [gate] of the file:
    /// steal=5% foreign-cpu=50% wait=0s repeats=20 steady=false.
    #[arg(long, value_name = "LIMITS", default_value = "", hide_default_value = true)]
    pub(crate) allow: String,

    /// Make N runs of the baseline first, to measure the noise and the duration of a run.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(2..=20, 3))]
    pub(crate) pilot: Option<u32>,

    /// New folder for the study [default: dbtime-runs/TIME-NAME].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) shown: StudyShownArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dbtime study resume fsync")]
pub(crate) struct StudyResumeArgs {
    /// Folder of the study or of a sweep, or a study's file: the newest study of it in dbtime-runs.
    #[arg(value_name = "STUDY")]
    pub(crate) study: PathBuf,

    /// Resume although dbtime, a server, an external program or the machine has changed; only runs
    /// within one session are compared.
    #[arg(long)]
    pub(crate) new_session: bool,

    /// Repeat up to N blocks in all because a run in them does not count, in place of the plan's
    /// number: a study that was stopped by noise goes on.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1.., 40))]
    pub(crate) repeats: Option<u32>,

    /// Try the configurations again that were left out because they could not run.
    #[arg(long)]
    pub(crate) retry_left_out: bool,

    /// Make N blocks more than are complete, in place of the rest of the plan; a finished study
    /// goes on, and its report says `extended after looking`.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1000, 20))]
    pub(crate) blocks: Option<u32>,

    /// Time limit of the runs, to within 10 %.
    #[arg(long = "for", value_name = "TIME", value_parser = time_limit)]
    pub(crate) length: Option<Nanos>,

    #[command(flatten)]
    pub(crate) shown: StudyShownArgs,
}

#[derive(Args, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct StudyReportArgs {
    /// Folder of the study, or its file: the newest study of it in dbtime-runs. Several of the same
    /// configurations are reported as one, each a session of its own.
    #[arg(value_name = "STUDY", required = true)]
    pub(crate) studies: Vec<PathBuf>,

    /// Write an HTML file instead of text.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,

    /// Write the verdicts as Markdown, for a comment or the summary of a CI job.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Write the verdicts as JUnit XML: worse by the margin or more is a failure, undecided is
    /// skipped.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Exit with 1 if a configuration is shown to be worse than the baseline by the margin or more,
    /// with 0 if that is excluded for all, and with 4 otherwise.
    #[arg(long)]
    pub(crate) gate: bool,

    #[arg(long, help = DETAILS, conflicts_with_all = ["html", "json"])]
    pub(crate) details: bool,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dbtime study pack fsync --out fsync.tar.gz")]
pub(crate) struct StudyPackArgs {
    /// Folder of the study, or its file: the newest study of it in dbtime-runs.
    #[arg(value_name = "STUDY")]
    pub(crate) study: PathBuf,

    /// New file for the archive [default: the folder's name with .tar.gz].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dbtime study verify fsync.tar.gz")]
pub(crate) struct StudyVerifyArgs {
    /// Archive written by `pack`, or folder of a study.
    #[arg(value_name = "STUDY")]
    pub(crate) study: PathBuf,
}

/// How a study that makes runs shows what it does.
#[derive(Args, Debug)]
pub(crate) struct StudyShownArgs {
    /// Exit with 1 if a configuration is shown to be worse than the baseline by the margin or more,
    /// with 0 if that is excluded for all, and with 4 otherwise.
    #[arg(long)]
    pub(crate) gate: bool,

    /// Print the result as one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,

    /// Show neither the plan nor progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  dbtime study report fsync --html fsync.html
  dbtime study report monday tuesday
      two studies of one file as the sessions of one study";

const AB_EXAMPLE: &str = "\
Example:
  dbtime study ab tpcb --target mariadb --connections 16 \\
      --a server-set=innodb_flush_log_at_trx_commit=1 \\
      --b server-set=innodb_flush_log_at_trx_commit=2 --for 10min";

#[derive(Args, Debug)]
#[command(after_help = AB_EXAMPLE)]
pub(crate) struct StudyAbArgs {
    /// Flags of configuration A, those of `dbtime run` without dashes, in one word: connections=16.
    #[arg(long, value_name = "FLAGS")]
    pub(crate) a: String,

    /// Flags of configuration B.
    #[arg(long, value_name = "FLAGS")]
    pub(crate) b: String,

    /// Total time, to within 10 %: the pilot, the runs, repeated ones, and the wait for a quiet
    /// machine. If it is short, windows are shortened.
    #[arg(long = "for", value_name = "TIME", default_value = "10min")]
    pub(crate) length: Nanos,

    /// The smallest change of interest, in percent of A.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = margin)]
    pub(crate) margin: f64,

    /// Metric of the verdict: throughput, mean, max or any percentile of the response, such as p95,
    /// server-cpu for a transaction, or another figure of a run [default: throughput of a closed
    /// loop, otherwise mean].
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub(crate) primary: Option<PrimaryMetric>,

    /// Limits as in [gate] of a study's file: wait=0s does not wait for a quiet machine, steal=5%
    /// and foreign-cpu=50% say what is quiet, and repeats=20 limits how many blocks are repeated.
    /// Runs beside other activity count, unless noise=stop is given.
    #[arg(long, value_name = "LIMITS", default_value = "", hide_default_value = true)]
    pub(crate) allow: String,

    /// Divide the window of each run into N slices that take turns with those of the other runs of
    /// its block, on servers that live for the block; 1 measures it as a whole [default: slices of
    /// about 2 s, in the number that leaves the narrowest interval, where each run makes its own
    /// target or all use one server].
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_SLICES, 4))]
    pub(crate) slices: Option<u32>,

    /// Exit with 1 if B is shown to be worse than A by the margin or more, with 0 if that is
    /// excluded, and with 4 otherwise.
    #[arg(long)]
    pub(crate) gate: bool,

    /// Do not trace the server, which is done where it is permitted, on both sides alike.
    #[arg(long)]
    pub(crate) no_trace: bool,

    /// Save the comparison as a study file.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) run: ComparedRunArgs,
}
