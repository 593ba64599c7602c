//! How a table is read: `SEARCH t USING COVERING INDEX i (a=? AND b>?)`.

use super::super::shown;
use dbtime_model::SqlDialect;
use dbtime_model::query::{PlanNode, PlanOperation};

/// Reads what stands behind `SCAN` or `SEARCH`.
pub(super) fn access(verb: &str, text: &str, is_raw: bool) -> PlanNode {
    let text = text.strip_prefix("TABLE ").unwrap_or(text);
    let (text, estimated_rows) = without_estimate(text);
    let (text, is_outer) = without_suffix(text, " LEFT-JOIN");
    let (text, virtual_index) = split(text, " VIRTUAL TABLE INDEX ");
    let (source, way) = split(text, " USING ");
    let (source, is_exists) = without_suffix(source, " EXISTS");
    let (relation, alias) = split(source, " AS ");
    let way = way.map(IndexWay::of).unwrap_or_default();
    let is_constant = source.ends_with("CONSTANT ROW") || source.ends_with("CONSTANT ROWS");
    let notes = [
        (is_outer, "left join"),
        (is_exists, "ends with the first row"),
        (way.is_automatic, "makes the index for this execution alone"),
    ];
    let mut notes: Vec<String> =
        notes.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note.to_owned()).collect();
    // What the table itself calls the way may have values in it.
    let virtual_index = virtual_index.and_then(|index| index.split(':').next());
    notes.extend(virtual_index.map(|index| format!("index {index} of a virtual table")));
    PlanNode {
        operation: match (is_constant, virtual_index) {
            (true, _) => PlanOperation::Values,
            (_, Some(_)) => PlanOperation::Other,
            _ => operation(verb == "SEARCH", relation, &way),
        },
        label: format!("{verb}{}", way.words),
        relation: (!is_constant).then(|| relation.to_owned()),
        alias: alias.map(str::to_owned),
        index: way.index.map(str::to_owned),
        condition: way.condition.map(|text| shown(text, SqlDialect::Sqlite, is_raw)),
        is_covering: way.is_covering,
        estimated_rows,
        notes,
        ..PlanNode::default()
    }
}

/// By what a table is read; by nothing but itself, it is empty.
#[derive(Clone, Copy, Debug, Default)]
struct IndexWay<'t> {
    /// Its words without the index's name, with a blank before them.
    words: &'t str,
    index: Option<&'t str>,
    condition: Option<&'t str>,
    is_covering: bool,
    is_automatic: bool,
}

impl<'t> IndexWay<'t> {
    /// Reads what stands behind `USING`.
    fn of(text: &'t str) -> Self {
        let (way, condition) = split(text, " (");
        let (words, index) = match way {
            "INTEGER PRIMARY KEY" => (" USING INTEGER PRIMARY KEY", Some(way)),
            "PRIMARY KEY" => (" USING PRIMARY KEY", Some(way)),
            "AUTOMATIC COVERING INDEX" => (" USING AUTOMATIC COVERING INDEX", None),
            "AUTOMATIC PARTIAL COVERING INDEX" => (" USING AUTOMATIC PARTIAL COVERING INDEX", None),
            _ => match (way.strip_prefix("COVERING INDEX "), way.strip_prefix("INDEX ")) {
                (Some(name), _) => (" USING COVERING INDEX", Some(name)),
                (None, name) => (" USING INDEX", Some(name.unwrap_or(way))),
            },
        };
        Self {
            words,
            index,
            condition: condition.map(|text| text.strip_suffix(')').unwrap_or(text)),
            is_covering: words.ends_with("COVERING INDEX"),
            is_automatic: words.starts_with(" USING AUTOMATIC"),
        }
    }
}

fn operation(is_search: bool, relation: &str, way: &IndexWay<'_>) -> PlanOperation {
    let is_subquery = relation.starts_with("SUBQUERY ") || relation.starts_with("(subquery");
    if way.words.is_empty() {
        return if is_subquery { PlanOperation::Subquery } else { PlanOperation::TableScan };
    }
    match way.condition {
        None if is_search => PlanOperation::IndexRange,
        None => PlanOperation::IndexScan,
        // `<expr>` stands for what an index on an expression has.
        Some(text) if text.replace("<expr>", "").contains(['<', '>']) => PlanOperation::IndexRange,
        Some(_) => PlanOperation::IndexLookup,
    }
}

/// What is before and behind a mark.
fn split<'t>(text: &'t str, mark: &str) -> (&'t str, Option<&'t str>) {
    text.split_once(mark).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

fn without_suffix<'t>(text: &'t str, suffix: &str) -> (&'t str, bool) {
    text.strip_suffix(suffix).map_or((text, false), |before| (before, true))
}

/// A text without the rows that up to 3.8 and in some builds stand at its end: `(~25 rows)`.
fn without_estimate(text: &str) -> (&str, Option<f64>) {
    let parts = text.rsplit_once(" (~").and_then(|(before, rows)| {
        let rows = rows.strip_suffix(" rows)").or_else(|| rows.strip_suffix(" row)"))?;
        Some((before, rows.parse::<u64>().ok()? as f64))
    });
    parts.map_or((text, None), |(before, rows)| (before, Some(rows)))
}
