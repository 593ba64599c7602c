//! The order of a query's rows, and whether it returns all of them.

use super::tokens::OutlineToken;
use crate::lexer::TokenKind;
use std::collections::HashSet;

/// Words that end the list of an `ORDER BY`.
const BEHIND_ORDER: [&str; 9] =
    ["fetch", "for", "into", "limit", "lock", "offset", "procedure", "returning", "rows"];

/// Words that end a term and say how it orders.
const DIRECTIONS: [&str; 7] = ["asc", "collate", "desc", "first", "last", "nulls", "using"];

/// A term of an `ORDER BY`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderTerm {
    /// As it is written, with its direction. It may hold literals.
    pub text: String,
    /// Whether it orders from the greatest on.
    pub is_descending: bool,
    place: TermPlace,
}

/// Where the value of a term stands in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum TermPlace {
    /// It may stand nowhere.
    #[default]
    Unknown,
    /// From 1.
    Position(usize),
    /// In the column of this name.
    Column(String),
}

impl OrderTerm {
    /// Which column of a result has its value, from 0, where the result has these columns; `None`:
    /// none has for certain.
    pub fn column(&self, columns: &[String]) -> Option<usize> {
        let name = match &self.place {
            TermPlace::Unknown => return None,
            TermPlace::Position(position) => {
                return position.checked_sub(1).filter(|index| *index < columns.len());
            }
            TermPlace::Column(name) => name,
        };
        let is_it = |column: &String| column.eq_ignore_ascii_case(name);
        let index = columns.iter().position(is_it)?;
        // Of two with one name it may be either.
        (!columns[index + 1..].iter().any(is_it)).then_some(index)
    }

    fn of(sql: &str, term: &[OutlineToken<'_>], aliases: &HashSet<String>) -> Self {
        let (Some(first), Some(last)) = (term.first(), term.last()) else { return Self::default() };
        let text = sql.as_bytes().get(first.from..last.end()).unwrap_or_default();
        let is_direction = |token: &OutlineToken<'_>| token.is_one_of(&DIRECTIONS);
        let end = term.iter().skip(1).position(is_direction).map_or(term.len(), |at| at + 1);
        Self {
            text: String::from_utf8_lossy(text).into_owned(),
            is_descending: term.iter().any(|token| token.is_word("desc")),
            place: TermPlace::of(&term[..end], aliases),
        }
    }
}

impl TermPlace {
    fn of(expression: &[OutlineToken<'_>], aliases: &HashSet<String>) -> Self {
        let (column, is_qualified) = match expression {
            [position] if position.kind == TokenKind::Literal => {
                let digits = std::str::from_utf8(position.bytes).unwrap_or_default();
                return digits.parse::<usize>().map_or(Self::Unknown, Self::Position);
            }
            [column] => (column, false),
            [.., dot, column] if dot.is_symbol(b'.') && is_path(expression) => (column, true),
            _ => return Self::Unknown,
        };
        match column.name() {
            // Behind a table's name it is that table's column, which another one's alias may hide.
            Some(name) if is_qualified && aliases.contains(&name.to_lowercase()) => Self::Unknown,
            Some(name) => Self::Column(name),
            None => Self::Unknown,
        }
    }
}

/// Whether an expression is nothing but names with dots between them.
fn is_path(expression: &[OutlineToken<'_>]) -> bool {
    let is_of_path = |(at, token): (usize, &OutlineToken<'_>)| match at % 2 {
        0 => matches!(token.kind, TokenKind::Word | TokenKind::QuotedName),
        _ => token.is_symbol(b'.'),
    };
    expression.iter().enumerate().all(is_of_path)
}

/// What a statement may call something, in small letters.
fn aliases(statement: &[OutlineToken<'_>]) -> HashSet<String> {
    let alias = |pair: &[OutlineToken<'_>]| {
        let is_before = pair[0].is_word("as")
            || pair[0].is_symbol(b')')
            || matches!(pair[0].kind, TokenKind::QuotedName | TokenKind::Literal);
        pair[1].name().filter(|_| is_before).map(|name| name.to_lowercase())
    };
    statement.windows(2).filter_map(alias).collect()
}

/// How the outermost query of a statement orders and cuts its rows.
#[derive(Clone, Debug, Default)]
pub(super) struct RowOrder {
    pub(super) terms: Option<Vec<OrderTerm>>,
    pub(super) has_limit: bool,
    pub(super) limit: Option<u64>,
    pub(super) has_offset: bool,
}

impl RowOrder {
    /// Reads a statement that has no parentheses around it.
    pub(super) fn of(sql: &str, statement: &[OutlineToken<'_>]) -> Self {
        let depth = statement.first().map_or(0, |token| token.depth);
        let is_outside = |token: &OutlineToken<'_>| token.depth == depth;
        let cut = statement
            .iter()
            .position(|token| is_outside(token) && token.is_one_of(&["limit", "fetch"]));
        let behind_cut = cut.map_or(&statement[statement.len()..], |at| &statement[at..]);
        let has_offset = statement.iter().any(|token| is_outside(token) && token.is_word("offset"));
        let has_pair = behind_cut.iter().any(|token| is_outside(token) && token.is_symbol(b','));
        let order = statement.windows(2).position(|pair| {
            is_outside(&pair[0]) && pair[0].is_word("order") && pair[1].is_word("by")
        });
        let terms = order.map(|at| terms(sql, &statement[at + 2..], statement, depth));
        Self {
            terms: terms.filter(|terms| !terms.is_empty()),
            has_limit: cut.is_some(),
            limit: limit_of(behind_cut),
            has_offset: has_offset || has_pair,
        }
    }
}

/// How many rows a clause permits that begins with `LIMIT` or `FETCH`; `None`: it is no number.
fn limit_of(clause: &[OutlineToken<'_>]) -> Option<u64> {
    let count = match clause {
        [limit, _, comma, count, ..] if limit.is_word("limit") && comma.is_symbol(b',') => count,
        [limit, count, ..] if limit.is_word("limit") => count,
        [fetch, _, count, ..] if fetch.is_word("fetch") => count,
        _ => return None,
    };
    std::str::from_utf8(count.bytes).ok()?.parse().ok()
}

/// The terms of a list that is followed by what is left of its statement.
fn terms(
    sql: &str,
    list: &[OutlineToken<'_>],
    statement: &[OutlineToken<'_>],
    depth: u32,
) -> Vec<OrderTerm> {
    let is_end = |token: &OutlineToken<'_>| {
        token.depth < depth || token.depth == depth && token.is_one_of(&BEHIND_ORDER)
    };
    let end = list.iter().position(is_end).unwrap_or(list.len());
    let is_between = |token: &OutlineToken<'_>| token.depth == depth && token.is_symbol(b',');
    let aliases = aliases(statement);
    // `ORDER BY NULL` is how MySQL is kept from ordering.
    let orders = |term: &&[OutlineToken<'_>]| !matches!(term, [one] if one.is_word("null"));
    let terms = list[..end].split(is_between).filter(orders);
    terms.map(|term| OrderTerm::of(sql, term, &aliases)).collect()
}
