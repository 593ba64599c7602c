//! How PostgreSQL's data folder is made and its server started: 9.6 and later.

use super::launch::option;
use super::product::ServerPackage;
use super::site::ServerSite;
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// Connections that its default of 100 leaves to ordinary users.
const ROOM: u32 = 97;

/// What is added to the connections of the load: the superuser's own, and dbtime's for looking.
const SPARE: u32 = 13;

/// Makes the data folder.
///
/// Errors: initdb is missing or fails.
pub(super) fn make_data(site: &ServerSite, stop: &RunStop) -> Result<(), LabError> {
    let initdb = site.installed.beside("initdb");
    if !initdb.is_file() {
        return Err(site.no_data(&format!(
            "there is no initdb beside {}; the installation is not whole",
            site.installed.binary.display()
        )));
    }
    let identity = &site.installed.identity;
    let user = identity.product.database_user();
    // Before 10 there is no SCRAM.
    let (method, kept) = match identity.number {
        (10.., _) => ("scram-sha-256", site.login.scram_sha_256()),
        _ => ("md5", site.login.password().reveal().to_owned()),
    };
    let password = site.folders.run().join("initdb.pw");
    site.make_secret(&password, &kept)?;
    // UTF8 and the C locale exist everywhere and do not depend on who calls. Nothing need survive a
    // power cut yet, so that it does not wait for the disk (-N); the server itself does.
    let fixed = ["-A", method, "-U", user, "-N", "-E", "UTF8", "--locale=C"];
    let mut arguments: Vec<OsString> = vec!["-D".into(), site.folders.data().into()];
    arguments.extend(fixed.map(OsString::from));
    arguments.push(option("pwfile", &password));
    let initdb = site.launch(initdb, arguments);
    site.run(&initdb, None, stop)?;
    fs::remove_file(&password).map_err(|e| site.no_data(&format!("{}: {e}", password.display())))
}

/// What the server is started with.
pub(super) fn arguments(site: &ServerSite, port: u16) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["-D".into(), site.folders.data().into()];
    let mut set = |name: &str, value: OsString| {
        let mut setting = OsString::from(format!("{name}="));
        setting.push(value);
        arguments.extend(["-c".into(), setting]);
    };
    if let Some(connections) = site.request.connections.filter(|many| *many > ROOM) {
        set("max_connections", (connections + SPARE).to_string().into());
    }
    for (name, value) in &site.request.settings {
        set(name, value.into());
    }
    // Last, so that it wins whatever was set.
    set("listen_addresses", "127.0.0.1".into());
    set("unix_socket_directories", site.folders.run().into());
    set("port", port.to_string().into());
    arguments
}

/// Its socket.
pub(super) fn socket(site: &ServerSite, port: u16) -> PathBuf {
    site.folders.run().join(format!(".s.PGSQL.{port}"))
}
