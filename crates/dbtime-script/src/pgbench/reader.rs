//! Scripts: from text to commands.

use super::command::{CommandKind, ParsedScript, ResultStorage, ScriptCommand, SqlCommand};
use super::meta::{self, MetaCommand};
use super::names::NameTable;
use super::parse_error::{ScriptParseError, SyntaxError};
use super::scan::{ScanStop, SqlScanner};
use super::shown_line::masked_line;
use super::template::StatementTemplate;
use super::token::ScriptCursor;
use dbtime_sql::without_passwords;

/// Bytes of an SQL command's first line that reports show, without its passwords.
const SHOWN_CHARS: usize = 127;

/// Reads a script. `source` is its file, or what a built-in one is called; variables are numbered
/// through `names`.
///
/// # Errors
/// The first thing that is wrong with it.
pub(super) fn parse(
    source: &str,
    text: &str,
    names: &mut NameTable,
) -> Result<ParsedScript, ScriptParseError> {
    let mut scanner = SqlScanner::new(text);
    let mut commands: Vec<ScriptCommand> = Vec::new();
    loop {
        let (sql, stop) = scanner.command();
        commands.extend(sql_command(&sql, names));
        match stop {
            ScanStop::Semicolon => {}
            ScanStop::End => break,
            ScanStop::Backslash => {
                let start = scanner.at - 1;
                let mut cursor = ScriptCursor { text, at: scanner.at };
                let found = meta::parse(source, &mut cursor, names)?;
                scanner.at = cursor.at;
                match found {
                    None => {}
                    Some(MetaCommand::Keep(keep)) => {
                        let line = meta::line_number(text, start);
                        attach(keep, commands.last_mut(), source, line)?;
                    }
                    Some(MetaCommand::Command(kind)) => {
                        let first_line = masked_line(meta::text(&cursor, start)).into_owned();
                        commands.push(ScriptCommand { first_line, kind });
                    }
                }
            }
        }
    }
    if commands.is_empty() {
        return Err(ScriptParseError::Empty(source.to_owned()));
    }
    link(source, &mut commands)?;
    Ok(ParsedScript { name: source.to_owned(), commands })
}

/// The command of some SQL; `None` for blanks and `--` comments alone.
fn sql_command(sql: &str, names: &mut NameTable) -> Option<ScriptCommand> {
    let mut text = sql.trim_ascii_start();
    while text.starts_with("--") {
        text = text.split_once('\n')?.1.trim_ascii_start();
    }
    if text.is_empty() {
        return None;
    }
    let shown = without_passwords(text);
    let first_line = shown.split(['\n', '\r']).next().unwrap_or_default();
    let first_line = meta::cut(first_line, SHOWN_CHARS).to_owned();
    let template = StatementTemplate::new(text, names);
    let sql = SqlCommand { text: text.to_owned(), template, keep: ResultStorage::Nothing };
    Some(ScriptCommand { first_line, kind: CommandKind::Sql(sql) })
}

/// Says of the command before a `\gset` what becomes of its rows.
fn attach(
    keep: ResultStorage,
    command: Option<&mut ScriptCommand>,
    source: &str,
    line: usize,
) -> Result<(), ScriptParseError> {
    let more = match command {
        Some(ScriptCommand { kind: CommandKind::Sql(sql), .. })
            if sql.keep == ResultStorage::Nothing =>
        {
            sql.keep = keep;
            return Ok(());
        }
        Some(ScriptCommand { kind: CommandKind::Sql(_), .. }) | None => None,
        Some(other) => Some(other.first_line.clone()),
    };
    let message = "\\gset must follow an SQL command".to_owned();
    let source = source.to_owned();
    let error = SyntaxError { source, line, message, more, ..SyntaxError::default() };
    Err(ScriptParseError::Syntax(Box::new(error)))
}

/// An `\if` that is still open.
#[derive(Default)]
struct OpenCondition {
    /// The `\if`, `\elif` or `\else` that was last.
    last: usize,
    /// `\elif` and `\else` so far.
    branches: Vec<usize>,
    has_else: bool,
}

/// Tells every `\if` and its relatives where the next one is.
fn link(source: &str, commands: &mut [ScriptCommand]) -> Result<(), ScriptParseError> {
    let error = |index: usize, message| {
        Err(ScriptParseError::Condition(source.to_owned(), index + 1, message))
    };
    let mut open: Vec<OpenCondition> = Vec::new();
    for index in 0..commands.len() {
        let (is_else, without, after) = match commands[index].kind {
            CommandKind::If { .. } => {
                open.push(OpenCondition { last: index, ..OpenCondition::default() });
                continue;
            }
            CommandKind::Endif => {
                let Some(closed) = open.pop() else {
                    return error(index, "\\endif without matching \\if");
                };
                set_otherwise(&mut commands[closed.last], index);
                closed.branches.iter().for_each(|branch| set_end(&mut commands[*branch], index));
                continue;
            }
            CommandKind::Elif { .. } => {
                (false, "\\elif without matching \\if", "\\elif after \\else")
            }
            CommandKind::Else { .. } => {
                (true, "\\else without matching \\if", "\\else after \\else")
            }
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

fn set_otherwise(command: &mut ScriptCommand, target: usize) {
    if let CommandKind::If { otherwise, .. } | CommandKind::Elif { otherwise, .. } =
        &mut command.kind
    {
        *otherwise = target;
    }
}

fn set_end(command: &mut ScriptCommand, target: usize) {
    if let CommandKind::Elif { end, .. } | CommandKind::Else { end } = &mut command.kind {
        *end = target;
    }
}

#[cfg(test)]
mod tests;
