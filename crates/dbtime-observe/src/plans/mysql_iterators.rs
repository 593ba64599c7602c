//! What MySQL's iterators write: `EXPLAIN ANALYZE FORMAT=TREE` of 8.0.18 and later, and
//! `FORMAT=JSON` of version 2 of 8.3 and later. Both call a step by the same sentence.

use super::json_tree::JsonTree;
use super::mysql_steps::{US_PER_MS, condition, finished, name, step, step_over, too_large};
use super::{MAX_DEPTH, MAX_NODES, PlanError};
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};

/// What the server writes for statements that only version 1 of its JSON has a plan of.
const NO_ITERATORS: &str = "<not executable by iterator executor>";

/// Columns of a level of the tree.
const INDENT: usize = 4;

/// What a sentence begins with, and what the step does. The first that fits counts.
const SENTENCES: &[(&str, PlanOperation)] = &[
    ("Table scan", PlanOperation::TableScan),
    ("Covering index scan", PlanOperation::IndexScan),
    ("Index scan", PlanOperation::IndexScan),
    ("Covering index range scan", PlanOperation::IndexRange),
    ("Index range scan", PlanOperation::IndexRange),
    ("Multi-range index lookup", PlanOperation::IndexRange),
    ("Covering index skip scan", PlanOperation::IndexRange),
    ("Index skip scan", PlanOperation::IndexRange),
    ("Single-row", PlanOperation::IndexLookup),
    ("Covering index lookup", PlanOperation::IndexLookup),
    ("Index lookup", PlanOperation::IndexLookup),
    ("Full-text index", PlanOperation::IndexLookup),
    ("Constant row", PlanOperation::IndexLookup),
    ("Deduplicate rows sorted by row ID", PlanOperation::IndexMerge),
    ("Intersect rows sorted by row ID", PlanOperation::IndexMerge),
    ("Sort-deduplicate by row ID", PlanOperation::IndexMerge),
    ("Nested loop", PlanOperation::NestedLoop),
    ("Batched key access", PlanOperation::NestedLoop),
    ("Inner hash join", PlanOperation::HashJoin),
    ("Left hash join", PlanOperation::HashJoin),
    ("Hash semijoin", PlanOperation::HashJoin),
    ("Hash antijoin", PlanOperation::HashJoin),
    ("Sort", PlanOperation::Sort),
    ("Limit", PlanOperation::Limit),
    ("Aggregate", PlanOperation::Aggregate),
    ("Group aggregate", PlanOperation::Aggregate),
    ("Count rows", PlanOperation::Aggregate),
    ("Remove duplicates", PlanOperation::Distinct),
    ("Weedout", PlanOperation::Distinct),
    ("Filter", PlanOperation::Filter),
    ("Union", PlanOperation::Union),
    ("Append", PlanOperation::Union),
    ("Except", PlanOperation::Union),
    ("Intersect", PlanOperation::Union),
    ("Temporary table", PlanOperation::Materialize),
    ("Materialize", PlanOperation::Materialize),
    ("Hash", PlanOperation::Materialize),
    ("Window", PlanOperation::Window),
    ("Select #", PlanOperation::Subquery),
    ("Update", PlanOperation::Modify),
    ("Delete", PlanOperation::Modify),
    ("Insert", PlanOperation::Modify),
    ("Replace", PlanOperation::Modify),
    ("Rows fetched before execution", PlanOperation::Values),
    ("Zero rows", PlanOperation::Values),
    ("Scan new records", PlanOperation::TableScan),
];

/// Reads the tree of `EXPLAIN ANALYZE FORMAT=TREE`, or of an `EXPLAIN` that executes nothing.
///
/// # Errors
/// It is something else, too large, or the server has no tree of such a statement.
pub fn mysql_tree(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    // The steps on the way from the root to the last line, each at its level.
    let mut open: Vec<PlanNode> = vec![step(PlanOperation::Other, "statement")];
    let mut steps = 0;
    for (level, line) in lines(text) {
        steps += 1;
        if level >= MAX_DEPTH || steps > MAX_NODES {
            return Err(too_large());
        }
        close(&mut open, level + 1);
        open.push(step_of_line(line, is_raw));
    }
    close(&mut open, 1);
    let root = open.pop().map(alone).filter(|_| steps > 0);
    let root = root.ok_or_else(|| PlanError("no line of it begins with ->".to_owned()))?;
    executable("EXPLAIN FORMAT=TREE", "EXPLAIN ANALYZE FORMAT=TREE", root)
}

