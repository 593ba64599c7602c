//! What scripts for MySQL say that SQLite does not understand, rewritten.
//!
//! All of it; whatever else a script says reaches SQLite as it is:
//!
//! | in statements that begin with | what | becomes |
//! |---|---|---|
//! | any | `/*! … */` | nothing |
//! | `CREATE TABLE` | `ENGINE = x` and whatever else follows the columns | nothing |
//! | `CREATE TABLE` | `AUTO_INCREMENT` with a `PRIMARY KEY (…)` | nothing: it counts anyway |
//! | `CREATE TABLE` | `INTEGER … AUTO_INCREMENT` without one | `INTEGER PRIMARY KEY` |
//! | `CREATE TABLE` | `, KEY name (…)` | nothing |
//! | `INSERT INTO t (id, …) VALUES (0, …)` | the 0, which asks MySQL for the next number | `NULL` |
//! | `SELECT` | `FOR UPDATE`, `LOCK IN SHARE MODE`, `FORCE KEY (…)`, `FORCE INDEX (…)` | nothing |
//! | `START TRANSACTION` | all of it | `BEGIN` |
//! | `SET name = …` | all of it: no setting of MySQL's is SQLite's | a PRAGMA that does nothing |
//! | `ANALYZE TABLE`, `TRUNCATE TABLE` | these words | `ANALYZE`, `DELETE FROM` |

use std::borrow::Cow;

/// The statement as SQLite wants it; mostly the same.
pub fn rewritten(sql: &str) -> Cow<'_, str> {
    let bare =
        if sql.contains("/*!") { Cow::Owned(without_comments(sql)) } else { Cow::Borrowed(sql) };
    let begins = |word: &str| begins_with(bare.trim_start(), word);
    let changed = if begins("CREATE TABLE") {
        Some(created(&bare))
    } else if begins("INSERT") {
        inserted(&bare)
    } else if begins("SELECT") {
        selected(&bare)
    } else if begins("START TRANSACTION") {
        Some("BEGIN".to_owned())
    } else if begins("SET ") {
        // Unknown ones are ignored, and return neither rows nor columns
        // (https://www.sqlite.org/pragma.html).
        Some("PRAGMA no_setting_of_mysql".to_owned())
    } else if begins("ANALYZE TABLE") {
        Some(format!("ANALYZE{}", &bare.trim_start()["ANALYZE TABLE".len()..]))
    } else if begins("TRUNCATE TABLE") {
        Some(format!("DELETE FROM{}", &bare.trim_start()["TRUNCATE TABLE".len()..]))
    } else {
        None
    };
    changed.map_or(bare, Cow::Owned)
}

fn begins_with(sql: &str, word: &str) -> bool {
    sql.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Where a word stands, whatever its case; words are ASCII.
fn find(sql: &str, word: &str) -> Option<usize> {
    let bytes = sql.as_bytes();
    let expected = word.as_bytes();
    let is_letter = |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric());
    bytes.windows(expected.len()).enumerate().find_map(|(at, window)| {
        let stands_alone =
            !is_letter(bytes.get(at.wrapping_sub(1))) && !is_letter(bytes.get(at + expected.len()));
        (window.eq_ignore_ascii_case(expected) && stands_alone).then_some(at)
    })
}

