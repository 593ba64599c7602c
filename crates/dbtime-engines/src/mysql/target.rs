//! The target `mysql://user:password@host:port/database?…`, completed by what the usual files and
//! environment variables say.

use super::options_file::{self, Options};
use super::shared::{Identity, MysqlShared};
use crate::secret::Secret;
use crate::server::StatementProtocol;
use crate::server_url::{ServerUrl, UrlError, without_password};
use crate::shell;
use crate::socket::{
    Address, AddressError, Reconnect, SocketSettings, TlsError, TlsMode, TlsSettings,
};
use dbtime_load::statement::Statement;
use dbtime_model::Nanos;
use std::fmt;
use std::path::{Path, PathBuf};

/// A server, who logs in there, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MysqlTarget {
    /// As given, without its password.
    pub url: String,
    /// Where it listens.
    pub address: Address,
    /// Who logs in.
    pub identity: Identity,
    /// How long making a connection may take.
    pub connect_timeout: Nanos,
    /// Whether connections are encrypted.
    pub tls: TlsMode,
    /// The certificates that the server's must come from; `None`: those the system knows.
    pub authorities: Option<PathBuf>,
}

/// Why a text is no target.
#[derive(Debug, thiserror::Error)]
pub enum MysqlTargetError {
    /// The text itself.
    #[error("{0}")]
    Url(#[from] UrlError),
    /// There is no such address.
    #[error("{0}")]
    Address(#[from] AddressError),
    /// A file of options cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

const PARAMETERS: [&str; 5] = ["socket", "connect-timeout", "defaults-file", "ssl-mode", "ssl-ca"];

const MODES: [(&str, TlsMode); 6] = [
    ("disabled", TlsMode::Disabled),
    ("preferred", TlsMode::Preferred),
    ("required", TlsMode::Required),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
    // MySQL's own name of it.
    ("verify-identity", TlsMode::VerifyFull),
];

const PORT: u16 = 3306;

impl MysqlTarget {
    /// Reads `mysql://…` or `mariadb://…`. What it leaves out comes from `MYSQL_HOST`,
    /// `MYSQL_TCP_PORT`, `MYSQL_UNIX_PORT` and `MYSQL_PWD`, then from the `[client]` groups of
    /// `~/.my.cnf`; without any of them it is the local server's port and the user's own name.
    ///
    /// # Errors
    /// What is wrong with the text, the file, or the address.
    pub fn parse(
        text: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, MysqlTargetError> {
        let url = ServerUrl::parse(text)?;
        let parameter = |name: &str| {
            url.parameters.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone())
        };
        if let Some((name, _)) = url.parameters.iter().find(|(n, _)| !PARAMETERS.contains(&&**n)) {
            return Err(ServerUrl::unknown(name, &PARAMETERS).into());
        }
        let file = options(parameter("defaults-file"), &environment)?;
        let from = |name: &str, variable: &str| {
            environment(variable).filter(|v| !v.is_empty()).or_else(|| file.get(name))
        };
        let socket = parameter("socket");
        let host = url.host.clone();
        let address = match (socket, host) {
            (Some(path), _) => Address::unix(Path::new(&path))?,
            (None, Some(host)) => Address::tcp(&host, url.port.map_or_else(|| port(&from), Ok)?)?,
            (None, None) => match (from("socket", "MYSQL_UNIX_PORT"), from("host", "MYSQL_HOST")) {
                (Some(path), None) if url.port.is_none() => Address::unix(Path::new(&path))?,
                (_, host) => {
                    let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
                    Address::tcp(&host, url.port.map_or_else(|| port(&from), Ok)?)?
                }
            },
        };
        let user = url.user.clone().or_else(|| file.get("user"));
        let user = user.or_else(|| environment("USER")).unwrap_or_else(|| "root".to_owned());
        let password = url.password.clone();
        let password = password.or_else(|| from("password", "MYSQL_PWD").map(Secret::new));
        let connect_timeout = match parameter("connect-timeout") {
            Some(value) => value.parse().map_err(|_| UrlError::Value {
                name: "connect-timeout".to_owned(),
                value,
                allowed: "a duration such as 10s",
            })?,
            None => Nanos::from_secs(10),
        };
        let tls = match parameter("ssl-mode").or_else(|| file.get("ssl-mode")) {
            Some(mode) => tls_mode(&mode)?,
            None => TlsMode::default_for(&address),
        };
        Ok(Self {
            url: without_password(text),
            address,
            tls,
            authorities: parameter("ssl-ca").or_else(|| file.get("ssl-ca")).map(PathBuf::from),
            identity: Identity {
                user,
                password: password.unwrap_or_default(),
                database: url.database.clone().or_else(|| file.get("database")),
            },
            connect_timeout,
        })
    }

    /// A server on a Unix socket, logged in to without a password.
    pub fn local(socket: &Path, user: &str, database: Option<&str>) -> Self {
        Self {
            url: format!("mysql:///{}?socket={}", database.unwrap_or(""), socket.display()),
            address: Address::Unix(socket.to_owned()),
            identity: Identity {
                user: user.to_owned(),
                password: Secret::default(),
                database: database.map(str::to_owned),
            },
            connect_timeout: Nanos::from_secs(10),
            tls: TlsMode::Disabled,
            authorities: None,
        }
    }

    /// How its sockets are made and kept.
    ///
    /// # Errors
    /// When they cannot be encrypted as asked for.
    pub fn sockets(
        &self,
        reconnect: Reconnect,
        statement_timeout: Option<Nanos>,
    ) -> Result<SocketSettings, TlsError> {
        Ok(SocketSettings {
            tls: TlsSettings::new(self.tls, self.authorities.as_deref(), &self.address)?,
            address: self.address.clone(),
            connect_timeout: self.connect_timeout,
            statement_timeout,
            reconnect,
        })
    }

    /// What connections that execute a workload's statements share.
    pub fn shared(
        &self,
        setup: Vec<String>,
        statements: &[Statement],
        protocol: StatementProtocol,
    ) -> MysqlShared {
        MysqlShared::of_workload(self.identity.clone(), setup, statements, protocol)
    }
}

impl fmt::Display for MysqlTarget {
    /// As `--target` takes it in a shell, without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell::quoted(&self.url))
    }
}

fn tls_mode(text: &str) -> Result<TlsMode, UrlError> {
    let lower = text.to_ascii_lowercase().replace('_', "-");
    let found = MODES.iter().find(|(name, _)| *name == lower);
    found.map(|(_, mode)| *mode).ok_or_else(|| UrlError::Value {
        name: "ssl-mode".to_owned(),
        value: text.to_owned(),
        allowed: "disabled, preferred, required, verify-ca or verify-full",
    })
}

fn port(from: &impl Fn(&str, &str) -> Option<String>) -> Result<u16, UrlError> {
    let Some(text) = from("port", "MYSQL_TCP_PORT") else { return Ok(PORT) };
    text.parse().map_err(|_| UrlError::Port)
}

fn options(
    given: Option<String>,
    environment: &impl Fn(&str) -> Option<String>,
) -> Result<Options, MysqlTargetError> {
    let path = match &given {
        Some(path) => PathBuf::from(path),
        None => match environment("HOME") {
            Some(home) => Path::new(&home).join(".my.cnf"),
            None => return Ok(Options::default()),
        },
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(options_file::parse(&text)),
        Err(error) if given.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Options::default())
        }
        Err(source) => Err(MysqlTargetError::File { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn what_a_target_leaves_out_comes_from_the_environment_and_the_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let text = "[client]\nuser = filed\npassword=\"from # file\"\nport=3310\n";
        std::fs::write(dir.path().join(".my.cnf"), text).expect("written");
        let home = dir.path().to_string_lossy().into_owned();
        let environment = |name: &str| match name {
            "HOME" => Some(home.clone()),
            "MYSQL_HOST" => Some("127.0.0.2".to_owned()),
            _ => None,
        };
        let target = MysqlTarget::parse("mysql:///db", environment).expect("a target");
        assert_eq!(target.address.to_string(), "127.0.0.2:3310");
        assert_eq!(target.identity.user, "filed");
        assert_eq!(target.identity.password.reveal(), "from # file");
        assert_eq!(target.identity.database.as_deref(), Some("db"));
        let given = MysqlTarget::parse("mysql://me:pw@127.0.0.3:1", environment).expect("a target");
        assert_eq!(given.address.to_string(), "127.0.0.3:1");
        assert_eq!(
            (given.identity.user.as_str(), given.url.as_str()),
            ("me", "mysql://me:***@127.0.0.3:1")
        );
        assert!(!format!("{given:?}").contains("pw"));
    }

    #[test]
    fn a_socket_is_named_by_a_parameter() {
        let target = MysqlTarget::parse("mysql://root@/db?socket=/run/m.sock", nothing);
        let target = target.expect("a target");
        assert_eq!(target.address, Address::Unix("/run/m.sock".into()));
        assert_eq!(target.to_string(), "'mysql://root@/db?socket=/run/m.sock'");
        let quoted = MysqlTarget::parse("mysql://o'neil:pw@127.0.0.1/db", nothing);
        let quoted = quoted.expect("a target").to_string();
        assert_eq!(quoted, r"'mysql://o'\''neil:***@127.0.0.1/db'");
        let error = MysqlTarget::parse("mysql://h?sockt=/x", nothing).expect_err("unknown");
        assert!(error.to_string().contains("did you mean `socket`?"), "{error}");
    }
}
