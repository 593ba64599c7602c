//! The target `postgres://user@host:port/database?name=value&…`: which server, who logs in, how.
//!
//! What the target leaves out comes from the environment as for PostgreSQL's own clients, then from
//! their defaults. Source: PostgreSQL manual, "Connection Strings", "Environment Variables".

use super::password_file;
use super::shared::{Identity, PostgresShared};
use crate::server::{STATEMENT_GRACE, StatementProtocol};
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
    Malformed(&'static str),
    /// Several hosts.
    #[error("the target names several hosts; dbtime drives one server: name one")]
    ManyHosts,
    /// No such parameter.
    #[error("PostgreSQL targets have no parameter `{name}`; did you mean `{nearest}`? ({known})")]
    Unknown {
        /// What was written.
        name: String,
        /// The known name most like it.
        nearest: &'static str,
        /// All names.
        known: String,
    },
    /// A value that a parameter does not take.
    #[error("`{value}` is no value for {name}; allowed is {allowed}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// What was written.
        value: String,
        /// What could have been.
        allowed: &'static str,
    },
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
        for (name, from) in PARAMETERS {
            if let (false, Some(value)) = (given.contains_key(name), variable(from))
                && !value.is_empty()
            {
                given.insert(name, value);
            }
        }
        let ssl_mode = ssl_mode(&given)?;
        let user = given.remove("user").or_else(|| os_user(variable)).unwrap_or_default();
        if user.is_empty() {
            return Err(TargetError::Malformed("user"));
        }
        let database = given.remove("dbname").unwrap_or_else(|| user.clone());
        let port = given.remove("port").unwrap_or_else(|| "5432".to_owned());
        let number = port.parse().ok().filter(|port| *port > 0);
        let (host, address) = address(&given, number.ok_or(TargetError::Malformed("port"))?)?;
        let mut password_note = None;
        let password = given.remove("password").or_else(|| {
            let path = given.get("passfile").map(PathBuf::from);
            let path = path.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".pgpass")))?;
            let found = password_file::look_up(&path, [&host, &port, &database, &user]);
            found.unwrap_or_else(|why| {
                password_note = Some(why);
                None
            })
        });
        let mut settings = Vec::new();
        let name = given.remove("application_name").unwrap_or_else(|| "dbtime".to_owned());
        settings.push(("application_name".to_owned(), name));
        settings.extend(given.remove("options").map(|value| ("options".to_owned(), value)));
        let password = password.unwrap_or_default();
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
                password: String::new(),
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

impl fmt::Display for PostgresTarget {
    /// As `--target` takes it in a shell, without the password and with what the environment added.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = percent::encode(&self.identity.user);
        let database = percent::encode(&self.identity.database);
        let text = match &self.address {
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
        };
        f.write_str(&shell::quoted(&text))
    }
}

/// What the text itself says.
fn read(text: &str) -> Result<Given, TargetError> {
    let rest = ["postgres://", "postgresql://"].iter().find_map(|s| text.strip_prefix(s));
    let scheme = || text.split([':', '/']).next().unwrap_or_default().to_owned();
    let rest = rest.ok_or_else(|| TargetError::Scheme(scheme()))?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let is_name = |pair: &str| pair.split('=').next().is_some_and(|name| !name.contains('@'));
    if database.contains('@') || !query.split('&').all(is_name) {
        return Err(TargetError::Malformed("user and password"));
    }
    let (login, server) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (host, port) = host_and_port(server)?;
    let parts = [
        ("user", user),
        ("password", password),
        ("host", host),
        ("port", port),
        ("dbname", database),
    ];
    let mut given = Given::new();
    for (name, value) in parts {
        insert(&mut given, name, value)?;
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let known = PARAMETERS.iter().find(|(known, _)| *known == name);
        insert(&mut given, known.ok_or_else(|| unknown(name))?.0, value)?;
    }
    Ok(given)
}

