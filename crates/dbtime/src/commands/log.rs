//! `dbtime log`: which statements or requests took the time, by the logs of servers.

use crate::cli::{LogArgs, ReportShape};
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::{all_of, check_binary, write_binary};
use crate::read_files::{refuse_beside_json, refuse_clashes};
use crate::{interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::log_digest::{ClassGrouping, LogDigest};
use dbtime_model::plain_text::legible_path;
use dbtime_model::secret_text::masked_command;
use dbtime_observe::logs::{
    FormatChoice, LogError, LogPlan, LogProgress, UnsavedState, digest_unsaved,
};
use dbtime_report::log::{LogReportOptions, log_document, percona_report, progress_text};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What files are begun under.
const NAME: &str = "dbtime log";

/// How often a terminal is shown how far reading is.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &LogArgs) -> Result<ProcessExit, CommandFailure> {
    let plan = plan(args)?;
    begin_files(args)?;
    let stop = interrupt::install_with("nothing was printed".to_owned());
    let mut status = ReadingStatus::new();
    let digest = digest_unsaved(&plan, &mut |progress| {
        status.show(progress);
        should_go_on(&stop)
    });
    status.erase();
    let (digest, state) = digest.map_err(failure)?;
    all_of([show(args, &digest), write_parquet(args, &digest)])?;
    state.map_or(Ok(()), save)?;
    if let Some(error) = LogError::of_misread(&digest) {
        return Err(failure(error));
    }
    Ok(if stop.is_set() { ProcessExit::Fine.of_part() } else { ProcessExit::Fine })
}

/// Saves how far was read, once all output is where it is to be: what is not there is read
/// again.
fn save(state: UnsavedState) -> Result<(), CommandFailure> {
    if screen::is_lost() {
        let path = legible_path(state.path());
        screen::note(&format!("{path} is as before, because not all of the output was taken"));
        return Ok(());
    }
    state.save().map_err(failure)
}

