//! A text in tokens, by rules that are known, as the server itself divides it. It reads no grammar,
//! and any bytes are some tokens.

mod bytes;
mod mysql;
mod postgres;
mod quotes;
mod sqlite;

use crate::lexical_rules::{LexicalRules, TextCharset};
use dbtime_model::SqlDialect;

use bytes::{FirstByte, class_of};

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// White space and comments.
    Space,
    /// A keyword, or a name without quotes.
    Word,
    /// A name with its quotes.
    QuotedName,
    /// A string with its quotes and what is before them, or a number.
    Literal,
    /// The place of a parameter: `$1`.
    Parameter,
    /// A byte that stands for itself.
    Symbol,
    /// From here on it may be read in several ways, of which some have literals where others have
    /// none.
    Unclear,
}

/// A piece of a text: what it is, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SqlToken {
    pub(crate) kind: TokenKind,
    pub(crate) end: usize,
}

impl SqlToken {
    fn new(kind: TokenKind, end: usize) -> Self {
        Self { kind, end }
    }
}

/// One way to read texts: `LexicalRules` of which all is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownRules {
    pub(crate) dialect: SqlDialect,
    pub(crate) has_escapes: bool,
    pub(crate) quotes_names: bool,
    pub(crate) charset: TextCharset,
}

impl KnownRules {
    /// The way in which the server reads by default.
    pub(crate) fn usual(dialect: SqlDialect) -> Self {
        let rules = LexicalRules::defaults(dialect);
        let (has_escapes, quotes_names) = (rules.has_escapes, rules.quotes_names);
        Self {
            dialect,
            has_escapes: has_escapes == Some(true),
            quotes_names: quotes_names == Some(true),
            charset: TextCharset::Plain,
        }
    }

    /// Every way that these rules leave open for a text, the most likely first.
    pub(crate) fn all(rules: &LexicalRules, text: &[u8]) -> impl Iterator<Item = Self> {
        let rules = rules.narrowed_to(text);
        let (one, other) = rules.dialects();
        let dialects = [Some(one), other].into_iter().flatten();
        dialects.flat_map(move |dialect| Self::of(dialect, rules, text))
    }

    /// Every way of a dialect.
    fn of(dialect: SqlDialect, rules: LexicalRules, text: &[u8]) -> impl Iterator<Item = Self> {
        let LexicalRules { has_escapes, quotes_names, charset, .. } = rules;
        let usual = Self::usual(dialect);
        // The others' quotes are what they are.
        let quotes_names = match dialect {
            SqlDialect::Mysql => quotes_names,
            _ => Some(usual.quotes_names),
        };
        TextCharset::ALL
            .into_iter()
            .filter(move |one| charset.map_or_else(|| one.may_be_of(text), |known| known == *one))
            .flat_map(move |charset| {
                both(has_escapes, usual.has_escapes).flat_map(move |has_escapes| {
                    both(quotes_names, usual.quotes_names).map(move |quotes_names| Self {
                        dialect,
                        has_escapes,
                        quotes_names,
                        charset,
                    })
                })
            })
    }
}

/// What a rule may be.
fn both(known: Option<bool>, usual: bool) -> impl Iterator<Item = bool> {
    [usual, !usual].into_iter().filter(move |one| known.is_none_or(|known| known == *one))
}

/// Reads a text token by token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SqlLexer {
    rules: KnownRules,
    /// Within a comment of MySQL's whose text is executed: `/*! … */`.
    is_conditional: bool,
    /// Where MySQL's last number ended: a dot there belongs to none of its names.
    number_end: usize,
}

impl SqlLexer {
    pub(crate) fn new(rules: KnownRules) -> Self {
        Self { rules, is_conditional: false, number_end: usize::MAX }
    }

    /// The token that begins at `at`, which is within the text.
    #[inline]
    pub(crate) fn token(&mut self, text: &[u8], at: usize) -> SqlToken {
        match class_of(text[at]) {
            FirstByte::Space => {
                SqlToken::new(TokenKind::Space, skip(text, at, |class| class == FirstByte::Space))
            }
            FirstByte::Symbol => SqlToken::new(TokenKind::Symbol, at + 1),
            _ => match self.rules.dialect {
                SqlDialect::Postgres => postgres::token(self.rules, text, at),
                SqlDialect::Mysql => self.mysql_token(text, at),
                SqlDialect::Sqlite => sqlite::token(text, at),
            },
        }
    }
}

/// Where the bytes of these classes end that begin at `from`.
#[inline]
fn skip(text: &[u8], from: usize, is_skipped: impl Fn(FirstByte) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let length = rest.iter().position(|&byte| !is_skipped(class_of(byte)));
    from + length.unwrap_or(rest.len())
}

/// Where a word ends, of which every character may be of a name. Some charsets have characters with
/// a byte that is none of a name.
#[inline]
fn word_end(text: &[u8], from: usize, charset: TextCharset) -> usize {
    let is_of_word = |class: FirstByte| matches!(class, FirstByte::Word | FirstByte::Digit);
    // Nearly all texts are read this way alone.
    if charset == TextCharset::Plain {
        return skip(text, from, is_of_word);
    }
    let mut end = from;
    while let Some(&byte) = text.get(end)
        && is_of_word(class_of(byte))
    {
        end += if byte < 0x80 { 1 } else { charset.width(&text[end..]) };
    }
    end
}

/// Where a word ends whose name may have a dollar sign.
#[inline]
fn dollar_word_end(text: &[u8], from: usize, charset: TextCharset) -> usize {
    let mut end = word_end(text, from, charset);
    while text.get(end) == Some(&b'$') {
        end = word_end(text, end + 1, charset);
    }
    end
}

/// Where a comment ends that goes to the end of its line.
fn line_end(text: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len())
}

/// Where a comment ends whose text begins there; `None`: it does not.
fn comment_end(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.windows(2).position(|pair| pair == b"*/").map(|at| from + at + 2)
}

/// Where a number ends that begins there, with all that may belong to it: `0x1f`, `1.5`, `2e-3`,
/// `1_000`.
fn number_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        let is_sign = matches!(byte, b'+' | b'-')
            && at > from
            && matches!(text[at - 1], b'e' | b'E')
            && text.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b'_') && !is_sign {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests;
