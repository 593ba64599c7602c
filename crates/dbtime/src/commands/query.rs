//! `dbtime query`: what a statement takes, or whether another form of it is faster and returns the
//! same rows.

use crate::cli::QueryArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::{all_of, check_named, write_named};
use crate::read_files::{refuse_beside_json, refuse_clashes};
use crate::{interrupt, pipes, screen};
use dbtime_lab::Target;
use dbtime_lab::query::{FormSource, QueryProgress, QueryRequest, measure};
use dbtime_model::plain_text::legible_path;
use dbtime_model::query::{QueryExpectation, QueryRecord};
use dbtime_model::secret_text::masked_command;
use dbtime_model::units::count;
use dbtime_model::{Nanos, bounded_file};
use dbtime_report::plain_json;
use dbtime_report::query::{QueryReportOptions, query_document};
use dbtime_sql::{LexicalRules, fingerprint};
use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What files are begun under.
const NAME: &str = "dbtime query";

/// How often a terminal is shown how far measuring is.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);

/// What a text of a statement comes from that is no file.
const FLAG: &str = "--query";

pub(crate) fn run(args: &QueryArgs) -> Result<ProcessExit, CommandFailure> {
    let request = request(args)?;
    begin_files(args)?;
    let stop = interrupt::install_with("nothing was printed".to_owned());
    let status = QueryStatus::new();
    let measured = measure(&request, &|progress| status.show(&progress), &stop);
    status.erase();
    let record = measured?;
    all_of([show(args, &record), write_record(args, &record)])?;
    Ok(match stop.is_set() {
        true => by_expectations(&record.expectations).of_part(),
        false => exit_of(&record),
    })
}

/// What the arguments ask for.
///
/// Errors: they contradict each other, or a file with a statement cannot be read.
fn request(args: &QueryArgs) -> Result<QueryRequest, CommandFailure> {
    refuse_contradictions(args)?;
    let target = args.target.as_deref().map(str::parse::<Target>).transpose()?;
    let forms = forms(args)?;
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(QueryRequest {
        target,
        dictionaries: args.dict.clone(),
        on_copy: args.on_copy.clone(),
        seed: args.seed,
        budget: args.time,
        row_keys: args.row_keys,
        margin: args.margin,
        statement_timeout: args.statement_timeout,
        commits: args.commit,
        analyzes: !args.no_analyze,
        tournament: args.tournament,
        advises: (args.advice || args.lint || forms.len() == 1) && !args.no_advice,
        lint: args.lint,
        trace: args.trace,
        is_raw: args.raw_sql,
        against: args.against.clone(),
        expectations: expected(args),
        command: command(&words, args.raw_sql),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        forms,
    })
}

/// What can be refused without touching a database.
fn refuse_contradictions(args: &QueryArgs) -> Result<(), CommandFailure> {
    let forms = args.files.len() + args.query.len();
    let refusal = match forms {
        0 => Some("no statement: name a file with one, or give it by --query".to_owned()),
        1 | 2 => place_refusal(args).or_else(|| flag_refusal(args, forms)),
        several => Some(format!(
            "{several} statements: name one, or two forms of one that are to be compared"
        )),
    };
    refusal.map_or(Ok(()), |refusal| Err(CommandFailure::usage(refusal)))
}

/// Why there is no database, or there are two.
fn place_refusal(args: &QueryArgs) -> Option<String> {
    match (&args.target, &args.on_copy) {
        (None, None) => Some(
            "no database: name it with --target, or an SQLite file that is to be copied with \
             --on-copy FILE"
                .to_owned(),
        ),
        (None, Some(None)) => Some(
            "--on-copy without --target takes the file of an SQLite database: write --on-copy \
             FILE"
                .to_owned(),
        ),
        (_, Some(Some(file))) if file.extension().is_some_and(|end| end == "sql") => Some(format!(
            "--on-copy takes an SQLite database, and {} is a statement: write the statement first",
            legible_path(file)
        )),
        (Some(_), Some(Some(_))) => Some(
            "--on-copy FILE and --target name two databases: leave out FILE or --target".to_owned(),
        ),
        _ => None,
    }
}

/// Why a flag says nothing here.
fn flag_refusal(args: &QueryArgs, forms: usize) -> Option<String> {
    if let Some(flag) = expected(args).first().filter(|_| forms == 1) {
        return Some(format!("{flag} is about two forms: name a second file, or leave it out"));
    }
    let times = [("--time", args.time), ("--statement-timeout", args.statement_timeout)];
    let (flag, _) = times.into_iter().find(|(_, time)| *time == Nanos::ZERO)?;
    Some(format!("{flag} 0 leaves no time for an execution: give it a length such as 10s"))
}

/// The flags that want something of the result.
fn expected(args: &QueryArgs) -> Vec<String> {
    let flags =
        [(args.expect_faster, "--expect-faster"), (args.expect_same_rows, "--expect-same-rows")];
    flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag.to_owned()).collect()
}

