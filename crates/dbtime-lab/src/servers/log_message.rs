//! A message in the log of a PostgreSQL server, as far as it is the server's own, and of statements
//! that it is about their shapes.
//!
//! Source: `send_message_to_server_log` of PostgreSQL 15 (elog.c): a message has an entry with its
//! level, and one for each further text.

use super::logged_statement::{LEFT_OUT, known_shape};
use super::own_messages::{own_context, own_detail, own_hint, own_message};
use super::program_lines::behind_step;
use dbtime_sql::internal_query;
use std::borrow::Cow;

/// What each entry begins with: instant and process, as by default, and the SQLSTATE, which stays
/// where the words do not.
pub(super) const LINE_PREFIX: &str = "%m [%p] %e ";

/// Levels of messages.
const LEVELS: [&str; 8] = ["LOG", "INFO", "DEBUG", "NOTICE", "WARNING", "ERROR", "FATAL", "PANIC"];

/// What the further entries of a message begin with.
const FURTHER_TEXTS: [&str; 7] =
    ["DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "BACKTRACE", "STATEMENT"];

/// What stands behind a level, in any language.
const BEHIND_LABELS: [&str; 3] = [":  ", " : ", "："];

/// Levels, and what further entries begin with, in the languages that PostgreSQL's messages have: a
/// program may print any other word there.
const FOREIGN_LABELS: &str = "ADVERTENCIA ANFRAGE ANWEISUNG ASTUCE ATTENTION ATTENZIONE AVISO \
    AVVERTIMENTO COMANDO CONSULTA CONTESTO CONTEXTE CONTEXTO DETALHE DETALLE DETTAGLI DICA DÉTAIL \
    EMPLACEMENT ERREUR ERRO ERRORE FEHLER HINWEIS INSTRUCTION ISTRUZIONE NOTIFICA ORT PANIK \
    PANIQUE REQUÊTE SENTENCIA SUGERENCIA SUGGERIMENTO TIPP WARNUNG ZUSAMMENHANG ВАЖНО ЗАМЕЧАНИЕ \
    ЗАПРОС КОНТЕКСТ ОПЕРАТОР ОТЛАДКА ОШИБКА ПАНИКА ПОДРОБНОСТИ ПОДСКАЗКА ПРЕДУПРЕЖДЕНИЕ СООБЩЕНИЕ \
    上下文 信息 日志 注意 致命错误 警告 语句 调试 错误";

/// The longest name of a time zone in what an entry begins with.
const MAX_ZONE_BYTES: usize = 5;

/// What stands before a program in a statement.
const PROGRAM: &str = "PROGRAM";

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
        let labels = LEVELS.iter().chain(&FURTHER_TEXTS);
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
    let is_known = |label: &str| FOREIGN_LABELS.split_whitespace().any(|known| known == label);
    let label = ends.min().filter(|(at, _)| is_known(&words[..*at]));
    Some(line.len() - words.len() + label.map_or(0, |(at, end)| at + end))
}

/// What the further entries of a message are read by.
pub(super) struct LogMessage {
    /// Its SQLSTATE; empty where it is not known.
    code: String,
    context: String,
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

    /// The message that has these entries.
    pub(super) fn of(entries: &[&str]) -> Self {
        let texts: Vec<_> = entries.iter().filter_map(|entry| LoggedText::of(entry)).collect();
        let code = texts.first().map_or("", LoggedText::state);
        let mut contexts = texts.iter().filter(|found| found.label == "CONTEXT");
        let context = contexts.find(|found| found.state() == code).map_or("", |found| found.text);
        Self { code: code.to_owned(), context: context.to_owned() }
    }

    /// One of its entries as far as it has a form of the server's own, without values and names;
    /// empty where nothing of it has.
    pub(super) fn without_values<'a>(&self, entry: &'a str) -> Cow<'a, str> {
        let Some(found) = LoggedText::of(entry) else { return without_foreign_words(entry) };
        // All that the server says of a message has its code: a program has printed this one.
        if found.state() != self.code {
            return Cow::Borrowed("");
        }
        let mut plain = found.text.replace("\n\t", "\n");
        let is_cut = cut_behind_program(&mut plain);
        let shown = self.own_text(found.label, &plain);
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

    /// What is the server's own of a text with this label. Of a statement its shape is left.
    fn own_text(&self, label: &str, text: &str) -> String {
        match label {
            // A program may have printed names there that no list has.
            "LOCATION" | "BACKTRACE" => LEFT_OUT.to_owned(),
            "STATEMENT" => known_shape(text),
            "QUERY" => known_shape(&internal_query(text, &self.context)),
            "CONTEXT" => own_context(text),
            "DETAIL" => own_detail(text),
            "HINT" => own_hint(text),
            _ => own_message(text),
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

#[cfg(test)]
mod tests;
