//! A message in the log of a PostgreSQL server, without the values that it repeats.
//!
//! Source: `send_message_to_server_log` of PostgreSQL 15 (elog.c): a message has an entry with its
//! level, and one for each further text.

use dbtime_sql::{PostgresWords, internal_query, without_context_values};
use std::borrow::Cow;

/// What each entry begins with: instant and process, as by default, and the SQLSTATE, by which the
/// words are known.
pub(super) const LINE_PREFIX: &str = "%m [%p] %e ";

/// Levels of what is the server's own, or was asked for by its settings: these stay as they are.
const PLAIN_LEVELS: [&str; 3] = ["LOG", "INFO", "DEBUG"];

/// Levels of what statements failed of, or were warned about.
const OTHER_LEVELS: [&str; 5] = ["NOTICE", "WARNING", "ERROR", "FATAL", "PANIC"];

/// What the further entries of a message begin with.
const FURTHER_TEXTS: [&str; 7] =
    ["DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "BACKTRACE", "STATEMENT"];

/// The SQLSTATE of a deadlock, whose detail has the statements in a log.
const DEADLOCK: &str = "40P01";

/// What the first line of a context ends with where the database's own code has made the error up,
/// and the function of the server's that reports it then.
const RAISES: [(&str, &str); 2] =
    [(" at RAISE", "exec_stmt_raise"), (" at ASSERT", "exec_stmt_assert")];

/// What is in a context where code in another language has, and what the server's file begins with.
const LANGUAGES: [(&str, &str); 3] =
    [("PL/Perl", "plperl"), ("PL/Python", "plpy"), ("PL/Tcl", "pltcl")];

/// What an entry says, and what it begins with.
struct LoggedText<'a> {
    prefix: &'a str,
    label: &'static str,
    text: &'a str,
}

impl<'a> LoggedText<'a> {
    /// `None`: it is of another server.
    fn of(entry: &'a str) -> Option<Self> {
        let line = entry.lines().next().unwrap_or_default();
        let place = |label: &&'static str| {
            let is_label = |at: usize| {
                let is_word = at == 0 || line[..at].ends_with(' ');
                is_word && line[at + label.len()..].starts_with(":  ")
            };
            let at = line.match_indices(*label).map(|(at, _)| at).find(|at| is_label(*at))?;
            Some((at, *label))
        };
        let labels = PLAIN_LEVELS.iter().chain(&OTHER_LEVELS).chain(&FURTHER_TEXTS);
        let (at, label) = labels.filter_map(place).min()?;
        let text = &entry[at + label.len() + ":  ".len()..];
        Some(Self { prefix: &entry[..at], label, text })
    }

    /// Its SQLSTATE; `None` where the server was given another prefix.
    fn code(&self) -> Option<&'a str> {
        let (_, code) = self.prefix.trim_end().rsplit_once("] ")?;
        (code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(code)
    }
}

/// What is known of the words of a message.
pub(super) struct LogMessage {
    /// `None`: they stay as they are.
    words: Option<PostgresWords>,
    /// Its SQLSTATE; empty where it is not known.
    code: String,
    context: String,
}

impl LogMessage {
    /// Whether an entry goes on with a message.
    pub(super) fn goes_on(entry: &str) -> bool {
        LoggedText::of(entry).is_some_and(|found| FURTHER_TEXTS.contains(&found.label))
    }

    /// The message that has these entries.
    pub(super) fn of(entries: &[&str]) -> Self {
        let texts: Vec<_> = entries.iter().filter_map(|entry| LoggedText::of(entry)).collect();
        let context = texts.iter().find(|found| found.label == "CONTEXT").map_or("", |c| c.text);
        let first = texts.first().filter(|first| !PLAIN_LEVELS.contains(&first.label));
        let code = first.and_then(LoggedText::code).unwrap_or_default();
        let words = first.map(|first| words_of(code, first.text, context));
        Self { words, code: code.to_owned(), context: context.to_owned() }
    }

    /// One of its entries without values; empty where nothing of it can be told from them.
    pub(super) fn without_values<'a>(&self, entry: &'a str) -> Cow<'a, str> {
        let Some((words, found)) = self.words.zip(LoggedText::of(entry)) else {
            return Cow::Borrowed(entry);
        };
        let plain = found.text.replace("\n\t", "\n");
        let shown = match found.label {
            "DETAIL" => self.detail(words, &plain),
            "HINT" => words.hint(&plain).into(),
            "QUERY" => internal_query(&plain, &self.context),
            "CONTEXT" => without_context_values(&plain),
            "LOCATION" | "BACKTRACE" | "STATEMENT" => return Cow::Borrowed(entry),
            _ => words.message(&plain),
        };
        if shown == plain {
            return Cow::Borrowed(entry);
        }
        if shown.is_empty() {
            return Cow::Borrowed("");
        }
        let begin = &entry[..entry.len() - found.text.len()];
        Cow::Owned(format!("{begin}{}", shown.replace('\n', "\n\t")))
    }

    fn detail<'a>(&self, words: PostgresWords, text: &'a str) -> Cow<'a, str> {
        match self.code.as_str() {
            // A value in it may be without quotes.
            "" => Cow::Borrowed(""),
            DEADLOCK => match text.find(": ") {
                Some(at) => Cow::Owned(format!("{}: ?", &text[..at])),
                None => Cow::Borrowed(text),
            },
            _ => words.detail(text),
        }
    }
}

