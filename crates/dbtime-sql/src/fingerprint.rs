//! What is left of a statement without its literals, so that statements can be told apart.
//!
//! ```text
//!   SELECT c FROM t1 WHERE id=42 AND s='x'    SELECT c FROM t1 WHERE id=? AND s=?
//!   UPDATE t SET a = -1.5                     UPDATE t SET a = ?
//!   … IN (1, 2, 3)                            … IN (...)
//!   INSERT INTO t VALUES (1,'a'), (2,'b')     INSERT INTO t VALUES (...)
//!   SAVEPOINT s17                             SAVEPOINT ?
//! ```
//!
//! Comments are left out, and space is one blank. A password that lacks its quotes is taken for a
//! literal. It reads no grammar: any bytes give some fingerprint.

use crate::joint_lexer::{JointLexer, TextToken};
use crate::lexer::TokenKind;
use crate::lexical_rules::LexicalRules;
use crate::made_up_names::MadeUpNames;
use crate::password_places::PasswordFinder;
use crate::value_lists::behind_lists;

/// Longer ones are cut: the rest of a statement seldom tells it apart.
const MAX_TEXT_BYTES: usize = 4096;

/// Writes the fingerprint of a statement into `out`, a text in UTF-8 or in any charset. Where the
/// rules leave open what is a literal, all that may be one is left out.
pub fn fingerprint(sql: impl AsRef<[u8]>, rules: &LexicalRules, out: &mut String) {
    out.clear();
    let mut lexer = JointLexer::new(sql.as_ref(), rules);
    let mut names = MadeUpNames::default();
    let mut passwords = PasswordFinder::default();
    let mut is_password = false;
    let mut in_vain = 0;
    while out.len() < MAX_TEXT_BYTES {
        let Some(token) = lexer.next() else { break };
        let is_behind_password = is_password;
        is_password = passwords.is_password(&token);
        if is_password {
            // Its pieces are one.
            if !is_behind_password {
                names.pass_value();
                out.push('?');
            }
            continue;
        }
        match token.kind {
            TokenKind::Space => push_blank(out),
            TokenKind::Word | TokenKind::QuotedName if names.is_made_up(token.bytes) => {
                out.push('?');
            }
            TokenKind::Word => push_word(&token, &mut lexer, &mut in_vain, out),
            TokenKind::QuotedName => push_bytes(token.bytes, out),
            TokenKind::Literal => {
                names.pass_value();
                push_literal(&token, out);
            }
            TokenKind::Parameter => {
                names.pass_value();
                out.push('?');
            }
            TokenKind::Symbol => {
                push_bytes(token.bytes, out);
                if token.bytes == b";" {
                    names = MadeUpNames::default();
                }
            }
            TokenKind::Unclear => {
                out.push('?');
                break;
            }
        }
    }
    out.truncate(out.trim_end().len());
}

/// A keyword or name; behind some keywords a list follows. What was read `in_vain` for lists that
/// have names in them is bounded: such lists may lie in each other.
fn push_word(
    word: &TextToken<'_>,
    lexer: &mut JointLexer<'_>,
    in_vain: &mut usize,
    out: &mut String,
) {
    push_bytes(word.bytes, out);
    let is = |other: &[u8]| word.bytes.eq_ignore_ascii_case(other);
    let begins_list = matches!(word.bytes.len(), 2 | 6) && (is(b"in") || is(b"values"));
    if !begins_list || *in_vain > MAX_TEXT_BYTES {
        return;
    }
    match behind_lists(lexer) {
        Ok(behind) => {
            out.push_str(" (...)");
            *lexer = behind;
        }
        Err(read) => *in_vain += read,
    }
}

fn push_literal(literal: &TextToken<'_>, out: &mut String) {
    if matches!(literal.bytes[0], b'0'..=b'9' | b'.') {
        drop_sign(out);
    }
    out.push('?');
}

/// A minus behind an operator or a parenthesis belongs to the number that follows; behind a name or
/// a value it subtracts.
fn drop_sign(out: &mut String) {
    let before = out.strip_suffix('-').and_then(|before| before.trim_end().bytes().last());
    if before.is_some_and(|byte| matches!(byte, b'=' | b'<' | b'>' | b'(' | b',' | b'+' | b'*')) {
        out.pop();
    }
}

fn push_bytes(bytes: &[u8], out: &mut String) {
    match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    }
}

fn push_blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests;
