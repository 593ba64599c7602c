//! What is wrong with a script, told as pgbench tells it.

use super::template::MAX_PARAMETERS;
use std::fmt;

/// Why a script cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScriptParseError {
    /// A backslash command is wrong.
    #[error(transparent)]
    Syntax(#[from] Box<SyntaxError>),
    /// `\if` and its relatives do not match: the script, the command by number from 1, and what.
    #[error("condition error in script \"{0}\" command {1}: {2}")]
    Condition(String, usize, &'static str),
    /// A script without any command.
    #[error("empty command list for script \"{0}\"")]
    Empty(String),
    /// A statement, without its passwords, with more parameters than PostgreSQL's pgbench allows.
    #[error("statement has too many arguments (maximum is {MAX_PARAMETERS}): {0}")]
    TooManyParameters(String),
}

/// Where a backslash command is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The script's file.
    pub source: String,
    /// Its line, from 1.
    pub line: usize,
    /// The whole command without its passwords, where it was read to its end.
    pub text: Option<String>,
    /// The command's name.
    pub command: Option<String>,
    /// What is wrong.
    pub message: String,
    /// The word that is meant.
    pub more: Option<String>,
    /// Bytes from the backslash to the place, counted from 0.
    pub column: Option<usize>,
}

impl std::error::Error for SyntaxError {}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.source, self.line, self.message)?;
        if let Some(more) = &self.more {
            write!(f, " ({more})")?;
        }
        if let Some(command) = &self.command {
            write!(f, " in command \"{command}\"")?;
        }
        let Some(text) = &self.text else { return Ok(()) };
        write!(f, "\n{text}")?;
        match self.column {
            Some(column) => write!(f, "\n{:>1$} error found here", '^', column + 1),
            None => Ok(()),
        }
    }
}
