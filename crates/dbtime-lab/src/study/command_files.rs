//! The files that a command of the shell executes and reads, as far as its text names them. What it
//! finds while it runs, such as libraries, is not looked for.

use dbtime_model::record::FactorValue;
use std::path::{Path, PathBuf};

/// What ends a word of the shell and is one itself.
const SEPARATORS: &str = ";|&()<>\n";

/// Words that stand before a command.
const BEFORE_COMMANDS: [&str; 12] =
    ["!", "do", "elif", "else", "env", "exec", "if", "nice", "sudo", "then", "time", "while"];

/// A larger file that is only read is no part of it: hashing it would take long. Unit: bytes.
const MOST_READ_BYTES: u64 = 64 << 20;

/// The files of a command that works in this folder with these variables, links resolved, each with
/// whether it is executed.
pub(super) fn command_files(
    script: &str,
    variables: &[FactorValue],
    directory: &Path,
) -> Vec<(PathBuf, bool)> {
    let words = shlex::split(&separated(&expanded(script, variables))).unwrap_or_default();
    let (mut is_command, mut is_written) = (true, false);
    let mut files = Vec::new();
    for word in &words {
        match word.as_str() {
            ">" => is_written = true,
            "<" => {}
            ";" | "|" | "&" | "(" | ")" => (is_command, is_written) = (true, false),
            _ if is_written => is_written = false,
            before if is_command && stands_before(before) => {}
            program if is_command => {
                is_command = false;
                files.extend(program_file(program, directory).map(|path| (path, true)));
            }
            argument => files.extend(read_file(argument, directory).map(|path| (path, false))),
        }
    }
    files
}

/// A script with the values of these variables in their places.
fn expanded(script: &str, variables: &[FactorValue]) -> String {
    let (mut text, mut rest) = (String::new(), script);
    while let Some((before, after)) = rest.split_once('$') {
        text += before;
        let inner = after.strip_prefix('{').unwrap_or(after);
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let (name, behind) = inner.split_at(inner.find(is_end).unwrap_or(inner.len()));
        match variables.iter().find(|variable| variable.name == name) {
            Some(variable) => {
                text += &variable.value;
                let is_braced = after.starts_with('{');
                rest = behind.strip_prefix('}').filter(|_| is_braced).unwrap_or(behind);
            }
            None => {
                text.push('$');
                rest = after;
            }
        }
    }
    text + rest
}

/// A script with blanks around what separates words outside of quotes.
fn separated(script: &str) -> String {
    let mut text = String::with_capacity(script.len());
    let (mut quote, mut is_escaped) = (None, false);
    for c in script.chars() {
        match quote {
            Some(open) if c == open && !is_escaped => quote = None,
            None if !is_escaped && (c == '\'' || c == '"') => quote = Some(c),
            _ => {}
        }
        let is_separator = quote.is_none() && !is_escaped && SEPARATORS.contains(c);
        is_escaped = c == '\\' && !is_escaped && quote != Some('\'');
        match (is_separator, c) {
            // The end of a line ends a comment too.
            (true, '\n') => text += " \n ; ",
            (true, _) => text.extend([' ', c, ' ']),
            (false, _) => text.push(c),
        }
    }
    text
}

/// Whether a command follows: an assignment, or a word of the shell.
fn stands_before(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_plain);
    word.split_once('=').is_some_and(|(name, _)| is_name(name)) || BEFORE_COMMANDS.contains(&word)
}

fn program_file(word: &str, directory: &Path) -> Option<PathBuf> {
    if word.contains('/') {
        return regular(&directory.join(word));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|folder| regular(&directory.join(folder).join(word)))
}

/// The file that an argument names, or that is the value of its flag.
fn read_file(word: &str, directory: &Path) -> Option<PathBuf> {
    let place = word.split_once('=').map_or(word, |(_, value)| value);
    let is_short = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() <= MOST_READ_BYTES);
    regular(&directory.join(place)).filter(is_short)
}

fn regular(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn found(script: &str, variables: &[(&str, &str)], folder: &Path) -> Vec<(String, bool)> {
        let variable = |(name, value): &(&str, &str)| FactorValue {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        let variables: Vec<FactorValue> = variables.iter().map(variable).collect();
        let name = |(path, is_program): (PathBuf, bool)| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, is_program)
        };
        command_files(script, &variables, folder).into_iter().map(name).collect()
    }

    #[test]
    fn programs_and_what_they_read_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["new", "old", "a.sql", "b.sql", "out.txt"] {
            fs::write(folder.path().join(name), name).expect("written");
        }
        let of = |script: &str, variables: &[(&str, &str)]| -> Vec<(String, bool)> {
            found(script, variables, folder.path())
        };
        let file = |name: &str, is_program| (name.to_owned(), is_program);
        let (new, old) = (file("new", true), file("old", true));
        assert_eq!(of("A=1 ./new -f a.sql", &[]), [new.clone(), file("a.sql", false)]);
        assert_eq!(of("./new --file=b.sql > out.txt", &[]), [new.clone(), file("b.sql", false)]);
        assert_eq!(of("(./new; exec ./old)2>&1", &[]), [new.clone(), old.clone()]);
        assert_eq!(of("# ./new\n./old", &[]), std::slice::from_ref(&old));
        assert_eq!(of("./new 'x; ./old' < a.sql", &[]), [new.clone(), file("a.sql", false)]);
        let build = [("BUILD", "./old"), ("BUILDS", "./new")];
        assert_eq!(of("$BUILD && ${BUILDS} $BUILDX", &build), [old, new]);
        assert!(of("'./new", &[]).is_empty(), "the shell refuses it");
    }

    #[test]
    fn a_program_without_a_path_is_the_one_that_the_shell_finds() {
        let sh = found("sh -c true", &[], Path::new("/"));
        assert!(sh.len() == 1 && sh[0].1, "{sh:?}");
        assert!(found("no-such-program x", &[], Path::new("/")).is_empty());
    }
}
