//! `\shell` and `\setshell`: programs of the machine that runs the load. The thread waits for them.

use super::command::ShellWord;
use super::meta::{cut, leading_int};
use super::variables::ClientVariables;
use crate::programs::{ScriptChild, run_line, shell_command};
use dbtime_model::secret_text::without_secrets;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::Stdio;

/// Bytes of a shell command line, the last one not counted.
const MAX_LINE_BYTES: usize = 255;

/// Bytes that are read of what a program prints.
const MAX_OUTPUT_BYTES: usize = 63;

/// The command line, with its variables filled in.
///
/// # Errors
/// A variable that is not set, or a line that is too long.
pub(super) fn line(words: &[ShellWord], variables: &ClientVariables) -> Result<String, String> {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        match word {
            ShellWord::Text(text) => line.push_str(text),
            ShellWord::Variable(slot) if variables.write(*slot, &mut line) => {}
            ShellWord::Variable(slot) => {
                let name = variables.name(*slot);
                return Err(format!("{}: undefined variable \":{name}\"", first(words, variables)));
            }
        }
        if line.len() >= MAX_LINE_BYTES {
            return Err(format!("{}: shell command is too long", first(words, variables)));
        }
    }
    Ok(line)
}

/// The first word as it is written, for messages: it may be `PGPASSWORD=…`.
pub(super) fn first(words: &[ShellWord], variables: &ClientVariables) -> String {
    match words.first() {
        Some(ShellWord::Text(text)) => without_secrets(text).into_owned(),
        Some(ShellWord::Variable(slot)) => format!(":{}", variables.name(*slot)),
        None => String::new(),
    }
}

/// The first word without literals: nothing of a value that it sets, or of what it quotes.
pub(super) fn without_literals(first: &str) -> String {
    match first.find(['=', '\'', '"']) {
        Some(at) => format!("{}…", &first[..=at]),
        None => first.to_owned(),
    }
}

/// Runs a command line; `name` is what messages call it.
///
/// # Errors
/// It cannot be started, or says that it failed.
pub(super) fn run(line: &str, name: &str) -> Result<(), String> {
    let failed = || format!("{name}: could not launch shell command");
    let status = run_line(OsStr::new(line)).map_err(|_| failed())?;
    if status.success() { Ok(()) } else { Err(failed()) }
}

/// Runs a command line and takes the integer that it prints on its first line.
///
/// # Errors
/// It cannot be started, prints nothing, or prints something else.
pub(super) fn run_for_int(line: &str, name: &str) -> Result<i64, String> {
    let output = output(line).map_err(|_| format!("{name}: could not launch shell command"))?;
    let text = String::from_utf8_lossy(&output);
    let text = text.split_inclusive('\n').next().unwrap_or_default();
    let text = cut(text, MAX_OUTPUT_BYTES);
    if text.is_empty() {
        return Err(format!("{name}: could not read result of shell command"));
    }
    let digits = text.trim_ascii();
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{name}: shell command must return an integer (not \"{text}\")"));
    }
    Ok(leading_int(digits))
}

/// All that a command line prints to stdout.
fn output(line: &str) -> io::Result<Vec<u8>> {
    let mut command = shell_command(OsStr::new(line));
    let mut child = ScriptChild::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let mut output = Vec::new();
    if let Some(mut stdout) = child.take_stdout() {
        stdout.read_to_end(&mut output)?;
    }
    child.wait()?;
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgbench::names::NameTable;
    use crate::pgbench::value::ScriptValue;
    use std::sync::Arc;

    #[test]
    fn variables_are_filled_into_the_line() {
        let mut names = NameTable::default();
        let (a, b) = (names.slot("a"), names.slot("b"));
        let mut variables = ClientVariables::new(Arc::new(names));
        variables.set("set", a, ScriptValue::Int(3)).expect("a good name");
        let echo = ShellWord::Text("echo".to_owned());
        let words = [echo.clone(), ShellWord::Variable(a)];
        assert_eq!(line(&words, &variables), Ok("echo 3".to_owned()));
        let error = line(&[echo.clone(), ShellWord::Variable(b)], &variables).unwrap_err();
        assert_eq!(error, "echo: undefined variable \":b\"");
        let long = ShellWord::Text("x".repeat(300));
        let error = line(&[echo, long.clone()], &variables).unwrap_err();
        assert_eq!(error, "echo: shell command is too long");
        let setting = ShellWord::Text("PGPASSWORD=geheim".to_owned());
        let error = line(&[setting, long], &variables).unwrap_err();
        assert_eq!(error, "PGPASSWORD=***: shell command is too long");
    }

    #[test]
    fn a_first_word_is_shown_without_literals() {
        for (first, shown) in [
            ("sleep", "sleep"),
            ("/bin/sleep", "/bin/sleep"),
            (":program", ":program"),
            ("X=4711", "X=…"),
            ("'4711", "'…"),
            ("echo\"4711\"", "echo\"…"),
        ] {
            assert_eq!(without_literals(first), shown);
        }
    }

    #[test]
    fn what_a_program_says_is_taken_for_an_integer() {
        assert_eq!(run_for_int("echo ' -12 '; echo 13", "echo"), Ok(-12));
        let error = run_for_int("echo foo", "echo").unwrap_err();
        assert_eq!(error, "echo: shell command must return an integer (not \"foo\n\")");
        let error = run_for_int("true", "true").unwrap_err();
        assert_eq!(error, "true: could not read result of shell command");
        assert_eq!(run("true", "true"), Ok(()));
        assert_eq!(run("false", "x").unwrap_err(), "x: could not launch shell command");
    }
}
