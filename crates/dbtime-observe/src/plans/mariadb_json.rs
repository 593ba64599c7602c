//! `EXPLAIN FORMAT=JSON` and `ANALYZE FORMAT=JSON` of MariaDB, from 10.1 on.
//!
//! The form has MySQL's names and a structure of its own: a sort or a temporary table is a field
//! around what it is of, and before 10.9 the tables of a join are fields of one name.

use super::PlanError;
use super::json_tree::JsonTree;
use super::mysql_steps::{
    JoinInput, US_PER_MS, access_of, condition, finished, joined_all, kept, name, step, step_over,
};
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};

/// Fields around what their rows come from, what they do, and in which words.
const AROUND: &[(&str, PlanOperation, &str)] = &[
    ("duplicates_removal", PlanOperation::Distinct, "duplicates removal"),
    ("expression_cache", PlanOperation::Materialize, "expression cache"),
    ("filesort", PlanOperation::Sort, "filesort"),
    ("materialization", PlanOperation::Materialize, "materialization"),
    ("subquery_cache", PlanOperation::Materialize, "subquery cache"),
    ("temporary_table", PlanOperation::Materialize, "temporary table"),
    ("window_functions_computation", PlanOperation::Window, "window functions"),
];

/// Fields around a table or a sort that do nothing by themselves, with what is to be known of them.
const THROUGH: &[(&str, Option<&str>)] = &[
    ("full-scan-on-null_key", Some("Full scan on NULL key")),
    ("range-checked-for-each-record", Some("Range checked for each record")),
    ("read_sorted_file", None),
];

/// Fields that join the results of several queries.
const RESULTS: &[&str] =
    &["except_result", "intersect_result", "recursive_union", "union_result", "unit_result"];

/// Reads the plan of MariaDB in JSON, with the figures of an execution where it has them.
///
/// # Errors
/// It is something else, or too large.
pub fn mariadb_json(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    let tree = JsonTree::read_unescaped(text)?;
    let block = tree.field("query_block").ok_or_else(|| PlanError("no query_block".to_owned()))?;
    let mut root = MariadbBlocks { is_raw }.block(block)?;
    sum_pages(&mut root);
    let time = |block: &JsonTree| block.number("r_total_time_ms").map(|ms| ms * US_PER_MS);
    let execution_us = time(block);
    let source = match execution_us {
        Some(_) => "ANALYZE FORMAT=JSON",
        None => "EXPLAIN FORMAT=JSON",
    };
    let planning_us = tree.field("query_optimization").and_then(time);
    Ok(StatementPlan { planning_us, execution_us, ..finished(source, root)? })
}

/// Reads blocks and tables.
struct MariadbBlocks {
    is_raw: bool,
}

impl MariadbBlocks {
    /// The steps that are fields of something, and the queries within it behind them.
    fn steps(&self, block: &JsonTree) -> Result<PlanNode, PlanError> {
        let mut steps = Vec::new();
        let mut queries = Vec::new();
        for (field, value) in block.fields() {
            match field.as_str() {
                "nested_loop" => {
                    for (field, value) in value.items().iter().flat_map(JsonTree::fields) {
                        steps.extend(self.part(field, value)?);
                    }
                }
                "subqueries" => {
                    for item in value.items() {
                        queries.push(self.subquery(item)?);
                    }
                }
                _ => steps.extend(self.part(field, value)?),
            }
        }
        let nothing = || step(PlanOperation::Other, "query block");
        let mut root = joined_all(steps)?.unwrap_or_else(nothing);
        root.children.extend(queries);
        Ok(root)
    }

    /// A block, with its own figures.
    fn block(&self, block: &JsonTree) -> Result<PlanNode, PlanError> {
        let mut root = self.steps(block)?;
        if let Some(text) = block.text("having_condition") {
            let condition = Some(condition(text, self.is_raw));
            let (loops, time_us) = (root.loops, root.time_us);
            let having = step_over(PlanOperation::Filter, "having", root);
            root = PlanNode { condition, loops, time_us, ..having };
        }
        let time = block.number("r_total_time_ms").map(|ms| ms * US_PER_MS);
        root.time_us = time.or(root.time_us);
        root.loops = root.loops.or(block.number("r_loops"));
        root.cost = block.number("cost").or(root.cost);
        Ok(root)
    }

