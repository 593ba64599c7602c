//! What a statement's text alone tells, where no other form returns the same rows.

use super::parts::{ConditionKind, OrderedTerm, SelectParts, StatementTree, TermKind};
use super::tree;
use dbtime_model::SqlDialect;

/// From so many values on estimates become coarse: MySQL's `eq_range_index_dive_limit`.
const HUGE_LIST: usize = 200;
/// Functions that are another value for each row.
const RANDOM: [&str; 2] = ["rand", "random"];

/// Something that a statement's text shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFinding {
    /// The rule: `offset-paging`.
    pub rule: &'static str,
    /// What is the case, in a sentence without literals.
    pub finding: String,
    /// What to do, in words or as SQL.
    pub proposal: String,
    /// What it costs.
    pub caveats: Vec<String>,
}

/// What a query's text alone tells; empty of a text that is not understood, as for
/// [`rewrites`](super::rewrites).
pub fn text_findings(sql: &str, dialect: SqlDialect) -> Vec<TextFinding> {
    let Some(StatementTree::Select(parts)) = tree::read(sql, dialect) else { return Vec::new() };
    let rules: [fn(&SelectParts) -> Option<TextFinding>; 5] =
        [leading_wildcard, random_order, offset_paging, huge_list, all_columns];
    rules.iter().filter_map(|rule| rule(&parts)).collect()
}

fn leading_wildcard(parts: &SelectParts) -> Option<TextFinding> {
    let column = parts.conditions.iter().find_map(|condition| match &condition.kind {
        ConditionKind::Like { left, pattern } if pattern.starts_with("'%") => left.column(),
        _ => None,
    })?;
    Some(TextFinding {
        rule: "leading-wildcard",
        finding: format!("LIKE with % at its beginning can use no order of {}", column.text()),
        proposal: "a full-text or trigram index; for endings an index of the reversed column"
            .to_owned(),
        caveats: vec!["a full-text index finds words, and no parts of them".to_owned()],
    })
}

fn random_order(parts: &SelectParts) -> Option<TextFinding> {
    let mut terms = parts.order_by.iter().map(|one| &one.term);
    let is_random = terms.any(|term| RANDOM.iter().any(|name| term.call(name).is_some()));
    is_random.then(|| TextFinding {
        rule: "order-by-random",
        finding: "every row is read and sorted to return a few at random".to_owned(),
        proposal: "draw a key between the least and the greatest, and take the next row".to_owned(),
        caveats: vec!["rows behind gaps between keys are drawn more often".to_owned()],
    })
}

fn offset_paging(parts: &SelectParts) -> Option<TextFinding> {
    parts.offset.as_ref().filter(|offset| *offset != "0")?;
    let key = |one: &OrderedTerm| Some(one.term.column()?.text());
    let keys: Vec<String> = parts.order_by.iter().filter_map(key).collect();
    let keys = if keys.is_empty() { "k".to_owned() } else { keys.join(", ") };
    Some(TextFinding {
        rule: "offset-paging",
        finding: "OFFSET reads all rows that it leaves out".to_owned(),
        proposal: format!(
            "WHERE ({keys}, id) > (those of the last row) ORDER BY {keys}, id LIMIT n"
        ),
        caveats: vec!["pages can only be turned, and no page be opened by its number".to_owned()],
    })
}

fn huge_list(parts: &SelectParts) -> Option<TextFinding> {
    let count = parts.conditions.iter().find_map(|condition| match condition.kind {
        ConditionKind::InList { count } if count > HUGE_LIST => Some(count),
        _ => None,
    })?;
    Some(TextFinding {
        rule: "huge-in-list",
        finding: format!("IN has {count} values, for which estimates become coarse"),
        proposal: "join a temporary table or VALUES; in PostgreSQL = ANY of one array".to_owned(),
        caveats: vec!["a temporary table takes a statement more".to_owned()],
    })
}

fn all_columns(parts: &SelectParts) -> Option<TextFinding> {
    parts.items.iter().find(|item| item.term.kind == TermKind::Star)?;
    Some(TextFinding {
        rule: "wide-rows",
        finding: "all columns are read and sent, whichever are used".to_owned(),
        proposal: "name the columns that are used".to_owned(),
        caveats: vec!["it is faster only where an index has them all, or rows are wide".to_owned()],
    })
}
