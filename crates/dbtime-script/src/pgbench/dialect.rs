//! What differs between the databases that scripts run on, and how statements get there.

use super::template::Placeholder;

/// The database that scripts run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL, for which scripts are written.
    #[default]
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// How it writes placeholders.
    pub fn placeholder(self) -> Placeholder {
        match self {
            Self::Postgres => Placeholder::Numbered,
            Self::Mysql | Self::Sqlite => Placeholder::Mark,
        }
    }
}

/// How statements get to the database (`-M`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As texts with their values filled in.
    #[default]
    Simple,
    /// As texts with parameters.
    Extended,
    /// Prepared once per connection.
    Prepared,
}

impl Mode {
    /// The name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        }
    }
}
