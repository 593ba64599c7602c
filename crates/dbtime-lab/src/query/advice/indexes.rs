//! Indexes that a table lacks: columns that are equal to something, the most selective first, then
//! one that is bounded or those of the order, then all others that the statement uses.

use super::evidence::{PlanEvidence, is_full_scan};
use super::{AdviceInput, AdviceProposal, IndexFacts, ProposedTrial, TableFacts};
use super::{is_same_name, untried};
use dbtime_model::query::PlanNode;
use dbtime_model::{Product, SqlDialect};
use dbtime_sql::TableColumns;

/// An index with more columns is as much as a second table.
const MAX_COLUMNS: usize = 5;
/// So many times more rows are read than kept by a scan that wants an index.
const LEAST_REMOVED: f64 = 10.0;
/// A table with fewer rows is read as fast without an index.
const LEAST_ROWS: f64 = 100.0;
/// Longer names are cut: PostgreSQL has room for 63 bytes.
const MAX_NAME: usize = 60;

pub(super) fn proposals(input: &AdviceInput<'_>) -> Vec<AdviceProposal> {
    let tables = dbtime_sql::table_columns(&input.scene.form.given, input.dialect());
    tables.iter().flat_map(|table| of_table(input, table)).collect()
}

fn of_table(input: &AdviceInput<'_>, table: &TableColumns) -> Vec<AdviceProposal> {
    let is_its = |step: &PlanNode| {
        let names = [step.relation.as_deref(), step.alias.as_deref()];
        let own = [&table.table, &table.name];
        let is_one = |name: &str| own.iter().any(|one| is_same_name(one, name));
        names.into_iter().flatten().any(is_one)
    };
    let found = input.evidence(|step| is_its(step) && is_wasteful(step));
    let (Some(found), Some(facts)) = (found, facts_of(input, table)) else { return Vec::new() };
    // All of it fits into a page or two.
    if facts.rows.is_some_and(|rows| rows < LEAST_ROWS) {
        return Vec::new();
    }
    let is_new = |columns: &Vec<String>| {
        !columns.is_empty() && !facts.indexes.iter().any(|index| has_columns(index, columns))
    };
    let has_key = input.dialect() == SqlDialect::Mysql;
    let mut missing: Vec<Vec<String>> = Vec::new();
    for columns in candidates(table, facts) {
        let columns = if has_key { without_key(columns, facts) } else { columns };
        if is_new(&columns) && !missing.contains(&columns) {
            missing.push(columns);
        }
    }
    missing.into_iter().map(|columns| proposal(input, table, columns, &found)).collect()
}

/// The columns without those of the primary key at their end, with which every index of InnoDB
/// ends anyway.
fn without_key(mut columns: Vec<String>, facts: &TableFacts) -> Vec<String> {
    let key = facts.indexes.iter().find(|index| index.is_primary);
    let key: &[String] = key.map(|index| index.columns.as_slice()).unwrap_or_default();
    let most = key.len().min(columns.len().saturating_sub(1));
    let is_end = |count: &usize| {
        let end = &columns[columns.len() - count..];
        end.iter().zip(key).all(|(one, other)| is_same_name(one, other))
    };
    let end = (1..=most).rev().find(is_end).unwrap_or_default();
    columns.truncate(columns.len() - end);
    columns
}

fn facts_of<'s>(input: &AdviceInput<'s>, table: &TableColumns) -> Option<&'s TableFacts> {
    input.scene.tables.iter().find(|facts| is_same_name(&facts.name, &table.table))
}

/// A scan that removes most of what it reads, or is made again and again, or says nothing of it.
fn is_wasteful(step: &PlanNode) -> bool {
    let kept = step.actual_rows.unwrap_or_default().max(1.0);
    let is_repeated = step.loops.is_some_and(|loops| loops > 1.0);
    let removes = step.removed_rows.is_none_or(|removed| removed >= LEAST_REMOVED * kept);
    is_full_scan(step) && (is_repeated || removes)
}

/// Columns of indexes to try, in their order, without doubles.
fn candidates(table: &TableColumns, facts: &TableFacts) -> Vec<Vec<String>> {
    let mut equal = table.equal.clone();
    equal.sort_by(|a, b| facts.distinct(b).total_cmp(&facts.distinct(a)));
    let equal = joined(&[&equal, &table.joined]);
    let range: Vec<String> = table.ranges.iter().take(1).cloned().collect();
    let ranged = joined(&[&equal, &range]);
    let ordered = joined(&[&equal, &table.ordered]);
    let covering = joined(&[&ranged, &table.used]);
    let mut all = Vec::new();
    for columns in [ranged, ordered, covering] {
        if columns.len() <= MAX_COLUMNS && !all.contains(&columns) {
            all.push(columns);
        }
    }
    all
}

/// The lists behind each other, each name once.
fn joined(lists: &[&[String]]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in lists.iter().copied().flatten() {
        if !names.iter().any(|one| is_same_name(one, name)) {
            names.push(name.clone());
        }
    }
    names
}

/// Whether an index begins with these columns.
fn has_columns(index: &IndexFacts, columns: &[String]) -> bool {
    let mut pairs = index.columns.iter().zip(columns);
    index.columns.len() >= columns.len() && pairs.all(|(one, other)| is_same_name(one, other))
}

fn proposal(
    input: &AdviceInput<'_>,
    table: &TableColumns,
    columns: Vec<String>,
    found: &PlanEvidence,
) -> AdviceProposal {
    let (table, list) = (table.table.clone(), columns.join(", "));
    let name = index_name(&table, &columns);
    let sql = format!("CREATE INDEX {name} ON {table} ({list})");
    let finding = format!("{table} is read from one end to the other, for lack of an index");
    let price = "every write into the table has to keep it, and it takes room";
    let mut caveats = vec![price.to_owned()];
    if input.scene.product == Product::Postgres {
        caveats.push("without CONCURRENTLY building it locks the table against writes".to_owned());
    }
    let drop_sql = drop_index(input.dialect(), &name, &table);
    let lines = found.lines.clone();
    AdviceProposal {
        advice: untried("missing-index", finding, lines, vec![sql.clone()], caveats),
        trial: ProposedTrial::Index { table, columns, sql, drop_sql },
        share: found.share,
    }
}

/// The statement that drops an index, whose name is given as it is written. PostgreSQL's are in the
/// schema of their table.
pub(super) fn drop_index(dialect: SqlDialect, name: &str, table: &str) -> String {
    match (dialect, table.rsplit_once('.')) {
        (SqlDialect::Mysql, _) => format!("DROP INDEX {name} ON {table}"),
        (SqlDialect::Postgres, Some((schema, _))) => format!("DROP INDEX {schema}.{name}"),
        (SqlDialect::Postgres | SqlDialect::Sqlite, _) => format!("DROP INDEX {name}"),
    }
}

/// A name that tells what it is of.
fn index_name(table: &str, columns: &[String]) -> String {
    let last = table.rsplit('.').next().unwrap_or_default();
    let words = format!("dbtime_{last}_{}", columns.join("_")).to_ascii_lowercase();
    let plain = words.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_');
    plain.take(MAX_NAME).collect()
}
