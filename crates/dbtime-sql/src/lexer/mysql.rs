//! Tokens as MySQL and MariaDB have them.
//! Source: MySQL 8.4's manual, "Language Structure"; MariaDB's, "Comment Syntax".

use super::quotes::{EscapedUnit, quoted_end, quoted_name};
use super::{
    FirstByte, SqlLexer, SqlToken, TokenKind, class_of, comment_end, dollar_word_end, line_end,
};

/// Texts of conditional comments for an older server than this are executed by every server there
/// is.
const OLDEST_SERVER: u32 = 50_500;

impl SqlLexer {
    pub(super) fn mysql_token(&mut self, text: &[u8], at: usize) -> SqlToken {
        let next = text.get(at + 1).copied();
        match (text[at], next) {
            (b'\'', _) => self.string(text, at + 1, b'\''),
            (b'"', _) if self.rules.quotes_names => {
                quoted_name(text, at + 1, b'"', self.rules.charset)
            }
            // With ANSI_QUOTES MariaDB may be in a mode that has names in brackets.
            (b'[', _) if self.rules.quotes_names => SqlToken::new(TokenKind::Unclear, text.len()),
            (b'"', _) => self.string(text, at + 1, b'"'),
            (b'`', _) => quoted_name(text, at + 1, b'`', self.rules.charset),
            (b'#', _) => SqlToken::new(TokenKind::Space, line_end(text, at, |byte| byte == b'\n')),
            (b'-', Some(b'-')) if begins_comment(text.get(at + 2)) => {
                SqlToken::new(TokenKind::Space, line_end(text, at, |byte| byte == b'\n'))
            }
            // In some charsets such a byte is white space.
            (b'-', Some(b'-')) if text[at + 2] >= 0x80 => {
                SqlToken::new(TokenKind::Unclear, text.len())
            }
            (b'/', Some(b'*')) => self.comment(text, at),
            (b'*', Some(b'/')) if self.is_conditional => {
                self.is_conditional = false;
                SqlToken::new(TokenKind::Space, at + 2)
            }
            (b'.', Some(b'0'..=b'9')) if at == self.number_end || !follows_name(text, at) => {
                self.number(fraction_end(text, at))
            }
            (b'0'..=b'9', _) => self.digits(text, at),
            (byte, _) if byte == b'$' || class_of(byte) == FirstByte::Word => self.word(text, at),
            _ => SqlToken::new(TokenKind::Symbol, at + 1),
        }
    }

    fn string(&self, text: &[u8], from: usize, quote: u8) -> SqlToken {
        let escaped = self.rules.has_escapes.then_some(EscapedUnit::Byte);
        let end = quoted_end(text, from, quote, escaped, self.rules.charset);
        SqlToken::new(TokenKind::Literal, end)
    }

    /// A keyword or a name; a letter before a quote belongs to the string.
    fn word(&self, text: &[u8], at: usize) -> SqlToken {
        let end = dollar_word_end(text, at, self.rules.charset);
        match (&text[at..end], text.get(end)) {
            (b"n" | b"N" | b"x" | b"X" | b"b" | b"B", Some(b'\'')) => {
                self.string(text, end + 1, b'\'')
            }
            // MySQL 9 has strings between dollar signs.
            ([b'$', name @ ..], _) if name.contains(&b'$') => {
                SqlToken::new(TokenKind::Unclear, text.len())
            }
            _ => SqlToken::new(TokenKind::Word, end),
        }
    }

    /// A number, or a name that begins with digits.
    fn digits(&mut self, text: &[u8], at: usize) -> SqlToken {
        // Behind a dot it is a part of a name: a number has taken its own.
        let is_part = at > 0 && text[at - 1] == b'.';
        let end = dollar_word_end(text, at, self.rules.charset);
        let run = &text[at..end];
        match run {
            _ if is_part => SqlToken::new(TokenKind::Word, end),
            [b'0', b'x', hex @ ..] if hex.iter().all(u8::is_ascii_hexdigit) => self.number(end),
            [b'0', b'b', bits @ ..] if bits.iter().all(|bit| matches!(bit, b'0' | b'1')) => {
                self.number(end)
            }
            // In some charsets what is behind it is white space.
            _ if !run.is_ascii() => self.number(end),
            _ => match fraction_end(text, at) {
                // More of a name behind what may be a number: it is none, but with an exponent.
                number if number < end && !has_exponent(&text[at..number]) => {
                    SqlToken::new(TokenKind::Word, end)
                }
                number => self.number(number),
            },
        }
    }

