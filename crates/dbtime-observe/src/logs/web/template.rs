//! A segment of a path, or the name of a parameter, without what differs from user to user.

use memchr::memrchr;

/// What stands for numbers, UUIDs and other hexadecimal names.
const NUMBER: &str = ":n";
const UUID: &str = ":uuid";
const HEX: &str = ":hex";

/// How long a UUID is with its dashes. Unit: bytes.
const UUID_BYTES: usize = 36;

/// Writes a segment, or what stands for all of its kind; an extension is kept (`:n.json`), and so
/// are the other pieces of a name (`app.:hex.js`).
pub(super) fn push_template(segment: &[u8], out: &mut String) {
    if let Some(kind) = placeholder(segment) {
        out.push_str(kind);
        return;
    }
    let (stem, extension) = segment.split_at(memrchr(b'.', segment).unwrap_or(segment.len()));
    let is_extension = (2..=6).contains(&extension.len())
        && extension[1].is_ascii_alphabetic()
        && extension[1..].iter().all(u8::is_ascii_alphanumeric);
    match placeholder(stem).filter(|_| is_extension) {
        Some(kind) => {
            out.push_str(kind);
            push_text(extension, out);
        }
        None if segment.iter().any(u8::is_ascii_digit) => push_pieces(segment, out),
        None => push_text(segment, out),
    }
}

/// Writes a segment piece by piece, as points, dashes and underscores divide it.
fn push_pieces(segment: &[u8], out: &mut String) {
    let (mut rest, mut before) = (segment, None);
    let mut sign: &[u8] = b"";
    loop {
        let (piece, behind) = rest.split_at(piece_length(rest));
        let kind = piece_placeholder(piece, before);
        // The numbers of a date are one.
        if kind != Some(NUMBER) || before != kind {
            push_text(sign, out);
            match kind {
                Some(kind) => out.push_str(kind),
                None => push_text(piece, out),
            }
        }
        before = kind;
        if behind.is_empty() {
            return;
        }
        (sign, rest) = behind.split_at(1);
    }
}

/// How long the piece is that a text begins with.
fn piece_length(text: &[u8]) -> usize {
    let is_sign = |byte: &u8| matches!(byte, b'.' | b'-' | b'_');
    let uuid = text.get(..UUID_BYTES).filter(|uuid| is_uuid(uuid));
    if uuid.is_some() && text.get(UUID_BYTES).is_none_or(is_sign) {
        return UUID_BYTES;
    }
    text.iter().position(is_sign).unwrap_or(text.len())
}

/// What stands for a piece that differs from user to user or from version to version. A short
/// number does so behind another one alone: `top-10` is a name, `2024-01-15` is none.
fn piece_placeholder(piece: &[u8], before: Option<&'static str>) -> Option<&'static str> {
    let has_digit = piece.iter().any(u8::is_ascii_digit);
    if has_digit && piece.iter().all(u8::is_ascii_digit) {
        return (piece.len() >= 4 || before == Some(NUMBER)).then_some(NUMBER);
    }
    if is_uuid(piece) {
        return Some(UUID);
    }
    let is_hex = has_digit && piece.len() >= 6 && piece.iter().all(u8::is_ascii_hexdigit);
    is_hex.then_some(HEX)
}

/// What stands for a segment that differs from user to user.
fn placeholder(segment: &[u8]) -> Option<&'static str> {
    // All kinds have a digit; most segments have none.
    if !segment.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b',');
    let is_hex = segment.iter().all(u8::is_ascii_hexdigit);
    if segment.iter().all(is_number) {
        Some(NUMBER)
    } else if is_uuid(segment) {
        Some(UUID)
    } else if segment.len() >= 8 && is_hex {
        Some(HEX)
    } else if is_token(segment) {
        Some(":token")
    } else {
        None
    }
}

fn is_uuid(segment: &[u8]) -> bool {
    let is_right = |(index, byte): (usize, &u8)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    segment.len() == UUID_BYTES && segment.iter().enumerate().all(is_right)
}

/// Whether it may be random bytes in base64: long, with letters of both cases and digits in one
/// piece. Titles of pages have them in several: `World_War_2_in_Europe`.
fn is_token(segment: &[u8]) -> bool {
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_=+~.%".contains(byte);
    let is_random = |piece: &[u8]| {
        piece.len() >= 12
            && piece.iter().any(u8::is_ascii_uppercase)
            && piece.iter().any(u8::is_ascii_lowercase)
            && piece.iter().any(u8::is_ascii_digit)
    };
    segment.len() >= 20
        && segment.iter().all(is_of_token)
        && segment.split(|byte| matches!(byte, b'.' | b'-' | b'_')).any(is_random)
}

/// Writes bytes, those that are no UTF-8 as replacement characters.
pub(super) fn push_text(bytes: &[u8], out: &mut String) {
    match str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(segment: &str) -> String {
        let mut out = String::new();
        push_template(segment.as_bytes(), &mut out);
        out
    }

    #[test]
    fn pieces_that_differ_from_file_to_file_are_left_out() {
        for (segment, expected) in [
            ("app.1008f4.js", "app.:hex.js"),
            ("report-2024-01-15.pdf", "report-:n.pdf"),
            ("shoes-red-4711.html", "shoes-red-:n.html"),
            ("cart_550e8400-e29b-41d4-a716-446655440000", "cart_:uuid"),
            ("550e8400-e29b-41d4-a716-446655440000-0001", ":uuid-:n"),
            ("straße-123456-ü", "straße-:n-ü"),
        ] {
            assert_eq!(template(segment), expected);
        }
    }

    #[test]
    fn names_with_short_numbers_are_kept() {
        for segment in ["jquery-3.6.0.min.js", "top-10-tips", "utf-8", "v1", "a-1-", "-", "1a"] {
            assert_eq!(template(segment), segment);
        }
        assert_eq!(template("World_War_2_in_Europe"), "World_War_2_in_Europe");
        assert_eq!(template("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"), ":token");
    }
}
