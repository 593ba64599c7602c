//! From sysbench's database options to the target they name.

use crate::exit::CommandFailure;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_engines::server::url::{ServerUrl, without_password};
use dbtime_lab::{LabError, Target};
use dbtime_script::sysbench::options::{
    DatabaseOptions, MysqlOptions, PgsqlOptions, SslMode, SysbenchOptions,
};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Where MySQL's own client looks for a server on this machine.
const SOCKETS: [&str; 3] =
    ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// The target's text, its password included: for the lab's eyes only.
pub(super) fn target(options: &SysbenchOptions) -> Result<String, CommandFailure> {
    if let Some(target) = &options.own.target {
        return Ok(target.clone());
    }
    let DatabaseOptions { driver, mysql, pgsql, sqlite_db, .. } = &options.database;
    match driver.as_str() {
        "mysql" if mysql.dry_run => Ok("null".to_owned()),
        "pgsql" => Ok(postgres(pgsql).written()),
        "sqlite" if sqlite_db.is_empty() => {
            Err(CommandFailure::usage("--db-driver=sqlite needs a file: --sqlite-db=PATH"))
        }
        "sqlite" => Ok(format!("sqlite:{sqlite_db}")),
        _ => Ok(mysql_url(mysql)?.written()),
    }
}

/// The target of a script, whose host is looked for once, and not before somebody wants it.
#[derive(Default)]
pub(super) struct LazyTarget {
    found: OnceLock<Target>,
    /// Why its host cannot be found, if so; empty also before anybody has looked.
    pub(super) unreachable: Arc<OnceLock<String>>,
}

impl LazyTarget {
    /// The target that the options name. One whose host cannot be found is nothing: what becomes of
    /// connections to it, the script is told when it makes one.
    pub(super) fn target(&self, options: &SysbenchOptions) -> Result<Target, CommandFailure> {
        if let Some(found) = self.found.get() {
            return Ok(found.clone());
        }
        let found = match target(options)?.parse() {
            Err(LabError::ServerUrl(error)) if error.is_unknown_host() => {
                self.unreachable.get_or_init(|| error.to_string());
                "null".parse()?
            }
            parsed => parsed?,
        };
        Ok(self.found.get_or_init(|| found).clone())
    }
}

/// MySQL's server as messages name it; empty where the target was given otherwise.
pub(super) fn shown(options: &SysbenchOptions) -> String {
    let MysqlOptions { hosts, ports, sockets, .. } = &options.database.mysql;
    let host = hosts.first().map_or("localhost", String::as_str);
    match (&options.own.target, sockets.first()) {
        (Some(_), _) => String::new(),
        (None, Some(socket)) => format!("socket '{socket}'"),
        (None, None) => format!("host '{host}', port {}", ports.first().unwrap_or(&3306)),
    }
}

/// What of the target is a name in messages, without its password.
pub(super) fn names(options: &SysbenchOptions) -> String {
    let DatabaseOptions { mysql, pgsql, .. } = &options.database;
    match &options.own.target {
        Some(target) => without_password(target),
        None => [&mysql.user, &mysql.db, &pgsql.user, &pgsql.db].map(String::as_str).join(" "),
    }
}

fn mysql_url(mysql: &MysqlOptions) -> Result<ServerUrl, CommandFailure> {
    refuse_what_is_missing(mysql)?;
    let mut url = login("mysql", &mysql.user, &mysql.password, &mysql.db);
    let host = mysql.hosts.first().map_or("localhost", String::as_str);
    let is_local = host == "localhost";
    let usual = || SOCKETS.into_iter().find(|path| Path::new(path).exists()).map(str::to_owned);
    // As libmysqlclient does: localhost is the socket, where there is one.
    let socket = mysql.sockets.first().cloned().filter(|_| is_local);
    match socket.or_else(|| usual().filter(|_| is_local && mysql.ports == [3306])) {
        Some(socket) => url.parameters.push(("socket".to_owned(), socket)),
        None => {
            url.host = Some(if is_local { "127.0.0.1" } else { host }.to_owned());
            url.port = mysql.ports.first().copied();
        }
    }
    let mode = match mysql.ssl {
        SslMode::Disabled => "disabled",
        SslMode::Preferred => "preferred",
        SslMode::Required => "required",
        SslMode::VerifyCa => "verify-ca",
        SslMode::VerifyIdentity => "verify-full",
    };
    url.parameters.push(("ssl-mode".to_owned(), mode.to_owned()));
    let verifies = matches!(mysql.ssl, SslMode::VerifyCa | SslMode::VerifyIdentity);
    if verifies && !mysql.ssl_ca.is_empty() {
        url.parameters.push(("ssl-ca".to_owned(), mysql.ssl_ca.clone()));
    }
    if mysql.ssl != SslMode::Disabled {
        let own = [("ssl-cert", &mysql.ssl_cert), ("ssl-key", &mysql.ssl_key)];
        let own = own.into_iter().filter(|(_, path)| !path.is_empty());
        url.parameters.extend(own.map(|(name, path)| (name.to_owned(), path.clone())));
    }
    Ok(url)
}