/// The statements, those of files first.
fn forms(args: &QueryArgs) -> Result<Vec<FormSource>, CommandFailure> {
    let files = args.files.iter().map(|file| {
        let text = pipes::awaited(file, || bounded_file::written_text(file));
        let sql = text.map_err(|error| {
            CommandFailure::environment(format!(
                "cannot read {}: {error}; name a file with a statement, or give the statement by \
                 --query",
                legible_path(file)
            ))
        })?;
        Ok(FormSource { source: legible_path(file), sql })
    });
    let given = |sql: &String| FormSource { source: FLAG.to_owned(), sql: sql.clone() };
    files.chain(args.query.iter().map(|sql| Ok(given(sql)))).collect()
}

/// The command line without secrets, and unless it is `raw` without literals.
fn command(words: &[String], is_raw: bool) -> String {
    if is_raw {
        return masked_command(words);
    }
    let (mut shown, mut flag) = (Vec::new(), "");
    for word in words {
        let joined = word.split_once('=').filter(|_| word.starts_with("--"));
        shown.push(match joined {
            Some((name, value)) => format!("{name}={}", without_literals(name, value)),
            None => without_literals(flag, word),
        });
        flag = if joined.is_none() { word.as_str() } else { "" };
    }
    masked_command(&shown)
}

/// The value of a flag without literals of the statement that it is, or has behind a name.
fn without_literals(flag: &str, value: &str) -> String {
    let of_statement = |sql: &str| {
        let mut text = String::new();
        fingerprint(sql, &LexicalRules::of_protocol(None), &mut text);
        text
    };
    match (flag, value.split_once('=')) {
        (FLAG, _) => of_statement(value),
        // Other sources are names of files and ranges.
        ("--dict", Some((names, source))) if source.contains(char::is_whitespace) => {
            format!("{names}={}", of_statement(source))
        }
        _ => value.to_owned(),
    }
}

/// Begins what is to be written, before anything is executed.
fn begin_files(args: &QueryArgs) -> Result<(), CommandFailure> {
    let written: Vec<&PathBuf> = args.document.html.iter().chain(&args.out).collect();
    let copied = args.on_copy.iter().flatten();
    let read: Vec<&PathBuf> = args.files.iter().chain(&args.against).chain(copied).collect();
    refuse_beside_json(args.json, written.iter().copied())?;
    refuse_clashes(written, read.iter().copied())?;
    check_named(args.out.as_deref())?;
    args.document.begin(NAME, read)
}

fn show(args: &QueryArgs, record: &QueryRecord) -> Result<(), CommandFailure> {
    let details = args.details || args.document.html.is_some();
    if args.json {
        screen::json_of(&written(args, record));
        let options = QueryReportOptions { details, shows_values: args.raw_sql };
        return args.document.write(&query_document(record, options));
    }
    // Values stay on the screen of the one who may read them there.
    let is_seen = screen::columns().is_some() && !args.document.is_given();
    let options = QueryReportOptions { details, shows_values: args.raw_sql || is_seen };
    let document = query_document(record, options);
    let (shown, written) = args.document.shown(&document, || document.text(screen::style()));
    screen::result(&shown);
    written
}

/// The record as files have it.
fn written(args: &QueryArgs, record: &QueryRecord) -> QueryRecord {
    let record = record.clone();
    if args.raw_sql { record } else { record.without_values() }
}

fn write_record(args: &QueryArgs, record: &QueryRecord) -> Result<(), CommandFailure> {
    let Some(path) = &args.out else { return Ok(()) };
    let json = serde_json::to_string_pretty(&written(args, record));
    let json = json.map_err(CommandFailure::environment)?;
    write_named(path, &(plain_json(&json).into_owned() + "\n"))?;
    if !args.json && !args.document.markdown {
        screen::result(&format!("Record: {}\n", legible_path(path)));
    }
    Ok(())
}

/// How the process ends: by what was expected, where there is a measurement.
fn exit_of(record: &QueryRecord) -> ProcessExit {
    let failed = record.forms.iter().find(|form| form.times.is_none());
    if let Some(form) = failed {
        let why = form.failure.as_deref().unwrap_or("it was not executed");
        screen::error(&format!("there are no figures of {}: {why}", form.name));
        return ProcessExit::Environment;
    }
    by_expectations(&record.expectations)
}

/// What is not met fails; what is not known is undecided.
fn by_expectations(expectations: &[QueryExpectation]) -> ProcessExit {
    let exits = expectations.iter().map(|expected| match expected.is_met {
        Some(true) => ProcessExit::Fine,
        Some(false) => ProcessExit::Failed,
        None => ProcessExit::Undecided,
    });
    let exits: Vec<ProcessExit> = exits.collect();
    let worst = [ProcessExit::Failed, ProcessExit::Undecided];
    worst.into_iter().find(|exit| exits.contains(exit)).unwrap_or(ProcessExit::Fine)
}

/// How far measuring is, on a terminal.
struct QueryStatus {
    /// When it was shown last; `None`: there is no terminal, or not yet.
    shown: Cell<Option<Instant>>,
    has_audience: bool,
}

