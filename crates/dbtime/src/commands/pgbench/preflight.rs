//! What is looked up and tidied up before a run: the server's version, the scale of the tables,
//! the vacuum.

use super::PgbenchJob;
use crate::exit::CommandFailure;
use crate::screen;
use dbtime_lab::OneShot;
use dbtime_load::failure::DatabaseFailure as Refusal;
use dbtime_load::results::ResultSets;
use dbtime_model::SqlDialect;
use dbtime_model::plain_text::legible;
use dbtime_script::pgbench::options::{BenchmarkOptions, ScriptSource, VacuumChoice};
use dbtime_script::pgbench::{PartitionScheme, StatementSurvey, SurveyReply, message};
use std::sync::Arc;

/// What is known of the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DatabaseFacts {
    /// Branches, where a built-in script is run.
    pub(super) scale: Option<u64>,
    pub(super) partitions: Option<PartitionScheme>,
}

/// How many branches there are.
const BRANCHES: &str = "select count(*) from pgbench_branches";

/// How the accounts are cut up: `r` or `h`, and into how many.
const PARTITIONS: &str = "select p.partstrat, (select count(*) from pg_catalog.pg_inherits i \
                          where i.inhparent = p.partrelid) \
                          from pg_catalog.pg_partitioned_table p \
                          where p.partrelid = to_regclass('pgbench_accounts')";

/// Looks at a database that is there; `greet` is told the server's version.
pub(super) fn database_facts(
    job: &PgbenchJob,
    what: &BenchmarkOptions,
    greet: impl FnOnce(Option<&str>),
) -> Result<DatabaseFacts, CommandFailure> {
    if let Some(file) = job.place.file.as_ref().filter(|file| has_builtin(what) && !file.exists()) {
        let missing = format!("could not open file \"{}\": there is none", file.display());
        return Err(CommandFailure::environment(format!("{missing}\n{}", uninitialized(job))));
    }
    let replies = query(job, questions(job, what)).map_err(|failure| {
        let (CommandFailure::Usage(error) | CommandFailure::Environment(error)) = failure;
        CommandFailure::environment(format!(
            "{error}\nerror: could not create connection for setup"
        ))
    })?;
    let version = replies.first().and_then(|reply| cell(reply.as_ref().ok()?, 0));
    let version = version.map(|version| legible(&version));
    greet(version.as_deref());
    let scale = replies.get(1).map(|reply| branches(job, reply)).transpose()?;
    let partitions = replies.get(2).and_then(|reply| partitions(reply.as_ref().ok()?));
    Ok(DatabaseFacts { scale, partitions })
}

fn has_builtin(what: &BenchmarkOptions) -> bool {
    what.scripts.iter().any(|choice| matches!(choice.source, ScriptSource::Builtin(_)))
}

/// What is to be done where there are no tables.
fn uninitialized(job: &PgbenchJob) -> String {
    format!(
        "hint: Perhaps you need to do initialization (\"dbtime pgbench -i\") in database \"{}\".",
        job.place.database
    )
}

fn questions(job: &PgbenchJob, what: &BenchmarkOptions) -> Vec<String> {
    let dialect = job.place.dialect;
    let mut questions = vec![match dialect {
        SqlDialect::Postgres => "show server_version",
        SqlDialect::Mysql => "select version()",
        SqlDialect::Sqlite => "select sqlite_version()",
    }];
    if has_builtin(what) {
        questions.push(BRANCHES);
        questions.extend((dialect == SqlDialect::Postgres).then_some(PARTITIONS));
    }
    questions.into_iter().map(str::to_owned).collect()
}

