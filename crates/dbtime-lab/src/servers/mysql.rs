//! How the data folder of MariaDB and MySQL is made and their server started.
//!
//! MySQL from 5.7 on makes its data folder itself. MariaDB and older MySQL are fed the SQL files
//! that come with them, which is what their install scripts do; an old MySQL without such files
//! may bring a ready folder `data`.

use super::find::InstalledServer;
use super::launch::option;
use super::login::PrivateLogin;
use super::product::ServerPackage;
use super::site::{INTERRUPTED, ServerSite};
use crate::data_snapshot::{copy_all, go_on};
use crate::error::LabError;
use dbtime_engines::databases::mysql::{MysqlServer, MysqlTarget};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{Server, password_verifier};
use dbtime_model::Product;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Connections that the default of 151 leaves to a load.
const DEFAULT_CONNECTIONS: u32 = 140;

/// What is added to the connections of the load, for dbtime's own.
const SPARE_CONNECTIONS: u32 = 20;

/// Where in an installation messages and SQL files may be.
const SHARES: [&str; 4] = ["share/mysql", "share/mariadb", "share", "share/share"];

/// Settings that must hold when the data folder is made, and are no use later.
const AT_BIRTH: [&str; 9] = [
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_undo_tablespaces",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_checksum_algorithm",
    "innodb_use_native_aio",
    "innodb_flush_method",
    "lower_case_table_names",
];

/// What makes the system tables, in order: names of files without `mysql_` or `mariadb_`, and
/// whether there is no server without it.
const SYSTEM_TABLES: [(&str, bool); 4] = [
    ("system_tables.sql", true),
    ("performance_tables.sql", false),
    ("system_tables_data.sql", true),
    ("sys_schema.sql", false),
];

/// The same, for files that always had one name.
const FURTHER_TABLES: [&str; 2] = ["fill_help_tables.sql", "maria_add_gis_sp_bootstrap.sql"];

/// Comes before them. The user root has no password yet, and there is no anonymous one.
const PREAMBLE: &str = "create database if not exists mysql;\nuse mysql;\n\
                        set @auth_root_socket=NULL;\nset @skip_auth_anonymous=1;\n";

/// The user that a private server lets in.
const USER: &str = "root";

/// MySQL's own server.
pub(super) const MYSQL: ServerPackage = ServerPackage {
    product: Product::Mysql,
    binaries: &["mysqld"],
    install_hint: "install MySQL's own server (a stable Debian has only MariaDB; unstable has \
                   mysql-server-core)",
    system_user: "mysql",
    version_arguments: &["--no-defaults", "--version"],
    version_in: |line| version(line).filter(|_| !is_mariadb(line)),
    database_user: USER,
    login_file: "client.cnf",
    login_text,
    server,
    of_birth: &AT_BIRTH,
    make_data,
    adopt_data,
    first_statements: |site| Some(password_statements(site)),
    arguments,
    socket,
    end_signals: (Signal::TERM, None),
    watchdog_signal: "KILL",
};

/// MariaDB's server.
pub(super) const MARIADB: ServerPackage = ServerPackage {
    product: Product::Mariadb,
    binaries: &["mariadbd", "mysqld"],
    install_hint: "install it (Debian: apt-get install mariadb-server-core)",
    version_in: |line| version(line).filter(|_| is_mariadb(line)),
    ..MYSQL
};

/// The version in the line that a server of MySQL's kind prints.
fn version(line: &str) -> Option<&str> {
    line.split_once(" Ver ")?.1.split_whitespace().next()
}

fn is_mariadb(line: &str) -> bool {
    line.to_ascii_lowercase().contains("mariadb")
}

fn login_text(login: &PrivateLogin, socket: &Path, port: u16) -> String {
    let (password, socket) = (login.password().reveal(), socket.display());
    format!("[client]\nuser={USER}\npassword={password}\nsocket={socket}\nport={port}\n")
}

fn server(login: &PrivateLogin, socket: &Path) -> Box<dyn Server> {
    Box::new(MysqlServer::new(MysqlTarget::local(socket, USER, login.password().clone())))
}

/// Makes ready a copied data folder: the statements of its first start set the password anew.
fn adopt_data(site: &ServerSite, _: &RunStop) -> Result<(), LabError> {
    site.make_folder(&temporary(site))
}

