//! A function of a column that is compared with a value as a range of the column, which an index
//! has.

use super::super::parts::{ConditionKind, SelectParts, SqlCondition, SqlTerm, TermKind};
use super::super::{RewriteRule, RuleOutcome};
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "column-range", rewrite };

/// What a range may mistake.
const OF_ZONES: &str = "of a column with a time zone the day depends on the session";
const OF_TEXTS: &str = "the same rows only where the column has texts such as 2024-02-28 05:00:00, \
    without an offset from UTC, and no numbers";
const OF_EXPRESSIONS: &str = "an index of the expression does the same without another statement";

fn rewrite(parts: &SelectParts, dialect: SqlDialect) -> Option<RuleOutcome> {
    let mut conditions = parts.conditions.iter().enumerate();
    let (at, found) = conditions.find_map(|(at, one)| Some((at, range_of(one, dialect)?)))?;
    let ColumnRange { column, range, value_caveat } = found;
    let mut form = parts.clone();
    let finding = format!("a function of {column} cannot use an index of it");
    form.conditions[at] = SqlCondition::written(range);
    let column_caveat = match dialect {
        SqlDialect::Sqlite => OF_TEXTS,
        SqlDialect::Mysql | SqlDialect::Postgres => OF_ZONES,
    };
    let mut caveats = vec![column_caveat, OF_EXPRESSIONS];
    caveats.extend(value_caveat);
    Some(RuleOutcome::of(&form, finding, &caveats))
}

/// A column and its range, as a condition.
struct ColumnRange {
    column: String,
    range: String,
    /// For which values it is another one than the function's.
    value_caveat: Option<&'static str>,
}

fn range_of(condition: &SqlCondition, dialect: SqlDialect) -> Option<ColumnRange> {
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
    let is_parameter = value.kind == TermKind::Parameter;
    let value_caveat = match (name.as_str(), dialect) {
        ("date", _) if is_parameter => Some("the same rows only for values without a time"),
        ("year", SqlDialect::Mysql) => Some("other rows for years below 100 and for 9999"),
        _ => None,
    };
    Some(ColumnRange { column, range, value_caveat })
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
