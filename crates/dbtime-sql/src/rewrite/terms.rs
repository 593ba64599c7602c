//! Expressions and conditions, from `sqlparser`'s to those that rules look at.

use super::parts::{ColumnName, ConditionKind, SqlCondition, SqlTerm, TermKind};
use super::tree::select_parts;
use sqlparser::ast::{
    BinaryOperator, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, UnaryOperator, Value, Visit, visit_expressions,
};
use std::ops::ControlFlow;

/// An expression without brackets around it.
fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

pub(super) fn term(expr: &Expr) -> SqlTerm {
    let kind = match bare(expr) {
        Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => TermKind::Parameter,
        // By MySQL's rules `$1` is a name.
        Expr::Identifier(name) if name.value.starts_with('$') => TermKind::Parameter,
        Expr::Value(_) | Expr::TypedString(_) => TermKind::Literal,
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match term(expr).kind {
            TermKind::Literal => TermKind::Literal,
            _ => TermKind::Other,
        },
        Expr::Function(call) => called(call),
        Expr::Cast { expr, data_type: DataType::Date, .. } => calling("date", vec![term(expr)]),
        Expr::Extract { field: DateTimeField::Year, expr, .. } => calling("year", vec![term(expr)]),
        Expr::Subquery(query) => match select_parts(query) {
            Some(parts) => TermKind::Scalar(Box::new(parts)),
            None => TermKind::Other,
        },
        other => column(other).map_or(TermKind::Other, TermKind::Column),
    };
    SqlTerm { text: expr.to_string(), kind, columns: columns_of(expr) }
}

fn calling(name: &str, arguments: Vec<SqlTerm>) -> TermKind {
    TermKind::Call { name: name.to_owned(), arguments }
}

fn called(call: &Function) -> TermKind {
    let FunctionArguments::List(list) = &call.args else { return TermKind::Other };
    let is_simple = call.over.is_none()
        && call.filter.is_none()
        && call.null_treatment.is_none()
        && call.within_group.is_empty()
        && list.clauses.is_empty();
    let star = || SqlTerm { text: "*".to_owned(), kind: TermKind::Star, columns: Vec::new() };
    let argument = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(term(expr)),
        FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => Some(star()),
        _ => None,
    };
    match list.args.iter().map(argument).collect::<Option<Vec<_>>>() {
        Some(arguments) if is_simple => {
            TermKind::Call { name: call.name.to_string().to_ascii_lowercase(), arguments }
        }
        _ => TermKind::Other,
    }
}

/// Adds what is joined with `AND`.
pub(super) fn add_conditions(expr: &Expr, conditions: &mut Vec<SqlCondition>) {
    match bare(expr) {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            add_conditions(left, conditions);
            add_conditions(right, conditions);
        }
        other => conditions.push(condition(other)),
    }
}

fn condition(expr: &Expr) -> SqlCondition {
    let kind = condition_kind(expr);
    let is_operation = matches!(expr, Expr::BinaryOp { .. });
    let text = match kind {
        // What binds less than AND has lost its brackets.
        ConditionKind::Any(_) | ConditionKind::Other if is_operation => format!("({expr})"),
        _ => expr.to_string(),
    };
    SqlCondition { text, kind, columns: columns_of(expr) }
}

fn condition_kind(expr: &Expr) -> ConditionKind {
    match expr {
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
            let mut conditions = Vec::new();
            add_alternatives(expr, &mut conditions);
            ConditionKind::Any(conditions)
        }
        Expr::BinaryOp { left, op, right } => comparison(op).map_or(ConditionKind::Other, |op| {
            ConditionKind::Compare { left: term(left), op, right: term(right) }
        }),
        Expr::InSubquery { expr, subquery, negated } => match select_parts(subquery) {
            Some(parts) => ConditionKind::InSelect {
                left: term(expr),
                query: Box::new(parts),
                is_negated: *negated,
            },
            None => ConditionKind::Other,
        },
        Expr::InList { list, .. } => ConditionKind::InList { count: list.len() },
        Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } => {
            ConditionKind::Like { left: term(expr), pattern: pattern.to_string() }
        }
        _ => ConditionKind::Other,
    }
}

/// Adds what is joined with `OR`.
fn add_alternatives(expr: &Expr, conditions: &mut Vec<SqlCondition>) {
    match bare(expr) {
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            add_alternatives(left, conditions);
            add_alternatives(right, conditions);
        }
        Expr::BinaryOp { op: BinaryOperator::And, .. } => conditions.push(SqlCondition {
            text: format!("({})", bare(expr)),
            kind: ConditionKind::Other,
            columns: columns_of(expr),
        }),
        other => conditions.push(condition(other)),
    }
}

fn comparison(op: &BinaryOperator) -> Option<&'static str> {
    Some(match op {
        BinaryOperator::Eq => "=",
        BinaryOperator::NotEq => "<>",
        BinaryOperator::Lt => "<",
        BinaryOperator::LtEq => "<=",
        BinaryOperator::Gt => ">",
        BinaryOperator::GtEq => ">=",
        _ => return None,
    })
}

fn column(expr: &Expr) -> Option<ColumnName> {
    match expr {
        // Neither the place of a parameter nor a variable is a column.
        Expr::Identifier(name) if name.value.starts_with(['$', '@']) => None,
        Expr::Identifier(name) => Some(ColumnName { qualifier: None, name: name.to_string() }),
        Expr::CompoundIdentifier(parts) => {
            let (name, qualifiers) = parts.split_last()?;
            let qualifiers: Vec<String> = qualifiers.iter().map(ToString::to_string).collect();
            Some(ColumnName { qualifier: Some(qualifiers.join(".")), name: name.to_string() })
        }
        _ => None,
    }
}

/// Every column that a part names.
pub(super) fn columns_of<V: Visit>(part: &V) -> Vec<ColumnName> {
    let mut columns = Vec::new();
    let _ = visit_expressions(part, |expr| {
        columns.extend(column(expr));
        ControlFlow::<()>::Continue(())
    });
    columns
}
