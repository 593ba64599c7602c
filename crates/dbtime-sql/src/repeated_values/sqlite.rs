//! Errors of SQLite, by the names of their codes.
//!
//! Those of preparing a statement repeat its words alone; those of executing one may be about a
//! value, such as what MATCH looks for, or be the words of a RAISE.

use super::{VALUE, left_out, without_numbers, without_quoted, without_quoted_in};
use std::borrow::Cow;

/// What stands before the file of an ATTACH, which may be a parameter.
const BEFORE_FILE: &str = "unable to open database: ";

/// What SQLite said of a statement that it was executing, without values.
pub fn without_sqlite_values<'a>(code: &str, message: &'a str) -> Cow<'a, str> {
    match code {
        "SQLITE_CONSTRAINT_TRIGGER" => left_out(message),
        // The condition, where the constraint has no name.
        "SQLITE_CONSTRAINT_CHECK" => {
            Cow::Owned(without_numbers(&without_quoted_in(message, |sign| sign == '\'')))
        }
        "SQLITE_ERROR" if !names_what_is_missing(message) => {
            Cow::Owned(without_numbers(&without_quoted(&without_subject(message))))
        }
        _ if message.starts_with(BEFORE_FILE) => Cow::Owned(format!("{BEFORE_FILE}{VALUE}")),
        _ => Cow::Borrowed(message),
    }
}

/// Whether a table or a function has gone since the statement was prepared. A column may be one of
/// what MATCH looks for.
fn names_what_is_missing(message: &str) -> bool {
    ["no such table: ", "no such function: "].iter().any(|words| message.starts_with(words))
}

/// A message without what stands at its end behind a colon or in brackets; a word alone before a
/// colon says which module it is of.
fn without_subject(message: &str) -> Cow<'_, str> {
    let is_module = |before: &str| !before.contains(' ');
    let colons = message.match_indices(": ").map(|(at, mark)| (at, at + mark.len()));
    let behind = colons.filter(|(at, _)| !is_module(&message[..*at])).map(|(_, end)| end);
    let begin = behind.chain(message.find('[')).min();
    begin.map_or(Cow::Borrowed(message), |at| Cow::Owned(format!("{}{VALUE}", &message[..at])))
}

#[cfg(test)]
mod tests {
    use super::super::LEFT_OUT;
    use super::*;

    #[test]
    fn values_are_left_out_and_names_stay() {
        for (code, message, expected) in [
            ("SQLITE_CONSTRAINT_TRIGGER", "account 4711 of hush is closed", LEFT_OUT),
            ("SQLITE_CONSTRAINT_CHECK", "CHECK constraint failed: small_a", ""),
            (
                "SQLITE_CONSTRAINT_CHECK",
                "CHECK constraint failed: a1 > 5 AND b <> 'hush'",
                "CHECK constraint failed: a1 > ? AND b <> '?'",
            ),
            ("SQLITE_CONSTRAINT_UNIQUE", "UNIQUE constraint failed: t.c, t.d", ""),
            ("SQLITE_CONSTRAINT_UNIQUE", "UNIQUE constraint failed: index 'i'", ""),
            ("SQLITE_CONSTRAINT_PRIMARYKEY", "UNIQUE constraint failed: t.id", ""),
            ("SQLITE_CONSTRAINT_NOTNULL", "NOT NULL constraint failed: t.c", ""),
            ("SQLITE_CONSTRAINT_FOREIGNKEY", "FOREIGN KEY constraint failed", ""),
            ("SQLITE_CONSTRAINT_DATATYPE", "cannot store TEXT value in INTEGER column t.a", ""),
            ("SQLITE_MISMATCH", "datatype mismatch", ""),
            (
                "SQLITE_CANTOPEN",
                "unable to open database: /hush: x.db",
                "unable to open database: ?",
            ),
            ("SQLITE_CANTOPEN", "unable to open database file", ""),
            ("SQLITE_ERROR", "unable to open database: /hush", "unable to open database: ?"),
            ("SQLITE_BUSY", "database is locked", ""),
            ("SQLITE_ERROR", "integer overflow", ""),
            ("SQLITE_ERROR", "malformed JSON", ""),
            ("SQLITE_ERROR", "no such table: main.t1", ""),
            ("SQLITE_ERROR", "no such column: hush", "no such column: ?"),
            ("SQLITE_ERROR", "bad JSON path: '$.hush: x'", "bad JSON path: ?"),
            ("SQLITE_ERROR", "JSON path error near '4711 hush'", "JSON path error near '?'"),
            ("SQLITE_ERROR", "fts5: syntax error near \"hush\"", "fts5: syntax error near \"?\""),
            ("SQLITE_ERROR", "malformed MATCH expression: [hush]", "malformed MATCH expression: ?"),
            ("SQLITE_ERROR", "unknown special query: hush", "unknown special query: ?"),
        ] {
            let expected = if expected.is_empty() { message } else { expected };
            assert_eq!(without_sqlite_values(code, message), expected);
        }
    }
}