fn without_comments(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(start) = rest.find("/*!") {
        out.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    out + rest
}

fn created(sql: &str) -> String {
    // Behind the last parenthesis there are only options of the table.
    let end = sql.rfind(')').map_or(sql.len(), |end| end + 1);
    let mut table = sql[..end].to_owned();
    while let Some(key) = secondary_key(&table) {
        table.replace_range(key, "");
    }
    let counts_by_key = find(&table, "PRIMARY KEY").is_some();
    while let Some(at) = find(&table, "AUTO_INCREMENT") {
        let end = at + "AUTO_INCREMENT".len();
        if counts_by_key {
            table.replace_range(at..end, "");
            continue;
        }
        let column = table[..at].rfind([',', '(']).map_or(0, |before| before + 1);
        let name = table[column..at].split_whitespace().next().unwrap_or_default().to_owned();
        table.replace_range(column..end, &format!(" {name} INTEGER PRIMARY KEY"));
    }
    table
}

/// A comma and the index that follows it.
fn secondary_key(table: &str) -> Option<std::ops::Range<usize>> {
    table.match_indices(',').find_map(|(comma, _)| {
        let entry = table[comma + 1..].trim_start();
        let is_key = begins_with(entry, "KEY ") || begins_with(entry, "INDEX ");
        let end = table[comma..].find(')')?;
        is_key.then_some(comma..comma + end + 1)
    })
}

fn inserted(sql: &str) -> Option<String> {
    let columns = sql.find('(')?;
    let first = sql[columns + 1..].split([',', ')']).next()?.trim();
    if !first.trim_matches('`').eq_ignore_ascii_case("id") {
        return None;
    }
    let values = columns + sql[columns..].find(')')? + 1;
    let list = sql[values..].trim_start();
    if !begins_with(list, "VALUES") {
        return None;
    }
    let open = sql.len() - list.len() + list.find('(')? + 1;
    let zero = open + sql[open..].len() - sql[open..].trim_start().len();
    let behind = sql[zero..].strip_prefix('0')?;
    let is_whole = behind.trim_start().starts_with([',', ')']);
    is_whole.then(|| format!("{}NULL{behind}", &sql[..zero]))
}

fn selected(sql: &str) -> Option<String> {
    let mut out = None;
    for words in ["FOR UPDATE", "LOCK IN SHARE MODE"] {
        let text = out.as_deref().unwrap_or(sql);
        if let Some(at) = find(text, words) {
            out = Some(format!("{}{}", &text[..at], &text[at + words.len()..]));
        }
    }
    for words in ["FORCE KEY", "FORCE INDEX"] {
        let text = out.as_deref().unwrap_or(sql);
        if let Some(at) = find(text, words)
            && let Some(end) = text[at..].find(')')
        {
            out = Some(format!("{}{}", &text[..at], &text[at + end + 1..]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tidy(sql: &str) -> String {
        rewritten(sql).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tables_count_by_themselves() {
        let columns = "k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL";
        assert_eq!(
            tidy(&format!(
                "\nCREATE TABLE t1(id INTEGER NOT NULL AUTO_INCREMENT, {columns},\n  \
                 PRIMARY KEY (id)\n) /*! ENGINE = innodb */ "
            )),
            format!("CREATE TABLE t1(id INTEGER NOT NULL , {columns}, PRIMARY KEY (id) )")
        );
        assert_eq!(
            tidy(&format!(
                "CREATE TABLE t1(id INTEGER NOT NULL AUTO_INCREMENT, {columns}, KEY xid (id)) \
                 ENGINE=InnoDB DEFAULT CHARSET=utf8"
            )),
            format!("CREATE TABLE t1( id INTEGER PRIMARY KEY, {columns})")
        );
    }

    #[test]
    fn a_zero_asks_for_the_next_number() {
        assert_eq!(
            tidy("INSERT INTO t1 (id, k) VALUES (0, 5, '0')"),
            "INSERT INTO t1 (id, k) VALUES (NULL, 5, '0')"
        );
        for same in [
            "INSERT INTO t1 (id, k) VALUES (7, 0)",
            "INSERT INTO t1 (id, k) VALUES (0.5, 0)",
            "INSERT INTO t1(k, c) VALUES(0, 1)",
            "INSERT INTO t1 VALUES (0, 1)",
            "INSERT INTO t1 (id, k) VALUES (?, ?)",
        ] {
            assert_eq!(tidy(same), same);
        }
    }

    #[test]
    fn the_rest_of_the_list() {
        assert_eq!(tidy("START TRANSACTION"), "BEGIN");
        assert_eq!(tidy("analyze table t1"), "ANALYZE t1");
        assert_eq!(tidy("SET tmp_table_size=2*1024"), "PRAGMA no_setting_of_mysql");
        assert_eq!(tidy("TRUNCATE TABLE t1"), "DELETE FROM t1");
        assert_eq!(tidy("SELECT a FROM t FORCE KEY (PRIMARY) FOR UPDATE"), "SELECT a FROM t");
        assert_eq!(tidy("SELECT c FROM sbtest1 WHERE id=?"), "SELECT c FROM sbtest1 WHERE id=?");
        assert!(matches!(rewritten("UPDATE t SET a=1"), Cow::Borrowed(_)));
    }
}
