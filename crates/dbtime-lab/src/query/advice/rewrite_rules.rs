//! Other forms of the statement, where its plan does what they avoid.

use super::evidence::{PlanEvidence, is_full_scan, is_noted, is_sort};
use super::{AdviceInput, AdviceProposal, ProposedTrial, untried};
use dbtime_model::query::{PlanNode, PlanOperation};
use dbtime_sql::StatementRewrite;

/// When a form is advice.
struct FormRule {
    /// The rule that made the form.
    form: &'static str,
    /// How the advice is called.
    name: &'static str,
    /// Whether a step of the plan is what the form avoids.
    is_avoided: fn(&PlanNode) -> bool,
}

/// Every form that can be advice.
const RULES: [FormRule; 10] = [
    FormRule { form: "in-to-join", name: "dependent-subquery", is_avoided: is_repeated },
    FormRule { form: "in-to-exists", name: "dependent-subquery", is_avoided: is_repeated },
    FormRule { form: "scalar-to-join", name: "dependent-subquery", is_avoided: is_repeated },
    FormRule { form: "not-in", name: "not-in", is_avoided: is_subquery },
    FormRule { form: "rare-complement", name: "rare-complement", is_avoided: keeps_most },
    FormRule { form: "column-range", name: "function-on-column", is_avoided: is_full_scan },
    FormRule { form: "or-to-union", name: "or-over-columns", is_avoided: is_full_scan },
    FormRule { form: "union-all", name: "union-all", is_avoided: removes_duplicates },
    FormRule { form: "distinct-join", name: "distinct-join", is_avoided: removes_duplicates },
    FormRule { form: "order-column", name: "order-by-index", is_avoided: is_sort },
];

/// Said of each form.
const PRINTED: &str = "the form is newly printed: comments and hints are lost";

pub(super) fn proposals(input: &AdviceInput<'_>) -> Vec<AdviceProposal> {
    RULES.iter().filter_map(|rule| proposal(input, rule)).collect()
}

fn proposal(input: &AdviceInput<'_>, rule: &FormRule) -> Option<AdviceProposal> {
    let form = input.rewrites.iter().find(|form| form.rule == rule.form)?;
    let found = match input.scene.plan {
        Some(_) => input.evidence(rule.is_avoided)?,
        None => PlanEvidence::default(),
    };
    let mut caveats = form.caveats.clone();
    caveats.extend(nullable(input, form));
    caveats.push(PRINTED.to_owned());
    let shown = vec![input.shown(&form.sql)];
    Some(AdviceProposal {
        advice: untried(rule.name, form.finding.clone(), found.lines, shown, caveats),
        trial: ProposedTrial::Rewrite(form.sql.clone()),
        share: found.share,
    })
}

/// Columns that a form which is wrong with NULL speaks of, and that may be NULL.
fn nullable(input: &AdviceInput<'_>, form: &StatementRewrite) -> Vec<String> {
    if form.rule != "not-in" {
        return Vec::new();
    }
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = form.finding.split(|c: char| !is_of_name(c)).collect();
    let columns = input.scene.tables.iter().flat_map(|table| &table.columns);
    let nullable = columns.filter(|column| column.is_nullable).map(|column| column.name.as_str());
    let named = nullable.filter(|name| words.contains(name));
    named.map(|name| format!("{name} may be NULL")).collect()
}

/// A subquery that is executed again and again.
fn is_repeated(step: &PlanNode) -> bool {
    let words = ["DEPENDENT SUBQUERY", "CORRELATED", "SubPlan"];
    let is_repeated = step.is_dependent && step.loops.is_none_or(|loops| loops > 1.0);
    is_repeated || words.iter().any(|words| is_noted(step, words))
}

/// A subquery, however it is executed.
fn is_subquery(step: &PlanNode) -> bool {
    let operations = [PlanOperation::Subquery, PlanOperation::Materialize];
    operations.contains(&step.operation) || is_repeated(step) || is_noted(step, "SubPlan")
}

/// A step that reads rows and keeps more than half of them. What it does not say of them is no
/// reason against a form that will be tried.
fn keeps_most(step: &PlanNode) -> bool {
    let reads = is_full_scan(step) || step.operation == PlanOperation::IndexRange;
    let kept = step.actual_rows.unwrap_or_default();
    reads && step.removed_rows.is_none_or(|removed| kept > removed)
}

/// A step that looks for rows that are the same.
fn removes_duplicates(step: &PlanNode) -> bool {
    let operations = [PlanOperation::Distinct, PlanOperation::Aggregate, PlanOperation::Union];
    let words = ["emporary", "TEMP B-TREE"];
    operations.contains(&step.operation) || is_sort(step) || words.iter().any(|w| is_noted(step, w))
}
