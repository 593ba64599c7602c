//! `scheme://user:password@host:port/database?name=value&…`, which both kinds of server are named
//! by. What is secret in one is kept apart from where it is read on.

mod keywords;
mod shown_url;

pub use keywords::{is_keywords, keyword_pairs};
pub use shown_url::{without_login_secret, without_password};

use crate::server::secret::ServerSecret;
use dbtime_model::percent;
use dbtime_model::secret_text::{first_word, holds_secret, is_secret_name};
use std::fmt::Display;
use std::path::PathBuf;

/// The parameter that is the password, beside the place before the host.
pub(crate) const PASSWORD: &str = "password";

/// What is wrong with a port that is none.
pub(crate) const NO_PORT: &str = "is no number from 1 to 65535";

/// What is wrong with a host that is several.
pub(crate) const MANY_HOSTS: &str = "names several hosts, and dbtime drives one server";

/// What such a text says; what it leaves out is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerUrl {
    /// Before the colon.
    pub scheme: String,
    /// The user.
    pub user: Option<String>,
    /// The password.
    pub password: Option<ServerSecret>,
    /// The host; an IPv6 address without its brackets.
    pub host: Option<String>,
    /// The port.
    pub port: Option<u16>,
    /// The database.
    pub database: Option<String>,
    /// Parameters in their order; none of them is a secret.
    pub parameters: Vec<(String, String)>,
}

/// Why a text names no server. None of the texts repeats a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// No `://`.
    #[error("the target has no `://`: write {0}://user@host:port/database")]
    Form(String),
    /// What ends user and password stands behind something that ended them before.
    #[error("in user and password write : / ? % @ & as %3A %2F %3F %25 %40 %26")]
    Login,
    /// A secret with its name where another piece is expected, as in `host=h password=…`.
    #[error(
        "the target's {0} has a secret with its name: write \
         scheme://user:password@host:port/database"
    )]
    Misplaced(String),
    /// A secret that dbtime does not take.
    #[error("of secrets a target has only `{PASSWORD}`: leave out `{0}`")]
    Secret(String),
    /// The port is no number from 1 to 65535. Not repeated: without a host it is a password.
    #[error("the port {NO_PORT}; write user:password@host:port")]
    Port,
    /// What the target leaves out is said elsewhere, and cannot be. Not repeated: what stands in a
    /// wrong place may be a secret.
    #[error("{place} {problem}: fix it there, or leave it out and set it in the target")]
    Elsewhere {
        /// The variable, or the name and its file or service.
        place: String,
        /// What is wrong with the value.
        problem: &'static str,
    },
    /// Several hosts.
    #[error("the target names several hosts; dbtime drives one server: name one")]
    ManyHosts,
    /// An IPv6 address that does not end.
    #[error("the target has a [ without a ] after it: write an IPv6 address as in [::1]:5432")]
    Bracket,
    /// `%` without two hexadecimal digits, or what they make is no text.
    #[error("the target has a % without two hexadecimal digits after it (write % itself as %25)")]
    Escape {
        /// Which piece has it: `user`, `password`, `host`, `dbname`, or a parameter by its name.
        piece: String,
    },
    /// A word of a connection string without a value.
    #[error("the connection string has a word without `=` after it")]
    Word,
    /// A value of a connection string without its end.
    #[error("the connection string has an unclosed quote")]
    Quote,
    /// A parameter without `=`.
    #[error("parameter `{0}` has no value: write {0}=VALUE")]
    NoValue(String),
    /// One of two parameters that only serve together, or of two variables.
    #[error("`{0}` needs `{1}` too: a certificate and its key go together")]
    Alone(&'static str, &'static str),
    /// No such parameter.
    #[error("there is no parameter `{name}`{hint} ({known})")]
    Unknown {
        /// What was written.
        name: String,
        /// The nearest there is.
        hint: String,
        /// All there are.
        known: String,
    },
    /// A parameter of other clients, or its variable, which asks for what is not done here.
    #[error("dbtime does not support this `{name}`: {why}; {remedy}")]
    Without {
        /// What was written.
        name: String,
        /// Why it is not done.
        why: &'static str,
        /// What can be done about it.
        remedy: String,
    },
    /// A value that the parameter does not take.
    #[error("`{value}` is no value for {name}: write {allowed}")]
    Value {
        /// The parameter.
        name: String,
        /// What was written.
        value: String,
        /// What could have been.
        allowed: &'static str,
    },
}

/// Parameters as they stand behind a URL, with the `?` before the first.
pub(crate) fn query_of(parameters: &[(impl Display, String)]) -> String {
    let mut text = String::new();
    for (index, (name, value)) in parameters.iter().enumerate() {
        let mark = if index == 0 { '?' } else { '&' };
        text += &format!("{mark}{name}={}", percent::encode(value));
    }
    text
}

