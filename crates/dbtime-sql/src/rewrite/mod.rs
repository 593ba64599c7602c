//! Other forms of a statement that may be faster, and what its text alone tells of it.
//!
//! Nothing here knows tables or data: a form is a candidate, whose rows are to be compared before
//! it is shown. A statement that is not understood has none.

mod findings;
mod parts;
mod rules;
mod table_columns;
mod terms;
mod text_bounds;
mod tree;

#[cfg(test)]
mod tests;

pub use findings::{TextFinding, text_findings};
pub use table_columns::{TableColumns, table_columns};

use dbtime_model::SqlDialect;
use parts::{SelectParts, StatementTree};

/// Another form of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementRewrite {
    /// The rule that made it: `in-to-join`.
    pub rule: &'static str,
    /// Its text: newly printed, without comments. Parameters are written as they were given.
    pub sql: String,
    /// What is the case, in a sentence.
    pub finding: String,
    /// When it may return other rows, or what it costs.
    pub caveats: Vec<String>,
}

/// What a rule makes of a `SELECT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RuleOutcome {
    sql: String,
    finding: String,
    caveats: Vec<String>,
}

/// A rule: a pure function of the parts.
struct RewriteRule {
    name: &'static str,
    rewrite: fn(&SelectParts, SqlDialect) -> Option<RuleOutcome>,
}

impl RuleOutcome {
    fn of(parts: &SelectParts, finding: String, caveats: &[&str]) -> Self {
        let caveats = caveats.iter().map(|&caveat| caveat.to_owned()).collect();
        Self { sql: parts.sql(), finding, caveats }
    }
}

/// Other forms of a query, each by one rule. Parameters are `:name`, `$1` or `?`; a form may have
/// them in another order, or more than once, so that the second `?` is `$2` in it. Empty: no rule
/// applies, the text is no single query, or it is longer than 64 KiB, nested deeper than 50, has
/// more than 128 operators or is not understood.
pub fn rewrites(sql: &str, dialect: SqlDialect) -> Vec<StatementRewrite> {
    let Some(sql) = text_bounds::numbered(sql, dialect) else { return Vec::new() };
    let forms = match tree::read(&sql, dialect) {
        Some(StatementTree::Select(parts)) => rules::of_select(&parts, dialect),
        Some(StatementTree::Union { arms, tail }) => vec![rules::union_all(&arms, &tail)],
        None => Vec::new(),
    };
    let is_usable = |form: &StatementRewrite| tree::is_statement(&form.sql, dialect);
    forms.into_iter().filter(is_usable).collect()
}
