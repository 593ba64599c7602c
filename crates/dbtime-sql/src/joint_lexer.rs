//! A text read in all the ways that are left open at once. What is shown of it is no literal in
//! any.

use crate::lexer::{KnownRules, SqlLexer, SqlToken, TokenKind};
use crate::lexical_rules::LexicalRules;

/// Five charsets, with escapes and without: of PostgreSQL, and of MySQL with double quotes around
/// names or around strings.
const MAX_WAYS: usize = 30;

/// Reads a text token by token, in one way or in several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointLexer<'a> {
    text: &'a [u8],
    at: usize,
    lexers: [SqlLexer; MAX_WAYS],
    /// Of these, the first.
    ways: usize,
}

/// A token with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextToken<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) bytes: &'a [u8],
}

impl<'a> JointLexer<'a> {
    pub(crate) fn new(text: &'a [u8], rules: &LexicalRules) -> Self {
        let usual = KnownRules::usual(rules.dialects().0);
        let mut lexers = [SqlLexer::new(usual); MAX_WAYS];
        let mut ways = 0;
        for (lexer, rules) in lexers.iter_mut().zip(KnownRules::all(rules, text)) {
            *lexer = SqlLexer::new(rules);
            ways += 1;
        }
        Self { text, at: 0, lexers, ways }
    }

    /// How much of the text it has read. Unit: bytes.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Whether nothing follows.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }
}

impl<'a> Iterator for JointLexer<'a> {
    type Item = TextToken<'a>;

    #[inline]
    fn next(&mut self) -> Option<TextToken<'a>> {
        if self.is_at_end() {
            return None;
        }
        let from = self.at;
        let (first, others) = self.lexers[..self.ways].split_first_mut()?;
        let mut token = first.token(self.text, from);
        for other in others {
            token = agreed(token, other.token(self.text, from), self.text.len());
        }
        self.at = token.end;
        Some(TextToken { kind: token.kind, bytes: &self.text[from..token.end] })
    }
}

/// What both are.
fn agreed(one: SqlToken, other: SqlToken, length: usize) -> SqlToken {
    // A way in which it is not clear may end where another's literal does.
    let is_unclear = [one, other].iter().any(|token| token.kind == TokenKind::Unclear);
    match (one.end == other.end && !is_unclear, one.kind == other.kind) {
        (true, true) => one,
        // Quotes with a literal in one way, and with a name in the other.
        (true, false) => SqlToken { kind: TokenKind::Literal, end: one.end },
        (false, _) => SqlToken { kind: TokenKind::Unclear, end: length },
    }
}
