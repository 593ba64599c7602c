//! Which names speak of a secret, and texts without the secrets that they name.
//!
//! A command line is public on its machine, a record travels. What looks like a secret is shown as
//! `***`; in doubt too much is masked rather than too little. The spellings have their lists here
//! and in the modules, once for all uses: processes, studies, settings, variables, targets.

mod command_line;
mod printed;
mod scripts;
mod spellings;

pub use command_line::{masked_command, quoted_masked_command};
pub use printed::printed_without_secrets;
pub use scripts::{script_holds_secret, script_without_secrets};

use crate::percent;
use std::borrow::Cow;

/// What stands where a secret was.
pub const MASK: &str = "***";

/// What stands for a text that may hold one.
const UNSHOWN: &str = "…";

/// Parts of names whose value is a secret.
const SECRET_NAMES: [&str; 18] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "requirepass",
    "masterauth",
    "secret",
    "token",
    "api-key",
    "apikey",
    "access-key",
    "accesskey",
    "account-key",
    "accountkey",
    "auth-key",
    "authkey",
    "private-key",
    "credential",
];

/// Names that are one as a whole, or behind a dash.
const WHOLE_NAMES: [&str; 10] = [
    "pass",
    "passcode",
    "sshpass",
    "pw",
    "cred",
    "creds",
    "authorization",
    "bearer",
    "jwt",
    "cookie",
];

/// What a variable ends in that is one, such as `REDISCLI_AUTH`. In small letters the word says how
/// somebody is known, not by what.
const AUTH_END: &str = "AUTH";

/// Ends of names that say where a secret lies, or something about it, and hold none.
const HARMLESS_ENDS: [&str; 13] = [
    "-file",
    "-path",
    "-dir",
    "-directory",
    "-stdin",
    "-type",
    "-length",
    "-expires",
    "-plugin",
    "-count",
    "-size",
    "-bytes",
    "-limit",
];

/// What else says so in the name of a variable of the environment, where few names have it by
/// chance.
const VARIABLE_PARTS: [&str; 5] = ["pass", "key", "auth", "cred", "cookie"];

/// Ends of a variable's name that says where a secret lies.
const VARIABLE_PLACES: [&str; 3] = ["file", "path", "dir"];

/// Ends of a setting's name that say so. Servers have many settings about passwords and keys, such
/// as `password_encryption`, of which only these are one.
const SETTING_ENDS: [&str; 21] = [
    "password",
    "passwd",
    "passphrase",
    "passphrase-command",
    "pwd",
    "secret",
    "secret-id",
    "secret-key",
    "token",
    "sst-auth",
    "filekey",
    "apikey",
    "api-key",
    "access-key",
    "accesskey",
    "account-key",
    "accountkey",
    "auth-key",
    "authkey",
    "credential",
    "credentials",
];

/// Ends of words of statements behind which a password stands, or its hash.
const PASSWORD_WORDS: [&str; 4] = ["password", "passwd", "passphrase", "authentication_string"];

/// What the value of a setting begins with that names a file in place of a secret.
const FILE_MARK: &str = "FILE:";

/// Whether a value of this name, of a flag, an option or a parameter, is a secret.
pub fn is_secret_name(name: &str) -> bool {
    if is_auth_variable(name) {
        return true;
    }
    let name = plain(name);
    let is_secret = SECRET_NAMES.iter().any(|part| name.contains(part)) || is_whole(&name);
    is_secret && !is_place(&name) && !HARMLESS_ENDS.iter().any(|end| name.ends_with(end))
}

fn is_auth_variable(name: &str) -> bool {
    let before = name.strip_suffix(AUTH_END);
    before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
        && !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn is_whole(name: &str) -> bool {
    let ends = |whole: &str| name.strip_suffix(whole).is_some_and(|rest| rest.ends_with('-'));
    WHOLE_NAMES.iter().any(|whole| name == *whole || ends(whole))
}

/// Whether a variable says where something is: where the shell stands, where it stood, and where
/// Google's programs find what they know themselves by.
fn is_place(name: &str) -> bool {
    matches!(name, "pwd" | "oldpwd" | "google-application-credentials")
}

/// Whether a variable of the environment is a secret, by its name or by what its value says.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_named = VARIABLE_PARTS.iter().any(|part| lower.contains(part));
    let is_place = VARIABLE_PLACES.iter().any(|end| lower.ends_with(end));
    is_secret_option(name, value) || (is_named && !is_place)
}

/// Whether an option of a script is a secret, by its name or by what its value says.
pub fn is_secret_option(name: &str, value: &str) -> bool {
    is_secret_name(name) || holds_secret(value)
}