/// An empty value is none.
fn insert(given: &mut Given, name: &'static str, value: &str) -> Result<(), TargetError> {
    let value = percent::decode(value).and_then(|bytes| String::from_utf8(bytes).ok());
    let value = value.ok_or(TargetError::Malformed(name))?;
    if !value.is_empty() {
        given.insert(name, value);
    }
    Ok(())
}

fn host_and_port(server: &str) -> Result<(&str, &str), TargetError> {
    if let Some(rest) = server.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(TargetError::Malformed("host"))?;
        return Ok((host, rest.strip_prefix(':').unwrap_or(rest)));
    }
    Ok(server.split_once(':').unwrap_or((server, "")))
}

fn unknown(name: &str) -> TargetError {
    let likeness = |known: &&(&str, &str)| (strsim::jaro_winkler(name, known.0) * 1e6) as u32;
    let nearest = PARAMETERS.iter().max_by_key(likeness).map_or("", |(name, _)| name);
    let names: Vec<&str> = PARAMETERS.iter().map(|(name, _)| *name).collect();
    TargetError::Unknown { name: name.to_owned(), nearest, known: names.join(", ") }
}

/// What was asked for; `None` where nothing was.
fn ssl_mode(given: &Given) -> Result<Option<TlsMode>, TargetError> {
    let Some(value) = given.get("sslmode") else { return Ok(None) };
    let found = SSL_MODES.iter().find(|(name, _)| name == value);
    found.map(|(_, mode)| Some(*mode)).ok_or_else(|| TargetError::Value {
        name: "sslmode",
        value: value.clone(),
        allowed: "disable, allow, prefer, require, verify-ca, verify-full",
    })
}

