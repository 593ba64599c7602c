//! A text read in all the ways that are left open at once. What is shown of it is no literal in
//! any.

use crate::lexer::{KnownRules, SqlLexer, SqlToken, TokenKind};
use crate::lexical_rules::LexicalRules;

/// Reads a text token by token, in one way or in several.
#[derive(Clone, Debug)]
pub(crate) struct JointLexer<'a> {
    text: &'a [u8],
    at: usize,
    first: SqlLexer,
    /// The other ways. Nearly all texts have none, and a copy of the lexer costs nothing then.
    others: Vec<SqlLexer>,
}

/// A token with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextToken<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) bytes: &'a [u8],
}

impl<'a> JointLexer<'a> {
    pub(crate) fn new(text: &'a [u8], rules: &LexicalRules) -> Self {
        let mut ways = KnownRules::all(rules, text);
        let first = ways.next().unwrap_or_else(|| KnownRules::usual(rules.dialects().0));
        let others = ways.map(SqlLexer::new).collect();
        Self { text, at: 0, first: SqlLexer::new(first), others }
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
        let mut token = self.first.token(self.text, from);
        for other in &mut self.others {
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