    fn number(&mut self, end: usize) -> SqlToken {
        self.number_end = end;
        SqlToken::new(TokenKind::Literal, end)
    }

    /// A comment is space. The text of a conditional one is executed, by all servers or by some:
    /// where it ends elsewhere for these, there is no telling what is behind.
    fn comment(&mut self, text: &[u8], at: usize) -> SqlToken {
        let Some(end) = comment_end(text, at + 2) else {
            return match condition(text, at) {
                Some(_) => SqlToken::new(TokenKind::Unclear, text.len()),
                None => SqlToken::new(TokenKind::Space, text.len()),
            };
        };
        match condition(text, at) {
            // There is none in a comment that is executed.
            None if self.is_conditional => SqlToken::new(TokenKind::Unclear, text.len()),
            None => SqlToken::new(TokenKind::Space, end),
            Some(_) if self.is_conditional => SqlToken::new(TokenKind::Unclear, text.len()),
            Some(comment) => {
                let ends_there = self.conditional_end(text, comment.from) == Some(end);
                match (comment.is_executed, ends_there) {
                    (Some(true), _) | (None, true) => {
                        self.is_conditional = true;
                        SqlToken::new(TokenKind::Space, comment.from)
                    }
                    (Some(false), true) => SqlToken::new(TokenKind::Space, end),
                    (Some(false) | None, false) => SqlToken::new(TokenKind::Unclear, text.len()),
                }
            }
        }
    }

    /// Where the text of a conditional comment ends if it is read as what is executed.
    fn conditional_end(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut lexer = Self { is_conditional: true, ..*self };
        let mut at = from;
        while at < text.len() {
            let token = lexer.token(text, at);
            at = token.end;
            if token.kind == TokenKind::Unclear {
                return None;
            }
            if !lexer.is_conditional {
                return Some(at);
            }
        }
        None
    }
}

/// A comment whose text may be executed.
struct ConditionalComment {
    /// Where its text begins.
    from: usize,
    /// `None`: that depends on the server.
    is_executed: Option<bool>,
}

/// `/*!`, with a version or without, `/*M!` of MariaDB's, and `/*+` of hints, which no server
/// executes.
fn condition(text: &[u8], at: usize) -> Option<ConditionalComment> {
    let rest = &text[at + 2..];
    let (length, is_for_all) = match rest {
        [b'!', ..] => (1, true),
        [b'M', b'!', ..] => (2, false),
        [b'+', ..] => return Some(ConditionalComment { from: at + 3, is_executed: Some(false) }),
        _ => return None,
    };
    let digits = rest[length..].iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    // A version has five digits or six.
    let digits = if digits < 5 { 0 } else { digits };
    let version = rest[length..][..digits]
        .iter()
        .fold(0, |version, digit| 10 * version + u32::from(digit - b'0'));
    let is_executed = (is_for_all && version < OLDEST_SERVER).then_some(true);
    Some(ConditionalComment { from: at + 2 + length + digits, is_executed })
}

/// Whether two dashes before this byte begin a comment.
fn begins_comment(next: Option<&u8>) -> bool {
    next.is_none_or(|&byte| class_of(byte) == FirstByte::Space || byte.is_ascii_control())
}

/// Whether a number has an exponent with a digit.
fn has_exponent(number: &[u8]) -> bool {
    number.iter().any(|byte| matches!(byte, b'e' | b'E'))
        && number.last().is_some_and(u8::is_ascii_digit)
}

/// Whether a dot stands directly behind a name, of which what follows is a part then.
fn follows_name(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    before.is_some_and(|byte| {
        matches!(byte, b'`' | b'"' | b'$')
            || matches!(class_of(byte), FirstByte::Word | FirstByte::Digit)
    })
}

/// Where a decimal number ends, with its fraction and exponent, of which the text may have the
/// beginning alone.
fn fraction_end(text: &[u8], from: usize) -> usize {
    let digits = |from| super::skip(text, from, |class| class == FirstByte::Digit);
    let mut end = digits(from);
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(signed);
        if exponent > signed || signed == text.len() {
            return exponent;
        }
    }
    end
}
