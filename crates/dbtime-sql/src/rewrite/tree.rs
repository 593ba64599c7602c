//! From a text to its parts, by `sqlparser`, whose types this file and `terms` know alone.
//!
//! What it makes of a text is trusted only where the text that it prints reads the same again; and
//! nothing is parsed whose depth or number of operators could exhaust a stack.

use super::parts::{
    JoinedTable, OrderedTerm, SelectParts, SelectedItem, SqlTerm, StatementTree, TableLink,
    TermKind,
};
use super::terms::{add_conditions, columns_of, term};
use super::text_bounds::is_bounded;
use dbtime_model::SqlDialect;
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Join, JoinConstraint, JoinOperator, LimitClause, OrderByKind,
    Query, Select, SelectFlavor, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement,
    TableFactor, Value, Visit, Visitor, visit_expressions,
};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserOptions};
use std::ops::ControlFlow;

/// Functions that make one value of many rows.
const AGGREGATES: [&str; 12] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "group_concat",
    "string_agg",
    "array_agg",
    "bit_or",
    "bit_and",
    "stddev",
    "total",
];

/// The parts of a text; `None`: it is no query, or none that is understood.
pub(super) fn read(sql: &str, dialect: SqlDialect) -> Option<StatementTree> {
    // Their text is executed by some versions alone.
    if sql.contains("/*!") || sql.contains("/*M!") {
        return None;
    }
    let query = parsed(sql, dialect)?;
    if !has_plain_values(&query) || parsed(&query.to_string(), dialect)? != query {
        return None;
    }
    match query.body.as_ref() {
        SetExpr::Select(_) => Some(StatementTree::Select(Box::new(select_parts(&query)?))),
        body => {
            let mut arms = Vec::new();
            add_arms(body, &mut arms)?;
            let body = body.to_string();
            let whole = query.to_string();
            let tail = whole.strip_prefix(&body)?.to_owned();
            Some(StatementTree::Union { arms, tail })
        }
    }
}

/// Whether a text that a rule has written is one statement.
pub(super) fn is_statement(sql: &str, dialect: SqlDialect) -> bool {
    parsed(sql, dialect).is_some()
}

fn parsed(sql: &str, dialect: SqlDialect) -> Option<Query> {
    if !is_bounded(sql, dialect) {
        return None;
    }
    // Strings stay as they are written.
    let options = ParserOptions::new().with_unescape(false);
    let parser = Parser::new(rules_of(dialect)).with_options(options);
    let mut statements = parser.try_with_sql(sql).ok()?.parse_statements().ok()?;
    match (statements.pop(), statements.is_empty()) {
        (Some(Statement::Query(query)), true) => Some(*query),
        _ => None,
    }
}

fn rules_of(dialect: SqlDialect) -> &'static dyn Dialect {
    match dialect {
        SqlDialect::Mysql => &MySqlDialect {},
        SqlDialect::Postgres => &PostgreSqlDialect {},
        SqlDialect::Sqlite => &SQLiteDialect {},
    }
}