/// Makes the data folder.
///
/// Errors: files are missing, or the server fails at it.
fn make_data(site: &ServerSite, stop: &RunStop) -> Result<(), LabError> {
    site.make_folder(&temporary(site))?;
    let data = site.folders.data();
    let identity = &site.installed.identity;
    if identity.product != Product::Mariadb && identity.number >= (5, 7) {
        site.make_folder(&data)?;
        let mut arguments = common(site);
        arguments.push("--initialize-insecure".into());
        arguments.extend(birth(site));
        let server = site.launch(site.installed.binary.clone(), arguments);
        return site.run(&server, None, stop);
    }
    let home = home(&site.installed);
    if let Some(sql) = home.as_ref().and_then(system_tables) {
        site.make_folder(&data)?;
        return feed(site, &sql, stop);
    }
    let ready = home.map(|home| home.base.join("data")).filter(|data| data.join("mysql").is_dir());
    match ready {
        Some(ready) => {
            let adopt = |path: &Path| go_on(stop).and_then(|()| site.hand_over(path));
            copy_all(&ready, &data, &adopt).map_err(|error| match error.kind() {
                ErrorKind::Interrupted => INTERRUPTED,
                _ => site.no_data(&format!("from {}: {error}", ready.display())),
            })
        }
        None => Err(site.no_data(
            "the installation has neither mysql_system_tables.sql in share nor a ready folder data",
        )),
    }
}

/// What the server is started with.
fn arguments(site: &ServerSite, port: u16) -> Vec<OsString> {
    let identity = &site.installed.identity;
    let mut arguments = common(site);
    if identity.product != Product::Mariadb && identity.number >= (8, 0) {
        // It would listen on a fixed port and a fixed socket.
        arguments.push("--mysqlx=OFF".into());
    }
    if let Some(connections) = site.request.connections.filter(|many| *many > DEFAULT_CONNECTIONS) {
        arguments.push(option("max-connections", (connections + SPARE_CONNECTIONS).to_string()));
    }
    arguments.extend(site.request.settings.iter().map(|(name, value)| option(name, value)));
    // Last, so that it wins whatever was set.
    arguments.push(option("datadir", site.folders.data()));
    arguments.push(option("socket", socket(site, port)));
    arguments.push(option("pid-file", site.folders.run().join("pid")));
    arguments.push("--bind-address=127.0.0.1".into());
    arguments.push(option("port", port.to_string()));
    arguments
}

/// The statements that give the user its password: the server executes them when it first starts,
/// before it lets anybody in. Each is a line of its own, as old servers want it.
///
/// What is executed may be in a log: only a hash, or a statement of which logs hide the password.
fn password_statements(site: &ServerSite) -> String {
    let identity = &site.installed.identity;
    let hash = password_verifier::mysql_native(site.login.password());
    match (identity.product, identity.number) {
        // root has a row for each name of this machine.
        (Product::Mariadb, (10, 4..) | (11.., _)) => format!(
            "UPDATE mysql.global_priv SET Priv = JSON_SET(Priv, '$.plugin', \
             'mysql_native_password', '$.authentication_string', '{hash}') \
             WHERE User = '{USER}';\nFLUSH PRIVILEGES;\n"
        ),
        (product, (5, 7..) | (6.., _)) if product != Product::Mariadb => {
            let password = site.login.password().reveal();
            format!("ALTER USER '{USER}'@'localhost' IDENTIFIED BY '{password}';\n")
        }
        _ => format!(
            "DELETE FROM mysql.user WHERE User <> '{USER}';\n\
             UPDATE mysql.user SET Password = '{hash}';\nFLUSH PRIVILEGES;\n"
        ),
    }
}

/// Its socket.
fn socket(site: &ServerSite, _: u16) -> PathBuf {
    site.folders.run().join("mysql.sock")
}

/// Where temporary tables go: beside the data, on the disk that was chosen for it.
fn temporary(site: &ServerSite) -> PathBuf {
    site.folders.data().with_file_name("tmp")
}

/// What it needs whatever it does: where its files are, and none of the system's.
fn common(site: &ServerSite) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["--no-defaults".into()];
    if let Some(home) = home(&site.installed) {
        arguments.push(option("basedir", &home.base));
        arguments.push(option("lc-messages-dir", &home.share));
        arguments.push(option("character-sets-dir", home.share.join("charsets")));
    }
    arguments.push(option("datadir", site.folders.data()));
    arguments.push(option("tmpdir", temporary(site)));
    let identity = &site.installed.identity;
    if identity.product != Product::Mariadb && identity.number >= (5, 7) {
        // The compiled-in folder may not be there, and then it does not start.
        arguments.push("--secure-file-priv=NULL".into());
    }
    arguments
}

