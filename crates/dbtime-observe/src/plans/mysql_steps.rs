//! Steps that all forms of plans of MySQL and MariaDB share.

use super::json_tree::JsonTree;
use super::{MAX_DEPTH, MAX_NODES, PlanError, cut, shown};
use dbtime_model::SqlDialect;
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};

/// Microseconds of a millisecond, in which both servers write times.
pub(super) const US_PER_MS: f64 = 1000.0;

/// What is in the place of a `#` while literals are taken away: a part of a word.
const QUERY_NUMBER: &str = "__query__";

/// A step of an operation, in the server's words.
pub(super) fn step(operation: PlanOperation, label: &str) -> PlanNode {
    PlanNode { operation, label: name(label), ..PlanNode::default() }
}

/// A step that takes its rows from one other.
pub(super) fn step_over(operation: PlanOperation, label: &str, child: PlanNode) -> PlanNode {
    PlanNode { children: vec![child], ..step(operation, label) }
}

/// A name, or other words without literals.
pub(super) fn name(text: &str) -> String {
    cut(text).to_owned()
}

/// A condition. `(select #2)` is the number of a query there and not the beginning of a comment.
pub(super) fn condition(text: &str, is_raw: bool) -> String {
    if is_raw || !text.contains('#') {
        return shown(text, SqlDialect::Mysql, is_raw);
    }
    shown(&text.replace('#', QUERY_NUMBER), SqlDialect::Mysql, false).replace(QUERY_NUMBER, "#")
}

/// What an access type does.
pub(super) fn operation_of_access(access_type: &str) -> PlanOperation {
    match access_type {
        "ALL" => PlanOperation::TableScan,
        "index" => PlanOperation::IndexScan,
        "range" => PlanOperation::IndexRange,
        "index_merge" => PlanOperation::IndexMerge,
        "system" | "const" | "eq_ref" | "ref" | "ref_or_null" | "fulltext" | "unique_subquery"
        | "index_subquery" | "hash_ALL" | "hash_index" => PlanOperation::IndexLookup,
        _ => PlanOperation::Other,
    }
}

/// What a table of JSON is accessed by, and in which words; a message is in the place of one.
pub(super) fn access_of(table: &JsonTree) -> (PlanOperation, &str) {
    match (table.text("access_type"), table.text("message")) {
        (Some(access), _) => (operation_of_access(access), access),
        (None, Some(message)) => (PlanOperation::Values, message),
        (None, None) => (PlanOperation::Other, "table"),
    }
}

/// What an execution of a step returns of the rows that it reads: `filtered` is a percentage.
pub(super) fn kept(rows: Option<f64>, filtered: Option<f64>) -> Option<f64> {
    rows.map(|rows| rows * filtered.unwrap_or(100.0) / 100.0)
}

/// The product of what is known.
fn product(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? * b?)
}

/// A step that is joined with those before it.
#[derive(Debug)]
pub(super) struct JoinInput {
    /// The step.
    pub(super) step: PlanNode,
    /// How it is joined.
    pub(super) operation: PlanOperation,
    /// Whether rows of those before it are gathered, so that it is not executed for each of them.
    pub(super) is_buffered: bool,
}

impl From<PlanNode> for JoinInput {
    fn from(step: PlanNode) -> Self {
        Self { step, operation: PlanOperation::NestedLoop, is_buffered: false }
    }
}

/// Joins a step with the next one.
fn joined(outer: PlanNode, inner: JoinInput) -> PlanNode {
    let JoinInput { step: inner, operation, is_buffered } = inner;
    let label = match operation {
        PlanOperation::HashJoin => "hash join",
        _ => "nested loop",
    };
    // Rows of all executions of the inner step; with a buffer those of the join are not known.
    let total = product(inner.loops, inner.actual_rows).filter(|_| !is_buffered);
    let loops = outer.loops.filter(|loops| *loops > 0.0);
    PlanNode {
        estimated_rows: product(outer.estimated_rows, inner.estimated_rows),
        actual_rows: total.zip(loops).map(|(total, loops)| total / loops),
        loops: outer.loops,
        time_us: outer.time_us.zip(inner.time_us).map(|(outer, inner)| outer + inner),
        children: vec![outer, inner],
        ..step(operation, label)
    }
}

/// Joins steps from the left to the right; `None`: there are none.
///
/// # Errors
/// There are too many of them.
pub(super) fn joined_all(steps: Vec<JoinInput>) -> Result<Option<PlanNode>, PlanError> {
    if steps.len() > MAX_DEPTH {
        return Err(too_large());
    }
    let mut steps = steps.into_iter();
    let Some(first) = steps.next() else { return Ok(None) };
    let root = steps.fold(first.step, joined);
    // Here and not at the end alone: joins within joins would make a tree too deep to be dropped.
    within_bounds(&root)?;
    Ok(Some(root))
}

/// The plan of a tree.
///
/// # Errors
/// The tree is too deep, or has too many steps.
pub(super) fn finished(source: &str, root: PlanNode) -> Result<StatementPlan, PlanError> {
    within_bounds(&root)?;
    let plan = StatementPlan { source: source.to_owned(), root, ..StatementPlan::default() };
    Ok(plan.with_shape())
}

fn within_bounds(root: &PlanNode) -> Result<(), PlanError> {
    let mut room = MAX_NODES;
    if fits(root, MAX_DEPTH, &mut room) { Ok(()) } else { Err(too_large()) }
}

/// That a plan has too many steps.
pub(super) fn too_large() -> PlanError {
    PlanError(format!("it has more than {MAX_NODES} steps, or more than {MAX_DEPTH} levels"))
}

fn fits(node: &PlanNode, depth: usize, room: &mut usize) -> bool {
    if depth == 0 || *room == 0 {
        return false;
    }
    *room -= 1;
    node.children.iter().all(|child| fits(child, depth - 1, room))
}
