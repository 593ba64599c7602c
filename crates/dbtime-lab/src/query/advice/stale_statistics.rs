//! Estimates of single tables that are far off, which better statistics may mend.

use super::{AdviceInput, AdviceProposal, ProposedTrial, is_same_name, untried};
use dbtime_model::SqlDialect;
use dbtime_model::query::PlanNode;

/// By this factor or more an estimate is off.
const LEAST_ERROR: f64 = 10.0;

pub(super) fn proposals(input: &AdviceInput<'_>) -> Vec<AdviceProposal> {
    let mut relations: Vec<&str> = Vec::new();
    for step in input.steps.iter().filter(|step| is_off(input, step)) {
        let name = step.relation.as_deref().unwrap_or_default();
        if !relations.contains(&name) {
            relations.push(name);
        }
    }
    relations.iter().filter_map(|relation| proposal(input, relation)).collect()
}

fn proposal(input: &AdviceInput<'_>, relation: &str) -> Option<AdviceProposal> {
    let found =
        input.evidence(|step| is_off(input, step) && step.relation.as_deref() == Some(relation))?;
    // A plan may name tables by their aliases.
    let tables = dbtime_sql::table_columns(&input.scene.form.given, input.dialect());
    let aliased = tables.iter().find(|table| is_same_name(&table.name, relation));
    let name = aliased.map_or(relation, |table| table.table.as_str());
    let facts = input.scene.tables.iter().find(|table| is_same_name(&table.name, name));
    let table = &facts?.name;
    let sql = match input.dialect() {
        SqlDialect::Mysql => format!("ANALYZE TABLE {table}"),
        SqlDialect::Postgres | SqlDialect::Sqlite => format!("ANALYZE {table}"),
    };
    let finding = format!("the planner expects other numbers of rows of {relation} than there are");
    let caveats = vec!["new statistics may change the plan of every statement on it".to_owned()];
    let trial = if input.scene.is_copy {
        ProposedTrial::Statements { run: vec![sql.clone()], undo: Vec::new() }
    } else {
        ProposedTrial::None
    };
    let advice = untried("stale-statistics", finding, found.lines, vec![sql], caveats);
    Some(AdviceProposal { advice, trial, share: found.share })
}

/// Whether a step that reads one table returned far more or far fewer rows than expected.
fn is_off(input: &AdviceInput<'_>, step: &PlanNode) -> bool {
    let error = step.estimate_error().unwrap_or(1.0);
    let is_leaf = step.children.is_empty() && step.relation.is_some();
    is_leaf && is_far(error) && !is_count_right(input, step)
}

fn is_far(error: f64) -> bool {
    error >= LEAST_ERROR || error <= 1.0 / LEAST_ERROR
}

/// Whether as many rows were read as expected: what MySQL and MariaDB then do not know is how many
/// a condition without an index keeps, which their `ANALYZE TABLE` does not find out.
fn is_count_right(input: &AdviceInput<'_>, step: &PlanNode) -> bool {
    let read = step.actual_rows.zip(step.removed_rows).map(|(kept, removed)| kept + removed);
    let error = read.zip(step.estimated_rows).map(|(read, expected)| read / expected.max(1.0));
    input.dialect() == SqlDialect::Mysql && error.is_some_and(|error| !is_far(error))
}
