//! What is done with a text before it is parsed, by the rules of the server itself.

use crate::lexer::{KnownRules, SqlLexer, TokenKind};
use dbtime_model::SqlDialect;

/// Longer texts are not parsed. Unit: bytes.
const MAX_BYTES: usize = 64 << 10;
/// Brackets within brackets.
const MAX_DEPTH: usize = 50;
/// Operators, each of which may make the tree one level deeper.
const MAX_OPERATORS: usize = 128;
/// Words that are operators.
const OPERATORS: [&str; 16] = [
    "and",
    "or",
    "not",
    "xor",
    "is",
    "in",
    "like",
    "ilike",
    "between",
    "union",
    "except",
    "intersect",
    "collate",
    "div",
    "mod",
    "case",
];

/// Whether parsing a text can exhaust no stack.
pub(super) fn is_bounded(sql: &str, dialect: SqlDialect) -> bool {
    let text = sql.as_bytes();
    if text.len() > MAX_BYTES {
        return false;
    }
    let mut lexer = SqlLexer::new(KnownRules::usual(dialect));
    let (mut at, mut depth, mut operators) = (0, 0_usize, 0_usize);
    while at < text.len() {
        let token = lexer.token(text, at);
        let piece = &text[at..token.end];
        let is_word = |word: &&str| piece.eq_ignore_ascii_case(word.as_bytes());
        match (token.kind, piece) {
            (TokenKind::Unclear, _) => return false,
            (TokenKind::Symbol, b"(" | b"[" | b"{") => depth += 1,
            (TokenKind::Symbol, b")" | b"]" | b"}") => depth = depth.saturating_sub(1),
            (TokenKind::Symbol, b"," | b"." | b";") => {}
            (TokenKind::Symbol, _) => operators += 1,
            (TokenKind::Word, _) if OPERATORS.iter().any(is_word) => operators += 1,
            _ => {}
        }
        if depth > MAX_DEPTH || operators > MAX_OPERATORS {
            return false;
        }
        at = token.end;
    }
    true
}

/// The text with the places of parameters numbered: `$1` for the first `?`. `None`: it has numbers
/// already, or it may be read in several ways.
pub(super) fn numbered(sql: &str, dialect: SqlDialect) -> Option<String> {
    // In PostgreSQL it is an operator.
    if dialect == SqlDialect::Postgres || !sql.contains('?') {
        return Some(sql.to_owned());
    }
    let text = sql.as_bytes();
    let mut lexer = SqlLexer::new(KnownRules::usual(dialect));
    let (mut at, mut count, mut out) = (0, 0, String::new());
    while at < text.len() {
        let token = lexer.token(text, at);
        match (token.kind, &text[at..token.end]) {
            (TokenKind::Symbol, b"?") => {
                // `?5` of SQLite is a name.
                if text.get(token.end).is_some_and(u8::is_ascii_digit) {
                    return None;
                }
                count += 1;
                out.push_str(&format!("${count}"));
            }
            (TokenKind::Parameter | TokenKind::Unclear, _) | (_, [b'$', ..]) => return None,
            _ => out.push_str(sql.get(at..token.end)?),
        }
        at = token.end;
    }
    Some(out)
}