fn should_go_on(stop: &RunStop) -> ControlFlow<()> {
    if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// What is read, and how.
///
/// Errors: two flags contradict each other.
fn plan(args: &LogArgs) -> Result<LogPlan, CommandFailure> {
    if let (Some(since), Some(until)) = (args.since, args.until)
        && since.utc_us() >= until.utc_us()
    {
        return Err(CommandFailure::usage(
            "--since is not before --until, so that nothing is left: exchange them",
        ));
    }
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(LogPlan {
        inputs: args.files.clone(),
        choice: format_choice(args),
        grouping: grouping(args)?,
        routes: args.route.clone(),
        threads: args.threads,
        names_accounts: args.format == Some(ReportShape::Percona),
        is_raw: args.raw_sql,
        assumed_weight: args.sample_rate.map(|share| 1.0 / share),
        since: args.since,
        until: args.until,
        state: args.since_last.clone(),
        command: masked_command(&words),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..LogPlan::default()
    })
}

fn format_choice(args: &LogArgs) -> FormatChoice {
    let named = [
        args.read_as.map(FormatChoice::Kind),
        args.access_format.clone().map(FormatChoice::Access),
        args.prefix.clone().map(FormatChoice::PostgresPrefix),
        args.json_fields.clone().map(FormatChoice::JsonFields),
    ];
    // The command line has one of them at most.
    named.into_iter().flatten().next().unwrap_or_default()
}

/// What makes records one class; the report of another tool has its classes.
fn grouping(args: &LogArgs) -> Result<ClassGrouping, CommandFailure> {
    match (args.format, args.group_by) {
        (None, grouping) => Ok(grouping.unwrap_or_default()),
        (Some(ReportShape::Percona), None) => Ok(ClassGrouping::Percona),
        (_, Some(grouping @ (ClassGrouping::Percona | ClassGrouping::PerconaOld))) => Ok(grouping),
        (Some(ReportShape::Percona), Some(_)) => Err(CommandFailure::usage(
            "--format percona has the classes of --group-by percona or percona-3.2: leave out one \
             of the two flags",
        )),
    }
}

/// Begins what is to be written, before anything is read.
fn begin_files(args: &LogArgs) -> Result<(), CommandFailure> {
    let written = [&args.document.html, &args.parquet, &args.since_last];
    refuse_beside_json(args.json, written.into_iter().flatten())?;
    refuse_clashes(written.into_iter().flatten(), &args.files)?;
    check_binary(args.parquet.as_deref())?;
    args.document.begin(NAME, &args.files)
}

fn show(args: &LogArgs, digest: &LogDigest) -> Result<(), CommandFailure> {
    if args.format == Some(ReportShape::Percona) {
        screen::result(&percona_report(digest, args.limit));
        return Ok(());
    }
    let options = LogReportOptions {
        order: args.order_by,
        limit: args.limit,
        show_bad: args.show_bad,
        details: args.details || args.document.html.is_some(),
        is_raw: args.raw_sql,
    };
    let document = log_document(digest, options);
    if args.json {
        screen::json_of(digest);
        return args.document.write(&document);
    }
    let (shown, written) = args.document.shown(&document, || document.text(screen::style()));
    screen::result(&shown);
    written
}

fn write_parquet(args: &LogArgs, digest: &LogDigest) -> Result<(), CommandFailure> {
    let Some(path) = &args.parquet else { return Ok(()) };
    let rows = dbtime_lab::class_rows(digest).map_err(CommandFailure::environment)?;
    write_binary(path, &rows)?;
    if !args.json && args.format.is_none() {
        screen::result(&format!("Classes: {}\n", legible_path(path)));
    }
    Ok(())
}

/// How wrong flags and files that cannot be read end the command.
fn failure(error: LogError) -> CommandFailure {
    match error {
        LogError::NoInput
        | LogError::InputTwice
        | LogError::Flag { .. }
        | LogError::StateOfPipe { .. }
        | LogError::ForeignState { .. } => CommandFailure::usage(error),
        LogError::Open { .. }
        | LogError::Read { .. }
        | LogError::Folder { .. }
        | LogError::Packed { .. }
        | LogError::UnknownFormat { .. }
        | LogError::ForeignFormat { .. }
        | LogError::Misread { .. }
        | LogError::StateChanged { .. }
        | LogError::WriteState { .. } => CommandFailure::environment(error),
    }
}

/// How far reading is, on a terminal.
struct ReadingStatus {
    begun: Instant,
    /// When it was shown last; `None`: there is no terminal, or not yet.
    shown: Option<Instant>,
    has_audience: bool,
}

impl ReadingStatus {
    fn new() -> Self {
        let has_audience = screen::has_audience();
        Self { begun: Instant::now(), shown: None, has_audience }
    }

    fn show(&mut self, progress: LogProgress) {
        let now = Instant::now();
        let is_due = now.duration_since(self.shown.unwrap_or(self.begun)) >= STATUS_INTERVAL;
        if !self.has_audience || !is_due {
            return;
        }
        self.shown = Some(now);
        let elapsed_s = now.duration_since(self.begun).as_secs_f64();
        screen::status(&progress_text(progress.done_bytes, progress.all_bytes, elapsed_s));
    }

    fn erase(&self) {
        if self.shown.is_some() {
            screen::status("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{CliCommand, parse};
    use std::path::PathBuf;

    fn args(line: &str) -> LogArgs {
        let words = ["dbtime", "log"].into_iter().chain(line.split(' '));
        match parse(words).expect("a command line").command {
            CliCommand::Log(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_report_of_another_tool_has_its_classes() {
        for (line, expected) in [
            ("x", ClassGrouping::Fingerprint),
            ("x --group-by host", ClassGrouping::Host),
            ("x --format percona", ClassGrouping::Percona),
            ("x --format percona --group-by percona-3.2", ClassGrouping::PerconaOld),
        ] {
            assert_eq!(grouping(&args(line)).expect("no clash"), expected, "{line}");
        }
        let clash = grouping(&args("x --format percona --group-by user")).expect_err("a clash");
        assert!(clash.words().contains("--group-by percona"), "{}", clash.words());
    }

    #[test]
    fn flags_become_a_plan() {
        let plan = plan(&args("a b --sample-rate 10% --prefix %m --threads 2")).expect("a plan");
        assert_eq!((plan.assumed_weight, plan.threads), (Some(10.0), Some(2)));
        assert_eq!(plan.choice, FormatChoice::PostgresPrefix("%m".to_owned()));
        assert_eq!(plan.inputs, ["a", "b"].map(PathBuf::from));
        let plain = super::plan(&args("-")).expect("a plan");
        assert_eq!((plain.assumed_weight, plain.choice), (None, FormatChoice::Auto));
        let error = super::plan(&args("a --since 2026-11-30 --until 2026-11-29"));
        assert!(error.expect_err("nothing is left").words().contains("exchange them"));
    }
}
