//! `EXPLAIN` as a table, which is all that MySQL has before 5.6 and MariaDB before 10.1: a row for
//! each table, of which only the number of its query says what it belongs to.

use super::mysql_steps::{
    JoinInput, condition, finished, joined_all, kept, name, operation_of_access, step, step_over,
    too_large,
};
use super::{MAX_DEPTH, PlanError};
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};
use std::collections::BTreeMap;

/// Reads the rows of `EXPLAIN` or `EXPLAIN EXTENDED`, `None` for NULL.
///
/// # Errors
/// Columns are missing, there are no rows, or too many.
pub fn mysql_table(
    columns: &[String],
    rows: &[Vec<Option<String>>],
    is_raw: bool,
) -> Result<StatementPlan, PlanError> {
    for needed in ["id", "select_type", "table", "type", "Extra"] {
        if !columns.iter().any(|column| column == needed) {
            return Err(PlanError(format!("no column {needed}")));
        }
    }
    let mut queries = ListedQueries::default();
    for values in rows {
        queries.add(&ListedTable { columns, values, is_raw })?;
    }
    finished("EXPLAIN", queries.root()?)
}

/// The queries of a statement by their numbers. Each is taken once, so that none is within itself.
#[derive(Default)]
struct ListedQueries {
    queries: BTreeMap<u32, ListedQuery>,
    /// The rows `<union1,2>`, by the first of their queries.
    unions: BTreeMap<u32, (PlanNode, Vec<u32>)>,
    /// How many queries within each other are being taken.
    depth: usize,
}

/// The tables of a query.
#[derive(Default)]
struct ListedQuery {
    /// `SIMPLE`, `DEPENDENT SUBQUERY`.
    kind: String,
    tables: Vec<JoinInput>,
    is_sorted: bool,
    is_kept: bool,
}

impl ListedQueries {
    fn add(&mut self, table: &ListedTable<'_>) -> Result<(), PlanError> {
        let relation = table.value("table").unwrap_or_default();
        if let Some(list) = numbers(relation, "<union") {
            let mut union = empty_union(table, relation);
            if table.has("Using filesort") {
                union.notes.push("Using filesort".to_owned());
            }
            let first = list.first().copied().unwrap_or_default();
            self.unions.insert(first, (union, list));
            return Ok(());
        }
        let id = table.value("id").and_then(|id| id.parse().ok());
        let id = id.ok_or_else(|| PlanError("a row has no id".to_owned()))?;
        let query = self.queries.entry(id).or_default();
        query.kind = table.value("select_type").unwrap_or_default().to_owned();
        query.is_sorted |= table.has("Using filesort");
        query.is_kept |= table.has("Using temporary");
        query.tables.push(table.step());
        Ok(())
    }

    /// The first query, and the others where they belong; those whose place the table does not have
    /// are behind the first one.
    fn root(mut self) -> Result<PlanNode, PlanError> {
        let first = self.queries.keys().next().copied();
        let first = first.ok_or_else(|| PlanError("no rows".to_owned()))?;
        let mut root = self.result(first)?.unwrap_or_default();
        // UNION ALL has no row for its result in newer versions.
        let mut more = Vec::new();
        while let Some((&id, query)) = self.queries.iter().next() {
            let is_dependent = query.kind.starts_with("DEPENDENT");
            let is_union = query.kind.ends_with("UNION") && !is_dependent;
            let Some(query) = self.result(id)? else { continue };
            if is_union {
                more.push(query);
                continue;
            }
            let inner = step_over(PlanOperation::Subquery, "subquery", query);
            root.children.push(PlanNode { is_dependent, ..inner });
        }
        if more.is_empty() {
            return Ok(root);
        }
        more.insert(0, root);
        Ok(PlanNode { children: more, ..step(PlanOperation::Union, "union") })
    }

    /// What comes of a query, or of the union that begins with it.
    fn result(&mut self, id: u32) -> Result<Option<PlanNode>, PlanError> {
        let Some((mut union, ids)) = self.unions.remove(&id) else { return self.query(id) };
        for id in ids {
            union.children.extend(self.query(id)?);
        }
        Ok(Some(union))
    }

