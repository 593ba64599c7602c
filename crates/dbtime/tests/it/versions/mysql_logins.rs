//! Logging in to MySQL and MariaDB by every plugin that a version has and dbtime speaks.

use super::{PASSWORD, Version, lets_in, refuses, speaking_mysql};
use crate::given_server::GivenServer;
use crate::tls::Certificates;
use dbtime_model::Product;

/// Where installations keep plugins.
const PLUGINS: [&str; 3] = ["usr/lib/mysql/plugin", "lib/plugin", "lib/mysql/plugin"];

/// Plugins that are loaded where there are files of them.
const LOADED: [&str; 3] = ["auth_ed25519.so", "auth_parsec.so", "auth_socket.so"];

/// What is said to whoever does not know the password.
const DENIED: [&str; 2] = ["1045", "check user and password"];

impl Version {
    /// A server with the plugins that this version has files of.
    fn start_with_plugins(&self) -> GivenServer {
        let folders = PLUGINS.map(|folder| self.prefix.join(folder));
        let Some(folder) = folders.iter().find(|folder| folder.is_dir()) else {
            return self.start(&[]);
        };
        let files: Vec<&str> =
            LOADED.into_iter().filter(|file| folder.join(file).is_file()).collect();
        let folder = folder.display().to_string();
        let files = files.join(";");
        self.start(&[("plugin_dir", folder.as_str()), ("plugin_load_add", files.as_str())])
    }

    /// Whether users can be made that log in by this plugin; says so where not.
    fn has(&self, given: &GivenServer, plugin: &str) -> bool {
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.PLUGINS \
             WHERE PLUGIN_NAME = '{plugin}' AND PLUGIN_STATUS = 'ACTIVE'"
        );
        let has = given.sql(&sql).value() == Some("1");
        if !has {
            self.lacks(&format!("logging in by {plugin}"));
        }
        has
    }
}

/// Creates a user, who comes from this machine; nobody without a name stands before it.
fn create(given: &GivenServer, user: &str, identified: &str) {
    for host in ["localhost", "127.0.0.1"] {
        given.sql(&format!("CREATE USER '{user}'@'{host}' {identified}"));
        given.sql(&format!("GRANT ALL ON *.* TO '{user}'@'{host}'"));
    }
}

/// Over the socket and over TCP without TLS: with the right password, a wrong one and none.
fn either_way(given: &GivenServer, user: &str) {
    for is_tcp in [false, true] {
        let target = |login: &str| match is_tcp {
            true => plain(given, user, login),
            false => given.target_as(user, login, "d"),
        };
        refuses(&target(":wrong"), &DENIED);
        refuses(&target(""), &DENIED);
        lets_in(&target(&format!(":{PASSWORD}")));
        // Whoever is known by now is asked no less.
        refuses(&target(":wrong"), &DENIED);
    }
}

/// Over TCP, not encrypted; the server's key is believed to be its own.
fn plain(given: &GivenServer, user: &str, login: &str) -> String {
    format!("{}&get-server-public-key=true", strict(given, user, login))
}

/// The same without a key.
fn strict(given: &GivenServer, user: &str, login: &str) -> String {
    format!("{}?ssl-mode=disabled", given.target_tcp_as(user, login))
}

/// What is said to whoever could only send the password itself, for all to read.
const UNHIDDEN: [&str; 3] = ["TLS", "server-public-key-path", "get-server-public-key"];

/// The plugins a product has had, users for them, and how these are made: `?` is the password.
fn ways(product: Product) -> &'static [(&'static str, &'static str, &'static str)] {
    match product {
        Product::Mariadb => &[
            ("mysql_native_password", "native", "IDENTIFIED BY '?'"),
            ("ed25519", "ed25519", "IDENTIFIED VIA ed25519 USING PASSWORD('?')"),
            ("parsec", "parsec", "IDENTIFIED VIA parsec USING PASSWORD('?')"),
        ],
        // Versions that know another default have names for it.
        _ => &[
            ("mysql_native_password", "native", "IDENTIFIED BY '?'"),
            ("sha256_password", "sha256", "IDENTIFIED WITH sha256_password BY '?'"),
            ("caching_sha2_password", "sha2", "IDENTIFIED WITH caching_sha2_password BY '?'"),
        ],
    }
}

