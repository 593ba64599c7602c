//! Plans of PostgreSQL.
//!
//! Source: "EXPLAIN" in the manuals of PostgreSQL 9.6 to 18.

use super::super::session::{QuerySession, SessionForm};
use super::literals::explained;
use super::{NO_KEY, PlanDepth, explanation, plans_without_key, refusal};
use dbtime_load::program::SqlValue;
use dbtime_model::query::StatementPlan;
use dbtime_observe::plans::postgres_json;

/// What a statement is prepared as whose plan for any key is wanted.
const PREPARED: &str = "dbtime_plan";

/// What comes of a plan with a literal of many megabytes, too.
const NO_ANSWER: &str = "the server's answer to EXPLAIN is empty, or too long to be kept";

/// The plan of a form; without its key known the one for any, from PostgreSQL 12 on.
///
/// # Errors
/// As those of all products.
pub(super) fn plan_of(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
    depth: PlanDepth,
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let major = session.version.major;
    let mut options = options(depth, major, form.text.writes);
    if !key.is_empty() || form.text.order.is_empty() {
        let statement = explained(form, key, session.product);
        return read(session, form, &options, &statement, is_raw);
    }
    match depth {
        PlanDepth::Estimated if major >= 16 => {
            options.insert(0, "GENERIC_PLAN");
            read(session, form, &options, &form.text.native, is_raw)
        }
        PlanDepth::Estimated if plans_without_key(session) => {
            of_prepared(session, form, &options, is_raw)
        }
        PlanDepth::Estimated | PlanDepth::Executed => Err(NO_KEY.to_owned()),
    }
}

/// The plan for any key, as a prepared statement has it. All of it is one transaction, which a
/// pooler leaves on one server.
fn of_prepared(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    options: &[&str],
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let prepare = format!("PREPARE {PREPARED} AS {}", form.text.native);
    let steps = ["BEGIN", "SET LOCAL plan_cache_mode = force_generic_plan", prepare.as_str()];
    let set = steps.iter().try_for_each(|sql| session.table(sql).map(drop)).map_err(refusal);
    let nulls = vec!["NULL"; form.text.order.len()].join(", ");
    let statement = format!("EXECUTE {PREPARED}({nulls})");
    let plan = set.and_then(|()| read(session, form, options, &statement, is_raw));
    let forget = format!("DEALLOCATE {PREPARED}");
    let is_forgotten = session.table(&forget).is_ok();
    // With a connection that is lost, all of it is gone.
    let _ = session.table("ROLLBACK");
    if !is_forgotten {
        // A transaction that had failed took nothing but its end.
        let _ = session.table(&forget);
    }
    plan
}

/// What is asked for, as far as the version has it.
fn options(depth: PlanDepth, major: u32, writes: bool) -> Vec<&'static str> {
    let is_executed = depth == PlanDepth::Executed;
    let options = [
        ("ANALYZE", is_executed),
        ("BUFFERS", is_executed),
        // It names columns with their tables, and shows which subqueries are hashed.
        ("VERBOSE", true),
        ("SETTINGS", major >= 12),
        ("WAL", is_executed && writes && major >= 13),
        // Else rows are not made ready to be sent, which a plain execution does.
        ("SERIALIZE", is_executed && !writes && major >= 17),
        ("FORMAT JSON", true),
    ];
    options.into_iter().filter_map(|(option, is_there)| is_there.then_some(option)).collect()
}

fn read(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    options: &[&str],
    statement: &str,
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let source = format!("EXPLAIN ({})", options.join(", "));
    let table = explanation(session, form, &format!("{source} {statement}")).map_err(refusal)?;
    let text = table.value().ok_or(NO_ANSWER)?;
    let plan = postgres_json(text, is_raw).map_err(|error| error.to_string())?;
    Ok(StatementPlan { source, ..plan })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_version() {
        let of = |depth, major, writes| options(depth, major, writes).join(", ");
        assert_eq!(of(PlanDepth::Estimated, 9, false), "VERBOSE, FORMAT JSON");
        assert_eq!(
            of(PlanDepth::Executed, 12, true),
            "ANALYZE, BUFFERS, VERBOSE, SETTINGS, FORMAT JSON"
        );
        assert_eq!(
            of(PlanDepth::Executed, 15, true),
            "ANALYZE, BUFFERS, VERBOSE, SETTINGS, WAL, FORMAT JSON"
        );
        assert_eq!(
            of(PlanDepth::Executed, 18, false),
            "ANALYZE, BUFFERS, VERBOSE, SETTINGS, SERIALIZE, FORMAT JSON"
        );
    }
}
