//! Backslash commands: from a line to what it does.

use super::command::{CommandKind, CommandLength, ResultStorage, ShellWord};
use super::expression;
use super::names::NameTable;
use super::parse_error::SyntaxError;
use super::shown_line::masked_line;
use super::token::ScriptCursor;

/// What a line with a backslash command says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MetaCommand {
    /// A command of its own.
    Command(CommandKind),
    /// What becomes of the rows of the SQL before it.
    Keep(ResultStorage),
}

/// Most words behind a command, as pgbench has it.
const MAX_SHELL_WORDS: usize = 255;

/// A line under way.
struct MetaLine<'c, 'a> {
    cursor: &'c mut ScriptCursor<'a>,
    /// The script's file.
    source: &'c str,
    /// Where the backslash stands.
    start: usize,
    command: String,
}

/// Reads the backslash command whose backslash was just passed, with its line. `None`: there is
/// only the backslash.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(
    source: &str,
    cursor: &mut ScriptCursor<'_>,
    names: &mut NameTable,
) -> Result<Option<MetaCommand>, Box<SyntaxError>> {
    let start = cursor.at - 1;
    let Some((command, _)) = cursor.word() else { return Ok(None) };
    let command = command.to_owned();
    let lower = command.to_ascii_lowercase();
    let mut line = MetaLine { cursor, source, start, command };
    if let "set" | "if" | "elif" = lower.as_str() {
        return line.with_expression(&lower, names).map(|kind| Some(MetaCommand::Command(kind)));
    }
    let words: Vec<_> = std::iter::from_fn(|| line.cursor.word()).collect();
    if words.len() > MAX_SHELL_WORDS {
        return Err(line.error("too many arguments"));
    }
    line.plain(&lower, &words, names).map(Some)
}

/// The text of the command that began at `start`, up to where the cursor stands.
pub(super) fn text<'a>(cursor: &ScriptCursor<'a>, start: usize) -> &'a str {
    cursor.text[start..cursor.at].trim_end_matches(['\n', '\r'])
}

/// The number of the line at a byte, from 1.
pub(super) fn line_number(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()
}

/// The numbers that jumps have before [`super::reader`] sets them.
const NOWHERE: usize = usize::MAX;

impl MetaLine<'_, '_> {
    /// An error that shows the line, without its passwords.
    fn error(&self, message: &str) -> Box<SyntaxError> {
        let mut error = self.error_without_line(message);
        error.text = Some(masked_line(text(self.cursor, self.start)).into_owned());
        error
    }

    fn error_without_line(&self, message: &str) -> Box<SyntaxError> {
        Box::new(SyntaxError {
            source: self.source.to_owned(),
            line: line_number(self.cursor.text, self.start),
            command: Some(self.command.clone()),
            message: message.to_owned(),
            ..SyntaxError::default()
        })
    }

    /// An error at a byte of the script; `more` is the word that is meant. A line that lacks a
    /// password shows no place, and names no word that was in it.
    fn error_at(&self, message: &str, at: usize, more: Option<&str>) -> Box<SyntaxError> {
        let mut error = self.error(message);
        let shown = error.text.as_deref().unwrap_or_default();
        let is_whole = shown == text(self.cursor, self.start);
        let more = more.filter(|more| shown.contains(*more)).map(str::to_owned);
        error.column = is_whole.then(|| at - self.start);
        error.more = more;
        error
    }

    fn with_expression(
        &mut self,
        name: &str,
        names: &mut NameTable,
    ) -> Result<CommandKind, Box<SyntaxError>> {
        let mut slot = None;
        if name == "set" {
            let (variable, _) =
                self.cursor.word().ok_or_else(|| self.error_without_line("missing argument"))?;
            slot = Some(names.slot(variable));
        }
        let condition = expression::parse(self.cursor, names).map_err(|flaw| {
            let behind = self.cursor.at;
            if !self.cursor.text[..behind].ends_with('\n') {
                self.cursor.skip_line();
            }
            self.error_at(flaw.message, behind - 1, flaw.more.as_deref())
        })?;
        let otherwise = NOWHERE;
        Ok(match slot {
            Some(slot) => CommandKind::Set(slot, condition),
            None if name == "if" => CommandKind::If { condition, otherwise },
            None => CommandKind::Elif { condition, otherwise, end: NOWHERE },
        })
    }

