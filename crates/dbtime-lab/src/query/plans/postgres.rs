//! Plans of PostgreSQL.
//!
//! Source: "EXPLAIN" in the manuals of PostgreSQL 9.6 to 18.

use super::super::session::{QuerySession, SessionForm};
use super::literals::explained;
use super::{PlanDepth, explanation, refusal};
use dbtime_load::program::SqlValue;
use dbtime_model::query::StatementPlan;
use dbtime_observe::plans::postgres_json;

/// What comes of a plan with a literal of many megabytes, too.
const NO_ANSWER: &str = "the server's answer to EXPLAIN is empty, or too long to be kept";

/// The plan of a form; without its key known the one for any, from PostgreSQL 16 on.
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
    let lacks_key = key.is_empty() && !form.text.order.is_empty();
    if lacks_key && (major < 16 || depth == PlanDepth::Executed) {
        return Err("a plan takes values of the statement's parameters, and none are known: name \
                    where they come from with --dict"
            .to_owned());
    }
    let mut options = options(depth, major, form.text.writes);
    let statement = if lacks_key {
        options.insert(0, "GENERIC_PLAN");
        form.text.native.clone()
    } else {
        explained(form, key, session.product)
    };
    read(session, form, &options, &statement, is_raw)
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
