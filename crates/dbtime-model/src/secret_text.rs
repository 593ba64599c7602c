//! Which names speak of a secret, and texts without the secrets that they name.
//!
//! A command line is public on its machine, a record travels. What looks like a secret is shown as
//! `***`; in doubt too much is masked rather than too little.

use crate::percent;
use std::borrow::Cow;

/// What stands where a secret was.
pub const MASK: &str = "***";

/// What stands for a text that may hold one.
const UNSHOWN: &str = "…";

/// Parts of names whose value is a secret.
const SECRET_NAMES: [&str; 13] = [
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
    "private-key",
    "credential",
];

/// Ends of names that say where a secret lies, or something about it, and hold none.
const HARMLESS_ENDS: [&str; 11] = [
    "-file", "-path", "-dir", "-type", "-length", "-expires", "-plugin", "-count", "-size",
    "-bytes", "-limit",
];

/// What else says so in the name of a variable of the environment, where few names have it by
/// chance.
const VARIABLE_PARTS: [&str; 5] = ["pass", "key", "auth", "cred", "cookie"];

/// Ends of a variable's name that says where a secret lies.
const VARIABLE_PLACES: [&str; 3] = ["file", "path", "dir"];

/// Ends of a setting's name that say so. Servers have many settings about passwords and keys, such
/// as `password_encryption`, of which only these are one.
const SETTING_ENDS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "sst-auth",
    "apikey",
    "api-key",
    "access-key",
];

/// Whether a value of this name, of a flag, an option or a parameter, is a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = plain(name);
    // Where the shell stands, and where it stood.
    if name == "pwd" || name == "oldpwd" {
        return false;
    }
    let is_secret = SECRET_NAMES.iter().any(|part| name.contains(part)) || name == "pass";
    is_secret && !HARMLESS_ENDS.iter().any(|end| name.ends_with(end))
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
    (ends_in_secret(name) && !is_switch(value)) || holds_secret(value)
}

fn ends_in_secret(name: &str) -> bool {
    let name = plain(name);
    SETTING_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a value is one of few that a setting can have, and so none that nobody may know. Of
/// numbers that is one digit: longer ones are passwords too.
fn is_switch(value: &str) -> bool {
    const WORDS: [&str; 8] =
        ["on", "off", "true", "false", "yes", "no", "force", "force_plus_permanent"];
    let is_digit = value.len() < 2 && value.bytes().all(|byte| byte.is_ascii_digit());
    is_digit || WORDS.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether a text names a secret and says it. What only speaks of secrets is none.
pub fn holds_secret(text: &str) -> bool {
    matches!(masked_where(text, ends_in_secret), Cow::Owned(_))
}

/// A text without the values of `name=value` whose name speaks of a secret, the passwords of URLs,
/// and private keys, wherever they stand in it.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    masked_where(text, is_secret_name)
}

/// Values that say nothing, also to a shell.
const EMPTY: [&str; 3] = ["", "''", "\"\""];

fn masked_where(text: &str, is_secret: fn(&str) -> bool) -> Cow<'_, str> {
    let mut shown = in_urls(text);
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
        if !EMPTY.contains(&&value[..length]) {
            shown.to_mut().replace_range(begin..at + 1 + blanks + length, &format!("={MASK}"));
        }
    }
    let key = shown.find("PRIVATE KEY-----");
    if let Some(begin) = key.and_then(|at| shown[..at].rfind("-----BEGIN")) {
        shown.to_mut().replace_range(begin.., MASK);
    }
    shown
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
pub fn is_of_name(c: char) -> bool {
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

/// Masks what stands between `user:` and `@` of every URL.
fn in_urls(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    let starts: Vec<usize> = text.match_indices("://").map(|(at, _)| at + 3).collect();
    for start in starts.into_iter().rev() {
        let Some((begin, end)) = password_place(&out[start..]) else { continue };
        out.to_mut().replace_range(start + begin..start + end, MASK);
    }
    out
}

/// Where the password stands in what follows `://`.
fn password_place(rest: &str) -> Option<(usize, usize)> {
    let whole = &rest[..rest.find([' ', '\'', '"']).unwrap_or(rest.len())];
    let authority = &whole[..whole.find(['/', '?', '#']).unwrap_or(whole.len())];
    let colon = authority.find(':')?;
    let is_port = authority[colon + 1..].bytes().all(|byte| byte.is_ascii_digit());
    // A password may hold what it should not: the last `@` ends it. What is no port is one that
    // holds a / or the like.
    let end = match authority.rfind('@') {
        None if !is_port => whole.rfind('@')?,
        end => end?,
    };
    (colon < end).then_some((colon + 1, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_speak_of_secrets() {
        for name in ["password", "--mysql_password", "sslpassword", "p%61ssword", "API_TOKEN"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in
            ["PWD", "passfile", "password-file", "ssl-key", "primary-key", "100%", "token_count"]
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
        ] {
            assert_eq!(without_secrets(text), shown);
            assert!(holds_secret(text), "{text}");
        }
        for text in ["", "=", "password=", "password = ", "passfile=/x", "a=b c=d", "%=%", "auth=x"]
            .into_iter()
            .chain(["http://h:80/x@y", "http://[::1]:80/x", "http://h/x:y@z", "http://u@h:80/"])
            .chain(["x --password='' --token=\"\" y"])
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
