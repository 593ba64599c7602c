//! `EXPLAIN FORMAT=JSON` of MySQL, version 1: what 5.6 and 5.7 write, and 8 and 9 where they are
//! told to.

use super::PlanError;
use super::json_tree::JsonTree;
use super::mysql_steps::{
    JoinInput, access_of, condition, finished, joined_all, kept, name, step, step_over,
};
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};

/// Fields that are a block around what their rows come from, what they do, and in which words.
const AROUND: &[(&str, PlanOperation, &str)] = &[
    ("buffer_result", PlanOperation::Materialize, "buffer result"),
    ("duplicates_removal", PlanOperation::Distinct, "duplicates removal"),
    ("grouping_operation", PlanOperation::Aggregate, "grouping"),
    ("ordering_operation", PlanOperation::Sort, "ordering"),
    ("windowing", PlanOperation::Window, "windowing"),
];

/// Fields that join the results of several queries.
const RESULTS: &[&str] = &["except_result", "intersect_result", "unary_result", "union_result"];

/// Reads the plan of MySQL in JSON, version 1.
///
/// # Errors
/// It is something else, or too large.
pub fn mysql_json(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    let tree = JsonTree::read(text)?;
    let block = tree.field("query_block").ok_or_else(|| PlanError("no query_block".to_owned()))?;
    let root = MysqlBlocks { is_raw }.block(block)?;
    finished("EXPLAIN FORMAT=JSON", root)
}

/// Reads blocks and tables.
struct MysqlBlocks {
    is_raw: bool,
}

impl MysqlBlocks {
    /// A block: what has its rows, and the queries within it behind that.
    fn block(&self, block: &JsonTree) -> Result<PlanNode, PlanError> {
        let mut steps = Vec::new();
        let mut queries = Vec::new();
        for (field, value) in block.fields() {
            match field.as_str() {
                "nested_loop" => steps.extend(self.join(value)?),
                "table" => steps.push(self.table(value)?),
                "query_block" => steps.push(self.block(value)?.into()),
                "insert_from" => queries.push(self.block(value)?),
                _ if field.ends_with("_subqueries") => {
                    queries.extend(self.queries(value, &words(field))?);
                }
                _ => steps.extend(self.around(field, value)?.map(JoinInput::from)),
            }
        }
        let mut root = joined_all(steps)?.unwrap_or_else(|| match block.text("message") {
            Some(message) => step(PlanOperation::Values, message),
            None => step(PlanOperation::Other, "query block"),
        });
        root.children.extend(queries);
        let cost = block.field("cost_info").and_then(|cost| cost.number("query_cost"));
        root.cost = cost.or(root.cost);
        Ok(root)
    }

    /// A block that does something with the rows of what is in it; `None`: it is none.
    fn around(&self, field: &str, value: &JsonTree) -> Result<Option<PlanNode>, PlanError> {
        if RESULTS.contains(&field) {
            return self.union(field, value).map(Some);
        }
        let Some((_, operation, label)) = AROUND.iter().find(|(around, ..)| *around == field)
        else {
            return Ok(None);
        };
        let inner = self.block(value)?;
        if *operation == PlanOperation::Sort && !value.is_true("using_filesort") {
            // The rows come in that order by themselves.
            return Ok(Some(inner));
        }
        let own = value.field("cost_info").and_then(|cost| cost.number("sort_cost"));
        let cost = inner.cost.map(|below| below + own.unwrap_or(0.0));
        Ok(Some(PlanNode { cost, notes: notes(value), ..step_over(*operation, label, inner) }))
    }

    /// The results of several queries.
    fn union(&self, field: &str, value: &JsonTree) -> Result<PlanNode, PlanError> {
        let mut union = PlanNode {
            relation: value.text("table_name").map(name),
            notes: notes(value),
            ..step(PlanOperation::Union, &words(field))
        };
        for query in value.items_of("query_specifications") {
            union.children.push(self.block(query)?);
        }
        // Rows of one result may come from another: a sorted union, a part of an EXCEPT.
        for (field, value) in value.fields() {
            if RESULTS.contains(&field.as_str()) {
                union.children.push(self.union(field, value)?);
            }
        }
        Ok(union)
    }

    /// The tables of a join.
    fn join(&self, list: &JsonTree) -> Result<Vec<JoinInput>, PlanError> {
        let mut steps = Vec::new();
        for item in list.items() {
            match item.field("table") {
                Some(table) => steps.push(self.table(table)?),
                None => steps.push(self.block(item)?.into()),
            }
        }
        Ok(steps)
    }

