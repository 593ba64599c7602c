//! How a server reads the text of statements, where that depends on the product or on the session.

use dbtime_model::{SqlDialect, WireProtocol};

/// U+FFFD in UTF-8.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// How a text is divided into tokens. What is not known (`None`) may be either, and a text is read
/// both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LexicalRules {
    /// `None`: either of those that have a protocol.
    pub(crate) dialect: Option<SqlDialect>,
    /// Whether a backslash escapes the next byte of a string without a prefix.
    pub(crate) has_escapes: Option<bool>,
    /// Whether double quotes are around names.
    pub(crate) quotes_names: Option<bool>,
    pub(crate) charset: Option<TextCharset>,
}

impl LexicalRules {
    /// The rules of a session that has changed none of its server's defaults, in UTF-8.
    pub const fn defaults(dialect: SqlDialect) -> Self {
        let (has_escapes, quotes_names) = match dialect {
            SqlDialect::Postgres => (false, true),
            SqlDialect::Mysql => (true, false),
            // Where there is no such name SQLite takes it for a string.
            SqlDialect::Sqlite => (false, false),
        };
        Self {
            dialect: Some(dialect),
            has_escapes: Some(has_escapes),
            quotes_names: Some(quotes_names),
            charset: Some(TextCharset::Plain),
        }
    }

    /// The rules of a session of which nothing is known but what the server is.
    pub const fn unknown(dialect: SqlDialect) -> Self {
        match dialect {
            SqlDialect::Sqlite => Self::defaults(dialect),
            SqlDialect::Postgres => {
                Self { has_escapes: None, charset: None, ..Self::defaults(dialect) }
            }
            SqlDialect::Mysql => {
                let dialect = Some(dialect);
                Self { dialect, has_escapes: None, quotes_names: None, charset: None }
            }
        }
    }

    /// The rules of a session of which nothing is known but what it speaks; `None`: not even that.
    pub const fn of_protocol(protocol: Option<WireProtocol>) -> Self {
        match protocol {
            Some(protocol) => Self::unknown(protocol.dialect()),
            None => Self { dialect: None, ..Self::unknown(SqlDialect::Mysql) },
        }
    }

    /// The same with what is known of backslashes: `standard_conforming_strings` off, and no
    /// `NO_BACKSLASH_ESCAPES`.
    #[must_use]
    pub const fn with_escapes(self, has_escapes: Option<bool>) -> Self {
        Self { has_escapes, ..self }
    }

    /// The same with what is known of double quotes: `ANSI_QUOTES`. PostgreSQL's are around names.
    #[must_use]
    pub const fn with_quoted_names(self, quotes_names: Option<bool>) -> Self {
        match self.dialect {
            Some(SqlDialect::Mysql) => Self { quotes_names, ..self },
            _ => self,
        }
    }

    /// The same with the charset of the client.
    #[cfg(test)]
    pub(crate) const fn with_charset(self, charset: Option<TextCharset>) -> Self {
        Self { charset, ..self }
    }

    /// Which dialect it may be.
    pub(crate) fn dialects(&self) -> (SqlDialect, Option<SqlDialect>) {
        match self.dialect {
            Some(known) => (known, None),
            None => (SqlDialect::Mysql, Some(SqlDialect::Postgres)),
        }
    }

    /// The same without what makes no difference to this text: one that has no backslash, no double
    /// quote or bracket and no byte of other charsets reads alike in all ways.
    pub(crate) fn narrowed_to(&self, text: &[u8]) -> Self {
        let has = |byte| memchr::memchr(byte, text).is_some();
        let (has_escapes, quotes_names) = (self.has_escapes, self.quotes_names);
        let has_quotes = has(b'"') || has(b'[');
        Self {
            dialect: self.dialect,
            has_escapes: if has(b'\\') { has_escapes } else { Some(has_escapes == Some(true)) },
            quotes_names: if has_quotes { quotes_names } else { Some(quotes_names == Some(true)) },
            charset: if text.is_ascii() { Some(TextCharset::Plain) } else { self.charset },
        }
    }
}

/// Charsets, by which of their characters have a byte that is a backslash, or a backtick. None has
/// one that is a quote or a dollar sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TextCharset {
    /// No character has: UTF-8, and all that have one byte for each. One of UHC or EUC-KR may have
    /// a letter, which is of a name by itself too; PostgreSQL takes none of JOHAB with a byte of
    /// ASCII.
    Plain,
    /// GBK and GB 18030.
    Gbk,
    Big5,
    /// Shift JIS and cp932.
    Sjis,
    /// Any, of a text in which U+FFFD stands for what was no UTF-8: which bytes were a character's
    /// is lost with it, and each behind one of another character may have been.
    Replaced,
}

impl TextCharset {
    pub(crate) const ALL: [Self; 5] =
        [Self::Plain, Self::Gbk, Self::Big5, Self::Sjis, Self::Replaced];

    /// Whether a text can be read as if it were in this one.
    pub(crate) fn may_be_of(self, text: &[u8]) -> bool {
        // A byte that few texts have is looked for at less cost than three.
        let mut leads = memchr::memchr_iter(REPLACEMENT[0], text);
        self != Self::Replaced || leads.any(|at| text[at..].starts_with(REPLACEMENT))
    }

    /// How many bytes the character that begins there has.
    pub(crate) fn width(self, bytes: &[u8]) -> usize {
        let (Some(&lead), Some(&trail)) = (bytes.first(), bytes.get(1)) else { return 1 };
        let low = matches!(trail, 0x40..=0x7e);
        let is_wide = match self {
            Self::Plain => false,
            Self::Gbk => matches!(lead, 0x81..=0xfe) && (low || matches!(trail, 0x80..=0xfe)),
            Self::Big5 => matches!(lead, 0xa1..=0xf9) && (low || matches!(trail, 0xa1..=0xfe)),
            Self::Sjis => {
                matches!(lead, 0x81..=0x9f | 0xe0..=0xfc) && (low || matches!(trail, 0x80..=0xfc))
            }
            Self::Replaced => lead >= 0x80 && low,
        };
        1 + usize::from(is_wide)
    }
}
