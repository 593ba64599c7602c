//! Tokens as PostgreSQL has them.
//! Source: PostgreSQL 15's manual, "Lexical Structure".

use super::quotes::{EscapedUnit, quoted_end, quoted_name};
use super::{
    FirstByte, KnownRules, SqlToken, TokenKind, class_of, dollar_word_end, line_end, number_end,
};
use crate::lexical_rules::TextCharset;

pub(super) fn token(rules: KnownRules, text: &[u8], at: usize) -> SqlToken {
    let next = text.get(at + 1).copied();
    match (text[at], next) {
        (b'\'', _) => string(rules, text, at + 1, rules.has_escapes),
        (b'"', _) => quoted_name(text, at + 1, b'"', rules.charset),
        (b'-', Some(b'-')) => SqlToken::new(TokenKind::Space, comment_line_end(text, at)),
        (b'/', Some(b'*')) => SqlToken::new(TokenKind::Space, nested_comment_end(text, at + 2)),
        (b'$', Some(b'0'..=b'9')) => {
            let end = super::skip(text, at + 1, |class| class == FirstByte::Digit);
            SqlToken::new(TokenKind::Parameter, end)
        }
        (b'$', _) => dollar_quoted(rules, text, at),
        (b'.', Some(b'0'..=b'9')) | (b'0'..=b'9', _) => {
            SqlToken::new(TokenKind::Literal, number_end(text, at))
        }
        (byte, _) if class_of(byte) == FirstByte::Word => word(rules, text, at),
        _ => SqlToken::new(TokenKind::Symbol, at + 1),
    }
}

fn quoted(rules: KnownRules, text: &[u8], from: usize, has_escapes: bool) -> usize {
    let escaped = has_escapes.then_some(EscapedUnit::Character);
    quoted_end(text, from, b'\'', escaped, rules.charset)
}

/// A string, which goes on behind the end of a line where another quote follows. What follows is
/// read as its beginning was.
fn string(rules: KnownRules, text: &[u8], from: usize, has_escapes: bool) -> SqlToken {
    let mut end = quoted(rules, text, from, has_escapes);
    while let Some(more) = continuation(text, end) {
        end = quoted(rules, text, more, has_escapes);
    }
    SqlToken::new(TokenKind::Literal, end)
}

/// Where the text of a string goes on whose quote was closed there.
fn continuation(text: &[u8], closed: usize) -> Option<usize> {
    let mut at = closed;
    let mut has_line_end = false;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\n' | b'\r' => has_line_end = true,
            b'-' if text.get(at + 1) == Some(&b'-') => {
                at = comment_line_end(text, at);
                continue;
            }
            b'\'' if has_line_end => return Some(at + 1),
            _ if class_of(byte) == FirstByte::Space => {}
            _ => return None,
        }
        at += 1;
    }
    None
}

fn comment_line_end(text: &[u8], at: usize) -> usize {
    line_end(text, at, |byte| matches!(byte, b'\n' | b'\r'))
}

/// Where a comment ends that may have others in it.
fn nested_comment_end(text: &[u8], from: usize) -> usize {
    let mut depth = 1;
    let mut at = from;
    while at < text.len() {
        let (step, change) = match text.get(at..at + 2) {
            Some(b"/*") => (2, 1),
            Some(b"*/") => (2, -1),
            _ => (1, 0),
        };
        at += step;
        depth += change;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// `$$…$$`, or with a name between the dollar signs; a dollar sign alone is none.
fn dollar_quoted(rules: KnownRules, text: &[u8], at: usize) -> SqlToken {
    let named = super::word_end(text, at + 1, rules.charset);
    if text.get(named) != Some(&b'$') {
        return SqlToken::new(TokenKind::Symbol, at + 1);
    }
    let mark = &text[at..=named];
    // Marks that were different may be alike now.
    if rules.charset == TextCharset::Replaced && rules.charset.may_be_of(mark) {
        return SqlToken::new(TokenKind::Unclear, text.len());
    }
    let rest = &text[named + 1..];
    let length = memchr::memmem::find(rest, mark).map_or(rest.len(), |at| at + mark.len());
    SqlToken::new(TokenKind::Literal, named + 1 + length)
}

/// A keyword or a name; a letter before a quote belongs to the string.
fn word(rules: KnownRules, text: &[u8], at: usize) -> SqlToken {
    let end = dollar_word_end(text, at, rules.charset);
    let is_quoted = text.get(end) == Some(&b'\'');
    match &text[at..end] {
        b"e" | b"E" if is_quoted => string(rules, text, end + 1, true),
        b"b" | b"B" | b"x" | b"X" if is_quoted => string(rules, text, end + 1, false),
        b"n" | b"N" if is_quoted => string(rules, text, end + 1, rules.has_escapes),
        b"u" | b"U" if text.get(end..end + 2) == Some(b"&'") => string(rules, text, end + 2, false),
        _ => SqlToken::new(TokenKind::Word, end),
    }
}
