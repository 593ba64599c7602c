//! What SQLite writes of a step, in words that changed little: up to 3.35 there is `TABLE` before
//! the name of a table.

use super::super::{cut, shown};
use super::access::access;
use dbtime_model::SqlDialect;
use dbtime_model::query::{PlanNode, PlanOperation};

/// What a step is for those beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepRole {
    /// It reads rows, in a loop of its own.
    Loop,
    /// It makes rows that one of the loops reads.
    Producer,
    /// It is computed for them.
    Beside,
    /// It takes the rows of all others, and passes them on in another form.
    Wrapper,
    /// It is no step of its own.
    Remark,
    /// It holds a step.
    Bracket,
}

/// Reads a step, without what is below it.
pub(super) fn read(detail: &str, is_raw: bool) -> (StepRole, PlanNode) {
    let detail = cut(detail.trim());
    // Up to 3.23 a subquery was executed.
    let detail = detail.strip_prefix("EXECUTE ").unwrap_or(detail);
    let (verb, rest) = detail.split_once(' ').unwrap_or((detail, ""));
    match verb {
        "SCAN" | "SEARCH" => (StepRole::Loop, access(verb, rest, is_raw)),
        "CO-ROUTINE" => (StepRole::Producer, producer(verb, rest, PlanOperation::Subquery)),
        "MATERIALIZE" => (StepRole::Producer, producer(verb, rest, PlanOperation::Materialize)),
        "USE" => (StepRole::Wrapper, step(detail, sorter(rest))),
        "MULTI-INDEX" => (StepRole::Loop, step(detail, PlanOperation::IndexMerge)),
        "COMPOUND" | "MERGE" => (StepRole::Loop, step(detail, PlanOperation::Union)),
        "CORRELATED" => {
            let node = step(detail, PlanOperation::Subquery);
            (StepRole::Beside, PlanNode { is_dependent: true, ..node })
        }
        "SCALAR" | "LIST" | "SUBQUERY" | "LEFT-MOST" | "LEFT" | "RIGHT" | "SETUP" | "RECURSIVE"
        | "UNION" | "EXCEPT" | "INTERSECT" | "RIGHT-JOIN" => {
            (StepRole::Beside, step(detail, PlanOperation::Subquery))
        }
        "INDEX" => (StepRole::Bracket, PlanNode::default()),
        "REUSE" | "USING" | "CREATE" | "BLOOM" => {
            (StepRole::Remark, step(detail, PlanOperation::Other))
        }
        // What later versions write may have anything in it, and a shape has no literals.
        _ => {
            let words = shown(detail, SqlDialect::Sqlite, false);
            (StepRole::Beside, step(&words, PlanOperation::Other))
        }
    }
}

fn step(label: &str, operation: PlanOperation) -> PlanNode {
    PlanNode { operation, label: label.to_owned(), ..PlanNode::default() }
}

/// What makes rows under a name, up to 3.35 under a number: `SCAN SUBQUERY 1 AS t` reads them.
fn producer(verb: &str, name: &str, operation: PlanOperation) -> PlanNode {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let name = if is_number { format!("SUBQUERY {name}") } else { name.to_owned() };
    PlanNode { relation: Some(name), ..step(verb, operation) }
}

/// What a temporary B-tree is for.
fn sorter(purpose: &str) -> PlanOperation {
    match purpose {
        _ if purpose.contains("ORDER BY") => PlanOperation::Sort,
        _ if purpose.contains("DISTINCT") => PlanOperation::Distinct,
        _ => PlanOperation::Aggregate,
    }
}
