//! The tree of a plan.
//!
//! Rows, times and removed rows are means of one loop, and loops count those of all processes;
//! pages are sums over all loops, with those below. A `WITH` stands where its rows are first read,
//! which is where the server counts its time, and not where it was written.

use super::super::{MAX_DEPTH, PlanError, StepCount};
use super::{condition, list, microseconds, names, notes, number, text};
use dbtime_model::query::{PlanNode, PlanOperation};
use serde_json::Value;

/// Pages of temporary files. Unit: bytes.
const PAGE_BYTES: f64 = 8192.0;

/// In which fields conditions are. The recheck of a bitmap is in its index scans too.
const CONDITIONS: [&str; 8] = [
    "Index Cond",
    "TID Cond",
    "Hash Cond",
    "Merge Cond",
    "Join Filter",
    "Filter",
    "One-Time Filter",
    "Conflict Filter",
];

/// Why rows were removed.
const REMOVED: [&str; 4] = [
    "Rows Removed by Filter",
    "Rows Removed by Join Filter",
    "Rows Removed by Index Recheck",
    "Rows Removed by Conflict Filter",
];

/// What the plan of a `WITH` has before its name.
const TABLE: &str = "CTE ";

/// The tree below a `Plan`.
pub(super) fn tree(plan: &Value, is_raw: bool) -> Result<PlanNode, PlanError> {
    TreeReader { is_raw, count: StepCount::default(), tables: Vec::new() }.step(plan, 0, 1.0)
}

struct TreeReader {
    is_raw: bool,
    count: StepCount,
    /// Plans of a `WITH` around the step, until one reads their rows.
    tables: Vec<Option<PlanNode>>,
}

impl TreeReader {
    /// A step that so many processes execute at once.
    fn step(&mut self, node: &Value, depth: usize, processes: f64) -> Result<PlanNode, PlanError> {
        self.count.add(depth)?;
        let children = self.children(node, depth, processes)?;
        let operation = names::operation(node);
        let is_bitmaps = operation == PlanOperation::IndexMerge;
        let relation = names::relation(node);
        let loops = number(node, "Actual Loops");
        let time = microseconds(node, "Actual Total Time");
        Ok(PlanNode {
            operation,
            label: names::label(node),
            relation: relation.map(str::to_owned),
            alias: text(node, "Alias").filter(|alias| Some(*alias) != relation).map(str::to_owned),
            index: text(node, "Index Name").map(str::to_owned),
            condition: conditions(node, self.is_raw),
            is_covering: text(node, "Node Type") == Some("Index Only Scan"),
            estimated_rows: number(node, "Plan Rows"),
            cost: number(node, "Total Cost"),
            // Of bitmaps together the server does not count the rows.
            actual_rows: number(node, "Actual Rows").filter(|_| !is_bitmaps),
            loops,
            time_us: time.zip(loops).map(|(time, loops)| time * loops / processes),
            removed_rows: sum(node, &REMOVED),
            pages_hit: sum(node, &["Shared Hit Blocks", "Local Hit Blocks"]),
            pages_read: sum(node, &["Shared Read Blocks", "Local Read Blocks"]),
            memory_bytes: memory(node),
            spilled_bytes: spilled(node),
            notes: notes::of_step(node, self.is_raw),
            children,
            is_dependent: false,
            is_cut: false,
        })
    }

    /// What a step takes its rows from.
    fn children(
        &mut self,
        node: &Value,
        depth: usize,
        processes: f64,
    ) -> Result<Vec<PlanNode>, PlanError> {
        let below = processes * processes_below(node);
        let (mut children, mark) = (Vec::new(), self.tables.len());
        for child in list(node, "Plans") {
            // What is computed before a step is computed once.
            let is_input = text(child, "Parent Relationship") != Some("InitPlan");
            let step = self.step(child, depth + 1, if is_input { below } else { processes })?;
            let step = within_subquery(node, child, step);
            match is_table(child) {
                true => self.tables.push(Some(step)),
                false => children.push(step),
            }
        }
        if text(node, "Node Type") == Some("CTE Scan") {
            let name = text(node, "CTE Name").unwrap_or_default();
            children.extend(self.unread_table(name, depth));
        }
        // What no step reads is executed all the same.
        children.extend(self.tables.drain(mark..).flatten());
        Ok(children)
    }

    /// The plan of a `WITH` that no step before has read, where it is not too high to stand here.
    fn unread_table(&mut self, name: &str, depth: usize) -> Option<PlanNode> {
        let fits = |table: &PlanNode| {
            table.label.strip_prefix(TABLE) == Some(name) && depth + height(table) <= MAX_DEPTH
        };
        let mut tables = self.tables.iter_mut().rev();
        tables.find(|table| matches!(table, Some(table) if fits(table))).and_then(Option::take)
    }
}

