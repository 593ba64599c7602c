//! A form with its key as literals: not every server explains a statement that is prepared.

use super::super::session::SessionForm;
use dbtime_load::program::SqlValue;
use dbtime_model::Product;
use dbtime_sql::{LexicalRules, ParameterName, StatementPlaces};
use std::fmt::Write;

/// The statement with a literal of its key in the place of each placeholder; a value that the key
/// lacks is NULL. It has what must reach no output.
pub(crate) fn explained(form: &SessionForm, key: &[SqlValue], product: Product) -> String {
    let (sql, order) = (&form.text.native, &form.text.order);
    let places = StatementPlaces::of(sql, &LexicalRules::defaults(product.dialect()));
    let (mut explained, mut from) = (String::with_capacity(sql.len()), 0);
    for (index, place) in places.parameters.iter().enumerate() {
        let index = match place.name {
            ParameterName::Numbered(number) => (number as usize).wrapping_sub(1),
            ParameterName::Next | ParameterName::Named(_) => index,
        };
        let Some(parameter) = order.get(index) else { continue };
        explained.push_str(&sql[from..place.range.start]);
        literal(key.get(*parameter).unwrap_or(&SqlValue::Null), product, &mut explained);
        from = place.range.end;
    }
    explained.push_str(&sql[from..]);
    explained
}

/// Writes a value so that every session of the product reads it alike.
pub(crate) fn literal(value: &SqlValue, product: Product, sql: &mut String) {
    // Writing to a string does not fail.
    let _ = match value {
        SqlValue::Null => sql.write_str("NULL"),
        // Two minus signs would begin a comment, and a cast goes before a sign.
        SqlValue::Integer(number @ ..0) => write!(sql, "({number})"),
        SqlValue::Integer(number) => write!(sql, "{number}"),
        SqlValue::Real(number) if product == Product::Postgres => {
            write!(sql, "'{number}'::double precision")
        }
        SqlValue::Real(number) if !number.is_finite() => sql.write_str("NULL"),
        SqlValue::Real(number) => write!(sql, "({number:e})"),
        SqlValue::Text(text) => quoted(text, product, sql),
    };
}

fn quoted(text: &str, product: Product, sql: &mut String) -> std::fmt::Result {
    let doubled = text.replace('\'', "''");
    match product {
        // By the session's mode, a backslash is one or escapes what follows.
        Product::Mariadb | Product::Mysql if text.contains(['\\', '\0']) => {
            write!(sql, "_utf8mb4 X'{}'", hexadecimal(text))
        }
        Product::Postgres if text.contains('\\') => {
            write!(sql, "E'{}'", doubled.replace('\\', r"\\"))
        }
        // A statement of SQLite ends at a zero byte.
        Product::Sqlite if text.contains('\0') => {
            write!(sql, "CAST(X'{}' AS TEXT)", hexadecimal(text))
        }
        _ => write!(sql, "'{doubled}'"),
    }
}

fn hexadecimal(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hexadecimal, byte| {
        let _ = write!(hexadecimal, "{byte:02X}");
        hexadecimal
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::form_text::FormText;
    use super::*;

    fn form(native: &str, order: &[usize]) -> SessionForm {
        let text =
            FormText { native: native.to_owned(), order: order.to_vec(), ..FormText::default() };
        SessionForm { text, prepared: None }
    }

    fn text(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }

    #[test]
    fn placeholders_become_literals_and_what_looks_like_one_stays() {
        let question = form("SELECT '?' FROM t WHERE a = ? -- ?\n AND b = ? OR c = ?", &[1, 0, 1]);
        let key = [SqlValue::Integer(-5), text("it's")];
        for product in [Product::Mysql, Product::Mariadb, Product::Sqlite] {
            assert_eq!(
                explained(&question, &key, product),
                "SELECT '?' FROM t WHERE a = 'it''s' -- ?\n AND b = (-5) OR c = 'it''s'"
            );
        }
        let numbered = form("SELECT '$1' FROM t WHERE a = $2 AND b = $1 OR c = $2", &[0, 1]);
        assert_eq!(
            explained(&numbered, &key, Product::Postgres),
            "SELECT '$1' FROM t WHERE a = 'it''s' AND b = (-5) OR c = 'it''s'"
        );
    }

    #[test]
    fn literals_are_the_same_in_every_mode_of_a_session() {
        let of = |value: SqlValue, product: Product| {
            let native = if product == Product::Postgres { "$1" } else { "?" };
            explained(&form(native, &[0]), &[value], product)
        };
        assert_eq!(of(text(r"a\'b"), Product::Mysql), "_utf8mb4 X'615C2762'");
        assert_eq!(of(text(r"a\'b"), Product::Postgres), r"E'a\\''b'");
        assert_eq!(of(text(r"a\'b"), Product::Sqlite), r"'a\''b'");
        assert_eq!(of(text("a\0"), Product::Sqlite), "CAST(X'6100' AS TEXT)");
        assert_eq!(of(SqlValue::Real(1.5), Product::Sqlite), "(1.5e0)");
        assert_eq!(of(SqlValue::Real(-1.5), Product::Postgres), "'-1.5'::double precision");
        assert_eq!(of(SqlValue::Real(f64::NAN), Product::Mysql), "NULL");
        assert_eq!(of(SqlValue::Integer(7), Product::Mariadb), "7");
    }

    #[test]
    fn a_value_that_a_key_lacks_is_null() {
        assert_eq!(explained(&form("SELECT ?", &[0]), &[], Product::Sqlite), "SELECT NULL");
    }
}