impl ServerUrl {
    /// Writes it as [`Self::parse`] reads it, the password included: not for anybody's eyes.
    pub fn written(&self) -> String {
        let piece = |text: &str| percent::encode(text).replace('/', "%2F");
        let mut text = format!("{}://", self.scheme);
        // A password stands there without a user too: it may have been given as a parameter.
        if self.user.is_some() || self.password.is_some() {
            text += &self.user.as_deref().map(piece).unwrap_or_default();
            if let Some(password) = &self.password {
                text += &format!(":{}", piece(password.reveal()));
            }
            text.push('@');
        }
        text += &match &self.host {
            Some(host) if host.contains(':') => format!("[{host}]"),
            Some(host) => piece(host),
            None => String::new(),
        };
        if let Some(port) = self.port {
            text += &format!(":{port}");
        }
        text += &format!("/{}", self.database.as_deref().map(piece).unwrap_or_default());
        text + &query_of(&self.parameters)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| UrlError::Form(first_word(text.split(':').next().unwrap_or(text))))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        if database.contains('@') || query.split('&').any(is_torn) {
            return Err(UrlError::Login);
        }
        // The last @ ends the password, which may contain others.
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority),
        };
        let (user, password) = match login.map(split_at_colon) {
            Some((user, password)) => (Some(user), password),
            None => (None, None),
        };
        let (host, port) = host_and_port(place)?;
        let password = password.map(|text| decode(PASSWORD, text)).transpose()?;
        let query = UrlQuery::parse(query)?;
        let given = |piece: &str, text: Option<&str>| {
            text.filter(|text| !text.is_empty()).map(|text| open(piece, text)).transpose()
        };
        Ok(Self {
            scheme: scheme.to_owned(),
            user: given("user", user)?,
            password: query.password.or(password.map(ServerSecret::new)),
            host: given("host", Some(host))?,
            port,
            database: given("dbname", Some(database))?,
            parameters: query.parameters,
        })
    }

    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let found = self.parameters.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.clone())
    }

    /// The files of a client's certificate and its key, by the names of their parameters.
    ///
    /// # Errors
    /// [`UrlError::Alone`] where one is named without the other.
    pub(crate) fn client_files(
        certificate: (&'static str, Option<String>),
        key: (&'static str, Option<String>),
    ) -> Result<Option<(PathBuf, PathBuf)>, UrlError> {
        match (certificate, key) {
            ((_, Some(certificate)), (_, Some(key))) => Ok(Some((certificate.into(), key.into()))),
            ((_, None), (_, None)) => Ok(None),
            ((given, Some(_)), (missing, None)) | ((missing, None), (given, Some(_))) => {
                Err(UrlError::Alone(given, missing))
            }
        }
    }

    /// That a parameter is not among `known`.
    pub(crate) fn unknown(name: &str, known: &[&str]) -> UrlError {
        let near = known.iter().min_by_key(|known| strsim::damerau_levenshtein(known, name));
        let near = near.filter(|near| strsim::damerau_levenshtein(near, name) <= 3);
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        UrlError::Unknown { name: name.to_owned(), hint, known: known.join(", ") }
    }
}

/// Whether a name of a parameter has the end of user and password in it.
fn is_torn(pair: &str) -> bool {
    pair.split('=').next().is_some_and(|name| name.contains('@'))
}

/// What the query of a URL says.
#[derive(Default)]
struct UrlQuery {
    /// Its parameters in their order.
    parameters: Vec<(String, String)>,
    /// The password, which is none of them.
    password: Option<ServerSecret>,
}

impl UrlQuery {
    fn parse(text: &str) -> Result<Self, UrlError> {
        let mut query = Self::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            query.add(pair)?;
        }
        Ok(query)
    }

    fn add(&mut self, pair: &str) -> Result<(), UrlError> {
        let (name, value) = match pair.split_once('=') {
            // Behind a password it may be the rest of one that has an & in it.
            Some((name, _)) if self.password.is_some() && !is_plain_name(name) => {
                return Err(UrlError::Login);
            }
            None if self.password.is_some() => return Err(UrlError::Login),
            None => return Err(UrlError::NoValue(pair.to_owned())),
            Some((name, value)) => (decode("parameter", name)?, value),
        };
        if name == PASSWORD {
            let given = decode(PASSWORD, value)?;
            self.password = Some(given).filter(|given| !given.is_empty()).map(ServerSecret::new);
        } else if is_secret_name(&name) {
            return Err(UrlError::Secret(name));
        } else {
            let value = open(&name, value)?;
            self.parameters.push((name, value));
        }
        Ok(())
    }
}

/// Whether a text can be the name of a parameter.
fn is_plain_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-".contains(&byte))
}

/// What stands before the first colon, and what behind it.
fn split_at_colon(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((before, behind)) => (before, Some(behind)),
        None => (text, None),
    }
}

