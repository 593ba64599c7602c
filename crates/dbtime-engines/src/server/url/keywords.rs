//! Connection strings of PostgreSQL's own clients, `host=db1 dbname='a b'`: they name a server as a
//! URL does.
//!
//! Source: `conninfo_parse` of libpq 15 (fe-connect.c).

use super::shown_url::rewritten;
use super::{PASSWORD, ServerUrl, UrlError};
use crate::server::secret::ServerSecret;
use dbtime_model::secret_text::{MASK, holds_secret, is_secret_name};

/// What they name is always one of PostgreSQL.
const SCHEME: &str = "postgres";

/// Whether a text is meant as one: it begins with the name of a parameter.
pub fn is_keywords(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    text.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim();
        !name.is_empty() && name.bytes().all(is_of_name)
    })
}

/// Names and values in their order.
///
/// # Errors
/// A name without a value, or a quote that does not end.
pub fn keyword_pairs(text: &str) -> Result<Vec<(String, String)>, UrlError> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let ends_name = |c: char| c == '=' || c.is_whitespace();
        let (name, after) = rest.split_at(rest.find(ends_name).unwrap_or(rest.len()));
        let after = after.trim_start().strip_prefix('=').filter(|_| !name.is_empty());
        let (value, after) = value(after.ok_or(UrlError::Word)?.trim_start())?;
        pairs.push((name.to_owned(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// A value, and what stands behind it: up to a blank, or between single quotes; a backslash takes
/// the next character as it is.
fn value(text: &str) -> Result<(String, &str), UrlError> {
    let is_quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut characters = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, character)| character)),
            '\'' if is_quoted => return Ok((value, &text[at + 1..])),
            blank if blank.is_whitespace() && !is_quoted => return Ok((value, &text[at..])),
            other => value.push(other),
        }
    }
    if is_quoted { Err(UrlError::Quote) } else { Ok((value, "")) }
}

impl ServerUrl {
    /// Reads a URL or a connection string.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, UrlError> {
        if !is_keywords(text) {
            return Self::parse(text);
        }
        let mut url = Self { scheme: SCHEME.to_owned(), ..Self::default() };
        for (name, value) in keyword_pairs(text)? {
            match name.as_str() {
                PASSWORD => {
                    let given = Some(value).filter(|value| !value.is_empty());
                    url.password = given.map(ServerSecret::new);
                }
                _ if is_secret_name(&name) => return Err(UrlError::Secret(name)),
                _ if holds_secret(&value) => return Err(UrlError::Misplaced(name)),
                _ => url.parameters.push((name, value)),
            }
        }
        Ok(url)
    }
}

/// A connection string with its secrets masked, as it is where it has none; `None`: it is no such
/// text, or cannot be read.
pub(super) fn masked(text: &str) -> Option<String> {
    let pairs = Some(text).filter(|text| is_keywords(text)).map(keyword_pairs)?.ok()?;
    let is_secret = |(name, value): &(String, String)| {
        let holds_one = || holds_secret(value) || rewritten(value, Some(MASK)) != *value;
        !value.is_empty() && (is_secret_name(name) || holds_one())
    };
    if !pairs.iter().any(is_secret) {
        return Some(text.to_owned());
    }
    let shown = |pair: &(String, String)| match is_secret(pair) {
        true => format!("{}={MASK}", pair.0),
        false => format!("{}={}", pair.0, written(&pair.1)),
    };
    Some(pairs.iter().map(shown).collect::<Vec<_>>().join(" "))
}

/// A value as it is read again.
fn written(value: &str) -> String {
    let is_special = |c: char| c.is_whitespace() || c == '\'' || c == '\\';
    match value.is_empty() || value.contains(is_special) {
        true => format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'")),
        false => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Result<Vec<(String, String)>, UrlError> {
        keyword_pairs(text)
    }

    #[test]
    fn quotes_and_escapes_are_those_of_libpq() {
        let of = |text: &str| {
            let pairs = pairs(text).expect(text);
            pairs.iter().map(|(name, value)| format!("{name}[{value}]")).collect::<String>()
        };
        assert_eq!(of("host=h port = 5433\tdbname='a b'"), "host[h]port[5433]dbname[a b]");
        assert_eq!(of(r"user=a\ b options='it\'s \\'x=y"), r"user[a b]options[it's \]x[y]");
        assert_eq!(of("host= dbname=''  user=u "), "host[dbname='']user[u]");
        assert_eq!(of("host='' dbname=d"), "host[]dbname[d]");
        assert_eq!(pairs("host=h dbname"), Err(UrlError::Word));
        assert_eq!(pairs("host=h = x"), Err(UrlError::Word));
        assert_eq!(pairs("host='h"), Err(UrlError::Quote));
    }

    #[test]
    fn a_connection_string_is_a_url() {
        let url = ServerUrl::read("host=/run/pg user=u password='p w' dbname=d").expect("one");
        assert_eq!(url.written(), "postgres://:p%20w@/?host=/run/pg&user=u&dbname=d");
        let plain = ServerUrl::read("postgres://h/d").expect("a URL");
        assert_eq!(plain.host.as_deref(), Some("h"));
        assert_eq!(
            ServerUrl::read("host=h sslpassword=x"),
            Err(UrlError::Secret("sslpassword".to_owned()))
        );
        let misplaced = ServerUrl::read("user='u;password=hush'").expect_err("refused");
        assert!(!misplaced.to_string().contains("hush"), "{misplaced}");
        for text in ["mysql://h/d?a=b", "sqlite?a=b", "Server=h", "a-b=c", "=x", "host", ""] {
            assert!(!is_keywords(text), "{text}");
        }
    }

    #[test]
    fn secrets_of_a_connection_string_are_masked_whole() {
        let shown = |text: &str| masked(text).expect(text);
        assert_eq!(
            shown("user=a;b password=x;y dbname='c d'"),
            "user=a;b password=*** dbname='c d'"
        );
        assert_eq!(shown(r"password='a b\'c' sslpassword=z"), "password=*** sslpassword=***");
        assert_eq!(shown("host = h  user=x@y"), "host = h  user=x@y", "nothing is one");
        assert_eq!(shown("target=mysql:hush@h"), "target=***", "also where it is no parameter");
        assert_eq!((masked("mysql://u:x@h"), masked("password='x")), (None, None));
    }
}
