//! Placeholders: `?` as PostgreSQL writes them, and values in their place where nothing is
//! prepared.

use dbtime_load::program::SqlValue;
use std::fmt::Write;

/// The text with `?` outside of quotes as `$1`, `$2`, …
pub(super) fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 8);
    for (index, piece) in pieces(sql).enumerate() {
        if index > 0 {
            let _ = write!(out, "${index}");
        }
        out.push_str(piece);
    }
    out
}

/// The text with values for its placeholders; a placeholder without a value stays as it is.
pub(super) fn filled(sql: &str, values: &[SqlValue], has_escapes: bool, out: &mut String) {
    out.clear();
    for (index, piece) in pieces(sql).enumerate() {
        if let Some(before) = index.checked_sub(1) {
            match values.get(before) {
                Some(value) => push_value(value, has_escapes, out),
                None => out.push('?'),
            }
        }
        out.push_str(piece);
    }
}

fn push_value(value: &SqlValue, has_escapes: bool, out: &mut String) {
    // Writing into a text does not fail.
    let _ = match value {
        SqlValue::Null => out.write_str("NULL"),
        SqlValue::Integer(number) => write!(out, "{number}"),
        SqlValue::Real(number) => write!(out, "{number}"),
        SqlValue::Text(text) => {
            out.push('\'');
            for character in text.chars() {
                match character {
                    '\'' => out.push_str("''"),
                    '\\' if has_escapes => out.push_str("\\\\"),
                    other => out.push(other),
                }
            }
            out.write_str("'")
        }
    };
}

/// The text between its placeholders.
fn pieces(sql: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    sql.split(move |character| match (quote, character) {
        (None, '?') => true,
        (None, '\'' | '"' | '`') => {
            quote = Some(character);
            false
        }
        (Some(open), close) if open == close => {
            quote = None;
            false
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_outside_of_quotes() {
        assert_eq!(numbered("a=? AND b='?' AND c=?"), "a=$1 AND b='?' AND c=$2");
        assert_eq!(numbered("BEGIN"), "BEGIN");
    }

    #[test]
    fn values_take_the_place_of_placeholders() {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let values = [SqlValue::Integer(-5), text("o'\\x"), SqlValue::Null, SqlValue::Real(1.5)];
        let mut out = String::new();
        filled("VALUES (?, ?, ?, ?, ?)", &values, true, &mut out);
        assert_eq!(out, "VALUES (-5, 'o''\\\\x', NULL, 1.5, ?)");
        filled("a=?", &[text("\\")], false, &mut out);
        assert_eq!(out, "a='\\'");
    }
}
