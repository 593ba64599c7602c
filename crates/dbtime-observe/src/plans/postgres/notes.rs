//! What else the server says of a step or of the whole plan, in short.

use super::{condition, list, number, text};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Workers, settings or triggers that are named; a plan seldom has more.
const MOST_NAMED: usize = 32;

/// A column that is converted before it is compared: `(name)::text`. What stands before it makes
/// it no argument of a function.
static CAST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[^\w"])\(([\w."$]+)\)::(\w+)"#).expect("a pattern of dbtime's own")
});

/// Notes of a step.
pub(super) fn of_step(node: &Value, is_raw: bool) -> Vec<String> {
    let keys = [
        ("Sort Key", "sort key"),
        ("Presorted Key", "sorted before by"),
        ("Group Key", "group key"),
    ];
    let mut notes: Vec<String> =
        keys.iter().filter_map(|(key, words)| terms(node, key, words, is_raw)).collect();
    notes.extend(workers(node));
    notes.extend(text(node, "Sort Method").map(|method| format!("sort method: {method}")));
    notes.extend(hash_batches(node));
    notes.extend(lossy(node));
    notes.extend(cache(node));
    // Each execution of a step searches once.
    let more_than_loops = number(node, "Actual Loops").unwrap_or(0.0) + 1.0;
    let counts = [
        ("HashAgg Batches", 2.0, "batches"),
        ("Heap Fetches", 1.0, "rows fetched from the table to see whether they are visible"),
        ("Index Searches", more_than_loops, "searches of the index"),
        ("Subplans Removed", 1.0, "partitions left out at the start"),
        ("Conflicting Tuples", 1.0, "conflicting rows"),
        ("WAL Bytes", 1.0, "bytes of WAL, with those below it"),
    ];
    notes.extend(counts.iter().filter_map(|(key, least, words)| {
        let count = number(node, key).filter(|count| count >= least)?;
        Some(format!("{count} {words}"))
    }));
    if node.get("Disabled").and_then(Value::as_bool) == Some(true) {
        notes.push("disabled".to_owned());
    }
    notes.extend(casts(node));
    notes
}

/// What something is done by.
fn terms(node: &Value, key: &str, words: &str, is_raw: bool) -> Option<String> {
    let terms: Vec<&str> = list(node, key).iter().filter_map(Value::as_str).collect();
    let all = || condition(&terms.join(", "), is_raw);
    (!terms.is_empty()).then(|| format!("{words}: {}", all()))
}

/// How many workers there were, and how evenly they worked.
fn workers(node: &Value) -> Vec<String> {
    let planned = number(node, "Workers Planned");
    let launched = number(node, "Workers Launched");
    let counts = planned.map(|planned| match launched {
        Some(launched) => format!("{planned} workers planned, {launched} launched"),
        None => format!("{planned} workers planned"),
    });
    let rows: Vec<String> = list(node, "Workers")
        .iter()
        .filter_map(|worker| {
            // As all rows of a step, they are the mean of its loops.
            let all = number(worker, "Actual Rows")? * number(worker, "Actual Loops")?;
            Some(all.to_string())
        })
        .take(MOST_NAMED)
        .collect();
    let rows = (!rows.is_empty()).then(|| format!("rows by worker: {}", rows.join(", ")));
    counts.into_iter().chain(rows).collect()
}

/// That a table of hashes had no room.
fn hash_batches(node: &Value) -> Option<String> {
    let batches = number(node, "Hash Batches").filter(|batches| *batches > 1.0)?;
    Some(match number(node, "Original Hash Batches").filter(|planned| *planned != batches) {
        Some(planned) => format!("{batches} batches, {planned} planned"),
        None => format!("{batches} batches"),
    })
}

/// That a bitmap had no room for single rows.
fn lossy(node: &Value) -> Option<String> {
    let lossy = number(node, "Lossy Heap Blocks").filter(|lossy| *lossy > 0.0)?;
    let exact = number(node, "Exact Heap Blocks").unwrap_or(0.0);
    Some(format!("{lossy} of {} pages of the bitmap lossy", lossy + exact))
}

/// What keeping rows was good for.
fn cache(node: &Value) -> Option<String> {
    let (hits, misses) = (number(node, "Cache Hits")?, number(node, "Cache Misses")?);
    Some(format!("cache: {hits} hits, {misses} misses"))
}

/// Columns that the conditions of a filter convert, so that no index on them is of use. PostgreSQL
/// takes each `varchar` as text, and its index all the same.
fn casts(node: &Value) -> Vec<String> {
    let filters = ["Filter", "Join Filter"].into_iter().filter_map(|key| text(node, key));
    let mut casts = BTreeSet::new();
    for filter in filters {
        let filter = condition(filter, false);
        for found in CAST.captures_iter(&filter) {
            let (_, [column, to]) = found.extract();
            if to != "text" {
                casts.insert(format!("compares {column} as {to}"));
            }
        }
    }
    casts.into_iter().take(MOST_NAMED).collect()
}

/// Notes of the whole plan.
pub(super) fn of_statement(statement: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(settings) = statement.get("Settings").and_then(Value::as_object) {
        let all = settings.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
        let all = all.map(|(name, value)| format!("set for the planner: {name} = {value}"));
        notes.extend(all.take(MOST_NAMED));
    }
    notes.extend(compilation(statement));
    let triggers = list(statement, "Triggers").iter().take(MOST_NAMED).filter_map(|trigger| {
        let (name, calls) = (text(trigger, "Trigger Name")?, number(trigger, "Calls")?);
        let time = number(trigger, "Time").map(|ms| format!(" in {ms} ms")).unwrap_or_default();
        Some(format!("trigger {name}: {calls} calls{time}"))
    });
    notes.extend(triggers);
    let serialization = statement.get("Serialization").and_then(|of| number(of, "Time"));
    notes.extend(serialization.map(|ms| format!("rows made ready to be sent in {ms} ms")));
    notes
}

/// What compiling expressions took.
fn compilation(statement: &Value) -> Option<String> {
    let jit = statement.get("JIT")?;
    let functions = number(jit, "Functions")?;
    let time = jit.get("Timing").and_then(|timing| number(timing, "Total"));
    let time = time.map(|ms| format!(" in {ms} ms")).unwrap_or_default();
    Some(format!("JIT: {functions} functions compiled{time}"))
}
