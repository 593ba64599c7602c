//! What PostgreSQL logs of statements where it is set to log them, without their literals, and
//! without names of prepared ones, which a client may make of values.
//!
//! Source: `postgres.c`, `postmaster.c` and `auto_explain.c` of PostgreSQL 15, and pgAudit.

use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, fingerprint};
use std::ops::Range;

/// What a message begins with that tells how long a statement took, what ends that, and the unit.
const DURATION: (&str, &str, &str) = ("duration: ", "  ", " ms");

/// What stands before a statement then.
const BEFORE_STATEMENT: &str = "statement";

/// What stands before the name of a prepared one, and what stands in its place where it has none.
const BEFORE_NAMES: [&str; 4] = ["execute fetch from ", "execute ", "parse ", "bind "];
const UNNAMED: &str = "<unnamed>";

/// What ends all that stands before a statement.
const BEFORE_SQL: &str = ": ";

/// What stands before a plan, or a statement as an extension logs it, with literals of any kind.
const BEFORE_OTHERS: [&str; 3] = ["plan:", "AUDIT: ", "Query Text: "];

/// What begins details of statements that were logged: of their parameters, and of EXECUTE; of a
/// process that was killed, of what it was at; and of a command that failed.
const BEFORE_DETAILS: [&str; 4] = [
    "parameters: ",
    "prepare: ",
    "failed process was running: ",
    "the failed archive command was: ",
];

/// What statements begin with; what else follows may be the words of a RAISE.
const COMMANDS: &str = "abort alter analyze begin call checkpoint close cluster comment commit \
    copy create deallocate declare delete discard do drop end execute explain fetch grant import \
    insert listen load lock merge move notify prepare reassign refresh reindex release reset \
    revoke rollback savepoint security select set show start table truncate unlisten update \
    vacuum values wait with";

/// What a statement begins with that has the name of a prepared one behind it.
const NAMING_VERBS: [&str; 2] = ["prepare", "execute"];

/// What may stand there instead.
const NO_NAME: &str = "TRANSACTION";

/// What stands for what is left out.
pub(super) const LEFT_OUT: &str = "?";

/// A message of the server's own about a statement, up to the statement, whose name is left out;
/// `None`: it is none about one.
pub(super) fn logged_head(text: &str) -> Option<String> {
    if is_duration(text) {
        return Some(text.to_owned());
    }
    let timed = text.split_once(DURATION.1).filter(|(duration, _)| is_duration(duration));
    let words = timed.map_or(text, |(_, words)| words);
    let duration = &text[..text.len() - words.len()];
    if let Some(mark) = BEFORE_OTHERS.iter().find(|mark| words.starts_with(**mark)) {
        return Some(format!("{duration}{} {LEFT_OUT}", mark.trim_end()));
    }
    if let Some(sql) = words.strip_prefix(BEFORE_STATEMENT).and_then(behind_mark) {
        let head = || format!("{duration}{BEFORE_STATEMENT}{BEFORE_SQL}{LEFT_OUT}");
        return begins_command(sql).then(head);
    }
    let before = BEFORE_NAMES.iter().find(|before| words.starts_with(**before))?;
    let name = statement_name(&words[before.len()..])?;
    Some(format!("{duration}{before}{name}{BEFORE_SQL}{LEFT_OUT}"))
}

fn behind_mark(text: &str) -> Option<&str> {
    text.strip_prefix(BEFORE_SQL)
}

/// What stands for the name of a statement; `None`: no statement is behind it.
fn statement_name(text: &str) -> Option<&'static str> {
    if let Some(sql) = text.strip_prefix(UNNAMED).and_then(behind_mark) {
        return begins_command(sql).then_some(UNNAMED);
    }
    let (_, sql) = text.split_once(BEFORE_SQL)?;
    // A name may have any signs in it.
    (sql.contains(BEFORE_SQL) || begins_command(sql)).then_some(LEFT_OUT)
}