fn birth(site: &ServerSite) -> impl Iterator<Item = OsString> {
    let settings = site.installed.package.birth_settings(&site.request.settings);
    settings.into_iter().map(|(name, value)| option(&name, value))
}

/// Feeds the SQL files to the server, which reads them from its standard input.
fn feed(site: &ServerSite, sql: &[PathBuf], stop: &RunStop) -> Result<(), LabError> {
    let script = site.folders.run().join("bootstrap.sql");
    let mut text = PREAMBLE.as_bytes().to_vec();
    for path in sql {
        let read = fs::read(path);
        text.extend(read.map_err(|e| site.no_data(&format!("{}: {e}", path.display())))?);
        text.push(b'\n');
    }
    fs::write(&script, text).map_err(|e| site.no_data(&format!("{}: {e}", script.display())))?;
    let mut arguments = common(site);
    arguments.extend(["--bootstrap", "--max_allowed_packet=8M"].map(OsString::from));
    // Nothing need survive a power cut yet.
    arguments.push("--innodb-flush-log-at-trx-commit=0".into());
    arguments.extend(birth(site));
    let server = site.launch(site.installed.binary.clone(), arguments);
    site.run(&server, Some(&script), stop)
}

/// Where an installation has its files.
struct InstallationHome {
    /// What its other paths start from.
    base: PathBuf,
    /// Where messages and character sets are.
    share: PathBuf,
}

/// Looks for the messages around the binary; `None`: it must know itself where they are.
fn home(installed: &InstalledServer) -> Option<InstallationHome> {
    let bases = installed.binary.ancestors().skip(1).take(3);
    let bases = bases.filter(|base| base.parent().is_some());
    let homes = bases.flat_map(|base| SHARES.map(|share| (base, base.join(share))));
    let mut homes = homes.filter(|(_, share)| share.join("english/errmsg.sys").is_file());
    homes.next().map(|(base, share)| InstallationHome { base: base.to_owned(), share })
}

/// The files that make the system tables; `None` if the installation lacks them.
fn system_tables(home: &InstallationHome) -> Option<Vec<PathBuf>> {
    let folders = SHARES.map(|share| home.base.join(share));
    let find = |name: &str| folders.iter().map(|f| f.join(name)).find(|path| path.is_file());
    let mut files = Vec::new();
    for (name, is_needed) in SYSTEM_TABLES {
        match find(&format!("mariadb_{name}")).or_else(|| find(&format!("mysql_{name}"))) {
            Some(path) => files.push(path),
            None if is_needed => return None,
            None => {}
        }
    }
    // The views of the schema sys come last.
    let last = files.len() - usize::from(files.last()?.to_str()?.ends_with("sys_schema.sql"));
    files.splice(last..last, FURTHER_TABLES.iter().filter_map(|name| find(name)));
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::product::ServerIdentity;

    /// An installation with these files.
    fn installation(files: &[&str]) -> (tempfile::TempDir, Option<InstallationHome>) {
        let dir = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        let identity = ServerIdentity::read("mysqld  Ver 5.5.9 for x").expect("a version");
        let binary = dir.path().join("bin/mysqld");
        let environment = Vec::new();
        let home = home(&InstalledServer { binary, package: &MYSQL, identity, environment });
        (dir, home)
    }

    #[test]
    fn files_are_found_around_the_program() {
        for share in SHARES {
            let (dir, found) = installation(&[&format!("{share}/english/errmsg.sys")]);
            let found = found.expect("messages");
            assert_eq!((found.base.as_path(), found.share), (dir.path(), dir.path().join(share)));
        }
        assert!(installation(&["share/readme"]).1.is_none());
    }

    #[test]
    fn system_tables_come_in_their_order() {
        let messages = "share/mysql/english/errmsg.sys";
        let (_dir, found) = installation(&[
            messages,
            "share/mysql_sys_schema.sql",
            "share/fill_help_tables.sql",
            "share/mysql_system_tables_data.sql",
            "share/mysql_system_tables.sql",
            "share/mysql/mariadb_system_tables.sql",
        ]);
        let files = system_tables(&found.expect("messages")).expect("files");
        let names: Vec<&str> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
        let expected = [
            "mariadb_system_tables.sql",
            "mysql_system_tables_data.sql",
            "fill_help_tables.sql",
            "mysql_sys_schema.sql",
        ];
        assert_eq!(names, expected);
        let (_dir, found) = installation(&[messages, "share/mysql_system_tables.sql"]);
        assert!(system_tables(&found.expect("messages")).is_none());
    }
}