/// Reads JSON of version 2.
///
/// # Errors
/// It is something else, too large, or the server has no such plan of the statement.
pub fn mysql_json_v2(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    let tree = JsonTree::read(text)?;
    // 8.3 has the first step at the top.
    let first = tree.field("query_plan").unwrap_or(&tree);
    if first.text("operation").is_none() {
        return Err(PlanError("no operation".to_owned()));
    }
    executable("EXPLAIN FORMAT=JSON", "EXPLAIN ANALYZE FORMAT=JSON", step_of_fields(first, is_raw))
}

/// The plan, unless the server has none for the statement.
fn executable(plain: &str, analyzed: &str, root: PlanNode) -> Result<StatementPlan, PlanError> {
    if root.label == NO_ITERATORS {
        return Err(PlanError("the server writes plans of such a statement otherwise".to_owned()));
    }
    let execution_us = root.time_us.filter(|_| root.loops.is_some());
    let source = if execution_us.is_some() { analyzed } else { plain };
    Ok(StatementPlan { execution_us, ..finished(source, root)? })
}

/// The lines that begin a step, with their levels; what is broken over lines stays together.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let begins = |line: &str| line.trim_start_matches(' ').starts_with("-> ");
    let mut rest = text;
    std::iter::from_fn(move || {
        let begin = begin_of_step(rest, begins)?;
        let line = &rest[begin..];
        let first = line.find('\n').map_or(line.len(), |at| at + 1);
        let end = first + begin_of_step(&line[first..], begins).unwrap_or(line.len() - first);
        rest = &line[end..];
        let words = line[..end].trim_start_matches(' ');
        Some(((end - words.len()) / INDENT, words.strip_prefix("-> ")?.trim_end()))
    })
}

/// Where the first line of a text begins that begins a step.
fn begin_of_step(text: &str, begins: impl Fn(&str) -> bool) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if begins(line) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Gives the steps that are open beyond a level to those above them.
fn close(open: &mut Vec<PlanNode>, level: usize) {
    while open.len() > level.max(1) {
        let Some(step) = open.pop() else { return };
        if let Some(above) = open.last_mut() {
            above.children.push(around(step));
        }
    }
}

/// A `Select #2` or `Hash` has the loops of what is in it.
fn around(mut step: PlanNode) -> PlanNode {
    let is_heading = step.operation == PlanOperation::Subquery || step.label == "Hash";
    if let [inner] = &step.children[..]
        && is_heading
        && step.loops.is_none()
    {
        (step.loops, step.time_us) = (inner.loops, inner.time_us);
    }
    step
}

/// The statement: its first step, with the queries of its select list.
fn alone(statement: PlanNode) -> PlanNode {
    let mut steps = statement.children.into_iter();
    let Some(mut first) = steps.next() else { return step(PlanOperation::Other, "statement") };
    first.children.extend(steps);
    first
}

/// A step as its line says: `Filter: (a > 5)  (cost=1.2 rows=3) (actual time=0.1..0.2 rows=4
/// loops=1)`.
fn step_of_line(line: &str, is_raw: bool) -> PlanNode {
    let figures = ["  (cost=", "  (actual time=", "  (never executed)"];
    let end = figures.iter().filter_map(|figure| line.rfind(*figure)).min().unwrap_or(line.len());
    let (sentence, figures) = line.split_at(end);
    let mut node = step_of_sentence(sentence.trim_end(), is_raw);
    let (estimate, actual) = match figures.split_once("(actual ") {
        Some((estimate, actual)) => (estimate, Some(actual)),
        None => (figures, None),
    };
    node.estimated_rows = figure(estimate, "rows=");
    node.cost = figure(estimate, "cost=");
    if let Some(actual) = actual {
        node.actual_rows = figure(actual, "rows=");
        node.loops = figure(actual, "loops=");
        node.time_us = time_of(figure(actual, "time="), node.loops);
    } else if figures.contains("(never executed)") {
        node.loops = Some(0.0);
    }
    node
}

