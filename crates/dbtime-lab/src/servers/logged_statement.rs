//! What PostgreSQL logs of statements where it is set to log them, without their literals.
//!
//! Source: `postgres.c` and `auto_explain.c` of PostgreSQL 15, and pgAudit.

use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, fingerprint};
use std::borrow::Cow;

/// What a message begins with that tells how long a statement took, and what ends that.
const DURATION: (&str, &str) = ("duration: ", "  ");

/// What stands before a statement then; behind a word with a blank is the name of a prepared one.
const BEFORE_STATEMENTS: [&str; 4] = ["statement: ", "execute ", "parse ", "bind "];

/// What stands before a plan, or a statement as an extension logs it, with literals of any kind.
const BEFORE_OTHERS: [&str; 3] = ["plan:", "AUDIT: ", "Query Text: "];

/// What begins details of statements that were logged: of their parameters, and of EXECUTE.
const PARAMETERS: &str = "parameters: ";
const PREPARE: &str = "prepare: ";

/// A message of the server's own, of a statement without its literals.
pub(super) fn logged_statement(text: &str) -> Cow<'_, str> {
    let timed = text.strip_prefix(DURATION.0).and_then(|rest| rest.split_once(DURATION.1));
    let words = timed.map_or(text, |(_, words)| words);
    let duration = &text[..text.len() - words.len()];
    if let Some(mark) = BEFORE_OTHERS.iter().find(|mark| words.starts_with(**mark)) {
        return Cow::Owned(format!("{duration}{} ?", mark.trim_end()));
    }
    let is_statement = BEFORE_STATEMENTS.iter().any(|begin| words.starts_with(begin));
    match words.split_once(": ").filter(|_| is_statement) {
        Some((kind, sql)) => Cow::Owned(format!("{duration}{kind}: {}", shape_of(sql))),
        None => Cow::Borrowed(text),
    }
}

/// The detail of such a message.
pub(super) fn logged_detail(text: &str) -> Cow<'_, str> {
    let begins = |begin: &str| {
        let got = text.get(..begin.len())?;
        got.eq_ignore_ascii_case(begin).then_some(got)
    };
    match (begins(PARAMETERS), begins(PREPARE)) {
        (Some(begin), _) => Cow::Owned(format!("{begin}?")),
        (_, Some(begin)) => Cow::Owned(format!("{begin}{}", shape_of(&text[begin.len()..]))),
        _ => Cow::Borrowed(text),
    }
}

/// A statement without its literals.
pub(super) fn shape_of(sql: &str) -> String {
    let mut shape = String::new();
    fingerprint(sql, &LexicalRules::unknown(SqlDialect::Postgres), &mut shape);
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_server_s_own_stay() {
        for text in [
            "checkpoint starting: time",
            "process 5 still waiting for ShareLock on transaction 7 after 1000.1 ms",
            "duration: 0.5 ms",
            "duration: ",
            "",
        ] {
            assert_eq!(logged_statement(text), text);
            assert_eq!(logged_detail(text), text);
        }
    }

    #[test]
    fn statements_have_no_literals_whatever_stands_before_them() {
        for (text, expected) in [
            ("execute fetch from p: SELECT 'hush'", "execute fetch from p: SELECT ?"),
            ("duration: 1.2 ms  parse s: SELECT 'hush'", "duration: 1.2 ms  parse s: SELECT ?"),
            ("duration: 1.2 ms  plan:\nResult\n  Filter: 'hush'", "duration: 1.2 ms  plan: ?"),
        ] {
            assert_eq!(logged_statement(text), expected);
        }
    }
}