    /// Queries within a block.
    fn queries(&self, list: &JsonTree, label: &str) -> Result<Vec<PlanNode>, PlanError> {
        let query = |query: &JsonTree| -> Result<PlanNode, PlanError> {
            let inner = self.block(query)?;
            let is_dependent = query.is_true("dependent");
            Ok(PlanNode { is_dependent, ..step_over(PlanOperation::Subquery, label, inner) })
        };
        list.items().iter().map(query).collect()
    }

    /// The access to a table.
    fn table(&self, table: &JsonTree) -> Result<JoinInput, PlanError> {
        let (operation, label) = access_of(table);
        let mut node = PlanNode {
            relation: table.text("table_name").map(name),
            index: table.text("key").map(name),
            condition: self.conditions(table),
            is_covering: table.is_true("using_index"),
            estimated_rows: estimated_rows(table),
            cost: own_cost(table),
            notes: notes(table),
            ..step(operation, label)
        };
        for (field, value) in table.fields() {
            match field.as_str() {
                "materialized_from_subquery" => {
                    let inner = self.block(value)?;
                    let is_dependent = value.is_true("dependent");
                    let keeps = step_over(PlanOperation::Materialize, "materialize", inner);
                    node.children.push(PlanNode { is_dependent, ..keeps });
                }
                _ if field.ends_with("_subqueries") => {
                    node.children.extend(self.queries(value, &words(field))?);
                }
                _ => {}
            }
        }
        let buffer = table.text("using_join_buffer");
        let operation = match buffer {
            Some("hash join") => PlanOperation::HashJoin,
            _ => PlanOperation::NestedLoop,
        };
        Ok(JoinInput { step: changed(node, table), operation, is_buffered: buffer.is_some() })
    }

    fn conditions(&self, table: &JsonTree) -> Option<String> {
        let fields = ["index_condition", "attached_condition", "pushed_condition"];
        let texts = fields.iter().filter_map(|field| table.text(field));
        let texts: Vec<String> = texts.map(|text| condition(text, self.is_raw)).collect();
        (!texts.is_empty()).then(|| texts.join(" AND "))
    }
}

/// The step that changes the rows of a table, around the one that finds them.
fn changed(node: PlanNode, table: &JsonTree) -> PlanNode {
    let verbs = ["insert", "update", "delete", "replace"];
    let Some(verb) = verbs.into_iter().find(|verb| table.is_true(verb)) else { return node };
    if matches!(verb, "insert" | "replace") {
        // It finds none.
        return PlanNode { operation: PlanOperation::Modify, label: verb.to_owned(), ..node };
    }
    PlanNode {
        relation: node.relation.clone(),
        estimated_rows: node.estimated_rows,
        cost: node.cost,
        ..step_over(PlanOperation::Modify, verb, node)
    }
}

/// Rows that one execution returns: those that it looks at, as far as the conditions keep them.
/// `rows_produced_per_join` is of all executions together.
fn estimated_rows(table: &JsonTree) -> Option<f64> {
    let examined = table.number("rows_examined_per_scan").or_else(|| table.number("rows"));
    kept(examined, table.number("filtered"))
}

/// What all executions of the step cost: `prefix_cost` has the tables before it too.
fn own_cost(table: &JsonTree) -> Option<f64> {
    let cost = table.field("cost_info")?;
    Some(cost.number("read_cost")? + cost.number("eval_cost")?)
}

/// What else stands in a table or a block, in the words of `EXPLAIN`.
fn notes(value: &JsonTree) -> Vec<String> {
    let known = ["using_", "not_exists", "distinct", "backward_index_scan"];
    let is_known =
        |field: &str| field != "using_index" && known.iter().any(|known| field.starts_with(known));
    let truths = value
        .fields()
        .iter()
        .filter(|(field, value)| *value == JsonTree::Truth(true) && is_known(field));
    let mut notes: Vec<String> = truths.map(|(field, _)| capitalized(&words(field))).collect();
    let texts = [
        ("using_join_buffer", "Using join buffer"),
        ("first_match", "First match"),
        ("loosescan", "Loose scan"),
    ];
    notes.extend(
        texts
            .into_iter()
            .filter_map(|(field, words)| Some(format!("{words}: {}", name(value.text(field)?)))),
    );
    let parts = value.list("used_key_parts");
    notes.extend(parts.map(|parts| format!("Key columns: {}", name(&parts))));
    notes
}

fn words(field: &str) -> String {
    name(&field.replace('_', " "))
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
