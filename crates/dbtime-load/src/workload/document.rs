//! A TOML document whose every value knows its line: the one way workload files are read.
//!
//! Values are taken out by hand rather than derived, so that each error can say what was found and
//! what was expected, and a misspelt key is answered with the nearest one.

use super::error::{SourcePosition, WorkloadError};
use dbtime_model::near_names::hint;
pub(crate) use dbtime_model::plain_text::abridged;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) type DocumentResult<T> = Result<T, WorkloadError>;

/// A file: its name and its text.
#[derive(Clone, Copy)]
pub(crate) struct TomlDocument<'d> {
    pub(crate) path: &'d Path,
    pub(crate) text: &'d str,
}

impl<'d> TomlDocument<'d> {
    /// The longest file that is read; a workload is written by hand.
    const MAX_DOCUMENT_BYTES: usize = 4 << 20;

    /// Parses the text.
    pub(crate) fn parse(&self) -> DocumentResult<Spanned<DeTable<'d>>> {
        if self.text.len() > Self::MAX_DOCUMENT_BYTES {
            let found = format!("{} bytes", self.text.len());
            return Err(self.unexpected(
                0,
                found,
                format!("at most {} bytes", Self::MAX_DOCUMENT_BYTES),
            ));
        }
        DeTable::parse(self.text).map_err(|error| WorkloadError::Syntax {
            place: self.place(error.span().map_or(0, |span| span.start)),
            message: error.message().trim().replace('\n', ", "),
        })
    }

    /// The line and column of a byte offset.
    pub(crate) fn place(&self, offset: usize) -> SourcePosition {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let lines = before.iter().filter(|&&b| b == b'\n').count();
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count();
        SourcePosition {
            path: self.path.to_string_lossy().into(),
            line: lines as u32 + 1,
            column: column as u32 + 1,
        }
    }

    /// An error at a byte offset.
    pub(crate) fn unexpected(
        &self,
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> WorkloadError {
        let found = found.into();
        let expected = expected.into();
        WorkloadError::Unexpected { place: self.place(offset), found, expected }
    }
}

/// A table of the document.
#[derive(Clone)]
pub(crate) struct DocumentSection<'t, 'd> {
    pub(crate) document: TomlDocument<'d>,
    table: &'t DeTable<'d>,
    start: usize,
    /// What it is, for messages: `table `account``.
    pub(crate) title: String,
}

impl<'t, 'd> DocumentSection<'t, 'd> {
    /// The whole document.
    pub(crate) fn root(document: TomlDocument<'d>, table: &'t DeTable<'d>) -> Self {
        Self { document, table, start: 0, title: "a workload file".to_owned() }
    }

    /// Refuses every key that is not among `known`.
    pub(crate) fn allow(&self, known: &[&str]) -> DocumentResult<()> {
        let unknown = self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        // The first in the file, not in the alphabet.
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        Err(WorkloadError::UnknownKey {
            place: self.document.place(key.span().start),
            found: abridged(key.get_ref()),
            section: self.title.clone(),
            hint: hint(key.get_ref(), known.iter().copied()),
        })
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<DocumentNode<'t, 'd>> {
        self.table.get(key).map(|value| DocumentNode { document: self.document, value })
    }

    /// The value of a key that must be there.
    pub(crate) fn need(&self, key: &str, expected: &str) -> DocumentResult<DocumentNode<'t, 'd>> {
        self.get(key).ok_or_else(|| WorkloadError::MissingKey {
            place: self.document.place(self.start),
            section: self.title.clone(),
            key: key.to_owned(),
            expected: expected.to_owned(),
        })
    }

    /// The keys and their values, in the order of the alphabet.
    pub(crate) fn entries(
        &self,
    ) -> impl Iterator<Item = (&'t str, DocumentNode<'t, 'd>)> + use<'t, 'd> {
        let document = self.document;
        self.table
            .iter()
            .map(move |(key, value)| (key.get_ref().as_ref(), DocumentNode { document, value }))
    }

    /// An error about the table as a whole.
    pub(crate) fn unexpected(
        &self,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> WorkloadError {
        self.document.unexpected(self.start, found, expected)
    }

    /// A text, or nothing where the key is not there.
    pub(crate) fn text(&self, key: &str) -> DocumentResult<Option<&'t str>> {
        self.get(key).map(|node| node.text()).transpose()
    }

    /// Yes or no; no where the key is not there.
    pub(crate) fn flag(&self, key: &str) -> DocumentResult<bool> {
        self.get(key).map_or(Ok(false), |node| match node.value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(node.unexpected("true or false")),
        })
    }

