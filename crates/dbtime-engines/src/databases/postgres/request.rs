//! What is sent: statements with their values, as text or bound to a prepared statement.

use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_wire::postgres::{begin_message, end_message, frontend};
use std::io::Write;

/// A message without anything in it.
pub(super) fn empty(tag: u8, out: &mut Vec<u8>) {
    let begun = begin_message(tag, out);
    end_message(begun, out);
}

/// A simple query.
pub(super) fn query(sql: &str, out: &mut Vec<u8>) {
    let begun = begin_message(frontend::QUERY, out);
    out.extend_from_slice(sql.as_bytes());
    out.push(0);
    end_message(begun, out);
}

/// A simple query of pieces with values between them.
///
/// # Errors
/// A value that cannot be sent; then nothing was written.
#[inline]
pub(super) fn query_of(
    pieces: &[StatementPiece],
    values: &[SqlValue],
    out: &mut Vec<u8>,
) -> Result<(), DatabaseFailure> {
    let start = out.len();
    let begun = begin_message(frontend::QUERY, out);
    let mut values = values.iter();
    for piece in pieces {
        out.extend_from_slice(piece.text.as_bytes());
        let Some(value) = values.next() else { break };
        if let Err(failure) = literal(value, piece.is_cast, out) {
            out.truncate(start);
            return Err(failure);
        }
    }
    out.push(0);
    end_message(begun, out);
    Ok(())
}

/// A piece of a statement's text, and what is to be known of the value after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatementPiece {
    pub(super) text: String,
    /// A cast follows the value: it binds closer than the sign of a number.
    is_cast: bool,
}

