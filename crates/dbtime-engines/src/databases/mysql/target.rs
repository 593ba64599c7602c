//! The target `mysql://user:password@host:port/database?…`, completed by what the usual files and
//! environment variables say.

use super::options_file::{self, MysqlClientOptions};
use super::public_key::{PublicKeyError, ServerPublicKey};
use super::shared::{MysqlIdentity, MysqlShared, PasswordExchange};
use crate::server::StatementProtocol;
use crate::server::secret::ServerSecret;
use crate::server::url::{
    MANY_HOSTS, NO_PORT, PASSWORD, ServerUrl, UrlError, query_of, without_password,
};
use crate::socket::{
    AddressError, KeyProof, ReconnectPolicy, ServerAddress, SimulatedNetwork, SocketSettings,
    TcpKeepalive, TlsError, TlsFiles, TlsMode, TlsSettings,
};
use dbtime_load::statement::Statement;
use dbtime_model::Nanos;
use dbtime_model::bounded_file::{written_bytes, written_text};
use dbtime_model::percent;
use dbtime_model::shell;
use std::fmt;
use std::path::{Path, PathBuf};

/// A server, who logs in there, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MysqlTarget {
    /// As given, without its password; where it names no place, with the one that was found.
    pub url: String,
    /// Where it listens.
    pub address: ServerAddress,
    /// Who logs in.
    pub identity: MysqlIdentity,
    /// How long making a connection may take.
    pub connect_timeout: Nanos,
    /// Whether connections are encrypted.
    pub tls: TlsMode,
    /// Whose certificates are believed and shown.
    pub tls_files: TlsFiles,
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
    /// A file holds no key that a password could be hidden with.
    #[error(
        "cannot use the server's public key in {}: {source} (the server's own is public_key.pem \
         among its data)", path.display()
    )]
    PublicKey {
        /// The file.
        path: PathBuf,
        /// What is wrong with the key.
        source: PublicKeyError,
    },
}

/// All that are taken; the password is among them, though it is kept apart from the others.
const PARAMETERS: [&str; 11] = [
    "socket",
    "connect-timeout",
    "defaults-file",
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "server-public-key-path",
    "get-server-public-key",
    "enable-cleartext-plugin",
    PASSWORD,
];

const TLS_MODES: [(&str, TlsMode); 6] = [
    ("disabled", TlsMode::Disabled),
    ("preferred", TlsMode::Preferred),
    ("required", TlsMode::Required),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
    // MySQL's own name of it.
    ("verify-identity", TlsMode::VerifyFull),
];

const DEFAULT_PORT: u16 = 3306;