/// A number behind a word, of two the last: `cost=1.5..2.5 `.
fn figure(text: &str, word: &str) -> Option<f64> {
    let (_, rest) = text.split_once(word)?;
    let end = rest.find([' ', ')']).unwrap_or(rest.len());
    let last = rest[..end].rsplit("..").next()?;
    last.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// What all executions took; the server writes their mean up to the last row.
fn time_of(last_row_ms: Option<f64>, loops: Option<f64>) -> Option<f64> {
    Some(last_row_ms? * loops? * US_PER_MS)
}

/// What a sentence says of a step: `Index lookup on e using by_user (user_id = u.id)`.
fn step_of_sentence(sentence: &str, is_raw: bool) -> PlanNode {
    let operation = SENTENCES.iter().find(|(begin, _)| sentence.starts_with(*begin));
    let operation = operation.map_or(PlanOperation::Other, |(_, operation)| *operation);
    if sentence == NO_ITERATORS {
        return step(operation, sentence);
    }
    let (head, words) = match sentence.find([':', '(']) {
        Some(at) if !is_whole(operation) => sentence.split_at(at),
        _ => (sentence, ""),
    };
    let words = words.trim_start_matches(':').trim();
    let is_reverse = words == "(reverse)";
    let words = Some(words).filter(|words| !words.is_empty() && !is_reverse);
    let (label, place) = match head.split_once(" on ") {
        Some((label, place)) if is_access(operation) => (label, Some(place)),
        _ => (head, None),
    };
    let place = place.map(|place| place.split_once(" over").map_or(place, |(place, _)| place));
    let (relation, index) = match place.map(|place| place.split_once(" using ")) {
        Some(Some((relation, index))) => (Some(relation), Some(index)),
        _ => (place, None),
    };
    let is_dependent = operation == PlanOperation::Subquery && sentence.contains("dependent");
    let words = words.map(|words| condition(words, is_raw));
    let by = if operation == PlanOperation::Sort { "by " } else { "" };
    // What rows are sorted or grouped by, or how many are taken, is no condition.
    let (condition, terms) = match has_terms(operation) {
        true => (None, words.map(|words| format!("{by}{words}"))),
        false => (words, None),
    };
    let is_reverse = is_reverse.then(|| "Reverse".to_owned());
    PlanNode {
        relation: relation.map(|text| name(text.trim())),
        index: index.map(|text| name(text.trim())),
        condition,
        is_dependent,
        is_covering: sentence.starts_with("Covering ")
            || sentence.starts_with("Single-row covering "),
        notes: terms.into_iter().chain(is_reverse).collect(),
        ..step(operation, label.trim())
    }
}

/// Whether a step is told what it does its work by.
fn has_terms(operation: PlanOperation) -> bool {
    matches!(operation, PlanOperation::Sort | PlanOperation::Aggregate | PlanOperation::Limit)
}

/// Whether all of a sentence is a name for the step, and what is in parentheses no condition.
fn is_whole(operation: PlanOperation) -> bool {
    matches!(
        operation,
        PlanOperation::Subquery
            | PlanOperation::Values
            | PlanOperation::Materialize
            | PlanOperation::Modify
            | PlanOperation::NestedLoop
    )
}

/// Whether a step reads a table or an index, which its sentence names.
fn is_access(operation: PlanOperation) -> bool {
    matches!(
        operation,
        PlanOperation::TableScan
            | PlanOperation::IndexScan
            | PlanOperation::IndexRange
            | PlanOperation::IndexLookup
    )
}

/// A step as its fields say, around which a heading may stand.
fn step_of_fields(fields: &JsonTree, is_raw: bool) -> PlanNode {
    let mut node = step_of_sentence(fields.text("operation").unwrap_or("step"), is_raw);
    let given = fields.text("table_name").map(name);
    if let Some(relation) = given {
        node.alias = fields.text("alias").map(name).filter(|alias| *alias != relation);
        node.relation = Some(relation);
    }
    node.index = fields.text("index_name").map(name).or(node.index);
    node.is_covering |= fields.is_true("covering");
    node.estimated_rows = fields.number("estimated_rows");
    node.cost = fields.number("estimated_total_cost");
    node.actual_rows = fields.number("actual_rows");
    node.loops = fields.number("actual_loops");
    node.time_us = time_of(fields.number("actual_last_row_ms"), node.loops);
    for list in ["inputs", "inputs_from_select_list"] {
        let inputs = fields.items_of(list).iter();
        node.children.extend(inputs.map(|input| step_of_fields(input, is_raw)));
    }
    let Some(heading) = fields.text("heading") else { return node };
    let outer = step_of_sentence(heading, is_raw);
    let is_dependent = fields.is_true("dependent");
    around(PlanNode { is_dependent, ..step_over(outer.operation, &outer.label, node) })
}
