//! The target `postgres://user@host:port/database?name=value&…`: which server, who logs in, how.
//!
//! What the target leaves out comes from the environment as for PostgreSQL's own clients, then from
//! their defaults. Source: PostgreSQL manual, "Connection Strings", "Environment Variables".

use super::password_file;
use super::shared::{Identity, PostgresShared};
use crate::secret::Secret;
use crate::server::{STATEMENT_GRACE, StatementProtocol};
use crate::server_url::{ServerUrl, UrlError};
use crate::socket::{
    Address, AddressError, Reconnect, SocketSettings, TlsError, TlsMode, TlsSettings,
};
use crate::{percent, shell};
use dbtime_load::statement::Statement;
use dbtime_model::Nanos;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A PostgreSQL server and how to log in to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresTarget {
    /// Where it listens.
    pub address: Address,
    /// Who logs in, and where to.
    pub identity: Identity,
    /// Whether the connection is to be encrypted.
    pub ssl_mode: TlsMode,
    /// The certificates that the server's must come from.
    pub root_cert: Option<PathBuf>,
    /// How long making a connection may take.
    pub connect_timeout: Nanos,
    /// Why the password file was not used, if it was not.
    pub password_note: Option<String>,
}

/// Why a text is no target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Another scheme, or none.
    #[error("`{0}` is no PostgreSQL target; write postgres://user@host:port/database")]
    Scheme(String),
    /// Something cannot be what it is meant to be. The text is not shown: it may hold a password.
    #[error(
        "the target has no valid {0}; in user and password write : / @ ? % as %3A %2F %40 %3F %25"
    )]
    Malformed(String),
    /// Several hosts.
    #[error("the target names several hosts; dbtime drives one server: name one")]
    ManyHosts,
    /// A parameter or its value.
    #[error(transparent)]
    Parameter(UrlError),
    /// There is no such address.
    #[error(transparent)]
    Address(#[from] AddressError),
}

/// Parameters, and the variables they come from where a target leaves them out.
const PARAMETERS: [(&str, &str); 11] = [
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("application_name", "PGAPPNAME"),
    ("options", "PGOPTIONS"),
];

/// Where servers have their sockets: Debian's folder, and everybody else's.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// libpq's words. `allow` tries without first: a server that insists on TLS says so.
const SSL_MODES: [(&str, TlsMode); 6] = [
    ("disable", TlsMode::Disabled),
    ("allow", TlsMode::Disabled),
    ("prefer", TlsMode::Preferred),
    ("require", TlsMode::Required),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
];

/// What a connection may take when nothing is said: a server that does not answer is no use here.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(10);

/// The schemes that name a PostgreSQL server.
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];

/// Values by the name of their parameter.
type Given = BTreeMap<&'static str, String>;