/// How many levels a step and those below it have.
fn height(node: &PlanNode) -> usize {
    1 + node.children.iter().map(height).max().unwrap_or(0)
}

/// All conditions of a step, each of which has to hold.
fn conditions(node: &Value, is_raw: bool) -> Option<String> {
    let all = CONDITIONS.iter().filter_map(|key| text(node, key));
    let all: Vec<String> = all.map(|text| condition(text, is_raw)).collect();
    (!all.is_empty()).then(|| all.join(" AND "))
}

/// In how many processes at once what is below a step is executed: that is how often they execute
/// it for one execution of the step. The leader may take part or not.
fn processes_below(node: &Value) -> f64 {
    let is_gather = text(node, "Node Type").is_some_and(|kind| kind.starts_with("Gather"));
    let workers = number(node, "Workers Launched").filter(|_| is_gather);
    let of_input = list(node, "Plans")
        .iter()
        .find(|child| text(child, "Parent Relationship") == Some("Outer"))
        .and_then(|child| number(child, "Actual Loops"));
    match (workers, of_input, number(node, "Actual Loops")) {
        (Some(workers), Some(below), Some(loops)) if loops > 0.0 => {
            (below / loops).clamp(1.0, workers + 1.0)
        }
        _ => 1.0,
    }
}

/// A step within the query that it is the plan of, where it has a name.
fn within_subquery(parent: &Value, node: &Value, step: PlanNode) -> PlanNode {
    let Some(name) = text(node, "Subplan Name") else { return step };
    let is_of_rows = text(node, "Parent Relationship") == Some("SubPlan");
    PlanNode {
        operation: PlanOperation::Subquery,
        label: name.to_owned(),
        is_dependent: is_of_rows && !is_hashed(parent, name),
        estimated_rows: step.estimated_rows,
        cost: step.cost,
        actual_rows: step.actual_rows,
        loops: step.loops,
        time_us: step.time_us,
        pages_hit: step.pages_hit,
        pages_read: step.pages_read,
        children: vec![step],
        ..PlanNode::default()
    }
}

/// Whether a step is the plan of a `WITH`.
fn is_table(node: &Value) -> bool {
    text(node, "Subplan Name").is_some_and(|name| name.starts_with(TABLE))
}

/// Whether the rows of a query are looked up in a table of hashes that is made once.
fn is_hashed(parent: &Value, name: &str) -> bool {
    let mark = format!("hashed {name})");
    let is_in = |value: &Value| value.as_str().is_some_and(|text| text.contains(&mark));
    let mut fields = parent.as_object().into_iter().flat_map(|fields| fields.values());
    fields.any(|value| match value {
        Value::Array(values) => values.iter().any(is_in),
        one => is_in(one),
    })
}

/// What is known of several figures together; `None`: none is.
fn sum(node: &Value, keys: &[&str]) -> Option<f64> {
    keys.iter().filter_map(|key| number(node, key)).reduce(|sum, one| sum + one)
}

/// What a step took in memory. Unit: bytes.
fn memory(node: &Value) -> Option<f64> {
    let sort =
        number(node, "Sort Space Used").filter(|_| text(node, "Sort Space Type") == Some("Memory"));
    let stored =
        number(node, "Maximum Storage").filter(|_| text(node, "Storage") == Some("Memory"));
    let groups = ["Full-sort Groups", "Pre-sorted Groups"];
    let of_groups = groups
        .iter()
        .filter_map(|key| number(node.get(key)?.get("Sort Space Memory")?, "Peak Sort Space Used"))
        .reduce(f64::max);
    let kib = number(node, "Peak Memory Usage").or(sort).or(stored).or(of_groups);
    kib.map(|kib| kib * 1024.0)
}

/// What a step wrote to temporary files by itself; what steps below it wrote is in its pages.
/// Unit: bytes.
fn spilled(node: &Value) -> Option<f64> {
    let sorted =
        number(node, "Sort Space Used").filter(|_| text(node, "Sort Space Type") == Some("Disk"));
    let written = |of: &Value| number(of, "Temp Written Blocks");
    let inputs = list(node, "Plans").iter().filter(|child| !is_table(child));
    let below: f64 = inputs.filter_map(written).sum();
    let own = written(node).map(|all| (all - below) * PAGE_BYTES);
    sorted.map(|kib| kib * 1024.0).or(own).filter(|bytes| *bytes > 0.0)
}