/// Seconds as for libpq, or a duration with its unit. Nothing positive: as long as it takes.
fn connect_timeout(given: &Given) -> Result<Nanos, TargetError> {
    let Some(value) = given.get("connect_timeout") else { return Ok(CONNECT_TIMEOUT) };
    let refuse = || TargetError::Value {
        name: "connect_timeout",
        value: value.clone(),
        allowed: "seconds (10), or a duration (500ms)",
    };
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
        Some(host) if host.starts_with('@') => Err(TargetError::Malformed("host")),
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
mod tests {
    use super::*;

    fn with(text: &str, variables: &[(&str, &str)]) -> Result<PostgresTarget, TargetError> {
        PostgresTarget::parse(text, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn target(text: &str) -> PostgresTarget {
        with(text, &[]).expect(text)
    }

    #[test]
    fn a_target_says_who_and_where() {
        let target = target(
            "postgresql://al%20ice:p%40ss%3Aw@127.0.0.1:5433/sh%2Fop?connect_timeout=3\
             &application_name=x&options=-c%20jit%3Doff&sslmode=disable",
        );
        assert_eq!(target.address.to_string(), "127.0.0.1:5433");
        let Identity { user, password, database, settings } = &target.identity;
        assert_eq!([user, password, database], ["al ice", "p@ss:w", "sh/op"]);
        let text = |text: &str| text.to_owned();
        let wanted = [(text("application_name"), text("x")), (text("options"), text("-c jit=off"))];
        assert_eq!(settings, &wanted);
        assert_eq!(target.connect_timeout, Nanos::from_secs(3));
        assert_eq!(target.to_string(), "postgres://al%20ice@127.0.0.1:5433/sh/op");
        assert!(!format!("{target:?}").contains("p@ss"), "nothing shows a password");
    }

    #[test]
    fn sockets_are_named_in_three_ways() {
        let path = "/run/pg/.s.PGSQL.5999";
        for text in [
            "postgres:///db?host=/run/pg&port=5999",
            "postgres://%2Frun%2Fpg:5999/db",
            "postgres://me@/db?host=/run/pg/&port=5999",
        ] {
            let Address::Unix(socket) = target(text).address else { panic!("{text}") };
            assert_eq!(socket, Path::new(path), "{text}");
        }
        let shown = target("postgres://me@/db?host=/run/pg&port=5999");
        assert_eq!(shown.to_string(), "'postgres://me@/db?host=/run/pg&port=5999'");
        let shown = target("postgres://o'neil@/db?host=/run/pg");
        assert_eq!(shown.to_string(), "'postgres://o%27neil@/db?host=/run/pg'");
        assert_eq!(target("postgres://[::1]:1/").address.to_string(), "[::1]:1");
    }

    #[test]
    fn the_environment_fills_in_what_a_target_leaves_out() {
        let variables = [
            ("PGHOST", "127.0.0.1"),
            ("PGPORT", "5440"),
            ("PGUSER", "env"),
            ("PGPASSWORD", "secret"),
            ("PGDATABASE", "from_env"),
            ("PGCONNECT_TIMEOUT", "0"),
            ("PGAPPNAME", ""),
        ];
        let all = with("postgres://", &variables).expect("a target");
        assert_eq!(all.to_string(), "postgres://env@127.0.0.1:5440/from_env");
        assert_eq!(all.identity.password, "secret");
        assert_eq!(all.connect_timeout, Nanos(u64::MAX));
        let own = with("postgres://me:mine@127.0.0.2/own?port=1", &variables).expect("a target");
        assert_eq!(own.to_string(), "postgres://me@127.0.0.2:1/own");
        assert_eq!(own.identity.password, "mine");
        let named = with("postgres://", &[("PGUSER", "me"), ("PGHOST", "127.0.0.1")]);
        assert_eq!(named.expect("a target").identity.database, "me", "as the user is called");
    }

    #[test]
    fn the_password_file_comes_last() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".pgpass");
        std::fs::write(&path, "127.0.0.1:5432:*:me:filed\nlocalhost:*:*:me:local\n").expect("file");
        let allow = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).expect("ours");
        };
        allow(0o600);
        let home = folder.path().display().to_string();
        let variables = [("HOME", home.as_str())];
        let password = |text: &str| with(text, &variables).expect(text).identity.password;
        assert_eq!(password("postgres://me@127.0.0.1/db"), "filed");
        assert_eq!(password("postgres://me:own@127.0.0.1/db"), "own");
        assert_eq!(password("postgres://me@/db?host=/tmp"), "local");
        assert_eq!(password("postgres://me@/db?host=/run/pg"), "");
        allow(0o644);
        let open = with("postgres://me@127.0.0.1/db", &variables).expect("a target");
        assert_eq!(open.identity.password, "");
        assert!(open.password_note.expect("why").contains("chmod 600"));
    }

    #[test]
    fn bad_targets_are_told_why_without_their_password() {
        let error = |text: &str| with(text, &[]).expect_err(text).to_string();
        assert!(error("mysql://x").contains("`mysql`"));
        assert!(error("postgres://127.0.0.1/d?sslmod=require").contains("did you mean `sslmode`?"));
        assert!(error("postgres://127.0.0.1/d?sslmode=on").contains("verify-full"));
        assert!(error("postgres://127.0.0.1/d?connect_timeout=soon").contains("500ms"));
        assert!(error("postgres://a,b/d").contains("several hosts"));
        for bad in [
            "u:hush/hush@127.0.0.1/d",
            "u:x?hush@h/d",
            "u:hush%@127.0.0.1/",
            "127.0.0.1:hush/d",
            "u@h:0/",
        ] {
            let told = error(&format!("postgres://{bad}"));
            assert!(told.contains("%2F") && !told.contains("hush"), "{told}");
        }
    }

    #[test]
    fn the_server_is_told_how_long_a_statement_may_take() {
        let target = target("postgres://me@127.0.0.1/d");
        let limit = Some(Nanos::from_millis(250));
        let shared = target.shared(&[], StatementProtocol::Text, limit);
        let startup = String::from_utf8_lossy(&shared.startup).into_owned();
        assert!(startup.contains("\0statement_timeout\x00250\0"), "{startup}");
        let sockets = target.sockets(Reconnect::WhenLost, limit).expect("no TLS is asked for");
        assert_eq!(sockets.statement_timeout, Some(Nanos::from_millis(1250)));
    }
}
