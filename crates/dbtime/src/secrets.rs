//! Passwords of a command line: in targets, and in variables for private servers.

use dbtime_engines::server_url::without_password;
use dbtime_engines::shell;

/// What stands in a password's place.
const HIDDEN: &str = "***";

/// Parts of a variable's name that say its value is a secret.
const SECRET: [&str; 4] = ["PASS", "PWD", "SECRET", "TOKEN"];

/// Flags whose values may hold one, wherever it stands in them.
const FLAGS: [&str; 5] = ["target", "login", "server-env", "mysql-password", "pgsql-password"];

/// What the URL of a server begins with.
const SCHEMES: [&str; 4] = ["mysql://", "mariadb://", "postgres://", "postgresql://"];

/// What a password begins with in a connection string of libpq's.
const PASSWORD: &str = "password";

/// The value of a flag as it may be shown.
pub(crate) fn shown(flag: &str, value: &str) -> String {
    // Other tools take a name with underscores too.
    match flag.replace('_', "-").as_str() {
        "target" | "login" => without_password(value),
        "server-env" => variable(value),
        "mysql-password" | "pgsql-password" => HIDDEN.to_owned(),
        _ => connection(value),
    }
}

/// A word that may be a database, as pgbench takes it: a URL, or `host=… password='…'`.
fn connection(word: &str) -> String {
    if SCHEMES.iter().any(|scheme| word.starts_with(scheme)) {
        return without_password(word);
    }
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    match word.split_once('=') {
        Some((name, _)) if is_name(name.trim()) => without_value(word),
        _ => word.to_owned(),
    }
}

/// A connection string without the values of its passwords.
fn without_value(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(PASSWORD) {
        shown += before;
        shown += PASSWORD;
        rest = after;
        // Also behind another word of its name, as in `mysql_password`.
        let starts_word = before.ends_with(|c: char| c.is_whitespace() || c == '_' || c == '-')
            || before.is_empty();
        if let (true, Some(value)) = (starts_word, after.trim_start().strip_prefix('=')) {
            shown += "=";
            shown += HIDDEN;
            rest = behind(value.trim_start());
        }
    }
    shown + rest
}

/// What stands behind a value: up to a blank, or between single quotes.
fn behind(value: &str) -> &str {
    let is_quoted = value.starts_with('\'');
    let mut is_escaped = false;
    for (at, character) in value.char_indices().skip(usize::from(is_quoted)) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' if is_quoted => return &value[at + 1..],
            blank if blank.is_whitespace() && !is_quoted => return &value[at..],
            _ => {}
        }
    }
    ""
}

fn variable(pair: &str) -> String {
    let Some((name, _)) = pair.split_once('=') else { return pair.to_owned() };
    let upper = name.to_ascii_uppercase();
    match SECRET.iter().any(|word| upper.contains(word)) {
        true => format!("{name}={HIDDEN}"),
        false => pair.to_owned(),
    }
}

/// The command as a shell would take it again, without passwords.
pub(crate) fn command_line(arguments: &[String]) -> String {
    let mut words = vec!["dbtime".to_owned()];
    let mut flag = None;
    for argument in arguments.iter().skip(1) {
        let long = argument.strip_prefix("--");
        let word = match (flag.take(), long.map(|long| long.split_once('=').ok_or(long))) {
            (Some(flag), _) => shown(flag, argument),
            (None, Some(Ok((flag, value)))) => format!("--{flag}={}", shown(flag, value)),
            (None, name) => {
                flag = name
                    .and_then(Result::err)
                    .filter(|name| FLAGS.contains(&name.replace('_', "-").as_str()));
                connection(argument)
            }
        };
        words.push(shell::quoted(&word).into_owned());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str]) -> String {
        let all = ["/usr/bin/dbtime"].iter().chain(arguments).map(|text| (*text).to_owned());
        command_line(&all.collect::<Vec<_>>())
    }

    #[test]
    fn passwords_are_hidden_wherever_one_can_be() {
        assert_eq!(
            line(&["run", "--json", "--target", "mysql://u:secret@h/d", "--strict"]),
            "dbtime run --json --target 'mysql://u:***@h/d' --strict"
        );
        assert_eq!(line(&["run", "--target=pg:secret@h"]), "dbtime run '--target=pg:***@h'");
        assert_eq!(
            line(&["--server-env", "APP_PASSWORD=x", "--server-env=LD_PRELOAD=/a.so"]),
            "dbtime --server-env 'APP_PASSWORD=***' --server-env=LD_PRELOAD=/a.so"
        );
        assert_eq!(shown("server-env", "LONELY"), "LONELY");
    }

    #[test]
    fn passwords_of_other_tools_flags_are_hidden() {
        assert_eq!(
            line(&["sysbench", "--mysql-password=x y", "--pgsql-password", "z", "run"]),
            "dbtime sysbench '--mysql-password=***' --pgsql-password '***' run"
        );
        assert_eq!(
            line(&["pgbench", "-c", "2", "postgres://u:p@h/d"]),
            "dbtime pgbench -c 2 'postgres://u:***@h/d'"
        );
        assert_eq!(
            line(&["pgbench", r"host=h password = 'a b\'c' dbname=d"]),
            "dbtime pgbench 'host=h password=*** dbname=d'"
        );
        assert_eq!(
            line(&["pgbench", "--dbname=password=x"]),
            "dbtime pgbench '--dbname=password=***'"
        );
    }

    #[test]
    fn what_is_no_secret_stays_as_it_was_given() {
        for text in ["SELECT id FROM t WHERE token = 'x'", "SELECT '{1,2}'::int[] @> '{1}'"] {
            let expected = format!("dbtime run --query {}", shell::quoted(text));
            assert_eq!(line(&["run", "--query", text]), expected);
        }
        let set = "password_encryption=md5";
        assert_eq!(line(&["--server-set", set]), format!("dbtime --server-set {set}"));
        let target = "postgres://u:p@/d?host=/x&port=5433";
        assert_eq!(
            line(&["--target", target]),
            "dbtime --target 'postgres://u:***@/d?host=/x&port=5433'"
        );
    }
}
