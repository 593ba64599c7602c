//! Why a workload was refused: where in its file, what was found, what was expected.

use std::fmt;

/// A place in a workload file, shown as `path:line:column`, both counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// The file as it was named.
    pub path: Box<str>,
    /// Its line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

/// Why a workload was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The file cannot be read.
    #[error("cannot read workload file {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The text is not TOML.
    #[error("{place}: not valid TOML: {message}")]
    Syntax {
        /// The place at which the parser stopped.
        place: SourcePosition,
        /// What the parser said.
        message: String,
    },
    /// A key that this part of the file does not have.
    #[error("{place}: unknown key `{found}` in {section}{hint}")]
    UnknownKey {
        /// The place of the key.
        place: SourcePosition,
        /// The key.
        found: String,
        /// The part of the file.
        section: String,
        /// The nearest key, or all of them.
        hint: String,
    },
    /// A key that must be there is not.
    #[error("{place}: {section} has no `{key}`, expected {expected}")]
    MissingKey {
        /// Where the part of the file begins.
        place: SourcePosition,
        /// The part of the file.
        section: String,
        /// The key.
        key: String,
        /// What it should have been.
        expected: String,
    },
    /// Something is not what it should be.
    #[error("{place}: found {found}, expected {expected}")]
    Unexpected {
        /// The place of the value.
        place: SourcePosition,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// A name refers to nothing.
    #[error("{place}: {kind} `{name}` does not exist{hint}")]
    UnknownName {
        /// The place at which it is used.
        place: SourcePosition,
        /// What kind of thing it should name.
        kind: &'static str,
        /// As it is written there.
        name: String,
        /// The nearest name, or all of them.
        hint: String,
    },
    /// Two things have one name.
    #[error("{place}: {kind} `{name}` occurs twice, expected distinct names")]
    Duplicate {
        /// Where the second one is.
        place: SourcePosition,
        /// What kind of thing it is.
        kind: &'static str,
        /// As both have it.
        name: String,
    },
    /// A dictionary's file cannot be used.
    #[error("{place}: cannot read dictionary file {path}: {reason}")]
    DictionaryFile {
        /// Where the file is named.
        place: SourcePosition,
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// No shipped workload has this name.
    #[error("no workload is called `{name}`{hint}; give a shipped name or a path to a .toml file")]
    UnknownWorkload {
        /// As it was given.
        name: String,
        /// The nearest name and the list.
        hint: String,
    },
    /// The workload makes no sense at this scale.
    #[error("workload `{workload}` cannot run at scale {scale}: {reason}")]
    Scale {
        /// The workload.
        workload: String,
        /// The scale.
        scale: u64,
        /// Why not.
        reason: String,
    },
}
