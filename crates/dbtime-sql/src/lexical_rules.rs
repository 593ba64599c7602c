//! How a server reads the text of statements, where that depends on the product or on the session.

use dbtime_model::SqlDialect;

/// How a text is divided into tokens. What is not known (`None`) may be either, and a text is read
/// both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LexicalRules {
    pub(crate) dialect: SqlDialect,
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
            dialect,
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
                Self { dialect, has_escapes: None, quotes_names: None, charset: None }
            }
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
            SqlDialect::Mysql => Self { quotes_names, ..self },
            _ => self,
        }
    }

    /// The same with the charset of the client.
    #[must_use]
    pub const fn with_charset(self, charset: Option<TextCharset>) -> Self {
        Self { charset, ..self }
    }
}

/// Charsets, by which of their characters have a byte that is a backslash, or a backtick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextCharset {
    /// No character has: UTF-8, and all that have one byte for each.
    Plain,
    /// GBK and GB 18030.
    Gbk,
    /// Big5.
    Big5,
    /// Shift JIS and cp932.
    Sjis,
}

impl TextCharset {
    pub(crate) const ALL: [Self; 4] = [Self::Plain, Self::Gbk, Self::Big5, Self::Sjis];

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
        };
        1 + usize::from(is_wide)
    }
}
