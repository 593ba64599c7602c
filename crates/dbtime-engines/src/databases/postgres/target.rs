//! The target `postgres://user@host:port/database?name=value&…`: which server, who logs in, how.
//!
//! What the target leaves out comes from the environment as for PostgreSQL's own clients, then from
//! their defaults. Source: PostgreSQL manual, "Connection Strings", "Environment Variables".

mod keepalive;
mod other_parameters;
mod session;
mod url_values;

use self::url_values::UrlValues;
use super::login_methods::LoginMethods;
use super::password_file;
use super::shared::{BindingMode, PostgresIdentity, PostgresShared};
use crate::server::secret::ServerSecret;
use crate::server::url::{MANY_HOSTS, NO_PORT, ServerUrl, UrlError, query_of};
use crate::server::{STATEMENT_GRACE, StatementProtocol};
use crate::socket::{
    AddressError, KeyProof, ReconnectPolicy, ServerAddress, SimulatedNetwork, SocketSettings,
    TcpKeepalive, TlsError, TlsFiles, TlsMode, TlsSettings,
};
use dbtime_load::statement::Statement;
use dbtime_model::Nanos;
use dbtime_model::percent;
use dbtime_model::shell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A PostgreSQL server and how to log in to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresTarget {
    /// Where it listens.
    pub address: ServerAddress,
    /// Who logs in, and where to.
    pub identity: PostgresIdentity,
    /// Whether the connection is to be encrypted.
    pub ssl_mode: TlsMode,
    /// Whose certificates are believed and shown.
    pub tls_files: TlsFiles,
    /// How long making a connection may take.
    pub connect_timeout: Nanos,
    /// What the kernel does about a server that says nothing.
    pub keepalive: TcpKeepalive,
    /// Why the password file was not used, if it was not.
    pub password_note: Option<String>,
    /// Parameters as they were given, without what [`Self::url`] has from elsewhere.
    parameters: Vec<(&'static str, String)>,
}

/// Why a text is no target.
#[derive(Debug, thiserror::Error)]
pub enum PostgresTargetError {
    /// Another scheme, or none.
    #[error("`{0}` is no PostgreSQL target; write postgres://user@host:port/database")]
    Scheme(String),
    /// Something cannot be what it is meant to be. The text is not shown: it may hold a password.
    #[error(
        "the target has no valid {0}; in user and password write : / @ ? % & as %3A %2F %40 %3F \
         %25 %26"
    )]
    Malformed(String),
    /// A parameter or its value.
    #[error(transparent)]
    Parameter(UrlError),
    /// A connection service that is not there, or makes no sense.
    #[error("{problem}; fix that, or name the server itself and {otherwise}")]
    Service {
        /// What is wrong with it.
        problem: String,
        /// How to do without.
        otherwise: &'static str,
    },
    /// There is no such address.
    #[error(transparent)]
    Address(#[from] AddressError),
}

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

/// libpq's words for how a login is tied to its connection.
const BINDING_MODES: [(&str, BindingMode); 3] = [
    ("disable", BindingMode::Never),
    ("prefer", BindingMode::IfOffered),
    ("require", BindingMode::Must),
];

/// In the place of a file of authorities: those that the system knows, and every check.
const SYSTEM_AUTHORITIES: &str = "system";

/// What a connection may take when nothing is said: a server that does not answer is no use here.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(10);