/// What the words of an error may have in them. What reports it is not named in a log, but told by
/// the context.
fn words_of(code: &str, message: &str, context: &str) -> PostgresWords {
    let line = context.lines().next().unwrap_or_default();
    let raise = RAISES.iter().find(|(end, _)| line.ends_with(end));
    let language = LANGUAGES.iter().find(|(name, _)| context.contains(name));
    let file = language.map_or("", |found| found.1);
    let function = raise.map_or("", |found| found.1);
    let place = message.rsplit_once(" at character ").map_or("", |(_, place)| place);
    let is_placed = place.parse::<u32>().is_ok();
    match (code, raise.or(language)) {
        ("", None) => PostgresWords::Values,
        _ => PostgresWords::of(code, (file, function), is_placed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(entries: &[&str]) -> Vec<String> {
        let message = LogMessage::of(entries);
        entries.iter().map(|entry| message.without_values(entry).into_owned()).collect()
    }

    #[test]
    fn values_are_left_out_and_names_stay() {
        for (entries, expected) in [
            (
                ["42P01 ERROR:  relation \"t\" does not exist at character 15", "", ""],
                ["42P01 ERROR:  relation \"t\" does not exist at character 15", "", ""],
            ),
            (
                [
                    "23505 ERROR:  duplicate key value violates unique constraint \"k\"",
                    "23505 DETAIL:  Key (id)=(hush) already exists.",
                    "23505 CONTEXT:  SQL statement \"INSERT INTO t VALUES ('hush')\"",
                ],
                [
                    "23505 ERROR:  duplicate key value violates unique constraint \"k\"",
                    "23505 DETAIL:  Key (id)=(?) already exists.",
                    "23505 CONTEXT:  SQL statement \"?",
                ],
            ),
            (
                ["22P02 ERROR:  invalid input syntax for type integer: \"hush\"", "", ""],
                ["22P02 ERROR:  invalid input syntax for type integer: \"?\"", "", ""],
            ),
            (
                [
                    "40P01 ERROR:  deadlock detected",
                    "40P01 DETAIL:  Process 1 waits; blocked by process 2.\n\tProcess 1: DO 'hush'",
                    "40P01 HINT:  See server log for query details.",
                ],
                [
                    "40P01 ERROR:  deadlock detected",
                    "40P01 DETAIL:  Process 1 waits; blocked by process 2.\n\tProcess 1: ?",
                    "40P01 HINT:  See server log for query details.",
                ],
            ),
            (
                ["00000 LOG:  execute s: SELECT $1", "00000 DETAIL:  parameters: $1 = 'a'", ""],
                ["00000 LOG:  execute s: SELECT $1", "00000 DETAIL:  parameters: $1 = 'a'", ""],
            ),
        ] {
            let [entries, expected] =
                [entries, expected].map(|texts| texts.map(|text| format!("9 UTC [7] {text}")));
            assert_eq!(shown(&entries.each_ref().map(String::as_str)), expected);
        }
        let other = "2026-11-30 [Warning] Aborted connection 5 to db: 'd' (ERROR: x)";
        assert_eq!(shown(&[other]), [other]);
    }

    #[test]
    fn words_that_were_raised_are_left_out() {
        for (level, code) in [("ERROR", "23505"), ("ERROR", "P0001"), ("WARNING", "01000")] {
            let line = format!("9 UTC [7] {code} {level}:  account of hush");
            let context = format!("9 UTC [7] {code} CONTEXT:  PL/pgSQL function f() at RAISE");
            let shown = shown(&[&line, &context]);
            assert!(shown[0].contains(level) && !shown[0].contains("hush"), "{shown:?}");
            assert_eq!(shown[1], context);
        }
    }

    #[test]
    fn without_an_sqlstate_all_that_may_be_a_value_is_left_out() {
        let entries = ["7 ERROR:  \"hush\" is a 5", "7 DETAIL:  Key (id)=(hush) already exists."];
        assert_eq!(shown(&entries), ["7 ERROR:  \"?\" is a ?", ""]);
        assert!(LogMessage::goes_on(entries[1]) && !LogMessage::goes_on(entries[0]));
        assert_eq!(shown(&entries[1..]), [""], "of a message that has begun before");
    }
}