/// The pieces of a statement's text, fit for values between them.
pub(super) fn pieces(pieces: &[&str]) -> Box<[StatementPiece]> {
    let piece = |(index, text): (usize, &&str)| {
        let next = pieces.get(index + 1);
        let is_cast = next.is_some_and(|next| next.trim_start().starts_with("::"));
        StatementPiece { text: apart(text, next.is_some()), is_cast }
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// The statement's text with PostgreSQL's own placeholders.
pub(super) fn numbered(pieces: &[&str]) -> String {
    let mut sql = String::new();
    for (index, text) in pieces.iter().enumerate() {
        let is_last = index + 1 == pieces.len();
        sql += &apart(text, !is_last);
        if !is_last {
            sql += &format!("${}", index + 1);
        }
    }
    sql
}

/// A name would run into the value after it: `SELECT$1` is one word.
fn apart(text: &str, has_value: bool) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    match has_value && text.ends_with(is_word) {
        true => format!("{text} "),
        false => text.to_owned(),
    }
}

/// A value as SQL writes it, the same under any setting of the session.
fn literal(value: &SqlValue, is_cast: bool, out: &mut Vec<u8>) -> Result<(), DatabaseFailure> {
    match value {
        SqlValue::Null => out.extend_from_slice(b"NULL"),
        SqlValue::Integer(number @ 0..) => integer(*number, out),
        // Its digits alone are no bigint, before the sign makes them one.
        SqlValue::Integer(i64::MIN) => out.extend_from_slice(b" '-9223372036854775808'::bigint"),
        SqlValue::Integer(number) if is_cast => {
            out.extend_from_slice(b" (");
            integer(*number, out);
            out.push(b')');
        }
        SqlValue::Integer(number) => {
            // Two minus signs would begin a comment.
            out.push(b' ');
            integer(*number, out);
        }
        SqlValue::Real(number) if number.is_finite() && !is_cast => {
            out.push(b' ');
            real(*number, out);
        }
        SqlValue::Real(number) => {
            out.extend_from_slice(b" '");
            real(*number, out);
            out.extend_from_slice(b"'::double precision");
        }
        SqlValue::Text(text) => return quoted(text, out),
    }
    Ok(())
}

/// A text in quotes. With a backslash in it, it is written so that one is the same whatever
/// `standard_conforming_strings` is.
pub(super) fn quoted(text: &str, out: &mut Vec<u8>) -> Result<(), DatabaseFailure> {
    let bytes = text.as_bytes();
    if bytes.contains(&0) {
        return Err(zero_byte());
    }
    out.extend_from_slice(if bytes.contains(&b'\\') { b" E'" } else { b"'" });
    for part in bytes.split_inclusive(|byte| matches!(byte, b'\'' | b'\\')) {
        out.extend_from_slice(part);
        if let Some(special @ (b'\'' | b'\\')) = part.last() {
            out.push(*special);
        }
    }
    out.push(b'\'');
    Ok(())
}

/// A value bound to a placeholder, in its text form.
///
/// # Errors
/// A value that cannot be sent.
#[inline]
pub(super) fn bound(value: &SqlValue, out: &mut Vec<u8>) -> Result<(), DatabaseFailure> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match value {
        SqlValue::Null => {
            out[start..].copy_from_slice(&u32::MAX.to_be_bytes());
            return Ok(());
        }
        SqlValue::Integer(number) => integer(*number, out),
        SqlValue::Real(number) => real(*number, out),
        SqlValue::Text(text) if text.as_bytes().contains(&0) => return Err(zero_byte()),
        SqlValue::Text(text) => out.extend_from_slice(text.as_bytes()),
    }
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

#[inline]
fn integer(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A double as PostgreSQL reads it back to the last bit.
pub(super) fn real(number: f64, out: &mut Vec<u8>) {
    let written = match number {
        f64::INFINITY => out.write_all(b"Infinity"),
        f64::NEG_INFINITY => out.write_all(b"-Infinity"),
        number => write!(out, "{number:?}"),
    };
    written.expect("memory takes it");
}

#[cold]
fn zero_byte() -> DatabaseFailure {
    DatabaseFailure::statement(
        "22021",
        "22021",
        "a text with a zero byte, which PostgreSQL does not store",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_wire::postgres::header;

    fn sql(text: &[&str], values: &[SqlValue]) -> String {
        let mut out = Vec::new();
        query_of(&pieces(text), values, &mut out).expect("values");
        assert_eq!(header(&out), Ok(Some((b'Q', out.len() - 5))));
        String::from_utf8(out[5..out.len() - 1].to_vec()).expect("UTF-8")
    }

    fn text(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }

    #[test]
    fn values_are_written_so_that_they_stay_values() {
        let of = |value| sql(&["=", "!"], &[value]);
        assert_eq!(of(SqlValue::Integer(5)), "=5!");
        assert_eq!(of(SqlValue::Integer(i64::MIN)), "= '-9223372036854775808'::bigint!");
        assert_eq!(of(SqlValue::Null), "=NULL!");
        assert_eq!(of(SqlValue::Real(1.5)), "= 1.5!");
        assert_eq!(of(SqlValue::Real(f64::NAN)), "= 'NaN'::double precision!");
        assert_eq!(of(SqlValue::Real(f64::NEG_INFINITY)), "= '-Infinity'::double precision!");
        assert_eq!(of(text("it's")), "='it''s'!");
        assert_eq!(of(text("\\' OR 1")), "= E'\\\\'' OR 1'!");
        assert_eq!(sql(&["a -", ""], &[SqlValue::Integer(-5)]), "a - -5", "no comment");
        assert_eq!(sql(&["a", "::int"], &[SqlValue::Integer(-5)]), "a  (-5)::int");
        assert_eq!(sql(&["SELECT", ""], &[SqlValue::Integer(5)]), "SELECT 5", "no word");
        assert_eq!(numbered(&["SELECT", " + ", ""]), "SELECT $1 + $2");
    }

    #[test]
    fn a_zero_byte_is_refused_before_anything_is_written() {
        let mut out = b"before".to_vec();
        let values = [SqlValue::Integer(1), text("a\0b")];
        assert!(query_of(&pieces(&["", "", ""]), &values, &mut out).is_err());
        assert_eq!(out, b"before");
        assert!(bound(&values[1], &mut out).is_err());
    }

    #[test]
    fn bound_values_stand_behind_their_lengths() {
        let mut out = Vec::new();
        for value in [SqlValue::Integer(-17), SqlValue::Null, SqlValue::Real(2.0), text("hé")] {
            bound(&value, &mut out).expect("a value");
        }
        let expected =
            [&b"\0\0\0\x03-17"[..], &[0xff; 4], b"\0\0\0\x032.0", b"\0\0\0\x03h\xc3\xa9"];
        assert_eq!(out, expected.concat());
    }
}