impl PostgresTarget {
    /// Reads a target; `variable` looks up the environment.
    ///
    /// # Errors
    /// What is wrong with it; no error shows a password.
    pub fn parse(
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, PostgresTargetError> {
        let mut given = UrlValues::read(text)?;
        let parameters = given.parameters();
        given.complete(variable)?;
        let ssl_mode = ssl_mode(&given)?;
        let user = given.take("user").or_else(|| os_user(variable)).unwrap_or_default();
        if user.is_empty() {
            return Err(malformed("user"));
        }
        let database = given.take("dbname").unwrap_or_else(|| user.clone());
        let port = given.take("port").unwrap_or_else(|| "5432".to_owned());
        let number = port.parse::<u16>().ok().filter(|port| *port > 0);
        let number = number.ok_or_else(|| given.refused("port", NO_PORT, malformed("port")))?;
        let (host, address) = address(&given, number)?;
        let login = [&*host, &port, &database, &user];
        let (password, password_note) = match password(&given, login, variable) {
            Ok(password) => (password.unwrap_or_default(), None),
            Err(why) => (String::new(), Some(why)),
        };
        let password = ServerSecret::new(password);
        let settings = session::settings(&mut given, variable);
        let (tls_files, usual) = tls_files(&mut given, ssl_mode)?;
        let (binding, methods) = (binding(&given)?, methods(&given)?);
        let usual = usual.unwrap_or(TlsMode::default_for(&address, &tls_files));
        let ssl_mode = match ssl_mode {
            // As libpq has it: whoever names authorities has them looked at.
            Some(TlsMode::Required) if tls_files.authorities.is_some() => Some(TlsMode::VerifyCa),
            mode => mode,
        };
        Ok(Self {
            connect_timeout: connect_timeout(&given)?,
            keepalive: keepalive::keepalive(&given)?,
            identity: PostgresIdentity { user, password, database, settings, binding, methods },
            ssl_mode: ssl_mode.unwrap_or(usual),
            address,
            tls_files,
            password_note,
            parameters,
        })
    }

    /// The same server with another database.
    #[must_use]
    pub(crate) fn with_database(&self, database: &str) -> Self {
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
        reconnect: ReconnectPolicy,
        statement_timeout: Option<Nanos>,
    ) -> Result<SocketSettings, TlsError> {
        // The server ends a statement by itself; only one that does not is given up.
        let grace = |limit: Nanos| limit + STATEMENT_GRACE;
        // What is tied to a certificate proves nothing of a server that has not its key.
        let proof = match self.identity.binding {
            BindingMode::Must => KeyProof::Always,
            BindingMode::Never | BindingMode::IfOffered => KeyProof::WhereKnown,
        };
        Ok(SocketSettings {
            tls: TlsSettings::new(self.ssl_mode, &self.tls_files, &self.address, proof)?,
            address: self.address.clone(),
            keepalive: self.keepalive,
            connect_timeout: self.connect_timeout,
            statement_timeout: statement_timeout.map(grace),
            reconnect,
            network: SimulatedNetwork::default(),
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
        let timeout_setting =
            millis.map(|millis| ("statement_timeout".to_owned(), millis.to_string()));
        identity.settings.extend(timeout_setting);
        PostgresShared::of_workload(identity, statements, protocol)
    }
}

impl PostgresTarget {
    /// A server on a Unix socket.
    pub fn local(socket: &Path, user: &str, password: ServerSecret, database: &str) -> Self {
        let settings = vec![("application_name".to_owned(), "dbtime".to_owned())];
        Self {
            address: ServerAddress::Unix(socket.to_owned()),
            identity: PostgresIdentity {
                user: user.to_owned(),
                password,
                database: database.to_owned(),
                settings,
                ..PostgresIdentity::default()
            },
            ssl_mode: TlsMode::Disabled,
            tls_files: TlsFiles::default(),
            connect_timeout: CONNECT_TIMEOUT,
            keepalive: TcpKeepalive::default(),
            password_note: None,
            parameters: Vec::new(),
        }
    }
}

impl FromStr for PostgresTarget {
    type Err = PostgresTargetError;

    fn from_str(text: &str) -> Result<Self, PostgresTargetError> {
        Self::parse(text, &|name| std::env::var(name).ok())
    }
}

impl PostgresTarget {
    /// As `--target` takes it, without the password and with what the environment added.
    pub(crate) fn url(&self) -> String {
        let user = percent::encode(&self.identity.user);
        let database = percent::encode(&self.identity.database);
        let mut parameters = self.parameters.clone();
        let place = match &self.address {
            ServerAddress::Tcp { .. } => self.address.to_string(),
            ServerAddress::Unix(socket) => {
                let folder = socket.parent().unwrap_or(Path::new("/")).to_string_lossy();
                let port = socket.extension().unwrap_or_default().to_string_lossy();
                let port = (port != "5432").then(|| ("port", port.into_owned()));
                let socket = std::iter::once(("host", folder.into_owned())).chain(port);
                parameters.splice(0..0, socket);
                String::new()
            }
        };
        format!("postgres://{user}@{place}/{database}{}", query_of(&parameters))
    }
}

impl fmt::Display for PostgresTarget {
    /// As `--target` takes it in a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell::quoted(&self.url()))
    }
}

/// The password that is given, or that the password file has for a host, port, database and user.
/// The error says why that file was not used.
fn password(
    given: &UrlValues,
    login: [&str; 4],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, String> {
    if let Some(password) = given.get("password") {
        return Ok(Some(password.to_owned()));
    }
    let usual = || Some(PathBuf::from(variable("HOME")?).join(".pgpass"));
    match given.get("passfile").map(PathBuf::from).or_else(usual) {
        Some(path) => password_file::look_up(&path, login),
        None => Ok(None),
    }
}

fn malformed(piece: &str) -> PostgresTargetError {
    PostgresTargetError::Malformed(piece.to_owned())
}

/// What was asked for; `None` where nothing was.
fn ssl_mode(given: &UrlValues) -> Result<Option<TlsMode>, PostgresTargetError> {
    let Some(value) = given.get("sslmode") else { return Ok(None) };
    let found = SSL_MODES.iter().find(|(name, _)| *name == value);
    let allowed = "disable, allow, prefer, require, verify-ca or verify-full";
    found.map(|(_, mode)| Some(*mode)).ok_or_else(|| given.no_value("sslmode", value, allowed))
}

/// How a login is tied to its connection.
fn binding(given: &UrlValues) -> Result<BindingMode, PostgresTargetError> {
    let Some(value) = given.get("channel_binding") else { return Ok(BindingMode::default()) };
    let found = BINDING_MODES.iter().find(|(name, _)| *name == value).map(|(_, mode)| *mode);
    found.ok_or_else(|| given.no_value("channel_binding", value, "disable, prefer or require"))
}

/// Which logins the server may ask for.
fn methods(given: &UrlValues) -> Result<LoginMethods, PostgresTargetError> {
    let Some(value) = given.get("require_auth") else { return Ok(LoginMethods::default()) };
    let refuse = || given.no_value("require_auth", value, LoginMethods::WRITTEN);
    LoginMethods::read(value).ok_or_else(refuse)
}

/// The files of certificates, and the mode that goes with them where none is given.
fn tls_files(
    given: &mut UrlValues,
    ssl_mode: Option<TlsMode>,
) -> Result<(TlsFiles, Option<TlsMode>), PostgresTargetError> {
    let certificate = given.take("sslcert");
    let key = given.take("sslkey");
    let names = if ["sslcert", "sslkey"].iter().any(|name| given.is_from_environment(name)) {
        ("PGSSLCERT", "PGSSLKEY")
    } else {
        ("sslcert", "sslkey")
    };
    let client = ServerUrl::client_files((names.0, certificate), (names.1, key));
    let client = client.map_err(PostgresTargetError::Parameter)?;
    let authorities = given.take("sslrootcert");
    if authorities.as_deref() != Some(SYSTEM_AUTHORITIES) {
        let authorities = authorities.map(PathBuf::from);
        return Ok((TlsFiles { authorities, client }, None));
    }
    // Anybody can have a certificate by some of them.
    if ssl_mode.is_some_and(|mode| mode != TlsMode::VerifyFull) {
        let allowed = "the name of a file, or sslmode=verify-full beside it";
        return Err(given.no_value("sslrootcert", SYSTEM_AUTHORITIES, allowed));
    }
    Ok((TlsFiles { authorities: None, client }, Some(TlsMode::VerifyFull)))
}

/// Seconds as for libpq, or with a unit. Nothing positive: as long as it takes.
fn connect_timeout(given: &UrlValues) -> Result<Nanos, PostgresTargetError> {
    let Some(value) = given.get("connect_timeout") else { return Ok(CONNECT_TIMEOUT) };
    let allowed = "seconds (10), or a duration (500ms)";
    let refuse = || given.no_value("connect_timeout", value, allowed);
    match value.trim().parse::<i64>() {
        Ok(..=0) => Ok(Nanos(u64::MAX)),
        _ => value.parse().map_err(|_| refuse()),
    }
}

/// The host's name in the password file, and its address.
fn address(given: &UrlValues, port: u16) -> Result<(String, ServerAddress), PostgresTargetError> {
    let socket = |folder: &str| Path::new(folder).join(format!(".s.PGSQL.{port}"));
    match given.get("host") {
        None => {
            let is_there = |folder: &&&str| socket(folder).exists();
            let folder = SOCKET_FOLDERS.iter().find(is_there).unwrap_or(&SOCKET_FOLDERS[0]);
            Ok(("localhost".to_owned(), ServerAddress::unix(&socket(folder))?))
        }
        Some(folder) if folder.starts_with('/') => {
            let is_usual = SOCKET_FOLDERS.contains(&folder.trim_end_matches('/'));
            let name = if is_usual { "localhost" } else { folder };
            Ok((name.to_owned(), ServerAddress::unix(&socket(folder))?))
        }
        Some(hosts) if hosts.contains(',') => {
            let in_target = PostgresTargetError::Parameter(UrlError::ManyHosts);
            Err(given.refused("host", MANY_HOSTS, in_target))
        }
        Some(host) if host.starts_with('@') => {
            Err(given.refused("host", "is no name of a host", malformed("host")))
        }
        Some(host) => Ok((host.to_owned(), ServerAddress::tcp(host, port)?)),
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
