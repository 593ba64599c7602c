//! Statements whose fingerprint is decided by their beginning or by one comment, and INSERT of many
//! rows, of which the first one counts.

use super::text_pass::{behind, is_space, is_word, run, spaces};
use memchr::{memchr_iter, memchr2, memmem, memrchr};

/// How `mysqldump` reads a table.
const DUMP: &[u8] = b"SELECT /*!40001 SQL_NO_CACHE */ * FROM `";

/// How a log has what is no statement.
const COMMAND: &[u8] = b"administrator command: ";

/// Writes the fingerprint of a statement that has a form of its own; `false`: it has none.
pub(super) fn write_whole_form(sql: &[u8], out: &mut Vec<u8>) -> bool {
    if sql.starts_with(DUMP) {
        out.extend_from_slice(b"mysqldump");
    } else if has_tool_comment(sql) {
        out.extend_from_slice(b"percona-toolkit");
    } else if sql.starts_with(COMMAND) {
        out.extend_from_slice(sql);
    } else if let Some(call) = call(sql) {
        out.extend(call.iter().map(u8::to_ascii_lowercase));
    } else {
        return false;
    }
    true
}

/// Whether a comment names a piece of a table, as Percona's own tools write it: `/*db.t:3/9*/`.
fn has_tool_comment(sql: &[u8]) -> bool {
    memmem::find_iter(sql, b"/*").any(|at| is_piece(&sql[at + 2..]))
}

fn is_piece(text: &[u8]) -> bool {
    let rest = behind_word(text)
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(behind_word)
        .unwrap_or_default();
    matches!(rest, [b':', b'0'..=b'9', b'/', b'0'..=b'9', b'*', b'/', ..])
}

fn behind_word(text: &[u8]) -> Option<&[u8]> {
    let length = run(text, is_word);
    (length > 0).then(|| &text[length..])
}

/// `call` and the name of a procedure, which ends at the last parenthesis before the next space.
fn call(sql: &[u8]) -> Option<&[u8]> {
    let call = &sql[spaces(sql)..];
    let rest = behind(call, b"call")?;
    let gap = spaces(rest);
    let name = &rest[gap..];
    let name = &name[..run(name, |byte| !is_space(byte))];
    let length = memrchr(b'(', name).filter(|length| gap > 0 && *length > 0)?;
    Some(&call[..call.len() - rest.len() + gap + length])
}

/// What counts of an INSERT or REPLACE: all up to the end of the first row, if another one follows.
pub(super) fn without_further_rows(sql: &[u8]) -> &[u8] {
    let row = first_row(sql).and_then(|row| {
        let end = memchr_iter(b')', row).find(|at| has_next_row(&row[*at + 1..]))?;
        Some(&row[end + 1..])
    });
    row.map_or(sql, |rest| &sql[..sql.len() - rest.len()])
}

/// All behind the first parenthesis of VALUES. Where no row ends behind the first VALUES that has a
/// parenthesis, none ends behind a later one: one search will do.
fn first_row(sql: &[u8]) -> Option<&[u8]> {
    let rest = behind(sql, b"insert").or_else(|| behind(sql, b"replace"))?;
    let rest = behind(rest, b" ignore").unwrap_or(rest);
    let gap = spaces(rest);
    let table = behind(&rest[gap..], b"into").filter(|_| gap > 0)?;
    let mut at = 1;
    loop {
        at += memchr2(b'v', b'V', table.get(at..)?)?;
        let row = behind(&table[at..], b"values").and_then(|rest| {
            let row = &rest[spaces(rest)..];
            row.strip_prefix(b"(")
        });
        if row.is_some() {
            return row;
        }
        at += 1;
    }
}

/// Whether a comma and another row come first.
fn has_next_row(text: &[u8]) -> bool {
    let next = text[spaces(text)..].strip_prefix(b",");
    next.is_some_and(|rest| rest[spaces(rest)..].starts_with(b"("))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(sql: &str) -> Option<String> {
        let mut out = Vec::new();
        write_whole_form(sql.as_bytes(), &mut out)
            .then(|| String::from_utf8(out).expect("a text in UTF-8"))
    }

    #[test]
    fn some_statements_have_a_form_of_their_own() {
        for (sql, form) in [
            ("SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`", "mysqldump"),
            ("REPLACE /*db_1.t:3/9*/ INTO checksum.checksum", "percona-toolkit"),
            ("administrator command: Quit;", "administrator command: Quit;"),
            (" CALL  My.Proc(1, 'x')", "call  my.proc"),
            ("call f(g(1))", "call f(g"),
        ] {
            assert_eq!(whole(sql).as_deref(), Some(form), "{sql}");
        }
        for sql in ["call f", "call (1)", "callf(1)", "/*a.b:c/1*/", "/*a.b:1/22*/", "select 1"] {
            assert_eq!(whole(sql), None, "{sql}");
        }
    }

    #[test]
    fn of_many_rows_the_first_one_stays() {
        for (sql, left) in [
            ("INSERT INTO t VALUES (1,')'), (2)", "INSERT INTO t VALUES (1,')')"),
            ("insert ignore into t values(1) , (2),(3)", "insert ignore into t values(1)"),
            ("REPLACE INTO values_1 VALUES (f()),\n(2)", "REPLACE INTO values_1 VALUES (f())"),
            ("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)"),
            ("INSERT INTO t VALUES", "INSERT INTO t VALUES"),
            ("INSERT t VALUES (1), (2)", "INSERT t VALUES (1), (2)"),
        ] {
            assert_eq!(without_further_rows(sql.as_bytes()), left.as_bytes(), "{sql}");
        }
    }
}
