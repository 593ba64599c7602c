//! What a private server of each product is like, and what an installed one is by what its binary
//! prints: `mysqld` may be MariaDB.

use super::login::PrivateLogin;
use super::mysql::{MARIADB, MYSQL};
use super::postgres::POSTGRES;
use super::settings::plain;
use super::site::ServerSite;
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::Server;
use dbtime_model::Product;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// How a product is packaged, and how a private server of it is made, started, logged in to and
/// ended.
#[derive(Debug)]
pub(super) struct ServerPackage {
    /// The product.
    pub(super) product: Product,
    /// What the server's binary may be called.
    pub(super) binaries: &'static [&'static str],
    /// How to come by it where it is missing.
    pub(super) install_hint: &'static str,
    /// The user that packages of this product make for it.
    pub(super) system_user: &'static str,
    /// By which arguments the binary prints its version.
    pub(super) version_arguments: &'static [&'static str],
    /// The version in the line that it prints; `None` where that is another product's.
    pub(super) version_in: fn(&str) -> Option<&str>,
    /// The user that a private server lets in.
    pub(super) database_user: &'static str,
    /// The file in a private server's folder by which the product's own clients log in.
    pub(super) login_file: &'static str,
    /// What stands in that file, by the server's socket and port.
    pub(super) login_text: fn(&PrivateLogin, &Path, u16) -> String,
    /// The server behind a socket, with this login.
    pub(super) server: fn(&PrivateLogin, &Path) -> Box<dyn Server>,
    /// The settings of a server that its data folder is made with, by their plain names.
    pub(super) of_birth: &'static [&'static str],
    /// Makes the data folder.
    ///
    /// Errors: files of the installation are missing, or one of its programs fails.
    pub(super) make_data: fn(&ServerSite, &RunStop) -> Result<(), LabError>,
    /// Makes ready a data folder that was copied from another private server of this product.
    ///
    /// Errors: the server's program fails.
    pub(super) adopt_data: fn(&ServerSite, &RunStop) -> Result<(), LabError>,
    /// Statements that the server executes when it first starts, before it lets anybody in; `None`
    /// where it takes none.
    pub(super) first_statements: fn(&ServerSite) -> Option<String>,
    /// What the server is started with, on this port.
    pub(super) arguments: fn(&ServerSite, u16) -> Vec<OsString>,
    /// Its socket.
    pub(super) socket: fn(&ServerSite, u16) -> PathBuf,
    /// The signal by which it ends properly, and one that ends it at once where that fails.
    pub(super) end_signals: (Signal, Option<Signal>),
    /// The signal by which the watchdog ends it, as kill(1) names it.
    pub(super) watchdog_signal: &'static str,
}

impl ServerPackage {
    /// Those of these settings that a data folder is made with.
    pub(super) fn birth_settings(&self, settings: &[(String, String)]) -> Vec<(String, String)> {
        let is_of_birth = |name: &str| self.of_birth.contains(&plain(name).as_str());
        settings.iter().filter(|(name, _)| is_of_birth(name)).cloned().collect()
    }
}

/// Every product of which there are private servers. To add one, write its file and a line here.
const PACKAGES: [&ServerPackage; 3] = [&MARIADB, &MYSQL, &POSTGRES];

/// The package of a product.
///
/// Errors: it has no servers.
pub(super) fn package(product: Product) -> Result<&'static ServerPackage, LabError> {
    let found = PACKAGES.into_iter().find(|package| package.product == product);
    found.ok_or_else(|| LabError::Usage(format!("there is no private server of {product}")))
}

/// The package that has a binary of this name.
pub(super) fn package_of_binary(name: &str) -> Option<&'static ServerPackage> {
    PACKAGES.into_iter().find(|package| package.binaries.contains(&name))
}

/// What a binary says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerIdentity {
    /// What it is.
    pub(super) product: Product,
    /// Its version as it writes it: `10.11.19-MariaDB-0+deb12u1`, `8.0.46`, `15.18`.
    pub(super) version: String,
    /// The first two numbers of it; the second is 0 where there is one number only.
    pub(super) number: (u32, u32),
}

impl ServerIdentity {
    /// Reads the line that `--version` prints; `None` where it is none of these servers.
    pub(super) fn read(line: &str) -> Option<Self> {
        let line = line.lines().find(|line| !line.trim().is_empty())?;
        let (product, version) = PACKAGES
            .iter()
            .find_map(|package| Some((package.product, (package.version_in)(line)?)))?;
        Some(Self { product, version: version.to_owned(), number: number(version)? })
    }
}

impl fmt::Display for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.product, self.version)
    }
}

/// The first two numbers of `10.11.19-MariaDB`, `18beta1` or `9.6.24`.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..end].parse::<u32>().ok()
    });
    let major = parts.next()??;
    Some((major, parts.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_known_by_what_they_say() {
        use Product::{Mariadb, Mysql, Postgres};
        for (line, product, version, number) in [
            (
                "mysqld  Ver 8.0.46 for Linux on x86_64 (MySQL Community Server - GPL)",
                Mysql,
                "8.0.46",
                (8, 0),
            ),
            (
                "/usr/sbin/mysqld  Ver 9.7.4-2 for debian-linux-gnu on x86_64 ((Debian))",
                Mysql,
                "9.7.4-2",
                (9, 7),
            ),
            ("/x/mysqld  Ver 5.5.9 for Linux on x86_64 (MySQL Community)", Mysql, "5.5.9", (5, 5)),
            (
                "mysqld  Ver 5.6.23-72.1 for Linux on x86_64 (Percona Server (GPL), Release 72.1)",
                Mysql,
                "5.6.23-72.1",
                (5, 6),
            ),
            (
                "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
                Mariadb,
                "10.11.19-MariaDB-0+deb12u1",
                (10, 11),
            ),
            (
                "/usr/sbin/mysqld  Ver 10.2.11-MariaDB for Linux on x86_64 (MariaDB Server)",
                Mariadb,
                "10.2.11-MariaDB",
                (10, 2),
            ),
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", Postgres, "15.18", (15, 18)),
            ("postgres (PostgreSQL) 9.6.24\n", Postgres, "9.6.24", (9, 6)),
            ("postgres (PostgreSQL) 19beta1", Postgres, "19beta1", (19, 0)),
        ] {
            let read = ServerIdentity::read(line).expect(line);
            assert_eq!(
                (read.product, read.version.as_str(), read.number),
                (product, version, number)
            );
        }
    }

    #[test]
    fn what_is_no_server_is_none() {
        for line in
            ["", "\n\n", "bash 5.2", "mysqld  Ver ", "mysqld  Ver x", "postgres (PostgreSQL)"]
        {
            assert_eq!(ServerIdentity::read(line), None, "{line}");
        }
    }

    #[test]
    fn every_server_has_a_package() {
        for product in Product::SERVERS {
            assert_eq!(package(product).expect("there is one").product, product);
        }
        let error = package(Product::Sqlite).expect_err("it has no servers");
        assert!(error.to_string().contains("SQLite"), "{error}");
        assert_eq!(package_of_binary("postgres").map(|p| p.product), Some(Product::Postgres));
        assert!(package_of_binary("bash").is_none());
    }

    #[test]
    fn every_product_has_its_word() {
        for product in Product::SERVERS {
            assert_eq!(Product::named(product.name()), Some(product));
        }
        assert_eq!(Product::named("oracle"), None);
    }
}
