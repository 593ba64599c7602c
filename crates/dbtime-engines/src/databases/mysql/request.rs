//! What is sent: commands, and values as text or in the binary form.

use dbtime_load::program::SqlValue;
use dbtime_wire::mysql::{HEADER, MAX_PAYLOAD, command, write_packet};
use memchr::memchr3;
use std::io::Write;

/// Types of the binary protocol.
const DOUBLE: u8 = 5;
const NULL: u8 = 6;
const LONGLONG: u8 = 8;
const VAR_STRING: u8 = 253;

/// Writes a command with a text.
pub(super) fn text_command(command: u8, text: &str, out: &mut Vec<u8>) {
    packet(out, |out| {
        out.push(command);
        out.extend_from_slice(text.as_bytes());
    });
}

/// Writes a COM_QUERY of `pieces` with values between them. `backslash` says whether the server
/// reads backslashes in strings as escapes.
#[inline]
pub(super) fn text_query(
    pieces: &[String],
    values: &[SqlValue],
    backslash: bool,
    out: &mut Vec<u8>,
) {
    packet(out, |out| {
        out.push(command::QUERY);
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 {
                literal(values.get(index - 1).unwrap_or(&SqlValue::Null), backslash, out);
            }
            out.extend_from_slice(piece.as_bytes());
        }
    });
}

/// Writes a value as SQL.
pub(super) fn literal(value: &SqlValue, backslash: bool, out: &mut Vec<u8>) {
    // Writing to a vector does not fail.
    let _ = match value {
        SqlValue::Null => out.write_all(b"NULL"),
        // A blank keeps a minus before it from starting a comment.
        SqlValue::Integer(n) if *n < 0 => write!(out, " {n}"),
        SqlValue::Integer(n) => write!(out, "{n}"),
        SqlValue::Real(x) if !x.is_finite() => out.write_all(b"NULL"),
        SqlValue::Real(x) => write!(out, " {x:e}"),
        SqlValue::Text(text) => {
            quoted(text, backslash, out);
            Ok(())
        }
    };
}

fn quoted(text: &str, backslash: bool, out: &mut Vec<u8>) {
    out.push(b'\'');
    match memchr3(b'\'', b'\\', 0, text.as_bytes()) {
        // As nearly all are: megabytes of them are loaded.
        None => out.extend_from_slice(text.as_bytes()),
        Some(_) => escaped(text, backslash, out),
    }
    out.push(b'\'');
}

fn escaped(text: &str, backslash: bool, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'\'' => out.extend_from_slice(b"''"),
            b'\\' if backslash => out.extend_from_slice(b"\\\\"),
            0 if backslash => out.extend_from_slice(b"\\0"),
            other => out.push(other),
        }
    }
}

/// Writes a COM_STMT_EXECUTE.
#[inline]
pub(super) fn execute(id: u32, values: &[SqlValue], out: &mut Vec<u8>) {
    packet(out, |out| {
        out.push(command::STMT_EXECUTE);
        out.extend_from_slice(&id.to_le_bytes());
        // No cursor; executed once.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if values.is_empty() {
            return;
        }
        let nulls = out.len();
        out.resize(nulls + values.len().div_ceil(8), 0);
        out.push(1); // types follow
        for value in values {
            let kind = match value {
                SqlValue::Null => NULL,
                SqlValue::Integer(_) => LONGLONG,
                SqlValue::Real(_) => DOUBLE,
                SqlValue::Text(_) => VAR_STRING,
            };
            out.extend_from_slice(&[kind, 0]);
        }
        for (index, value) in values.iter().enumerate() {
            match value {
                SqlValue::Null => out[nulls + index / 8] |= 1 << (index % 8),
                SqlValue::Integer(n) => out.extend_from_slice(&n.to_le_bytes()),
                SqlValue::Real(x) => out.extend_from_slice(&x.to_le_bytes()),
                SqlValue::Text(text) => {
                    length(text.len(), out);
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
    });
}

/// Writes a COM_STMT_CLOSE, which nobody answers.
pub(super) fn close(id: u32, out: &mut Vec<u8>) {
    packet(out, |out| {
        out.push(command::STMT_CLOSE);
        out.extend_from_slice(&id.to_le_bytes());
    });
}

/// A length-encoded integer.
fn length(n: usize, out: &mut Vec<u8>) {
    let bytes = (n as u64).to_le_bytes();
    match n {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Writes what `write` appends as a packet, or as several where it is that long.
#[inline]
fn packet(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    write(out);
    let size = out.len() - start - HEADER;
    if size < MAX_PAYLOAD {
        let [a, b, c, _] = (size as u32).to_le_bytes();
        out[start..start + 3].copy_from_slice(&[a, b, c]);
    } else {
        let payload = out.split_off(start + HEADER);
        out.truncate(start);
        write_packet(&payload, 0, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_wire::mysql::header;

    fn sql(values: &[SqlValue], backslash: bool) -> String {
        let pieces: Vec<String> = vec!["x".to_owned(); values.len() + 1];
        let mut out = Vec::new();
        text_query(&pieces, values, backslash, &mut out);
        assert_eq!(header(&out), Some((out.len() - HEADER, 0)));
        assert_eq!(out[HEADER], command::QUERY);
        String::from_utf8(out[HEADER + 1..].to_vec()).expect("UTF-8")
    }

    #[test]
    fn values_are_written_so_that_they_stay_values() {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        assert_eq!(sql(&[SqlValue::Integer(5), SqlValue::Integer(-5)], true), "x5x -5x");
        assert_eq!(sql(&[SqlValue::Null, SqlValue::Real(1.5)], true), "xNULLx 1.5e0x");
        assert_eq!(sql(&[text("it's \\ me\0")], true), "x'it''s \\\\ me\\0'x");
        assert_eq!(sql(&[text("' OR 1 \\")], false), "x''' OR 1 \\'x");
    }

    #[test]
    fn values_of_the_binary_protocol_stand_behind_their_types() {
        let values = [SqlValue::Integer(7), SqlValue::Null, SqlValue::Text("hi".to_owned())];
        let mut out = Vec::new();
        execute(9, &values, &mut out);
        let expected = [
            &[command::STMT_EXECUTE, 9, 0, 0, 0, 0, 1, 0, 0, 0][..],
            &[0b010, 1, LONGLONG, 0, NULL, 0, VAR_STRING, 0],
            &7i64.to_le_bytes(),
            b"\x02hi",
        ]
        .concat();
        assert_eq!(out[HEADER..], expected);
        let mut long = Vec::new();
        execute(9, &[SqlValue::Text("y".repeat(MAX_PAYLOAD))], &mut long);
        assert_eq!(header(&long), Some((MAX_PAYLOAD, 0)));
    }
}
