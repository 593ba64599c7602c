//! What the arguments of `dbtime query` ask for, and what of it contradicts itself.

use crate::cli::QueryArgs;
use crate::exit::CommandFailure;
use crate::pipes;
use dbtime_lab::Target;
use dbtime_lab::query::{EXPECT_FASTER, EXPECT_SAME_ROWS, FormSource, QueryRequest};
use dbtime_model::plain_text::legible_path;
use dbtime_model::secret_text::quoted_masked_command;
use dbtime_model::{Nanos, bounded_file};
use dbtime_sql::{LexicalRules, fingerprint};

/// What a text of a statement comes from that is no file.
const FLAG: &str = "--query";

/// What the arguments ask for.
///
/// Errors: they contradict each other, or a file with a statement cannot be read.
pub(super) fn request(args: &QueryArgs) -> Result<QueryRequest, CommandFailure> {
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
        plan_only: args.plan_only,
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
    let flags = [(args.expect_faster, EXPECT_FASTER), (args.expect_same_rows, EXPECT_SAME_ROWS)];
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
        // Editors of Windows begin a file with a mark.
        let sql = match sql.strip_prefix('\u{feff}') {
            Some(behind) => behind.to_owned(),
            None => sql,
        };
        Ok(FormSource { source: legible_path(file), sql })
    });
    let given = |sql: &String| FormSource { source: FLAG.to_owned(), sql: sql.clone() };
    files.chain(args.query.iter().map(|sql| Ok(given(sql)))).collect()
}

/// The command line without secrets, and unless it is `raw` without literals.
fn command(words: &[String], is_raw: bool) -> String {
    if is_raw {
        return quoted_masked_command(words);
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
    quoted_masked_command(&shown)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{CliCommand, parse};
    use crate::exit::ProcessExit;
    use std::path::PathBuf;

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
    fn a_mark_at_the_beginning_of_a_file_is_no_part_of_a_statement() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sql");
        std::fs::write(&path, "\u{feff}SELECT 1").expect("a file");
        let line = format!("{} --target sqlite:t.db", path.display());
        assert_eq!(request(&args(&line)).expect("a request").forms[0].sql, "SELECT 1");
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
        assert!(shown.contains("--query 'SELECT a FROM t WHERE b = ?'"), "{shown}");
        assert!(command(&words, true).contains("4711"));
    }
}
