//! Strings and names in quotes.

use super::{SqlToken, TokenKind};
use crate::lexical_rules::TextCharset;

/// What a backslash escapes.
#[derive(Clone, Copy, Debug)]
pub(super) enum EscapedUnit {
    /// MySQL: a byte, also of a character that has two.
    Byte,
    /// PostgreSQL, which has texts in its own charset before it reads them.
    Character,
}

/// A name in quotes, whose first byte stands at `from`. One that nothing closes may be anything.
pub(super) fn quoted_name(text: &[u8], from: usize, quote: u8, charset: TextCharset) -> SqlToken {
    match closed_end(text, from, quote, None, charset) {
        Some(end) => SqlToken::new(TokenKind::QuotedName, end),
        None => SqlToken::new(TokenKind::Literal, text.len()),
    }
}

/// Where what is quoted ends, if need be with the text; its first byte stands at `from`.
pub(super) fn quoted_end(
    text: &[u8],
    from: usize,
    quote: u8,
    escaped: Option<EscapedUnit>,
    charset: TextCharset,
) -> usize {
    closed_end(text, from, quote, escaped, charset).unwrap_or(text.len())
}

/// Behind the quote that closes it. One that is doubled closes nothing, nor one that an escape
/// keeps from it.
fn closed_end(
    text: &[u8],
    from: usize,
    quote: u8,
    escaped: Option<EscapedUnit>,
    charset: TextCharset,
) -> Option<usize> {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        if byte == quote {
            if text.get(at + 1) != Some(&quote) {
                return Some(at + 1);
            }
            at += 2;
        } else if let (b'\\', Some(unit)) = (byte, escaped) {
            at += 1 + match (unit, text.get(at + 1..)) {
                (EscapedUnit::Character, Some(rest)) => charset.width(rest),
                _ => 1,
            };
        } else if byte < 0x80 {
            at += 1;
        } else {
            at += charset.width(&text[at..]);
        }
    }
    None
}