fn branches(job: &PgbenchJob, reply: &SurveyReply) -> Result<u64, CommandFailure> {
    let results = reply.as_ref().map_err(|refusal| {
        let place = &job.place;
        let text = message(refusal, place.dialect, Some(BRANCHES), &place.database);
        let text = format!("could not count number of branches: {text}");
        CommandFailure::environment(format!("{text}\n{}", uninitialized(job)))
    })?;
    match cell(results, 0).and_then(|text| text.parse().ok()) {
        Some(0) | None => {
            let text = format!("there are no branches\n{}", uninitialized(job));
            Err(CommandFailure::environment(text))
        }
        Some(branches) => Ok(branches),
    }
}

fn partitions(results: &ResultSets) -> Option<PartitionScheme> {
    let count = cell(results, 1)?.parse().ok()?;
    match cell(results, 0)?.as_str() {
        "r" => Some(PartitionScheme::Range(count)),
        "h" => Some(PartitionScheme::Hash(count)),
        _ => None,
    }
}

/// A value of the first row.
fn cell(results: &ResultSets, column: usize) -> Option<String> {
    let value = results.set(0)?.value(0, column)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Vacuums, and empties the history; what fails is told, and no more.
pub(super) fn vacuum(job: &PgbenchJob, how: VacuumChoice) -> Result<(), CommandFailure> {
    if how == VacuumChoice::None {
        return Ok(());
    }
    let (tidy, accounts) = statements(job.place.dialect);
    tidied(job, "starting vacuum...", &tidy)?;
    if how == VacuumChoice::All {
        tidied(job, "starting vacuum pgbench_accounts...", &[accounts])?;
    }
    Ok(())
}

/// What tidies up the small tables, and the accounts.
fn statements(dialect: SqlDialect) -> ([&'static str; 3], &'static str) {
    match dialect {
        SqlDialect::Postgres => (
            ["vacuum pgbench_branches", "vacuum pgbench_tellers", "truncate pgbench_history"],
            "vacuum analyze pgbench_accounts",
        ),
        SqlDialect::Mysql => (
            [
                "analyze table pgbench_branches",
                "analyze table pgbench_tellers",
                "truncate table pgbench_history",
            ],
            "analyze table pgbench_accounts",
        ),
        SqlDialect::Sqlite => (
            ["analyze pgbench_branches", "analyze pgbench_tellers", "delete from pgbench_history"],
            "analyze pgbench_accounts",
        ),
    }
}

fn tidied(job: &PgbenchJob, notice: &str, statements: &[&str]) -> Result<(), CommandFailure> {
    screen::to_stderr(notice);
    let replies = query(job, statements.iter().map(|sql| (*sql).to_owned()).collect())?;
    let failed = statements.iter().zip(replies);
    for (sql, refusal) in failed.filter_map(|(sql, reply)| Some((sql, reply.err()?))) {
        let place = &job.place;
        screen::to_stderr(&ignored(&refusal, place.dialect, sql, &place.database));
    }
    screen::note("end.");
    Ok(())
}

/// What is told of a statement that has failed where that does not matter.
fn ignored(refusal: &Refusal, dialect: SqlDialect, sql: &str, database: &str) -> String {
    let text = message(refusal, dialect, Some(sql), database);
    super::as_error(&format!("{text}\ndetail: (ignoring this error and continuing anyway)"))
}

fn query(job: &PgbenchJob, statements: Vec<String>) -> Result<Vec<SurveyReply>, CommandFailure> {
    let survey = Arc::new(StatementSurvey::new(statements));
    job.once("survey", OneShot::Survey, Arc::<StatementSurvey>::clone(&survey))?;
    Ok(survey.replies())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_words() {
        let is_ignored =
            |refusal| ignored(&refusal, SqlDialect::Postgres, "vacuum pgbench_tellers", "d");
        let lost = is_ignored(Refusal::connection("closed", "the server closed the connection"));
        assert!(lost.starts_with("pgbench: error: the server closed the connection\n"), "{lost}");
        let unsent = is_ignored(Refusal::statement("08P01", "08P01", "too long"));
        assert!(unsent.starts_with("pgbench: error: ERROR:  too long\n"), "{unsent}");
    }
}
