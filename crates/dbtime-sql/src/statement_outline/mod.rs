//! What a statement does, as far as that can be known without its grammar: whether it writes, what
//! no rollback undoes, and what its rows depend on.
//!
//! What is in doubt counts as the more dangerous one: an outline decides whether a statement may be
//! executed time and again.

mod calls;
mod order;
mod tokens;
mod verb;

use crate::lexer::TokenKind;
use crate::lexical_rules::{LexicalRules, TextCharset};
use calls::NotedCalls;
use order::RowOrder;
use tokens::{OutlineToken, tokens_of, unwrapped};
use verb::{VerbReading, verb_of};

pub use order::OrderTerm;
pub use verb::StatementVerb;

/// A statement in outline. Of a text with several, verb and order are the first one's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementOutline {
    /// What it does.
    pub verb: StatementVerb,
    /// Whether it changes rows or definitions.
    pub writes: bool,
    /// Whether it locks the rows that it reads: `FOR UPDATE`, `LOCK IN SHARE MODE`.
    pub locks: bool,
    /// Why it cannot be rolled back, without a literal of its own.
    pub irrevocable: Option<String>,
    /// What has another value at each execution, each once: `rand`, `clock_timestamp`.
    pub unstable: Vec<String>,
    /// The order of the outermost query; `None`: it has none.
    pub order_by: Option<Vec<OrderTerm>>,
    /// Whether the outermost query returns some of its rows alone: `LIMIT`, `FETCH FIRST`.
    pub has_limit: bool,
    /// How many rows that are, where it is written as a number.
    pub limit: Option<u64>,
    /// Whether it leaves out the first ones.
    pub has_offset: bool,
    /// How many statements the text has.
    pub statements: usize,
    /// Whether it has a `NOT IN` of a subquery, which is never true where that returns a NULL.
    pub not_in_subquery: bool,
}

impl StatementOutline {
    /// Reads a text, which may be any, and is sent in UTF-8. Cost: O(its length).
    pub fn of(sql: &str, rules: &LexicalRules) -> Self {
        // In other charsets characters may have bytes that are quotes.
        let rules = LexicalRules { charset: Some(TextCharset::Plain), ..*rules };
        let tokens = tokens_of(sql, &rules);
        let statements = tokens.split(|token| token.is_symbol(b';'));
        let statements: Vec<_> = statements.filter(|statement| !statement.is_empty()).collect();
        let first = unwrapped(statements.first().copied().unwrap_or_default());
        let readings: Vec<VerbReading> =
            statements.iter().map(|statement| verb_of(statement, rules.dialect)).collect();
        let calls = NotedCalls::of(&tokens, rules.dialect);
        let order = RowOrder::of(sql, first);
        Self {
            writes: readings
                .iter()
                .any(|reading| reading.writes || calls.writes && reading.is_executed),
            locks: tokens.windows(2).any(|pair| locks(&pair[0], &pair[1])),
            irrevocable: irrevocable(&tokens, &readings, &calls),
            unstable: calls.unstable,
            order_by: order.terms,
            has_limit: order.has_limit,
            limit: order.limit,
            has_offset: order.has_offset,
            statements: statements.len(),
            not_in_subquery: has_not_in_subquery(&tokens),
            verb: readings
                .into_iter()
                .next()
                .map_or_else(|| StatementVerb::Other(String::new()), |reading| reading.verb),
        }
    }
}

/// Why a text cannot be rolled back.
fn irrevocable(
    tokens: &[OutlineToken<'_>],
    readings: &[VerbReading],
    calls: &NotedCalls,
) -> Option<String> {
    let by_verb = readings.iter().find_map(|reading| reading.irrevocable.clone());
    let is_executed = readings.iter().any(|reading| reading.is_executed);
    let by_call = || {
        let name = calls.lasting.as_ref().filter(|_| is_executed)?;
        Some(format!("what {name}() does stays after a rollback"))
    };
    let unclear = || {
        let is_unclear = tokens.iter().any(|token| token.kind == TokenKind::Unclear);
        is_unclear.then(|| {
            "where its strings end depends on settings of the session; write a quote within a \
             string twice, without a backslash"
                .to_owned()
        })
    };
    by_verb.or_else(by_call).or_else(unclear)
}

/// Whether two tokens say that rows are locked.
fn locks(first: &OutlineToken<'_>, second: &OutlineToken<'_>) -> bool {
    first.is_word("for") && second.is_one_of(&["update", "share", "no", "key"])
        || first.is_word("lock") && second.is_word("in")
}

/// Whether `NOT IN` is followed by a query.
fn has_not_in_subquery(tokens: &[OutlineToken<'_>]) -> bool {
    let begins = |token: &OutlineToken<'_>| token.is_one_of(&["select", "with", "values", "table"]);
    tokens.windows(3).enumerate().any(|(at, three)| {
        let mut inside = tokens[at..].iter().skip(2).skip_while(|token| token.is_symbol(b'('));
        three[0].is_word("not")
            && three[1].is_word("in")
            && three[2].is_symbol(b'(')
            && inside.next().is_some_and(begins)
    })
}

#[cfg(test)]
mod tests;
