//! The databases that dbtime knows: products, what they speak, and how they write SQL.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A database product. Records spell it in small letters: `mariadb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// MariaDB.
    Mariadb,
    /// With close relatives, such as Percona Server.
    Mysql,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

impl Product {
    /// Those that are servers, in the order of lists.
    pub const SERVERS: [Self; 3] = [Self::Mariadb, Self::Mysql, Self::Postgres];

    /// The name in URLs and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        }
    }

    /// The name as people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Mysql => "MySQL",
            Self::Mariadb => "MariaDB",
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "SQLite",
        }
    }

    /// The product of this name, also as URLs and drivers of others write it: `postgresql`,
    /// `pgsql`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "postgresql" | "pgsql" => Some(Self::Postgres),
            "sqlite" => Some(Self::Sqlite),
            _ => Self::SERVERS.into_iter().find(|product| product.name() == name),
        }
    }

    /// What its clients speak; `None` where there is no server.
    pub const fn wire_protocol(self) -> Option<WireProtocol> {
        match self {
            Self::Mariadb | Self::Mysql => Some(WireProtocol::Mysql),
            Self::Postgres => Some(WireProtocol::Postgres),
            Self::Sqlite => None,
        }
    }

    /// How it writes SQL.
    pub const fn dialect(self) -> SqlDialect {
        match self {
            Self::Mariadb | Self::Mysql => SqlDialect::Mysql,
            Self::Postgres => SqlDialect::Postgres,
            Self::Sqlite => SqlDialect::Sqlite,
        }
    }

    /// Whether its clients speak the protocol of MySQL.
    pub fn speaks_mysql(self) -> bool {
        self.wire_protocol() == Some(WireProtocol::Mysql)
    }

    /// Whether counters of the same names mean the same in both.
    pub fn is_comparable(self, other: Self) -> bool {
        self == other || (self.speaks_mysql() && other.speaks_mysql())
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// What servers and their clients speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireProtocol {
    /// MySQL and MariaDB.
    Mysql,
    /// PostgreSQL.
    Postgres,
}

impl WireProtocol {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Postgres => "postgres",
        }
    }

    /// The programs of servers that speak it.
    pub const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Mysql => &["mariadbd", "mysqld", "mysqld-debug"],
            Self::Postgres => &["postgres"],
        }
    }

    /// What a program speaks, by its name; `None` where it is no server.
    pub fn of_program(program: &str) -> Option<Self> {
        let both = [Self::Mysql, Self::Postgres];
        both.into_iter().find(|protocol| protocol.programs().contains(&program))
    }

    /// How statements for it are written.
    pub const fn dialect(self) -> SqlDialect {
        match self {
            Self::Mysql => SqlDialect::Mysql,
            Self::Postgres => SqlDialect::Postgres,
        }
    }

    /// Which product a server is that says this of its version.
    pub fn product(self, version: &str) -> Product {
        match self {
            Self::Postgres => Product::Postgres,
            Self::Mysql if version.contains("MariaDB") => Product::Mariadb,
            Self::Mysql => Product::Mysql,
        }
    }
}

/// How statements are written, where products differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SqlDialect {
    /// PostgreSQL's, for which pgbench's scripts are written.
    #[default]
    Postgres,
    /// That of MySQL and MariaDB.
    Mysql,
    /// SQLite's.
    Sqlite,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_known_by_their_names() {
        for product in Product::SERVERS.into_iter().chain([Product::Sqlite]) {
            assert_eq!(Product::named(product.name()), Some(product));
            assert_eq!(serde_json::to_value(product).expect("a name"), product.name());
        }
        assert_eq!(Product::named("postgresql"), Some(Product::Postgres));
        assert_eq!(Product::named("oracle"), None);
    }

    #[test]
    fn servers_are_known_by_program_and_version() {
        assert_eq!(WireProtocol::of_program("mysqld"), Some(WireProtocol::Mysql));
        assert_eq!(WireProtocol::of_program("postgres"), Some(WireProtocol::Postgres));
        assert_eq!(WireProtocol::of_program("bash"), None);
        assert_eq!(WireProtocol::Mysql.product("10.11.19-MariaDB"), Product::Mariadb);
        assert_eq!(WireProtocol::Mysql.product("8.4.3"), Product::Mysql);
        assert_eq!(WireProtocol::Postgres.product("15.18"), Product::Postgres);
    }
}