    /// The tables of an array of tables; none where the key is not there.
    pub(crate) fn sections(&self, key: &str) -> DocumentResult<Vec<DocumentSection<'t, 'd>>> {
        let Some(node) = self.get(key) else { return Ok(Vec::new()) };
        let title = format!("`{key}`");
        node.list()?.into_iter().map(|node| node.section(&title)).collect()
    }
}

/// A value of the document.
#[derive(Clone, Copy)]
pub(crate) struct DocumentNode<'t, 'd> {
    pub(crate) document: TomlDocument<'d>,
    pub(crate) value: &'t Spanned<DeValue<'d>>,
}

impl<'t, 'd> DocumentNode<'t, 'd> {
    pub(crate) fn place(&self) -> SourcePosition {
        self.document.place(self.span().start)
    }

    fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// An error that shows this value as what was found.
    pub(crate) fn unexpected(&self, expected: impl Into<String>) -> WorkloadError {
        let found = match self.value.get_ref() {
            DeValue::String(text) => format!("\"{}\"", abridged(text)),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(when) => when.to_string(),
            DeValue::Array(list) if list.is_empty() => "an empty list".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.document.unexpected(self.span().start, abridged(&found), expected)
    }

    /// An error at this value.
    pub(crate) fn refuse(
        &self,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> WorkloadError {
        self.document.unexpected(self.span().start, found, expected)
    }

    /// The error that this value names nothing.
    pub(crate) fn unknown<'a>(
        &self,
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> WorkloadError {
        let hint = hint(name, known);
        WorkloadError::UnknownName { place: self.place(), kind, name: abridged(name), hint }
    }

    pub(crate) fn text(&self) -> DocumentResult<&'t str> {
        self.value.get_ref().as_str().ok_or_else(|| self.unexpected("a text in quotes"))
    }

    /// An integer, if it is one.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        let number = self.value.get_ref().as_integer()?;
        i64::from_str_radix(number.as_str(), number.radix()).ok()
    }

    /// An integer in a range.
    pub(crate) fn integer(&self, allowed: std::ops::RangeInclusive<i64>) -> DocumentResult<i64> {
        self.as_integer().filter(|number| allowed.contains(number)).ok_or_else(|| {
            self.unexpected(format!("an integer from {} to {}", allowed.start(), allowed.end()))
        })
    }

    /// A finite number, whole or not.
    pub(crate) fn number(&self) -> DocumentResult<f64> {
        let value = match self.value.get_ref() {
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => self.as_integer().map(|number| number as f64),
        };
        value.filter(|v: &f64| v.is_finite()).ok_or_else(|| self.unexpected("a number"))
    }

    /// A number in a range.
    pub(crate) fn number_in(&self, allowed: std::ops::RangeInclusive<f64>) -> DocumentResult<f64> {
        let value = self.number()?;
        if allowed.contains(&value) {
            return Ok(value);
        }
        Err(self.unexpected(format!("a number from {} to {}", allowed.start(), allowed.end())))
    }

    /// The values of a list.
    pub(crate) fn list(&self) -> DocumentResult<Vec<DocumentNode<'t, 'd>>> {
        let document = self.document;
        let list = self.value.get_ref().as_array().ok_or_else(|| self.unexpected("a list"))?;
        Ok(list.iter().map(|value| DocumentNode { document, value }).collect())
    }

    /// A table.
    pub(crate) fn section(&self, title: &str) -> DocumentResult<DocumentSection<'t, 'd>> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.unexpected("a table"))?;
        let start = self.span().start;
        Ok(DocumentSection { document: self.document, table, start, title: title.to_owned() })
    }
}