/// Whether a text is `duration: 0.5 ms`.
fn is_duration(text: &str) -> bool {
    let number = text.strip_prefix(DURATION.0).and_then(|rest| rest.strip_suffix(DURATION.2));
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// Whether a text begins as a statement does, or with a comment.
fn begins_command(sql: &str) -> bool {
    let sql = sql.trim_start_matches(|sign: char| sign.is_whitespace() || sign == '(');
    let end = sql.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(sql.len());
    let word = &sql[..end];
    let is_command = COMMANDS.split(' ').any(|command| word.eq_ignore_ascii_case(command));
    is_command || sql.starts_with("/*") || sql.starts_with("--")
}

/// The detail of such a message without values and names; `None`: it is of another kind.
pub(super) fn logged_detail(text: &str) -> Option<String> {
    let begins = |begin: &&str| {
        let got = text.get(..begin.len())?;
        got.eq_ignore_ascii_case(begin).then_some(got)
    };
    let begin = BEFORE_DETAILS.iter().find_map(begins)?;
    Some(format!("{begin}{LEFT_OUT}"))
}

/// The shape of a text that begins as a statement does; of another one a sign.
pub(super) fn known_shape(text: &str) -> String {
    if begins_command(text) { shape_of(text) } else { LEFT_OUT.to_owned() }
}

/// Statements without their literals, and without the names that they prepare or execute.
fn shape_of(sql: &str) -> String {
    let mut shape = String::new();
    fingerprint(sql, &LexicalRules::unknown(SqlDialect::Postgres), &mut shape);
    let mut next = Some(0);
    while let Some(begin) = next {
        let mut end = begin;
        if let Some(place) = name_place(&shape, begin) {
            end = place.start + LEFT_OUT.len();
            shape.replace_range(place, LEFT_OUT);
        }
        next = shape[end..].find(';').map(|at| end + at + 1);
    }
    shape
}

/// Where in a shape the name stands that the statement from here on prepares or executes; one in
/// quotes up to the last of them, for it may have some in it.
fn name_place(shape: &str, from: usize) -> Option<Range<usize>> {
    let statement = shape[from..].trim_start();
    let rest = statement.trim_start_matches(|sign: char| sign.is_ascii_alphabetic());
    let verb = &statement[..statement.len() - rest.len()];
    let is_naming = NAMING_VERBS.iter().any(|naming| verb.eq_ignore_ascii_case(naming));
    let name = rest.trim_start();
    let ends = |sign: char| sign.is_whitespace() || matches!(sign, '(' | ';');
    // As U&"hush" too.
    let length = match name.trim_start_matches(['U', 'u', '&']).starts_with('"') {
        true => name.rfind('"').map_or(name.len(), |last| last + 1),
        false => name.find(ends).unwrap_or(name.len()),
    };
    let is_name = is_naming && length > 0 && !name[..length].eq_ignore_ascii_case(NO_NAME);
    let begin = shape.len() - name.len();
    is_name.then_some(begin..begin + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_other_kinds_are_none() {
        for text in [
            "checkpoint starting: time",
            "process 5 still waiting for ShareLock on transaction 7 after 1000.1 ms",
            "duration: ",
            "parse error: no account",
            "",
        ] {
            assert!(logged_head(text).is_none() && logged_detail(text).is_none(), "{text}");
        }
        assert_eq!(logged_head("duration: 0.5 ms").as_deref(), Some("duration: 0.5 ms"));
    }

    #[test]
    fn nothing_of_a_logged_statement_or_its_name_is_left() {
        for (text, expected) in [
            ("execute <unnamed>: SELECT 'a: hush'", "execute <unnamed>: ?"),
            ("statement: /* a */ (SELECT 'hush')", "statement: ?"),
            ("duration: 1.2 ms  plan:\nResult\n  Filter: 'hush'", "duration: 1.2 ms  plan: ?"),
            ("execute hush: SELECT 'hush'", "execute ?: ?"),
            ("execute <unnamed>/hush: SELECT 1", "execute ?: ?"),
            ("execute fetch from hush/hush: SELECT 1", "execute fetch from ?: ?"),
            ("duration: 1.2 ms  parse hush: SELECT 1", "duration: 1.2 ms  parse ?: ?"),
            ("duration: 1.2 ms  bind my hush: SELECT 1", "duration: 1.2 ms  bind ?: ?"),
            ("execute a: hush: SELECT 1", "execute ?: ?"),
        ] {
            assert_eq!(logged_head(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn shapes_have_no_names_of_prepared_statements() {
        for (text, expected) in [
            ("EXECUTE hush(1)", "EXECUTE ?(?)"),
            ("execute \"my \"\"hush\"\"\"", "execute ?"),
            ("PREPARE hush AS SELECT 1", "PREPARE ? AS SELECT ?"),
            ("SELECT 1; EXECUTE hush", "SELECT ?; EXECUTE ?"),
            ("EXECUTE a; EXECUTE hush(1)", "EXECUTE ?; EXECUTE ?(?)"),
            ("EXECUTE\"my hush\"(1)", "EXECUTE?(?)"),
            ("EXECUTE U&\"my hush\"", "EXECUTE ?"),
            ("PREPARE TRANSACTION 'hush'", "PREPARE TRANSACTION ?"),
            ("hush", "?"),
            ("pw := 'hush'", "?"),
        ] {
            assert_eq!(known_shape(text), expected);
        }
    }

    #[test]
    fn details_have_nothing_of_a_statement() {
        for (text, expected) in [
            ("Parameters: $1 = 'hush'", "Parameters: ?"),
            ("prepare: PREPARE hush AS SELECT 'hush'", "prepare: ?"),
            ("Failed process was running: UPDATE hush", "Failed process was running: ?"),
            ("The failed archive command was: cp hush", "The failed archive command was: ?"),
        ] {
            assert_eq!(logged_detail(text).as_deref(), Some(expected));
        }
    }
}
