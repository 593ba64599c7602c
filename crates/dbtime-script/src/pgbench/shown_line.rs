//! Backslash commands as reports, `--debug` and errors show them: without their passwords.

use dbtime_model::secret_text::{MASK, is_secret_name, script_without_secrets};
use std::borrow::Cow;

/// What strings are put in. Expressions have none: one is an error, which shows its line.
const QUOTES: [char; 2] = ['\'', '"'];

/// A backslash command with a mask in the place of each password. One that has any is shown as
/// one line.
pub(super) fn masked_line(line: &str) -> Cow<'_, str> {
    let joined = line.replace("\\\n", " ");
    let (name, rest) = cut_behind(&joined, 1);
    let command = name.trim_start_matches('\\').trim_ascii().to_ascii_lowercase();
    let shown = match command.as_str() {
        "set" | "setshell" => {
            let (before, value) = cut_behind(&joined, 2);
            let variable = before[name.len()..].trim_ascii();
            format!("{before}{}", masked_value(&command, variable, value))
        }
        "if" | "elif" => format!("{name}{}", without_strings(rest)),
        // A misspelt one may have been to run a program.
        _ => format!("{name}{}", script_without_secrets(rest)),
    };
    if shown == joined { Cow::Borrowed(line) } else { Cow::Owned(shown) }
}

/// What a variable gets. Its name may say that it is a secret, unless it is made of others.
fn masked_value(command: &str, variable: &str, value: &str) -> String {
    let is_set = command == "set";
    let is_computed = is_set && (value.contains('(') || value.trim_ascii().starts_with(':'));
    match is_secret_name(variable) && !is_computed && !value.trim_ascii().is_empty() {
        true => format!(" {MASK}"),
        false if is_set => without_strings(value),
        false => script_without_secrets(value),
    }
}

/// An expression without what stands in quotes.
fn without_strings(expression: &str) -> String {
    let mut shown = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some(at) = rest.find(QUOTES) {
        let (quote, inner) = (&rest[at..=at], &rest[at + 1..]);
        shown.extend([&rest[..at], "'", MASK, "'"]);
        // One that is never closed goes on to the end.
        let end = inner.find(quote).map_or(inner.len(), |end| end + 1);
        rest = &inner[end..];
    }
    shown + rest
}

/// A command cut behind so many words.
fn cut_behind(line: &str, words: usize) -> (&str, &str) {
    let mut rest = line.trim_start_matches('\\');
    for _ in 0..words {
        rest = rest.trim_ascii_start();
        let length = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        rest = &rest[length..];
    }
    line.split_at(line.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_backslash_commands_are_masked() {
        for (line, shown) in [
            ("\\shell mysql -uroot -pgeheim shop", "\\shell mysql -uroot -p*** shop"),
            ("\\shell mysql \\\n -pgeheim", "\\shell mysql   -p***"),
            ("\\shell PGPASSWORD=geheim psql", "\\shell PGPASSWORD=*** psql"),
            ("\\SetShell x redis-cli -a geheim get n", "\\SetShell x redis-cli -a *** get n"),
            ("\\setshell pw echo 4711", "\\setshell pw ***"),
            ("\\ shell mysql -pgeheim", "\\ shell mysql -p***"),
            ("\\shel mysql -pgeheim", "\\shel mysql -p***"),
            ("\\set password 4711", "\\set password ***"),
            ("\\set x 'geheim'", "\\set x '***'"),
            ("\\set x concat('a b', \"geheim", "\\set x concat('***', '***'"),
            ("\\if :x = 'geheim'", "\\if :x = '***'"),
        ] {
            assert_eq!(masked_line(line), shown);
            assert_eq!(masked_line(shown), shown, "it stays what it is");
        }
    }

    #[test]
    fn other_backslash_commands_are_shown_as_they_are() {
        for line in [
            "\\set a 1 \\\n + 2",
            "\\set token random(1, 1000)",
            "\\set pw :given",
            "\\set pw",
            "\\setshell x date +%s",
            "\\shell psql -p 5432 -f x.sql",
            "\\if :a > 1",
            "\\sleep 1 ms",
            "\\endif",
        ] {
            assert_eq!(masked_line(line), line);
        }
    }
}