impl MysqlTarget {
    /// Reads `mysql://…` or `mariadb://…`. What it leaves out comes from `MYSQL_HOST`,
    /// `MYSQL_TCP_PORT`, `MYSQL_UNIX_PORT` and `MYSQL_PWD`, then from the `[client]` groups of
    /// `~/.my.cnf`; without any of them it is the local server's port and the user's own name.
    ///
    /// # Errors
    /// What is wrong with the text, the file, or the address.
    pub(crate) fn parse(
        text: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, MysqlTargetError> {
        let url = ServerUrl::parse(text)?;
        if let Some((name, _)) = url.parameters.iter().find(|(n, _)| !PARAMETERS.contains(&&**n)) {
            return Err(ServerUrl::unknown(name, &PARAMETERS).into());
        }
        let file = options(url.parameter("defaults-file"), &environment)?;
        let sources = OptionSources { url, file, environment: &environment };
        let address = sources.address()?;
        let tls_files = sources.tls_files()?;
        Ok(Self {
            url: sources.shown(text, &address),
            identity: MysqlIdentity { exchange: sources.exchange()?, ..sources.identity() },
            connect_timeout: sources.connect_timeout()?,
            tls: sources.tls(&address, &tls_files)?,
            tls_files,
            address,
        })
    }

    /// A server on a Unix socket.
    pub fn local(socket: &Path, user: &str, password: ServerSecret) -> Self {
        let user = user.to_owned();
        Self {
            url: format!("mysql://{user}@/?socket={}", socket.display()),
            address: ServerAddress::Unix(socket.to_owned()),
            identity: MysqlIdentity { user, password, ..MysqlIdentity::default() },
            connect_timeout: Nanos::from_secs(10),
            tls: TlsMode::Disabled,
            tls_files: TlsFiles::default(),
        }
    }

    /// How its sockets are made and kept.
    ///
    /// # Errors
    /// When they cannot be encrypted as asked for.
    pub(crate) fn sockets(
        &self,
        reconnect: ReconnectPolicy,
        statement_timeout: Option<Nanos>,
    ) -> Result<SocketSettings, TlsError> {
        Ok(SocketSettings {
            tls: TlsSettings::new(self.tls, &self.tls_files, &self.address, KeyProof::WhereKnown)?,
            address: self.address.clone(),
            keepalive: TcpKeepalive::default(),
            connect_timeout: self.connect_timeout,
            statement_timeout,
            reconnect,
            network: SimulatedNetwork::default(),
        })
    }

    /// What connections that execute a workload's statements share.
    pub(crate) fn shared(
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

/// Where the pieces of a target come from.
struct OptionSources<'a> {
    url: ServerUrl,
    file: MysqlClientOptions,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl OptionSources<'_> {
    /// What the environment says; an empty text is nothing.
    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    /// What the environment says, then the file.
    fn around(&self, name: &str, variable: &str) -> Option<String> {
        self.variable(variable).or_else(|| self.file.get(name))
    }

    fn in_url_or_file(&self, parameter: &str) -> Option<String> {
        self.url.parameter(parameter).or_else(|| self.file.get(parameter))
    }

    fn address(&self) -> Result<ServerAddress, MysqlTargetError> {
        if let Some(path) = self.url.parameter("socket") {
            return Ok(ServerAddress::unix(Path::new(&path))?);
        }
        let host = match &self.url.host {
            Some(host) => host.clone(),
            None => {
                let host = self.around("host", "MYSQL_HOST");
                if let (None, None, Some(path)) =
                    (&host, self.url.port, self.around("socket", "MYSQL_UNIX_PORT"))
                {
                    return Ok(ServerAddress::unix(Path::new(&path))?);
                }
                host.unwrap_or_else(|| "127.0.0.1".to_owned())
            }
        };
        if host.contains(',') {
            let error = match self.url.host {
                Some(_) => UrlError::ManyHosts,
                None => self.refused("host", "MYSQL_HOST", MANY_HOSTS),
            };
            return Err(error.into());
        }
        Ok(ServerAddress::tcp(&host, self.port()?)?)
    }

    /// The target for records and messages: as given, or with who logs in where if it names no
    /// place.
    fn shown(&self, text: &str, address: &ServerAddress) -> String {
        let url = &self.url;
        if url.host.is_some() || url.parameter("socket").is_some() {
            return without_password(text);
        }
        let identity = self.identity();
        let user = percent::encode(&identity.user);
        let database = percent::encode(identity.database.as_deref().unwrap_or_default());
        let mut parameters = url.parameters.clone();
        let place = match address {
            ServerAddress::Tcp { .. } => address.to_string(),
            ServerAddress::Unix(path) => {
                parameters.push(("socket".to_owned(), path.to_string_lossy().into_owned()));
                String::new()
            }
        };
        format!("{}://{user}@{place}/{database}{}", url.scheme, query_of(&parameters))
    }

    fn port(&self) -> Result<u16, UrlError> {
        match (self.url.port, self.around("port", "MYSQL_TCP_PORT")) {
            (Some(port), _) => Ok(port),
            (None, Some(text)) => {
                let number = text.parse::<u16>().ok().filter(|port| *port > 0);
                number.ok_or_else(|| self.refused("port", "MYSQL_TCP_PORT", NO_PORT))
            }
            (None, None) => Ok(DEFAULT_PORT),
        }
    }

    /// That what the environment, or else the file, says cannot be.
    fn refused(&self, name: &str, variable: &str, problem: &'static str) -> UrlError {
        let place = match self.variable(variable).is_some() {
            true => variable.to_owned(),
            false => format!("`{name}` in the file of options (defaults-file, else ~/.my.cnf)"),
        };
        UrlError::Elsewhere { place, problem }
    }

    fn identity(&self) -> MysqlIdentity {
        let user = self.url.user.clone().or_else(|| self.file.get("user"));
        let password = self.url.password.clone();
        let password =
            password.or_else(|| self.around("password", "MYSQL_PWD").map(ServerSecret::new));
        MysqlIdentity {
            user: user.or_else(|| (self.environment)("USER")).unwrap_or_else(|| "root".to_owned()),
            password: password.unwrap_or_default(),
            database: self.url.database.clone().or_else(|| self.file.get("database")),
            exchange: PasswordExchange::default(),
        }
    }

    fn exchange(&self) -> Result<PasswordExchange, MysqlTargetError> {
        let path = self.in_url_or_file("server-public-key-path").map(PathBuf::from);
        Ok(PasswordExchange {
            server_key: path.map(server_key).transpose()?,
            trusts_sent_key: self.is_on("get-server-public-key")?,
            allows_clear_text: self.is_on("enable-cleartext-plugin")?,
        })
    }

    /// Whether something is on that is off where nothing is said of it.
    fn is_on(&self, name: &'static str) -> Result<bool, UrlError> {
        let value = self.url.parameter(name).or_else(|| self.file.switch(name)).unwrap_or_default();
        match value.to_ascii_lowercase().as_str() {
            "" | "0" | "false" | "off" => Ok(false),
            "1" | "true" | "on" => Ok(true),
            _ => Err(UrlError::Value { name: name.to_owned(), value, allowed: "true or false" }),
        }
    }

    fn connect_timeout(&self) -> Result<Nanos, UrlError> {
        let Some(value) = self.url.parameter("connect-timeout") else {
            return Ok(Nanos::from_secs(10));
        };
        value.parse().map_err(|_| UrlError::Value {
            name: "connect-timeout".to_owned(),
            value,
            allowed: "a duration such as 10s",
        })
    }

    fn tls_files(&self) -> Result<TlsFiles, UrlError> {
        let named = |name: &'static str| (name, self.in_url_or_file(name));
        Ok(TlsFiles {
            authorities: self.in_url_or_file("ssl-ca").map(PathBuf::from),
            client: ServerUrl::client_files(named("ssl-cert"), named("ssl-key"))?,
        })
    }

    fn tls(&self, address: &ServerAddress, files: &TlsFiles) -> Result<TlsMode, UrlError> {
        match self.in_url_or_file("ssl-mode") {
            Some(mode) => tls_mode(&mode),
            None => Ok(TlsMode::default_for(address, files)),
        }
    }
}

fn tls_mode(text: &str) -> Result<TlsMode, UrlError> {
    let lower = text.to_ascii_lowercase().replace('_', "-");
    let found = TLS_MODES.iter().find(|(name, _)| *name == lower);
    found.map(|(_, mode)| *mode).ok_or_else(|| UrlError::Value {
        name: "ssl-mode".to_owned(),
        value: text.to_owned(),
        allowed: "disabled, preferred, required, verify-ca or verify-full",
    })
}

fn server_key(path: PathBuf) -> Result<ServerPublicKey, MysqlTargetError> {
    match written_bytes(&path) {
        Ok(pem) => ServerPublicKey::from_pem(&pem)
            .map_err(|source| MysqlTargetError::PublicKey { path, source }),
        Err(source) => Err(MysqlTargetError::File { path, source }),
    }
}

fn options(
    given: Option<String>,
    environment: &impl Fn(&str) -> Option<String>,
) -> Result<MysqlClientOptions, MysqlTargetError> {
    let path = match &given {
        Some(path) => PathBuf::from(path),
        None => match environment("HOME") {
            Some(home) => Path::new(&home).join(".my.cnf"),
            None => return Ok(MysqlClientOptions::default()),
        },
    };
    match written_text(&path) {
        Ok(text) => Ok(options_file::parse(&text)),
        Err(error) if given.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            Ok(MysqlClientOptions::default())
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
        assert_eq!(target.url, "mysql://filed@127.0.0.2:3310/db");
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
    fn what_the_environment_or_the_file_says_is_refused_by_its_name() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(".my.cnf"), "[client]\nport=hush\n").expect("written");
        let home = dir.path().to_string_lossy().into_owned();
        let error = |text: &str, variable: &str, value: &str| {
            let around = |name: &str| match name {
                "HOME" => Some(home.clone()),
                name if name == variable => Some(value.to_owned()),
                _ => None,
            };
            let told = MysqlTarget::parse(text, around).expect_err("refused").to_string();
            assert!(!told.contains("hush"), "{told}");
            told
        };
        let port = error("mysql://me@127.0.0.1/", "MYSQL_TCP_PORT", "hush,");
        assert!(port.starts_with("MYSQL_TCP_PORT is no number from 1 to 65535: "), "{port}");
        let filed = error("mysql://me@127.0.0.1/", "", "");
        assert!(filed.starts_with("`port` in the file of options "), "{filed}");
        let hosts = error("mysql://me@/", "MYSQL_HOST", "a,b");
        assert!(hosts.starts_with("MYSQL_HOST names several hosts"), "{hosts}");
        let both = error("mysql://a%2Cb/", "MYSQL_HOST", "c");
        assert!(both.starts_with("the target names several hosts"), "{both}");
    }

    #[test]
    fn how_a_password_may_go_is_off_unless_somebody_turns_it_on() {
        let exchange =
            |text: &str| MysqlTarget::parse(text, nothing).map(|target| target.identity.exchange);
        let at = |query: &str| format!("mysql://u@127.0.0.1/d{query}");
        assert_eq!(exchange(&at("")).expect("a target"), PasswordExchange::default());
        let off = at("?get-server-public-key=off&enable-cleartext-plugin=0");
        assert_eq!(exchange(&off).expect("a target"), PasswordExchange::default());
        let on = exchange(&at("?get-server-public-key=true&enable-cleartext-plugin=1"));
        let on = on.expect("a target");
        assert!(on.trusts_sent_key && on.allows_clear_text && on.server_key.is_none());
        let error = exchange(&at("?get-server-public-key=maybe")).expect_err("no value");
        assert!(error.to_string().contains("`maybe` is no value for get-server-public-key"));

        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name).display().to_string();
        let with = |name: &str| exchange(&at(&format!("?server-public-key-path={}", path(name))));
        let pem = include_str!("../../../tests/it/mysql/server.pem");
        std::fs::write(path("server.pem"), pem).expect("written");
        std::fs::write(path("bad.pem"), pem.replace("MIIB", "MIIC")).expect("written");
        assert!(with("server.pem").expect("a target").server_key.is_some());
        let error = with("bad.pem").expect_err("damaged").to_string();
        assert!(error.contains("bad.pem: it is damaged") && error.contains("public_key.pem"));
        assert!(with("none.pem").expect_err("not there").to_string().contains("cannot read"));

        std::fs::write(path(".my.cnf"), "[client]\nget_server_public_key\n").expect("written");
        let home = |name: &str| (name == "HOME").then(|| dir.path().display().to_string());
        let target = MysqlTarget::parse("mysql://u@127.0.0.1/d", home).expect("a target");
        assert!(target.identity.exchange.trusts_sent_key);
    }

