//! What a server is, by what its binary says of itself: `mysqld` may be MariaDB.

use dbtime_model::Product;
use std::fmt;

/// How a product is packaged, and what its servers are like when they are new. SQLite has none.
pub(super) trait ServerPackage {
    /// What the server's binary may be called.
    fn binaries(self) -> &'static [&'static str];

    /// How to come by it where it is missing.
    fn install_hint(self) -> &'static str;

    /// The user that packages of this product make for it.
    fn system_user(self) -> &'static str;

    /// The user that a private server lets in.
    fn database_user(self) -> &'static str;

    /// The file in a private server's folder by which the product's own clients log in.
    fn login_file(self) -> &'static str;
}

impl ServerPackage for Product {
    fn binaries(self) -> &'static [&'static str] {
        match self {
            Self::Mariadb => &["mariadbd", "mysqld"],
            Self::Mysql => &["mysqld"],
            Self::Postgres => &["postgres"],
            Self::Sqlite => &[],
        }
    }

    fn install_hint(self) -> &'static str {
        match self {
            Self::Mariadb => "install it (Debian: apt-get install mariadb-server-core)",
            Self::Mysql => {
                "install MySQL's own server (a stable Debian has only MariaDB; \
                 unstable has mysql-server-core)"
            }
            Self::Postgres => "install it (Debian: apt-get install postgresql)",
            Self::Sqlite => "it is part of dbtime",
        }
    }

    fn system_user(self) -> &'static str {
        if self.speaks_mysql() { "mysql" } else { "postgres" }
    }

    fn database_user(self) -> &'static str {
        if self.speaks_mysql() { "root" } else { "postgres" }
    }

    fn login_file(self) -> &'static str {
        if self.speaks_mysql() { "client.cnf" } else { "pgpass" }
    }
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
    /// Reads the line that `--version` prints; `None` where it is neither server.
    pub(super) fn read(line: &str) -> Option<Self> {
        let line = line.lines().find(|line| !line.trim().is_empty())?;
        let (product, version) = match line.split_once(" Ver ") {
            Some((_, rest)) => {
                let version = rest.split_whitespace().next()?;
                let is_maria = line.to_ascii_lowercase().contains("mariadb");
                (if is_maria { Product::Mariadb } else { Product::Mysql }, version)
            }
            None => {
                let rest = line.strip_prefix("postgres (")?;
                let (_, rest) = rest.split_once(')')?;
                (Product::Postgres, rest.split_whitespace().next()?)
            }
        };
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
    fn every_product_has_its_word() {
        for product in Product::SERVERS {
            assert_eq!(Product::named(product.name()), Some(product));
        }
        assert_eq!(Product::named("oracle"), None);
    }
}
