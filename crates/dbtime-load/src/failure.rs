//! What a failed statement or connection looks like, whatever the database.

use crate::excerpt::excerpt;
use dbtime_model::ErrorClass;
use dbtime_model::plain_text::legible;

/// What a server is told that wants data for a COPY where there is none.
pub const NO_COPY_DATA: &str = "a workload has no data for COPY FROM STDIN";

/// What is said where a server's error has no words.
const NO_WORDS: &str = "the server's error was cut, or has no text";

/// Why a statement failed, or a connection could not be made or was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseFailure {
    /// What a client can do about it.
    pub class: ErrorClass,
    /// The database's own code, such as `SQLITE_BUSY`, `1213` or `40P01`; the system's name of an
    /// error such as `ECONNREFUSED`.
    pub code: String,
    /// SQLSTATE, five characters; empty where the database gave none.
    pub state: String,
    /// The database's own words without values of rows, with what to do about it where that is
    /// known.
    pub message: String,
    /// How many bytes of the message are what the database said first: behind them are details, and
    /// what to do. 0: all of it is.
    pub own_length: u16,
    /// The same as its own client shows them, with details and context on lines of their own; empty
    /// where that is no more than the message.
    pub report: Box<str>,
    /// Which character of the statement it is about, counted from 1; 0 where that is not said.
    pub position: u32,
    /// The database has rolled the transaction back by itself.
    pub undone: bool,
}

impl DatabaseFailure {
    /// What a server says went wrong, as it is shown: it may say anything, or nothing.
    pub fn words_of(message: &str) -> String {
        let words = legible(message);
        if words.is_empty() { NO_WORDS.to_owned() } else { words }
    }

    /// A length as [`Self::own_length`] has it.
    pub fn length_of(own_words: &str) -> u16 {
        u16::try_from(own_words.len()).unwrap_or(0)
    }

    /// What the database itself said first: programs compare it.
    pub fn own_words(&self) -> &str {
        match self.own_length {
            0 => &self.message,
            length => self.message.get(..length.into()).unwrap_or(&self.message),
        }
    }

    /// The report with the place in the statement, as PostgreSQL's own client shows it, which knows
    /// the text of whatever it did not just execute by a name.
    pub fn report_in(&self, sql: Option<&str>) -> String {
        let at = self.report.find(self.own_words()).map(|from| from + self.own_words().len());
        let (Some(at), 1..) = (at, self.position) else { return self.report.to_string() };
        let place = match sql {
            None => Some(format!(" at character {}", self.position)),
            Some(sql) => excerpt(sql, self.position as usize).map(|lines| format!("\n{lines}")),
        };
        let (begin, rest) = self.report.split_at(at);
        format!("{begin}{}{rest}", place.unwrap_or_default())
    }

    /// A statement that dbtime does not send, for the reason that the database would give.
    pub fn statement(code: &str, state: &str, message: impl Into<String>) -> Self {
        let state = state.to_owned();
        Self { state, undone: false, ..Self::plain(ErrorClass::Statement, code, message.into()) }
    }

    /// A statement with other parameters than the `given` placeholders, as the database counts.
    pub fn parameters(code: &str, state: &str, counted: usize, given: usize) -> Self {
        let text = format!(
            "parameters that the database sees in it: {counted}; that are given a value: {given}; \
             write values in the place of the others, or in a workload file `:name`"
        );
        Self::statement(code, state, text)
    }

    /// A connection that could not be made or was lost: whatever was open on it is undone.
    pub fn connection(code: &str, message: impl Into<String>) -> Self {
        Self::plain(ErrorClass::Connection, code, message.into())
    }

    /// One with no more than its message, of which all is the database's.
    fn plain(class: ErrorClass, code: &str, message: String) -> Self {
        Self {
            class,
            code: code.to_owned(),
            state: String::new(),
            message,
            own_length: 0,
            report: Box::default(),
            position: 0,
            undone: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_server_are_a_line_and_never_none() {
        assert_eq!(DatabaseFailure::words_of("no\n such\u{7}"), "no such\u{fffd}");
        assert!(DatabaseFailure::words_of(&"x".repeat(1 << 18)).len() < 600);
        assert_eq!(DatabaseFailure::words_of(" \n"), NO_WORDS);
    }

    #[test]
    fn a_place_stands_behind_the_first_words() {
        let failure = DatabaseFailure {
            own_length: DatabaseFailure::length_of("no x"),
            report: "ERROR:  no x\nHINT:  try y".into(),
            position: 8,
            ..DatabaseFailure::statement("42703", "42703", "no x; try y")
        };
        let report = |sql| failure.report_in(sql);
        let pointed = "ERROR:  no x\nLINE 1: SELECT x\n               ^\nHINT:  try y";
        assert_eq!(report(Some("SELECT x")), pointed);
        assert_eq!(report(None), "ERROR:  no x at character 8\nHINT:  try y");
        assert_eq!(report(Some("S")), &*failure.report);
    }
}