    /// A query, with those that its tables are made by; `None`: it has been taken.
    fn query(&mut self, id: u32) -> Result<Option<PlanNode>, PlanError> {
        let Some(mut query) = self.queries.remove(&id) else { return Ok(None) };
        if self.depth == MAX_DEPTH {
            return Err(too_large());
        }
        self.depth += 1;
        for table in &mut query.tables {
            let relation = table.step.relation.as_deref().unwrap_or_default();
            let made_by = ["<derived", "<subquery"].iter().find_map(|kind| numbers(relation, kind));
            for id in made_by.unwrap_or_default() {
                let inner = self.result(id)?;
                let keeps = |inner| step_over(PlanOperation::Materialize, "materialize", inner);
                table.step.children.extend(inner.map(keeps));
            }
        }
        self.depth -= 1;
        let mut step = joined_all(query.tables)?;
        if query.is_kept {
            let keeps = |step| step_over(PlanOperation::Materialize, "temporary table", step);
            step = step.map(keeps);
        }
        if query.is_sorted {
            step = step.map(|step| step_over(PlanOperation::Sort, "filesort", step));
        }
        Ok(step)
    }
}

/// The numbers of `<union1,2>` or `<derived2>`, of which a query refers to others.
fn numbers(relation: &str, kind: &str) -> Option<Vec<u32>> {
    let list = relation.strip_prefix(kind)?.strip_suffix('>')?;
    let numbers = list.split(',').map(|number| number.parse().ok());
    numbers.collect::<Option<Vec<u32>>>().filter(|numbers| !numbers.is_empty())
}

/// A union, whose parts are added.
fn empty_union(table: &ListedTable<'_>, relation: &str) -> PlanNode {
    let kind = table.value("select_type").unwrap_or("UNION RESULT");
    let label = kind.to_ascii_lowercase();
    PlanNode { relation: Some(name(relation)), ..step(PlanOperation::Union, &label) }
}

/// A row of the answer.
struct ListedTable<'r> {
    columns: &'r [String],
    values: &'r [Option<String>],
    is_raw: bool,
}

impl ListedTable<'_> {
    fn value(&self, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.values.get(at)?.as_deref()
    }

    fn number(&self, column: &str) -> Option<f64> {
        let number = self.value(column)?.parse().ok();
        number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }

    /// What the column Extra is a list of.
    fn extras(&self) -> impl Iterator<Item = &str> {
        let extras = self.value("Extra").unwrap_or_default().split(';').map(str::trim);
        extras.filter(|extra| !extra.is_empty())
    }

    fn has(&self, extra: &str) -> bool {
        self.extras().any(|found| found == extra)
    }

    /// The access to the table.
    fn step(&self) -> JoinInput {
        let access = self.value("type");
        let operation = access.map_or(PlanOperation::Values, operation_of_access);
        let label = access.or_else(|| self.value("Extra")).unwrap_or("table");
        // Around the whole query, and not of this table.
        let of_query = ["Using filesort", "Using temporary"];
        let notes = self.extras().filter(|extra| !of_query.contains(extra) && *extra != label);
        let buffer = self.extras().find(|extra| extra.starts_with("Using join buffer"));
        let is_hashed = buffer.is_some_and(|buffer| buffer.contains("hash"));
        let joins = if is_hashed { PlanOperation::HashJoin } else { PlanOperation::NestedLoop };
        let step = PlanNode {
            relation: self.value("table").map(name),
            index: self.value("key").map(|key| name(&key.replace(',', ", "))),
            is_covering: self.extras().any(is_of_index),
            estimated_rows: kept(self.number("rows"), self.number("filtered")),
            notes: notes.map(|note| condition(note, self.is_raw)).collect(),
            ..step(operation, label)
        };
        JoinInput { step, operation: joins, is_buffered: buffer.is_some() }
    }
}

/// Whether a remark is that the index alone has all columns; `Using index condition` is another.
fn is_of_index(extra: &str) -> bool {
    extra == "Using index" || extra.starts_with("Using index for")
}
