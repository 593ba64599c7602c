//! A message in the log of a PostgreSQL server, without the values that it repeats, and of
//! statements that it was set to log without their literals.
//!
//! Source: `send_message_to_server_log` of PostgreSQL 15 (elog.c): a message has an entry with its
//! level, and one for each further text.

use super::log::LogFormat;
use super::logged_statement::{LEFT_OUT, is_logged, logged_detail, shape_of};
use super::own_messages::{is_own, own_message, plain_detail, plain_hint, quotes_setting};
use super::program_lines::behind_step;
use dbtime_sql::{PostgresWords, StatementShapes, internal_query, without_context_values};
use std::borrow::Cow;

/// What each entry begins with: instant and process, as by default, and the SQLSTATE, by which the
/// words are known.
pub(super) const LINE_PREFIX: &str = "%m [%p] %e ";

/// Levels of what is the server's own, or was asked for by its settings: these stay as they are but
/// for statements and values of settings, and for what may be of the database's own code.
const PLAIN_LEVELS: [&str; 3] = ["LOG", "INFO", "DEBUG"];

/// Levels of what statements failed of, or were warned about, which that code may have reported.
const OTHER_LEVELS: [&str; 3] = ["NOTICE", "WARNING", FAILED_STATEMENT];
const FAILED_STATEMENT: &str = "ERROR";

/// Levels of what it cannot.
const FATAL_LEVELS: [&str; 2] = ["FATAL", "PANIC"];

/// What the further entries of a message begin with.
const FURTHER_TEXTS: [&str; 7] =
    ["DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "BACKTRACE", "STATEMENT"];

/// Of these, those whose names are of a statement, or of the code that was executed.
const OF_STATEMENTS: [&str; 3] = ["QUERY", "CONTEXT", "STATEMENT"];

/// Classes of the SQLSTATE of messages about no error: by them it is not known whether the
/// database's own code has reported it.
const NO_ERROR: [&str; 2] = ["00", "01"];

/// Classes of those about files of settings, which the server reads again while it runs, and what
/// such a message has: a RAISE LOG may be given any code.
const OF_SETTINGS: [&str; 2] = ["22", "42"];
const SETTING_WORDS: [&str; 2] = ["parameter \"", "syntax error in file \""];

/// What stands behind a level, in any language.
const BEHIND_LABELS: [&str; 3] = [":  ", " : ", "："];

/// The longest name of a time zone in what an entry begins with.
const MAX_ZONE_BYTES: usize = 5;

/// What stands before a program in a statement.
const PROGRAM: &str = "PROGRAM";

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
    /// What stands before its level.
    prefix: &'a str,
    /// Its SQLSTATE; `None` where the server was given another prefix.
    code: Option<&'a str>,
    label: &'static str,
    text: &'a str,
}

impl<'a> LoggedText<'a> {
    /// `None`: it is of another server, or in another language.
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
        let levels = PLAIN_LEVELS.iter().chain(&OTHER_LEVELS).chain(&FATAL_LEVELS);
        let labels = levels.chain(&FURTHER_TEXTS);
        let (at, label) = labels.filter_map(place).min()?;
        let code = code_of(&entry[..at]);
        let text = &entry[at + label.len() + ":  ".len()..];
        // With `log_error_verbosity=verbose` it stands before the words of a message as well.
        let repeated = text.split_once(": ").filter(|(word, _)| code == Some(*word));
        let words = repeated.filter(|_| !FURTHER_TEXTS.contains(&label)).map(|(_, words)| words);
        Some(Self { prefix: &entry[..at], code, label, text: words.unwrap_or(text) })
    }

    /// Its SQLSTATE; empty where it is not known.
    fn state(&self) -> &'a str {
        self.code.unwrap_or_default()
    }

    /// What its words may have in them; `None`: they are the server's own.
    fn words(&self, context: &str, format: LogFormat) -> Option<PostgresWords> {
        let code = self.state();
        let words = words_of(code, self.text, context);
        let class = code.get(..2).unwrap_or_default();
        let has_error = !code.is_empty() && !NO_ERROR.contains(&class);
        // An extension may be set to log statements at another level.
        let is_of_log = !has_error && is_logged(self.text);
        if is_of_log || PLAIN_LEVELS.contains(&self.label) {
            let is_of_settings = format != LogFormat::TersePostgres
                && OF_SETTINGS.contains(&class)
                && SETTING_WORDS.iter().any(|words| self.text.contains(words));
            let is_known = reporter(context).is_some() || is_of_settings;
            let is_others = is_known || !is_own(self.text);
            return is_others.then_some(if is_known { words } else { PostgresWords::MadeUp });
        }
        // Any code may be given to a RAISE, which its context alone tells.
        let is_coded = has_error && format != LogFormat::TersePostgres;
        // Without its context it may be of a log that tells none.
        let is_of_server = is_plain_prefix(self.prefix)
            && (FATAL_LEVELS.contains(&self.label)
                || (self.label == FAILED_STATEMENT && !context.is_empty()));
        match is_of_server || is_coded {
            true => Some(words),
            false => (!is_own(self.text)).then_some(PostgresWords::MadeUp),
        }
    }
}

