//! The command that repeats a run, in lines that can be pasted into a shell.

use crate::document::ReportDocument;
use crate::format::{clean, width};
use crate::terminal::TextRole;
use dbtime_model::plain_text::is_treacherous;
use dbtime_model::shell::quoted;

/// Stands for a password in earlier records.
const HIDDEN: &str = "***";

/// How to repeat a run or a sweep by its command, given in a folder, against a target; nothing
/// where there is no command.
pub(crate) fn section(command: &str, folder: &str, target: &str, document: &mut ReportDocument) {
    if command.is_empty() {
        return;
    }
    document.heading("Repeat it");
    document.command(command, folder);
    if let Some(note) = secrets(command, target) {
        document.paragraph(&note, TextRole::Dim);
    }
}

/// The command in lines of at most `columns` columns that a shell reads as one; a word that is
/// longer has a line to itself, for within it nothing can be broken.
///
/// It changes to the folder that paths of the run are relative to, where the record names it by
/// signs that can be shown as they are: any other would be another folder.
pub(crate) fn command(command: &str, directory: &str, columns: usize) -> Vec<String> {
    let mut lines = lines(command, columns);
    if !directory.is_empty() && !directory.contains(is_treacherous) {
        lines.insert(0, format!("cd {} &&", quoted(directory)));
    }
    lines
}

/// How to supply what the command leaves out for its target; `None` where it leaves nothing out.
fn secrets(command: &str, target: &str) -> Option<String> {
    let variables = variables(command);
    if !variables.is_empty() {
        let names = variables.join(", ");
        return Some(format!("passwords are left out: set {names} before (export NAME=…)"));
    }
    if command.contains(HIDDEN) {
        return Some(format!("{HIDDEN} stands for a password: write it there"));
    }
    let supply = match target.starts_with("postgres") {
        true => "PGPASSWORD or ~/.pgpass",
        false => "MYSQL_PWD or ~/.my.cnf",
    };
    target
        .contains(HIDDEN)
        .then(|| format!("the password of the target is left out: supply it by {supply}"))
}

/// Variables of the environment that the command takes passwords from, those of `"$NAME"`.
fn variables(command: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(command) {
        let names = word.split("\"$").skip(1).filter_map(|rest| rest.split('"').next());
        for name in names {
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            // Between single quotes it is text.
            if is_name && !name.is_empty() && !word.contains('\'') {
                found.push(name.to_owned());
            }
        }
    }
    found.dedup();
    found
}

fn lines(command: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(command) {
        // A line of a quoted text stays one, and so do blanks in it.
        let word = word.split('\n').map(clean).collect::<Vec<_>>().join("\n");
        match lines.last_mut() {
            // Room for the sign that the command goes on.
            Some(line) if width(line) + 1 + width(&word) + 2 <= columns && !word.contains('\n') => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    let last = lines.len().saturating_sub(1);
    lines.iter_mut().take(last).for_each(|line| line.push_str(" \\"));
    lines
}

/// The words of a command as a shell separates them, quotes and all.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut signs = command.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (None, ' ') => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                continue;
            }
            (None, '\'' | '"') => quote = Some(sign),
            (Some(open), _) if sign == open => quote = None,
            (None | Some('"'), '\\') => {
                word.push(sign);
                word.extend(signs.next());
                continue;
            }
            _ => {}
        }
        word.push(sign);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What a shell makes of the lines, with `printf` in the place of the program.
    fn pasted(lines: &[String]) -> String {
        let script = format!("dbtime() {{ printf '%s|' \"$@\"; }}\n{}", lines.join("\n  "));
        let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn a_long_command_can_be_pasted() {
        let long = "x".repeat(175);
        let command = format!(
            "dbtime run {long} --limit 'p90  <= 5ms' --query 'SELECT '\\''it'\\''s' --seed 1"
        );
        let lines = lines(&command, 60);
        assert!(lines.len() >= 3 && lines[0] == "dbtime run \\", "{lines:?}");
        assert_eq!(
            pasted(&lines),
            format!("run|{long}|--limit|p90  <= 5ms|--query|SELECT 'it's|--seed|1|")
        );
    }

    #[test]
    fn paths_are_relative_to_the_folder_of_the_run() {
        let lines = command("dbtime run --target sqlite:t.db", "/tmp", 100);
        assert_eq!(lines, ["cd /tmp &&", "dbtime run --target sqlite:t.db"]);
        assert_eq!(pasted(&lines), "run|--target|sqlite:t.db|");
        let blank = command("dbtime run", "/it's here", 100);
        assert_eq!(blank, [r"cd '/it'\''s here' &&", "dbtime run"]);
        // What cannot be shown cannot be pasted: any other sign would lead elsewhere.
        for odd in ["/a\tb", "/a\nb", "/a\u{202e}b"] {
            assert_eq!(command("dbtime run", odd, 100), ["dbtime run"], "{odd:?}");
        }
    }

    #[test]
    fn passwords_are_asked_of_the_environment() {
        let given = "dbtime run --server-env=APP_PASSWORD=\"$APP_PASSWORD\"";
        assert!(secrets(given, "").expect("a note").contains("set APP_PASSWORD"));
        assert!(secrets("dbtime run --query 'SELECT \"$x\"'", "").is_none());
        assert!(secrets("dbtime run --target 'mysql://u:***@h/d'", "").is_some());
        assert!(secrets("dbtime run", "").is_none());
        assert!(secrets("dbtime run", "mysql://u:***@h/d").expect("a note").contains("MYSQL_PWD"));
    }
}