    /// A command that takes words.
    fn plain(
        &self,
        name: &str,
        words: &[(&str, usize)],
        names: &mut NameTable,
    ) -> Result<MetaCommand, Box<SyntaxError>> {
        let bare = |kind: CommandKind| {
            if words.is_empty() { Ok(kind) } else { Err(self.error("unexpected argument")) }
        };
        let kind =
            match name {
                "sleep" => self.sleep(words, names)?,
                "setshell" => match words {
                    [(variable, _), rest @ ..] if !rest.is_empty() => {
                        CommandKind::SetShell(names.slot(variable), shell_words(rest, names))
                    }
                    _ => return Err(self.error("missing argument")),
                },
                "shell" if words.is_empty() => return Err(self.error("missing command")),
                "shell" => CommandKind::Shell(shell_words(words, names)),
                "else" => bare(CommandKind::Else { end: NOWHERE })?,
                "endif" => bare(CommandKind::Endif)?,
                "startpipeline" => bare(CommandKind::StartPipeline)?,
                "syncpipeline" => bare(CommandKind::SyncPipeline)?,
                "endpipeline" => bare(CommandKind::EndPipeline)?,
                "gset" | "aset" if words.len() > 1 => return Err(self.error("too many arguments")),
                "gset" => return Ok(MetaCommand::Keep(ResultStorage::One(prefix(words)))),
                "aset" => return Ok(MetaCommand::Keep(ResultStorage::Every(prefix(words)))),
                "setrandom" => return Err(self.error(
                    "\\setrandom is gone since pgbench 9.6, write \\set NAME random(MIN, MAX) or \
                 random_gaussian, random_exponential",
                )),
                _ => return Err(self.error("invalid command")),
            };
        Ok(MetaCommand::Command(kind))
    }

    /// `\sleep NUMBER [UNIT]`, `\sleep NUMBERUNIT`, `\sleep :VARIABLE [UNIT]`.
    fn sleep(
        &self,
        words: &[(&str, usize)],
        names: &mut NameTable,
    ) -> Result<CommandKind, Box<SyntaxError>> {
        let &[(number, at), ref rest @ ..] = words else {
            return Err(self.error("missing argument"));
        };
        if let [_, (_, third), ..] = rest {
            return Err(self.error_at("too many arguments", *third, None));
        }
        let mut unit = rest.first().copied();
        let length = match number.strip_prefix(':') {
            Some(name) => CommandLength::Variable(names.slot(name)),
            None => {
                let (digits, tail) = split_number(number);
                let has_digits = digits.ends_with(|last: char| last.is_ascii_digit());
                if !tail.is_empty() && (unit.is_some() || !has_digits) {
                    let message = "invalid sleep time, must be an integer";
                    return Err(self.error_at(message, at, Some(number)));
                }
                if !tail.is_empty() {
                    unit = Some((tail, at + digits.len()));
                }
                CommandLength::Fixed(leading_int(digits))
            }
        };
        let unit = match unit {
            None => 1_000_000,
            Some((unit, _)) if unit.eq_ignore_ascii_case("us") => 1,
            Some((unit, _)) if unit.eq_ignore_ascii_case("ms") => 1_000,
            Some((unit, _)) if unit.eq_ignore_ascii_case("s") => 1_000_000,
            Some((unit, at)) => {
                let message = "unrecognized time unit, must be us, ms or s";
                return Err(self.error_at(message, at, Some(unit)));
            }
        };
        Ok(CommandKind::Sleep { length, unit })
    }
}

fn prefix(words: &[(&str, usize)]) -> String {
    words.first().map_or_else(String::new, |(word, _)| (*word).to_owned())
}

/// `:name` is a variable, `::name` the text `:name`.
fn shell_words(words: &[(&str, usize)], names: &mut NameTable) -> Vec<ShellWord> {
    let word = |(word, _): &(&str, usize)| match word.strip_prefix(':') {
        None => ShellWord::Text((*word).to_owned()),
        Some(rest) if rest.starts_with(':') => ShellWord::Text(rest.to_owned()),
        Some(name) => ShellWord::Variable(names.slot(name)),
    };
    words.iter().map(word).collect()
}

/// A sign and digits, and what follows them.
fn split_number(text: &str) -> (&str, &str) {
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at(sign + digits)
}

/// The integer that a text begins with; 0 where it begins with none. Too long a one is cut.
pub(super) fn leading_int(text: &str) -> i64 {
    let (digits, _) = split_number(text.trim_ascii_start());
    let cut = if digits.starts_with('-') { i64::from(i32::MIN) } else { i64::from(i32::MAX) };
    if digits.is_empty() || digits == "+" || digits == "-" {
        return 0;
    }
    digits.parse::<i32>().map_or(cut, i64::from)
}

/// At most so many bytes of a text.
pub(super) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    &text[..(0..=most).rev().find(is_boundary).unwrap_or(0)]
}
