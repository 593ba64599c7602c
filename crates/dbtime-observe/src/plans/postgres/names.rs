//! What a step does: in words of the server's own text form, and in those of all products.

use super::{condition, text};
use dbtime_model::query::PlanOperation;
use serde_json::Value;

/// What has the rows: a table, or what else stands in a FROM.
pub(super) fn relation(node: &Value) -> Option<&str> {
    let keys = ["Relation Name", "CTE Name", "Function Name", "Table Function Name"];
    let more = ["Tuplestore Name", "Alias"];
    keys.into_iter().chain(more).find_map(|key| text(node, key))
}

/// The step as the text form calls it: `Hash Left Join`, `Parallel Seq Scan`.
pub(super) fn label(node: &Value) -> String {
    let kind = text(node, "Node Type").unwrap_or_default();
    let strategy = text(node, "Strategy").unwrap_or_default();
    let name = match kind {
        "Aggregate" => aggregate(strategy).to_owned(),
        "ModifyTable" => text(node, "Operation").unwrap_or(kind).to_owned(),
        "SetOp" => {
            let hash = if strategy == "Hashed" { "Hash" } else { "" };
            format!("{hash}{kind} {}", text(node, "Command").unwrap_or_default())
        }
        "Nested Loop" | "Hash Join" | "Merge Join" => joined(kind, text(node, "Join Type")),
        _ => kind.to_owned(),
    };
    let partial = text(node, "Partial Mode").filter(|mode| matches!(*mode, "Partial" | "Finalize"));
    let is_parallel = node.get("Parallel Aware").and_then(Value::as_bool) == Some(true);
    let is_backward = text(node, "Scan Direction") == Some("Backward");
    let words = [
        is_parallel.then_some("Parallel"),
        partial,
        Some(name.trim_end()),
        is_backward.then_some("Backward"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn aggregate(strategy: &str) -> &'static str {
    match strategy {
        "Sorted" => "GroupAggregate",
        "Hashed" => "HashAggregate",
        "Mixed" => "MixedAggregate",
        _ => "Aggregate",
    }
}

/// A join with its type, which the text form leaves out where it is an inner one.
fn joined(kind: &str, join: Option<&str>) -> String {
    let Some(join) = join.filter(|join| *join != "Inner") else { return kind.to_owned() };
    match kind.strip_suffix(" Join") {
        Some(method) => format!("{method} {join} Join"),
        None => format!("{kind} {join} Join"),
    }
}

/// The step in terms that all products share.
pub(super) fn operation(node: &Value) -> PlanOperation {
    use PlanOperation as Op;
    match text(node, "Node Type").unwrap_or_default() {
        "Seq Scan" | "Sample Scan" => Op::TableScan,
        "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => index_access(node),
        // The rows of the ranges below it.
        "Bitmap Heap Scan" | "Tid Range Scan" => Op::IndexRange,
        "Tid Scan" => Op::IndexLookup,
        "BitmapAnd" | "BitmapOr" => Op::IndexMerge,
        "Nested Loop" => Op::NestedLoop,
        "Hash Join" => Op::HashJoin,
        "Merge Join" => Op::MergeJoin,
        "Sort" | "Incremental Sort" => Op::Sort,
        "Aggregate" | "Group" => Op::Aggregate,
        "Unique" => Op::Distinct,
        "Limit" => Op::Limit,
        "Hash"
        | "Materialize"
        | "Memoize"
        | "CTE Scan"
        | "WorkTable Scan"
        | "Named Tuplestore Scan" => Op::Materialize,
        "Subquery Scan" => Op::Subquery,
        "Append" | "Merge Append" | "Recursive Union" => Op::Union,
        "WindowAgg" => Op::Window,
        "Gather" | "Gather Merge" => Op::Parallel,
        "ModifyTable" => Op::Modify,
        "Result" | "ProjectSet" | "Function Scan" | "Table Function Scan" | "Values Scan" => {
            Op::Values
        }
        _ => Op::Other,
    }
}

/// How much of an index is read.
fn index_access(node: &Value) -> PlanOperation {
    let Some(compared) = text(node, "Index Cond") else { return PlanOperation::IndexScan };
    // What a literal has in it says nothing.
    let compared = condition(compared, false);
    match compared.contains(" = ") && !compared.contains(['<', '>', '~', '@', '&']) {
        true => PlanOperation::IndexLookup,
        false => PlanOperation::IndexRange,
    }
}