/// What would change the measurement if it were left out silently.
fn refuse_what_is_missing(mysql: &MysqlOptions) -> Result<(), CommandFailure> {
    let several = mysql.hosts.len() > 1 || mysql.ports.len() > 1 || mysql.sockets.len() > 1;
    let is_chosen = mysql.ssl != SslMode::Disabled && !mysql.ssl_cipher.is_empty();
    let unsupported = [
        (several, "--mysql-host, --mysql-port, --mysql-socket", "several servers in turn"),
        (mysql.compression, "--mysql-compression", "compression"),
        (is_chosen, "--mysql-ssl-cipher", "a choice of ciphers"),
        (mysql.debug, "--mysql-debug", "traces of the client library"),
    ];
    match unsupported.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, option, what)) => Err(CommandFailure::usage(format!(
            "{option}: dbtime does not support {what}; leave the option out"
        ))),
        None => Ok(()),
    }
}

fn postgres(pgsql: &PgsqlOptions) -> ServerUrl {
    let mut url = login("postgres", &pgsql.user, &pgsql.password, &pgsql.db);
    url.port = Some(pgsql.port);
    match pgsql.host.starts_with('/') {
        true => url.parameters.push(("host".to_owned(), pgsql.host.clone())),
        false => url.host = Some(pgsql.host.clone()),
    }
    url.parameters.push(("sslmode".to_owned(), pgsql.sslmode.clone()));
    url
}

fn login(scheme: &str, user: &str, password: &str, database: &str) -> ServerUrl {
    let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    ServerUrl {
        scheme: scheme.to_owned(),
        user: filled(user),
        password: filled(password).map(ServerSecret::new),
        database: filled(database),
        ..ServerUrl::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_script::sysbench::options::CommandArguments;

    fn options(arguments: &[&str]) -> SysbenchOptions {
        let read = CommandArguments::read(arguments, |_| Err(String::new())).expect("arguments");
        read.options(Some(&[])).expect("options")
    }

    fn of(arguments: &[&str]) -> Result<String, String> {
        target(&options(arguments)).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn servers_are_named_as_sysbench_names_them() {
        let mysql = ["--mysql-user=u", "--mysql-password=p/w", "--mysql-db=d"];
        assert_eq!(
            of(&[&mysql[..], &["--mysql-socket=/tmp/m.sock"]].concat()),
            Ok("mysql://u:p%2Fw@/d?socket=/tmp/m.sock&ssl-mode=disabled".to_owned())
        );
        assert_eq!(
            of(&[&mysql[..], &["--mysql-host=db1", "--mysql-port=3307"]].concat()),
            Ok("mysql://u:p%2Fw@db1:3307/d?ssl-mode=disabled".to_owned())
        );
        let encrypted =
            ["--mysql-host=db1", "--mysql-ssl=on", "--mysql-ssl-cert=/c", "--mysql-ssl-key=/k"];
        assert_eq!(
            of(&[&mysql[..], &encrypted].concat()),
            Ok("mysql://u:p%2Fw@db1:3306/d?ssl-mode=required&ssl-cert=/c&ssl-key=/k".to_owned())
        );
        assert_eq!(
            of(&["--db-driver=pgsql", "--pgsql-host=/run/x", "--pgsql-user=u"]),
            Ok("postgres://u@:5432/sbtest?host=/run/x&sslmode=prefer".to_owned())
        );
        assert_eq!(of(&["--db-driver=sqlite", "--sqlite-db=/x.db"]), Ok("sqlite:/x.db".to_owned()));
        assert_eq!(of(&["--target=null:"]), Ok("null:".to_owned()));
    }

    #[test]
    fn a_host_is_looked_for_once_and_one_that_is_not_there_is_nothing() {
        let destination = LazyTarget::default();
        let lost = options(&["--mysql-host=no-such-host.invalid"]);
        assert_eq!(destination.unreachable.get(), None, "nobody has looked yet");
        let first = destination.target(&lost).map(|target| format!("{target:?}"));
        let reason = destination.unreachable.get().cloned().unwrap_or_default();
        assert!(reason.contains("no-such-host.invalid"), "{reason}");
        let other = destination.target(&options(&["--mysql-host=127.0.0.1"]));
        let found = [first, other.map(|target| format!("{target:?}"))].map(Result::ok);
        assert_eq!(found[0], found[1], "it is not looked for again");
    }

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        let refused = |option: &str| of(&[option]).expect_err("refused");
        assert!(refused("--mysql-host=a,b").contains("several servers"));
        assert!(refused("--mysql-compression=on").contains("--mysql-compression"));
        assert!(refused("--db-driver=sqlite").contains("--sqlite-db"));
    }
}
