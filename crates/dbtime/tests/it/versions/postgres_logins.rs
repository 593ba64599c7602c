//! Logging in to PostgreSQL by every method that a version has and dbtime speaks.

use super::{PASSWORD, Version, lets_in, refuses, speaking_mysql};
use crate::given_server::GivenServer;
use crate::tls::Certificates;
use std::os::unix::fs::PermissionsExt;

/// Who is let in how: users by their methods, over the socket and over TCP.
const ACCESS: &str = "\
local all postgres trust
host all postgres 127.0.0.1/32 trust
local all plain password
host all plain 127.0.0.1/32 password
local all md5 md5
host all md5 127.0.0.1/32 md5
";

/// Those that a version without SCRAM does not know how to let in.
const SCRAM: &str = "\
local all scram scram-sha-256
hostssl all bound 127.0.0.1/32 scram-sha-256
host all scram 127.0.0.1/32 scram-sha-256
";

impl Version {
    /// SCRAM came with PostgreSQL 10, ties to the channel with 11.
    fn has_scram(&self) -> bool {
        self.number()[0] >= 11
    }
}

/// A file that every user may read, in a folder that goes with it.
fn public(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
    let path = folder.path().join("access");
    std::fs::write(&path, text).expect("written");
    (folder, path.display().to_string())
}

fn create(given: &GivenServer, version: &Version, user: &str) {
    // Versions before 10 have one way to keep a password, and another name for it.
    let kept = match (user, version.has_scram()) {
        (_, false) => "on",
        ("scram" | "bound", true) => "scram-sha-256",
        (_, true) => "md5",
    };
    given.sql(&format!(
        "SET password_encryption = '{kept}'; CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD}'"
    ));
}

#[test]
fn every_method_lets_the_right_one_in_and_no_other() {
    for version in speaking_mysql(false) {
        let users: &[&str] = match version.has_scram() {
            true => &["plain", "md5", "scram"],
            false => &["plain", "md5"],
        };
        if !version.has_scram() {
            version.lacks("logging in by scram-sha-256");
        }
        let rules = if version.has_scram() { [ACCESS, SCRAM].concat() } else { ACCESS.to_owned() };
        let (_folder, access) = public(&rules);
        let given = version.start(&[("hba_file", &access)]);
        for user in users {
            create(&given, &version, user);
            for is_tcp in [false, true] {
                let target = |login: &str| match is_tcp {
                    true => format!("{}?sslmode=disable", given.target_tcp_as(user, login)),
                    false => given.target_as(user, login, "d"),
                };
                lets_in(&target(&format!(":{PASSWORD}")));
                refuses(&target(":wrong"), &["28P01", user]);
                refuses(&target(""), &["wants a password for", user]);
            }
        }
    }
}

#[test]
fn scram_over_tls_lets_the_right_one_in_and_no_other() {
    for version in speaking_mysql(false) {
        if !version.has_scram() {
            version.lacks("logging in by scram-sha-256 over TLS");
            continue;
        }
        let (_folder, access) = public(&[ACCESS, SCRAM].concat());
        let certificates = Certificates::new(&version.start(&[]));
        let (pem, key) = (certificates.path("server.pem"), certificates.path("server.key"));
        let given = version.start(&[
            ("hba_file", &access),
            ("ssl", "on"),
            ("ssl_cert_file", &pem),
            ("ssl_key_file", &key),
        ]);
        create(&given, &version, "bound");
        let tls = |login: &str| {
            let ca = &certificates.authority;
            format!("{}?sslmode=verify-full&sslrootcert={ca}", given.target_tcp_as("bound", login))
        };
        // The server offers to tie the password to its certificate, and this side takes that.
        lets_in(&tls(&format!(":{PASSWORD}")));
        refuses(&tls(":wrong"), &["28P01", "bound"]);
        let plain = format!("{}?sslmode=disable", given.target_tcp_as("bound", ":wrong"));
        refuses(&plain, &["28000", "pg_hba.conf"]);
    }
}
