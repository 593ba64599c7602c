//! Secrets of a command line: in targets, in options of scripts and of other tools, and in
//! variables for private servers.

use crate::spec::QUERY;
use dbtime_engines::server::url::{ServerUrl, is_keywords, without_login_secret, without_password};
use dbtime_lab::TargetForm;
use dbtime_model::secret_text::{
    MASK, is_secret_name, is_secret_option, is_secret_setting, is_secret_variable,
};
use dbtime_model::shell;
use dbtime_sql::without_passwords;

/// Flags whose values may hold one, wherever it stands in them.
const FLAGS: [&str; 8] = [
    "target",
    "login",
    "query",
    "server-env",
    "script-set",
    "mysql-password",
    "pgsql-password",
    "sweep",
];

/// What the URL of a server begins with.
const SCHEMES: [&str; 4] = ["mysql://", "mariadb://", "postgres://", "postgresql://"];

/// What a password begins with in a connection string of libpq's.
const PASSWORD: &str = "password";

/// The value of a flag as it may be shown.
pub(crate) fn shown(flag: &str, value: &str) -> String {
    match dashed(flag).as_str() {
        "target" | "login" => without_password(value),
        "query" => without_passwords(value).into_owned(),
        "sweep" => factors(value, shown),
        name => match rule_of_pairs(name) {
            Some(is_secret) => pair(value, is_secret),
            None if is_secret_name(name) => MASK.to_owned(),
            None => connection(value),
        },
    }
}

/// What decides whether a value is a secret, of a flag whose values are `NAME=VALUE`.
fn rule_of_pairs(flag: &str) -> Option<fn(&str, &str) -> bool> {
    match flag {
        "server-env" => Some(is_secret_variable),
        "script-set" => Some(is_secret_option),
        "server-set" => Some(is_secret_setting),
        _ => None,
    }
}

/// Whether values of a factor may be pieces of a secret that has a comma in it, which ends a value.
pub(crate) fn is_torn(flag: &str, values: &str) -> bool {
    let flag = dashed(flag);
    let mut values = values.split(',');
    let Some(is_secret) = rule_of_pairs(&flag) else {
        let is_target = matches!(flag.as_str(), "target" | "login");
        return is_target && values.clone().any(|value| is_piece_of_target(value, values.clone()));
    };
    let name = |value: &str| value.split_once('=').map(|(name, _)| name.to_owned());
    let secret = values.find_map(|value| {
        let (name, value) = value.split_once('=')?;
        is_secret(name, value).then(|| name.to_owned())
    });
    // Another value of the same name is none.
    secret.is_some_and(|secret| values.any(|value| name(value).is_none_or(|name| name != secret)))
}

/// Whether a value among others is no target, but may be a piece of one with a password.
fn is_piece_of_target<'a>(value: &str, mut all: impl Iterator<Item = &'a str>) -> bool {
    if SCHEMES.iter().any(|scheme| value.starts_with(scheme)) {
        return !value.contains('@') && ServerUrl::parse(value).is_err();
    }
    let has_password = |text: &str| is_keywords(text) && without_password(text) != text;
    TargetForm::of(value).is_none() && (value.contains('@') || all.any(has_password))
}

/// `NAME=VALUE` without a value that is a secret.
fn pair(text: &str, is_secret: fn(&str, &str) -> bool) -> String {
    match text.split_once('=') {
        Some((name, value)) if name.is_empty() || is_secret(name, value) => {
            format!("{name}={MASK}")
        }
        _ => text.to_owned(),
    }
}

/// Factors of a sweep, `flag=value,value flag=value; …`, each value as that of its flag.
fn factors(sweep: &str, of: fn(&str, &str) -> String) -> String {
    let ends_word = |c: char| c == ';' || c.is_whitespace();
    let mut is_behind_secret = false;
    let factor = |text: &str| {
        let word = text.trim_end_matches(ends_word);
        let end = &text[word.len()..];
        let Some((flag, values)) = word.split_once('=') else {
            // It may be the rest of a secret that has a blank or a semicolon in it.
            let is_rest = is_behind_secret && !word.is_empty();
            return if is_rest { format!("{MASK}{end}") } else { text.to_owned() };
        };
        let name = flag.trim_start_matches("--");
        let shown = match is_torn(name, values) {
            true => MASK.to_owned(),
            false => values.split(',').map(|value| of(name, value)).collect::<Vec<_>>().join(","),
        };
        is_behind_secret |= shown != values;
        format!("{flag}={shown}{end}")
    };
    sweep.split_inclusive(ends_word).map(factor).collect()
}

