//! What can be wrong with a pgbench command line, in pgbench's own words. Exit code 1.

use crate::pgbench::builtin::BUILTINS;
use std::fmt;

/// A wrong command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    message: String,
    after: UsageHint,
}

/// What follows the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UsageHint {
    Nothing,
    /// A second line, behind `detail: `.
    Detail(&'static str),
    /// Where to read more.
    Hint,
    /// The list of built-in scripts.
    Builtins,
}

impl UsageError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), after: UsageHint::Nothing }
    }

    /// One whose remedy is the help text.
    pub(super) fn hinted(message: impl Into<String>) -> Self {
        Self { message: message.into(), after: UsageHint::Hint }
    }

    pub(super) fn detailed(message: impl Into<String>, detail: &'static str) -> Self {
        Self { message: message.into(), after: UsageHint::Detail(detail) }
    }

    /// One whose remedy is the list of built-in scripts.
    pub(super) fn of_builtin(message: impl Into<String>) -> Self {
        Self { message: message.into(), after: UsageHint::Builtins }
    }
}

impl std::error::Error for UsageError {}

/// All lines, without a name before the first and without an end of line after the last.
impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.after {
            UsageHint::Nothing => Ok(()),
            UsageHint::Detail(detail) => write!(f, "\ndetail: {detail}"),
            UsageHint::Hint => {
                f.write_str("\nhint: Try \"dbtime pgbench --help\" for more information.")
            }
            UsageHint::Builtins => write!(f, "\n{}", list_builtins().trim_end()),
        }
    }
}

/// What a line begins with that is told as one of its own.
const NAMED: [&str; 3] = ["error: ", "detail: ", "hint: "];

impl UsageError {
    /// All lines as pgbench writes them to its standard error.
    pub fn report(&self) -> String {
        let lines = self.to_string();
        let mut text = "pgbench: error: ".to_owned();
        for line in lines.lines() {
            let is_named = NAMED.iter().any(|name| line.starts_with(name));
            text.push_str(if is_named { "pgbench: " } else { "" });
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// A word of the command line as a message may quote it: where a password may be in it, only what
/// stands before is shown.
pub(super) fn quoted(text: &str) -> &str {
    let may_hold_one = |text: &str| text.contains("://") || text.contains("password");
    match text.split_once('=') {
        Some((name, value)) if may_hold_one(value) => name,
        _ if may_hold_one(text) => "a connection string",
        _ => text,
    }
}

/// What `-b list` shows.
pub fn list_builtins() -> String {
    let line = |(name, about): (&str, &str)| format!("  {name:>13}: {about}\n");
    let lines: String =
        BUILTINS.iter().map(|script| line((script.name, script.description))).collect();
    format!("Available builtin scripts:\n{lines}\n")
}