/// Whether a setting of a server is a secret, by its name or by what its value says.
pub fn is_secret_setting(name: &str, value: &str) -> bool {
    let is_harmless = is_switch(value) || value.starts_with(FILE_MARK);
    let is_named = ends_in_secret(name) && !is_harmless;
    let is_command = plain(name).ends_with("command");
    is_named || holds_secret(value) || (is_command && script_holds_secret(value))
}

fn ends_in_secret(name: &str) -> bool {
    let is_variable = is_auth_variable(name);
    let name = plain(name);
    let is_named = SETTING_ENDS.iter().any(|end| name.ends_with(end)) || is_whole(&name);
    is_variable || (is_named && !is_place(&name))
}

/// Whether a value is one of few that a setting can have, and so none that nobody may know. Of
/// numbers that is one digit: longer ones are passwords too.
fn is_switch(value: &str) -> bool {
    const WORDS: [&str; 8] =
        ["on", "off", "true", "false", "yes", "no", "force", "force_plus_permanent"];
    let is_digit = value.len() < 2 && value.bytes().all(|byte| byte.is_ascii_digit());
    is_digit || WORDS.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether behind this word of a statement stands a password: `PASSWORD`, `MASTER_PASSWORD`.
pub fn is_password_word(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    PASSWORD_WORDS.iter().any(|end| word.ends_with(end))
}

/// Whether a statement, or a piece of one, may have a password in it.
pub fn speaks_of_passwords(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    PASSWORD_WORDS.iter().any(|word| sql.contains(word)) || sql.contains("identified")
}

/// Whether a text names a secret and says it. What only speaks of secrets is none.
pub fn holds_secret(text: &str) -> bool {
    masked_where(text, ends_in_secret) != text
}

/// A text without the values of `name=value`, of JSON and of headers whose name speaks of a secret,
/// the passwords of URLs, of Go's data sources and of statements, and private keys, wherever they
/// stand in it.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    masked_where(text, is_secret_name)
}

/// Values that say nothing, also to a shell.
const EMPTY: [&str; 3] = ["", "''", "\"\""];

fn masked_where(text: &str, is_secret: fn(&str) -> bool) -> Cow<'_, str> {
    let mut shown = spellings::masked(text, is_secret);
    // From the back, so that what is found keeps its place.
    let equals: Vec<usize> = shown.match_indices('=').map(|(at, _)| at).collect();
    for at in equals.into_iter().rev() {
        let before = shown[..at].trim_end();
        let name = before.rsplit(|c| !is_of_name(c)).next().unwrap_or("");
        if !is_secret(name) {
            continue;
        }
        let (begin, value) = (before.len(), &shown[at + 1..]);
        // Who leaves a blank before the sign may leave one behind it.
        let is_spaced = begin < at;
        let blanks = if is_spaced { value.len() - value.trim_start().len() } else { 0 };
        let value = &value[blanks..];
        let length = value_length(before, value);
        let length = spellings::behind_scheme(name, value, length);
        let credential = spellings::without_scheme(name, &value[..length]);
        if !EMPTY.contains(&credential) && !is_masked(credential) {
            shown.to_mut().replace_range(begin..at + 1 + blanks + length, &format!("={MASK}"));
        }
    }
    let key = shown.find("PRIVATE KEY-----");
    if let Some(begin) = key.and_then(|at| shown[..at].rfind("-----BEGIN")) {
        shown.to_mut().replace_range(begin.., MASK);
    }
    shown
}

/// What a value is held together by.
const QUOTES: [char; 2] = ['"', '\''];

/// Whether nothing is left of a secret, whatever a shell has behind it.
fn is_masked(value: &str) -> bool {
    let rest = value.trim_start_matches(QUOTES).strip_prefix(MASK);
    let rest = rest.map(|rest| rest.trim_start_matches(QUOTES));
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.starts_with([';', ')', '|', '&', '<', '>', '`'])
    })
}

/// What a text is called that is not what it should be: by its first word. What follows may hold a
/// secret, as in a URL or a connection string.
pub fn first_word(text: &str) -> String {
    let (word, rest) = text.split_at(text.find([':', '?']).unwrap_or(text.len()));
    let is_word = |c: char| c.is_alphanumeric() || "+-_./".contains(c);
    match (word.chars().all(is_word), rest.chars().next()) {
        (true, None) => word.to_owned(),
        (true, Some(sign)) => format!("{word}{sign}{UNSHOWN}"),
        (false, _) => UNSHOWN.to_owned(),
    }
}

/// Whether names of settings, flags, variables and parameters hold such a character.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.%".contains(c)
}

/// A name in one spelling: also where it is percent-encoded, as in a URL.
fn plain(name: &str) -> String {
    let name = name.trim_start_matches('-');
    let decoded = || String::from_utf8(percent::decode(name)?).ok();
    let decoded = name.contains('%').then(decoded).flatten();
    decoded.as_deref().unwrap_or(name).to_ascii_lowercase().replace('_', "-")
}