/// Whether all literals are of kinds that are printed as they were read.
fn has_plain_values(query: &Query) -> bool {
    let is_plain = |value: &Value| {
        matches!(
            value,
            Value::Number(..)
                | Value::SingleQuotedString(_)
                | Value::DoubleQuotedString(_)
                | Value::Boolean(_)
                | Value::Null
                | Value::Placeholder(_)
        )
    };
    let strange = visit_expressions(query, |expr| match expr {
        Expr::Value(value) if !is_plain(&value.value) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    strange.is_continue()
}

/// Adds the queries of a `UNION`; `None`: it is none, or one with `ALL`.
fn add_arms(body: &SetExpr, arms: &mut Vec<String>) -> Option<()> {
    let SetExpr::SetOperation { left, op: SetOperator::Union, set_quantifier, right } = body else {
        arms.push(body.to_string());
        return matches!(body, SetExpr::Select(_) | SetExpr::Query(_)).then_some(());
    };
    if !matches!(set_quantifier, SetQuantifier::None | SetQuantifier::Distinct) {
        return None;
    }
    add_arms(left, arms)?;
    add_arms(right, arms)
}

/// The parts of a query that is one `SELECT` and nothing that rules know nothing of.
pub(super) fn select_parts(query: &Query) -> Option<SelectParts> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    if !is_simple_query(query) || !is_simple_select(select) {
        return None;
    }
    let is_distinct = match select.distinct {
        Some(Distinct::On(_)) => return None,
        ref one => matches!(one, Some(Distinct::Distinct)),
    };
    let items: Vec<SelectedItem> =
        select.projection.iter().map(selected_item).collect::<Option<_>>()?;
    let mut tables = Vec::new();
    for listed in &select.from {
        tables.push(joined_table(&listed.relation, TableLink::Listed)?);
        for join in &listed.joins {
            tables.push(joined_table(&join.relation, table_link(join))?);
        }
    }
    let mut conditions = Vec::new();
    select.selection.iter().for_each(|expr| add_conditions(expr, &mut conditions));
    let group_by = match &select.group_by {
        GroupByExpr::Expressions(terms, modifiers) if modifiers.is_empty() => {
            terms.iter().map(ToString::to_string).collect()
        }
        _ => return None,
    };
    let (limit, offset) = limit_of(query.limit_clause.as_ref())?;
    Some(SelectParts {
        is_distinct,
        items,
        tables,
        conditions,
        group_by,
        having: select.having.as_ref().map(ToString::to_string),
        order_by: ordered_terms(query)?,
        limit,
        offset,
        columns: columns_of(query),
        has_aggregate: select.projection.iter().any(has_aggregate),
    })
}

fn is_simple_query(query: &Query) -> bool {
    query.with.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty()
}

fn is_simple_select(select: &Select) -> bool {
    let has_modifiers = select.select_modifiers.as_ref().is_some_and(|one| one.is_any_set());
    let has_foreign = select.top.is_some()
        || select.exclude.is_some()
        || select.prewhere.is_some()
        || select.qualify.is_some()
        || select.value_table_mode.is_some()
        || !select.lateral_views.is_empty()
        || !select.connect_by.is_empty()
        || !select.cluster_by.is_empty()
        || !select.distribute_by.is_empty()
        || !select.sort_by.is_empty();
    !has_modifiers
        && !has_foreign
        && select.optimizer_hints.is_empty()
        && select.into.is_none()
        && select.named_window.is_empty()
        && select.flavor == SelectFlavor::Standard
}

fn selected_item(item: &SelectItem) -> Option<SelectedItem> {
    let text = item.to_string();
    let star = SqlTerm { text: text.clone(), kind: TermKind::Star, columns: Vec::new() };
    match item {
        SelectItem::UnnamedExpr(expr) => Some(SelectedItem { text, term: term(expr), alias: None }),
        SelectItem::ExprWithAlias { expr, alias } => {
            Some(SelectedItem { text, term: term(expr), alias: Some(alias.to_string()) })
        }
        SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) if text.ends_with('*') => {
            Some(SelectedItem { text, term: star, alias: None })
        }
        _ => None,
    }
}

/// A table, or a derived one with a name.
fn joined_table(factor: &TableFactor, link: TableLink) -> Option<JoinedTable> {
    let alias = match factor {
        TableFactor::Table { alias, args: None, .. }
        | TableFactor::Derived { alias, lateral: false, .. } => alias,
        _ => return None,
    };
    let name = match (alias, factor) {
        (Some(alias), _) => alias.name.to_string(),
        (None, TableFactor::Table { name, .. }) => name.0.last()?.to_string(),
        _ => return None,
    };
    let table = match factor {
        TableFactor::Table { name, .. } => Some(name.to_string()),
        _ => None,
    };
    Some(JoinedTable { text: factor.to_string(), name, table, link })
}

fn table_link(join: &Join) -> TableLink {
    match &join.join_operator {
        JoinOperator::Join(JoinConstraint::On(expr))
        | JoinOperator::Inner(JoinConstraint::On(expr)) => {
            let mut conditions = Vec::new();
            add_conditions(expr, &mut conditions);
            TableLink::Inner(conditions)
        }
        _ => TableLink::Other(join.to_string().trim().to_owned()),
    }
}

/// The text of `LIMIT`, and what is behind `OFFSET`; `None`: it is of another database.
fn limit_of(clause: Option<&LimitClause>) -> Option<(String, Option<String>)> {
    let Some(clause) = clause else { return Some(Default::default()) };
    let offset = match clause {
        LimitClause::LimitOffset { offset, limit_by, .. } if limit_by.is_empty() => {
            offset.as_ref().map(|offset| offset.value.to_string())
        }
        LimitClause::OffsetCommaLimit { offset, .. } => Some(offset.to_string()),
        LimitClause::LimitOffset { .. } => return None,
    };
    Some((clause.to_string(), offset))
}

fn ordered_terms(query: &Query) -> Option<Vec<OrderedTerm>> {
    let Some(order_by) = &query.order_by else { return Some(Vec::new()) };
    match (&order_by.kind, &order_by.interpolate) {
        (OrderByKind::Expressions(terms), None) => {
            let ordered = terms
                .iter()
                .map(|one| OrderedTerm { term: term(&one.expr), tail: one.options.to_string() });
            Some(ordered.collect())
        }
        _ => None,
    }
}

fn has_aggregate(item: &SelectItem) -> bool {
    item.visit(&mut AggregateSearch { depth: 0 }).is_break()
}

/// Looks for a call of an aggregate function, but in no subquery.
struct AggregateSearch {
    depth: usize,
}

impl Visitor for AggregateSearch {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(call) if self.depth == 0 && is_aggregate(&call.name.to_string()) => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

fn is_aggregate(function: &str) -> bool {
    AGGREGATES.iter().any(|name| function.eq_ignore_ascii_case(name))
}
