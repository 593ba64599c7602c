//! The tokens of a text that are neither space nor comment, and how deep they stand.

use crate::joint_lexer::JointLexer;
use crate::lexer::TokenKind;
use crate::lexical_rules::LexicalRules;

/// How many parentheses around a whole statement are taken away.
const MAX_WRAPPINGS: usize = 64;

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutlineToken<'a> {
    pub(super) kind: TokenKind,
    pub(super) bytes: &'a [u8],
    /// Where it begins in the text. Unit: bytes.
    pub(super) from: usize,
    /// Within how many parentheses and brackets it stands; these themselves stand outside.
    pub(super) depth: u32,
}

impl OutlineToken<'_> {
    /// Whether it is this word, which has small letters.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.bytes.eq_ignore_ascii_case(word.as_bytes())
    }

    /// Whether it is one of these words.
    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    pub(super) fn is_symbol(&self, symbol: u8) -> bool {
        self.kind == TokenKind::Symbol && self.bytes == [symbol]
    }

    pub(super) fn end(&self) -> usize {
        self.from + self.bytes.len()
    }

    /// A word in small letters; empty: it is none.
    pub(super) fn lower(&self) -> String {
        match self.kind {
            TokenKind::Word => String::from_utf8_lossy(self.bytes).to_ascii_lowercase(),
            _ => String::new(),
        }
    }

    /// A name without its quotes, as it is written; `None`: it is none.
    pub(super) fn name(&self) -> Option<String> {
        let bytes = match (self.kind, self.bytes) {
            (TokenKind::Word, bytes) => bytes,
            (TokenKind::QuotedName, [_, name @ .., _]) => name,
            _ => return None,
        };
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The tokens of a text.
pub(super) fn tokens_of<'a>(sql: &'a str, rules: &LexicalRules) -> Vec<OutlineToken<'a>> {
    let mut lexer = JointLexer::new(sql.as_bytes(), rules);
    let mut tokens = Vec::new();
    let (mut from, mut depth) = (0, 0_u32);
    while let Some(token) = lexer.next() {
        let is_one_of =
            |symbols: [&[u8]; 2]| token.kind == TokenKind::Symbol && symbols.contains(&token.bytes);
        if is_one_of([b")", b"]"]) {
            depth = depth.saturating_sub(1);
        }
        if token.kind != TokenKind::Space {
            tokens.push(OutlineToken { kind: token.kind, bytes: token.bytes, from, depth });
        }
        if is_one_of([b"(", b"["]) {
            depth = depth.saturating_add(1);
        }
        from = lexer.position();
    }
    tokens
}

/// The same without parentheses around all of it, as far as anybody writes them.
pub(super) fn unwrapped<'t, 'a>(mut tokens: &'t [OutlineToken<'a>]) -> &'t [OutlineToken<'a>] {
    for _ in 0..MAX_WRAPPINGS {
        let [first, inner @ .., last] = tokens else { break };
        // What closes the first one stands as deep as it.
        let is_closed_before = inner.iter().any(|token| token.depth <= first.depth);
        if !first.is_symbol(b'(') || !last.is_symbol(b')') || is_closed_before {
            break;
        }
        tokens = inner;
    }
    tokens
}

/// Whether a word stands in a list of words with blanks between them.
pub(super) fn is_among(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