    /// A step that a field is; `None`: it is none.
    fn part(&self, field: &str, value: &JsonTree) -> Result<Option<JoinInput>, PlanError> {
        if field == "table" {
            return Ok(Some(self.table(value)?.into()));
        }
        if field == "block-nl-join" {
            return self.buffered(value).map(Some);
        }
        if RESULTS.contains(&field) {
            return Ok(Some(self.union(field, value)?.into()));
        }
        if field == "query_block" {
            return Ok(Some(self.block(value)?.into()));
        }
        if let Some((_, note)) = THROUGH.iter().find(|(through, _)| *through == field) {
            let mut inner = self.steps(value)?;
            inner.notes.extend(note.map(str::to_owned));
            return Ok(Some(inner.into()));
        }
        let Some((_, operation, label)) = AROUND.iter().find(|(around, ..)| *around == field)
        else {
            return Ok(None);
        };
        Ok(Some(self.around(*operation, label, value)?.into()))
    }

    fn around(
        &self,
        operation: PlanOperation,
        label: &str,
        value: &JsonTree,
    ) -> Result<PlanNode, PlanError> {
        let inner = self.steps(value)?;
        let rows = value.number("r_output_rows");
        Ok(PlanNode {
            actual_rows: rows,
            loops: value.number("r_loops").or(inner.loops),
            time_us: inclusive(value.number("r_total_time_ms"), inner.time_us),
            notes: notes(value, self.is_raw),
            ..step_over(operation, label, inner)
        })
    }

    /// A table that is joined by a buffer of rows of those before it.
    fn buffered(&self, value: &JsonTree) -> Result<JoinInput, PlanError> {
        let mut step = self.steps(value)?;
        let own = value.text("attached_condition").map(|text| condition(text, self.is_raw));
        step.condition = match (step.condition.take(), own) {
            (Some(inner), Some(own)) => Some(format!("{inner} AND {own}")),
            (inner, own) => inner.or(own),
        };
        let kind = value.text("join_type").unwrap_or_default();
        step.notes.push(format!("Using join buffer: {}", name(kind)));
        // BNLH and BKAH look for rows in a table of hashes.
        let is_hashed = kind.ends_with('H');
        let operation = if is_hashed { PlanOperation::HashJoin } else { PlanOperation::NestedLoop };
        Ok(JoinInput { step, operation, is_buffered: true })
    }

    /// The results of several queries.
    fn union(&self, field: &str, value: &JsonTree) -> Result<PlanNode, PlanError> {
        let mut union = PlanNode {
            relation: value.text("table_name").map(name),
            actual_rows: value.number("r_rows"),
            loops: value.number("r_loops"),
            ..step(PlanOperation::Union, &field.replace('_', " "))
        };
        for query in value.items_of("query_specifications") {
            union.children.push(self.block(query)?);
        }
        union.time_us = union.children.iter().map(|query| query.time_us).sum();
        Ok(union)
    }

    /// A query within the block.
    fn subquery(&self, item: &JsonTree) -> Result<PlanNode, PlanError> {
        let inner = self.block(item)?;
        // What is executed for each row has a cache, or was executed more than once.
        let caches = ["expression_cache", "subquery_cache"];
        let is_cached = caches.iter().any(|cache| item.field(cache).is_some());
        let loops = loops_of(item);
        Ok(PlanNode {
            is_dependent: is_cached || loops.is_some_and(|loops| loops > 1.0),
            loops,
            time_us: inner.time_us,
            ..step_over(PlanOperation::Subquery, "subquery", inner)
        })
    }

    /// The access to a table.
    fn table(&self, table: &JsonTree) -> Result<PlanNode, PlanError> {
        let (operation, label) = access_of(table);
        let rows = table.number("r_rows");
        // What it reads, and which share of that its conditions keep.
        let filtered = table.number("r_filtered");
        let actual_rows = kept(rows, filtered);
        let mut node = PlanNode {
            relation: table.text("table_name").map(name),
            index: index(table),
            condition: self.conditions(table),
            is_covering: table.is_true("using_index"),
            estimated_rows: kept(table.number("rows"), table.number("filtered")),
            cost: table.number("cost"),
            actual_rows,
            loops: loops_of_table(table).or(rows.map(|_| 1.0)),
            time_us: time_of_table(table),
            removed_rows: rows.zip(actual_rows).map(|(rows, kept)| rows - kept),
            notes: notes(table, self.is_raw),
            ..step(operation, label)
        };
        if let Some(pages) = table.field("r_engine_stats") {
            let read = pages.number("pages_read_count").unwrap_or(0.0);
            node.pages_hit = pages.number("pages_accessed").map(|all| (all - read).max(0.0));
            node.pages_read = Some(read);
        }
        if let Some(inner) = table.field("materialized") {
            let inner = self.block(inner)?;
            node.time_us = inclusive(node.time_us.map(|us| us / US_PER_MS), inner.time_us);
            node.children.push(step_around(inner));
        }
        Ok(changed(node, table))
    }

