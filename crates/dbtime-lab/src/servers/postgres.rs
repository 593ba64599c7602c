//! How PostgreSQL's data folder is made and its server started: 9.6 and later.

use super::launch::option;
use super::log_message::LINE_PREFIX;
use super::login::PrivateLogin;
use super::product::ServerPackage;
use super::site::ServerSite;
use crate::error::LabError;
use dbtime_engines::databases::postgres::{PostgresServer, PostgresTarget};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::Server;
use dbtime_model::Product;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Connections that its default of 100 leaves to ordinary users.
const DEFAULT_CONNECTIONS: u32 = 97;

/// What is added to the connections of the load: the superuser's own, and dbtime's for looking.
const SPARE_CONNECTIONS: u32 = 13;

/// The user that a private server lets in.
const USER: &str = "postgres";

/// PostgreSQL's own server.
pub(super) const POSTGRES: ServerPackage = ServerPackage {
    product: Product::Postgres,
    binaries: &["postgres"],
    install_hint: "install it (Debian: apt-get install postgresql)",
    system_user: "postgres",
    version_arguments: &["--version"],
    version_in,
    database_user: USER,
    login_file: "pgpass",
    login_text: |login, _, _| format!("*:*:*:{USER}:{}\n", login.password().reveal()),
    server,
    of_birth: &[],
    make_data,
    adopt_data,
    first_statements: |_| None,
    arguments,
    socket: |site, port| site.folders.run().join(format!(".s.PGSQL.{port}")),
    // SIGINT is its fast shutdown: it does not wait for clients to leave.
    end_signals: (Signal::INT, Some(Signal::QUIT)),
    watchdog_signal: "QUIT",
};

fn version_in(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("postgres (")?.split_once(')')?;
    rest.split_whitespace().next()
}

fn server(login: &PrivateLogin, socket: &Path) -> Box<dyn Server> {
    let password = login.password().clone();
    Box::new(PostgresServer::new(PostgresTarget::local(socket, USER, password, "postgres")))
}

/// Makes the data folder.
///
/// Errors: initdb is missing or fails.
fn make_data(site: &ServerSite, stop: &RunStop) -> Result<(), LabError> {
    let initdb = site.installed.beside("initdb");
    if !initdb.is_file() {
        return Err(site.no_data(&format!(
            "there is no initdb next to {}; the installation is incomplete",
            site.installed.binary.display()
        )));
    }
    let (method, kept) = verifier(site);
    let password = site.folders.run().join("initdb.pw");
    site.make_secret(&password, &kept)?;
    // UTF8 and the C locale exist everywhere and do not depend on who calls. Nothing need survive a
    // power cut yet, so that it does not wait for the disk (-N); the server itself does.
    let fixed = ["-A", method, "-U", USER, "-N", "-E", "UTF8", "--locale=C"];
    let mut arguments: Vec<OsString> = vec!["-D".into(), site.folders.data().into()];
    arguments.extend(fixed.map(OsString::from));
    arguments.push(option("pwfile", &password));
    let initdb = site.launch(initdb, arguments);
    site.run(&initdb, None, stop)?;
    fs::remove_file(&password).map_err(|e| site.no_data(&format!("{}: {e}", password.display())))
}

/// How the password is checked, and what the server keeps of it.
fn verifier(site: &ServerSite) -> (&'static str, String) {
    // Before 10 there is no SCRAM.
    match site.installed.identity.number {
        (10.., _) => ("scram-sha-256", site.login.scram_sha_256()),
        _ => ("md5", site.login.password().reveal().to_owned()),
    }
}

/// Sets the password of a data folder that was another server's: nobody knows the old one. A server
/// for a single user does that, which lets in whoever may read the folder.
///
/// Errors: it does not start.
fn adopt_data(site: &ServerSite, stop: &RunStop) -> Result<(), LabError> {
    let script = site.folders.run().join("adopt.sql");
    let (_, kept) = verifier(site);
    site.make_secret(&script, &format!("ALTER ROLE {USER} PASSWORD '{kept}'\n"))?;
    let mut arguments: Vec<OsString> = ["--single", "-D"].map(OsString::from).into();
    arguments.push(site.folders.data().into());
    // What it executes is in no log, and what it shares, should it crash, goes with its folder.
    let settings = ["-c", "log_statement=none", "-c", "dynamic_shared_memory_type=mmap", USER];
    arguments.extend(settings.map(OsString::from));
    let server = site.launch(site.installed.binary.clone(), arguments);
    let adopted = site.run(&server, Some(&script), stop);
    let removed = fs::remove_file(&script);
    adopted?;
    removed.map_err(|error| site.no_data(&format!("{}: {error}", script.display())))
}

/// What the server is started with.
fn arguments(site: &ServerSite, port: u16) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["-D".into(), site.folders.data().into()];
    let mut set = |name: &str, value: OsString| {
        let mut setting = OsString::from(format!("{name}="));
        setting.push(value);
        arguments.extend(["-c".into(), setting]);
    };
    if let Some(connections) = site.request.connections.filter(|many| *many > DEFAULT_CONNECTIONS) {
        set("max_connections", (connections + SPARE_CONNECTIONS).to_string().into());
    }
    // The log goes into the record, and a statement that fails may have a password in it.
    set("log_min_error_statement", "panic".into());
    set("log_line_prefix", LINE_PREFIX.into());
    for (name, value) in &site.request.settings {
        set(name, value.into());
    }
    // Last, so that it wins whatever was set.
    set("listen_addresses", "127.0.0.1".into());
    set("unix_socket_directories", site.folders.run().into());
    set("port", port.to_string().into());
    arguments
}
