//! A function of a column that is compared with a value as a range of the column, which an index
//! has.

use super::super::parts::{ConditionKind, SelectParts, SqlCondition, SqlTerm, TermKind};
use super::super::{RewriteRule, RuleOutcome};
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "column-range", rewrite };

fn rewrite(parts: &SelectParts, dialect: SqlDialect) -> Option<RuleOutcome> {
    let mut conditions = parts.conditions.iter().enumerate();
    let (at, column, range) = conditions.find_map(|(at, one)| {
        let (column, range) = range_of(one, dialect)?;
        Some((at, column, range))
    })?;
    let mut form = parts.clone();
    let finding = format!("a function of {column} cannot use an index of it");
    form.conditions[at] = SqlCondition::written(range);
    let caveats = [
        "of a column with a time zone the day is that of the session",
        "an index of the expression does the same without another statement",
    ];
    Some(RuleOutcome::of(&form, finding, &caveats))
}

/// The column and its range.
fn range_of(condition: &SqlCondition, dialect: SqlDialect) -> Option<(String, String)> {
    let ConditionKind::Compare { left, op: "=", right } = &condition.kind else { return None };
    let (call, value) = if right.is_value() { (left, right) } else { (right, left) };
    let TermKind::Call { name, arguments, .. } = &call.kind else { return None };
    let column = match arguments.as_slice() {
        [only] if value.is_value() => only.column()?.text(),
        _ => return None,
    };
    let (from, to) = match name.as_str() {
        "date" if may_be_day(value) => day(&value.text, dialect),
        "year" if may_be_year(value) => year(&value.text, dialect)?,
        _ => return None,
    };
    let range = format!("{column} >= {from} AND {column} < {to}");
    Some((column, range))
}

/// A parameter, or a literal that is a day without a time.
fn may_be_day(value: &SqlTerm) -> bool {
    let text = value.text.rsplit_once(' ').map_or(value.text.as_str(), |(_, text)| text);
    let of_day = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    let is_day = |day: &str| day.len() == 10 && day.bytes().all(of_day);
    let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    value.kind == TermKind::Parameter || quoted.is_some_and(is_day)
}

/// A parameter, or a literal that is a year.
fn may_be_year(value: &SqlTerm) -> bool {
    let is_year = |year: &str| year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit());
    value.kind == TermKind::Parameter || is_year(&value.text)
}

/// The first instants of a day and of the next one.
fn day(value: &str, dialect: SqlDialect) -> (String, String) {
    match dialect {
        SqlDialect::Mysql => (format!("DATE({value})"), format!("DATE({value}) + INTERVAL 1 DAY")),
        SqlDialect::Postgres => {
            (format!("CAST({value} AS DATE)"), format!("CAST({value} AS DATE) + 1"))
        }
        SqlDialect::Sqlite => (format!("date({value})"), format!("date({value}, '+1 day')")),
    }
}

/// The first instants of a year and of the next one.
fn year(value: &str, dialect: SqlDialect) -> Option<(String, String)> {
    let first = |year: String| match dialect {
        SqlDialect::Mysql => Some(format!("MAKEDATE({year}, 1)")),
        SqlDialect::Postgres => Some(format!("make_date(CAST({year} AS INTEGER), 1, 1)")),
        // It has no such function.
        SqlDialect::Sqlite => None,
    };
    Some((first(value.to_owned())?, first(format!("{value} + 1"))?))
}
