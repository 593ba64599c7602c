//! What differs between the databases that scripts run on, and how statements get there.

use super::template::Placeholder;
use dbtime_model::SqlDialect;

/// How a dialect writes placeholders.
pub(super) fn placeholder(dialect: SqlDialect) -> Placeholder {
    match dialect {
        SqlDialect::Postgres => Placeholder::Numbered,
        SqlDialect::Mysql | SqlDialect::Sqlite => Placeholder::Mark,
    }
}

/// How statements get to the database (`-M`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryMode {
    /// As texts with their values filled in.
    #[default]
    Simple,
    /// As texts with parameters.
    Extended,
    /// Prepared once per connection.
    Prepared,
}

impl QueryMode {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Simple, Self::Extended, Self::Prepared];

    /// As `-M` takes it, and the report tells it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        }
    }

    /// What a record calls it, where dbtime's own statements never go so.
    pub(super) fn protocol(self) -> Option<&'static str> {
        (self == Self::Extended).then_some("text with parameters")
    }
}
