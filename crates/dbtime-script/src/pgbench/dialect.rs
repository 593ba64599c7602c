//! What differs between the databases that scripts run on, and how statements get there.

use super::template::Placeholder;
use dbtime_model::{SqlDialect, named_variants};

/// How a dialect writes placeholders.
pub(super) fn placeholder(dialect: SqlDialect) -> Placeholder {
    match dialect {
        SqlDialect::Postgres => Placeholder::Numbered,
        SqlDialect::Mysql | SqlDialect::Sqlite => Placeholder::Mark,
    }
}

named_variants! {
    /// How statements get to the database (`-M`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum QueryMode {
        /// As texts with their values filled in.
        #[default]
        Simple = "simple",
        /// As texts with parameters.
        Extended = "extended",
        /// Prepared once per connection.
        Prepared = "prepared",
    }
}

impl QueryMode {
    /// What a record calls it, where dbtime's own statements never go so.
    pub(super) fn protocol(self) -> Option<&'static str> {
        (self == Self::Extended).then_some("text with parameters")
    }
}