#[test]
fn every_plugin_lets_the_right_one_in_and_no_other() {
    for version in speaking_mysql(true) {
        let given = version.start_with_plugins();
        for (plugin, user, identified) in ways(version.product) {
            if *plugin == "sha256_password" && version.name.starts_with("mysql-5.6") {
                version.lacks("a user made with sha256_password and a password in one statement");
                continue;
            }
            if version.has(&given, plugin) {
                create(&given, user, &identified.replace('?', PASSWORD));
                either_way(&given, user);
            }
        }
    }
}

#[test]
fn the_name_of_the_user_lets_in_through_the_socket() {
    let process = std::process::Command::new("id").arg("-un").output().expect("id runs").stdout;
    let name = String::from_utf8(process).expect("a name").trim().to_owned();
    for version in speaking_mysql(true) {
        let given = version.start_with_plugins();
        let (plugin, by) = match version.product {
            Product::Mariadb => ("unix_socket", "VIA unix_socket"),
            _ => ("auth_socket", "WITH auth_socket"),
        };
        if !version.has(&given, plugin) {
            continue;
        }
        for user in [name.as_str(), "somebody-else"] {
            given.sql(&format!("CREATE USER IF NOT EXISTS '{user}'@'localhost'"));
            given.sql(&format!("ALTER USER '{user}'@'localhost' IDENTIFIED {by}"));
        }
        lets_in(&given.target_as(&name, "", ""));
        lets_in(&given.target_as(&name, ":ignored", ""));
        refuses(&given.target_as("somebody-else", "", ""), &["somebody-else"]);
    }
}

/// Without a key of its own the server can learn a new password over TLS alone; after that it knows
/// it over every way, until it is told to forget.
#[test]
fn sha2_learns_the_password_over_tls_and_knows_it_from_its_cache() {
    for version in speaking_mysql(true).filter(|version| version.product == Product::Mysql) {
        let probe = version.start(&[]);
        if !version.has(&probe, "caching_sha2_password") {
            continue;
        }
        let certificates = Certificates::new(&probe);
        drop(probe);
        let (pem, key) = (certificates.path("server.pem"), certificates.path("server.key"));
        let given = version.start(&[
            ("ssl_cert", &pem),
            ("ssl_key", &key),
            ("caching_sha2_password_private_key_path", "none.pem"),
            ("caching_sha2_password_public_key_path", "none.pem"),
        ]);
        create(&given, "sha2", &format!("IDENTIFIED BY '{PASSWORD}'"));
        let right = format!(":{PASSWORD}");
        let tls = |login: &str| {
            let ca = &certificates.authority;
            format!("{}?ssl-mode=verify-full&ssl-ca={ca}", given.target_tcp_as("sha2", login))
        };
        for _ in 0..2 {
            given.sql("FLUSH PRIVILEGES");
            refuses(&strict(&given, "sha2", &right), &UNHIDDEN);
            refuses(&plain(&given, "sha2", &right), &["1045", "no RSA key", "TLS"]);
            refuses(&tls(":wrong"), &DENIED);
            lets_in(&tls(&right));
            lets_in(&plain(&given, "sha2", &right));
            lets_in(&strict(&given, "sha2", &right));
            refuses(&tls(":wrong"), &DENIED);
        }
    }
}

#[test]
fn a_key_from_a_file_hides_the_password() {
    for version in speaking_mysql(true).filter(|version| version.product == Product::Mysql) {
        let given = version.start(&[]);
        let key = given.server.data().join("public_key.pem");
        if !key.is_file() {
            version.lacks("a key that it makes by itself");
            continue;
        }
        for (plugin, user) in [("caching_sha2_password", "sha2"), ("sha256_password", "sha256")] {
            if !version.has(&given, plugin) {
                continue;
            }
            create(&given, user, &format!("IDENTIFIED WITH {plugin} BY '{PASSWORD}'"));
            let strict = |login: &str| strict(&given, user, login);
            let with =
                |login: &str| format!("{}&server-public-key-path={}", strict(login), key.display());
            let right = format!(":{PASSWORD}");
            given.sql("FLUSH PRIVILEGES");
            refuses(&strict(&right), &UNHIDDEN);
            refuses(&with(":wrong"), &DENIED);
            lets_in(&with(&right));
        }
    }
}
