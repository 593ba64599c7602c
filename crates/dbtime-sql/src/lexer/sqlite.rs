//! Tokens as SQLite has them.
//! Source: SQLite's manual, "SQL As Understood By SQLite".

use super::quotes::{quoted_end, quoted_name};
use super::{FirstByte, SqlToken, TokenKind, class_of, comment_end, dollar_word_end, number_end};
use crate::lexical_rules::TextCharset;

pub(super) fn token(text: &[u8], at: usize) -> SqlToken {
    let next = text.get(at + 1).copied();
    let quoted = |from, quote| quoted_end(text, from, quote, None, TextCharset::Plain);
    match (text[at], next) {
        // What is in double quotes is a string where there is no such name.
        (quote @ (b'\'' | b'"'), _) => SqlToken::new(TokenKind::Literal, quoted(at + 1, quote)),
        (b'`', _) => quoted_name(text, at + 1, b'`', TextCharset::Plain),
        (b'[', _) => match super::line_end(text, at, |byte| byte == b']') {
            end if end < text.len() => SqlToken::new(TokenKind::QuotedName, end + 1),
            end => SqlToken::new(TokenKind::Literal, end),
        },
        (b'-', Some(b'-')) => {
            SqlToken::new(TokenKind::Space, super::line_end(text, at, |byte| byte == b'\n'))
        }
        (b'/', Some(b'*')) => {
            SqlToken::new(TokenKind::Space, comment_end(text, at + 2).unwrap_or(text.len()))
        }
        (b'$', Some(b'0'..=b'9')) => {
            SqlToken::new(TokenKind::Parameter, dollar_word_end(text, at + 1, TextCharset::Plain))
        }
        (b'.', Some(b'0'..=b'9')) | (b'0'..=b'9', _) => {
            SqlToken::new(TokenKind::Literal, number_end(text, at))
        }
        (byte, _) if class_of(byte) == FirstByte::Word => {
            let end = dollar_word_end(text, at, TextCharset::Plain);
            match (&text[at..end], text.get(end)) {
                (b"x" | b"X", Some(b'\'')) => {
                    SqlToken::new(TokenKind::Literal, quoted(end + 1, b'\''))
                }
                _ => SqlToken::new(TokenKind::Word, end),
            }
        }
        _ => SqlToken::new(TokenKind::Symbol, at + 1),
    }
}
