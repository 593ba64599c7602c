//! Lists of values, however long they are: `IN (1, 2, 3)`, `VALUES (1, 'a'), (2, 'b')`.

use crate::joint_lexer::{JointLexer, TextToken};
use crate::lexer::TokenKind;

/// Words that may stand in a list of values, beside names of functions.
const OF_VALUES: &str = "null default true false unknown interval date time timestamp cast as \
    array row current_timestamp current_date current_time localtime localtimestamp current_user not";

/// The lexer behind lists that begin with its next token and have nothing but values in them. The
/// error says how many bytes were read where there are none, or where a name would be lost.
pub(crate) fn behind_lists<'a>(lexer: &JointLexer<'a>) -> Result<JointLexer<'a>, usize> {
    let mut behind = behind_list(lexer.clone())?;
    loop {
        let mut more = behind.clone();
        if !next_is(&mut more, b",") {
            return Ok(behind);
        }
        let Ok(next) = behind_list(more) else { return Ok(behind) };
        behind = next;
    }
}

/// Whether the next token, but for space, is this one, which is taken then.
fn next_is(lexer: &mut JointLexer<'_>, symbol: &[u8]) -> bool {
    let next = lexer.find(|token| token.kind != TokenKind::Space);
    next.is_some_and(|token| token.kind == TokenKind::Symbol && token.bytes == symbol)
}

/// Behind one list, or how many bytes were read of what is none. One that the text does not end has
/// values as far as it goes.
fn behind_list(mut lexer: JointLexer<'_>) -> Result<JointLexer<'_>, usize> {
    let from = lexer.position();
    if !next_is(&mut lexer, b"(") {
        return Err(lexer.position() - from);
    }
    let (mut depth, mut is_type) = (1, false);
    while let Some(token) = lexer.next() {
        match (token.kind, token.bytes) {
            (TokenKind::Symbol, b"(") => depth += 1,
            (TokenKind::Symbol, b")") => depth -= 1,
            (TokenKind::Word, _) if !is_type && !is_of_values(&token, &lexer) => {
                return Err(lexer.position() - from);
            }
            (TokenKind::QuotedName, _) => return Err(lexer.position() - from),
            (TokenKind::Unclear, _) => return Ok(lexer),
            _ => {}
        }
        is_type = token.kind == TokenKind::Symbol && token.bytes == b":";
        if depth == 0 {
            return Ok(lexer);
        }
    }
    Ok(lexer)
}

/// Whether a word is none of a column's or table's name: a function, what a value begins with, or
/// the beginning of a word that was cut.
fn is_of_values(word: &TextToken<'_>, behind: &JointLexer<'_>) -> bool {
    let is = |other: &str| word.bytes.eq_ignore_ascii_case(other.as_bytes());
    let is_function = || !is("select") && next_is(&mut behind.clone(), b"(");
    let is_charset = || word.bytes[0] == b'_';
    OF_VALUES.split_ascii_whitespace().any(is)
        || is_charset()
        || behind.is_at_end()
        || is_function()
}
