//! Passwords of a command line: in targets, and in variables for private servers.

use dbtime_engines::server_url::without_password;
use dbtime_engines::shell;

/// Parts of a variable's name that say its value is a secret.
const SECRET: [&str; 4] = ["PASS", "PWD", "SECRET", "TOKEN"];

/// Flags whose values may hold one.
const FLAGS: [&str; 2] = ["target", "server-env"];

/// The value of a flag as it may be shown.
pub(crate) fn shown(flag: &str, value: &str) -> String {
    match flag {
        "target" => without_password(value),
        "server-env" => variable(value),
        _ => value.to_owned(),
    }
}

fn variable(pair: &str) -> String {
    let Some((name, _)) = pair.split_once('=') else { return pair.to_owned() };
    let upper = name.to_ascii_uppercase();
    match SECRET.iter().any(|word| upper.contains(word)) {
        true => format!("{name}=***"),
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
                flag = name.and_then(Result::err).filter(|name| FLAGS.contains(name));
                argument.clone()
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