    #[test]
    fn a_socket_is_named_by_a_parameter() {
        let target = MysqlTarget::parse("mysql://root@/db?socket=/run/m.sock", nothing);
        let target = target.expect("a target");
        assert_eq!(target.address, ServerAddress::Unix("/run/m.sock".into()));
        assert_eq!(target.to_string(), "'mysql://root@/db?socket=/run/m.sock'");
        let found = |name: &str| (name == "MYSQL_UNIX_PORT").then(|| "/run/m.sock".to_owned());
        for (text, url) in [
            ("mysql://root:x@/db", "mysql://root@/db?socket=/run/m.sock"),
            ("mysql://?ssl-mode=disabled", "mysql://root@/?ssl-mode=disabled&socket=/run/m.sock"),
        ] {
            assert_eq!(MysqlTarget::parse(text, found).expect("a target").url, url);
        }
        let quoted = MysqlTarget::parse("mysql://o'neil:pw@127.0.0.1/db", nothing);
        let quoted = quoted.expect("a target").to_string();
        assert_eq!(quoted, r"'mysql://o'\''neil:***@127.0.0.1/db'");
        let error =
            MysqlTarget::parse("mysql://127.0.0.1?ssl-cert=/x", nothing).expect_err("no key");
        assert!(error.to_string().contains("`ssl-cert` needs `ssl-key`"), "{error}");
        let error = MysqlTarget::parse("mysql://h?sockt=/x", nothing).expect_err("unknown");
        assert!(error.to_string().contains("did you mean `socket`?"), "{error}");
    }

    #[test]
    fn what_is_taken_is_in_the_list_of_parameters() {
        let parse = |query: &str| MysqlTarget::parse(&format!("mysql://[::1]/d?{query}"), nothing);
        let error = parse("no-such-name=x").expect_err("unknown").to_string();
        let list = error.split(['(', ')']).nth(1).expect("a list");
        assert_eq!(list.split(", ").collect::<Vec<_>>(), PARAMETERS);
        assert!(PARAMETERS.contains(&"password"));
        assert!(parse("password=x").is_ok(), "it is taken");
        for name in PARAMETERS {
            let error = parse(&format!("{name}=/none")).err().map(|error| error.to_string());
            let is_taken = error.is_none_or(|error| !error.contains("there is no parameter"));
            assert!(is_taken, "{name}");
        }
        let error = parse("passwor=x").expect_err("unknown").to_string();
        assert!(error.contains("did you mean `password`?"), "{error}");
    }
}
