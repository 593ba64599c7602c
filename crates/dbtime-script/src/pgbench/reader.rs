//! Scripts: from text to commands.

use super::command::{Command, Keep, Kind, Script, Sql};
use super::complaint::{Complaint, SyntaxError};
use super::meta::{self, Meta};
use super::names::Names;
use super::scan::{Scanner, Stop};
use super::template::Template;
use super::token::Cursor;

/// Bytes of an SQL command's first line that reports show.
const SHOWN: usize = 127;

/// Reads a script. `source` is its file, or what a built-in one is called; variables are numbered
/// through `names`.
///
/// # Errors
/// The first thing that is wrong with it.
pub(super) fn parse(source: &str, text: &str, names: &mut Names) -> Result<Script, Complaint> {
    let mut scanner = Scanner::new(text);
    let mut commands: Vec<Command> = Vec::new();
    loop {
        let (sql, stop) = scanner.command();
        commands.extend(sql_command(&sql, names));
        match stop {
            Stop::Semicolon => {}
            Stop::End => break,
            Stop::Backslash => {
                let start = scanner.at - 1;
                let mut cursor = Cursor { text, at: scanner.at };
                let found = meta::parse(source, &mut cursor, names)?;
                scanner.at = cursor.at;
                match found {
                    None => {}
                    Some(Meta::Keep(keep)) => {
                        let line = meta::line_number(text, start);
                        attach(keep, commands.last_mut(), source, line)?;
                    }
                    Some(Meta::Command(kind)) => {
                        let first_line = meta::text(&cursor, start).to_owned();
                        commands.push(Command { first_line, kind });
                    }
                }
            }
        }
    }
    if commands.is_empty() {
        return Err(Complaint::Empty(source.to_owned()));
    }
    link(source, &mut commands)?;
    Ok(Script { name: source.to_owned(), commands })
}

/// The command of some SQL; `None` for blanks and `--` comments alone.
fn sql_command(sql: &str, names: &mut Names) -> Option<Command> {
    let mut text = sql.trim_ascii_start();
    while text.starts_with("--") {
        text = text.split_once('\n')?.1.trim_ascii_start();
    }
    if text.is_empty() {
        return None;
    }
    let first_line = text.split(['\n', '\r']).next().unwrap_or_default();
    let first_line = meta::cut(first_line, SHOWN).to_owned();
    let template = Template::new(text, names);
    let sql = Sql { text: text.to_owned(), template, keep: Keep::Nothing };
    Some(Command { first_line, kind: Kind::Sql(sql) })
}

/// Says of the command before a `\gset` what becomes of its rows.
fn attach(
    keep: Keep,
    command: Option<&mut Command>,
    source: &str,
    line: usize,
) -> Result<(), Complaint> {
    let more = match command {
        Some(Command { kind: Kind::Sql(sql), .. }) if sql.keep == Keep::Nothing => {
            sql.keep = keep;
            return Ok(());
        }
        Some(Command { kind: Kind::Sql(_), .. }) | None => None,
        Some(other) => Some(other.first_line.clone()),
    };
    let message = "\\gset must follow an SQL command".to_owned();
    let source = source.to_owned();
    let error = SyntaxError { source, line, message, more, ..SyntaxError::default() };
    Err(Complaint::Syntax(Box::new(error)))
}

/// An `\if` that is still open.
#[derive(Default)]
struct Open {
    /// The `\if`, `\elif` or `\else` that was last.
    last: usize,
    /// `\elif` and `\else` so far.
    branches: Vec<usize>,
    has_else: bool,
}

/// Tells every `\if` and its relatives where the next one is.
fn link(source: &str, commands: &mut [Command]) -> Result<(), Complaint> {
    let error =
        |index: usize, message| Err(Complaint::Condition(source.to_owned(), index + 1, message));
    let mut open: Vec<Open> = Vec::new();
    for index in 0..commands.len() {
        let (is_else, without, after) = match commands[index].kind {
            Kind::If { .. } => {
                open.push(Open { last: index, ..Open::default() });
                continue;
            }
            Kind::Endif => {
                let Some(closed) = open.pop() else {
                    return error(index, "\\endif without matching \\if");
                };
                set_otherwise(&mut commands[closed.last], index);
                closed.branches.iter().for_each(|branch| set_end(&mut commands[*branch], index));
                continue;
            }
            Kind::Elif { .. } => (false, "\\elif without matching \\if", "\\elif after \\else"),
            Kind::Else { .. } => (true, "\\else without matching \\if", "\\else after \\else"),
            _ => continue,
        };
        let Some(innermost) = open.last_mut() else { return error(index, without) };
        if innermost.has_else {
            return error(index, after);
        }
        set_otherwise(&mut commands[innermost.last], index);
        innermost.last = index;
        innermost.branches.push(index);
        innermost.has_else = is_else;
    }
    if open.is_empty() { Ok(()) } else { error(commands.len(), "\\if without matching \\endif") }
}

fn set_otherwise(command: &mut Command, target: usize) {
    if let Kind::If { otherwise, .. } | Kind::Elif { otherwise, .. } = &mut command.kind {
        *otherwise = target;
    }
}

fn set_end(command: &mut Command, target: usize) {
    if let Kind::Elif { end, .. } | Kind::Else { end } = &mut command.kind {
        *end = target;
    }
}

#[cfg(test)]
mod tests;