/// The SQLSTATE that ends what an entry begins with.
fn code_of(prefix: &str) -> Option<&str> {
    let (_, code) = prefix.trim_end().rsplit_once("] ")?;
    is_code(code).then_some(code)
}

fn is_code(text: &str) -> bool {
    let is_of_code = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    text.len() == 5 && text.bytes().all(is_of_code)
}

/// Whether an entry begins with no more than instants, numbers and a SQLSTATE. Another prefix may
/// have names that a client gives itself, and a line of a program may have the words of a level.
fn is_plain_prefix(prefix: &str) -> bool {
    let mut before = "";
    behind_step(prefix).split_whitespace().all(|word| {
        let is_behind_number = before.starts_with(|sign: char| sign.is_ascii_digit());
        let is_zone = word.len() <= MAX_ZONE_BYTES && word.bytes().all(|b| b.is_ascii_uppercase());
        let is_state = before.ends_with(']') && is_code(word);
        before = word;
        is_state || (is_zone && is_behind_number) || !word.contains(char::is_alphabetic)
    })
}

/// Where in an entry its words begin that are in another language, so that it is not known what
/// they are; `None`: it is no message.
fn foreign_words(entry: &str) -> Option<usize> {
    let line = entry.lines().next().unwrap_or_default();
    let (before, rest) = line.split_once("] ")?;
    let (code, words) = rest.split_once(' ')?;
    if !is_code(code) || !is_plain_prefix(before) {
        return None;
    }
    let ends = BEHIND_LABELS.iter().filter_map(|end| Some((words.find(end)?, end.len())));
    let label = ends.min().filter(|(at, _)| !words[..*at].contains(char::is_whitespace));
    Some(line.len() - words.len() + label.map_or(0, |(at, end)| at + end))
}

/// What is known of the words of a message.
pub(super) struct LogMessage {
    /// `None`: they are the server's own.
    words: Option<PostgresWords>,
    /// Its SQLSTATE; empty where it is not known.
    code: String,
    context: String,
    format: LogFormat,
}

impl LogMessage {
    /// Whether an entry is of a message.
    pub(super) fn is_one(entry: &str) -> bool {
        LoggedText::of(entry).is_some() || foreign_words(entry).is_some()
    }

    /// Whether an entry goes on with a message.
    pub(super) fn goes_on(entry: &str) -> bool {
        LoggedText::of(entry).is_some_and(|found| FURTHER_TEXTS.contains(&found.label))
    }

    /// The message of a log of this format that has these entries.
    pub(super) fn of(entries: &[&str], format: LogFormat) -> Self {
        let texts: Vec<_> = entries.iter().filter_map(|entry| LoggedText::of(entry)).collect();
        let code = texts.first().map_or("", LoggedText::state);
        let mut contexts = texts.iter().filter(|found| found.label == "CONTEXT");
        let context = contexts.find(|found| found.state() == code).map_or("", |found| found.text);
        let words = texts.first().and_then(|first| first.words(context, format));
        Self { words, code: code.to_owned(), context: context.to_owned(), format }
    }