fn host_and_port(place: &str) -> Result<(&str, Option<u16>), UrlError> {
    if place.contains(',') {
        return Err(UrlError::ManyHosts);
    }
    let (host, port) = match place.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((host, after))) => (host, Some(after.strip_prefix(':').unwrap_or(after))),
        Some(None) => return Err(UrlError::Bracket),
        None => split_at_colon(place),
    };
    let number = |text: &str| match text.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(UrlError::Port),
    };
    Ok((host, port.filter(|port| !port.is_empty()).map(number).transpose()?))
}

/// A piece that may be shown.
fn open(piece: &str, text: &str) -> Result<String, UrlError> {
    let decoded = decode(piece, text)?;
    match holds_secret(&decoded) {
        true => Err(UrlError::Misplaced(piece.to_owned())),
        false => Ok(decoded),
    }
}

/// Undoes the percent-encoding of a piece.
fn decode(piece: &str, text: &str) -> Result<String, UrlError> {
    let decoded = percent::decode(text).and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.ok_or_else(|| UrlError::Escape { piece: piece.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_cannot_be_are_told_apart() {
        for place in ["h1,h2", "h1:1,h2:2", "u@h1,h2"] {
            let error = ServerUrl::parse(&format!("mysql://{place}/d"));
            assert_eq!(error, Err(UrlError::ManyHosts), "{place}");
        }
        assert_eq!(ServerUrl::parse("postgres://u@[::1/x"), Err(UrlError::Bracket));
    }

    #[test]
    fn every_piece_is_read() {
        let url = ServerUrl::parse("mysql://a%40b:p%3Aw@[::1]:3307/db?ssl-mode=required&x=%2F");
        let url = url.expect("a server");
        assert_eq!(url.user.as_deref(), Some("a@b"));
        assert_eq!(url.password.as_ref().map(ServerSecret::reveal), Some("p:w"));
        assert_eq!((url.host.as_deref(), url.port), (Some("::1"), Some(3307)));
        assert_eq!(url.database.as_deref(), Some("db"));
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(url.parameters, [pair("ssl-mode", "required"), pair("x", "/")]);
        let least = ServerUrl::parse("postgres://").expect("a server");
        let scheme = "postgres".to_owned();
        assert_eq!(least, ServerUrl { scheme, ..ServerUrl::default() });
        for (text, port) in [("h:/", None), ("[::1]/", None), ("[::1]3307/", Some(3307))] {
            assert_eq!(ServerUrl::parse(&format!("mysql://{text}")).map(|url| url.port), Ok(port));
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        let bad = [
            "mysql:hush@h",
            "mysql://u:hush@h:x/",
            "mysql://u:hush@h:0",
            "mysql://u:hush%4@h",
            "mysql://u:hush@h/d?x",
            "mysql://u:se/hush@h",
            "mysql://u:se?hush@h",
            "host=h password=hush",
            "postgres://host=h password=hush",
            "postgres://h/dbname=d password=hush",
            "postgres://h/dbname=d%20password%3Dhush",
            "postgres://h/d?sslmode=disable;password=hush",
            "postgres://h/d?password=se&hush",
            "postgres://h/d?password=se&hush1=x",
            "postgres://h/d?sslkey=-----BEGIN PRIVATE KEY-----hush",
            "postgres://h/d?ssl%70assword=hush",
        ];
        for text in bad {
            let error = ServerUrl::parse(text).expect_err(text).to_string();
            assert!(!error.contains("hush"), "{error}");
        }
        assert!(ServerUrl::unknown("ssl-mod", &["ssl-mode"]).to_string().contains("`ssl-mode`?"));
    }

    #[test]
    fn a_password_is_no_parameter_however_it_is_written() {
        for text in [
            "postgres://u@h/d?password=x&port=1",
            "postgres://u@h/d?port=1&p%61ssword=x",
            "postgres://u:y@h/d?password=x&port=1",
        ] {
            let url = ServerUrl::parse(text).expect(text);
            assert_eq!(url.password.as_ref().map(ServerSecret::reveal), Some("x"), "{text}");
            assert_eq!(url.parameters, [("port".to_owned(), "1".to_owned())], "{text}");
            assert!(!format!("{url:?}").contains("\"x\""), "{url:?}");
        }
        let empty = ServerUrl::parse("postgres://u:y@h/d?password=").expect("a URL").password;
        assert_eq!(empty.as_ref().map(ServerSecret::reveal), Some("y"));
        // What speaks of passwords is none.
        let url = "postgres://h/d?passfile=/x&options=-c%20password_encryption%3Dmd5";
        assert_eq!(ServerUrl::parse(url).expect("a URL").parameters.len(), 2);
    }

    #[test]
    fn what_was_written_is_read() {
        for text in [
            "mysql://o%27ne%20il:p%2Fw%40@%2Fx/d%3Fb?socket=/run/m.sock&ssl-mode=required",
            "postgres://me@[::1]:5433/",
            "mysql:///db",
            "postgres://h/d?password=a%26b&port=1",
            "mysql://:x@h/",
        ] {
            let url = ServerUrl::parse(text).expect("a URL");
            assert_eq!(ServerUrl::parse(&url.written()).expect("still"), url, "{text}");
        }
    }
}