/// A word that may be a database, as pgbench takes it, a URL or `host=… password='…'`, or a
/// variable of its scripts.
fn connection(word: &str) -> String {
    if SCHEMES.iter().any(|scheme| word.starts_with(scheme)) {
        return without_password(word);
    }
    if let Some(variable) = word.strip_prefix("-D") {
        return format!("-D{}", pair(variable, is_secret_option));
    }
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    match word.split_once('=') {
        Some((name, _)) if is_name(name.trim()) => match without_value(word) {
            whole if whole == word => pair(word, is_secret_setting),
            hidden => hidden,
        },
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
        // Also behind another word of its name, as in `mysql_password` and `sslpassword`.
        if let Some(value) = after.trim_start().strip_prefix('=') {
            shown += "=";
            shown += MASK;
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

/// A word of a command line as a complaint may quote it.
pub(crate) fn in_complaint(word: &str) -> String {
    match word.strip_prefix('=') {
        Some(_) => format!("={MASK}"),
        None => without_password(word),
    }
}

/// The variable of the environment that has the value of a script's option.
pub(crate) fn variable_of(option: &str) -> String {
    option.replace(['-', '.'], "_")
}

/// The command as a shell would take it again, without passwords and without the folder of the
/// record, which would be there already.
pub(crate) fn command_line(arguments: &[String]) -> String {
    let mut words = vec!["dbtime".to_owned()];
    let mut flag = None;
    for argument in arguments.iter().skip(1) {
        let long = argument.strip_prefix("--");
        match (flag.take(), long.map(|long| long.split_once('=').ok_or(long))) {
            (Some(OUT), _) | (None, Some(Ok((OUT, _)))) => {}
            (Some(flag), _) => words.push(format!("--{flag} {}", repeatable(flag, argument))),
            (None, Some(Ok((flag, value)))) if may_hold_one(flag) => {
                words.push(format!("--{flag}={}", repeatable(flag, value)));
            }
            (None, Some(Ok((flag, value)))) => {
                let word = format!("--{flag}={}", shown(flag, value));
                words.push(shell::quoted(&word).into_owned());
            }
            (None, name) => {
                let name = name.and_then(Result::err);
                flag = name.filter(|name| *name == OUT || FLAGS.contains(&dashed(name).as_str()));
                if flag.is_none() {
                    words.push(shell::quoted(&connection(argument)).into_owned());
                }
            }
        }
    }
    words.extend(flag.filter(|flag| *flag != OUT).map(|flag| format!("--{flag}")));
    words.join(" ")
}

/// Whether the value of a flag may hold a secret, wherever it stands in it.
fn may_hold_one(flag: &str) -> bool {
    FLAGS.contains(&dashed(flag).as_str()) || is_secret_name(flag)
}

/// The flag whose value names the folder of a record.
const OUT: &str = "out";

/// Other tools take a name with underscores too.
fn dashed(flag: &str) -> String {
    flag.replace('_', "-")
}

/// The value of a flag that may hold a password, as a word of a command that takes the password
/// from elsewhere: a target from the client's own files and variables, all else from the
/// environment.
fn repeatable(flag: &str, value: &str) -> String {
    let kept = kept(flag, value);
    match (dashed(flag).as_str(), kept.split_once('=')) {
        // Also where an older command has left it to the environment.
        ("query", _) if shown(flag, value) != value || value.strip_prefix('$') == Some(QUERY) => {
            format!("\"${QUERY}\"")
        }
        _ if shown(flag, value) == value => shell::quoted(value).into_owned(),
        ("server-env", Some((name, _))) => format!("{}=\"${name}\"", shell::quoted(name)),
        ("script-set", Some((name, _))) => {
            format!("{}=\"${}\"", shell::quoted(name), variable_of(name))
        }
        ("mysql-password", _) => "\"$MYSQL_PWD\"".to_owned(),
        ("pgsql-password", _) => "\"$PGPASSWORD\"".to_owned(),
        (name, _) if is_secret_name(name) => {
            format!("\"${}\"", variable_of(name).to_ascii_uppercase())
        }
        _ => shell::quoted(&kept).into_owned(),
    }
}

/// The value of a flag without the secrets that are supplied again from elsewhere.
fn kept(flag: &str, value: &str) -> String {
    match dashed(flag).as_str() {
        "target" | "login" => without_login_secret(value),
        "sweep" => factors(value, kept),
        _ => shown(flag, value),
    }
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
            "dbtime run --json --target mysql://u@h/d --strict"
        );
        assert_eq!(line(&["run", "--target=pg:secret@h"]), "dbtime run --target=pg@h");
        assert_eq!(
            line(&["--server-env", "APP_PASSWORD=x", "--server-env=LD_PRELOAD=/a.so"]),
            "dbtime --server-env APP_PASSWORD=\"$APP_PASSWORD\" --server-env=LD_PRELOAD=/a.so"
        );
        assert_eq!(shown("server-env", "LONELY"), "LONELY");
        assert_eq!(
            line(&["run", "--target", "postgres://h/d?p%61ssword=secret&port=1"]),
            "dbtime run --target 'postgres://h/d?port=1'"
        );
        assert_eq!(
            line(&["run", "--server-env=API_KEY=x", "--script-set", "app-token=x"]),
            "dbtime run --server-env=API_KEY=\"$API_KEY\" --script-set \
             app-token=\"$app_token\""
        );
    }

    #[test]
    fn complaints_quote_no_secrets() {
        for (word, quoted) in [
            ("postgres://u:secret@h/d?sslpassword=x", "postgres://u:***@h/d?sslpassword=***"),
            ("host=h password = 'x y'", "host=h password=***"),
            ("=secret", "=***"),
            ("--server-env <NAME[=VALUE]>", "--server-env <NAME[=VALUE]>"),
            ("-5s", "-5s"),
        ] {
            assert_eq!(in_complaint(word), quoted);
        }
    }

    #[test]
    fn passwords_that_are_swept_are_hidden() {
        let sweep = "target=sqlite,mysql://u:secret@h/d,postgres://v:word@h/d workers=1,2;rate=9";
        assert_eq!(
            line(&["run", "--sweep", sweep]),
            "dbtime run --sweep 'target=sqlite,mysql://u@h/d,postgres://v@h/d workers=1,2;rate=9'"
        );
        assert_eq!(
            shown("sweep", "--server-env=A_TOKEN=x,A_TOKEN=y  seed=1 ;"),
            "--server-env=A_TOKEN=***,A_TOKEN=***  seed=1 ;"
        );
        for (torn, hidden) in [
            ("server-env=A_TOKEN=x,y seed=1", "server-env=*** seed=1"),
            ("server-env=A_TOKEN=x,y=z", "server-env=***"),
            ("server-env=A_TOKEN=x;y z;seed=1", "server-env=A_TOKEN=***;*** ***;seed=1"),
            ("target=mysql://u:x,y@h/d,sqlite", "target=***"),
            ("target=mysql://u:12,y@h/d", "target=***"),
            ("target=password=x,y", "target=***"),
        ] {
            assert_eq!(shown("sweep", torn), hidden);
        }
        assert_eq!(shown("sweep", "nonsense"), "nonsense");
    }

    #[test]
    fn passwords_of_other_tools_flags_are_hidden() {
        assert_eq!(
            line(&["sysbench", "--mysql-password=x y", "--pgsql-password", "z", "run"]),
            "dbtime sysbench --mysql-password=\"$MYSQL_PWD\" --pgsql-password \"$PGPASSWORD\" run"
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
        assert_eq!(
            line(&["pgbench", "-Dtoken=x", "-D", "app_password=y", "host=h sslpassword=z"]),
            "dbtime pgbench '-Dtoken=***' -D 'app_password=***' 'host=h sslpassword=***'"
        );
        assert_eq!(
            line(&["sysbench", "--api-token=x", "--password-file=/x", "--mysql-ssl-key=/k"]),
            "dbtime sysbench --api-token=\"$API_TOKEN\" --password-file=/x --mysql-ssl-key=/k"
        );
    }

    #[test]
    fn the_password_of_a_statement_is_left_to_the_environment() {
        for sql in ["ALTER ROLE r PASSWORD 'hush'", "$DBTIME_QUERY"] {
            let repeated = "dbtime run --query \"$DBTIME_QUERY\" --seed 2";
            assert_eq!(line(&["run", "--query", sql, "--seed", "2"]), repeated);
            let repeated = "dbtime run --query=\"$DBTIME_QUERY\"";
            assert_eq!(line(&["run", &format!("--query={sql}")]), repeated);
        }
        assert_eq!(shown("query", "SET PASSWORD = 'hush'"), "SET PASSWORD = '***'");
    }

    #[test]
    fn the_folder_of_a_record_is_left_to_the_next_run() {
        assert_eq!(line(&["run", "--out", "a b", "--seed", "2"]), "dbtime run --seed 2");
        assert_eq!(line(&["run", "--out=a", "--time=1s"]), "dbtime run --time=1s");
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
            "dbtime --target 'postgres://u@/d?host=/x&port=5433'"
        );
    }
}