impl QueryStatus {
    fn new() -> Self {
        Self { shown: Cell::new(None), has_audience: screen::has_audience() }
    }

    fn show(&self, progress: &QueryProgress) {
        let now = Instant::now();
        let is_due = self.shown.get().is_none_or(|at| now.duration_since(at) >= STATUS_INTERVAL);
        if self.has_audience && is_due {
            self.shown.set(Some(now));
            screen::status(&status_text(progress));
        }
    }

    fn erase(&self) {
        if self.shown.get().is_some() {
            screen::status("");
        }
    }
}

/// What is being done, and how much of it is.
fn status_text(progress: &QueryProgress) -> String {
    let (step, done) = (&progress.step, count(progress.done));
    match (progress.done, progress.of) {
        (0, 0) => step.clone(),
        (_, 0) => format!("{step}: {done}"),
        (_, of) => format!("{step}: {done} of {}", count(of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{CliCommand, parse};

    fn args(line: &str) -> QueryArgs {
        let words = ["dbtime", "query"].into_iter().chain(line.split(' '));
        match parse(words).expect("a command line").command {
            CliCommand::Query(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_become_a_request() {
        let one = request(&args("--query x --target sqlite:t.db --margin 5% --dict a=range:1..9"));
        let one = one.expect("a request");
        assert_eq!((one.margin, one.seed, one.row_keys), (0.05, 1, 200));
        assert_eq!([one.budget, one.statement_timeout], [10, 60].map(Nanos::from_secs));
        assert!(one.advises && one.analyzes && !one.commits && !one.tournament && !one.is_raw);
        assert_eq!(one.forms, [FormSource { source: "--query".to_owned(), sql: "x".to_owned() }]);
        assert_eq!(one.dictionaries[0].parameters, ["a"]);
        let two = request(&args("--query x --query y --on-copy t.db --expect-same-rows"));
        let two = two.expect("a request");
        assert!(!two.advises && two.target.is_none());
        assert_eq!(two.on_copy, Some(Some(PathBuf::from("t.db"))));
        assert_eq!(two.expectations, ["--expect-same-rows"]);
        let none = request(&args("--query x --target sqlite:t.db --no-advice --on-copy"));
        let none = none.expect("a request");
        assert!(!none.advises && none.on_copy == Some(None));
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_a_remedy() {
        for (line, words) in [
            ("--target sqlite:t.db", "no statement"),
            ("--query x", "no database"),
            ("--query x --on-copy", "write --on-copy FILE"),
            ("--on-copy a.sql", "no statement"),
            ("--query x --on-copy a.sql", "write the statement first"),
            ("--query x --on-copy t.db --target sqlite:t.db", "leave out FILE or --target"),
            ("a b --query x --target sqlite:t.db", "3 statements"),
            ("--query x --target sqlite:t.db --expect-faster", "--expect-faster is about two"),
            ("--query x --target sqlite:t.db --time 0s", "--time 0 leaves no time"),
        ] {
            let error = request(&args(line)).expect_err(line).words();
            assert!(error.contains(words), "{line}: {error}");
        }
        let missing = request(&args("absent.sql --target sqlite:t.db")).expect_err("no file");
        assert_eq!(missing.exit(), ProcessExit::Environment);
        assert!(missing.words().contains("cannot read absent.sql"), "{}", missing.words());
    }

    #[test]
    fn a_command_line_keeps_no_literals_unless_they_are_to_be_kept() {
        let words = [
            "dbtime",
            "query",
            "--query",
            "SELECT a FROM t WHERE b = 'hush'",
            "--query=SELECT a FROM t WHERE b = 4711",
            "--dict",
            "id=SELECT id FROM t WHERE c = 'hush'",
            "--dict=day=range:1..365",
        ];
        let words = words.map(str::to_owned);
        let shown = command(&words, false);
        assert!(!shown.contains("hush") && !shown.contains("4711"), "{shown}");
        assert!(shown.contains("--dict=day=range:1..365"), "{shown}");
        assert!(command(&words, true).contains("4711"));
    }

    #[test]
    fn what_was_expected_decides_how_it_ends() {
        let of = |met: &[Option<bool>]| {
            let expected = |is_met: &Option<bool>| QueryExpectation {
                flag: "--expect-faster".to_owned(),
                is_met: *is_met,
                reason: String::new(),
            };
            by_expectations(&met.iter().map(expected).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), ProcessExit::Fine);
        assert_eq!(of(&[Some(true)]), ProcessExit::Fine);
        assert_eq!(of(&[None, Some(false)]), ProcessExit::Failed);
        assert_eq!(of(&[Some(true), None]), ProcessExit::Undecided);
    }

    #[test]
    fn progress_says_what_is_done_and_of_how_much() {
        let text = |done, of| {
            status_text(&QueryProgress { step: "comparing rows".to_owned(), done, of })
        };
        assert_eq!(text(0, 0), "comparing rows");
        assert_eq!(text(12, 0), "comparing rows: 12");
        assert_eq!(text(12, 1206), "comparing rows: 12 of 1,206");
    }
}
