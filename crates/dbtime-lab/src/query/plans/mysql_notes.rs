//! What MySQL and MariaDB say in `SHOW WARNINGS` of how they understand a statement that they
//! explain.

use dbtime_engines::socket::QueryTable;
use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, fingerprint};

/// How many warnings are asked for; an execution adds one for each row that it converts.
pub(super) const WARNINGS: &str = "SHOW WARNINGS LIMIT 50";

/// Words of a rewritten statement that its author cannot have written.
const CHANGES: [&str; 6] =
    ["<expr_cache>", "<in_optimizer>", "<materialize>", "anti join", "convert(", "semi join"];

/// The notes worth knowing, each once: indexes that cannot be used, and how the server has
/// rewritten the statement where that tells of conversions or of joins in place of subqueries.
///
/// All other warnings are of rows, and have their values in them.
pub(super) fn explain_notes(warnings: &QueryTable, is_raw: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for row in &warnings.rows {
        let [_, Some(code), Some(message), ..] = &row[..] else { continue };
        let note = match code.as_str() {
            // Names alone are in it.
            "1739" => Some(message.clone()),
            "1105" if message.starts_with("Cannot use key") => {
                Some(without_values(message, is_raw))
            }
            "1003" => rewritten(message, is_raw),
            _ => None,
        };
        notes.extend(note.filter(|note| !notes.contains(note)));
    }
    notes
}

/// MariaDB's note without what stands in double quotes: `"42" of type int`.
fn without_values(message: &str, is_raw: bool) -> String {
    if is_raw {
        return message.to_owned();
    }
    match (message.find('"'), message.rfind('"')) {
        // A value may have quotes of its own: all from the first to the last goes.
        (Some(first), Some(last)) if first < last => {
            format!("{}?{}", &message[..first], &message[last + 1..])
        }
        _ => message.to_owned(),
    }
}

/// How the server has rewritten a statement; `None`: that tells of nothing.
fn rewritten(sql: &str, is_raw: bool) -> Option<String> {
    if !CHANGES.iter().any(|change| sql.contains(change)) {
        return None;
    }
    let mut text = sql.to_owned();
    if !is_raw {
        fingerprint(sql, &LexicalRules::unknown(SqlDialect::Mysql), &mut text);
    }
    Some(format!("rewritten: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(rows: &[(&str, &str)], is_raw: bool) -> Vec<String> {
        let row = |&(code, text): &(&str, &str)| {
            ["Note", code, text].map(|value| Some(value.to_owned())).to_vec()
        };
        let table = QueryTable { columns: Vec::new(), rows: rows.iter().map(row).collect() };
        explain_notes(&table, is_raw)
    }

    #[test]
    fn indexes_that_cannot_be_used_are_noted_once() {
        let text = "Cannot use ref access on index 'by_code' due to type or collation conversion \
                    on field 'code'";
        assert_eq!(notes(&[("1739", text), ("1739", text)], false), [text]);
        let text = "Cannot use key `by_code` part[0] for lookup: `shop`.`events`.`code` of type \
                    `varchar` = \"42\" of type `int`";
        assert_eq!(notes(&[("1105", text)], true), [text]);
        assert_eq!(notes(&[("1105", text)], false), [text.replace("\"42\"", "?")]);
    }

    #[test]
    fn values_of_rows_are_no_notes() {
        let rows = [("1292", "Truncated incorrect DOUBLE value: 'secret'"), ("1105", "secret")];
        assert!(notes(&rows, true).is_empty());
    }

    #[test]
    fn a_statement_is_shown_where_the_server_has_changed_it() {
        let plain = "select `u`.`id` AS `id` from `shop`.`users` `u` where (`u`.`name` = 'x')";
        assert!(notes(&[("1003", plain)], false).is_empty());
        let joined = "/* select#1 */ select 1 from `a` semi join (`b`) where (`b`.`c` = 'secret')";
        let shown = notes(&[("1003", joined)], false);
        assert_eq!(shown.len(), 1);
        assert!(shown[0].contains("semi join") && !shown[0].contains("secret"), "{shown:?}");
    }
}