    fn conditions(&self, table: &JsonTree) -> Option<String> {
        let fields = ["index_condition", "attached_condition"];
        let texts = fields.iter().filter_map(|field| table.text(field));
        let texts: Vec<String> = texts.map(|text| condition(text, self.is_raw)).collect();
        (!texts.is_empty()).then(|| texts.join(" AND "))
    }
}

/// What keeps the rows of a derived table.
fn step_around(inner: PlanNode) -> PlanNode {
    let (loops, time_us) = (inner.loops, inner.time_us);
    PlanNode { loops, time_us, ..step_over(PlanOperation::Materialize, "materialized", inner) }
}

/// What a step took with what is below it, in microseconds: a sort that reads its table itself
/// counts that too, one behind a temporary table does not.
fn inclusive(own_ms: Option<f64>, below_us: Option<f64>) -> Option<f64> {
    let own = own_ms.map(|ms| ms * US_PER_MS);
    match (own, below_us) {
        (Some(own), Some(below)) if own < below => Some(own + below),
        (own, below) => own.or(below),
    }
}

/// How often a table was read. One with a constant key is read once, while the server plans, and
/// has no loops.
fn loops_of_table(table: &JsonTree) -> Option<f64> {
    let is_constant = matches!(table.text("access_type"), Some("const" | "system"));
    table.number("r_loops").map(|loops| if is_constant { loops.max(1.0) } else { loops })
}

/// What all executions took: one figure in old versions, in newer ones that of the storage engine
/// and that of the rest.
fn time_of_table(table: &JsonTree) -> Option<f64> {
    let parts = || Some(table.number("r_table_time_ms")? + table.number("r_other_time_ms")?);
    table.number("r_total_time_ms").or_else(parts).map(|ms| ms * US_PER_MS)
}

/// How often a query was executed, within what keeps its results.
fn loops_of(item: &JsonTree) -> Option<f64> {
    let mut inner = item;
    while inner.field("query_block").is_none() {
        inner = inner.fields().iter().map(|(_, value)| value).find(|v| !v.fields().is_empty())?;
    }
    inner.field("query_block")?.number("r_loops")
}

/// The index, or those that are merged.
fn index(table: &JsonTree) -> Option<String> {
    let mut keys = Vec::new();
    if let Some(merge) = table.field("index_merge") {
        gather_keys(merge, &mut keys);
    }
    if keys.is_empty() { table.text("key").map(name) } else { Some(name(&keys.join(", "))) }
}

fn gather_keys<'t>(tree: &'t JsonTree, keys: &mut Vec<&'t str>) {
    keys.extend(tree.text("key"));
    let values = tree.fields().iter().map(|(_, value)| value);
    values.chain(tree.items()).for_each(|value| gather_keys(value, keys));
}

/// The step that changes the rows of a table, around the one that finds them.
fn changed(node: PlanNode, table: &JsonTree) -> PlanNode {
    let verbs = ["insert", "update", "delete"];
    match verbs.into_iter().find(|verb| table.field(verb).is_some()) {
        Some(verb) => {
            let (relation, time_us) = (node.relation.clone(), node.time_us);
            PlanNode { relation, time_us, ..step_over(PlanOperation::Modify, verb, node) }
        }
        None => node,
    }
}

/// What else is known of a step.
fn notes(value: &JsonTree, is_raw: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let key = value.text("sort_key").map(|key| condition(key, is_raw));
    notes.extend(key.map(|key| format!("Sort key: {key}")));
    let parts = value.list("used_key_parts");
    notes.extend(parts.map(|parts| format!("Key columns: {}", name(&parts))));
    let filter = value.field("rowid_filter").and_then(|filter| filter.field("range")?.text("key"));
    notes.extend(filter.map(|key| format!("Using rowid filter: {}", name(key))));
    let passes = value.number("r_sort_passes").filter(|passes| *passes > 0.0);
    notes.extend(passes.map(|passes| format!("Merge passes: {passes}")));
    if value.is_true("not_exists") {
        notes.push("Not exists".to_owned());
    }
    if value.is_true("r_used_priority_queue") {
        notes.push("Priority queue".to_owned());
    }
    notes
}

/// Adds to the pages of each step those of the steps below it.
fn sum_pages(node: &mut PlanNode) {
    node.children.iter_mut().for_each(sum_pages);
    let sum = |own: Option<f64>, of: fn(&PlanNode) -> Option<f64>| {
        let below = node.children.iter().filter_map(of);
        own.into_iter().chain(below).reduce(|a, b| a + b)
    };
    let hit = sum(node.pages_hit, |child| child.pages_hit);
    let read = sum(node.pages_read, |child| child.pages_read);
    (node.pages_hit, node.pages_read) = (hit, read);
}
