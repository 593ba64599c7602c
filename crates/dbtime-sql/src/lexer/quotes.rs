//! Strings and names in quotes.

use crate::lexical_rules::TextCharset;

/// Where what is quoted ends, behind the quote that closes it; its first byte stands at `from`. A
/// quote that is doubled closes nothing, nor one that `escapes` keeps from it.
pub(super) fn quoted_end(
    text: &[u8],
    from: usize,
    quote: u8,
    has_escapes: bool,
    charset: TextCharset,
) -> usize {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        if byte == quote {
            if text.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 2;
        } else if byte == b'\\' && has_escapes {
            // What is escaped may be a character of two bytes.
            at += 1;
            at += text.get(at..).map_or(0, |rest| charset.width(rest));
        } else if byte < 0x80 {
            at += 1;
        } else {
            at += charset.width(&text[at..]);
        }
    }
    text.len()
}
