//! A message in the log of a PostgreSQL server, without the values that it repeats, and of
//! statements that it was set to log without their literals.
//!
//! Source: `send_message_to_server_log` of PostgreSQL 15 (elog.c): a message has an entry with its
//! level, and one for each further text.

use super::logged_statement::{logged_detail, logged_statement, shape_of};
use dbtime_sql::{PostgresWords, StatementShapes, internal_query, without_context_values};
use std::borrow::Cow;

/// What each entry begins with: instant and process, as by default, and the SQLSTATE, by which the
/// words are known.
pub(super) const LINE_PREFIX: &str = "%m [%p] %e ";

/// Levels of what is the server's own, or was asked for by its settings: these stay as they are but
/// for statements, and what the database's own code has reported.
const PLAIN_LEVELS: [&str; 3] = ["LOG", "INFO", "DEBUG"];

/// Levels of what statements failed of, or were warned about.
const OTHER_LEVELS: [&str; 5] = ["NOTICE", "WARNING", "ERROR", "FATAL", "PANIC"];

/// What the further entries of a message begin with.
const FURTHER_TEXTS: [&str; 7] =
    ["DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "BACKTRACE", "STATEMENT"];

/// Of these, those whose names are of a statement, or of the code that was executed.
const OF_STATEMENTS: [&str; 3] = ["QUERY", "CONTEXT", "STATEMENT"];

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
                let is_word = !line[..at].ends_with(char::is_alphanumeric);
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
    /// `None`: they are the server's own.
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
        let is_own = |level: &str| PLAIN_LEVELS.contains(&level) && reporter(context).is_none();
        let first = texts.first().filter(|first| !is_own(first.label));
        let code = first.and_then(LoggedText::code).unwrap_or_default();
        let words = first.map(|first| words_of(code, first.text, context));
        Self { words, code: code.to_owned(), context: context.to_owned() }
    }

    /// One of its entries without values, and without names that these statements do not have;
    /// empty where nothing of it can be told from them.
    pub(super) fn without_values<'a>(
        &self,
        entry: &'a str,
        shapes: &StatementShapes,
    ) -> Cow<'a, str> {
        let Some(found) = LoggedText::of(entry) else { return Cow::Borrowed(entry) };
        let plain = found.text.replace("\n\t", "\n");
        let shown = match (found.label, self.words) {
            ("LOCATION" | "BACKTRACE", _) => return Cow::Borrowed(entry),
            ("STATEMENT", _) => shape_of(&plain).into(),
            ("QUERY", _) => internal_query(&plain, &self.context),
            ("CONTEXT", _) => without_context_values(&plain),
            ("DETAIL", Some(words)) => self.detail(words, &plain),
            ("DETAIL", None) => logged_detail(&plain),
            ("HINT", Some(words)) => words.hint(&plain).into(),
            (_, Some(words)) => words.message(&plain),
            (_, None) => logged_statement(&plain),
        };
        let shown = match self.words {
            Some(_) if !OF_STATEMENTS.contains(&found.label) => {
                shapes.without_unknown_names(&self.code, &shown)
            }
            _ => Cow::Borrowed(&*shown),
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

/// What in the database's own code has reported, by its context: the beginning of the server's
/// file, and the function.
fn reporter(context: &str) -> Option<(&'static str, &'static str)> {
    let line = context.lines().next().unwrap_or_default();
    let raise = RAISES.iter().find(|(end, _)| line.ends_with(end));
    let language = LANGUAGES.iter().find(|(name, _)| context.contains(name));
    let function = raise.map_or("", |found| found.1);
    let file = language.map_or("", |found| found.1);
    raise.or(language).map(|_| (file, function))
}

/// What the words of an error may have in them. What reports it is not named in a log, but told by
/// the context.
fn words_of(code: &str, message: &str, context: &str) -> PostgresWords {
    let reporter = reporter(context);
    let place = message.rsplit_once(" at character ").map_or("", |(_, place)| place);
    let is_placed = place.parse::<u32>().is_ok();
    match (code, reporter) {
        ("", None) => PostgresWords::Values,
        _ => PostgresWords::of(code, reporter.unwrap_or_default(), is_placed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::SqlDialect;
    use dbtime_sql::LexicalRules;

    fn shown(entries: &[&str]) -> Vec<String> {
        let rules = LexicalRules::unknown(SqlDialect::Postgres);
        let shapes = StatementShapes::of(["SELECT a FROM t"], &rules);
        let message = LogMessage::of(entries);
        entries.iter().map(|entry| message.without_values(entry, &shapes).into_owned()).collect()
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
                ["00000 LOG:  execute s: SELECT ?", "00000 DETAIL:  parameters: ?", ""],
            ),
            (
                ["42703 ERROR:  column t.hush does not exist at character 8", "", ""],
                ["42703 ERROR:  column t.? does not exist at character 8", "", ""],
            ),
            (
                [
                    "42P01 ERROR:  relation \"hush\" does not exist at character 15",
                    "42P01 QUERY:  SELECT * FROM hush",
                    "42P01 CONTEXT:  PL/pgSQL function f() line 3 at EXECUTE",
                ],
                [
                    "42P01 ERROR:  relation \"?\" does not exist at character 15",
                    "42P01 QUERY:  ?",
                    "42P01 CONTEXT:  PL/pgSQL function f() line 3 at EXECUTE",
                ],
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
    fn statements_that_a_server_is_set_to_log_have_no_literals() {
        for (text, expected) in [
            ("LOG:  statement: SELECT 'hush'\n\tFROM t", "LOG:  statement: SELECT ? FROM t"),
            (
                "LOG:  duration: 1.2 ms  statement: SELECT 4711",
                "LOG:  duration: 1.2 ms  statement: SELECT ?",
            ),
            (
                "LOG:  duration: 1.2 ms  bind <unnamed>: SELECT 'hush'",
                "LOG:  duration: 1.2 ms  bind <unnamed>: SELECT ?",
            ),
            (
                "LOG:  statement: ALTER ROLE r PASSWORD hush",
                "LOG:  statement: ALTER ROLE r PASSWORD ?",
            ),
            ("LOG:  statement: DO $$BEGIN PERFORM 'hush'; END$$", "LOG:  statement: DO ?"),
            (
                "LOG:  duration: 1.2 ms  plan:\n\tQuery Text: SELECT 'hush'\n\tResult",
                "LOG:  duration: 1.2 ms  plan: ?",
            ),
            ("LOG:  AUDIT: SESSION,1,1,READ,SELECT,,,SELECT 'hush'", "LOG:  AUDIT: ?"),
            ("DETAIL:  Parameters: $1 = 'hush'", "DETAIL:  Parameters: ?"),
            (
                "DETAIL:  prepare: PREPARE s AS SELECT 'hush'",
                "DETAIL:  prepare: PREPARE s AS SELECT ?",
            ),
            ("STATEMENT:  SELECT 'hush',\n\t5", "STATEMENT:  SELECT ?, ?"),
            ("CONTEXT:  portal \"p\" with parameters: $1 = 'hush'", "CONTEXT:  portal \"?"),
        ] {
            let first = "9 UTC [7] 00000 LOG:  statement: SELECT";
            let entry = format!("9 UTC [7] 00000 {text}");
            let entries = [first, &entry];
            let from = usize::from(text.starts_with("LOG"));
            let expected = format!("9 UTC [7] 00000 {expected}");
            assert_eq!(shown(&entries[from..]).last(), Some(&expected));
            let bare = format!("[7]{text}");
            assert!(!shown(&[&bare]).concat().contains("hush"), "by another prefix: {bare}");
        }
        for text in [
            "LOG:  checkpoint starting: time",
            "LOG:  process 5 still waiting for ShareLock on transaction 7 after 1000.1 ms",
            "LOG:  duration: 0.5 ms",
        ] {
            assert_eq!(shown(&[text]), [text]);
        }
    }

    #[test]
    fn words_that_were_raised_are_left_out() {
        for (level, code) in [
            ("ERROR", "23505"),
            ("ERROR", "P0001"),
            ("WARNING", "01000"),
            ("LOG", "00000"),
            ("INFO", "00000"),
        ] {
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