    /// One of its entries without values, and without names that these statements do not have;
    /// empty where nothing of it can be told from them.
    pub(super) fn without_values<'a>(
        &self,
        entry: &'a str,
        shapes: &StatementShapes,
    ) -> Cow<'a, str> {
        let Some(found) = LoggedText::of(entry) else { return without_foreign_words(entry) };
        // All that the server says of a message has its code: a program has printed this one.
        if found.state() != self.code {
            return Cow::Borrowed("");
        }
        let mut plain = found.text.replace("\n\t", "\n");
        let is_cut = cut_behind_program(&mut plain);
        let shown = match (found.label, self.words) {
            ("LOCATION", _) => location(&plain).into(),
            ("BACKTRACE", _) => LEFT_OUT.into(),
            ("STATEMENT", _) => shape_of(&plain).into(),
            ("QUERY", _) => internal_query(&plain, &self.context),
            ("CONTEXT", _) => without_context_values(&plain),
            ("DETAIL", Some(words)) => self.detail(words, &plain),
            ("DETAIL", None) => own_detail(&plain).into(),
            ("HINT", None) => plain_hint(&plain).unwrap_or_default().into(),
            ("HINT", Some(words)) => words.hint(&plain).into(),
            (_, Some(words)) => words.message(first_line(&plain)),
            (_, None) => own_message(&plain, self.format == LogFormat::TersePostgres),
        };
        let shown = match self.words {
            Some(_) if !OF_STATEMENTS.contains(&found.label) => {
                shapes.without_unknown_names(&self.code, &shown)
            }
            _ => Cow::Borrowed(&*shown),
        };
        let is_plain = is_plain_prefix(found.prefix);
        if shown == plain && is_plain && !is_cut {
            return Cow::Borrowed(entry);
        }
        if shown.is_empty() {
            return Cow::Borrowed("");
        }
        let prefix = if is_plain { found.prefix } else { "? " };
        let label = &entry[found.prefix.len()..entry.len() - found.text.len()];
        Cow::Owned(format!("{prefix}{label}{}", shown.replace('\n', "\n\t")))
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

/// An entry without words that are in another language, or of a program.
fn without_foreign_words(entry: &str) -> Cow<'_, str> {
    let begin = foreign_words(entry).unwrap_or_default();
    Cow::Owned(format!("{}{LEFT_OUT}", &entry[..begin]))
}

/// Leaves out the lines behind the one that names a program, for they may be rows of it that begin
/// with a tab as the further lines of a text do. Returns whether there were any.
fn cut_behind_program(text: &mut String) -> bool {
    let end = program_in(text).and_then(|at| Some(at + text[at..].find('\n')?));
    if let Some(end) = end {
        text.truncate(end);
    }
    end.is_some()
}

/// Where a text names a program, as a statement that has the server start one does.
pub(super) fn program_in(text: &str) -> Option<usize> {
    text.to_ascii_uppercase().find(PROGRAM)
}

/// The line that the words of an error are. Further ones may be of a program whose line begins with
/// a tab.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// What of the server has reported a message: `exec_stmt_raise, pl_exec.c:3917`.
fn location(text: &str) -> &str {
    let line = first_line(text);
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let is_location = || {
        let (function, place) = line.split_once(", ")?;
        let (file, number) = place.split_once(".c:")?;
        Some(is_name(function) && is_name(file) && number.parse::<u32>().is_ok())
    };
    if is_location() == Some(true) { line } else { LEFT_OUT }
}

/// The detail of a message of the server's own; empty where it may have a value.
fn own_detail(text: &str) -> String {
    logged_detail(text).or_else(|| plain_detail(text)).unwrap_or_default()
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
        (_, None) if quotes_setting(message) => PostgresWords::Values,
        _ => PostgresWords::of(code, reporter.unwrap_or_default(), is_placed),
    }
}

#[cfg(test)]
mod tests;