impl PostgresTarget {
    /// Reads a target; `variable` looks up the environment.
    ///
    /// # Errors
    /// What is wrong with it; no error shows a password.
    pub fn parse(
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, TargetError> {
        let mut given = read(text)?;
        complete(&mut given, variable);
        let ssl_mode = ssl_mode(&given)?;
        let user = given.remove("user").or_else(|| os_user(variable)).unwrap_or_default();
        if user.is_empty() {
            return Err(malformed("user"));
        }
        let database = given.remove("dbname").unwrap_or_else(|| user.clone());
        let port = given.remove("port").unwrap_or_else(|| "5432".to_owned());
        let number = port.parse().ok().filter(|port| *port > 0);
        let (host, address) = address(&given, number.ok_or_else(|| malformed("port"))?)?;
        let login = [&*host, &port, &database, &user];
        let (password, password_note) = match password(&given, login, variable) {
            Ok(password) => (password.unwrap_or_default(), None),
            Err(why) => (String::new(), Some(why)),
        };
        let (password, settings) = (Secret::new(password), settings(&mut given));
        Ok(Self {
            connect_timeout: connect_timeout(&given)?,
            identity: Identity { user, password, database, settings },
            ssl_mode: ssl_mode.unwrap_or(TlsMode::default_for(&address)),
            address,
            root_cert: given.remove("sslrootcert").map(PathBuf::from),
            password_note,
        })
    }

    /// The same server with another database.
    #[must_use]
    pub fn with_database(&self, database: &str) -> Self {
        let mut target = self.clone();
        database.clone_into(&mut target.identity.database);
        target
    }

    /// How its sockets are made.
    ///
    /// # Errors
    /// When they cannot be encrypted as asked for.
    pub fn sockets(
        &self,
        reconnect: Reconnect,
        statement_timeout: Option<Nanos>,
    ) -> Result<SocketSettings, TlsError> {
        // The server ends a statement by itself; only one that does not is given up.
        let grace = |limit: Nanos| limit + STATEMENT_GRACE;
        Ok(SocketSettings {
            tls: TlsSettings::new(self.ssl_mode, self.root_cert.as_deref(), &self.address)?,
            address: self.address.clone(),
            connect_timeout: self.connect_timeout,
            statement_timeout: statement_timeout.map(grace),
            reconnect,
        })
    }

    /// What the connections of a load share. The server is told how long a statement may take.
    pub fn shared(
        &self,
        statements: &[Statement],
        protocol: StatementProtocol,
        statement_timeout: Option<Nanos>,
    ) -> PostgresShared {
        let mut identity = self.identity.clone();
        let millis = statement_timeout.map(|limit| limit.0.div_ceil(1_000_000).max(1));
        let told = millis.map(|millis| ("statement_timeout".to_owned(), millis.to_string()));
        identity.settings.extend(told);
        PostgresShared::of_workload(identity, statements, protocol)
    }
}

impl PostgresTarget {
    /// A server on a Unix socket, logged in to without a password.
    pub fn local(socket: &Path, user: &str, database: &str) -> Self {
        let settings = vec![("application_name".to_owned(), "dbtime".to_owned())];
        Self {
            address: Address::Unix(socket.to_owned()),
            identity: Identity {
                user: user.to_owned(),
                password: Secret::default(),
                database: database.to_owned(),
                settings,
            },
            ssl_mode: TlsMode::Disabled,
            root_cert: None,
            connect_timeout: CONNECT_TIMEOUT,
            password_note: None,
        }
    }
}

impl FromStr for PostgresTarget {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        Self::parse(text, &|name| std::env::var(name).ok())
    }
}

impl PostgresTarget {
    /// As `--target` takes it, without the password and with what the environment added.
    pub fn url(&self) -> String {
        let user = percent::encode(&self.identity.user);
        let database = percent::encode(&self.identity.database);
        match &self.address {
            Address::Tcp { .. } => format!("postgres://{user}@{}/{database}", self.address),
            Address::Unix(socket) => {
                let folder = socket.parent().unwrap_or(Path::new("/"));
                let folder = percent::encode(&folder.to_string_lossy());
                let port = socket.extension().unwrap_or_default().to_string_lossy();
                let place = format!("postgres://{user}@/{database}?host={folder}");
                match port.as_ref() {
                    "5432" => place,
                    port => format!("{place}&port={port}"),
                }
            }
        }
    }
}

impl fmt::Display for PostgresTarget {
    /// As `--target` takes it in a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell::quoted(&self.url()))
    }
}

/// What the text itself says. An empty value is none.
fn read(text: &str) -> Result<Given, TargetError> {
    let scheme = text.split([':', '/']).next().unwrap_or_default();
    if !SCHEMES.contains(&scheme) || !text[scheme.len()..].starts_with("://") {
        return Err(TargetError::Scheme(scheme.to_owned()));
    }
    let url = ServerUrl::parse(text).map_err(unreadable)?;
    let mut given = Given::from([
        ("user", url.user.unwrap_or_default()),
        ("password", url.password.unwrap_or_default().reveal().to_owned()),
        ("host", url.host.unwrap_or_default()),
        ("port", url.port.map_or(String::new(), |port| port.to_string())),
        ("dbname", url.database.unwrap_or_default()),
    ]);
    let names = PARAMETERS.map(|(name, _)| name);
    for (name, value) in url.parameters {
        let known = names.into_iter().find(|known| *known == name);
        let refuse = || TargetError::Parameter(ServerUrl::unknown(&name, &names));
        let name = known.ok_or_else(refuse)?;
        if !value.is_empty() {
            given.insert(name, value);
        }
    }
    given.retain(|_, value| !value.is_empty());
    Ok(given)
}

