//! Flags of `dbtime query`.

use super::number::whole;
use super::{DETAILS, DocumentArgs};
use clap::Args;
use dbtime_lab::query::KeyDictionary;
use dbtime_lab::study::margin;
use dbtime_model::Nanos;
use dbtime_model::spec::with_unit;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime query a.sql --target mysql://app@db1/shop --dict id=ids.txt
      what a statement takes, where the time goes, its plan, and advice that was tried
  dbtime query a.sql b.sql --target sqlite:shop.db --dict 'id=SELECT id FROM orders'
      two forms of it with the same keys: the ratio of their times, and whether rows are the same
  dbtime query a.sql b.sql --target sqlite:shop.db --expect-faster --expect-same-rows
      exit code 1 unless both hold, for a CI job
  dbtime query a.sql --target postgres://app@db1/shop --tournament --details
      the same statement by other plans: whether the optimiser's choice is the best
  dbtime query a.sql --on-copy shop.db --dict day=range:1..365 --html a.html
      on a copy of an SQLite database, as a page
  dbtime query a.sql --target postgres://app@db1/shop --plan-only
      the plan of a statement with $1 as a log has it, without values and without an execution
  dbtime query a.sql --target sqlite:shop.db --out monday.json
  dbtime query a.sql --target sqlite:shop.db --against monday.json
      whether its plan has changed since";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QueryArgs {
    /// Files with a statement each: one to be measured, or two forms of it to be compared. A
    /// parameter is `:name`, or as the database writes it: `?`, `$1`.
    #[arg(value_name = "FILE", num_args = 0..=2)]
    pub(crate) files: Vec<PathBuf>,

    /// Statement, in place of a file; twice for two forms. Files come before it.
    #[arg(long, value_name = "SQL")]
    pub(crate) query: Vec<String>,

    /// Database: sqlite:PATH, mysql://USER@HOST/DATABASE, postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,

    /// Execute nothing on the target itself, but on a private copy of the statement's tables; of an
    /// SQLite database without --target, name its file.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) on_copy: Option<Option<PathBuf>>,

    /// Source of the values of parameters: FILE (a value a line; FILE:rand, FILE:seq and
    /// FILE:unique say in which order), SELECT … (a query on the target), range:1..100,
    /// template:user%05d:1..5000, or workload:FILE#OPERATION (keys of those names, as a workload
    /// draws them). Several parameters, NAME,NAME=SOURCE, are the columns of a query or of a file,
    /// or keys of one transaction. Repeatable.
    #[arg(long, value_name = "NAME=SOURCE", value_parser = dictionary)]
    pub(crate) dict: Vec<KeyDictionary>,

    /// Time for which each form is executed.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = with_unit::<Nanos>)]
    pub(crate) time: Nanos,

    /// Number of keys for which rows are compared.
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = whole::<u64>(1..=1_000_000, 200))]
    pub(crate) row_keys: u64,

    /// Seed of the keys and of the order of A and B.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0.., 42))]
    pub(crate) seed: u64,

    /// Smallest change of interest, in percent of A.
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = margin)]
    pub(crate) margin: f64,

    /// Time after which the server ends an execution.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = with_unit::<Nanos>)]
    pub(crate) statement_timeout: Nanos,

    /// Commit what a statement writes, instead of rolling it back.
    #[arg(long)]
    pub(crate) commit: bool,

    /// Read plans without executing the statement for them: they have estimates alone.
    #[arg(long)]
    pub(crate) no_analyze: bool,

    /// Print the plan and nothing else, without executing the statement. PostgreSQL from 12 on and
    /// SQLite plan a statement for any values of its parameters, where no --dict gives them.
    #[arg(long, conflicts_with_all = ["on_copy", "commit", "trace", "tournament", "advice", "lint",
          "expect_faster", "expect_same_rows"])]
    pub(crate) plan_only: bool,

    /// Execute the statement under the optimiser's switches too, and name the plan that is best.
    #[arg(long)]
    pub(crate) tournament: bool,

    /// Look for what makes the statement faster, and try it [default: for one form].
    #[arg(long)]
    pub(crate) advice: bool,

    /// Look for no advice.
    #[arg(long, conflicts_with_all = ["advice", "lint"])]
    pub(crate) no_advice: bool,

    /// Also list advice that was not tried.
    #[arg(long)]
    pub(crate) lint: bool,

    /// Split the time on the server from within the kernel, with the rights of `dbtime trace`.
    #[arg(long)]
    pub(crate) trace: bool,

    /// Keep literals of statements and conditions, keys, and rows that differ, in all output;
    /// passwords are removed all the same.
    #[arg(long)]
    pub(crate) raw_sql: bool,

    /// Earlier record of the statement, written by --out or --json: say whether its plan has
    /// changed.
    #[arg(long, value_name = "RECORD")]
    pub(crate) against: Option<PathBuf>,

    /// Exit with 1 if B is as fast as A or slower, with 4 if that is undecided.
    #[arg(long)]
    pub(crate) expect_faster: bool,

    /// Exit with 1 if B returns other rows than A, with 4 if rows could not be compared.
    #[arg(long)]
    pub(crate) expect_same_rows: bool,

    /// Also write the record, as --json prints it, to a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    #[arg(long, help = DETAILS, conflicts_with = "json")]
    pub(crate) details: bool,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `id=ids.txt`, `user,day=SELECT user, day FROM visit`.
fn dictionary(text: &str) -> Result<KeyDictionary, String> {
    const FORM: &str = "write NAME=SOURCE, such as id=ids.txt or day=range:1..365";
    let (names, source) = text.split_once('=').ok_or_else(|| FORM.to_owned())?;
    let source = source.trim();
    if source.is_empty() {
        return Err(format!("it has no source behind `=`: {FORM}"));
    }
    let parameters: Result<Vec<String>, String> = names.split(',').map(parameter).collect();
    Ok(KeyDictionary { parameters: parameters?, text: source.to_owned() })
}

/// The name of a parameter, also as the statement has it: `:id`, `$1`.
fn parameter(text: &str) -> Result<String, String> {
    let name = text.trim().trim_start_matches([':', '$']);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("a parameter is a name or a number, such as id=ids.txt or 1=ids.txt".to_owned());
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_name_parameters_and_a_source() {
        let of = |names: &[&str], text: &str| KeyDictionary {
            parameters: names.iter().map(|name| (*name).to_owned()).collect(),
            text: text.to_owned(),
        };
        let columns = "SELECT x, y FROM t WHERE z = 3";
        for (text, expected) in [
            ("id=ids.txt:unique", of(&["id"], "ids.txt:unique")),
            (":id=ids.txt", of(&["id"], "ids.txt")),
            ("$1=range:1..100", of(&["1"], "range:1..100")),
            ("a, b=SELECT x, y FROM t WHERE z = 3", of(&["a", "b"], columns)),
            ("name=template:user%05d:1..5000", of(&["name"], "template:user%05d:1..5000")),
            ("a,b=workload:w.toml#buy:scale=10", of(&["a", "b"], "workload:w.toml#buy:scale=10")),
        ] {
            assert_eq!(dictionary(text), Ok(expected), "{text}");
        }
        for (text, words) in [
            ("ids.txt", "write NAME=SOURCE"),
            ("id=", "no source behind"),
            ("=ids.txt", "a parameter is a name"),
            ("a,,b=ids.txt", "a parameter is a name"),
            ("a b=ids.txt", "a parameter is a name"),
        ] {
            let error = dictionary(text).expect_err(text);
            assert!(error.contains(words), "{error}");
        }
    }
}