/// How long a value is: up to a blank or the next parameter, or between quotes. A backslash takes
/// the next character as it is.
fn value_length(before: &str, value: &str) -> usize {
    let quote = value.chars().next().filter(|c| *c == '\'' || *c == '"');
    let mut is_escaped = false;
    for (at, c) in value.char_indices().skip(usize::from(quote.is_some())) {
        match quote {
            _ if is_escaped => is_escaped = false,
            _ if c == '\\' => is_escaped = true,
            Some(quote) if c == quote => return at + 1,
            None if c.is_whitespace() || ends_value(before, &value[at..]) => return at,
            _ => {}
        }
    }
    value.len()
}

/// Whether a value ends before `rest`, given what stands before it: parameters of a URL are joined
/// by `&`, those of some drivers by `;`.
fn ends_value(before: &str, rest: &str) -> bool {
    // What is no parameter is the rest of a password that has an & in it.
    let is_pair = |rest: &str| rest.split('&').next().is_some_and(|pair| pair.contains('='));
    match rest.strip_prefix('&') {
        Some(rest) => before.contains('?') && is_pair(rest),
        None => rest.starts_with(';') && before.contains(';'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_speak_of_secrets() {
        for name in ["password", "--mysql_password", "sslpassword", "p%61ssword", "API_TOKEN"]
            .into_iter()
            .chain(["DB_PASS", "SSHPASS", "Proxy-Authorization", "--pw", "REDISCLI_AUTH", "AUTH"])
            .chain(["--credentials", "AWS_SECRET_ACCESS_KEY", "AccountKey", "X-Auth-Key", "--jwt"])
        {
            assert!(is_secret_name(name), "{name}");
        }
        for name in
            ["PWD", "passfile", "password-file", "ssl-key", "primary-key", "100%", "token_count"]
                .into_iter()
                .chain(["bypass", "authorization-mode", "auth", "HOST_AUTH_METHOD", "OAuth"])
                .chain([
                    "GOOGLE_APPLICATION_CREDENTIALS",
                    "password-stdin",
                    "CREDENTIALS_DIRECTORY",
                ])
        {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn variables_are_secrets_by_name_or_by_value() {
        for (name, value) in [
            ("API_KEY", "x"),
            ("PGPASSWORD", "x"),
            ("MYSQL_PWD", "x"),
            ("AWS_ACCESS_KEY_ID", "x"),
            ("DB_PASS", "x"),
            ("OAUTH", "x"),
            ("DATABASE_URL", "postgres://u:x@h/d"),
            ("DSN", "host=h password=x"),
            ("TLS", "-----BEGIN RSA PRIVATE KEY-----\nx"),
        ] {
            assert!(is_secret_variable(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("LD_PRELOAD", "/usr/lib/libjemalloc.so.2"),
            ("MALLOC_CONF", "narenas:1,background_thread:true"),
            ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1"),
            ("TZ", "Europe/Berlin"),
            ("PGPASSFILE", "/srv/u/.pgpass"),
            ("POSTGRES_PASSWORD_FILE", "/run/password"),
        ] {
            assert!(!is_secret_variable(name, value), "{name}={value}");
        }
    }

    #[test]
    fn settings_about_secrets_are_none() {
        for (name, value) in [
            ("report_password", "x"),
            ("wsrep-sst-auth", "u:x"),
            ("authentication_ldap_simple_bind_root_pwd", "x"),
            ("primary_conninfo", "host=h password=x"),
            ("report_password", "20250131"),
            ("report_password", "forceful"),
            ("ssl_passphrase_command", "echo x"),
            ("keyring_hashicorp_secret_id", "x"),
            ("archive_command", "mysql -px </dev/null"),
            ("s3_secret_key", "x"),
        ] {
            assert!(is_secret_setting(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("password_encryption", "md5"),
            ("validate_password.policy", "LOW"),
            ("mysql_native_password", "ON"),
            ("mysql_native_password", "FORCE_PLUS_PERMANENT"),
            ("secure_auth", "1"),
            ("ssl_key", "/etc/key.pem"),
            ("key_buffer_size", "1G"),
            ("ssl_passphrase_command_supports_reload", "on"),
            ("archive_command", "cp %p /archive/%f"),
            ("file_key_management_filekey", "FILE:/etc/key"),
        ] {
            assert!(!is_secret_setting(name, value), "{name}={value}");
        }
    }

    #[test]
    fn values_of_secret_names_are_masked_wherever_they_stand() {
        for (text, shown) in [
            ("host=h password=x user=u", "host=h password=*** user=u"),
            (r"host=h sslpassword = 'a b\'c' dbname=d", "host=h sslpassword=*** dbname=d"),
            (r"password=a\ b user=u", "password=*** user=u"),
            ("postgres://h/d?p%61ssword=x&a=b", "postgres://h/d?p%61ssword=***&a=b"),
            ("postgres://h/d?password=x&y", "postgres://h/d?password=***"),
            ("disable;password=x", "disable;password=***"),
            ("sslkey=-----BEGIN PRIVATE KEY-----\nx", "sslkey=***"),
            ("mysql://u:x#y@h/d", "mysql://u:***@h/d"),
            ("mysql://u:x/y?z@h/d at 1", "mysql://u:***@h/d at 1"),
            ("app u:x:y@tcp(h:1)/d", "app u:***@tcp(h:1)/d"),
            ("DSN=u:x@unix(/s)/d", "DSN=u:***@unix(/s)/d"),
            ("u:x@/d", "u:***@/d"),
            (
                r#"{"user": "u", "password": "a\"b", "x": 1}"#,
                r#"{"user": "u", "password": "***", "x": 1}"#,
            ),
            (r#"{"app_token":1234}"#, r#"{"app_token":***}"#),
            (r#"{\"password\": \"x\"}"#, r#"{\"password\": \"***\"}"#),
            ("password: x\nuser: u", "password: ***\nuser: u"),
            ("password: 'x y'", "password: '***'"),
            ("Authorization: Bearer x.y", "Authorization: Bearer ***"),
            ("X-Api-Key: x", "X-Api-Key: ***"),
            ("X-Api-Key:x Y:z", "X-Api-Key:*** Y:z"),
            ("-HAuthorization: Bearer x.y", "-HAuthorization: Bearer ***"),
            ("Authorization:Bearer x.y z", "Authorization:Bearer *** z"),
            ("Authorization:'Bearer x y'", "Authorization:'Bearer ***'"),
            (r#"{"Authorization": "Bearer x"}"#, r#"{"Authorization": "***"}"#),
            (r#"["Authorization: Bearer x"]"#, r#"["Authorization: Bearer ***"]"#),
            ("HTTP_AUTHORIZATION=Bearer x.y z", "HTTP_AUTHORIZATION=*** z"),
            ("HTTP_AUTHORIZATION=\"Bearer x.y\" z", "HTTP_AUTHORIZATION=*** z"),
            ("REDISCLI_AUTH=x redis-cli", "REDISCLI_AUTH=*** redis-cli"),
            ("pw=x credentials=y", "pw=*** credentials=***"),
            ("AccountName=a;AccountKey=x;B=c", "AccountName=a;AccountKey=***;B=c"),
            ("ALTER ROLE u PASSWORD 'x y' LOGIN", "ALTER ROLE u PASSWORD '***' LOGIN"),
            (
                "create user u identified with p by \"x\"",
                "create user u identified with p by \"***\"",
            ),
            ("ALTER ROLE u PASSWORD E'it''s x' LOGIN", "ALTER ROLE u PASSWORD E'***' LOGIN"),
            ("SET PASSWORD FOR u = 'x'", "SET PASSWORD FOR u = '***'"),
            ("near 'PASSWORD 'x'' at", "near 'PASSWORD '***'' at"),
            ("IDENTIFIED BY 'x' REPLACE 'y'", "IDENTIFIED BY '***' REPLACE '***'"),
        ] {
            assert_eq!(without_secrets(text), shown);
            assert!(holds_secret(text), "{text}");
        }
        for text in ["", "=", "password=", "password = ", "passfile=/x", "a=b c=d", "%=%", "auth=x"]
            .into_iter()
            .chain(["http://h:80/x@y", "http://[::1]:80/x", "http://h/x:y@z", "http://u@h:80/"])
            .chain(["x --password='' --token=\"\" y", "PWD=/x", "password=***", "u:***@tcp(h)/d"])
            .chain([r#"{"password": ""}"#, r#"{"password": null}"#, "a \"token\"::text", "a:b@c"])
            .chain(["Authorization: Bearer ***", "my password 'is lost", "ORDER BY 'x'"])
            .chain(["the password: see there", "read -p 'Password: ' x", "my-token:latest"])
            .chain(["X-Api-Key:*** http://h", "HTTP_AUTHORIZATION=\"Bearer ***\"", "Cookie:"])
            .chain(["(using password: YES)", "(using password: NO)"])
        {
            assert!(!holds_secret(text), "{text}");
        }
    }

    #[test]
    fn the_first_word_of_a_text_has_no_secret() {
        for (text, shown) in [
            ("oracle", "oracle"),
            ("mysql:u:secret", "mysql:…"),
            ("mysql?password=secret", "mysql?…"),
            ("host=h password=secret", "…"),
            ("u:secret@h", "u:…"),
            ("secret@h", "…"),
        ] {
            assert_eq!(first_word(text), shown);
        }
    }
}