/// Adds what the environment says of parameters that are not given.
fn complete(given: &mut Given, variable: &dyn Fn(&str) -> Option<String>) {
    for (name, from) in PARAMETERS {
        if let (false, Some(value)) = (given.contains_key(name), variable(from))
            && !value.is_empty()
        {
            given.insert(name, value);
        }
    }
}

/// The password that is given, or that the password file has for a host, port, database and user.
/// The error says why that file was not used.
fn password(
    given: &Given,
    login: [&str; 4],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, String> {
    if let Some(password) = given.get("password") {
        return Ok(Some(password.clone()));
    }
    let usual = || Some(PathBuf::from(variable("HOME")?).join(".pgpass"));
    match given.get("passfile").map(PathBuf::from).or_else(usual) {
        Some(path) => password_file::look_up(&path, login),
        None => Ok(None),
    }
}

/// Settings of the session.
fn settings(given: &mut Given) -> Vec<(String, String)> {
    let name = given.remove("application_name").unwrap_or_else(|| "dbtime".to_owned());
    let options = given.remove("options").map(|value| ("options".to_owned(), value));
    std::iter::once(("application_name".to_owned(), name)).chain(options).collect()
}

fn malformed(piece: &str) -> TargetError {
    TargetError::Malformed(piece.to_owned())
}

/// What cannot be read is not shown: a port may be a password whose user was forgotten.
fn unreadable(error: UrlError) -> TargetError {
    match error {
        UrlError::Login => malformed("user and password"),
        UrlError::Port => malformed("port"),
        UrlError::Escape { piece } => TargetError::Malformed(piece),
        other => TargetError::Parameter(other),
    }
}

/// What was asked for; `None` where nothing was.
fn ssl_mode(given: &Given) -> Result<Option<TlsMode>, TargetError> {
    let Some(value) = given.get("sslmode") else { return Ok(None) };
    let found = SSL_MODES.iter().find(|(name, _)| name == value);
    let allowed = "disable, allow, prefer, require, verify-ca or verify-full";
    found.map(|(_, mode)| Some(*mode)).ok_or_else(|| no_value("sslmode", value, allowed))
}

fn no_value(name: &str, value: &str, allowed: &'static str) -> TargetError {
    let (name, value) = (name.to_owned(), value.to_owned());
    TargetError::Parameter(UrlError::Value { name, value, allowed })
}

/// Seconds as for libpq, or a duration with its unit. Nothing positive: as long as it takes.
fn connect_timeout(given: &Given) -> Result<Nanos, TargetError> {
    let Some(value) = given.get("connect_timeout") else { return Ok(CONNECT_TIMEOUT) };
    let allowed = "seconds (10), or a duration (500ms)";
    let refuse = || no_value("connect_timeout", value, allowed);
    match value.trim().parse::<i64>() {
        Ok(1..) => format!("{}s", value.trim()).parse().map_err(|_| refuse()),
        Ok(_) => Ok(Nanos(u64::MAX)),
        Err(_) => value.parse().map_err(|_| refuse()),
    }
}

/// The host's name in the password file, and its address.
fn address(given: &Given, port: u16) -> Result<(String, Address), TargetError> {
    let socket = |folder: &str| Path::new(folder).join(format!(".s.PGSQL.{port}"));
    match given.get("host").map(String::as_str) {
        None => {
            let is_there = |folder: &&&str| socket(folder).exists();
            let folder = SOCKET_FOLDERS.iter().find(is_there).unwrap_or(&SOCKET_FOLDERS[0]);
            Ok(("localhost".to_owned(), Address::unix(&socket(folder))?))
        }
        Some(folder) if folder.starts_with('/') => {
            let is_usual = SOCKET_FOLDERS.contains(&folder.trim_end_matches('/'));
            let name = if is_usual { "localhost" } else { folder };
            Ok((name.to_owned(), Address::unix(&socket(folder))?))
        }
        Some(hosts) if hosts.contains(',') => Err(TargetError::ManyHosts),
        Some(host) if host.starts_with('@') => Err(malformed("host")),
        Some(host) => Ok((host.to_owned(), Address::tcp(host, port)?)),
    }
}

/// The name of this process's user.
fn os_user(variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let id = rustix::process::geteuid().as_raw().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = lines.find(|fields| fields.get(2) == Some(&id.as_str()));
    found.map(|fields| fields[0].to_owned()).or_else(|| variable("USER"))
}

#[cfg(test)]
mod tests;
